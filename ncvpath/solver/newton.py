"""Proximal Newton steps on a working set, for a loss that is not quadratic.

From beta, with exact scores q_j = <x_j, r> and the Hessian H of a reference, a step
minimises the penalised quadratic model

    - q'd + d'H d / 2 + penalties of beta + d,

which is a problem of least squares on the Gram matrix H. The reference stays as long as
each step cuts the violation to a third: its Gram matrix and Cholesky factor then serve
many steps and lambdas. Where the objective does not fall, the reference is refreshed,
and if it is fresh, multiplied: a majorant in the end. There is no search along the
step: a concave penalty may rise between two points that are both lower.

Adaptive rescaling penalises unit_j beta_j, unit_j^2 = v_j = sum_i w_i h_i x_ij^2 at the
solution itself: a fixed point in v (rescaling.py).
"""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..kernels.records import Sweeps
from .descent import WORK, descend
from .finished import Status
from .gram import GramCache
from .hessian import Reference
from .rescaling import Rescaling

TINY = np.finfo(float).tiny
# A step that leaves more of the violation calls for a new reference.
ENOUGH = 1 / 3
# The model is solved to this share of the violation it starts from.
SHARE = 0.1
# With fixed v the problem is solved to this share of what v itself is off by.
LOOSE = 0.1
# A rise of the objective by this share of its terms may be rounding.
NO_RISE = 1e-12
# Steps without halving the violation, and multiples of H, before it is given up.
MAX_IDLE, MAX_MULTIPLE = 30, 2.0**40
# The share of the null deviance that a model explains when it is saturated, and how
# many steps in a row it has to.
SATURATED, IN_A_ROW = 0.99, 5


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
    epochs: int = 0
    steps: int = 0
    idle: int = 0  # steps that did not halve the violation
    best: float = np.inf
    saturated: int = 0  # steps in a row at which the model explained all
    ended: bool = False

    @property
    def goes_on(self):
        """Whether another step may help."""
        return (
            self.epochs < self.max_epochs and self.idle <= MAX_IDLE and not self.ended
        )


class Newton:
    """The problem on a working set, from where the state stands."""

    def __init__(self, problem, state, features):
        self.problem, self.state, self.features = problem, state, features
        beta, support = state.beta[features], np.flatnonzero(state.beta)
        eta = problem.design.combine(support, state.beta[support][None])[0]
        self.point = self.at(beta, state.intercept, eta + state.intercept)
        self.record = self.unit = None
        self.multiple, self.fresh = 1.0, False
        if not isinstance(state.gram.design, Reference):
            self.refresh()

    def at(self, beta, intercept, eta):
        """The point of a linear predictor."""
        problem, row = self.problem, eta[None]
        residual = problem.likelihood.residual(row)
        q = problem.design.correlate(residual, self.features)[0]
        pull = 0.0
        if problem.likelihood.intercept:
            pull = float(problem.design.weights @ residual[0])
        loss = problem.likelihood.loss(row)[0]
        return Point(beta, intercept, eta, loss, residual[0], q, pull)

    def refresh(self):
        """The Hessian anew, where we are."""
        self.state.gram = GramCache(Reference(self.problem, self.point.eta))
        self.multiple, self.fresh = 1.0, True

    def use(self, unit):
        """Penalise unit_j beta_j from now on."""
        if self.unit is None or not np.array_equal(unit, self.unit):
            self.unit = unit
            self.record = self.problem.of_features(self.features, unit)
            self.state.gram.cholesky.size[0] = 0

    def measure(self, point, units):
        """The largest violation at a point, and its objective."""
        worst, total = np.empty((2, 1))
        kernels.measure_inside(
            self.problem.penalty, self.record, units, (point.beta * self.unit)[None],
            (point.q / self.unit)[None], worst, total,
        )
        return max(worst[0], abs(point.pull)), point.loss + total[0]

    def solve(self, units, target, max_epochs):
        """Move the point to the solution at one lambda.

        Returns sweeps, steps, whether the target was met, and why there is no solution,
        or will be none below.
        """
        rescaling, run = Rescaling(self), Run(max_epochs)
        worst, height = self.measure(self.point, units)
        run.best, loose = worst, np.inf if rescaling.needed else target
        while run.goes_on:
            if worst > loose:
                share = max(SHARE * worst, 0.3 * min(loose, target))
                worst, height = self.step(units, share, worst, height, run)
                if self.problem.watches and run.saturated >= IN_A_ROW:
                    break
                continue
            off = worst
            if rescaling.needed:
                off = rescaling.update(units, target)
            if off <= target:
                full = Status.SATURATED if self.is_saturated() else None
                return run.epochs, run.steps, True, full
            if rescaling.exhausted:
                break
            loose = max(0.5 * target, LOOSE * off)
            worst, height = self.measure(self.point, units)
            run.best, run.idle = worst, 0
        failure = Status.UNSETTLED if rescaling.exhausted else None
        if self.is_saturated():
            failure = Status.SATURATED
        if rescaling.needed:
            rescaling.violation(self.point, units)  # in the units of the point itself
        return run.epochs, run.steps, False, failure

    def step(self, units, share, worst, height, run):
        """Try one step; returns violation and objective where it leads."""
        new, epochs = self.minimiser(units, share, run.max_epochs - run.epochs)
        run.epochs, run.steps = run.epochs + epochs, run.steps + 1
        found, ahead = self.measure(new, units)
        if not ahead <= height + NO_RISE * (abs(height) + abs(new.loss)):
            if not self.fresh:
                self.refresh()
            else:
                self.multiple *= 2.0
                self.state.gram.cholesky.size[0] = 0
                run.ended = self.multiple > MAX_MULTIPLE
            return worst, height
        self.point, self.fresh = new, False
        if found > ENOUGH * worst:
            self.refresh()
        run.idle = 0 if found < 0.5 * run.best else run.idle + 1
        run.best = min(run.best, found)
        run.saturated = run.saturated + 1 if self.is_saturated() else 0
        return found, ahead

    def is_saturated(self):
        """Whether there is next to no deviance left to explain."""
        return self.problem.explained(self.point.loss) > SATURATED

    def minimiser(self, units, target, max_epochs):
        """The minimiser of the model, and the sweeps it took."""
        point, cache, features = self.point, self.state.gram, self.features
        reference = cache.design
        shift = reference.shift(features)
        record = self.record._replace(
            norm2=reference.diagonal(features) * self.multiple / self.unit**2
        )
        stretch = None
        if self.problem.rescales or self.multiple > 1:
            stretch = np.full(self.problem.design.p, np.nan)
            stretch[features] = np.sqrt(self.multiple) / self.unit
        results = descend(
            self.problem, cache, features, record, units, point.beta * self.unit,
            (point.q - shift * point.pull) / self.unit,
            Sweeps(target / self.unit.max(initial=TINY), max_epochs, max_epochs, WORK),
            stretch,
        )
        result = results[0]
        beta = result[3:] / self.unit
        moved = np.flatnonzero(beta != point.beta)
        change = beta[moved] - point.beta[moved]
        up = 0.0
        if reference.projects:
            up = point.pull / (reference.total * self.multiple) - shift[moved] @ change
        eta = point.eta + up
        if moved.size:
            eta += self.problem.design.combine(features[moved], change[None])[0]
        with np.errstate(over="ignore", invalid="ignore"):
            return self.at(beta, point.intercept + up, eta), int(result[0])
