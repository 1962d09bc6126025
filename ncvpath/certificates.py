"""Which features need no look: bounds on correlations from earlier residuals.

A few reference residuals, orthonormalised into directions d_k, have exact correlations
c_kj = <x_j, d_k> with every feature. A new residual is r = sum_k a_k d_k + e, hence

    |<x_j, r>| <= |sum_k a_k c_kj| + |x_j| |e|,

and a feature whose bound is within its slab is certified to be satisfied without its
column being touched. Between two knots of the path residuals move along a line, so e is
small. The bound holds for any penalty; rounding is allowed for.
"""

import numpy as np

EPS = np.finfo(float).eps
# A residual this close to the span of the references teaches nothing, and dividing by
# what is left of it would turn rounding into a direction.
NEGLIGIBLE = 1e-7


class Certificates:
    """Reference directions with their correlations, and what each look costs."""

    def __init__(self, design):
        self.design = design
        self.capacity = int(np.clip(design.n // 25, 4, 16))
        self.directions = np.empty((0, design.n))
        self.correlations = np.empty((0, design.p))
        self.errors = np.empty(0)  # of the correlations, relative to `reach`
        self.spent = 0  # columns looked at since the last full pass
        # A computed inner product is off by at most n eps |x| |r|; implicit centring
        # multiplies this by the distance of the column from zero.
        self.length = np.sqrt(design.norm2)
        self.reach = np.hypot(self.length, np.abs(design.center) / design.scale)
        self.reach[design.far] = self.length[design.far]
        self.rounding = 2 * (design.n + 8) * EPS

    def look(self, residual, known, l1):
        """<x_j, residual>: exact for `known` and for all that cannot be certified.

        Returns the correlations (estimates where certified), which are exact, and
        how many columns were touched.
        """
        weights = self.design.weights
        a = self.directions @ (weights * residual)
        rest = residual - a @ self.directions
        # Once more: the first pass leaves rounding along the directions.
        again = self.directions @ (weights * rest)
        rest -= again @ self.directions
        a += again
        estimate = a @ self.correlations
        slack = np.sqrt(weights @ rest**2) * (1 + self.rounding)
        size = np.sqrt(weights @ residual**2)
        off = np.abs(a) @ self.errors + self.rounding * (size + np.abs(a).sum())
        exact = np.abs(estimate) + slack * self.length + off * self.reach > l1
        exact |= known
        features = np.flatnonzero(exact)
        strangers = features.size - np.count_nonzero(known)
        if 2 * features.size > exact.size or self.spent + strangers > exact.size:
            return self.learn(residual), np.ones_like(exact), exact.size
        self.spent += strangers
        estimate[features] = self.design.correlate(residual, features)
        return estimate, exact, features.size

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
