"""`cv_ncvpath()`: lambda, gamma and alpha chosen by cross-validation."""

from inspect import signature
from itertools import product

import numpy as np

from .crossval.curves import error_of_null, hold_out, measured
from .crossval.engines import FEWER_AT_ONCE, elsewhere, shipped, side_by_side
from .crossval.fold_fits import Judge
from .crossval.folds import read_folds
from .crossval.measures import ByRow, find_measure
from .inputs.checks import entries, flag
from .inputs.data import OfRows, check_data, compare_indexes, constant_level
from .inputs.settings import check_settings
from .inputs.words import advice, knows_its_arguments
from .matrices.distributed import DaskColumns
from .path import ConvergenceWarning, ncvpath
from .results import CvNcvPath
from .results.printing import unconverged
from .runtime.loading import package
from .runtime.memory import advised
from .runtime.messages import brief, warn_user
from .runtime.progress import Bar

# Arguments of ncvpath() that describe the data; the others are settings.
OF_THE_DATA = (*OfRows._fields, "penalty_factor", "feature_names")


@knows_its_arguments
def cv_ncvpath(
    X, y, *, nfolds=10, folds=None, groups=None, random_state=None, measure=None,
    executor=None, keep=False, progress=False, **arguments,
) -> CvNcvPath:
    """Cross-validate a regularization path.

    Every fold is fitted at the lambdas of the full data, standardized on its own
    training rows, and predicts the rows held out; the error is the mean over
    observations, as in ncvreg. That of a Cox path is the deviance, per event, of the
    partial likelihood of all held-out linear predictors together, those of each fold
    centred at the means of its training rows: each row must be held out once.

    Parameters
    ----------
    X, y
        As for `ncvpath`.
    nfolds : int
        Number of folds, drawn at random; n for leave-one-out. Not used with `folds`.
        Each has its share of both classes (binomial), or of events (cox). A fold whose
        training rows lack a class, or events, is an error that names it.
    folds : sequence of int, iterable of (train, test) pairs, or splitter, optional
        A label per row, pairs of row indices, or an object with `split(X, y, groups)`
        as scikit-learn has them. Rows may be held out several times: the error is the
        mean over all their predictions, its standard error that of as many
        observations as there are rows.
    groups : sequence, length n, optional
        Rows of one group stay in one fold; folds that part them are refused.
    random_state : int or numpy.random.Generator, optional
        For drawing the folds; NumPy's global state is never touched.
    measure : str or function, optional
        What a prediction is judged by; by default the first of: gaussian "mse", "mae";
        binomial "deviance", "class" (share of wrong classes), "brier", "mae", "auc";
        poisson "deviance", "mse", "mae"; cox "deviance", "concordance"; a family of
        one's own "deviance". The AUC is the mean over folds, weighted by their pairs,
        with the standard error of that mean; concordance counts the pairs of all rows,
        and its standard error is the jackknife's over folds. The largest of these are
        the best. A function (y, eta, weights) gives the loss of each observation, given
        linear predictors.
    executor : concurrent.futures.Executor, optional
        Where the folds are fitted: threads, processes, a dask cluster's
        `Client.get_executor()`, each fold on one thread of its worker. By default in
        this process, on `n_threads` threads.
    keep : bool
        Keep the out-of-fold linear predictors, as `predictions`.
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

    >>> from ncvpath import load_heart
    >>> X, y = load_heart()
    >>> cv = cv_ncvpath(X, y, family="binomial", measure="auc", random_state=1)
    >>> round(float(cv.cve[cv.index_min]), 2)
    0.78
    """
    keep, progress = flag("keep", keep), flag("progress", progress)
    data, combinations = read_arguments(X, y, arguments)
    judge = make_judge(combinations[0].family, measure, keep)
    events = None if combinations[0].family.form == "number" else data.y
    splits = read_folds(folds, nfolds, groups, random_state, X, y, events)
    compare_indexes(X=X, folds=folds, groups=groups)
    check_rows(data, splits, combinations[0])
    if judge.measure.together and splits.labels is None:
        raise ValueError(
            "folds must hold out each row exactly once with "
            f"measure={judge.measure.name!r}, which judges all rows together; these do "
            "not"
        )
    usable = hasattr(executor, "submit") and not isinstance(executor, type)
    if executor is not None and not usable:
        raise ValueError(
            f"executor must be a concurrent.futures.Executor; got {brief(executor)}"
        )
    if executor is not None and isinstance(data.X, DaskColumns):
        raise ValueError(
            "executor must be None where X is a dask array; its cluster does the work"
        )
    held_out = hold_out(data, splits)
    # First, as it shows whether these folds can be judged at all.
    null_error = error_of_null(data, combinations[0], held_out, judge.measure)
    curves = []
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
            curves.append(measured(held_out, splits, fits, path, judge))
    sign = -1 if judge.measure.maximised else 1
    best = min(curves, key=lambda curve: (sign * curve.cve).min())
    if keep and splits.labels is None:
        warn_user("predictions are not kept: not every row was held out exactly once")
    warn_of_shortened(best)
    warn_if_unconverged(best)
    return report(data, splits, curves, best, judge, null_error)


