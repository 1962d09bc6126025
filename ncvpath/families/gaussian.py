"""Least squares."""

import numpy as np

from ..matrices.least_squares import least_squares


class Gaussian:
    """A normal response: loss(y, eta) = (y - eta)^2 / 2.

    eta = X beta on standardized columns; the intercept is solved in closed form by
    centring y, so that `response` is y minus its mean where there is one.
    """

    name = "gaussian"
    # The loss is its own quadratic model, everywhere: one Gram matrix serves the path.
    is_quadratic = True

    def center(self, y, weights, intercept):
        """The response, zero in rows that do not count, and what was taken away."""
        counted = weights > 0
        response, mean = np.where(counted, y, 0.0), 0.0
        for _ in range(2 if intercept else 0):  # the second for its rounding
            rest = weights @ response
            response, mean = np.where(counted, response - rest, 0.0), mean + rest
        return response, mean

    def residual(self, response, eta):
        """The score residual: minus the derivative of the loss."""
        return response - eta

    def loss(self, response, eta, weights):
        """The weighted mean of the loss, for each row of eta."""
        return 0.5 * ((response - eta) ** 2 @ weights)

    def spread(self, response, weights):
        """The scale of the response, to which log-sum's theta is tied: sd(y)."""
        return np.sqrt(weights @ response**2)

    def deviance(self, loss, n):
        """Twice the loss, over n observations: the residual sum of squares."""
        return 2 * n * loss

    def null_coefficients(self, design, response, features):
        """Those of unpenalised features alone: least squares."""
        return least_squares(design, response, features)[0]
