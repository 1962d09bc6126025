"""One fold: the path on its training rows, and predictions for the rows held out.

A fold is the full problem with weight zero on the rows held out, so that no fold copies
X; centre, scale and sd(y) are those of its training rows.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .path import choose_lambdas
from .problem import pose
from .walk import walk


class FoldFit(NamedTuple):
    """What cross-validation keeps of a fold."""

    predictions: np.ndarray  # rows held out x lambdas reached
    converged: np.ndarray  # lambdas reached, bool
    stopped: str | None  # why the last lambdas were not reached


def fit_fold(data, settings, train, test, crew, tick):
    """Fit the rows in `train` at settings.lambdas and predict those in `test`."""
    weights = np.where(train, data.weights, 0.0)
    data = replace(data, weights=weights / weights.sum())
    problem, state = pose(data, settings, crew)
    lambdas, hidden = choose_lambdas(problem, settings)
    steps, stopped = walk(problem, state, lambdas, hidden, settings, tick)
    used = np.unique(np.concatenate([step.support for step in steps]))
    beta, intercept = np.zeros((used.size, len(steps))), np.empty(len(steps))
    for k, step in enumerate(steps):
        place = np.searchsorted(used, step.support)
        beta[place, k], intercept[k] = problem.design.to_user_scale(
            step.support, step.beta, problem.mean
        )
    predictions = data.X[np.ix_(test, used)] @ beta
    if settings.intercept:
        predictions += intercept
    violation = np.array([step.violation for step in steps])
    return FoldFit(predictions, violation <= settings.tol, stopped)