def make_judge(family, measure, keep):
    """How to judge, and as ncvreg does, classes by how many are wrong, too."""
    also = None
    if family.form == "class":
        also = ByRow("class", family.measures["class"])
    return Judge(find_measure(family, measure), also, keep)


def read_arguments(X, y, arguments):
    """Clean data, and clean settings for each combination of gamma and alpha."""
    asked = {
        name: parameter.default
        for name, parameter in signature(ncvpath).parameters.items()
        if parameter.default is not parameter.empty
    }
    unknown = [name for name in arguments if name not in asked]
    if unknown:
        own = {*asked, *signature(cv_ncvpath).parameters}
        raise TypeError(
            f"cv_ncvpath() got an unexpected keyword argument {unknown[0]!r}; besides "
            f"its own it takes those of ncvpath(){advice(unknown[0], own)}"
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
        X, y, OfRows(*(of_the_data[name] for name in OfRows._fields)),
        of_the_data["penalty_factor"], combinations[0], of_the_data["feature_names"],
    )
    return data, combinations


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


def check_rows(data, splits, settings):
    """Each fold must leave something to fit, and all together something to judge."""
    if not data.weights[np.concatenate(splits.test)].any():
        raise ValueError("folds must hold out rows of positive weight; they hold none")
    for k, train in enumerate(splits.train):
        rows = train & (data.weights > 0)
        if not rows.any():
            raise ValueError(
                f"folds must leave training rows of positive weight; fold {k} (from 0) "
                "has none"
            )
        wrong = CANNOT_FIT[settings.family.form](rows, data.response, settings)
        if wrong:
            must, found = wrong
            raise ValueError(
                f"folds must leave {must} in every training set; in fold {k} (from 0) "
                f"{found}"
            )


def no_spread(rows, response, settings):
    """Why a family of numbers could not fit y in these rows, or None."""
    level = constant_level(settings.family, response, rows)
    if level is not None and (settings.intercept or level == 0):
        return "a y that varies", f"it is constant, y={level:g}"
    try:
        settings.family.check(response.y[rows])
    except ValueError as error:
        return "a y that the family can have", str(error)
    return None


def one_class(rows, response, settings):
    """Why a family of two classes could not fit y in these rows, or None."""
    y = response.y[rows]
    if 0 < y.max() and y.min() < 1:
        return None
    name = response.classes[int(y[0])] if response.classes else f"y={y[0]:g}"
    return "both classes", f"there is only {name}"


def no_event(rows, response, settings):
    """Why a family of survival could not fit the status in these rows, or None."""
    return None if response.y[rows].any() else ("an event", "all rows are censored")


CANNOT_FIT = {"number": no_spread, "class": one_class, "survival": no_event}


def report(data, splits, curves, best, judge, null_error):
    """The result, with the winner's curve and everyone's grid."""
    pd = package("pandas")

    error = -best.cve if judge.measure.maximised else best.cve
    size, lowest, one_se = error.size, int(np.argmin(error)), None
    if np.isfinite(best.cvse[lowest]):
        one_se = int(np.argmax(error <= error[lowest] + best.cvse[lowest]))
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
    kept = None
    if judge.keep and splits.labels is not None:
        kept = np.empty((data.y.size, size))
        for test, predicted in zip(splits.test, best.predictions):
            kept[test] = predicted[:, :size]
    of_the_best = ("cve", "cvse", "fold_errors", "converged", "pe")
    return CvNcvPath(
        fit=best.path,
        lambdas=best.path.lambdas[:size],
        index_min=lowest,
        index_1se=one_se,
        folds=splits.labels,
        kept=kept,
        null_error=null_error,
        measure=judge.measure.name,
        combinations=grid,
        **{name: getattr(best, name) for name in of_the_best},
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
        reasons = sorted(curve.reasons)
        warn_user(
            f"{' and '.join(missed)} did not reach tol={curve.path.tol:g} (see "
            f"`fit.converged` and `converged`): {'; '.join(reasons)}",
            ConvergenceWarning, reasons=reasons,
        )
