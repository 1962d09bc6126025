"""Which features need no look: bounds on correlations from earlier residuals.

A few earlier residuals r_k, the references, have known correlations c_kj = <x_j, r_k>
with every feature. A new residual is r = sum_k b_k r_k + e, hence

    |<x_j, r>| <= |sum_k b_k c_kj| + |x_j| |e|,

and a feature whose bound is within its slab is certified to be satisfied without its
column being touched. Between two knots of the path residuals move along a line, so e is
small. The bound holds for any penalty and any shares b, and rounding is allowed for: a
reference is kept as it was learnt, so that its error is that of one inner product.
"""

from typing import NamedTuple

import numpy as np

from ..matrices.dense import as_stored
from ..runtime.memory import roomy

EPS = np.finfo(float).eps
# Numbers in X below which looking at all of it is cheaper than thinking about it.
SMALL = 2_000_000
# The share of X from which on looking at all of it, and learning from it, is worth more
# than looking at some columns alone.
WORTH_ALL = 0.25
# Bytes that the references may take, as long as there are a few.
MEMORY = 1 << 28
# A residual this close to the span of the references teaches nothing.
NEGLIGIBLE = 1e-7
# What is added to the squares of references (in units of each) where shares are sought:
# they stay moderate though references may be nearly dependent.
RIDGE = 1e-10
# Residuals of a stretch that are learnt, or estimated, together; and how much of one,
# as a share of the slabs' half width, may be left beyond the references without its
# being learnt: features that this leaves uncertified are looked at.
TOGETHER, CLOSE = 4, 0.4
NOBODY = np.empty(0, dtype=np.int64)


class Look(NamedTuple):
    """What a look at the features found."""

    correlation: np.ndarray  # p, <x_j, residual>; an estimate where not exact
    exact: np.ndarray  # p, bool
    touched: int  # columns it took
    complete: bool  # everyone not exact is certified to be satisfied


class LookBack(NamedTuple):
    """What a look at several residuals found."""

    worst: list[float]  # by residual: the largest violation
    correlation: np.ndarray | None  # p, with the last of these, mostly estimates
    objecting: np.ndarray  # features that object to the next, or may to later ones


