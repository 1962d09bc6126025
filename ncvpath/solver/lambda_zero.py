"""Lambda 0, where there is no penalty: least squares by itself, where it is at hand."""

from dataclasses import replace
from time import perf_counter

import numpy as np

from ..matrices.least_squares import least_squares, shortest_step
from . import loop
from .certificates import Checked
from .finished import Status, no_work
from .inner import Solved
from .solutions import Solutions

# Numbers in X up to which least squares is computed from a copy of it.
DIRECT = 20_000_000


def solve(problem, state, limits, rounds):
    """The solution without penalty, by least squares or by the loop's rounds."""
    problem = problem.at_lambda_zero
    design, live = problem.design, np.flatnonzero(problem.may_enter)
    unique, quadratic = live.size <= design.n_counted, problem.likelihood.is_quadratic
    direct = unique and design.n * live.size <= DIRECT
    if direct:
        beta, unique = least_squares(design, problem.likelihood.y, live)
    if direct and quadratic and not unique:
        finished = one_of_many(problem, state, limits, live)
        if finished is not None:
            return finished
    [finished] = rounds(problem, state, np.zeros(1), limits)
    if direct and quadratic and unique:
        finished = of_least_squares(problem, state, limits, finished, live, beta)
    if finished.status[0] in (Status.CONVERGED, Status.ITSELF) and not unique:
        finished = replace(finished, status=[Status.ONE_OF_MANY])
    return finished


def one_of_many(problem, state, limits, live):
    """Where columns are dependent, or nearly: sweeps would creep along directions that
    hardly matter. None if no solution is found.

    It is one that is near the lambda before: on its support, if that can be.
    """
    started, attempt = perf_counter(), loop.begin(problem, state, 0.0, limits)
    residual, support = state.correlation.vector, np.flatnonzero(state.beta)
    for features in filter(np.size, (support, live)):
        step = shortest_step(problem.design, residual, features, limits.tol)
        beta = (state.beta[features] + step)[None]
        outcome = measured(Solutions(problem, np.zeros(1), features, beta))
        height = outcome.solutions.objective[0]
        if outcome.passed(limits.tol) and height <= attempt.ceiling:
            outcome.work["seconds"][:] = perf_counter() - started
            finished = loop.finish(state, outcome, 1, attempt, limits)
            return replace(finished, status=[Status.ONE_OF_MANY])
    return None


def measured(solutions):
    """A solution as if a round had led there, checked by exact correlations."""
    design, work = solutions.problem.design, no_work(1)
    values = design.correlate(solutions.residual)
    work["working_set"][:], work["rounds"][:] = solutions.features.size, 1
    work["checked"][:] = design.p
    return loop.Outcome(
        Solved(solutions, *np.zeros((2, 1)), np.ones(1, dtype=bool)),
        Checked(values, None, *np.zeros((2, 1))),
        *loop.violations(solutions, values, solutions.member), work,
    )


def of_least_squares(problem, state, limits, finished, live, beta):
    """The one solution instead of what the rounds have found: where columns are nearly
    dependent a small violation says little about coefficients."""
    attempt = loop.begin(problem, state, 0.0, limits)
    attempt.work, attempt.trace = finished.work, finished.trace[0]
    solutions = Solutions(problem, np.zeros(1), live, beta[None])
    solutions = solutions if attempt.allows(solutions) else attempt.origin
    status = finished.status[0]
    return loop.conclude(state, solutions, status, None, attempt, limits)
