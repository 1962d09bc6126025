"""The Hessian of the loss at a reference, as the Gram cache asks for it.

Row by row families have X' diag(w h) X, projected off the intercept: with m_j the mean
of x_j under the weights w h, that is the Gram matrix of the columns centred at m_j. A
partial likelihood couples the rows; its likelihood applies the matrix between X' and X.
"""

from functools import cached_property

import numpy as np

# Numbers of columns that are multiplied by the coupled rows together.
NUMBERS_AT_ONCE = 1 << 22
# The least curvature along a column, centred as the intercept gives way, as a share of
# v_j: where a column hardly varies in rows of any curvature, the difference of two
# numbers of one size may even come out negative.
LEAST_BEND = 1e-8


class Reference:
    """<x_a, x_b> in the metric of the curvature at a linear predictor."""

    def __init__(self, problem, eta):
        self.design, likelihood = problem.design, problem.likelihood
        self.p, self.n_counted = self.design.p, self.design.n_counted
        self.projects = likelihood.intercept
        self._likelihood, self._eta = likelihood, eta
        self.weights = self.design.weights * likelihood.curvature(eta[None])[0]
        self.total = self.weights.sum()
        self._center = self.design.center.copy()
        self._mean, self._square = np.full((2, self.p), np.nan)
        self._diagonal = np.full(self.p, np.nan)

    @cached_property
    def coupled(self):
        """What couples the rows, as an operator; None if nothing does."""
        likelihood = self._likelihood
        return likelihood.hessian(self._eta) if likelihood.is_coupled else None

    def mean(self, features):
        """m_j in standardized units."""
        new = features[np.isnan(self._mean[features])]
        if new.size:
            total, self._square[new] = self.design.moments(self.weights, new)
            self._mean[new] = total / self.total
            self._center[new] += self.design.scale[new] * self._mean[new]
        return self._mean[features]

    def shift(self, features):
        """What the intercept gives way by, per unit of each coefficient."""
        return self.mean(features) if self.projects else np.zeros(features.size)

    def v(self, features):
        """v_j = sum_i w_i h_i x_ij^2."""
        self.mean(features)
        return self._square[features]

    def diagonal(self, features):
        """H_jj."""
        new = features[np.isnan(self._diagonal[features])]
        if new.size and self.coupled is None:
            v, square = self.v(new), self.total * self.shift(new) ** 2
            self._diagonal[new] = np.maximum(v - square, LEAST_BEND * v)
        elif new.size:
            for some, columns in self._columns(new):
                terms = columns * self.coupled.times(columns)
                self._diagonal[new[some]] = self.design.weights @ terms
        return self._diagonal[features]

    def gram(self, rows, columns):
        """H_ab for a in rows, b in columns."""
        if self.coupled is None:
            return self.gram_by_rows(rows, columns)
        out = np.empty((rows.size, columns.size))
        for some, right in self._columns(columns):
            vectors = np.ascontiguousarray(self.coupled.times(right).T)
            out[:, some] = self.design.correlate(vectors, rows).T
        return out

    def gram_by_rows(self, rows, columns):
        """The same as if rows were not coupled: sum_i w_i h_i x_ia x_ib, projected."""
        left, right = self.mean(rows), self.mean(columns)
        out = self.design.matrix.gram(
            rows, columns, self.weights / self.total, self._center, self.design.scale
        )
        if not self.projects:
            out += np.outer(left, right)
        return self.total * out

    def _columns(self, features):
        """Standardized columns, a few at a time."""
        width = max(NUMBERS_AT_ONCE // self.design.n, 1)
        for left in range(0, features.size, width):
            some = slice(left, left + width)
            yield some, self.design.columns(features[some])
