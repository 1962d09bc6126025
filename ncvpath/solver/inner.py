"""How the problem on a working set is solved: a table of ways.

Each way moves `some.beta` until no violation exceeds `target`, or `most` sweeps are
done, and returns the number of sweeps and of Newton steps.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import gist


class Restricted(NamedTuple):
    """The problem on the working set, as kernels.restrict lays it out."""

    features: np.ndarray
    l1: np.ndarray
    l2: np.ndarray
    v: np.ndarray  # <x_j, x_j> + l2_j
    beta: np.ndarray
    q: np.ndarray  # <x_j, residual> - l2_j beta_j


class Way(NamedTuple):
    """A way to solve it, and how its rounds are best arranged."""

    solve: Callable
    # From this round on at one lambda the working set only grows, so that the rounds
    # must end: as long as the Gram matrix serves it, and in any case.
    pruning_rounds: int
    last_pruning: int
    # A round that will be followed by another is solved to this share of the largest
    # objection outside, and to `decay` times the tolerance of the last such round.
    share: float
    decay: float


def by_gram(problem, state, some, target, most):
    """Coordinate descent and Newton steps on the Gram matrix of the set.

    It makes n disappear from the sweeps; a set that outgrows n is served by residual
    updates instead.
    """
    size, design, cache = some.features.size, problem.design, state.gram
    if not cache.suits(size):
        return by_residual(problem, state, some, target, most, cyclic=False)
    slots = cache.slots(some.features)
    factor = cache.factor_for(min(size, state.fit.support.size + 50))
    with design.matrix.crew.room("working set", size, size) as matrix:
        epochs, newton_steps, _ = design.kernels.descend_gram(
            cache.array, some.features, slots, problem.penalty, some.l1, some.v,
            some.beta, some.q, factor, matrix, target, most,
        )
    return epochs, newton_steps


def by_residual(problem, state, some, target, most, cyclic=True):
    """Coordinate descent on the columns, with residual updates: the paper's BCD."""
    epochs = problem.design.descend(
        some.features, problem.penalty, some.l1, some.l2, some.v, some.beta,
        state.fit.residual.copy(), target, most, cyclic,
    )
    return epochs, 0


def by_proximal_gradient(problem, state, some, target, most):
    """GIST: all coordinates at once, along the gradient."""
    return gist.minimise(problem, state.fit.residual, some, target, most), 0


# With the Gram matrix at hand a larger set and an exact solution cost little, and
# features that were pruned come back: deep in the nonconvex region, pruning in every
# round made up to 22 rounds at one lambda, without, 9. Where each sweep touches every
# column, small sets are what it is all about, and loose rounds save a third of the
# columns touched on the paper's problems.
INNER = {
    "cd": Way(by_gram, 2, 100, share=0.01, decay=0.01),
    "bcd": Way(by_residual, 100, 100, share=0.5, decay=0.8),
    "gist": Way(by_proximal_gradient, 100, 100, share=0.5, decay=0.8),
}
