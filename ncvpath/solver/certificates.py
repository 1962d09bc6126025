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

from .. import kernels
from ..runtime.memory import empty_mmap

EPS, TINY = np.finfo(float).eps, np.finfo(float).tiny
# The share of X from which on looking at all of it, and learning from it, is worth more
# than looking at some columns alone.
WORTH_ALL = 0.25
# Entries per column below which an estimate costs more than the column.
FEW_ENTRIES = 32
# References that are kept at most, and the bytes that they may take, as long as there
# are a few.
MOST_REFERENCES, MEMORY = 16, 1 << 28
# Residuals that are learnt in one pass over X: with few, it waits for memory.
LEARNT_AT_ONCE = 4
# A residual of which less is left beyond the references, as a share of the slabs' half
# width, teaches little; with this share of itself left, nothing.
CLOSE, NEGLIGIBLE = 0.1, 1e-7
# What is added to the squares of references (in units of each) where shares are sought:
# they stay moderate though references may be nearly dependent.
RIDGE = 1e-10


class Correlations:
    """<x_j, vector> - shift_j for every feature, of which some may be estimates.

    Where not exact, they are off by slack |x_j| at most. The shift, None if there is
    none, is what a ridge penalty takes: l2_j beta_j.
    """

    def __init__(self, design, vector, values, exact=None, slack=0.0, shift=None):
        self.design, self.values = design, values
        self._vector = vector  # or what makes it when first asked
        self.exact = exact  # p, bool; None: all of them
        self.slack, self.shift = slack, shift

    @property
    def vector(self):
        """The vector, n."""
        if callable(self._vector):
            self._vector = self._vector()
        return self._vector

    def bounds(self):
        """The largest that each of them may be, in absolute value."""
        size = np.abs(self.values)
        if self.exact is None:
            return size
        return size + np.where(self.exact, 0.0, self.slack * self.design.length)

    def resolve(self, features):
        """Make the values of some features exact; returns how many columns it took."""
        if self.exact is None:
            return 0
        unknown = features[~self.exact[features]]
        if unknown.size:
            found = self.design.correlate(self.vector[None], unknown)[0]
            if self.shift is not None:
                found -= self.shift[unknown]
            self.values[unknown] = found
            self.exact[unknown] = True
        return unknown.size

    def times(self, number, shift):
        """Those of a multiple of the vector, with a shift instead of none."""
        values = number * self.values
        if shift is not None:
            values -= shift
        return Correlations(
            self.design, number * self.vector, values, copied(self.exact),
            number * self.slack, shift,
        )

    def moved(self, share, other):
        """Those of share * other's vector + (1 - share) * this one's."""

        def between(a, b):
            return None if a is None else a + share * (b - a)

        exact = other.exact if self.exact is None else self.exact
        if self.exact is not None and other.exact is not None:
            exact = self.exact & other.exact
        return Correlations(
            self.design, between(self.vector, other.vector),
            between(self.values, other.values), copied(exact),
            between(self.slack, other.slack), between(self.shift, other.shift),
        )


def copied(array):
    """A copy, if there is anything to copy."""
    return None if array is None else array.copy()


class Checked(NamedTuple):
    """Correlations of every feature with the residuals of a block."""

    values: np.ndarray  # residuals x p; estimates of features that are certified
    exact: np.ndarray | None  # p, bool: for all residuals; None: all features
    slack: np.ndarray  # by residual; 0: exact for all features
    touched: np.ndarray  # by residual: columns it took

    @property
    def certified(self):
        """How many features were not looked at, by residual."""
        outside = 0 if self.exact is None else np.count_nonzero(~self.exact)
        return np.where(self.slack > 0, outside, 0)

    def row(self, solutions, k):
        """Of one residual."""
        exact = copied(self.exact) if self.slack[k] > 0 else None
        return Correlations(
            solutions.problem.design, solutions.residual_of(k), self.values[k].copy(),
            exact, self.slack[k],
        )


