"""The door: what users pass becomes clean arrays, or a ValueError that names
argument, rule and value. Nothing behind the door checks its arguments again."""

import sys
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from .penalties import PENALTIES, ROWS, Row
from .threads import available_cores

SOLVERS = ("cd",)
WORKING_SETS = ("fireworks", "full")
KINDS_OF_X = "a 2-D numpy array, a pandas DataFrame or a list of rows"
SCAN = 1 << 20  # numbers looked at together when searching for NaN


@dataclass(frozen=True)
class Data:
    """X and y as the fit needs them."""

    X: np.ndarray  # n x p, float64, Fortran order; the user's own memory if it can be
    y: np.ndarray  # n, float64
    weights: np.ndarray  # n, sum 1
    factor: np.ndarray  # p
    names: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """Everything else, checked."""

    row: Row
    gamma: float | None
    alpha: float
    nlambda: int
    lambda_min_ratio: float | None
    lambdas: np.ndarray | None
    warm_up: bool
    intercept: bool
    standardize: bool
    working_set: str
    n_added: int | None
    prune: bool
    inexact: bool
    tol: float
    max_epochs: int
    dfmax: int | None
    convex: bool
    n_threads: int
    progress: bool


def check_data(X, y, weights, penalty_factor, intercept, feature_names=None):
    """Clean data; the user's arrays are never written to."""
    names = _names_of(X)
    X = check_matrix("X", X)
    n, p = X.shape
    y = check_response(y, n)
    weights = _weights(weights, n)
    if intercept and np.ptp(y[weights > 0]) == 0:
        raise ValueError(
            "y must vary when intercept=True; got the constant "
            f"y={y[weights > 0][0]:g}"
        )
    named = names is not None or feature_names is not None
    names = _feature_names(feature_names, names, p)
    factor = _factors(penalty_factor, names, named)
    return Data(X, y, weights, factor, names)


def check_settings(
    *, penalty, alpha, intercept, standardize, gamma=None, nlambda=1,
    lambda_min_ratio=None, lambdas=None, warm_up=True, working_set="fireworks",
    solver="cd", n_added=None, prune=True, inexact=True, tol=1e-6, max_epochs=1,
    dfmax=None, convex=False, n_threads=None, progress=False, record=False,
):
    """Clean settings."""
    row = _penalty(penalty)
    _one_of("solver", solver, SOLVERS)
    if _flag("record", record):
        raise ValueError(
            "record must be False; the trace is not available yet "
            "(path.screening shows what happened at each lambda)"
        )
    return Settings(
        row=row,
        gamma=_gamma(row, gamma),
        alpha=_number("alpha", alpha, above=0, upto=1),
        nlambda=_count("nlambda", nlambda, 1),
        lambda_min_ratio=_optional(
            lambda_min_ratio, lambda v: _number("lambda_min_ratio", v, atleast=0, below=1)
        ),
        lambdas=_optional(lambdas, _lambdas),
        warm_up=_flag("warm_up", warm_up),
        intercept=_flag("intercept", intercept),
        standardize=_flag("standardize", standardize),
        working_set=_one_of("working_set", working_set, WORKING_SETS),
        n_added=_optional(n_added, lambda v: _count("n_added", v, 1)),
        prune=_flag("prune", prune),
        inexact=_flag("inexact", inexact),
        tol=_number("tol", tol, above=0),
        max_epochs=_count("max_epochs", max_epochs, 1),
        dfmax=_optional(dfmax, lambda v: _count("dfmax", v, 0)),
        convex=_flag("convex", convex),
        n_threads=_optional(n_threads, lambda v: _count("n_threads", v, 1))
        or available_cores(),
        progress=_flag("progress", progress),
    )


def check_matrix(name, X):
    """A finite real matrix as Fortran-ordered float64, not copied if it is one."""
    values = _array(name, X)
    if values.ndim != 2:
        raise ValueError(f"{name} must be {KINDS_OF_X}; got {values.ndim} dimension(s)")
    if 0 in values.shape:
        raise ValueError(
            f"{name} must have at least one row and one column; got shape {values.shape}"
        )
    values = np.asarray(values, dtype=np.float64, order="F")
    step = max(SCAN // values.shape[0], 1)
    for left in range(0, values.shape[1], step):
        block = np.isfinite(values[:, left : left + step]).all(axis=0)
        if not block.all():
            j = left + int(np.argmin(block))
            bad = values[~np.isfinite(values[:, j]), j][0]
            names = _names_of(X)
            label = repr(names[j]) if names else f"number {j} (from 0)"
            raise ValueError(f"{name} must be finite; column {label} contains {bad}")
    return values


def check_response(y, n):
    """A finite real vector of length n."""
    y = _vector("y", y)
    if y.size != n:
        raise ValueError(f"y must have one value per row of X; got {y.size} for {n} rows")
    _finite("y", y)
    return y


def match_columns(X, names):
    """X with the columns of the fit, in its order, found by name in a frame."""
    own = _names_of(X)
    if own is None or names == _numbered(len(own)):
        columns = np.shape(X)[1] if np.ndim(X) == 2 else len(names)
        if columns != len(names):
            raise ValueError(
                f"X must have the {len(names)} columns of the fit; got {columns}"
            )
        return X
    missing = [name for name in names if name not in set(own)]
    if missing:
        raise ValueError(
            f"X must have the columns of the fit; missing {', '.join(missing[:5])}"
        )
    position = {name: j for j, name in enumerate(own)}
    return X[[X.columns[position[name]] for name in names]]


def is_frame(X):
    """A pandas DataFrame, recognised without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_series(x):
    """A pandas Series, recognised without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(x, pandas.Series)


def _names_of(X):
    """The column names a table brings along, or None."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(c) for c in columns]


def _numbered(p):
    return tuple(f"x{j + 1}" for j in range(p))


def _feature_names(given, own, p):
    if given is None:
        names = own if own is not None else _numbered(p)
    else:
        names = [str(name) for name in given]
    if len(names) != p:
        raise ValueError(
            f"feature_names must have one name per column of X; got {len(names)} for {p}"
        )
    if len(set(names)) < p:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        raise ValueError(f"feature names must be distinct; got {twice!r} twice")
    return tuple(names)


def _array(name, x):
    """A real numeric array of whatever came, without changing it."""
    if hasattr(x, "tocsc") or hasattr(x, "dask"):
        raise ValueError(f"{name} must be {KINDS_OF_X}; got {type(x).__name__}")
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError(
            f"{name} must not be a masked array; fill or drop the masked entries first"
        )
    if is_frame(x):
        x = _numeric_frame(name, x)
    try:
        values = np.asarray(x)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric; {error}") from None
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be real numbers; got dtype {values.dtype} from "
            f"{type(x).__name__}"
        )
    return values


def _numeric_frame(name, frame):
    """The frame's values; columns that are not numbers are refused by name."""
    for column, dtype in frame.dtypes.items():
        if getattr(dtype, "kind", "O") not in "biuf":
            raise ValueError(
                f"{name} must be numeric; column {str(column)!r} has dtype {dtype} "
                "(encode it, or drop it, first)"
            )
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _vector(name, x):
    if is_series(x) and getattr(x.dtype, "kind", "O") in "biuf":
        x = x.to_numpy(dtype=np.float64, na_value=np.nan)
    values = _array(name, x)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {values.shape}")
    return np.array(values, dtype=np.float64)


def _finite(name, values):
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"{name} must be finite; got {values[bad[0]]} at position {bad[0]}"
        )


