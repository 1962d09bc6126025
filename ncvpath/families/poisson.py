"""Counts."""

from math import lgamma

import numpy as np

from .family import Family


class Poisson(Family):
    """Poisson regression: loss(y, eta) = e^eta - y eta, of any y >= 0."""

    name = "poisson"
    response = "counts >= 0"

    def loss(self, y, eta):
        """e^eta - y eta."""
        return self.mean(eta) - y * eta

    def residual(self, y, eta):
        """Response minus mean."""
        return y - self.mean(eta)

    def curvature(self, y, eta):
        """The mean, once more."""
        return self.mean(eta)

    def mean(self, eta):
        """e^eta."""
        with np.errstate(over="ignore"):
            return np.exp(eta)

    def saturated(self, y):
        """That of the mean y: y - y log y."""
        return y - y * np.log(np.where(y > 0, y, 1.0))

    def check(self, y):
        """Counts are not negative, and not all zero: their mean has a logarithm."""
        bad = np.flatnonzero(y < 0)
        if bad.size:
            raise ValueError(
                "y must be counts >= 0 with family='poisson'; got "
                f"{y[bad[0]]:g} at position {bad[0]}"
            )
        if not y.any():
            raise ValueError("y must have a positive count; got zeros only")

    def null_link(self, mean_y):
        """The logarithm."""
        return float(np.log(mean_y))

    def loglik(self, y, eta, weights):
        """Minus the loss, and the logarithms of y!."""
        values, where = np.unique(y, return_inverse=True)
        factorials = np.array([lgamma(value + 1) for value in values])[where]
        return super().loglik(y, eta, weights) - factorials @ weights

    @property
    def measures(self):
        """Deviance, and errors of the mean."""
        return {
            "deviance": self.unit_deviance,
            "mse": self.squared_error,
            "mae": self.absolute_error,
        }
