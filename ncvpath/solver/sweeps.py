"""Sweeps of coordinate descent on a loss that is not quadratic, as if its rows were not
coupled: weighted least squares without products of columns.

For adaptive rescaling they are ncvreg's iteration: each is one sweep over the quadratic
model where the last one led, with weights and the penalty's units measured anew. Its
steps are made shorter until the objective for these units falls. Where the objective is
fixed they minimise the model of a Newton step, which has new weights each time.
"""

from typing import NamedTuple

import numpy as np

from .. import kernels
from ..kernels.records import Coordinates, ResidualSweeps
from .hessian import LEAST_BEND
from .newton import Newton
from .restricted import MAX_MULTIPLE, ROUNDED_RISE

ONE_SWEEP = ResidualSweeps(0.0, 1, True)
# The share of the mean curvature that a row has at least: one that is far on the wrong
# side has a large residual and next to no curvature. Where sweeps go on to the model's
# minimum, it is to be the loss's own but for rows that would be lost. Below FLAT a row
# has no say.
FLOOR, LEAST_FLOOR, FLAT = 0.01, 1e-10, 1e-100
# No v_j falls below this share of what it were if all rows had the mean curvature.
SMALLEST_V, TINY = 1e-12, np.finfo(float).tiny


class Place(NamedTuple):
    """Where sweeps have come to."""

    beta: np.ndarray  # of the features that are swept
    intercept: float
    eta: np.ndarray  # n
    loss: float
    unit: np.ndarray  # of the last sweep


class Model(NamedTuple):
    """The quadratic model of a sweep: weighted least squares."""

    weights: np.ndarray  # n
    working: np.ndarray  # n, the residual in units of the curvature
    up: float  # what the intercept alone would take of it
    mean: np.ndarray  # of the columns under the weights
    curvature: np.ndarray  # sum_i weights_i x_ij^2
    unit: np.ndarray


def roots(v, usual=0.0):
    """Units from v_j = sum_i w_i h_i x_ij^2; `usual` is what v_j is about, of which
    sweeps keep a share."""
    return np.sqrt(np.maximum(v, np.maximum(SMALLEST_V * usual, TINY)))


class Weighted:
    """Least squares on some features, with weights that come each time."""

    def __init__(self, problem, features):
        self.problem, self.design, self.features = problem, problem.design, features
        # Kernels ask for those of all features; each call has its own for its own.
        # Sparse columns have to be centred in the metric of the weights, unless they
        # are not centred at all; to coupled rows a constant is nothing.
        self.is_centred = problem.likelihood.intercept or problem.likelihood.is_coupled
        self.center, self.scale = self.design.center.copy(), self.design.scale.copy()
        self.order = np.arange(features.size)

    def raised(self, h, floor):
        """The curvature by row, with a least share of its mean."""
        return np.maximum(h, floor * (self.design.weights @ h))

    def descend(self, weights, mean, unit, coordinates, l2, residual, sweeps):
        """Sweep the columns x_j / unit_j; changes coefficients and residual, returns
        the number of sweeps."""
        design, own = self.design, self.features
        if self.is_centred:
            self.center[own] = design.center[own] + design.scale[own] * mean
        self.scale[own] = design.scale[own] * unit
        return design.matrix.descend(
            own, self.center, self.scale, weights, self.problem.penalty, coordinates,
            l2, residual, sweeps,
        )


def relative(residual, curvature):
    """A residual in units of the curvature: what a step in eta would remove."""
    out = np.zeros_like(residual)
    return np.divide(residual, curvature, out=out, where=curvature > FLAT)


