"""A sparse matrix: column after column, only what is not zero.

Nothing is ever filled in. A column with implicit zeros is centred by what its mean adds
to each sum, so that an operation costs what the columns hold.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from .. import kernels
from ..kernels.records import CscColumns
from ..runtime.threads import ThreadPool
from .portions import sweep_in_portions

# Entries in a piece of X that one thread works on at a time.
PIECE = 1 << 17
# Entries below which one thread is done before another has woken up.
ALONE = 1 << 18
# Products of entries are formed as they are.
LARGEST = 1e140
# Parts of the rows of X in which products of columns are computed, at most, each with
# a result of its own, and numbers in those results together.
PARTS = 4
RESULTS = 1 << 25


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """A sparse matrix, column after column, rows sorted within each.

    Column j has data[i] in row indices[i], for i from indptr[j] up to indptr[j + 1].
    """

    data: np.ndarray  # float64
    indices: np.ndarray  # int32 where n allows, else int64
    indptr: np.ndarray  # p + 1, int64
    shape: tuple[int, int]

    @property
    def arrays(self):
        """The three arrays."""
        return self.data, self.indices, self.indptr

    def to_scipy(self, copy=False):
        """The same for scipy, without a copy of the entries unless asked for."""
        from scipy.sparse import csc_array

        return csc_array(self.arrays, shape=self.shape, copy=copy)


@dataclass(frozen=True)
class SparseMatrix:
    """Sorted float64 columns, as the door has let them in."""

    X: SparseColumns
    entries: tuple  # data, indices, indptr: what every kernel begins with
    threads: ThreadPool

    is_tall = False  # products of columns are computed when needed

    @property
    def nbytes(self):
        """Memory that X takes."""
        return sum(array.nbytes for array in self.entries)

    @property
    def size(self):
        """Numbers that a pass over X reads."""
        return self.X.data.size + self.X.shape[1]

    def work(self, features):
        """Numbers that these columns hold, each with its end."""
        return int(self._counts(features).sum()) + features.size

    def measure(self, weights, intercept):
        """Mean and root mean square about it, 0 if constant, by column."""
        center, scale, peak = np.empty((3, self.X.shape[1]))
        counted = np.count_nonzero(weights)

        def one_piece(piece):
            kernels.measure_sparse(
                self.entries, piece.start, weights, counted, intercept,
                center[piece], scale[piece], peak[piece],
            )

        self.threads.run(one_piece, balanced(np.diff(self.X.indptr)))
        varies = scale > 0
        fits = (scale > 1 / LARGEST) & (peak < LARGEST) | ~varies
        if not fits.all():
            j = int(np.argmin(fits))
            raise ValueError(
                "a sparse X must not have columns so large or small that their squares "
                f"overflow or vanish; got column number {j} (from 0) of size "
                f"{peak[j]:g}: rescale it"
            )
        return center, scale

    def measure_without(self, rows, total, weights, intercept):
        """The same for part of the rows; measuring is cheap here."""
        return self.measure(weights, intercept)

    def cancellation(self, center, scale):
        """How many times larger than |x_j| a column is before it is centred, at most.

        Rounding in sums is relative to what is summed.
        """
        varies = scale > 0
        left = self._left(np.flatnonzero(varies), center)
        return 1.0 + np.max(np.abs(left) / scale[varies], initial=0.0)

    def correlate(self, vectors, features, center, scale):
        """<vector, x_j> of standardized columns, |vectors| x |features|."""
        out = np.empty((len(vectors), features.size))
        columns = CscColumns(*self.entries, center, scale)
        by_row, sums = np.ascontiguousarray(vectors.T), vectors.sum(axis=1)

        def one_piece(piece):
            kernels.sparse_dots(
                columns, features, piece.start, piece.stop, by_row, sums, out
            )

        self.threads.run(one_piece, balanced(self._counts(features)))
        return out

    def gram(self, rows, columns, weights, center, scale):
        """Weighted products of standardized columns, |rows| x |columns|."""
        parts = equal_slices(weights.size, min(self.work(rows) // PIECE, PARTS))
        width = max(RESULTS // (len(parts) * max(rows.size, 1)), 1)
        out = np.empty((rows.size, columns.size))
        stored = CscColumns(*self.entries, center, scale)
        for left in range(0, columns.size, width):
            chunk = slice(left, left + width)
            out[:, chunk] = self._products(rows, columns[chunk], weights, stored, parts)
        # What is centred in the sums: <x_a - c_a, x_b - c_b> = <x_a, x_b> - c_a c_b.
        out -= np.outer(self._left(rows, center), self._left(columns, center))
        out /= scale[rows, None]
        out /= scale[columns]
        return out

    def moments(self, weights, features, center, scale):
        """Sum_i weights_i x_ij and sum_i weights_i x_ij^2 of standardized columns."""
        out, total = np.empty((2, features.size)), weights.sum()
        columns = CscColumns(*self.entries, center, scale)

        def one_piece(piece):
            kernels.sparse_moments(
                columns, features, piece.start, piece.stop, weights, total, out
            )

        self.threads.run(one_piece, balanced(self._counts(features)))
        return out

    def _products(self, rows, columns, weights, stored, parts):
        """Weighted products of entries: each part of the rows of X apart, then all."""
        out = np.zeros((len(parts), rows.size, columns.size))
        before = rows.size - columns.size
        same = before >= 0 and np.array_equal(rows[before:], columns)
        twin = before if same else rows.size

        def one_part(k):
            kernels.sparse_products(
                stored, rows, columns, twin, weights, parts[k].start, parts[k].stop,
                out[k],
            )

        self.threads.run(one_part, range(len(parts)))
        for part in out[1:]:
            out[0] += part
        for k in range(rows.size - twin):  # what is beyond the diagonal
            out[0, twin + k, k + 1 :] = out[0, twin + k + 1 :, k]
        return out[0]

    def combine(self, features, beta, center, scale):
        """The standardized columns times each row of beta."""
        n = self.X.shape[0]
        out = np.zeros((len(beta), n))
        columns = CscColumns(*self.entries, center, scale)

        def one_piece(piece):
            kernels.add_sparse(columns, n, features, beta, piece.start, out[:, piece])

        work = len(beta) * (self.work(features) + n)
        self.threads.run(one_piece, equal_slices(n, work // PIECE))
        return out

    def columns(self, features, center, scale):
        """The standardized columns, n x |features|."""
        out = np.empty((self.X.shape[0], features.size))
        data, indices, indptr = self.entries
        for k, j in enumerate(features):
            column = slice(indptr[j], indptr[j + 1])
            out[:, k] = -center[j] / scale[j]
            out[indices[column], k] = (data[column] - center[j]) / scale[j]
        return out

    def predict(self, rows, features, beta):
        """X[rows, features] @ beta, for X as the user gave it."""
        return self.X.to_scipy()[:, features][rows] @ beta

    def descend(self, features, center, scale, *rest):
        """Coordinate descent with residual updates."""
        columns = CscColumns(*self.entries, center, scale)
        sweep = partial(kernels.descend_sparse, columns)
        return sweep_in_portions(sweep, self.work(features), features, *rest)

    def _counts(self, features):
        """Entries of some columns."""
        return self.X.indptr[features + 1] - self.X.indptr[features]

    def _left(self, features, center):
        """What is left of the means of columns after their entries are centred.

        Only a column without implicit zeros has its entries centred.
        """
        full = self._counts(features) == self.X.shape[0]
        return np.where(full, 0.0, center[features])


def balanced(counts):
    """Fixed slices of range(counts.size), about PIECE entries each."""
    if counts.sum() + counts.size <= ALONE:
        return (slice(0, counts.size),)
    ends = np.cumsum(counts + 1)  # an empty column too takes a moment
    cuts = np.searchsorted(ends, np.arange(PIECE, ends[-1], PIECE)) + 1
    cuts = np.unique(np.concatenate([[0], cuts, [counts.size]])).tolist()
    return [slice(*pair) for pair in pairwise(cuts)]


def equal_slices(length, count):
    """That many slices of range(length), or one."""
    cuts = np.linspace(0, length, max(min(count, length), 1) + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(cuts)]


def sparse_matrix(X, threads):
    """Clean columns as the design sees them."""
    indices = X.indices
    if indices.dtype == np.int32:
        indices = indices.view(np.uint32)  # faster as subscripts
    entries = tuple(read_only(array) for array in (X.data, indices, X.indptr))
    return SparseMatrix(X, entries, threads)


def read_only(array):
    """A view for kernels, which are compiled for arrays that nobody writes to."""
    view = array.view()
    view.flags.writeable = False
    return view
