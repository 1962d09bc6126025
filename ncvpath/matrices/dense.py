"""A dense matrix: column after column in memory, or mapped from a file.

Entries are centred before they are multiplied, which keeps all digits when a column's
mean is far from zero. Centres are float64, so short entries (float32, int8 and so on)
become float64 on their way into a product, one at a time: the kernels are compiled
once more for each type of storage that is met.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import kernels
from ..kernels.records import Scaling
from ..runtime.threads import ThreadPool
from .portions import sweep_in_portions

# Numbers in a piece of X that one thread works on at a time: small enough to stay
# in cache while it is centred, large enough to make the call worth while.
PIECE = 1 << 18
# Numbers below which one thread is done before another has woken up.
ALONE = 1 << 20
# A spread this small compared to the mean is measured, not derived: the mean of all
# rows is rounded, and what is derived from it up to a hundred times as much.
LOST = 1e-3
# Numbers that are copied together for a prediction.
COPIED = 1 << 22
# Columns up to which all products among them cost no more than the passes over X that
# they save, where rows are this many times as many.
NARROW, TALL = 600, 8
# Columns, or numbers in them, up to which their products with others are computed on
# these others as they lie, without a copy of them: those that stay in cache.
FEW_COLUMNS, IN_CACHE = 16, 1 << 16
# Rows of a product that one thread computes at a time, at least: with fewer, BLAS
# spends its time on preparing the other factor.
ROWS = 96


@dataclass(frozen=True)
class DenseMatrix:
    """A Fortran-ordered array of numbers the kernels can read."""

    X: np.ndarray  # n x p, as the user gave it
    flat: np.ndarray  # the same, column after column, a view
    threads: ThreadPool

    @property
    def nbytes(self):
        """Memory that X takes."""
        return self.X.nbytes

    @property
    def size(self):
        """Numbers that a pass over X reads."""
        return self.X.size

    def work(self, features):
        """Numbers that these columns hold."""
        return features.size * self.X.shape[0]

    def cancellation(self, center, scale):
        """Entries are centred before they are summed: nothing else is rounded."""
        return 1.0

    @property
    def is_tall(self):
        """Whether all products of columns are worth computing at once."""
        n, p = self.X.shape
        return p <= NARROW and n >= TALL * p and self.X.size >= 2 * ALONE

    def measure(self, weights, intercept):
        """Mean and root mean square about it, 0 if constant, by column."""
        n, p = self.X.shape
        center, scale = np.empty((2, p))

        def one_piece(piece):
            kernels.measure_columns(
                self.flat, piece.start, weights, intercept, center[piece],
                scale[piece],
            )

        self.threads.run(one_piece, pieces(n, p))
        return center, scale

    def measure_without(self, rows, total, weights, intercept):
        """The same for part of the rows, from that of all: without some of them.

        `weights` are those of the part, zero for `rows`; `total` has those of all.
        """
        p, left = self.X.shape[1], total.weights[weights > 0].sum()
        center, scale = total.center.copy(), total.scale.copy()

        def one_piece(piece):
            kernels.leave_out(
                self.flat, piece.start, total.weights, rows, left, intercept,
                center[piece], scale[piece],
            )

        self.threads.run(one_piece, pieces(rows.size, p))
        lost = np.flatnonzero(np.isnan(scale) | (scale <= LOST * np.abs(center)))
        if 4 * lost.size > p:
            return self.measure(weights, intercept)
        for j in lost:
            kernels.measure_columns(
                self.flat, j, weights, intercept, center[j : j + 1], scale[j : j + 1],
            )
        return center, scale

    def correlate(self, vectors, features, center, scale):
        """<vector, x_j> of standardized columns, |vectors| x |features|."""
        out = np.empty((len(vectors), features.size))
        scaling = Scaling(center, scale)

        def one_piece(piece):
            kernels.dense_dots(
                self.flat, scaling, features, piece.start, piece.stop, vectors, out
            )

        # Bits depend on nobody's piece: who is alone needs no pieces.
        cut = (slice(0, features.size),)
        if self.threads.n_threads > 1:
            cut = pieces(self.X.shape[0], features.size, 4)
        self.threads.run(one_piece, cut)
        return out

    def gram(self, rows, columns, weights, center, scale):
        """Weighted products of standardized columns, |rows| x |columns|."""
        n = self.X.shape[0]
        if columns.size <= max(FEW_COLUMNS, IN_CACHE // n):
            vectors = self.columns(columns, center, scale).T * weights
            return self.correlate(vectors, rows, center, scale).T
        scaling = Scaling(center, scale)
        copy, out = kernels.copy_columns, np.zeros((rows.size, columns.size))
        height = max(PIECE // max(columns.size, ROWS), 256)
        for top in range(0, n, height):
            height = min(height, n - top)
            with self.threads.scratch("right", columns.size, height) as right:
                copy(self.flat, scaling, columns, top, right)
                right *= weights[top : top + height]

                def one_piece(piece, top=top, height=height, right=right):
                    some = rows[piece]
                    with self.threads.scratch("left", some.size, height) as left:
                        copy(self.flat, scaling, some, top, left)
                        out[piece] += left @ right.T

                # A row of the product costs a column's copy and some of its products.
                depth = height * (1 + columns.size // 8)
                self.threads.run(one_piece, pieces(depth, rows.size, ROWS))
        return out

    def moments(self, weights, features, center, scale):
        """Sum_i weights_i x_ij and sum_i weights_i x_ij^2 of standardized columns."""
        out, scaling = np.empty((2, features.size)), Scaling(center, scale)

        def one_piece(piece):
            kernels.dense_moments(
                self.flat, scaling, features, piece.start, piece.stop, weights, out
            )

        self.threads.run(one_piece, pieces(self.X.shape[0], features.size))
        return out

    def gram_of_rows(self, rows, weights, center, scale):
        """Weighted products of all standardized columns over some rows."""
        p = center.size
        out, height = np.zeros((p, p)), max(PIECE // p, 256)
        for top in range(0, rows.size, height):
            some = rows[top : top + height]
            block = self.X[some].astype(float)
            block -= center
            block *= np.sqrt(weights[some])[:, None]
            block /= scale
            out += block.T @ block
        return out

    def combine(self, features, beta, center, scale):
        """The standardized columns times each row of beta."""
        out = np.zeros((len(beta), self.X.shape[0]))
        scaling = Scaling(center, scale)

        def one_piece(piece):
            kernels.add_dense(
                self.flat, scaling, features, beta, piece.start, out[:, piece]
            )

        self.threads.run(one_piece, pieces(beta.size, out.shape[1]))
        return out

    def columns(self, features, center, scale):
        """The standardized columns, n x |features|."""
        out = np.empty((features.size, self.X.shape[0]))
        scaling = Scaling(center, scale)
        kernels.copy_columns(self.flat, scaling, features, 0, out)
        return out.T

    def predict(self, rows, features, beta):
        """X[rows, features] @ beta, for X as the user gave it."""
        out = np.zeros((rows.size, *beta.shape[1:]))
        width = max(COPIED // max(rows.size, 1), 1)
        for left in range(0, features.size, width):
            some = slice(left, left + width)
            out += self.X[np.ix_(rows, features[some])] @ beta[some]
        return out

    def descend(self, features, center, scale, *rest):
        """Coordinate descent with residual updates."""
        scaling = Scaling(center, scale)
        sweep = partial(kernels.descend_dense, self.flat, scaling)
        work = self.X.shape[0] * features.size
        return sweep_in_portions(sweep, work, features, *rest)


def pieces(depth, length, least=1):
    """Fixed slices of range(length), about PIECE numbers each at that depth."""
    if depth * length <= ALONE:
        return (slice(0, length),)
    width = max(PIECE // max(depth, 1), least)
    return [slice(left, min(left + width, length)) for left in range(0, length, width)]


def dense_matrix(X, threads):
    """A Fortran-ordered array as the design sees it."""
    view = X.view()
    view.flags.writeable = False
    return DenseMatrix(view, view.reshape(-1, order="F"), threads)
