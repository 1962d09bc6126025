"""Fermat's conditions over a block of lambdas, and what the penalties add up to."""

import numpy as np

from .options import kernel
from .penalty import larger, value, violation


@kernel
def measure_inside(penalty, features, levels, beta, correlation, worst, total):
    """Of some features, at each lambda: the largest violation, in their units, and both
    penalties.

    beta[k] and correlation[k] are those of the features at lambda k, levels[k] its l1
    and l2 per unit of the penalty factors.
    """
    for k in range(levels.shape[0]):
        worst[k] = total[k] = 0.0
        for j in range(features.penalty_factor.size):
            b = beta[k, j]
            l1 = levels[k, 0] * features.penalty_factor[j]
            l2 = levels[k, 1] * features.ridge_factor[j]
            met = violation(penalty, b, correlation[k, j] - l2 * b, l1)
            worst[k] = larger(worst[k], features.unit[j] * met)
            if b != 0.0:
                total[k] += value(penalty, abs(b), l1) + 0.5 * l2 * b * b


@kernel
def measure_outside(penalty_factor, levels, correlation, member, worst):
    """The largest |<x_j, r>| - l1_j of a feature outside the working set, or zero."""
    for k in range(levels.shape[0]):
        worst[k] = 0.0
        for j in range(penalty_factor.size):
            if not member[j] and penalty_factor[j] < np.inf:
                excess = abs(correlation[k, j]) - levels[k, 0] * penalty_factor[j]
                if not excess <= worst[k]:
                    worst[k] = larger(worst[k], excess)


@kernel
def find_uncertified(
    penalty_factor, levels, tol, length, slack, estimates, member, needed
):
    """Mark in `needed` the features outside the working set that an estimate cannot
    certify to be within l1 at each lambda: |estimate| + slack |x_j| exceeds it. NaN
    counts as uncertified.

    It ends with the first lambda at which a feature is certain to violate its slab by
    more than tol; returns how many lambdas were looked at.
    """
    for k in range(levels.shape[0]):
        certain = False
        for j in range(penalty_factor.size):
            if not member[j] and penalty_factor[j] < np.inf:
                size, off = abs(estimates[k, j]), slack[k] * length[j]
                if not size + off <= levels[k, 0] * penalty_factor[j]:
                    needed[j] = True
                    certain |= size - off > levels[k, 0] * penalty_factor[j] + tol
        if certain:
            return k + 1
    return levels.shape[0]
