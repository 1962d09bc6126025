"""X that stays where it is and is read a few columns at a time.

A file mapped into memory, or any object with `shape`, `dtype` and column slices
`X[:, a:b]`, as h5py datasets and zarr arrays are. Columns are read in ascending order,
neighbours together, and never more of them than fit a block.
"""

import mmap
import threading
from numbers import Integral

import numpy as np

from ..runtime.memory import advised
from .dense import dense_matrix

# Numbers of these types are left as they are: their products are taken in float64 all
# the same.
SHORT = (np.float32, np.int8, np.uint8, np.int16)
# Bytes of a block of columns: of row after row on disk, the longer the stretches that
# are read of each, the better.
BLOCK = 1 << 26
# Bytes that are sooner read through than jumped over, of columns that follow each other
# and within a row.
NEAR = 1 << 18
NEAR_IN_ROW = 1 << 12
# Readers need not be safe to use from several threads.
reading = threading.Lock()
# What helps where there is no memory for some columns of X.
NARROWER = (
    "store X as float32 or in chunks of fewer columns; fewer n_threads, or dfmax, "
    "leave more room"
)
# Rows and columns of a piece that stays in cache while it is turned around.
TURNED = 256


def storage_type(dtype):
    """The type in which numbers of this type are kept: float64, if not a short one."""
    if dtype == np.bool_:
        return np.dtype(np.int8)
    return dtype if dtype in SHORT else np.dtype(np.float64)


def is_sliceable(X):
    """Whether X is to be read by slices: an array that is not in memory."""
    shape = getattr(X, "shape", None)
    return (
        isinstance(getattr(X, "dtype", None), np.dtype)
        and isinstance(shape, tuple)
        and len(shape) == 2
        and hasattr(X, "__getitem__")
    )


def mapping(X):
    """The mapping of a file in which an array lives, or None."""
    while isinstance(X, np.ndarray):
        X = X.base
    if isinstance(X, memoryview):
        X = X.obj
    return X if isinstance(X, mmap.mmap) else None


def missing_bytes(X):
    """How many bytes of a mapped array lie beyond the end of its file.

    The file may have been cut since it was mapped; to read there would end the process.
    """
    mapped, offset, parent = mapping(X), 0, X
    while isinstance(parent, np.ndarray):
        offset = getattr(parent, "offset", offset)
        parent = parent.base
    try:
        size = mapped.size()
    except OSError:  # there is no file behind it
        return 0
    begin = np.frombuffer(mapped, np.uint8).ctypes.data
    begin -= offset - offset % mmap.ALLOCATIONGRANULARITY  # where the file would begin
    end = X.ctypes.data + X.itemsize
    end += sum((size - 1) * max(step, 0) for size, step in zip(X.shape, X.strides))
    return max(end - begin - size, 0)


class Columns:
    """A matrix on disk, as its readers see it."""

    distant = False

    def __init__(self, X):
        self.X = X
        self.shape = tuple(int(size) for size in X.shape)
        self.size = self.shape[0] * self.shape[1]
        self.dtype = storage_type(X.dtype)
        column = self.shape[0] * max(X.dtype.itemsize, self.dtype.itemsize)
        self.width = max(BLOCK // column, 1)  # columns of a block
        # Columns that are read through.
        self.gap = max(NEAR // column, NEAR_IN_ROW // X.dtype.itemsize)
        chunks = getattr(X, "chunks", None)
        last = chunks[-1] if isinstance(chunks, tuple) and chunks else None
        if isinstance(last, Integral) and last > 0:
            # Chunks are read as a whole.
            self.gap = max(NEAR // column, chunks[-1])
            if chunks[-1] <= self.width:
                self.width -= self.width % chunks[-1]

    def each(self, task, features, by_feature, threads, *shared):
        """Yield positions and task(matrix, their share, *shared), block by block.

        The last axis of `by_feature`, if any, follows `features`.
        """
        for some, block in batches(self, features, threads):
            share = None if by_feature is None else np.take(by_feature, some, axis=-1)
            yield some, task(dense_matrix(block, threads), share, *shared)

    def blocks(self, threads):
        """All columns, a block at a time."""
        return (block for _, block in batches(self, np.arange(self.shape[1]), threads))

    def fetch(self, features, threads):
        """The columns of ascending features, at most `width` of them."""
        first, last = features[0], features[-1]
        if last - first + 1 == features.size:
            return in_columns(self._read(first, last + 1), self.dtype, threads)
        if isinstance(self.X, np.ndarray):  # a jump costs nothing
            return in_columns(self.X[:, features], self.dtype, threads)
        out = np.empty((self.shape[0], features.size), dtype=self.dtype, order="F")
        # Blocks have fixed borders, so that a run of features spans one at most.
        far = (np.diff(features) > self.gap) | (np.diff(features // self.width) > 0)
        for run in np.split(np.arange(features.size), np.flatnonzero(far) + 1):
            first, last = features[run[0]], features[run[-1]]
            out[:, run] = self._read(first, last + 1)[:, features[run] - first]
        return out

    def _read(self, first, last):
        if isinstance(self.X, np.ndarray):
            block = self.X[:, first:last]
        else:
            with reading:
                block = unmasked(self.X[:, int(first) : int(last)])
        if block.shape != (self.shape[0], last - first):
            raise ValueError(
                f"X[:, {first}:{last}] must have shape "
                f"{(self.shape[0], int(last - first))}; got {block.shape}"
            )
        return block


def unmasked(block):
    """The block as an array; one with a mask has no number for each entry."""
    if isinstance(block, np.ma.MaskedArray):
        raise ValueError(
            "X must not be masked; fill or drop the masked entries first"
        )
    return np.asarray(block)


def in_columns(block, dtype, threads):
    """A Fortran-ordered array of that type."""
    if block.flags.f_contiguous:
        return block.astype(dtype, copy=False)
    out = np.empty(block.shape, dtype=dtype, order="F")

    def one_piece(left):
        columns = slice(left, left + TURNED)
        for top in range(0, len(block), TURNED):
            rows = slice(top, top + TURNED)
            out[rows, columns] = block[rows, columns]

    threads.run(one_piece, range(0, block.shape[1], TURNED))
    return out


def batches(source, features, threads, most=None):
    """Yield positions and columns of the features, in ascending order, by blocks."""
    order = np.argsort(features, kind="stable")
    width = source.width if most is None else max(min(most, source.width), 1)
    for left in range(0, features.size, width):
        some = order[left : left + width]
        with advised(f"{some.size} columns of X", NARROWER):
            columns = source.fetch(features[some], threads)
        yield some, columns


def not_finite(source, threads, features=None):
    """How many values of each column are NaN or inf, and one of them, by column."""
    if source.dtype.kind != "f":
        return {}
    if features is None:
        features = np.arange(source.shape[1])
    found = {}
    for some, wrong in source.each(count_not_finite, features, None, threads):
        found |= {int(features[some[k]]): told for k, told in wrong.items()}
    return dict(sorted(found.items()))


def count_not_finite(matrix, _):
    """The same of the columns of a matrix, by their place in it."""
    return not_finite_in(matrix.X, range(matrix.X.shape[1]))


def not_finite_in(X, labels):
    """The same of an array, by labels of its columns."""
    wrong = ~np.isfinite(X)
    return {
        labels[k]: (int(np.count_nonzero(wrong[:, k])), X[wrong[:, k], k][0])
        for k in np.flatnonzero(wrong.any(axis=0))
    }