class Certificates:
    """References with their correlations."""

    def __init__(self, design, certify_from):
        self.design = design
        matrix = design.matrix
        self.enabled = matrix.size >= max(certify_from, FEW_ENTRIES * design.p)
        most = MEMORY // (8 * (design.n + design.p))
        self.capacity = int(np.clip(most, 4, MOST_REFERENCES)) if self.enabled else 0
        self.count = 0  # references
        self.next = 0  # whose place the next one takes
        self.residuals = empty_mmap(self.capacity, design.n)
        self.correlations = empty_mmap(self.capacity, design.p)
        self.products = np.empty((self.capacity, self.capacity))  # of the residuals
        self.inverse = np.empty((0, 0))  # of the products in units of their sizes
        self.values = np.empty((0, design.p))  # of the last check
        # A computed inner product is off by at most (n + a few) eps |x| |r|.
        self.rounding = 2 * (design.n + 8) * EPS * design.cancellation

    def check(self, residuals, member, penalty_factor, levels, tol, cut):
        """Correlations with the residuals: exact for members, and for all features that
        cannot be certified to be satisfied.

        Slabs of residual k are |<x_j, r>| <= levels[k, 0] * penalty_factor_j. It ends
        with the first residual at which one is violated by more than tol, as far as
        that is found out. Features that may have cut * penalty_factor_j or more with
        the last residual are computed, too: whoever is to choose by that shall choose
        by exact numbers.
        """
        design, n = self.design, len(residuals)
        if not self.enabled:
            values = design.correlate(residuals)
            return Checked(values, None, np.zeros(n), np.full(n, design.p))
        values, touched, learnt = self._room(n), np.zeros(n, dtype=int), []
        while True:
            _, slack = self.estimate(residuals, values)
            for k, found in learnt:
                if k < n:
                    values[k], slack[k] = found, 0.0
            needed = member.copy()
            n = kernels.find_uncertified(
                penalty_factor, levels[:n], tol, design.length, slack, values, member,
                needed,
            )
            residuals, values, touched = residuals[:n], values[:n], touched[:n]
            if n == len(levels) and cut < levels[-1, 0]:
                bound = np.abs(values[-1]) + slack[-1] * design.length
                needed |= (bound >= cut * penalty_factor) & (penalty_factor > 0)
            features, slack = np.flatnonzero(needed), slack[:n]
            few = design.matrix.work(features) <= WORTH_ALL * design.matrix.size
            if few or (touched > 0).all():
                break
            new = self._worth_learning(residuals, levels[:n], touched == 0)
            touched[new] = design.p
            learnt += zip(new, design.correlate(residuals[new]))
            for k, found in learnt[-len(new) :]:
                self.learn(residuals[k], found)
        rest = np.flatnonzero(touched == 0)
        if rest.size:
            values[np.ix_(rest, features)] = design.correlate(residuals[rest], features)
            touched[rest] = features.size
        return Checked(values, needed, slack, touched)

    def _worth_learning(self, residuals, levels, unknown):
        """The last residual, by which others are chosen, and a few that have most
        beyond the references."""
        weights, new, rest = self.design.weights, [], self._shares(residuals)[1]
        while len(new) < LEARNT_AT_ONCE:
            size = np.sqrt(rest**2 @ weights)
            widths = np.maximum(levels[:, 0], max(EPS * size.max(), TINY))  # lambda 0
            left = np.where(unknown, size / widths, -1.0)
            left[new] = -1.0
            k = int(np.argmax(left))
            if not new and unknown[-1]:
                k = len(left) - 1
            elif new and not left[k] > CLOSE:
                break
            new.append(k)
            direction = rest[k] / max(np.sqrt(rest[k] ** 2 @ weights), TINY)
            rest -= np.outer((weights * rest) @ direction, direction)
        return new

    def _room(self, n):
        """Rows for the values of a check, which end with the next one."""
        if len(self.values) < n:
            del self.values  # before there are others
            self.values = empty_mmap(n, self.design.p)
        return self.values[:n]

    def estimate(self, residuals, out=None):
        """Correlations as the references suggest, and how far off they may be.

        The former in `out`, if given; the latter is to be multiplied by |x_j|.
        """
        weights = self.design.weights
        b, rest = self._shares(residuals)
        terms = np.abs(b) @ self._sizes()
        size = np.sqrt(residuals**2 @ weights)
        left = np.sqrt(rest**2 @ weights) * (1 + self.rounding)
        values = np.dot(b, self.correlations[: self.count], out=out)
        return values, left + self.rounding * (size + 3 * terms)

    def learn(self, residual, correlation):
        """Keep a residual and its correlations with all features as a reference."""
        weights = self.design.weights
        _, [rest] = self._shares(residual[None])
        if not self.enabled or not rest**2 @ weights > NEGLIGIBLE**2 * (
            residual**2 @ weights
        ):
            return
        k, self.next = self.next, (self.next + 1) % self.capacity
        self.count = max(self.count, k + 1)
        self.residuals[k], self.correlations[k] = residual, correlation
        products = self.residuals[: self.count] @ (weights * residual)
        self.products[k, : self.count] = self.products[: self.count, k] = products
        size = self._sizes()
        unit = self.products[: self.count, : self.count] / np.outer(size, size)
        unit[np.diag_indices(self.count)] = 1 + RIDGE
        self.inverse = np.linalg.inv(unit)

    def _shares(self, residuals):
        """Shares of the references in residuals, one a row, and what they leave."""
        weights, references = self.design.weights, self.residuals[: self.count]
        b, rest = np.zeros((len(residuals), self.count)), residuals.copy()
        if self.count == 0:
            return b, rest
        for _ in range(2):  # once more, for what the ridge and rounding leave
            more = self._solve(references @ (weights * rest).T).T
            b += more
            rest -= more @ references
        return b, rest

    def _solve(self, along):
        """Shares by least squares, from products with the references."""
        size = self._sizes()[:, None]
        return self.inverse @ (along / size) / size

    def _sizes(self):
        """Root mean squares of the references."""
        return np.sqrt(self.products.diagonal()[: self.count])
