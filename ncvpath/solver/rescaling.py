"""Adaptive rescaling: the penalty's units sqrt(v_j), which depend on the solution.

v -> v(solution for v) is a map with eigenvalues far below -1, so that plain updates of
log v diverge, and it jumps where solutions for fixed v do. Newton's method on the
support therefore treats v as the function of beta that it is; where it does not lead
there, log v goes a smaller and smaller share of the way.
"""

import numpy as np

from ..penalties import BY_KIND
from .hessian import Reference

# Updates that there may be at one lambda, and the share of the way to the v measured
# that an update goes, at least.
MOST, LEAST = 50, 1 / 32
# Numbers in the columns of a support for which Newton's method is tried, its steps in a
# row, and what each has to leave of the violation, at most.
LARGEST, IN_A_ROW, GAIN = 50_000_000, 10, 0.5
# No v_j falls below this share of the largest: nothing is left of the curvature there.
SMALLEST = 1e-12
# Differences for derivatives: of linear predictors, and relative ones.
DIFFERENCE, RELATIVE = 1e-4, 1e-6


class Rescaling:
    """The units at one lambda, from those of the point where it begins."""

    def __init__(self, newton):
        self.newton, problem = newton, newton.problem
        self.needed = problem.rescales
        self.updates, self.share = 0, 1.0
        self.best = np.inf, newton.point  # violation, and where
        self.log_v = np.zeros(newton.features.size)
        if self.needed:
            self.log_v = np.log(self.measure(newton.point.eta))
        newton.use(np.exp(0.5 * self.log_v))

    @property
    def exhausted(self):
        """Whether it has not settled."""
        return self.updates >= MOST

    def measure(self, eta):
        """v_j of the working set, at a linear predictor."""
        problem = self.newton.problem
        h = problem.likelihood.curvature(eta[None])[0]
        v = problem.design.squares(problem.design.weights * h, self.newton.features)
        return np.maximum(v, SMALLEST * v.max(initial=SMALLEST))

    def violation(self, point, units):
        """With v as it is at the point, which the units then are of."""
        self.newton.use(np.sqrt(self.measure(point.eta)))
        return self.newton.measure(point, units)[0]

    def update(self, units, target):
        """Measure v at the point; unless that settles it, move towards it.

        Returns the violation with v as measured.
        """
        newton = self.newton
        off = self.violation(newton.point, units)
        if off > target:
            off = self.approach(units, target, off)
        self.updates += 1
        if off > target:
            if off > 0.5 * self.best[0]:
                self.share = max(0.5 * self.share, LEAST)
            if off < self.best[0]:
                self.best = off, newton.point
            if self.exhausted:
                newton.point = self.best[1]
                return self.violation(newton.point, units)
            self.log_v += self.share * (2 * np.log(newton.unit) - self.log_v)
            newton.use(np.exp(0.5 * self.log_v))
        return off

    def approach(self, units, target, off):
        """Newton's method on the support, as long as it gains; the violation left."""
        newton = self.newton
        for _ in range(IN_A_ROW):
            if off <= target:
                break
            new = self.coupled_step(units)
            if new is None:
                break
            found = self.violation(new, units)
            if not found <= GAIN * off:
                self.violation(newton.point, units)  # back to its units
                break
            newton.point, off = new, found
        return off

    def coupled_step(self, units):
        """Where Newton's method for E_j = q_j - slope_j(beta_j, v_j(beta)) = 0 leads;
        None where it does not."""
        newton = self.newton
        problem, point, design = newton.problem, newton.point, newton.problem.design
        # The support, and those that are about to join it.
        joins = np.abs(point.q) > units[0, 0] * problem.penalty_factor[newton.features]
        own = np.flatnonzero((point.beta != 0) | joins)
        support, beta = newton.features[own], point.beta[own]
        sign = np.where(beta != 0, np.sign(beta), np.sign(point.q[own]))
        if not 0 < support.size * design.n <= LARGEST:
            return None
        reference = Reference(problem, point.eta)
        shift, v = reference.shift(support), newton.unit[own] ** 2
        columns = design.columns(support)
        ways = columns - shift
        pull, by_beta, by_v = slopes(problem, np.abs(beta), v, units, support)
        jacobian = reference.gram(support, support)
        jacobian[np.diag_indices(support.size)] += by_beta
        if not is_definite(jacobian):
            return None  # it would lead to any stationary point
        wrong = point.q[own] - shift * point.pull - sign * pull
        jacobian += (sign * by_v)[:, None] * bends(problem, point.eta, columns, ways)
        penalised = problem.penalty_factor[support] > 0
        change = change_within_signs(jacobian, wrong, beta, sign, penalised)
        if change is None:
            return None
        new = point.beta.copy()
        new[own] += change
        up = -shift @ change
        if reference.projects:
            up += point.pull / reference.total
        eta = point.eta + up + design.combine(support, change[None])[0]
        return newton.at(new, point.intercept + up, eta)


def change_within_signs(jacobian, wrong, beta, sign, penalised):
    """The solution of jacobian @ change = wrong, but for those that would cross zero on
    their way: they stay there, and the others move without them. None if there is none.
    """
    change, at_zero = -beta, np.zeros(beta.size, dtype=bool)
    for _ in range(beta.size):
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


def bends(problem, eta, columns, ways):
    """dv_j / dbeta_k by central differences of the curvature, eta moving along ways."""
    likelihood, weighted = problem.likelihood, columns**2
    weighted *= problem.design.weights[:, None]
    if not likelihood.is_coupled:
        ends = likelihood.curvature(np.array([eta + DIFFERENCE, eta - DIFFERENCE]))
        return weighted.T @ ((ends[0] - ends[1])[:, None] * ways) / (2 * DIFFERENCE)
    steps = DIFFERENCE / np.maximum(np.abs(ways).max(axis=0), DIFFERENCE)[:, None]
    ahead = likelihood.curvature(eta + steps * ways.T)
    ahead -= likelihood.curvature(eta - steps * ways.T)
    return ((ahead / (2 * steps)) @ weighted).T


def slopes(problem, size, v, units, features):
    """What the penalties pull with, and derivatives by the size of beta and by v."""
    row = BY_KIND[problem.penalty.kind]
    l1 = units[0, 0] * problem.penalty_factor[features]
    l2 = units[0, 1] * problem.ridge_factor[features]

    def pull(size, v):
        unit = np.sqrt(v)
        sparse = unit * row.slope(unit * size, l1 / unit, problem.penalty.shape)
        return sparse + l2 * v * size

    near = size * (1 - RELATIVE)
    far = np.maximum(size * (1 + RELATIVE), near + np.finfo(float).tiny**0.5)
    less, more = v * (1 - RELATIVE), v * (1 + RELATIVE)
    by_beta = (pull(far, v) - pull(near, v)) / (far - near)
    by_v = (pull(size, more) - pull(size, less)) / (more - less)
    return pull(size, v), by_beta, by_v