class Sweeper:
    """Some features at one lambda, to be swept a few times."""

    def __init__(self, problem, levels, features, multiple):
        self.problem, self.design, self.features = problem, problem.design, features
        self.multiple = multiple  # of the curvature, against steps that are too long
        self.l1 = levels[0, 0] * problem.penalty_factor[features]
        self.l2 = levels[0, 1] * problem.ridge_factor[features]
        self.weighted = Weighted(problem, features)

    def sweep(self, place, share):
        """One sweep, with units a share of the way from where they were to what they
        are; returns where it leads, None if the objective falls with no multiple."""
        model = self.model(place, share)
        self.multiple = max(0.5 * self.multiple, 1.0)
        while self.multiple <= MAX_MULTIPLE:
            beta, left = self.descend(place, model)
            lift = model.up / self.multiple
            eta = place.eta + (model.working - model.up - left) + lift
            loss = self.problem.likelihood.loss(eta[None])[0]
            if self.falls(place, model, beta, loss - place.loss):
                change = beta / model.unit - place.beta
                if self.problem.likelihood.intercept:
                    lift -= model.mean @ change
                new = place.beta + change
                return Place(new, place.intercept + lift, eta, loss, model.unit)
            self.multiple *= 2.0
        return None

    def model(self, place, share):
        """The quadratic model at eta."""
        likelihood, design, row = self.problem.likelihood, self.design, place.eta[None]
        h, residual = likelihood.curvature(row)[0], likelihood.residual(row)[0]
        raised = self.weighted.raised(h, FLOOR)
        weights, up = design.weights * raised, 0.0
        first, curvature = design.moments(weights, self.features)
        v, total = curvature, weights.sum()
        if not np.array_equal(h, raised):
            v = design.moments(design.weights * h, self.features)[1]
        if likelihood.intercept:
            up = design.weights @ residual / total
        usual = total * self.design.norm2[self.features]
        unit = place.unit ** (1 - share) * roots(v, usual) ** share
        working = relative(residual, raised)
        return Model(weights, working, up, first / total, curvature, unit)

    def descend(self, place, model):
        """One sweep; returns unit_j beta_j, and what it leaves of the residual."""
        bend = self.multiple * model.curvature / model.unit**2 + self.l2
        order, left = self.weighted.order, model.working - model.up
        r = Coordinates(
            order, order, self.l1 / model.unit, bend, model.unit * place.beta,
            np.empty(0),
        )
        self.weighted.descend(
            model.weights, model.mean, model.unit, r, self.l2, left, ONE_SWEEP
        )
        return r.beta, left

    def falls(self, place, model, beta, rise):
        """Whether the objective for these units does, where the loss rises by that."""
        before = model.unit * place.beta
        more, height = kernels.penalty_rise(
            self.problem.penalty, self.l1 / model.unit, before, beta
        )
        more += 0.5 * self.l2 @ (beta**2 - before**2)
        slack = ROUNDED_RISE * (abs(place.loss) + height + 0.5 * self.l2 @ before**2)
        return rise + more <= slack  # not if it is not a number


class WeightedSweeps(Newton):
    """Newton's steps without products of columns: new weights cost as much as a sweep.

    The first term of a partial likelihood's Hessian is a majorant, whose steps may
    gain little.
    """

    enough, max_idle = 0.0, 500

    def __init__(self, on):
        self.on, self.problem, self.straight, self.descent = on, on.problem, False, None
        self.weighted = Weighted(on.problem, on.features)
        self.refresh()

    def refresh(self):
        """Weights anew, where we are."""
        h = self.problem.likelihood.curvature(self.on.point.eta[None])[0]
        self.curvature = self.weighted.raised(h, LEAST_FLOOR)
        self.weights = self.problem.design.weights * self.curvature
        self.total = self.weights.sum()
        first, self.v = self.problem.design.moments(self.weights, self.on.features)
        self.mean, self.multiple, self.fresh = first / self.total, 1.0, True

    def multiply(self):
        """Larger weights."""
        self.multiple *= 2.0

    def moments(self, own):
        """As those of Newton's."""
        return self.total, self.mean[own]

    @property
    def bend(self):
        """The curvature along each column, centred as it is swept."""
        if not self.weighted.is_centred:
            return self.v
        return np.maximum(self.v - self.total * self.mean**2, LEAST_BEND * self.v)

    def minimiser(self, levels, target, max_epochs):
        """The minimiser of the model, and the sweeps it took."""
        on, weighted, problem = self.on, self.weighted, self.model(levels)
        if problem is not self.problem:
            weighted = Weighted(problem, on.features)
        residual = relative(on.point.residual, self.curvature)
        if self.problem.likelihood.intercept:
            residual -= on.point.pull / self.total  # what the intercept takes
        record = problem.of_features(on.features)
        l1, l2 = levels.T * [record.penalty_factor, record.ridge_factor]
        r = Coordinates(
            weighted.order, weighted.order, l1, self.multiple * self.bend + l2,
            on.point.beta.copy(), np.empty(0),
        )
        epochs = weighted.descend(
            self.multiple * self.weights, self.mean, on.unit, r, l2,
            residual / self.multiple, ResidualSweeps(target, max_epochs, True),
        )
        return r.beta, epochs
