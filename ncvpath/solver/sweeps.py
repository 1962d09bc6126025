"""Sweeps of coordinate descent on a loss that is not quadratic: ncvreg's iteration.

Each is one sweep over the quadratic model where the last one led, with weights and the
penalty's units measured anew. Its steps are made shorter until the objective for these
units falls.
"""

from typing import NamedTuple

import numpy as np

from .. import kernels
from ..kernels.records import Coordinates, ResidualSweeps
from .restricted import MAX_MULTIPLE, NO_RISE

ONE_SWEEP = ResidualSweeps(0.0, 1, True)
# The share of the mean curvature that a row has at least: one that is far on the wrong
# side has a large residual and next to no curvature. Below FLAT it has no say.
FLOOR, FLAT = 0.01, 1e-100
# No v_j falls below this share of the largest: nothing is left of the curvature there.
SMALLEST = 1e-12


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


def roots(v):
    """Units from v_j = sum_i w_i h_i x_ij^2."""
    return np.sqrt(np.maximum(v, SMALLEST * v.max(initial=SMALLEST)))


class Sweeper:
    """Some features at one lambda, to be swept a few times."""

    def __init__(self, problem, units, features, multiple):
        self.problem, self.design, self.features = problem, problem.design, features
        self.multiple = multiple  # of the curvature, against steps that are too long
        self.l1 = units[0, 0] * problem.penalty_factor[features]
        self.l2 = units[0, 1] * problem.ridge_factor[features]
        # Kernels ask for those of all features; each sweep has its own for its own.
        self.center, self.scale = self.design.center.copy(), self.design.scale.copy()
        self.order = np.arange(features.size)

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
        raised = np.maximum(h, FLOOR * (design.weights @ h))
        weights, up = design.weights * raised, 0.0
        first, curvature = design.moments(weights, self.features)
        v, total = curvature, weights.sum()
        if not np.array_equal(h, raised):
            v = design.moments(design.weights * h, self.features)[1]
        if likelihood.intercept:
            up = design.weights @ residual / total
        working = np.zeros_like(h)
        np.divide(residual, raised, out=working, where=raised > FLAT)
        unit = place.unit ** (1 - share) * roots(v) ** share
        return Model(weights, working, up, first / total, curvature, unit)

    def descend(self, place, model):
        """One sweep over the columns x_j / unit_j; returns unit_j beta_j and what it
        leaves of the working residual.

        Sparse columns have to be centred in the metric of the weights, unless they are
        not centred at all; to coupled rows a constant is nothing.
        """
        design, likelihood, own = self.design, self.problem.likelihood, self.features
        if likelihood.intercept or likelihood.is_coupled:
            self.center[own] = design.center[own] + design.scale[own] * model.mean
        self.scale[own] = design.scale[own] * model.unit
        bend = self.multiple * model.curvature / model.unit**2 + self.l2
        r = Coordinates(
            self.order, self.order, self.l1 / model.unit, bend, model.unit * place.beta,
            np.empty(0),
        )
        left = model.working - model.up
        design.matrix.descend(
            own, self.center, self.scale, model.weights, self.problem.penalty, r,
            self.l2, left, ONE_SWEEP,
        )
        return r.beta, left

    def falls(self, place, model, beta, rise):
        """Whether the objective for these units does, where the loss rises by that."""
        before = model.unit * place.beta
        more, height = kernels.penalty_rise(
            self.problem.penalty, self.l1 / model.unit, before, beta
        )
        more += 0.5 * self.l2 @ (beta**2 - before**2)
        slack = NO_RISE * (abs(place.loss) + height + 0.5 * self.l2 @ before**2)
        return rise + more <= slack  # not if it is not a number
