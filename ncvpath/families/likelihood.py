"""A family and the data of one fit: what the solver asks."""

import numpy as np

EPS = np.finfo(float).eps


def decreasing_root(value, slope, start):
    """Where a decreasing function is zero; `slope` is minus its derivative, or near.

    Newton's steps, at most the distance to zero and two: exponentials send them far
    away. Where one leaves what is known of the root, the middle of that instead.
    """
    low, high, at = -np.inf, np.inf, start
    for _ in range(200):
        found, steep, most = value(at), slope(at), 2 + abs(at)
        low, high = (at, high) if found > 0 else (low, at)
        step = found / steep if steep > 0 else np.copysign(most, found)
        after = at + min(max(step, -most), most)
        if not low < after < high:
            after = 0.5 * (low + high) if high - low < np.inf else at
        if found == 0 or abs(after - at) <= 2 * EPS * (1 + abs(at)):
            break
        at = after
    return at


class Likelihood:
    """Weighted means over observations, each with a loss of its own.

    Linear predictors eta (K, n), one per row, come without the offset, which is added
    here. Weights sum to one; rows of weight zero do not matter, whatever they hold.
    """

    is_quadratic = False
    mean = 0.0  # what was taken away from y, and is part of the intercept
    is_coupled = False  # whether the Hessian is more than sum_i w_i h_i x_i x_i'

    def __init__(self, family, response, weights, intercept):
        self.family, self.weights = family, weights
        self.total = response.total(weights)
        self.intercept = intercept and family.has_intercept
        counted = weights > 0
        self._idle = None if counted.all() else ~counted
        # Some y that the family can have, where y does not matter.
        self.y = np.where(counted, response.y, response.y[counted.argmax()])
        self.offset = response.offset
        self.saturated = float(family.saturated(self.y) @ weights)
        self.limit = float(family.limit(self.y) @ weights)

    def _predictor(self, eta):
        """Offset included, and zero in rows that do not count."""
        if self.offset is not None:
            eta = eta + self.offset
        return eta if self._idle is None else np.where(self._idle, 0.0, eta)

    def loss(self, eta):
        """The weighted mean of the loss, for each row of eta."""
        return self.family.loss(self.y, self._predictor(eta)) @ self.weights

    def residual(self, eta):
        """Score residuals: the gradient by coefficient j is -sum_i w_i r_i x_ij."""
        return self._counted(self.family.residual(self.y, self._predictor(eta)))

    def curvature(self, eta):
        """Second derivatives: the Hessian is sum_i w_i h_i x_i x_i'."""
        return self._counted(self.family.curvature(self.y, self._predictor(eta)))

    def _counted(self, values):
        return values if self._idle is None else np.where(self._idle, 0.0, values)

    def spread(self):
        """The scale of scores: root mean square of the null model's residual."""
        eta = np.full((1, self.y.size), self.null_intercept())
        return float(np.sqrt(self.residual(eta)[0] ** 2 @ self.weights))

    def terms(self):
        """The scale of what scores are differences of: rounding is a share of that."""
        if self.family.form == "number":
            return self.spread()
        eta = np.full((1, self.y.size), self.null_intercept())
        expected = self.family.mean(self._predictor(eta))[0]
        size = np.abs(self.residual(eta)[0]) + expected
        return float(np.sqrt(size**2 @ self.weights))

    def null_curvature(self):
        """The mean curvature of the null model."""
        eta = np.full((1, self.y.size), self.null_intercept())
        return float(self.curvature(eta)[0] @ self.weights)

    def null_intercept(self, eta=0.0):
        """The intercept at which weighted residuals add to zero, eta being fixed."""
        if not self.intercept:
            return 0.0
        family, y, weights = self.family, self.y, self.weights
        eta = self._predictor(np.broadcast_to(np.asarray(eta, float), y.shape))
        start = family.null_link(float(weights @ y)) - float(weights @ eta)
        return decreasing_root(
            lambda b: float(family.residual(y, eta + b) @ weights),
            lambda b: float(family.curvature(y, eta + b) @ weights),
            start,
        )

    def deviance(self, loss):
        """From mean losses: twice the sum of what is above the saturated model's."""
        return 2 * self.total * (loss - self.saturated)
