"""Adaptive rescaling: the penalty's units sqrt(v_j), which depend on the solution.

There is no fixed objective, only Fermat's condition with v as it is at the solution
itself. Newton's method on the support treats v as the function of beta that it is. It
is tried from where the last lambda ended, and kept to its valley there: the Hessian for
fixed v must be definite. Where that leads nowhere, sweeps of coordinate descent, each
with weights and v measured anew, lead on: ncvreg's iteration, which settles where
solutions for one v after another would jump to and fro. Newton's method then finishes.
"""

from operator import itemgetter

import numpy as np

from .finished import Status
from .jacobian import Jacobian
from .restricted import SATURATION, Run
from .sweeps import Place, Sweeper, roots

# Sweeps that are made together, and after which Newton's method is tried again if the
# support has not settled before.
SWEEPS_AT_ONCE, SWEEPS_BETWEEN = 8, 128
# Sweeps without halving the violation before it is given up, and at least. And a range
# of linear predictors that is out of bounds: 72 make probabilities 0 and 1 in rounding.
MAX_IDLE_SWEEPS, LEAST_IDLE_SWEEPS, RUNAWAY = 512, 64, 144.0
# Such sweeps before it is asked whether coefficients grow without end: with how much
# explained, and what multiple of them tells.
LOST, NEARLY, FAR = 50, 0.95, 32.0
# How often sweeps may raise the violation after a fall before v goes half as far, and
# the least share of its way.
TURNS, LEAST = 3, 1 / 16
# A step that multiplies the violation by this has gone astray.
ASTRAY = 10
# Numbers in the columns of a support for which Newton's method is tried, and its steps
# in a row.
LARGEST_SUPPORT, STEPS_IN_A_ROW = 50_000_000, 20
# What a step has to leave of the violation, at most; and what it leaves if derivatives
# are as they should be.
GAIN, ENOUGH = 0.5, 0.4
# Steps in a row that may gain nothing, and the shares of a step that are tried then.
MAX_LOST, SHARES = 2, (0.5, 0.25, 0.125)


