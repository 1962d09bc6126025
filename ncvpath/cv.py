"""`cv_ncvpath()`: lambda, gamma and alpha chosen by cross-validation."""

from difflib import get_close_matches
from inspect import signature
from itertools import product
from typing import NamedTuple

import numpy as np

from .crossval.engines import FEWER_AT_ONCE, elsewhere, shipped, side_by_side
from .crossval.fold_fits import MEASURES, Judge, lengths
from .crossval.folds import read_folds
from .inputs.checks import entries, flag, one_of
from .inputs.data import check_data, compare_indexes
from .inputs.settings import check_settings
from .matrices.distributed import DaskColumns
from .path import ConvergenceWarning, ncvpath
from .results import CvNcvPath, NcvPath
from .results.printing import unconverged
from .runtime.loading import package
from .runtime.memory import advised
from .runtime.messages import brief, warn_user
from .runtime.progress import Bar

# Arguments of ncvpath() that describe the data; the others are settings.
OF_THE_DATA = ("weights", "penalty_factor", "feature_names")


def cv_ncvpath(
    X, y, *, nfolds=10, folds=None, groups=None, random_state=None, measure="mse",
    executor=None, keep=False, progress=False, **arguments,
) -> CvNcvPath:
    """Cross-validate a regularization path.

    Every fold is fitted at the lambdas of the full data, standardized on its own
    training rows, and predicts the rows held out; the error is the mean over
    observations, as in ncvreg.

    Parameters
    ----------
    X, y
        As for `ncvpath`.
    nfolds : int
        Number of folds, drawn at random; n for leave-one-out. Not used with `folds`.
    folds : sequence of int, iterable of (train, test) pairs, or splitter, optional
        A label per row, pairs of row indices, or an object with `split(X, y, groups)`
        as scikit-learn has them. Rows may be held out several times: the error is the
        mean over all their predictions, its standard error that of as many
        observations as there are rows.
    groups : sequence, length n, optional
        Rows of one group stay in one fold; folds that part them are refused.
    random_state : int or numpy.random.Generator, optional
        For drawing the folds; NumPy's global state is never touched.
    measure : {"mse", "mae"}
        Squared or absolute error of prediction.
    executor : concurrent.futures.Executor, optional
        Where the folds are fitted: threads, processes, a dask cluster's
        `Client.get_executor()`, each fold on one thread of its worker. By default in
        this process, on `n_threads` threads.
    keep : bool
        Keep the out-of-fold predictions.
    progress : bool
        Show one bar over all lambdas, folds and combinations.
    **arguments
        Those of `ncvpath`. `gamma` and `alpha` may be sequences: every combination
        is cross-validated on the same folds, and the best one is the result.

    Returns
    -------
    CvNcvPath

    Examples
    --------
    >>> from ncvpath import cv_ncvpath, load_diabetes
    >>> X, y = load_diabetes()
    >>> cv = cv_ncvpath(X, y, penalty="lasso", random_state=1)
    >>> cv.lambda_1se > cv.lambda_min
    True
    """
    one_of("measure", measure, tuple(MEASURES))
    keep, progress = flag("keep", keep), flag("progress", progress)
    data, combinations = read_arguments(X, y, arguments)
    splits = read_folds(folds, nfolds, groups, random_state, X, y)
    compare_indexes(X=X, folds=folds, groups=groups)
    check_rows(data, splits, combinations[0].intercept)
    usable = hasattr(executor, "submit") and not isinstance(executor, type)
    if executor is not None and not usable:
        raise ValueError(
            f"executor must be a concurrent.futures.Executor; got {brief(executor)}"
        )
    if executor is not None and isinstance(data.X, DaskColumns):
        raise ValueError(
            "executor must be None where X is a dask array; its cluster does the work"
        )
    curves, judge = [], Judge(measure, keep)
    with Bar(progress) as bar, shipped(data.X, executor) as X_there, advised(
        "the cross-validation", FEWER_AT_ONCE
    ):
        walks = 1 + len(splits.train)
        bar.expect(walks * sum(each.lambda_count for each in combinations))
        for settings in combinations:
            if executor is None:
                path, fits = side_by_side(data, settings, splits, judge, bar, X, y)
            else:
                path, fits = elsewhere(
                    data, settings, splits, judge, bar, X, y, executor, X_there
                )
            curves.append(measured(data, splits, fits, path, measure))
    best = min(curves, key=lambda curve: curve.cve.min())
    if keep and splits.labels is None:
        warn_user("predictions are not kept: not every row was held out exactly once")
    warn_of_shortened(best)
    warn_if_unconverged(best)
    return report(data, splits, curves, best, measure, keep)


