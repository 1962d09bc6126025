"""Majorization-minimization: a nonconvex penalty as a sequence of weighted lassos.

A concave penalty lies below its tangent at any |w_j|, so that the lasso with the slopes
r'(|w_j|) as its levels lies above the objective and touches it at w; its minimiser is
no worse than w. Each lasso is solved by FireWorks from the solution of the one before,
until Fermat's condition of the nonconvex problem holds.
"""

from dataclasses import replace

import numpy as np

from . import loop
from .finished import Finished, Status, add_work, no_work
from .rounding import AT_WORST

# The inner solver of each; the paper's, so that only the outer loop differs.
MAJORIZING = {"mm-cd": "bcd", "mm-prox": "gist"}
# The lassos are solved to this, on the scale of the sum of squares as in the paper (and
# so in units of y), or to half of what is asked for, whatever is less; rounding
# permitting.
PRECISION = 1e-5


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
        lasso = problem.majorized(before, lam[0] * problem.alpha)
        [part] = loop.rounds(lasso, state, lam, inner)
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
            status = Status.ITSELF if problem.is_lasso else Status.CONVERGED
        elif part.status[0] is Status.MAX_EPOCHS or part.violation > 0.5 * limits.tol:
            status = part.status[0]
        elif np.array_equal(before, state.beta):
            # A lasso that touches at its own solution violates what the problem does,
            # so that this has been met above, but for rounding.
            at_rounding = worst[0] <= AT_WORST * solutions.rounding[0]
            status = Status.ROUNDING if at_rounding else Status.STALLED
    if solutions.rounding[0] > limits.tol:
        worst = np.maximum(worst, solutions.rounding)
        status = status if status in loop.NO_SOLUTION else Status.ROUNDING
    return Finished(solutions.settled(), worst, [status], work, [trace])
