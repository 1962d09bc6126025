"""Proximal Newton steps on a working set, for a loss that is not quadratic.

From beta, with exact scores q_j = <x_j, r> and the Hessian H of a reference, a step
minimises the penalised quadratic model

    - q'd + d'H d / 2 + penalties of beta + d,

which is a problem of least squares on the Gram matrix H. The reference stays as long as
each step cuts the violation to a quarter: its Gram matrix and Cholesky factor serve
many steps and lambdas then. Where the objective does not fall, the reference is
refreshed; if it is fresh, the penalty's tangents stand in for a concave one, which may
have been led far away, to where the model is wrong; and if they are there, H is
multiplied: a majorant in the end. There is no search along the step: a concave penalty
may rise between two points that are both lower.
"""

import numpy as np

from ..kernels.records import N_ROWS, Sweeps
from ..runtime.memory import empty_mmap
from .descent import WORK, Descent
from .finished import Status
from .gram import GramCache
from .hessian import Reference
from .restricted import MAX_MULTIPLE, ROUNDED_RISE, Run

# The model is solved to this share of the violation it starts from.
MODEL_SHARE = 0.1
# Steps in a row at which the model is saturated, before it is.
SATURATED_STEPS = 5


class Newton:
    """The minimum of a fixed objective on a working set."""

    # A step that leaves more of the violation calls for a new reference.
    enough = 0.25
    # Steps without halving the violation before it is given up.
    max_idle = 30

    def __init__(self, on):
        self.on, self.problem, self.state = on, on.problem, on.state
        self.multiple, self.fresh, self.descent = 1.0, False, None
        self.straight = False  # whether tangents stand in for the penalty
        if not isinstance(self.state.gram.design, Reference):
            self.refresh()

    def refresh(self):
        """The Hessian anew, where we are."""
        self.state.gram = GramCache(Reference(self.problem, self.on.point.eta))
        self.multiple, self.fresh, self.descent = 1.0, True, None

    def multiply(self):
        """A larger multiple of the Hessian, which has no factor yet."""
        self.multiple *= 2.0
        self.state.gram.cholesky.size[N_ROWS], self.descent = 0, None

    def straighten(self, straight):
        """Whether to take the penalty's tangents for it from now on."""
        if straight != self.straight:
            self.straight, self.descent = straight, None

    def model(self, levels):
        """The problem whose penalty the model has."""
        if not self.straight:
            return self.problem
        beta = np.zeros(self.problem.design.p)
        beta[self.on.features] = self.on.point.beta
        return self.problem.majorized(beta, levels[0, 0])

    def solve(self, levels, target, max_epochs):
        """Move the point to the solution at one lambda.

        Returns sweeps, steps, whether the target was met, and why there is no solution,
        or will be none below.
        """
        worst, height = self.on.measure(self.on.point, levels)
        run, saturated = Run(max_epochs, worst, self.max_idle), 0
        while run.goes_on and worst > target and self.multiple <= MAX_MULTIPLE:
            share = max(MODEL_SHARE * worst, 0.3 * target)
            worst, height = self.step(levels, share, worst, height, run)
            saturated = saturated + 1 if self.on.is_saturated else 0
            if saturated >= SATURATED_STEPS:
                break
        failure = Status.SATURATED if self.on.is_saturated else None
        return run.epochs, run.steps, worst <= target, failure

    def step(self, levels, share, worst, height, run):
        """Try one step; returns violation and objective where it leads."""
        beta, epochs = self.minimiser(levels, share, run.max_epochs - run.epochs)
        run.epochs, run.steps = run.epochs + epochs, run.steps + 1
        new = self.at(beta)
        found, ahead = self.on.measure(new, levels)
        falls = ahead <= height + ROUNDED_RISE * (abs(height) + abs(new.loss))
        if not (falls and np.isfinite(ahead)):
            if not self.fresh:
                self.refresh()
            elif self.straight or self.problem.is_lasso:
                self.multiply()
            else:
                self.straighten(True)
            return worst, height
        self.on.point, self.fresh = new, False
        self.straighten(False)
        if found > self.enough * worst:
            self.refresh()
        run.note(found)
        return found, ahead

    def minimiser(self, levels, target, max_epochs):
        """The minimiser of the model, and the sweeps it took."""
        on, cache, features = self.on, self.state.gram, self.on.features
        point, reference = on.point, cache.design
        shift, problem = reference.shift(features), self.model(levels)
        record = problem.of_features(features)._replace(
            norm2=reference.diagonal(features) * self.multiple
        )
        if self.descent is None:
            scratch = empty_mmap(features.size, features.size)
            self.descent = Descent(problem, cache, features, scratch)
        results = self.descent.minimise(
            record, levels, point.beta, point.q - shift * point.pull,
            Sweeps(target, max_epochs, max_epochs, WORK), self.multiple,
        )
        return results[0, 3:], int(results[0, 0])

    def at(self, beta):
        """The point of new coefficients; the intercept gives way as in the model."""
        on, point = self.on, self.on.point
        moved = np.flatnonzero(beta != point.beta)
        change, up = beta[moved] - point.beta[moved], 0.0
        if self.problem.likelihood.intercept:
            total, mean = self.moments(moved)
            up = point.pull / (total * self.multiple) - mean @ change
        eta = point.eta + up
        if moved.size:
            eta += self.problem.design.combine(on.features[moved], change[None])[0]
        return on.at(beta, point.intercept + up, eta)

    def moments(self, own):
        """The sum of the model's weights, and the means of some columns under them."""
        reference = self.state.gram.design
        return reference.total, reference.mean(self.on.features[own])