class Rescaling:
    """Solutions on a working set whose units are their own."""

    def __init__(self, on):
        self.on, self.problem, self.design = on, on.problem, on.problem.design
        self.levels, self.run = np.zeros((1, 2)), Run(0, np.inf, MAX_IDLE_SWEEPS)
        self.off = np.inf  # the violation, with v as it is at the point
        self.multiple = 1.0  # of the curvature, against steps that are too long
        self.turns, self.fell = 0, False  # how often sweeps raised it after a fall
        self.unit = np.empty(0)  # that of the last sweep, NaN where there was none

    def solve(self, levels, target, max_epochs):
        """Move the point to the solution at one lambda.

        Returns sweeps, steps, whether the target was met, and why there is no solution,
        or will be none below.
        """
        self.levels = levels
        self.off, self.turns, self.fell = self.violation(self.on.point), 0, False
        self.unit = np.full(self.on.features.size, np.nan)
        self.run = run = Run(max_epochs, self.off, self.max_idle)
        self.approach(target)
        falls, since, wait, best = True, 0, 0, (self.off, self.on.point)
        while falls and self.off > target and run.goes_on:
            before = self.on.point.beta != 0
            falls = self.descend(min(SWEEPS_AT_ONCE, max_epochs - run.epochs))
            since += SWEEPS_AT_ONCE
            settled = np.array_equal(before, self.on.point.beta != 0)
            if since >= (wait if settled else SWEEPS_BETWEEN):
                self.approach(target, finishing=True)
                since, wait = 0, min(2 * wait + SWEEPS_AT_ONCE, SWEEPS_BETWEEN)
            best = min(best, (self.off, self.on.point), key=itemgetter(0))
            if self.on.is_saturated or (self.problem.watches and self.grows()):
                return run.epochs, run.steps, False, Status.SATURATED
        runaway = np.ptp(self.on.point.eta) > RUNAWAY
        if not self.off <= best[0]:
            self.stand(best[1])
        met, state = self.off <= target, self.on.state
        state.unsettled = 0 if met else state.unsettled + 1
        failure = Status.UNSETTLED if not falls or run.idle > run.max_idle else None
        if self.on.is_saturated or (failure and runaway and self.problem.watches):
            failure = Status.SATURATED
        return run.epochs, run.steps, met, failure

    @property
    def max_idle(self):
        """Sweeps without halving the violation before it is given up. Where a lambda
        did not settle, the next is likely not to, either."""
        return max(MAX_IDLE_SWEEPS >> self.on.state.unsettled, LEAST_IDLE_SWEEPS)

    @property
    def explains_much(self):
        """Whether little is left to explain."""
        return self.problem.explained(self.on.point.loss) > NEARLY

    def grows(self):
        """Whether coefficients seem to grow without end: little is left to explain, and
        more of the same explains all."""
        problem, point = self.problem, self.on.point
        if self.run.idle <= LOST or not self.explains_much:
            return False
        far = problem.likelihood.loss(FAR * point.eta[None])[0]
        return problem.explained(far) > SATURATION

    def violation(self, point):
        """With v as it is at the point, which the units then are of. A coefficient that
        is zero and stays there needs none."""
        unit, own = np.ones(point.beta.size), self.active(point)
        if own.size:
            weights = self.design.weights * self.problem.likelihood.curvature(
                point.eta[None]
            )[0]
            _, v = self.design.moments(weights, self.on.features[own])
            unit[own] = roots(v)
        self.on.use(unit)
        return self.on.measure(point, self.levels)[0]

    def active(self, point):
        """Those in use, and those that are about to be."""
        l1 = self.levels[0, 0] * self.problem.penalty_factor[self.on.features]
        return np.flatnonzero((point.beta != 0) | (np.abs(point.q) > l1))

    def approach(self, target, finishing=False):
        """Newton's method, as long as it gains, with derivatives that are kept.

        Where the penalty changes pieces a step may be lost before others gain. Where
        even new derivatives do not lead there, part of a step may. Outside a valley it
        may only end the work: part of its way would lead to any stationary point.
        """
        state, fresh, lost, in_valley = self.on.state, False, 0, True
        best = safe = (self.on.point, self.off)
        for _ in range(STEPS_IN_A_ROW):
            size = self.active(self.on.point).size * self.design.n
            if self.off <= target or not 0 < size <= LARGEST_SUPPORT:
                break
            if state.jacobian is None:
                state.jacobian, fresh = Jacobian(self.problem, self.on.point.eta), True
            definite, way = self.way()
            in_valley &= definite
            if not (in_valley or finishing):
                break
            if way is not None:
                self.go(way, 1.0)
            left = self.off / best[1]
            if not left <= GAIN and way is not None and lost < MAX_LOST:
                lost += 1
                if left < ASTRAY:
                    continue
            if not left <= GAIN:
                self.stand(best[0])
                if fresh and not self.go_part():
                    break
            if left > ENOUGH:
                state.jacobian = None
            best, lost, fresh = (self.on.point, self.off), 0, False
            safe = best if in_valley else safe
        if self.off > target and not (in_valley and self.off <= best[1]):
            self.stand(best[0] if in_valley else safe[0])

    def stand(self, point):
        """Be at a point."""
        self.on.point, self.off = point, self.violation(point)

    def way(self):
        """Whether the point is in a valley, and Newton's step from it, a function of
        the share of it, or None."""
        on = self.on
        return on.state.jacobian.step(on, self.active(on.point), self.levels)

    def go(self, way, share):
        """Go a share of the way."""
        self.run.steps += 1
        self.stand(way(share))

    def go_part(self):
        """Go part of Newton's step, if that gains as much as it should."""
        point, off, (_, way) = self.on.point, self.off, self.way()
        for share in SHARES if way is not None else ():
            self.go(way, share)
            if self.off <= (1 - 0.5 * share) * off:
                return True
        self.stand(point)
        return False

    def descend(self, count):
        """Some sweeps over those in use; returns whether they could lead down.

        Where sweeps go round in a circle, v goes a smaller and smaller part of its way.
        """
        on, point = self.on, self.on.point
        own = self.active(point)
        share = max(0.5 ** (self.turns // TURNS), LEAST)
        # Where v goes part of its way, it goes on from where the last sweep had it.
        unit = np.where(np.isnan(self.unit[own]), on.unit[own], self.unit[own])
        sweeper = Sweeper(self.problem, self.levels, on.features[own], self.multiple)
        place = Place(point.beta[own], point.intercept, point.eta, point.loss, unit)
        done = 0
        with np.errstate(over="ignore", invalid="ignore"):  # runaway coefficients
            while done < count and (new := sweeper.sweep(place, share)) is not None:
                place, done = new, done + 1
        self.multiple = sweeper.multiple
        beta = point.beta.copy()
        beta[own], self.unit[:] = place.beta, np.nan
        self.unit[own] = place.unit
        on.point = on.point_of(beta, place.intercept)
        off = self.violation(on.point)
        self.turns += self.fell and off > self.off
        self.fell = off < self.off
        self.off, self.run.epochs = off, self.run.epochs + done
        self.run.note(off, done)
        return done == count
