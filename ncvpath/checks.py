"""Small checks: each returns a clean value or raises a ValueError that names
argument, rule and value."""

import sys
import warnings
from numbers import Integral, Real

import numpy as np

from .columns import (
    Columns,
    first_not_finite,
    is_sliceable,
    mapping,
    missing_bytes,
    storage_type,
)
from .distributed import DaskColumns, is_dask
from .sparse_inputs import frame_columns, is_sparse, is_sparse_frame, sparse_columns
from .threads import Crew

KINDS_OF_X = (
    "a 2-D numpy or dask array, a scipy.sparse matrix, a pandas DataFrame, a list of "
    "rows or an array on disk"
)
SCAN = 1 << 20  # numbers looked at together when searching for NaN


def number(
    name, value, *, above=None, atleast=None, upto=None, below=None, where="",
    finite=True,
):
    """A real number within limits."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be a number{where}; got {name}={value!r}")
    given = value
    try:
        value = float(given)
    except OverflowError:
        value = np.inf
    rules = (
        (f"greater than {above}", above is None or value > above),
        (f"at least {atleast}", atleast is None or value >= atleast),
        (f"at most {upto}", upto is None or value <= upto),
        (f"less than {below}", below is None or value < below),
        ("finite", not finite or np.isfinite(value)),
    )
    for rule, holds in rules:
        if not holds:
            raise ValueError(f"{name} must be {rule}{where}; got {name}={given!r}")
    return value


def count(name, value, least):
    """An integer of at least `least`."""
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        raise ValueError(
            f"{name} must be an integer of at least {least}; got {name}={value!r}"
        )
    return int(value)


def flag(name, value):
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {name}={value!r}")
    return bool(value)


def one_of(name, value, choices):
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(choices)
        raise ValueError(f"{name} must be one of {words}; got {name}={value!r}")
    return value


def optional(value, check):
    """None stays None."""
    return None if value is None else check(value)


def matrix(name, X, features=None):
    """A finite real matrix in Fortran order, not copied if it is one already.

    A sparse one comes as clean `SparseColumns`. What is on disk or on a cluster stays
    there, as `Columns` or `DaskColumns`; `features` are then those that will be read,
    if not all.
    """
    if is_sparse(X):
        return sparse_columns(name, X)
    if is_frame(X) and is_sparse_frame(X):
        refuse_other_columns(name, X)
        return frame_columns(name, X)
    if is_dask(X):
        return finite_columns(name, whole_columns(name, X, features), features)
    if is_on_disk(X):
        X = on_disk(name, X)
        if isinstance(X, Columns):
            return finite_columns(name, X, features)
        if features is not None and X.ndim == 2 and X.size:
            return finite_columns(name, Columns(X), features).X
    values = real_array(name, X, KINDS_OF_X)
    if values.ndim != 2:
        raise ValueError(f"{name} must be {KINDS_OF_X}; got {values.ndim} dimension(s)")
    if 0 in values.shape:
        raise ValueError(
            f"{name} must have a row and a column at least; got shape {values.shape}"
        )
    values = np.asarray(values, dtype=storage_type(values.dtype), order="F")
    if values.dtype.kind != "f":
        return values
    step = max(SCAN // values.shape[0], 1)
    for left in range(0, values.shape[1], step):
        block = np.isfinite(values[:, left : left + step]).all(axis=0)
        if not block.all():
            j = left + int(np.argmin(block))
            bad = values[~np.isfinite(values[:, j]), j][0]
            names = column_names(X)
            label = repr(names[j]) if names else f"number {j} (from 0)"
            raise ValueError(f"{name} must be finite; column {label} contains {bad}")
    return values


def is_on_disk(X):
    """Whether X is an array in a file, to be read as it is needed."""
    if isinstance(X, np.ndarray):
        masked = isinstance(X, np.ma.MaskedArray)
        return mapping(X) is not None and not masked
    return is_sliceable(X) and not (hasattr(X, "tocsc") or hasattr(X, "dask"))


def whole_columns(name, X, features):
    """A dask array, in chunks of whole columns."""
    real_type(name, X)
    if len(X.shape) != 2:
        raise ValueError(f"{name} must be {KINDS_OF_X}; got {X.ndim} dimension(s)")
    if np.isnan(X.shape).any():
        raise ValueError(
            f"{name} must have chunks of known size; got shape {X.shape} (call its "
            "compute_chunk_sizes() first)"
        )
    if 0 in X.shape:
        raise ValueError(
            f"{name} must have a row and a column at least; got shape {X.shape}"
        )
    if len(X.chunks[0]) > 1:
        if features is None:
            warnings.warn(
                f"{name} has {len(X.chunks[0])} chunks of rows; it is rechunked to "
                "whole columns, which moves all of it",
                UserWarning,
                stacklevel=5,
            )
        X = X.rechunk({0: -1, 1: "auto"})
    return DaskColumns(X)


def real_type(name, X):
    """An error where the entries are no real numbers."""
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be real numbers; got dtype {X.dtype} from {type(X).__name__}"
        )


def on_disk(name, X):
    """An array in a file: mapped as it is, if it can be, or column by column."""
    real_type(name, X)
    if len(X.shape) != 2 or 0 in X.shape:
        return np.asarray(X)  # refused as any other array
    if isinstance(X, np.ndarray):
        X, lost = np.asarray(X), missing_bytes(X)
        if lost:
            raise ValueError(
                f"{name} must be all in its file; {lost} bytes of it are beyond the "
                "end: the file was truncated after it was opened"
            )
        if X.flags.f_contiguous and X.dtype == storage_type(X.dtype):
            return X
    return Columns(X)


def finite_columns(name, columns, features):
    """Columns that are not at hand, after a look at their entries."""
    if features is not None:
        features = features[features < columns.shape[1]]
    found = first_not_finite(columns, Crew(1), features)
    if found:
        raise ValueError(
            f"{name} must be finite; column number {found[0]} (from 0) contains "
            f"{found[1]}"
        )
    return columns


def real_array(name, x, kinds="a dense array of numbers"):
    """A real numeric array of whatever came, without changing it."""
    if hasattr(x, "tocsc") or hasattr(x, "dask"):
        raise ValueError(f"{name} must be {kinds}; got {type(x).__name__}")
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError(
            f"{name} must not be a masked array; fill or drop the masked entries first"
        )
    if is_frame(x):
        x = numeric_frame(name, x)
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


def refuse_other_columns(name, frame):
    """Columns that are not numbers are refused by name."""
    for column, dtype in frame.dtypes.items():
        if getattr(dtype, "kind", "O") not in "biuf":
            raise ValueError(
                f"{name} must be numeric; column {str(column)!r} has dtype {dtype} "
                "(encode it, e.g. with pandas.get_dummies, or drop it)"
            )


def numeric_frame(name, frame):
    """The frame's values."""
    refuse_other_columns(name, frame)
    if all(isinstance(dtype, np.dtype) for dtype in frame.dtypes):
        return frame.to_numpy(dtype=np.float64)  # no copy of a plain float64 frame
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def vector(name, x):
    """A real vector of our own, from an array, Series, list or one-column table."""
    if is_series(x) and getattr(x.dtype, "kind", "O") in "biuf":
        x = x.to_numpy(dtype=np.float64, na_value=np.nan)
    values = real_array(name, x)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {values.shape}")
    return np.array(values, dtype=np.float64)


def finite(name, values):
    """An error that names the first value that is not finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"{name} must be finite; got {values[bad[0]]} at position {bad[0]}"
        )


def column_names(X):
    """The column names a table brings along, or None."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(c) for c in columns]


def is_frame(X):
    """A pandas DataFrame, recognised without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_series(x):
    """A pandas Series, recognised without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(x, pandas.Series)
