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
# A residual this close to the span of the references teaches nothing, and dividing by
# what is left of it would turn rounding into a direction.
NEGLIGIBLE = 1e-7


class Look(NamedTuple):
    """What a look at the features found."""

    correlation: np.ndarray  # p, <x_j, residual>; an estimate where not exact
    exact: np.ndarray  # p, bool
    touched: int  # columns


class Certificates:
    """Reference directions with their correlations, and what each look costs."""

    def __init__(self, design):
        self.design = design
        self.capacity = int(np.clip(design.n // 25, 4, 32))
        self.directions = np.empty((0, design.n))
        self.correlations = np.empty((0, design.p))
        self.errors = np.empty(0)  # of the correlations, relative to |x_j|
        self.spent = 0  # columns looked at since the last full pass
        self.length = np.sqrt(design.norm2)
        # A computed inner product is off by at most (n + a few) eps |x| |r|.
        self.rounding = 2 * (design.n + 8) * EPS

    def look(self, residual, known, l1, tol):
        """Look at `known` and at all features that cannot be certified.

        When features outside `known` turn out to object by more than tol, there will
        be another look anyway, and this one ends with them.
        """
        estimate, bound = self._estimate(residual)
        expected = known | (np.abs(estimate) > l1)
        if 2 * np.count_nonzero(expected) > expected.size:
            return self._full_look(residual, 0)
        touched = self._look_at(expected, residual, estimate)
        if ((np.abs(estimate) > l1 + tol) & expected & ~known).any():
            return Look(estimate, expected, touched)
        uncertified = (bound > l1) & ~expected
        count = np.count_nonzero(uncertified)
        self.spent += count
        if 2 * count > expected.size or self.spent > expected.size:
            return self._full_look(residual, touched)
        touched += self._look_at(uncertified, residual, estimate)
        return Look(estimate, expected | uncertified, touched)

    def _estimate(self, residual):
        """Correlations as the references suggest, and bounds on their true size."""
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
        return estimate, np.abs(estimate) + (slack + off) * self.length

    def _look_at(self, chosen, residual, correlation):
        features = np.flatnonzero(chosen)
        correlation[features] = self.design.correlate(residual, features)
        return features.size

    def _full_look(self, residual, touched):
        correlation = self.learn(residual)
        everyone = np.ones(correlation.size, dtype=bool)
        return Look(correlation, everyone, touched + everyone.size)

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
