"""What each round reached, for those who want to watch."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..penalties import BY_KIND


class Round(NamedTuple):
    """One restricted solve at one lambda, and the look at all features after it."""

    seconds: float  # since the work at this lambda began, recording not counted
    objective: float
    violation: float  # the largest, relative to the null gradient
    step: float  # of FireWorks' feasible vector, alpha_k
    working_set: int
    distance: float  # the largest from the residual to the slab of an outsider


def look_back(problem, state, work):
    """Add a round to the record of this lambda.

    Of a majorized problem, the one it stands for is measured. Estimated correlations
    lie in their slabs, so they do not count as violations; when a look ended early,
    because somebody objected, larger ones may have been missed.
    """
    start = perf_counter()
    problem = problem.majorizes or problem
    live = np.flatnonzero(np.isfinite(problem.factor))
    l1, l2 = problem.levels(state.lam, live)
    beta, fit = state.beta[live], state.fit
    u = state.correlation[live] - l2 * beta
    slope = BY_KIND[problem.penalty.kind].slope(np.abs(beta), l1, problem.penalty.shape)
    excess = np.maximum(np.abs(u) - l1, 0.0)
    met = np.where(beta == 0, excess, np.abs(u - np.sign(beta) * slope))
    distance = excess / np.sqrt(problem.design.norm2[live] + l2)
    work.trace.append(
        Round(
            start + work.seconds,
            problem.objective(fit.mean_square, state.lam, fit.support, fit.beta),
            met.max(initial=0.0) / problem.g0,
            work.step,
            np.count_nonzero(state.member),
            distance[~state.member[live]].max(initial=0.0),
        )
    )
    work.seconds += perf_counter() - start
