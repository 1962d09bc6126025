"""From the fits of all folds to the curve of one combination of gamma and alpha."""

from typing import NamedTuple

import numpy as np

from ..results import NcvPath
from .measures import HeldOut, combined


class Curve(NamedTuple):
    """The cross-validation of one combination of gamma and alpha; L lambdas."""

    path: NcvPath
    cve: np.ndarray  # L
    cvse: np.ndarray  # L
    fold_errors: np.ndarray  # folds x L
    converged: np.ndarray  # folds x L
    pe: np.ndarray | None  # L, share of wrong classes, if there are classes
    predictions: list  # per fold: rows held out x L, or None
    stopped: str | None
    reasons: set[str]  # why fits did not converge


def hold_out(data, splits):
    """The rows to judge, fold by fold."""
    counted = [test[data.weights[test] > 0] for test in splits.test]
    return HeldOut(data.response, data.weights, counted)


def measured(held_out, splits, fits, path, judge):
    """Errors over all rows held out, up to the last lambda every fold reached."""
    last = min(fits, key=lambda fit: fit.converged.size)
    size, stopped = min(path.lambdas.size, last.converged.size), last.stopped
    errors = errors_of(judge.measure, held_out, splits, fits, size)
    finite = np.isfinite(errors.cve)
    if not np.isnan(errors.cvse).all():  # as where one row was held out alone
        finite &= np.isfinite(errors.cvse)
    if not finite.all():
        size, stopped = int(np.argmin(finite)), "errors of held-out rows overflowed"
        if size == 0:
            raise FloatingPointError(
                f"{stopped}; rescale X and y, e.g. divide each by its largest absolute "
                "value"
            )
    also = None
    if judge.also is not None:
        by_fold = [up_to(fit.judged[-1], size) for fit in fits]
        also = combined(by_fold, held_out.n_distinct).cve
    reasons = reasons_of(path, path.lambdas.size).union(
        *(reasons_of(fit, size) for fit in fits)
    )
    return Curve(
        path, *up_to(errors, size), np.array([fit.converged[:size] for fit in fits]),
        also, [fit.predictions for fit in fits], stopped, reasons,
    )


def reasons_of(fit, size):
    """Why some of the first lambdas did not converge."""
    return {fit.status[k] for k in np.flatnonzero(~fit.converged[:size])}


def errors_of(measure, held_out, splits, fits, size):
    """Of the first lambdas, judged by the folds themselves or here."""
    if measure.by_fold:
        return measure.collect(held_out, [up_to(fit.judged[0], size) for fit in fits])
    return measure.errors(held_out, [
        fit.centred(np.isin(test, rows))[:size]
        for fit, test, rows in zip(fits, splits.test, held_out.rows)
    ])


def up_to(record, size):
    """The first lambdas of a record of arrays, whose last axis they are."""
    cut = [part[..., :size] if np.ndim(part) else part for part in record]
    return type(record)(*cut)


def error_of_null(data, settings, held_out, measure):
    """The error of the model with intercept and offset only."""
    response = data.response
    likelihood = settings.family.bind(response, data.weights, settings.intercept)
    eta = np.full(response.y.size, likelihood.mean + likelihood.null_intercept())
    if response.offset is not None:
        eta += response.offset
    etas = [eta[None, rows] for rows in held_out.rows]
    return float(measure.errors(held_out, etas).cve[0])