def _weights(weights, n):
    if weights is None:
        return np.full(n, 1 / n)
    weights = _vector("weights", weights)
    if weights.size != n:
        raise ValueError(
            f"weights must have one value per row of X; got {weights.size} for {n} rows"
        )
    _finite("weights", weights)
    if (weights < 0).any():
        raise ValueError(f"weights must be >= 0; got {weights.min():g}")
    if not weights.any():
        raise ValueError("weights must not all be zero")
    weights = weights / weights.max()
    return weights / weights.sum()


def _factors(given, names, named):
    """One factor per feature, from a vector in order or a mapping by name."""
    p = len(names)
    if given is None:
        return np.ones(p)
    if is_series(given) and (named or not _is_positional(given, p)):
        given = dict(given.items())
    if isinstance(given, dict):
        factor = np.ones(p)
        position = {name: j for j, name in enumerate(names)}
        for name, value in given.items():
            if str(name) not in position:
                raise ValueError(
                    f"penalty_factor names must be features; got {str(name)!r}"
                )
            j = position[str(name)]
            factor[j] = _number(f"penalty_factor[{str(name)!r}]", value, atleast=0, finite=False)
        return factor
    factor = _vector("penalty_factor", given)
    if factor.size != p:
        raise ValueError(
            f"penalty_factor must have one value per column of X; got {factor.size} for {p}"
        )
    wrong = np.flatnonzero(~(factor >= 0))
    if wrong.size:
        raise ValueError(
            "penalty_factor must be >= 0 (inf allowed); got "
            f"{factor[wrong[0]]:g} for {names[wrong[0]]!r}"
        )
    return factor


def _is_positional(series, p):
    return len(series) == p and list(series.index) == list(range(p))


def _penalty(penalty):
    names = ", ".join(row.name for row in ROWS)
    row = PENALTIES.get(penalty.lower()) if isinstance(penalty, str) else None
    if row is None:
        raise ValueError(f"penalty must be one of {names}; got penalty={penalty!r}")
    return row


def _gamma(row, gamma):
    if row.gamma is None:
        if gamma is not None:
            raise ValueError(f"gamma must not be given for {row.name}; got gamma={gamma!r}")
        return None
    if gamma is None:
        return row.gamma
    return _number("gamma", gamma, above=row.above, where=f" for {row.name}")


def _lambdas(lambdas):
    values = np.atleast_1d(_array("lambdas", lambdas))
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"lambdas must be a number or a nonempty list; got shape {values.shape}"
        )
    values = np.sort(values.astype(np.float64))[::-1]
    _finite("lambdas", values)
    if values[-1] < 0:
        raise ValueError(f"lambdas must be >= 0; got {values[-1]:g}")
    same = np.flatnonzero(np.diff(values) == 0)
    if same.size:
        raise ValueError(f"lambdas must be distinct; got {values[same[0]]:g} twice")
    return np.ascontiguousarray(values)


def _optional(value, check):
    return None if value is None else check(value)


def _number(name, value, above=None, atleast=None, upto=None, below=None,
            where="", finite=True):
    """A real number within limits."""
    rules = {
        f"greater than {above}": above is None or (_is_real(value) and value > above),
        f"at least {atleast}": atleast is None or (_is_real(value) and value >= atleast),
        f"at most {upto}": upto is None or (_is_real(value) and value <= upto),
        f"less than {below}": below is None or (_is_real(value) and value < below),
        "finite": not finite or (_is_real(value) and np.isfinite(value)),
    }
    if not _is_real(value):
        raise ValueError(f"{name} must be a number{where}; got {name}={value!r}")
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(f"{name} must be {rule}{where}; got {name}={value!r}")
    return float(value)


def _is_real(value):
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _count(name, value, least):
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {name}={value!r}")
    return int(value)


def _flag(name, value: Any):
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {name}={value!r}")
    return bool(value)


def _one_of(name, value, choices):
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {name}={value!r}")
    return value