class Certificates:
    """References with their correlations, and what each look costs."""

    def __init__(self, design, small=None):
        self.design = design
        most = np.clip(MEMORY // (8 * (design.n + design.p)), 4, 32)
        self.capacity = int(np.clip(design.n // 25, 4, most))
        self.count = 0  # references
        self.residuals = roomy(self.capacity, design.n)
        self.correlations = roomy(self.capacity, design.p)
        self.products = np.empty((self.capacity, self.capacity))  # of the residuals
        self.anchored = np.empty(self.capacity)  # <residual, residual of null model>
        self.next = 0  # whose place the next one takes
        self.origin = None  # residual of the null model
        self.spent = 0  # numbers read for uncertified features since the last full pass
        self.small = design.matrix.size < SMALL if small is None else small
        self.everyone = np.ones(design.p, dtype=bool)
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
        expected, uncertified = np.empty((2, p), dtype=np.int64)
        few, more = self.design.kernels.sort_out(
            factor, level, self.length, slack, estimate, member, expected, uncertified,
        )
        expected, uncertified = expected[:few], uncertified[:more]
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

    def look_back(self, residuals, member, factor, levels, tol, cuts):
        """Look at everyone but members, at one residual after another.

        It ends before the first to which somebody objects by more than tol, and after
        the first that calls somebody: by an estimate of at least cuts * factor. X must
        be dense, and in memory.
        """
        worst, objecting, latest = [], NOBODY, None
        self._learn_some(residuals, levels)
        with self.design.matrix.crew.room("estimates", TOGETHER, self.design.p) as room:
            for first in range(0, len(residuals), TOGETHER):
                some = slice(first, first + TOGETHER)
                few, objecting, ended = self._look_at_few(
                    residuals[some], member, factor, levels[some], tol, cuts[some],
                    room,
                )
                worst += few
                if few:
                    latest = room[len(few) - 1].copy()
                if ended:
                    break
        return LookBack(worst, latest, objecting)

    def _look_at_few(self, residuals, member, factor, levels, tol, cuts, room):
        """The largest violations up to where the look ends, who objects, and whether
        it has ended.

        `room` gets the correlations, a row for each residual.
        """
        kernels, (X, _, center, scale) = self.design.kernels, as_stored(self.design)
        estimates, worst = room[: len(residuals)], np.empty(len(residuals))
        slack = self._estimates(residuals, estimates)
        vectors = self.design.weights * residuals
        done, learnt, most = 0, -1, int(WORTH_ALL * factor.size)
        while True:
            done, end = kernels.look_along(
                X, center, scale, vectors, done, learnt, most, member, factor,
                self.length, levels, tol, cuts, slack, estimates, worst,
            )
            if end != kernels.TOO_MANY:
                break
            estimates[done], slack[done] = self.learn(residuals[done]), 0.0
            learnt, rest = done, slice(done + 1, None)
            slack[rest] = self._estimates(residuals[rest], estimates[rest])
        objecting = NOBODY
        if end == kernels.OBJECTED:
            # Others may object to what comes next: they seem to. Who has no digit left
            # does, too, so that it is seen.
            inside = np.abs(estimates[done:]) <= np.outer(levels[done:], factor)
            able = ~member & np.isfinite(factor)
            objecting = np.flatnonzero(~inside.all(axis=0) & able)
        return worst[:done].tolist(), objecting, end != kernels.PASSED

    def _learn_some(self, residuals, levels):
        """Learn some residuals, in one pass, so that little is left of the others."""
        weights, some = self.design.weights, []
        _, rest = self._shares(residuals)
        while len(some) < TOGETHER:
            left = np.sqrt(rest**2 @ weights)
            k = int(np.argmax(left / levels))
            if not left[k] > CLOSE * levels[k]:
                break
            some.append(k)
            direction = rest[k] / left[k]
            rest -= np.outer((weights * rest) @ direction, direction)
        if some:
            found = self.design.correlate_many(residuals[some])
            for k, correlation in zip(some, found):
                self.learn(residuals[k], correlation)

    def _estimates(self, residuals, out):
        """As _estimate, for several residuals: a row of `out` and a number for each."""
        b, rest = self._shares(residuals)
        terms = np.abs(b) @ self._sizes()
        size = np.sqrt(residuals**2 @ self.design.weights)
        left = np.sqrt(rest**2 @ self.design.weights) * (1 + self.rounding)
        np.dot(b, self.correlations[: self.count], out=out)
        return left + self.rounding * (size + 3 * terms)

    def _estimate(self, fit):
        """Correlations as the references suggest, and how far off they may be.

        The second number is to be multiplied by |x_j|.
        """
        if not fit.by_gram:
            estimate = np.empty((1, self.design.p))
            slack = self._estimates(fit.residual[None], estimate)
            return estimate[0], slack[0]
        b, slack = self._by_gram(fit)
        return b @ self.correlations[: self.count], slack

    def _by_gram(self, fit):
        """Shares and slack without the residual: from the correlations of what moved.

        What is left is a difference of squares here, in which rounding counts more.
        """
        moved = np.abs(fit.change) @ self.length[fit.moved]
        size = np.sqrt(fit.anchor.mean_square) + moved
        along = self.anchored[: self.count] - (
            self.correlations[: self.count, fit.moved] @ fit.change
        )
        b = self._solve(along)
        terms = np.abs(b) @ self._sizes()
        products = self.products[: self.count, : self.count]
        left = fit.mean_square - 2 * b @ along + b @ products @ b
        # In products of columns blur counts twice.
        rounding = 4 * self.rounding * self.design.blur
        left = max(left, 0.0) + rounding * (size + terms) ** 2
        return b, np.sqrt(left) + self.rounding * (size + 3 * terms)

    def _shares(self, residuals):
        """Shares of the references in residuals, one a row, and what they leave."""
        weights, references = self.design.weights, self.residuals[: self.count]
        b, rest = np.zeros((len(residuals), self.count)), residuals.copy()
        for _ in range(2):  # once more, for what the ridge and rounding leave
            more = self._solve(references @ (weights * rest).T).T
            b += more
            rest -= more @ references
        return b, rest

    def _solve(self, along):
        """Shares by least squares, from products with the references."""
        if self.count == 0:
            return along
        products, size = self.products[: self.count, : self.count], self._sizes()
        unit = products / np.outer(size, size)
        unit[np.diag_indices(self.count)] = 1 + RIDGE
        return (np.linalg.solve(unit, (along.T / size).T).T / size).T

    def _sizes(self):
        """Root mean squares of the references."""
        return np.sqrt(self.products.diagonal()[: self.count])

    def learn(self, residual, correlation=None):
        """Correlate every feature, and keep residual and result as a reference."""
        if self.origin is None:
            self.origin = residual
        if correlation is None:
            correlation = self.design.correlate(residual)
        self.spent = 0
        weights = self.design.weights
        square, rest = weights @ residual**2, self._shares(residual[None])[1][0]
        if weights @ rest**2 > NEGLIGIBLE**2 * square:
            k, self.next = self.next, (self.next + 1) % self.capacity
            self.count = max(self.count, k + 1)
            self.residuals[k], self.correlations[k] = residual, correlation
            products = self.residuals[: self.count] @ (weights * residual)
            self.products[k, : self.count] = self.products[: self.count, k] = products
            self.anchored[k] = residual @ (weights * self.origin)
        return correlation
