"""Features in use change places with others.

Around a solution at one lambda the problem is that of a few features: those in use, and
those outside that correlate most with the residual. On their Gram matrix (with the
Hessian at the solution, for a loss that is not quadratic) one in use goes, another
comes, and all of them descend from there; what is lower is kept.
"""

import numpy as np

from .. import kernels
from ..kernels.records import Coordinates
from .gram import GramCache
from .hessian import Reference
from .solutions import Solutions

# Features outside that are considered, at least, and for each one in use.
FEWEST, PER_USED = 20, 1
# Swaps that are tried before there is none, the most promising first.
TRIES = 10
# How exactly a swap is judged, as a share of the level, and in how many sweeps; and how
# far it must lead down, as a share of the objective.
PRECISION, SWEEPS, LOWER = 1e-3, 30, 1e-5


class Exchange:
    """The problem of a few features around the state's solution."""

    def __init__(self, problem, state, lam):
        self.problem, self.lam = problem, np.array([lam])
        self.intercept = np.array([state.intercept])
        used = np.flatnonzero(state.beta)
        self.features = np.union1d(used, outside(problem, state, used))
        record, cache = problem.of_features(self.features), state.gram
        if not problem.likelihood.is_quadratic:
            eta = problem.design.combine(used, state.beta[used][None])[0]
            cache = GramCache(Reference(problem, eta + state.intercept))
            norm2 = cache.design.diagonal(self.features)
            record = record._replace(norm2=norm2)
        self.gram = np.ascontiguousarray(cache.block(self.features))
        [[level, ridge]] = problem.units(self.lam)
        order, l2 = np.arange(self.features.size), ridge * record.ridge_factor
        beta, self.level = state.beta[self.features], level
        self.r = Coordinates(
            order, order, level * record.penalty_factor, record.norm2 + l2, beta,
            state.correlation.values[self.features] - l2 * beta,
        )

    def lower(self, objective):
        """Swap as long as that leads down; returns how many were tried and kept."""
        return kernels.exchange_places(
            self.problem.penalty, self.r, self.gram, TRIES, SWEEPS,
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
    found = np.flatnonzero((state.beta == 0) & problem.may_enter)
    reach = np.abs(state.correlation.values[found]) / problem.penalty_factor[found]
    size = max(FEWEST, PER_USED * used.size)
    return found[np.argsort(-reach, kind="stable")[:size]]
