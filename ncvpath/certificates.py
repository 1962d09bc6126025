"""Which features need no look: bounds on correlations from earlier residuals.

A few reference residuals, orthonormalised into directions d_k, have exact correlations
c_kj = <x_j, d_k> with every feature. A new residual is r = sum_k a_k d_k + e, hence

    |<x_j, r>| <= |sum_k a_k c_kj| + |x_j| |e|,

and a feature whose bound is within its slab is certified to be satisfied without its
column being touched. Between two knots of the path residuals move along a line, so e is
small. The bound holds for any penalty; rounding is allowed for.
"""

from typing import NamedTuple

import numpy as np

from .memory import roomy

EPS = np.finfo(float).eps
# Numbers in X below which looking at all of it is cheaper than thinking about it.
SMALL = 2_000_000
# The share of X from which on looking at all of it, and learning from it, is worth more
# than looking at some columns alone.
WORTH_ALL = 0.25
# Bytes that the references may take, as long as there are a few.
MEMORY = 1 << 28
# A residual this close to the span of the references teaches nothing, and dividing by
# what is left of it would turn rounding into a direction.
NEGLIGIBLE = 1e-7


class Look(NamedTuple):
    """What a look at the features found."""

    correlation: np.ndarray  # p, <x_j, residual>; an estimate where not exact
    exact: np.ndarray  # p, bool
    touched: int  # columns it took
    complete: bool  # everyone not exact is certified to be satisfied


class Certificates:
    """Reference directions with their correlations, and what each look costs."""

    def __init__(self, design):
        self.design = design
        most = np.clip(MEMORY // (8 * (design.n + design.p)), 4, 32)
        self.capacity = int(np.clip(design.n // 25, 4, most))
        self.count = 0  # references
        self.directions = roomy(self.capacity, design.n)
        self.correlations = roomy(self.capacity, design.p)
        self.errors = np.empty(self.capacity)  # of the correlations, relative to |x_j|
        self.anchored = np.empty(self.capacity)  # <direction, residual of null model>
        self.origin = None  # residual of the null model
        self.spent = 0  # numbers read for uncertified features since the last full pass
        self.small = design.matrix.size < SMALL
        self.everyone = np.ones(design.p, dtype=bool)
        self.expected, self.uncertified = np.empty((2, design.p), dtype=np.int64)
        self.length = np.sqrt(design.norm2)
        # A computed inner product is off by at most (n + a few) eps |x| |r|.
        self.rounding = 2 * (design.n + 8) * EPS * design.blur

    def look(self, fit, member, factor, level, tol):
        """Look at members and at all features that cannot be certified.

        Slabs are |<x_j, residual>| <= level * factor_j. When features outside the
        working set turn out to object by more than tol, there will be another look
        anyway, and this one ends with them.
        """
        p = factor.size
        if fit.by_gram and fit.cache.complete:
            return Look(fit.correlate(self.design.everyone)[0], self.everyone, 0, True)
        if self.small:
            return Look(self.design.correlate(fit.residual), self.everyone, p, True)
        estimate, slack = self._estimate(fit)
        few, more = self.design.kernels.sort_out(
            factor, level, self.length, slack, estimate, member, self.expected,
            self.uncertified,
        )
        expected, uncertified = self.expected[:few], self.uncertified[:more]
        if 2 * few > p:
            return Look(self.learn(fit.residual), self.everyone, p, True)
        exact = np.zeros(p, dtype=bool)
        exact[expected] = True
        estimate[expected], touched = fit.correlate(expected)
        strangers = expected[~member[expected]]
        if (np.abs(estimate[strangers]) > level * factor[strangers] + tol).any():
            return Look(estimate, exact, touched, False)
        matrix = self.design.matrix
        work = matrix.work(uncertified)
        self.spent += work
        enough = WORTH_ALL * matrix.size
        if work > enough or self.spent > 2 * enough:
            return Look(self.learn(fit.residual), self.everyone, touched + p, True)
        exact[uncertified] = True
        estimate[uncertified], more = fit.correlate(uncertified)
        return Look(estimate, exact, touched + more, True)

    def _estimate(self, fit):
        """Correlations as the references suggest, and how far off they may be.

        The second number is to be multiplied by |x_j|.
        """
        a, slack = self._by_gram(fit) if fit.by_gram else self._by_residual(fit)
        estimate = a @ self.correlations[: self.count]
        off = np.abs(a) @ self.errors[: self.count] + self.rounding * np.abs(a).sum()
        return estimate, slack + off

    def _by_residual(self, fit):
        """Shares of the references in the residual, and the size of what is left."""
        weights, directions = self.design.weights, self.directions[: self.count]
        a, rest = np.zeros(self.count), fit.residual.copy()
        for _ in range(2):  # once more, for what rounding leaves along the directions
            more = directions @ (weights * rest)
            rest -= more @ directions
            a += more
        size = np.sqrt(weights @ fit.residual**2)
        left = np.sqrt(weights @ rest**2) * (1 + self.rounding)
        return a, left + self.rounding * size

    def _by_gram(self, fit):
        """The same without the residual: from the correlations of what has moved.

        What is left is a difference of squares here, in which rounding counts more:
        each term is off by a few `rounding` times `size`^2 at most.
        """
        moved = np.abs(fit.change) @ self.length[fit.moved]
        size = np.sqrt(fit.anchor.mean_square) + moved
        a = self.anchored[: self.count] - (
            self.correlations[: self.count, fit.moved] @ fit.change
        )
        shift = self.errors[: self.count] * moved + self.rounding * size  # of each a
        left = max(fit.mean_square - a @ a, 0.0)
        left += 2 * np.abs(a) @ shift + shift @ shift
        left += 4 * self.rounding * (size + np.abs(a).sum()) ** 2
        return a, np.sqrt(left) + shift.sum()

    def learn(self, residual):
        """Correlate every feature, and keep residual and result as a reference."""
        if self.origin is None:
            self.origin = residual
        correlation = self.design.correlate(residual)
        self.spent = 0
        weights = self.design.weights
        directions = self.directions[: self.count]
        direction, shares = residual.copy(), np.zeros(self.count)
        size = np.sqrt(weights @ residual**2)
        error = self.rounding * size
        for _ in range(2):  # once more, for what rounding leaves along the directions
            a = directions @ (weights * direction)
            direction -= a @ directions
            shares += a
            error += np.abs(a) @ self.errors[: self.count]
            error += 2 * self.rounding * np.abs(a).sum()
        product = correlation - shares @ self.correlations[: self.count]
        left = np.sqrt(weights @ direction**2)
        if left > NEGLIGIBLE * size:
            self._keep(direction / left, product / left, error / left, residual)
        return correlation

    def _keep(self, direction, product, error, residual):
        weights, place = self.design.weights, self.count
        if self.count == self.capacity:
            # Make room where the present residual has least.
            place = np.argmin(np.abs(self.directions @ (weights * residual)))
        else:
            self.count += 1
        self.directions[place], self.correlations[place] = direction, product
        self.errors[place] = error
        self.anchored[place] = direction @ (weights * self.origin)
