"""How the problem on a working set is solved: a table of ways.

Each way solves a block of lambdas one after the other, from the state, until no
violation exceeds the target or its sweeps run out, and returns the coefficients at
those it has done.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.records import Coordinates, ResidualSweeps, Sweeps
from . import gist
from .descent import WORK, Descent
from .finished import Status
from .newton import Newton
from .rescaling import Rescaling
from .restricted import Restricted
from .solutions import Solutions
from .sweeps import WeightedSweeps


class Solved(NamedTuple):
    """The block on the working set, as far as it was solved."""

    solutions: Solutions
    epochs: np.ndarray  # by lambda
    newton_steps: np.ndarray
    met: np.ndarray  # bool: whether the target was met
    failure: Status | None = None  # why the last of them has no solution

    def part(self, n):
        """The first n of them."""
        if n == len(self.solutions):
            return self
        counts = (counts[:n] for counts in self[1:4])
        return Solved(self.solutions.part(0, n), *counts)


class Way(NamedTuple):
    """A way to solve it, and how its rounds are best arranged."""

    solve: Callable
    # The same on a `Restricted` loss that is not quadratic, for one lambda at a time;
    # and where the units of the penalty depend on the solution.
    curved: Callable
    rescaled: type | None
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
    with problem.design.matrix.threads.scratch("working set", m, m) as scratch:
        results = Descent(problem, cache, features, scratch).minimise(
            problem.of_features(features), problem.levels(lambdas),
            state.beta[features], state.correlation.values[features],
            Sweeps(target, max_epochs, each, WORK),
        )
    solutions = Solutions(problem, lambdas[: len(results)], features, results[:, 3:])
    epochs, steps = results[:, 0].astype(int), results[:, 1].astype(int)
    return Solved(solutions, epochs, steps, results[:, 2] <= target)


def newton_steps(on):
    """Newton's steps on the Gram matrix, or by sweeps where it does not serve."""
    suits = on.state.gram.suits(on.features.size)
    return Newton(on) if suits else WeightedSweeps(on)


def by_steps(way, problem, state, features, lambdas, target, max_epochs, each):
    """A loss that is not quadratic: one model after another."""
    on, found = Restricted(problem, state, features), []
    steps_of = way.rescaled(on) if problem.rescales else way.curved(on)
    for lam in lambdas[: way.max_block]:
        levels, most = problem.levels(np.array([lam])), each if found else max_epochs
        # Steps that lead out of the range of numbers are not taken.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            epochs, steps, met, failure = steps_of.solve(levels, target, most)
        met &= failure is not Status.SATURATED
        found.append((on.point, on.unit, epochs, steps, met))
        if not met:
            break
    points, unit, epochs, steps, met = zip(*found)
    solutions = Solutions(
        problem, lambdas[: len(found)], features,
        np.array([point.beta for point in points]),
        np.array([point.intercept for point in points]),
        np.array(unit) if problem.rescales else None,
    )
    solutions.eta = np.array([point.eta for point in points])
    solutions.residual = np.array([point.residual for point in points])
    solutions.loss = np.array([point.loss for point in points])
    counts = (np.array(each) for each in (epochs, steps, met))
    return Solved(solutions, *counts, None if met[-1] else failure)


def by_residual(
    problem, state, features, lambdas, target, max_epochs, each, cyclic=True
):
    """Coordinate descent on the columns, with residual updates: the paper's BCD."""
    r, l2 = coordinates(problem, state, features, lambdas[0])
    sweeps = ResidualSweeps(target, max_epochs, cyclic)
    epochs = problem.design.descend(
        features, problem.penalty, r, l2, state.correlation.vector.copy(), sweeps
    )
    return single(problem, features, lambdas, r.beta, epochs)


def by_proximal_gradient(problem, state, features, lambdas, target, max_epochs, each):
    """GIST: all coordinates at once, along the gradient."""
    r, l2 = coordinates(problem, state, features, lambdas[0])
    loss = gist.squares(problem, state, features)
    epochs = gist.minimise(loss, problem.penalty, r, l2, target, max_epochs)
    return single(problem, features, lambdas, r.beta, epochs)


def coordinates(problem, state, features, lam):
    """The problem on the working set at one lambda, and its l2."""
    l1, l2 = problem.levels_of(lam, features)
    beta = state.beta[features]
    order = np.arange(features.size)
    return Coordinates(
        order, order.copy(), l1, problem.design.norm2[features] + l2, beta,
        state.correlation.values[features] - l2 * beta,
    ), l2


def single(problem, features, lambdas, beta, epochs):
    """The solution at one lambda; whether it met the target will be measured."""
    solutions = Solutions(problem, lambdas[:1], features, beta[None])
    zero = np.zeros(1, dtype=int)
    return Solved(solutions, zero + epochs, zero, np.ones(1, dtype=bool))


# With the Gram matrix at hand a larger set and an exact solution cost little. Where
# each sweep touches every column, small sets are what it is all about, and loose rounds
# save a third of the columns touched on the paper's problems.
INNER = {
    "cd": Way(by_gram, newton_steps, Rescaling, 128, 5, 0, 100, share=0.01, decay=0.01),
    "bcd": Way(by_residual, WeightedSweeps, None, 1, 1, 100, 100, share=0.5, decay=0.8),
    "gist": Way(
        by_proximal_gradient, gist.Gist, None, 1, 1, 100, 100, share=0.5, decay=0.8
    ),
}
