"""Least squares."""

import numpy as np

from .family import Family
from .likelihood import Likelihood


class Gaussian(Family):
    """A normal response: loss(y, eta) = (y - eta)^2 / 2.

    The offset is a part of y that is known, and taken away from it.
    """

    name = "gaussian"
    response = "numbers"
    # The loss is its own quadratic model, everywhere: one Gram matrix serves the path.
    is_quadratic = True

    def residual(self, y, eta):
        """The score residual: minus the derivative of the loss."""
        return y - eta

    def loss(self, y, eta):
        """Half the squares."""
        return 0.5 * (y - eta) ** 2

    def curvature(self, y, eta):
        """One."""
        return np.ones(np.broadcast_shapes(np.shape(y), np.shape(eta)))

    def mean(self, eta):
        """The linear predictor itself."""
        return eta

    def null_link(self, mean_y):
        """The mean."""
        return mean_y

    def loglik(self, y, eta, weights):
        """The log-likelihood at its best variance."""
        n, counted = weights.sum(), weights > 0
        squares = 2 * self.loss(y[counted], eta[..., counted]) @ weights[counted]
        with np.errstate(divide="ignore"):  # a perfect fit has no largest likelihood
            return -0.5 * n * (np.log(2 * np.pi * squares / n) + 1)

    @property
    def measures(self):
        """Squares, and distances."""
        return {"mse": self.squared_error, "mae": self.absolute_error}

    def bind(self, response, weights, intercept):
        """The likelihood of one fit."""
        return CentredResponse(self, response, weights, intercept)


class CentredResponse(Likelihood):
    """Least squares of y minus its mean: eta = X beta on standardized columns, and the
    intercept is solved in closed form."""

    is_quadratic = True

    def __init__(self, family, response, weights, intercept):
        self.family, self.weights = family, weights
        self.total = response.total(weights)
        self.intercept, self.saturated = intercept, 0.0
        known = 0.0 if response.offset is None else response.offset
        counted = weights > 0
        self.y, self.mean = np.where(counted, response.y - known, 0.0), 0.0
        for _ in range(2 if intercept else 0):  # the second for its rounding
            rest = weights @ self.y
            self.y, self.mean = np.where(counted, self.y - rest, 0.0), self.mean + rest

    def loss(self, eta):
        """The weighted mean of the loss, for each row of eta."""
        return 0.5 * ((self.y - eta) ** 2 @ self.weights)

    def residual(self, eta):
        """What is left of the response."""
        return self.y - eta

    def spread(self):
        """The scale of the response, to which log-sum's theta is tied: sd(y)."""
        return np.sqrt(self.weights @ self.y**2)

    def null_intercept(self, eta=0.0):
        """Centred away."""
        return 0.0
