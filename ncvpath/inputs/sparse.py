"""The door for sparse matrices: clean columns, or a ValueError that names argument,
rule and value before anything is read past its end.

scipy's matrices and arrays of any format are recognised by what they have, and so are
pandas frames with sparse columns only. What is CSC with sorted indices and float64
already is used as it is; all else is converted once.
"""

import numpy as np

from ..matrices.sparse import SparseColumns
from .frames import refuse_columns, refuse_empty, refuse_other_types

SCAN = 1 << 20  # entries looked at together
COMPRESSED = ("csc", "csr", "bsr")


def is_sparse(X):
    """A scipy.sparse matrix or array, recognised without importing scipy."""
    return hasattr(X, "tocsc") and hasattr(X, "format")


def is_sparse_frame(frame):
    """Whether a pandas frame has sparse columns only."""
    kinds = [hasattr(d, "subtype") and hasattr(d, "fill_value") for d in frame.dtypes]
    return bool(kinds) and all(kinds)


def sparse_columns(name, X):
    """Clean columns of a scipy.sparse matrix or array, which is not modified."""
    refuse_empty(name, X)
    refuse_other_types(name, X)
    if X.format in COMPRESSED:
        check_compressed(name, X)
    else:
        X = X.tocoo()
        check_coordinates(name, X)
    if X.format != "csc":
        X = X.astype(np.float64, copy=False).tocsc()
    return clean(name, X.data, X.indices, X.indptr, X.shape)


def frame_columns(name, frame):
    """Clean columns of a frame with sparse columns only, none of which is filled in."""
    values, rows = [], []
    for _, series in frame.items():
        array = series.array
        if array.fill_value == 0:
            values.append(array.sp_values)
            rows.append(array.sp_index.to_int_index().indices)
        else:  # what pandas leaves out is not zero: this column alone in full
            column = np.asarray(array, dtype=np.float64)
            rows.append(np.flatnonzero(column))
            values.append(column[rows[-1]])
    indptr = np.cumsum([0] + [part.size for part in values], dtype=np.int64)
    data = np.concatenate([part.astype(np.float64) for part in values])
    names = [str(column) for column in frame.columns]
    return clean(name, data, np.concatenate(rows), indptr, frame.shape, names)


def check_compressed(name, X):
    """Refuse CSC, CSR and BSR arrays that point where nothing is."""
    high, wide = X.shape
    if X.format == "bsr":
        high, wide = high // X.blocksize[0], wide // X.blocksize[1]
    major, minor = (wide, high) if X.format == "csc" else (high, wide)
    indptr, stored = X.indptr, min(X.indices.size, X.data.shape[0])
    if indptr.shape != (major + 1,) or X.indices.ndim != 1:
        raise ValueError(
            f"{name} must have an indptr of length {major + 1} and indices in one "
            f"dimension; got shapes {indptr.shape} and {X.indices.shape}"
        )
    check_integers(name, "indptr", indptr)
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if indptr[0] != 0 or falls.size:
        got = f"indptr[0]={indptr[0]}"
        if indptr[0] == 0:
            k = falls[0]
            got = f"{indptr[k]}, {indptr[k + 1]} at position {k}"
        raise ValueError(
            f"{name} must have an indptr that begins with 0 and never falls; got {got}"
        )
    if indptr[-1] > stored:
        raise ValueError(
            f"{name} must store all that its indptr announces, {indptr[-1]} entries; "
            f"got {stored}"
        )
    check_range(name, X.indices[: indptr[-1]], minor)


def check_coordinates(name, X):
    """Refuse coordinates outside of the matrix."""
    for indices, limit in ((X.row, X.shape[0]), (X.col, X.shape[1])):
        if indices.shape != X.data.shape:
            raise ValueError(
                f"{name} must have a row and a column for each of its "
                f"{X.data.size} entries; got {indices.size}"
            )
        check_range(name, indices, limit)


def check_range(name, indices, limit):
    """Refuse indices below 0 or from `limit` on."""
    check_integers(name, "indices", indices)
    for extreme in (indices.min(initial=0), indices.max(initial=0)):
        if not 0 <= extreme < limit:
            raise ValueError(
                f"{name} must have indices from 0 to {limit - 1}; got {extreme}"
            )


def check_integers(name, what, indices):
    """Refuse indices that are not integers."""
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{name} must have integer {what}; got {indices.dtype}")


def clean(name, data, indices, indptr, shape, names=None):
    """Columns with entries sorted, summed and finite."""
    columns = stored(data, indices, indptr, shape)
    if not is_sorted(columns):
        matrix = columns.to_scipy(copy=True)
        matrix.sum_duplicates()
        columns = stored(matrix.data, matrix.indices, matrix.indptr, shape)
    bad = [
        left + np.flatnonzero(~np.isfinite(columns.data[left : left + SCAN]))
        for left in range(0, columns.data.size, SCAN)
    ]
    places = np.concatenate([np.empty(0, int), *bad])
    if places.size:
        owner = np.searchsorted(columns.indptr, places, side="right") - 1
        first, count = np.unique(owner, return_index=True, return_counts=True)[1:]
        wrong = {
            int(owner[k]): (size, columns.data[places[k]])
            for k, size in zip(first, count)
        }
        refuse_columns(name, wrong, shape[0], names)
    return columns


def is_sorted(columns):
    """Whether rows rise within each column, none of them twice."""
    return bool(columns.to_scipy().has_canonical_format)


def stored(data, indices, indptr, shape):
    """Columns in the types that kernels read, not copied where they have them."""
    n, p = map(int, shape)
    whole = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    size = int(indptr[-1])
    return SparseColumns(
        np.ascontiguousarray(data[:size], dtype=np.float64),
        np.ascontiguousarray(indices[:size], dtype=whole),
        np.ascontiguousarray(indptr, dtype=np.int64),
        (n, p),
    )


def completed(columns, counts):
    """Columns with an entry in every row that counts, zeros stored in the other rows.

    Such a column can be centred entry by entry. With implicit zeros it would be centred
    in its sums, where a mean far above its spread would leave nothing but rounding.
    """
    indices, indptr, whole = columns.indices, columns.indptr, np.count_nonzero(counts)
    size, added = np.diff(indptr), np.zeros_like(indptr)
    places, rows = [], []
    for j in np.flatnonzero((size >= whole) & (size < counts.size)):
        own = indices[indptr[j] : indptr[j + 1]]
        if np.count_nonzero(counts[own]) == whole:
            absent = np.setdiff1d(np.arange(counts.size), own)
            places.append(indptr[j] + np.searchsorted(own, absent))
            rows.append(absent)
            added[j + 1] = absent.size
    if not rows:
        return columns
    places = np.concatenate(places)
    return SparseColumns(
        np.insert(columns.data, places, 0.0),
        np.insert(indices, places, np.concatenate(rows)),
        indptr + np.cumsum(added),
        columns.shape,
    )
