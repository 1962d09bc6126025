"""The sequence of lambdas: where it starts, how it falls, how to reach its start."""

import numpy as np

# The share of lambda_max where log grids end: that of ratio 0 before its last lambda,
# and the approach to a smaller one.
SMALLEST_RATIO = 0.001


def default_ratio(n, p):
    """Ncvreg's depth of the path."""
    return 0.001 if n > p else 0.05


def lambda_sequence(top, nlambda, ratio):
    """Ncvreg's grid: log-equispaced from `top` to `ratio * top`, both included.

    With ratio 0 the last lambda is exactly 0, after the others down to 0.001.
    """
    if nlambda == 1:
        return np.array([top])
    if ratio == 0:
        return np.append(lambda_sequence(top, nlambda - 1, SMALLEST_RATIO), 0.0)
    # The shares first: they are the same bits whatever the unit of y.
    return top * np.geomspace(1.0, ratio, nlambda)


def approach(top, first, ratio, nlambda):
    """Lambdas that lead from `top` down to, but not including, a first lambda below.

    They fall at the pace of the automatic grid, so that the solution at a lambda
    does not depend on where the user's list starts; but they end at 0.001 of `top`.
    """
    pace = ratio ** (1 / max(nlambda - 1, 1))
    floor = max(first, SMALLEST_RATIO * top)
    steps = np.log(floor / top) / np.log(pace)
    return top * pace ** np.arange(np.ceil(steps - 1e-9))
