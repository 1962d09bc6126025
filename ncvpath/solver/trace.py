"""What each round reached, for those who want to watch."""

from typing import NamedTuple

import numpy as np


class Round(NamedTuple):
    """One restricted solve at one lambda, and the look at all features after it."""

    seconds: float  # of this round, recording not counted
    objective: float
    violation: float  # the largest, relative to the null gradient
    step: float  # of FireWorks' feasible vector, alpha_k
    working_set: int
    distance: float  # the largest from the residual to the slab of a feature outside


def record_round(outcome, k, member, step):
    """The k-th lambda of a block, as this round left it.

    Of a majorized problem, the one it stands for is measured. Estimated correlations
    lie in their slabs, so they do not count as violations.
    """
    solutions, values = outcome.solutions.part(k, k + 1), outcome.checked.values[k]
    problem, worst = solutions.problem, outcome.worst[k]
    if problem.majorizes:
        problem = problem.majorizes
        solutions = solutions.of(problem)
        inside = solutions.violation(values[None, solutions.features])
        worst = max(inside[0], outcome.outside[k])  # features at zero: the same slabs
    outside = np.flatnonzero(~member & problem.may_enter)
    l1, l2 = problem.levels_of(solutions.lambdas[0], outside)
    excess = np.maximum(np.abs(values[outside]) - l1, 0.0)
    distance = excess / np.sqrt(problem.design.norm2[outside] + l2)
    return Round(
        outcome.work["seconds"][k], solutions.objective[0], worst / problem.g0, step,
        np.count_nonzero(member), distance.max(initial=0.0),
    )
