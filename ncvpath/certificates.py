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

EPS = np.finfo(float).eps
# Numbers in X below which looking at all of it is cheaper than thinking about it.
SMALL = 1_000_000
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
        self.capacity = int(np.clip(design.n // 25, 4, 32))
        self.directions = np.empty((0, design.n))
        self.correlations = np.empty((0, design.p))
        self.errors = np.empty(0)  # of the correlations, relative to |x_j|
        self.spent = 0  # uncertified columns looked at since the last full pass
        self.small = design.n * design.p < SMALL
        self.everyone = np.ones(design.p, dtype=bool)
        self.length = np.sqrt(design.norm2)
        # A computed inner product is off by at most (n + a few) eps |x| |r|.
        self.rounding = 2 * (design.n + 8) * EPS

    def look(self, residual, member, factor, level, tol):
        """Look at members and at all features that cannot be certified.

        Slabs are |<x_j, residual>| <= level * factor_j. When features outside the
        working set turn out to object by more than tol, there will be another look
        anyway, and this one ends with them.
        """
        p = factor.size
        if self.small:
            return Look(self.design.correlate(residual), self.everyone, p, True)
        estimate, slack = self._estimate(residual)
        expected, uncertified = np.empty((2, p), dtype=np.int64)
        few, more = self.design.kernels.sort_out(
            factor, level, self.length, slack, estimate, member, expected, uncertified
        )
        expected, uncertified = expected[:few], uncertified[:more]
        if 2 * few > p:
            return Look(self.learn(residual), self.everyone, p, True)
        exact = np.zeros(p, dtype=bool)
        exact[expected] = True
        estimate[expected] = self.design.correlate(residual, expected)
        strangers = expected[~member[expected]]
        if (np.abs(estimate[strangers]) > level * factor[strangers] + tol).any():
            return Look(estimate, exact, few, False)
        self.spent += more
        if 2 * more > p or self.spent > p:
            return Look(self.learn(residual), self.everyone, few + p, True)
        exact[uncertified] = True
        estimate[uncertified] = self.design.correlate(residual, uncertified)
        return Look(estimate, exact, few + more, True)

    def _estimate(self, residual):
        """Correlations as the references suggest, and how far off they may be.

        The second number is to be multiplied by |x_j|.
        """
        weights = self.design.weights
        a, rest = np.zeros(self.errors.size), residual.copy()
        for _ in range(2):  # once more, for what rounding leaves along the directions
            more = self.directions @ (weights * rest)
            rest -= more @ self.directions
            a += more
        estimate = a @ self.correlations
        size = np.sqrt(weights @ residual**2) + np.abs(a).sum()
        slack = np.sqrt(weights @ rest**2) * (1 + self.rounding)
        off = np.abs(a) @ self.errors + self.rounding * size
        return estimate, slack + off

    def learn(self, residual):
        """Correlate every feature, and keep residual and result as a reference."""
        correlation = self.design.correlate(residual)
        self.spent = 0
        weights = self.design.weights
        direction, product = residual.copy(), correlation.copy()
        size = np.sqrt(weights @ residual**2)
        error = self.rounding * size
        for _ in range(2):
            a = self.directions @ (weights * direction)
            direction -= a @ self.directions
            product -= a @ self.correlations
            error += np.abs(a) @ self.errors + self.rounding * np.abs(a).sum()
        left = np.sqrt(weights @ direction**2)
        if left > NEGLIGIBLE * size:
            self._keep(direction / left, product / left, error / left, residual)
        return correlation

    def _keep(self, direction, product, error, residual):
        if self.errors.size == self.capacity:
            # Make room where the present residual has least.
            share = np.abs(self.directions @ (self.design.weights * residual))
            stay = np.arange(self.capacity) != np.argmin(share)
            self.directions = self.directions[stay]
            self.correlations = self.correlations[stay]
            self.errors = self.errors[stay]
        self.directions = np.vstack([self.directions, direction])
        self.correlations = np.vstack([self.correlations, product])
        self.errors = np.append(self.errors, error)