class Curve(NamedTuple):
    """The cross-validation of one combination of gamma and alpha; L lambdas."""

    path: NcvPath
    cve: np.ndarray  # L
    cvse: np.ndarray  # L
    fold_errors: np.ndarray  # folds x L
    converged: np.ndarray  # folds x L
    null_error: float
    predictions: list  # per fold: rows held out x L, or None
    stopped: str | None
    reasons: set[str]  # why fits did not converge


def read_arguments(X, y, arguments):
    """Clean data, and clean settings for each combination of gamma and alpha."""
    asked = {
        name: parameter.default
        for name, parameter in signature(ncvpath).parameters.items()
        if parameter.default is not parameter.empty
    }
    unknown = [name for name in arguments if name not in asked]
    if unknown:
        raise TypeError(
            f"cv_ncvpath() got an unexpected keyword argument {unknown[0]!r}; besides "
            f"its own it takes those of ncvpath(){similar(unknown[0], asked)}"
        )
    asked |= arguments
    of_the_data = {name: asked.pop(name) for name in OF_THE_DATA}
    gammas, alphas = (several(name, asked.pop(name)) for name in ("gamma", "alpha"))
    combinations = [
        check_settings(gamma=gamma, alpha=alpha, **asked)
        for gamma, alpha in product(gammas, alphas)
    ]
    for name, asked_for in (("gamma", gammas), ("alpha", alphas)):
        values = {getattr(each, name) for each in combinations}  # None: the default
        if len(values) < len(asked_for):
            raise ValueError(f"{name} must be distinct values; got {brief(asked_for)}")
    data = check_data(
        X, y, of_the_data["weights"], of_the_data["penalty_factor"],
        combinations[0].intercept, of_the_data["feature_names"],
    )
    return data, combinations


