"""How the problem on a working set is solved: a table of ways.

Each way solves a block of lambdas one after the other, from the state, until no
violation exceeds the target or its sweeps run out, and returns the coefficients at
those it has done.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import kernels
from ..kernels.records import Coordinates, Progress, ResidualSweeps, Sweeps
from . import gist

# Products in one call of compiled code, after which it returns to be asked again:
# interrupts are heard between calls. A second or so.
WORK = 1e9
# Features of a working set that is so small that all products are computed at once.
SMALL_SET = 32
# Coordinates beyond the support that the Cholesky factor has room for at first.
AHEAD = 50


class Solved(NamedTuple):
    """The block on the working set, as far as it was solved."""

    beta: np.ndarray  # lambdas x features
    epochs: np.ndarray  # by lambda
    newton_steps: np.ndarray
    met: np.ndarray  # bool: whether the target was met


class Way(NamedTuple):
    """A way to solve it, and how its rounds are best arranged."""

    solve: Callable
    max_block: int  # lambdas that are solved together, at most
    strong_per_added: int  # strong features at first, over those added in a round
    # From this round on at one lambda the working set only grows, so that the rounds
    # must end: as long as the Gram matrix serves it, and in any case.
    pruning_rounds: int
    last_pruning: int
    # A round that will be followed by another is solved to this share of the largest
    # violation outside, and to `decay` times the tolerance of the last such round.
    share: float
    decay: float


def by_gram(problem, state, features, lambdas, target, max_epochs, each):
    """Coordinate descent and Newton steps on the Gram matrix of the set.

    It makes n disappear from the sweeps; a set that outgrows n is served by residual
    updates instead.
    """
    cache, m = state.gram, features.size
    if not cache.suits(m):
        return by_residual(
            problem, state, features, lambdas[:1], target, max_epochs, each, False
        )
    slots, units = cache.slots(features), problem.units(lambdas)
    beta, q = state.beta[features], state.correlation.values[features]
    # Products of those in use, and of those that will be in use if q does not move.
    coming = np.abs(q) >= units[0, 0] * problem.penalty_factor[features]
    coming |= (beta != 0) | (m <= SMALL_SET)
    cache.add_rows(features[coming])
    r = Coordinates(np.arange(m), slots.copy(), *np.empty((2, m)), beta, q)
    cholesky = cache.cholesky_for(min(m, np.count_nonzero(beta) + AHEAD))
    counts = np.array([0, 0, -1, 0, 0])
    progress = Progress(counts, np.zeros(2), np.empty((lambdas.size, 3 + m)))
    sweeps = Sweeps(target, max_epochs, each, WORK)
    with problem.design.matrix.threads.scratch("working set", m, m) as scratch:
        met = True
        while counts[0] < lambdas.size and met:
            kernels.descend_block(
                cache.products, r, problem.of_features(features), problem.penalty,
                units, cholesky, scratch, sweeps, progress,
            )
            if counts[2] >= 0:  # one is to enter; others probably, too
                cache.add_rows(features[r.order[np.abs(r.q) > r.l1]])
            elif counts[0]:
                met = progress.results[counts[0] - 1, 2] <= target
    results = progress.results[: counts[0]]
    return Solved(
        results[:, 3:], results[:, 0].astype(int), results[:, 1].astype(int),
        results[:, 2] <= target,
    )


def by_residual(
    problem, state, features, lambdas, target, max_epochs, each, cyclic=True
):
    """Coordinate descent on the columns, with residual updates: the paper's BCD."""
    r, l2 = coordinates(problem, state, features, lambdas[0])
    sweeps = ResidualSweeps(target, max_epochs, cyclic)
    epochs = problem.design.descend(
        features, problem.penalty, r, l2, state.correlation.vector.copy(), sweeps
    )
    return single(r.beta, epochs)


def by_proximal_gradient(problem, state, features, lambdas, target, max_epochs, each):
    """GIST: all coordinates at once, along the gradient."""
    r, l2 = coordinates(problem, state, features, lambdas[0])
    epochs = gist.minimise(
        problem, state.correlation.vector, features, r, l2, target, max_epochs
    )
    return single(r.beta, epochs)


def coordinates(problem, state, features, lam):
    """The problem on the working set at one lambda, and its l2."""
    l1, l2 = problem.levels(lam, features)
    beta = state.beta[features]
    order = np.arange(features.size)
    return Coordinates(
        order, order.copy(), l1, problem.design.norm2[features] + l2, beta,
        state.correlation.values[features] - l2 * beta,
    ), l2


def single(beta, epochs):
    """The solution at one lambda; whether it met the target will be measured."""
    zero = np.zeros(1, dtype=int)
    return Solved(beta[None], zero + epochs, zero, np.ones(1, dtype=bool))


# With the Gram matrix at hand a larger set and an exact solution cost little. Where
# each sweep touches every column, small sets are what it is all about, and loose rounds
# save a third of the columns touched on the paper's problems.
INNER = {
    "cd": Way(by_gram, 32, 5, 0, 100, share=0.01, decay=0.01),
    "bcd": Way(by_residual, 1, 1, 100, 100, share=0.5, decay=0.8),
    "gist": Way(by_proximal_gradient, 1, 1, 100, 100, share=0.5, decay=0.8),
}
