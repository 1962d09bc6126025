"""Majorization-minimization: a nonconvex penalty as a sequence of weighted lassos.

A concave penalty lies below its tangent at any |w_j|, so that the lasso with the slopes
r'(|w_j|) as its levels lies above the objective and touches it at w; its minimiser is
no worse than w. Each lasso is solved by FireWorks from the solution of the one before,
until Fermat's condition of the nonconvex problem holds.
"""

from dataclasses import replace

import numpy as np

from ..kernels.records import Penalty
from ..penalties import BY_KIND, by_name
from . import loop
from .finished import Finished, Status, add_work, no_work
from .rounding import AT_WORST

# The inner solver of each; the paper's, so that only the outer loop differs.
MAJORIZING = {"mm-cd": "bcd", "mm-prox": "gist"}
# The lassos are solved to this, on the scale of the sum of squares as in the paper (and
# so in units of y), or to half of what is asked for, whatever is less; rounding
# permitting.
PRECISION = 1e-5
LASSO = Penalty(by_name("lasso").kind, 0.0)


def majorized(problem, beta, lam):
    """The weighted lasso that touches the problem's objective at beta."""
    level = lam * problem.alpha
    penalty_factor, support = problem.penalty_factor.copy(), np.flatnonzero(beta)
    if level > 0:
        slope = BY_KIND[problem.penalty.kind].slope
        a, l1 = np.abs(beta[support]), level * penalty_factor[support]
        penalty_factor[support] = slope(a, l1, problem.penalty.shape) / level
    return replace(
        problem, penalty=LASSO, penalty_factor=penalty_factor, majorizes=problem
    )


def walk(problem, state, lambdas, limits):
    """As loop.walk, by majorization-minimization, one lambda at a time."""
    at_null, below = loop.begin_walk(problem, state, lambdas, limits)
    yield from at_null
    for finished in rounds(problem, state, below, limits):
        if finished.solutions.lambdas[0] == 0:
            finished = loop.unpenalised(problem, state, limits, finished)
        yield finished


def rounds(problem, state, lambdas, limits):
    """As loop.rounds."""
    inner = replace(limits, solver=MAJORIZING[limits.solver])
    for lam in lambdas:
        yield minimise(problem, state, np.array([lam]), limits, inner)


def minimise(problem, state, lam, limits, inner):
    """One lambda: lassos, until they have led to a stationary point."""
    support = np.flatnonzero(state.beta)
    rounding = problem.rounding.in_violations(support, state.beta[support])
    at_worst = min(AT_WORST * rounding, 0.5 * limits.tol)
    precision = min(PRECISION / problem.design.n_counted, 0.5 * limits.tol)
    inner = replace(inner, tol=max(precision, at_worst))
    work, trace, status = no_work(1), [], None
    while status is None:
        before = state.beta
        [part] = loop.rounds(majorized(problem, before, lam[0]), state, lam, inner)
        work, trace = add_work(work, part.work), trace + part.trace[0]
        work["majorizations"] += 1
        left = inner.max_epochs - int(part.work["epochs"][0])
        inner = replace(inner, max_epochs=left)
        # Slabs of features at zero are the lasso's or wider, so its certificates hold.
        solutions = part.solutions.of(problem)
        worst = np.maximum(*loop.violations(
            solutions, state.correlation.values[None], solutions.member
        ))
        if part.status[0] in loop.NO_SOLUTION:
            status = part.status[0]
        elif worst[0] <= limits.tol:
            alone = problem.penalty.kind == LASSO.kind
            status = Status.ITSELF if alone else Status.CONVERGED
        elif part.status[0] is Status.MAX_EPOCHS or part.violation > 0.5 * limits.tol:
            status = part.status[0]
        elif np.array_equal(before, state.beta):
            # A lasso that touches at its own solution violates what the problem does,
            # so that this has been met above, but for rounding.
            at_rounding = worst[0] <= AT_WORST * solutions.rounding[0]
            status = Status.ROUNDING if at_rounding else Status.STALLED
    if solutions.rounding[0] > limits.tol:
        worst, status = np.maximum(worst, solutions.rounding), Status.ROUNDING
    return Finished(solutions.settled(), worst, [status], work, [trace])
