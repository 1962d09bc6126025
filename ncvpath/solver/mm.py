"""Majorization-minimization: a nonconvex penalty as a sequence of weighted lassos.

A concave penalty lies below its tangent at any |w_j|, so that the lasso with the slopes
r'(|w_j|) as its levels lies above the objective and touches it at w; its minimiser is
no worse than w. Each lasso is solved by FireWorks from the solution of the one before,
until Fermat's condition of the nonconvex problem holds.
"""

from dataclasses import replace

import numpy as np

from ..penalties import BY_KIND, Penalty, by_name
from .solver import Status, solve, survey

# The inner solver of each; the paper's, so that only the outer loop differs.
MAJORIZING = {"mm-cd": "bcd", "mm-prox": "gist"}
# The lassos are solved to this, on the scale of the sum of squares as in the paper (and
# so in units of y), or to half of what is asked for, whatever is less; rounding
# permitting.
PRECISION = 1e-5
LASSO = Penalty(by_name("lasso").kind, 0.0)


def minimise(problem, state, lam, limits, work):
    """As solver.solve, by majorization-minimization."""
    precision = min(PRECISION / problem.design.n, 0.5 * limits.tol)
    at_worst = problem.rounding_at_worst(state.beta)
    inner = replace(
        limits, solver=MAJORIZING[limits.solver],
        tol=max(precision, min(at_worst, 0.5 * limits.tol)),
    )
    while True:
        before = state.beta.copy()
        lasso = majorized(problem, state.beta, lam)
        state.feasible[:] = 0.0  # inside any slab, as that of other slabs need not be
        status, missed, _ = solve(lasso, state, lam, inner, work)
        work.majorizations += 1
        # Slabs of features at zero are the lasso's or wider, so its certificates hold.
        worst = np.max(survey(problem, state)[:2])
        if worst <= limits.tol:
            alone = problem.penalty.kind == LASSO.kind
            return Status.ITSELF if alone else Status.CONVERGED, worst, work
        if status is Status.MAX_EPOCHS or missed > 0.5 * limits.tol:
            return status, worst, work
        # A lasso that touches at its own solution violates what the problem does, so
        # that this has been met above, but for rounding: there must be an end to that.
        if np.array_equal(before, state.beta):
            at_rounding = worst <= problem.rounding_at_worst(state.beta)
            return Status.ROUNDING if at_rounding else Status.STALLED, worst, work


def majorized(problem, beta, lam):
    """The weighted lasso that touches the problem's objective at beta."""
    level, _ = problem.units(lam)
    factor, support = problem.factor.copy(), np.flatnonzero(beta)
    if level > 0:
        slope = BY_KIND[problem.penalty.kind].slope
        a, l1 = np.abs(beta[support]), level * factor[support]
        factor[support] = slope(a, l1, problem.penalty.shape) / level
    return replace(problem, penalty=LASSO, factor=factor, majorizes=problem)