def similar(word, known):
    """The argument that was meant, if there is one of nearly that name."""
    words = sorted([*known, *signature(cv_ncvpath).parameters], key=len)
    # As R has them, and as those write who may not say lambda.
    word = word.replace(".", "_").rstrip("_")
    begin = [name for name in words if name.startswith(word)]
    found = begin or get_close_matches(word, words, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def several(name, values):
    """One value or a sequence of them, as a list."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return [values]
    if getattr(values, "ndim", 1) == 0:
        return [values.item()]
    values = entries(name, values, "a number or numbers")
    if not values:
        raise ValueError(f"{name} must have at least one value; got none")
    return values


def check_rows(data, splits, intercept):
    """Each fold must leave something to fit, and all together something to judge."""
    if not data.weights[np.concatenate(splits.test)].any():
        raise ValueError("folds must hold out rows of positive weight; they hold none")
    for k, train in enumerate(splits.train):
        y = data.y[train & (data.weights > 0)]
        if y.size == 0:
            raise ValueError(
                f"folds must leave training rows of positive weight; fold {k} (from 0) "
                "has none"
            )
        if np.ptp(y) == 0 and (intercept or y[0] == 0):
            raise ValueError(
                "folds must leave a y that varies in every training set; in fold "
                f"{k} (from 0) it is constant, y={y[0]:g}"
            )


def measured(data, splits, fits, path, measure):
    """Errors over all rows held out, up to the last lambda every fold reached."""
    size, stopped = reach(path, fits)
    weight = np.array([fit.weight for fit in fits])
    share = weight / weight.sum()
    fold_errors = np.array([fit.error[:size] for fit in fits])
    cve = share @ fold_errors
    # Deviations over observations: within folds, and between their means.
    within = np.array([fit.spread[:size] for fit in fits]) / np.sqrt(weight.sum())
    between = np.sqrt(share)[:, None] * (fold_errors - cve)
    deviation = lengths(np.concatenate([within, between]))
    rows = np.concatenate(splits.test)
    rows = rows[data.weights[rows] > 0]
    counted = np.unique(rows).size  # held out again, a row is no other observation
    live = data.weights > 0
    center = data.weights[live] @ data.y[live] if path.has_intercept else 0.0
    null_errors = MEASURES[measure](data.y[rows] - center)
    fold_errors[share == 0] = np.nan  # nobody there who counts
    return Curve(
        path, cve, deviation / np.sqrt(max(counted - 1, 1)), fold_errors,
        np.array([fit.converged[:size] for fit in fits]),
        float(np.average(null_errors, weights=data.weights[rows])),
        [fit.predictions for fit in fits], stopped,
        {path.status[k] for k in np.flatnonzero(~path.converged)}.union(
            *(fit.statuses for fit in fits)
        ),
    )


def reach(path, fits):
    """How many lambdas every fold reached, with errors that are numbers, and what
    ended the first that ended."""
    last = min(fits, key=lambda fit: fit.error.size)
    size = min(path.lambdas.size, last.error.size)
    finite = np.all([np.isfinite(fit.error[:size]) & np.isfinite(fit.spread[:size])
                     for fit in fits], axis=0)
    if finite.all():
        return size, last.stopped
    size = int(np.argmin(finite))
    if size == 0:
        raise FloatingPointError("errors of held-out rows overflowed; rescale X and y")
    return size, "errors of held-out rows overflowed"


def report(data, splits, curves, best, measure, keep):
    """The result, with the winner's curve and everyone's grid."""
    pd = package("pandas")

    size, lowest = best.cve.size, int(np.argmin(best.cve))
    one_se = int(np.argmax(best.cve <= best.cve[lowest] + best.cvse[lowest]))
    grid = pd.concat(
        [
            pd.DataFrame({
                "gamma": np.nan if curve.path.gamma is None else curve.path.gamma,
                "alpha": curve.path.alpha,
                "lambda": curve.path.lambdas[: curve.cve.size],
                "cve": curve.cve,
                "cvse": curve.cvse,
                "df": curve.path.df[: curve.cve.size],
            })
            for curve in curves
        ],
        ignore_index=True,
    )
    predictions = None
    if keep and splits.labels is not None:
        predictions = np.empty((data.y.size, size))
        for test, predicted in zip(splits.test, best.predictions):
            predictions[test] = predicted[:, :size]
    kept = ("cve", "cvse", "fold_errors", "converged", "null_error")
    return CvNcvPath(
        fit=best.path,
        lambdas=best.path.lambdas[:size],
        index_min=lowest,
        index_1se=one_se,
        folds=splits.labels,
        predictions=predictions,
        measure=measure,
        grid=grid,
        **{name: getattr(best, name) for name in kept},
    )


def warn_of_shortened(curve):
    """Say it where some fold did not reach the last lambda."""
    size, full = curve.cve.size, curve.path.lambdas.size
    if size < full:
        warn_user(
            f"the curve has the first {size} of {full} lambdas, those that every fold "
            f"reached ({curve.stopped})"
        )


def warn_if_unconverged(curve):
    """One warning for path and folds."""
    where = np.flatnonzero(~curve.converged.all(axis=1))
    shown = ", ".join(map(str, where[:5])) + (" and more" if where.size > 5 else "")
    missed = unconverged(curve.path.converged, "lambdas of the full fit")
    missed += unconverged(curve.converged, f"fits in folds {shown}")
    if missed:
        warn_user(
            f"{' and '.join(missed)} did not reach tol={curve.path.tol:g} (see "
            f"`fit.converged` and `converged`): {'; '.join(sorted(curve.reasons))}",
            ConvergenceWarning,
        )
