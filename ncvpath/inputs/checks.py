"""Small checks: each returns a clean value or raises a ValueError that names
argument, rule and value."""

from collections.abc import Mapping, Set
from numbers import Integral, Real

import numpy as np

from ..matrices.columns import (
    Columns,
    is_sliceable,
    mapping,
    missing_bytes,
    not_finite,
    not_finite_in,
    storage_type,
)
from ..matrices.distributed import DaskColumns, is_dask
from ..runtime.messages import brief, described, first_of_no_number, warn_user
from ..runtime.threads import ThreadPool
from .frames import (
    column_names,
    is_frame,
    is_series,
    numeric_frame,
    raw_names,
    refuse_columns,
    refuse_empty,
    refuse_other_columns,
    refuse_other_types,
)
from .sparse import frame_columns, is_sparse, is_sparse_frame, sparse_columns

KINDS_OF_X = (
    "a 2-D numpy or dask array, a scipy.sparse matrix, a pandas DataFrame, a list of "
    "rows or an array on disk"
)
SCAN = 1 << 20  # numbers looked at together when searching for NaN
LARGEST = 2**63 - 1  # whole number that compiled code can hold


def number(
    name, value, *, above=None, atleast=None, upto=None, below=None, where="",
    finite=True,
):
    """A real number within limits."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be a number{where}; got {name}={brief(value)}")
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
            raise ValueError(f"{name} must be {rule}{where}; got {name}={brief(given)}")
    return value


def count(name, value, least):
    """An integer of at least `least`."""
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or not least <= value <= LARGEST:
        limit = " and below 2**63" if whole and value > LARGEST else ""
        raise ValueError(
            f"{name} must be an integer of at least {least}{limit}; got "
            f"{name}={brief(value)}"
        )
    return int(value)


def flag(name, value):
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {name}={brief(value)}")
    return bool(value)


def one_of(name, value, choices):
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(choices)
        raise ValueError(f"{name} must be one of {words}; got {name}={brief(value)}")
    return value


def dimensions(name, x):
    """How many dimensions an array of it would have."""
    try:
        return np.ndim(x)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array; {error}") from None


def one_or_more(name, values, kinds, rule):
    """A vector of numbers of some kinds, and whether it was a single number."""
    try:
        given = np.asarray(values)
        fits = given.dtype.kind in kinds and given.ndim <= 1 and given.size > 0
    except (TypeError, ValueError):
        fits = False
    if not fits or isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} must be {rule}; got {name}={brief(values)}")
    return np.atleast_1d(given), given.ndim == 0


def entries(name, values, kinds):
    """A list of what can be walked through in an order that means something."""
    unfit = (str, bytes, Mapping, Set, np.ma.MaskedArray)
    try:
        walk = iter(values)
    except TypeError:
        walk = None
    if walk is None or isinstance(values, unfit) or is_frame(values):
        raise ValueError(f"{name} must be {kinds}; got {described(values)}")
    return list(walk)


def matrix(name, X, features=None):
    """A finite real matrix in Fortran order, not copied if it is one already.

    A sparse one comes as clean `SparseColumns`. What is on disk or on a cluster stays
    there, as `Columns` or `DaskColumns`; `features` are then those that will be read,
    if not all.
    """
    if is_frame(X):  # first, as its columns may be called by any name we look for
        if not is_sparse_frame(X):
            return dense(name, X)
        refuse_other_columns(name, X)
        return frame_columns(name, X)
    if is_sparse(X):
        return sparse_columns(name, X)
    if is_dask(X):
        return finite_columns(name, whole_columns(name, X, features), features)
    if is_on_disk(X):
        X = on_disk(name, X)
        if isinstance(X, Columns):
            return finite_columns(name, X, features)
        if features is not None and X.ndim == 2 and X.size:
            return finite_columns(name, Columns(X), features).X
    return dense(name, X)


def dense(name, X):
    """A finite real array with two dimensions in Fortran order."""
    values = real_array(name, X, KINDS_OF_X)
    if values.ndim != 2:
        raise ValueError(
            f"{name} must be {KINDS_OF_X}; got {values.ndim} dimension(s), shape "
            f"{values.shape}"
        )
    refuse_empty(name, values)
    with np.errstate(over="ignore"):  # of long doubles; found below
        values = np.asarray(values, dtype=storage_type(values.dtype), order="F")
    if values.dtype.kind != "f":
        return values
    step = max(SCAN // values.shape[0], 1)
    wrong = {}
    for left in range(0, values.shape[1], step):
        block = values[:, left : left + step]
        wrong |= not_finite_in(block, range(left, left + block.shape[1]))
    if wrong:
        refuse_columns(name, wrong, values.shape[0], column_names(X))
    return values


def is_on_disk(X):
    """Whether X is an array in a file, to be read as it is needed."""
    if isinstance(X, np.ndarray):
        masked = isinstance(X, np.ma.MaskedArray)
        return mapping(X) is not None and not masked
    return is_sliceable(X) and not (hasattr(X, "tocsc") or hasattr(X, "dask"))


def whole_columns(name, X, features):
    """A dask array, in chunks of whole columns."""
    refuse_other_types(name, X)
    if len(X.shape) != 2:
        raise ValueError(f"{name} must be {KINDS_OF_X}; got {X.ndim} dimension(s)")
    if np.isnan(X.shape).any():
        raise ValueError(
            f"{name} must have chunks of known size; got shape {X.shape} (call its "
            "compute_chunk_sizes() first)"
        )
    refuse_empty(name, X)
    if len(X.chunks[0]) > 1:
        if features is None:
            warn_user(
                f"{name} has {len(X.chunks[0])} chunks of rows; it is rechunked to "
                "whole columns, which moves all of it"
            )
        X = X.rechunk({0: -1, 1: "auto"})
    return DaskColumns(X)


def on_disk(name, X):
    """An array in a file: mapped as it is, if it can be, or column by column."""
    refuse_other_types(name, X)
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
    wrong = not_finite(columns, ThreadPool(1), features)
    if wrong:
        refuse_columns(name, wrong, columns.shape[0])
    return columns


def real_array(name, x, kinds="a dense array of numbers"):
    """A real numeric array of whatever came, without changing it."""
    if is_frame(x):
        x = numeric_frame(name, x)
    if hasattr(x, "tocsc") or hasattr(x, "dask"):
        raise ValueError(f"{name} must be {kinds}; got {type(x).__name__}")
    refuse_masks(name, x)
    if hasattr(getattr(x, "dtype", None), "categories"):
        refuse_other_types(name, x)
    if raw_names(x) is not None:
        refuse_other_columns(name, x)
    try:
        values = np.asarray(x)
    except (TypeError, ValueError, RuntimeError) as error:  # as x's library has it
        raise ValueError(f"{name} must be numeric; {error}") from None
    if values.dtype.kind in "biuf":
        return values
    if values.ndim == 0:
        raise ValueError(f"{name} must be {kinds}; got {described(x)}")
    raise ValueError(
        f"{name} must be real numbers; got dtype {values.dtype} from "
        f"{type(x).__name__}{first_of_no_number(name, values)}"
    )


def refuse_masks(name, x):
    """Refuse masked arrays, whose masks numpy forgets: there, or as rows of a list."""
    rows = x if isinstance(x, (list, tuple)) else [x]
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        raise ValueError(
            f"{name} must not be a masked array; fill or drop the masked entries first"
        )


def vector(name, x):
    """A real vector of our own, from an array, Series, list or one-column table."""
    if is_series(x) and getattr(x.dtype, "kind", "O") in "biuf":
        x = x.to_numpy(dtype=np.float64, na_value=np.nan)
    values = real_array(name, x)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {values.shape}")
    with np.errstate(over="ignore"):  # of long doubles, which are then not finite
        return np.array(values, dtype=np.float64)


def one_per_row(name, what, size, n):
    """An error where there is not one of something for each of n rows."""
    if size != n:
        raise ValueError(f"{name} must have one {what}; got {size} for {n} rows")


def finite(name, values, advice=""):
    """An error that names the first value that is not finite, and counts them."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        others = f", one of {bad.size} such values" if bad.size > 1 else ""
        raise ValueError(
            f"{name} must be finite; got {values[bad[0]]} at position {bad[0]}"
            f"{others}{advice}"
        )
