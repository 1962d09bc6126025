"""A loss that is not quadratic, restricted to a working set: where its solvers are."""

from dataclasses import dataclass

import numpy as np

from .. import kernels

# A rise of an objective by this share of its terms may be rounding; and the largest
# multiple of the curvature that is tried against a larger one.
ROUNDED_RISE, MAX_MULTIPLE = 1e-12, 2.0**40
# The share of the null deviance that a model explains when it is saturated.
SATURATION = 0.99


@dataclass
class Point:
    """Coefficients on the working set, and what follows from them."""

    beta: np.ndarray
    intercept: float
    eta: np.ndarray  # n
    loss: float
    residual: np.ndarray  # n
    q: np.ndarray  # scores of the working set
    pull: float  # the score of the intercept


@dataclass
class Run:
    """The work at one lambda, and whether it goes on."""

    max_epochs: int
    best: float  # the least violation so far
    max_idle: int
    epochs: int = 0
    steps: int = 0
    idle: int = 0  # steps, or sweeps, that did not halve it

    @property
    def goes_on(self):
        """Whether there is time left, and hope."""
        return self.epochs < self.max_epochs and self.idle <= self.max_idle

    def note(self, violation, count=1):
        """So many steps or sweeps later."""
        self.idle += count
        if violation < 0.5 * self.best:
            self.best, self.idle = violation, 0


class Restricted:
    """The problem on a working set, from where the state stands."""

    def __init__(self, problem, state, features):
        self.problem, self.state, self.features = problem, state, features
        self.use(np.ones(features.size))
        self.point = self.point_of(state.beta[features], state.intercept)

    def point_of(self, beta, intercept):
        """The point of coefficients, without the rounding of steps that led there: a
        step that leaps far leaves its digits behind."""
        used = np.flatnonzero(beta)
        eta = self.problem.design.combine(self.features[used], beta[used][None])[0]
        return self.at(beta, intercept, eta + intercept)

    def at(self, beta, intercept, eta):
        """The point of a linear predictor that is known."""
        problem, row = self.problem, eta[None]
        with np.errstate(over="ignore", invalid="ignore"):
            residual = problem.likelihood.residual(row)
            loss = problem.likelihood.loss(row)[0]
        q = problem.design.correlate(residual, self.features)[0]
        pull = 0.0
        if problem.likelihood.intercept:
            pull = float(problem.design.weights @ residual[0])
        return Point(beta, intercept, eta, loss, residual[0], q, pull)

    def use(self, unit):
        """Penalise unit_j beta_j from now on."""
        self.unit = unit
        self.record = self.problem.of_features(self.features, unit)

    def measure(self, point, levels):
        """The largest violation at a point, and its objective."""
        worst, total = np.empty((2, 1))
        with np.errstate(over="ignore", invalid="ignore"):  # runaway coefficients
            beta, q = point.beta * self.unit, point.q / self.unit
        kernels.measure_inside(
            self.problem.penalty, self.record, levels, beta[None], q[None], worst, total
        )
        return max(worst[0], abs(point.pull)), point.loss + total[0]

    @property
    def is_saturated(self):
        """Whether there is next to no deviance left to explain, where coefficients
        without end may explain it; elsewhere that is a model like others."""
        problem = self.problem
        return problem.watches and problem.explained(self.point.loss) > SATURATION
