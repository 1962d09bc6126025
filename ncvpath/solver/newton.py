"""Proximal Newton steps on a working set, for a loss that is not quadratic.

From beta, with exact scores q_j = <x_j, r> and the Hessian H of a reference, a step
minimises the penalised quadratic model

    - q'd + d'H d / 2 + penalties of beta + d,

which is a problem of least squares on the Gram matrix H. The reference stays as long as
each step cuts the violation to a quarter: its Gram matrix and Cholesky factor serve
many steps and lambdas then. Where the objective does not fall, the reference is
refreshed, and if it is fresh, multiplied: a majorant in the end. There is no search
along the step: a concave penalty may rise between two points that are both lower.

Without products of columns the model is minimised by sweeps with residual updates, as
if rows were not coupled, and has new weights at every step.
"""

from copy import copy

import numpy as np

from ..kernels.records import Coordinates, ResidualSweeps, Sweeps
from ..runtime.memory import empty_mmap
from .descent import WORK, Descent
from .finished import Status
from .gram import GramCache
from .hessian import Reference
from .restricted import MAX_MULTIPLE, NO_RISE, Run

# The model is solved to this share of the violation it starts from.
SHARE = 0.1
# The share of their mean that the curvature of rows is at least in weighted sweeps, so
# that none is lost; and of v that is left of it in a column that is nearly constant.
FLOOR, LEAST_BEND = 1e-10, 1e-8
# Steps in a row at which the model is saturated, before it is.
IN_A_ROW = 5


class Newton:
    """The minimum of a fixed objective on a working set."""

    # A step that leaves more of the violation calls for a new reference.
    enough = 0.25
    # Steps without halving the violation before it is given up.
    max_idle = 30

    def __init__(self, on):
        self.on, self.problem, self.state = on, on.problem, on.state
        self.multiple, self.fresh, self.descent = 1.0, False, None
        if not isinstance(self.state.gram.design, Reference):
            self.refresh()

    @property
    def reference(self):
        """Where the Hessian is from."""
        return self.state.gram.design

    def refresh(self):
        """The Hessian anew, where we are."""
        self.state.gram = GramCache(Reference(self.problem, self.on.point.eta))
        self.multiple, self.fresh, self.descent = 1.0, True, None

    def multiply(self):
        """A larger multiple of the Hessian, which has no factor yet."""
        self.multiple *= 2.0
        self.state.gram.cholesky.size[0], self.descent = 0, None

    def solve(self, units, target, max_epochs):
        """Move the point to the solution at one lambda.

        Returns sweeps, steps, whether the target was met, and why there is no solution,
        or will be none below.
        """
        worst, height = self.on.measure(self.on.point, units)
        run, saturated = Run(max_epochs, worst, self.max_idle), 0
        while run.goes_on and worst > target and self.multiple <= MAX_MULTIPLE:
            share = max(SHARE * worst, 0.3 * target)
            worst, height = self.step(units, share, worst, height, run)
            saturated = saturated + 1 if self.on.is_saturated else 0
            if self.problem.watches and saturated >= IN_A_ROW:
                break
        failure = Status.SATURATED if self.on.is_saturated else None
        return run.epochs, run.steps, worst <= target, failure

    def step(self, units, share, worst, height, run):
        """Try one step; returns violation and objective where it leads."""
        beta, epochs = self.minimiser(units, share, run.max_epochs - run.epochs)
        run.epochs, run.steps = run.epochs + epochs, run.steps + 1
        new = self.at(beta)
        found, ahead = self.on.measure(new, units)
        falls = ahead <= height + NO_RISE * (abs(height) + abs(new.loss))
        if not (falls and np.isfinite(ahead)):
            if self.fresh:
                self.multiply()
            else:
                self.refresh()
            return worst, height
        self.on.point, self.fresh = new, False
        if found > self.enough * worst:
            self.refresh()
        run.note(found)
        return found, ahead

    def minimiser(self, units, target, max_epochs):
        """The minimiser of the model, and the sweeps it took."""
        on, cache, features = self.on, self.state.gram, self.on.features
        point, reference = on.point, self.reference
        shift = reference.shift(features)
        record = on.record._replace(norm2=reference.diagonal(features) * self.multiple)
        if self.descent is None:
            scratch = empty_mmap(features.size, features.size)
            self.descent = Descent(self.problem, cache, features, scratch)
        results = self.descent.minimise(
            record, units, point.beta, point.q - shift * point.pull,
            Sweeps(target, max_epochs, max_epochs, WORK), self.multiple,
        )
        return results[0, 3:], int(results[0, 0])

    def at(self, beta):
        """The point of new coefficients; the intercept gives way as in the model."""
        on, point, reference = self.on, self.on.point, self.reference
        moved = np.flatnonzero(beta != point.beta)
        change, features, up = (beta - point.beta)[moved], on.features[moved], 0.0
        if reference.projects:
            up = point.pull / (reference.total * self.multiple)
            up -= reference.shift(features) @ change
        eta = point.eta + up
        if moved.size:
            eta += self.problem.design.combine(features, change[None])[0]
        return on.at(beta, point.intercept + up, eta)


class WeightedSweeps(Newton):
    """The same without products of columns: new weights cost no more than a sweep.

    The first term of a partial likelihood's Hessian is a majorant, whose steps may
    gain little.
    """

    enough, max_idle = 0.0, 500

    def __init__(self, on):
        self.on, self.problem = on, on.problem
        self.refresh()

    @property
    def reference(self):
        """Where the weights are from."""
        return self._reference

    def refresh(self):
        """Weights anew, where we are."""
        self._reference = Reference(self.problem, self.on.point.eta, FLOOR)
        self.multiple, self.fresh = 1.0, True

    def bend(self):
        """The curvature along each column, centred as it is swept."""
        reference, features = self.reference, self.on.features
        v, mean = reference.v(features), reference.mean(features)
        if reference.projects or self.problem.likelihood.is_coupled:
            return np.maximum(v - reference.total * mean**2, LEAST_BEND * v)
        return v

    def multiply(self):
        """Larger weights."""
        self.multiple *= 2.0

    def minimiser(self, units, target, max_epochs):
        """The minimiser of the model, and the sweeps it took."""
        on, reference, features = self.on, self.reference, self.on.features
        order = np.arange(features.size)
        residual = reference.relative(on.point.residual)
        if reference.projects:
            residual -= on.point.pull / reference.total  # what the intercept takes
        l1, l2 = units.T * [on.record.penalty_factor, on.record.ridge_factor]
        r = Coordinates(
            order, order, l1, self.multiple * self.bend() + l2,
            on.point.beta.copy(), np.empty(0),
        )
        majorant = copy(reference)
        majorant.weights = self.multiple * reference.weights
        epochs = majorant.descend(
            features, on.unit, self.problem.penalty, r, l2, residual / self.multiple,
            ResidualSweeps(target, max_epochs, True),
        )
        return r.beta, epochs
