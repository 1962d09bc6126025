"""GIST: proximal gradient steps with a line search (Gong et al., ICML 2013).

From beta, with q minus the gradient of the smooth part f and step length 1 / t,

    new = argmin  t/2 |b - (beta + q / t)|^2 + sum_j r(|b_j|),

accepted when the objective falls by sigma/2 t |new - beta|^2; otherwise t grows. The
first t of a step is that of Barzilai and Borwein, the curvature of f along the step
before: with d = X (new - beta) and residuals r and r', (<r - r', d> + sum_j l2_j
change_j^2) / |change|^2. For least squares r - r' = d.
"""

import numpy as np

from .. import kernels
from ..kernels.records import Coordinates
from .finished import Status
from .newton import SATURATED_STEPS
from .restricted import ROUNDED_RISE

SIGMA = 0.1  # how much of the expected decrease is asked for
SHORTER = 2.0  # factor of t after a step that was refused
RANGE = 1e10  # of t, both ways from the largest curvature of a coordinate
# Multiplications that products of columns may take: those of a step or two in Python.
FEW_PRODUCTS = 1 << 23
# Steps without halving the violation after which it is given up.
MAX_IDLE_STEPS = 5000
# The objective's change is known up to this share of its terms.
ROUNDING = 4 * np.finfo(float).eps


class Squares:
    """The loss of least squares, where the steps have led."""

    is_lost, noise = False, 0.0

    def __init__(self, design, features, residual):
        self.design, self.features, self.residual = design, features, residual
        self.way, self.bend = residual, 0.0

    def look(self, moved, change):
        """What the loss would rise by, beyond its slope times the change of some
        coordinates."""
        self.way = self.design.combine(self.features[moved], change[None])[0]
        self.bend = (self.design.weights * self.way) @ self.way
        return 0.5 * self.bend

    def go(self, beta):
        """Be where we looked; returns the curvature along the way, and scores."""
        self.residual = self.residual - self.way
        return self.bend, self.design.correlate(self.residual[None], self.features)[0]


class Products:
    """The same by the products of columns, where these cost less than some steps."""

    is_lost, noise = False, 0.0

    def __init__(self, design, features, scores):
        self.gram, self.scores = design.gram(features, features), scores
        self.way, self.bend = np.zeros(features.size), 0.0

    def look(self, moved, change):
        """As that of `Squares`."""
        self.way = change @ self.gram[moved]
        self.bend = self.way[moved] @ change
        return 0.5 * self.bend

    def go(self, beta):
        """As that of `Squares`."""
        self.scores = self.scores - self.way
        return self.bend, self.scores


def squares(problem, state, features):
    """Where the loss of least squares stands, on a working set."""
    design, m = problem.design, features.size
    if design.n * m * m <= FEW_PRODUCTS:
        return Products(design, features, state.correlation.values[features])
    return Squares(design, features, state.correlation.vector)


class Curved:
    """A loss that is not quadratic, of the coefficients and the intercept, if there is
    one, as the last coordinate."""

    def __init__(self, on):
        self.on, self.m = on, on.features.size
        self.intercept = on.problem.likelihood.intercept
        self.noise = ROUNDED_RISE * abs(on.point.loss)  # in its differences
        self.way, self.saturated = on.point.eta, 0

    @property
    def is_lost(self):
        """Whether coefficients grow without end."""
        return self.saturated >= SATURATED_STEPS

    def with_intercept(self, of_features, of_intercept):
        """Numbers by coordinate."""
        return np.append(of_features, [of_intercept] if self.intercept else [])

    @property
    def scores(self):
        """Minus the gradient."""
        return self.with_intercept(self.on.point.q, self.on.point.pull)

    def look(self, moved, change):
        """As that of `Squares`."""
        problem, point, own = self.on.problem, self.on.point, moved < self.m
        self.way = np.full_like(point.eta, change[~own].sum())
        if own.any():
            features, part = self.on.features[moved[own]], change[own]
            self.way += problem.design.combine(features, part[None])[0]
        with np.errstate(over="ignore", invalid="ignore"):
            loss = problem.likelihood.loss((point.eta + self.way)[None])[0]
        return loss - point.loss + self.scores[moved] @ change

    def go(self, beta):
        """As that of `Squares`."""
        on, old = self.on, self.on.point
        intercept = beta[self.m] if self.intercept else old.intercept
        on.point = on.at(beta[: self.m].copy(), intercept, old.eta + self.way)
        self.noise = ROUNDED_RISE * abs(on.point.loss)
        self.saturated = self.saturated + 1 if on.is_saturated else 0
        turn = on.problem.design.weights * (old.residual - on.point.residual)
        return turn @ self.way, self.scores


class Gist:
    """The minimum of a loss that is not quadratic, with a fixed objective."""

    def __init__(self, on):
        self.on = on

    def solve(self, levels, target, max_epochs):
        """As `Newton.solve`; a step that was tried counts as a sweep."""
        on, loss = self.on, Curved(self.on)
        factors = on.record.penalty_factor, on.record.ridge_factor
        l1, l2 = (loss.with_intercept(row, 0.0) for row in levels.T * factors)
        bend = on.problem.likelihood.null_curvature()
        v = bend * loss.with_intercept(on.record.norm2, 1.0) + l2
        beta, none = loss.with_intercept(on.point.beta, on.point.intercept), np.empty(0)
        r = Coordinates(none, none, l1, v, beta, loss.scores - l2 * beta)
        tried = minimise(loss, on.problem.penalty, r, l2, target, max_epochs)
        on.point = on.point_of(on.point.beta, on.point.intercept)
        worst, _ = on.measure(on.point, levels)
        failure = Status.SATURATED if on.is_saturated else None
        return tried, 0, worst <= target, failure


def minimise(loss, penalty, r, l2, target, most):
    """Move r.beta to a stationary point; returns the number of steps tried.

    `loss` is where r.beta is as it comes, and r.q belongs to it.
    """
    l1, beta, q = r.l1, r.beta, r.q
    if beta.size == 0:
        return 0
    new, steepest = np.empty_like(beta), r.v.max()
    t, tried, best, since = steepest, 0, np.inf, 0
    while tried < most and tried - since <= MAX_IDLE_STEPS and not loss.is_lost:
        worst = kernels.largest_violation(penalty, l1, beta, q)
        if worst <= target:
            break
        if worst < 0.5 * best:
            best, since = worst, tried
        tried += 1
        kernels.proximal_point(penalty, l1, beta, q, t, new)
        moved = np.flatnonzero(new != beta)
        if moved.size == 0:
            break  # what is left of the violation is below the rounding of beta
        change = new[moved] - beta[moved]
        fall, square, ridge = q[moved] @ change, change @ change, l2[moved] @ change**2
        excess = loss.look(moved, change) + 0.5 * ridge
        rise, height = kernels.penalty_rise(penalty, l1, beta, new)
        gained = rise - fall + excess
        slack = ROUNDING * (height + abs(fall) + 2 * abs(excess)) + loss.noise
        falls = gained <= slack - 0.5 * SIGMA * t * square and excess < np.inf
        if not falls and t < RANGE * steepest:
            t *= SHORTER
            continue
        beta[:] = new
        bend, scores = loss.go(beta)
        q[:] = scores - l2 * beta
        t = np.clip((bend + ridge) / square, steepest / RANGE, steepest * RANGE)
    return tried
