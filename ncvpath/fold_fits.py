"""One fold: the path on its training rows, and predictions for the rows held out.

A fold is the full problem with weight zero on the rows held out, so that no fold copies
X; centre, scale and sd(y) are those of its training rows.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .design import standardized
from .path import choose_lambdas
from .problem import pose
from .walk import walk

MEASURES = {"mse": np.square, "mae": np.abs}


class FoldFit(NamedTuple):
    """What cross-validation keeps of a fold, at the L lambdas it reached."""

    weight: float  # of the rows held out
    error: np.ndarray  # L, their mean error
    spread: np.ndarray  # L, weighted sum of squares about it
    converged: np.ndarray  # L, bool
    stopped: str | None  # why the last lambdas were not reached
    statuses: set[str]  # how the work ended, in words
    predictions: np.ndarray | None  # rows held out x L, if they are to be kept


class Judge(NamedTuple):
    """How predictions are judged, and whether they are kept."""

    measure: str
    keep: bool


def fit_fold(data, settings, train, test, judge, matrix, tick, total):
    """Fit the rows in `train` at settings.lambdas; predict and judge `test`.

    `total` are weights, means, root mean squares and peaks of all rows, from which
    those of the fold are derived.
    """
    design = fold_design(data, settings, train, matrix, total)
    problem, state = pose(replace(data, weights=design.weights), settings, design)
    lambdas, hidden = choose_lambdas(problem, settings)
    steps, stopped = walk(problem, state, lambdas, hidden, settings, tick)
    del state  # most of the memory
    predictions = predicted(test, problem, steps, settings.intercept)
    kept = predictions.copy() if judge.keep else None
    errors = np.subtract(data.y[test, None], predictions, out=predictions)
    errors = MEASURES[judge.measure](errors, out=errors)
    weights = data.weights[test]
    sum_of_weights = weights.sum()
    mean = weights @ errors / (sum_of_weights or 1.0)
    errors -= mean
    return FoldFit(
        sum_of_weights, mean, weights @ np.square(errors, out=errors),
        np.array([step.violation <= settings.tol for step in steps]), stopped,
        {step.status for step in steps}, kept,
    )


def fold_design(data, settings, train, matrix, total):
    """The design of the training rows."""
    weights = np.where(train, data.weights, 0.0)
    weights /= weights.sum()
    left_out = np.flatnonzero(~train & (data.weights > 0))
    figures = matrix.measure_without(left_out, total, weights, settings.intercept)
    return standardized(matrix, weights, settings.standardize, *figures)


def predicted(rows, problem, steps, intercept):
    """Predictions for some rows of X, rows x steps."""
    used = np.unique(np.concatenate([step.support for step in steps]))
    beta, constant = np.zeros((used.size, len(steps))), np.empty(len(steps))
    for k, step in enumerate(steps):
        place = np.searchsorted(used, step.support)
        beta[place, k], constant[k] = problem.design.to_user_scale(
            step.support, step.beta, problem.mean
        )
    fitted = problem.design.matrix.predict(rows, used, beta)
    return fitted + (constant if intercept else 0.0)
