"""Features in use change places with others.

Around a solution at one lambda the problem is that of a few features: those in use,
there or at the solutions of other lambdas, and those outside that correlate most with
the residual. On their Gram matrix (with the Hessian at the solution, for a loss that is
not quadratic) all of them descend from other solutions, and from where one in use goes,
another comes, and the rest follow; what is lower is kept.
"""

import numpy as np

from .. import kernels
from ..kernels.records import Coordinates
from .gram import GramCache
from .hessian import Reference
from .solutions import Solutions

# Features outside that are considered, at least, and for each one in use.
FEWEST, PER_USED = 20, 1
# Moves that are tried at each look, the most promising first.
TRIES = 10
# How exactly a descent is judged, as a share of the level; in how many sweeps after a
# move and from another solution; and how far it must lead down, as a share of the
# objective.
PRECISION, AFTER_MOVE, FROM_AFAR, LOWER = 1e-3, 30, 100, 1e-4


class Exchange:
    """The problem of a few features around the state's solution."""

    def __init__(self, problem, state, lam, others):
        self.problem, self.lam = problem, np.array([lam])
        self.intercept = np.array([state.intercept])
        used = np.flatnonzero(state.beta)
        near = [outside(problem, state, used), *(each.support for each in others)]
        features = np.concatenate([used, np.flatnonzero(problem.free), *near])
        self.features, self.others = np.unique(features), others
        record, cache = problem.of_features(self.features), state.gram
        if not problem.likelihood.is_quadratic:
            eta = problem.design.combine(used, state.beta[used][None])[0]
            cache = GramCache(Reference(problem, eta + state.intercept))
            norm2 = cache.design.diagonal(self.features)
            record = record._replace(norm2=norm2)
        self.gram = np.ascontiguousarray(cache.block(self.features))
        [[level, ridge]] = problem.levels(self.lam)
        order, l2 = np.arange(self.features.size), ridge * record.ridge_factor
        beta, self.level = state.beta[self.features], level
        self.r = Coordinates(
            order, order, level * record.penalty_factor, record.norm2 + l2, beta,
            state.correlation.values[self.features] - l2 * beta,
        )

    def begin_elsewhere(self, objective):
        """Descend from the other solutions; says whether one leads lower."""
        if not self.others:
            return False
        starts = np.array([each.full(0)[self.features] for each in self.others])
        return kernels.begin_elsewhere(
            self.problem.penalty, self.r, self.gram, starts, FROM_AFAR,
            PRECISION * self.level, LOWER * abs(objective),
        )

    def lower(self, objective):
        """Move while that leads down; returns how many moves were tried and kept."""
        return kernels.exchange_places(
            self.problem.penalty, self.r, self.gram, TRIES, AFTER_MOVE,
            PRECISION * self.level, LOWER * abs(objective),
        )

    @property
    def solutions(self):
        """Where it has led."""
        return Solutions(
            self.problem, self.lam, self.features, self.r.beta[None], self.intercept
        )


def outside(problem, state, used):
    """Features at zero that correlate most with the residual, by exact numbers."""
    found = np.flatnonzero((state.beta == 0) & problem.may_enter & ~problem.free)
    reach = np.abs(state.correlation.values[found]) / problem.penalty_factor[found]
    size = max(FEWEST, PER_USED * used.size)
    return found[np.argsort(-reach, kind="stable")[:size]]
