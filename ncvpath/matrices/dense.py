"""A dense matrix: column after column in memory, or mapped from a file.

Entries are centred before they are multiplied, which keeps all digits when a column's
mean is far from zero. Centres are float64, so short entries (float32, int8 and so on)
become float64 on their way into a product, one at a time: the kernels are compiled
once more for each type of storage that is met.
"""

from dataclasses import dataclass
from functools import partial
from types import ModuleType

import numpy as np

from ..runtime.threads import Crew
from .compiled import compiled_code
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
# Rows of a product that one thread computes at a time, at least: with fewer, BLAS
# spends its time on preparing the other factor.
ROWS = 96


@dataclass(frozen=True)
class DenseMatrix:
    """A Fortran-ordered array of numbers the kernels can read."""

    X: np.ndarray  # n x p, as the user gave it
    flat: np.ndarray  # the same, column after column, a view
    crew: Crew
    kernels: ModuleType  # the compiled code

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

    def blur(self, center, scale):
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
            self.kernels.measure_columns(
                self.flat, piece.start, weights, intercept, center[piece],
                scale[piece],
            )

        self.crew.run(one_piece, pieces(n, p))
        return center, scale

    def measure_without(self, rows, total, weights, intercept):
        """The same for part of the rows, from that of all: without some of them.

        `weights` are those of the part, zero for `rows`; `total` has those of all.
        """
        p, left = self.X.shape[1], total.weights[weights > 0].sum()
        center, scale = total.center.copy(), total.scale.copy()

        def one_piece(piece):
            self.kernels.leave_out(
                self.flat, piece.start, total.weights, rows, left, intercept,
                center[piece], scale[piece],
            )

        self.crew.run(one_piece, pieces(rows.size, p))
        lost = np.flatnonzero(np.isnan(scale) | (scale <= LOST * np.abs(center)))
        if 4 * lost.size > p:
            return self.measure(weights, intercept)
        for j in lost:
            self.kernels.measure_columns(
                self.flat, j, weights, intercept, center[j : j + 1], scale[j : j + 1],
            )
        return center, scale

    def correlate(self, vectors, centers, features):
        """Inner products of vectors and centred columns, |vectors| x |features|."""
        out = np.empty((len(vectors), features.size))
        dots = self.kernels.column_dots
        if len(vectors) > 1 and len(centers) == 1:
            dots, centers = self.kernels.many_dots, centers[0]

        def one_piece(piece):
            dots(self.flat, features, piece.start, piece.stop, centers, vectors, out)

        # Columns do not depend on each other: who is alone needs no pieces.
        cut = (slice(0, features.size),)
        if self.crew.n_threads > 1:
            cut = pieces(self.X.shape[0], features.size)
        self.crew.run(one_piece, cut)
        return out

    def gram(self, rows, columns, weights, center, scale):
        """Weighted products of standardized columns, |rows| x |columns|."""
        n = self.X.shape[0]
        copy, out = self.kernels.copy_columns, np.zeros((rows.size, columns.size))
        height = max(PIECE // max(columns.size, ROWS), 256)
        for top in range(0, n, height):
            height = min(height, n - top)
            with self.crew.room("right", columns.size, height) as right:
                copy(self.flat, columns, center, scale, top, right)
                right *= weights[top : top + height]

                def one_piece(piece, top=top, height=height, right=right):
                    some = rows[piece]
                    with self.crew.room("left", some.size, height) as left:
                        copy(self.flat, some, center, scale, top, left)
                        out[piece] += left @ right.T

                # A row of the product costs a column's copy and some of its products.
                depth = height * (1 + columns.size // 8)
                self.crew.run(one_piece, pieces(depth, rows.size, ROWS))
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

    def subtract(self, features, center, steps, out):
        """Take (X_A - center_A) steps from out."""

        def one_piece(piece):
            self.kernels.subtract_columns(
                self.flat, features, center, steps, piece.start, out[piece]
            )

        self.crew.run(one_piece, pieces(features.size, out.size))

    def columns(self, features, center, scale):
        """The standardized columns, n x |features|."""
        out = np.empty((features.size, self.X.shape[0]))
        self.kernels.copy_columns(self.flat, features, center, scale, 0, out)
        return out.T

    def predict(self, rows, features, beta):
        """X[rows, features] @ beta, for X as the user gave it."""
        out = np.zeros((rows.size, *beta.shape[1:]))
        width = max(COPIED // max(rows.size, 1), 1)
        for left in range(0, features.size, width):
            some = slice(left, left + width)
            out += self.X[np.ix_(rows, features[some])] @ beta[some]
        return out

    def descend(self, weights, center, scale, features, *rest):
        """Coordinate descent with residual updates."""
        *rest, max_epochs, cyclic = rest
        sweep = partial(
            self.kernels.descend_residual, self.flat, weights, center, scale, features,
            *rest, cyclic,
        )
        work = self.X.shape[0] * features.size
        return sweep_in_portions(sweep, work, max_epochs, cyclic)


@dataclass(frozen=True)
class SomeColumns:
    """Some columns of a dense matrix, under numbers of their own, where they stand.

    Centre and scale are of all columns. Those that come with a request, in the order of
    the chosen ones, hold nothing new. It has what a walk asks of a matrix, no more.
    """

    matrix: DenseMatrix
    chosen: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    @property
    def crew(self):
        """The threads."""
        return self.matrix.crew

    def correlate(self, vectors, centers, features):
        """As the matrix does it."""
        return self.matrix.correlate(vectors, self.center[None], self.chosen[features])

    def gram(self, rows, columns, weights, center, scale):
        """As the matrix does it."""
        rows, columns = self.chosen[rows], self.chosen[columns]
        return self.matrix.gram(rows, columns, weights, self.center, self.scale)

    def subtract(self, features, center, steps, out):
        """As the matrix does it."""
        self.matrix.subtract(self.chosen[features], self.center, steps, out)

    def descend(self, weights, center, scale, features, *rest):
        """As the matrix does it."""
        features = self.chosen[features]
        return self.matrix.descend(weights, self.center, self.scale, features, *rest)


def as_stored(design):
    """A dense X column after column; the column, there, of each feature of the design;
    and centre and scale of these columns. None if X is no such thing."""
    matrix = design.matrix
    if isinstance(matrix, SomeColumns):
        return matrix.matrix.flat, matrix.chosen, matrix.center, matrix.scale
    if isinstance(matrix, DenseMatrix):
        return matrix.flat, design.everyone, design.center, design.scale
    return None


def pieces(depth, length, least=1):
    """Fixed slices of range(length), about PIECE numbers each at that depth."""
    if depth * length <= ALONE:
        return (slice(0, length),)
    width = max(PIECE // max(depth, 1), least)
    return [slice(left, min(left + width, length)) for left in range(0, length, width)]


def dense_matrix(X, crew):
    """A Fortran-ordered array as the design sees it."""
    view = X.view()
    view.flags.writeable = False
    return DenseMatrix(view, view.reshape(-1, order="F"), crew, compiled_code())
