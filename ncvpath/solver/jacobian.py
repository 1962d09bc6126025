"""Derivatives for adaptive rescaling, and Newton's step by them.

Wanted is the root of E_j = q_j - slope_j(beta_j, v_j) over the support, v being a
function of beta. Its derivatives have the Hessian of the loss in them, and those of v;
both are of a reference, and serve as long as steps by them gain.
"""

import numpy as np

from ..penalties import BY_KIND
from .hessian import Reference

# Differences for derivatives: of linear predictors, and relative ones.
DIFFERENCE, RELATIVE = 1e-4, 1e-6


class Jacobian:
    """Of the features that were asked for so far: H_jk, and dv_j / dbeta_k.

    Those that come later have hardly an effect on v, nor v on them, while their
    coefficients are small: their derivatives of v are left at zero.
    """

    def __init__(self, problem, eta):
        self.problem, self.eta = problem, eta
        self.reference = Reference(problem, eta)
        self.place = np.full(problem.design.p, -1)
        self.features = np.empty(0, dtype=np.int64)
        self.hessian, self.bends = np.empty((2, 0, 0))
        self._asked, self._found = None, None  # last time: steps ask for the same

    def of(self, features):
        """Both, for some features."""
        new = features[self.place[features] < 0]
        if new.size:
            old, everything = self.features.size, np.append(self.features, new)
            self.place[new] = np.arange(old, everything.size)
            hessian, bends = np.zeros((2, everything.size, everything.size))
            hessian[:old, :old], bends[:old, :old] = self.hessian, self.bends
            hessian[:, old:] = self.reference.gram(everything, new)
            hessian[old:] = hessian[:, old:].T
            if old == 0:
                bends[:] = self._bends(new)
            self.features, self.hessian, self.bends = everything, hessian, bends
        if not np.array_equal(features, self._asked):
            own = np.ix_(self.place[features], self.place[features])
            self._asked, self._found = features, (self.hessian[own], self.bends[own])
        return self._found

    def _bends(self, features):
        """dv_j / dbeta_k by differences of the curvature, eta moving with column k."""
        likelihood, eta = self.problem.likelihood, self.eta
        columns = self.problem.design.columns(features)
        ways = columns - self.reference.shift(features)
        squares = columns**2 * self.problem.design.weights[:, None]
        if not likelihood.is_coupled:
            ends = likelihood.curvature(np.array([eta + DIFFERENCE, eta - DIFFERENCE]))
            ways *= ((ends[0] - ends[1]) / (2 * DIFFERENCE))[:, None]
            return squares.T @ ways
        steps = DIFFERENCE / np.maximum(np.abs(ways).max(axis=0), DIFFERENCE)[:, None]
        ahead = likelihood.curvature(eta + steps * ways.T)
        ahead -= likelihood.curvature(eta - steps * ways.T)
        return ((ahead / (2 * steps)) @ squares).T

    def step(self, on, own, levels):
        """From the point of `on`: whether the Hessian for fixed v is definite there,
        and the way to the root, by some of its coordinates: a function of the share of
        it, None if there is none."""
        problem, point, features = self.problem, on.point, on.features[own]
        beta, q, v = point.beta[own], point.q[own], on.unit[own] ** 2
        sign = np.where(beta != 0, np.sign(beta), np.sign(q))
        shift = self.reference.shift(features)
        pull, by_beta, by_v = slopes(problem, np.abs(beta), v, levels, features)
        hessian, bends = self.of(features)
        jacobian = hessian.copy()
        jacobian[np.diag_indices(own.size)] += by_beta
        definite = is_definite(jacobian)
        jacobian += (sign * by_v)[:, None] * bends
        wrong = q - shift * point.pull - sign * pull
        penalised = problem.penalty_factor[features] > 0
        change = change_within_signs(jacobian, wrong, beta, sign, penalised)
        if change is None:
            return definite, None
        up = -shift @ change
        if self.reference.projects:
            up += point.pull / self.reference.total

        def at(share):
            new = point.beta.copy()
            new[own] += share * change
            return on.point_of(new, point.intercept + share * up)

        return definite, at


def change_within_signs(jacobian, wrong, beta, sign, penalised):
    """The solution of jacobian @ change = wrong, but for those that would cross zero on
    their way: they stay there, and the others move without them. None if there is none.
    """
    change, at_zero = -beta, np.zeros(beta.size, dtype=bool)
    for _ in range(beta.size + 1):
        rest = ~at_zero
        right = wrong[rest] + jacobian[np.ix_(rest, at_zero)] @ beta[at_zero]
        try:
            change[rest] = np.linalg.solve(jacobian[np.ix_(rest, rest)], right)
        except np.linalg.LinAlgError:
            return None
        crosses = penalised & rest & ((beta + change) * sign < 0)
        if not crosses.any():
            return change
        at_zero |= crosses
        change[at_zero] = -beta[at_zero]
    return None


def is_definite(matrix):
    """Whether a symmetric matrix is positive definite."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def slopes(problem, size, v, levels, features):
    """What the penalties pull with, and derivatives by the size of beta and by v."""
    row = BY_KIND[problem.penalty.kind]
    l1 = levels[0, 0] * problem.penalty_factor[features]
    l2 = levels[0, 1] * problem.ridge_factor[features]

    def pull(size, v):
        unit = np.sqrt(v)
        sparse = unit * row.slope(unit * size, l1 / unit, problem.penalty.shape)
        return sparse + l2 * v * size

    step = RELATIVE * np.maximum(size, l1 / v) + np.finfo(float).tiny**0.5
    near, far = np.maximum(size - step, 0), size + step
    less, more = v * (1 - RELATIVE), v * (1 + RELATIVE)
    by_beta = (pull(far, v) - pull(near, v)) / (far - near)
    by_v = (pull(size, more) - pull(size, less)) / (more - less)
    return pull(size, v), by_beta, by_v
