"""The design: X standardized in name only, behind the operations the solver needs.

Centre and scale are two vectors, applied inside each operation, so X is never
copied and never changed; entries are centred before they are multiplied, which keeps
all digits when a column's mean is far from zero. All inner products are
<a, b> = sum_i w_i a_i b_i with weights summing to one, and `x_j` below means the
standardized column (X_j - center_j) / scale_j.

    correlate(r)          <x_j, r> for every feature, or for some
    gram(A, B)            <x_a, x_b>
    residual(y, A, beta)  y - X_A beta
    columns(A)            the standardized columns themselves, for a few features
    descend(...)          coordinate descent with residual updates on the columns
"""

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from .threads import Crew

# Numbers in a piece of X that one thread works on at a time: small enough to stay
# in cache while it is centred, large enough to make the call worth while.
PIECE = 1 << 18
# Numbers below which one thread is done before another has woken up.
ALONE = 1 << 20
# A column varies only if its spread is above the rounding of its own entries.
ROUNDING = 8 * np.finfo(float).eps


@dataclass(frozen=True)
class DenseDesign:
    """A dense, Fortran-ordered float64 matrix."""

    X: np.ndarray  # n x p, as the user gave it
    weights: np.ndarray  # n, sum 1
    center: np.ndarray  # p
    scale: np.ndarray  # p
    norm2: np.ndarray  # p, <x_j, x_j>
    constant: np.ndarray  # p, bool: columns without variation, not to be used
    crew: Crew
    flat: np.ndarray  # X column after column, a view
    everyone: np.ndarray  # p, 0, 1, 2, ...
    kernels: ModuleType  # the compiled code

    @property
    def n(self):
        """Observations."""
        return self.X.shape[0]

    @property
    def p(self):
        """Features."""
        return self.X.shape[1]

    def correlate(self, residual, features=None):
        """<x_j, residual> for every feature, or for some."""
        if features is None:
            features = self.everyone
        weighted = self.weights * residual
        out = np.empty(features.size)

        def one_piece(piece):
            self.kernels.column_dots(
                self.flat, features[piece], self.center, self.scale, weighted,
                out[piece],
            )

        self.crew.run(one_piece, pieces(self.n, features.size))
        return out

    def gram(self, rows, columns):
        """<x_a, x_b> for a in rows, b in columns, from explicitly centred columns."""
        out = np.zeros((rows.size, columns.size))
        height = max(PIECE // max(columns.size, 1), 256)
        for top in range(0, self.n, height):
            right = self._block(columns, top, height)
            right *= self.weights[top : top + height]

            def one_piece(piece, top=top, right=right):
                out[piece] += self._block(rows[piece], top, height) @ right.T

            # A row of the product costs a column's copy and some of its products.
            depth = min(height, self.n) * (1 + columns.size // 8)
            self.crew.run(one_piece, pieces(depth, rows.size))
        return out

    def residual(self, response, features, beta):
        """The response minus X_A beta."""
        out = response.copy()

        def one_piece(piece):
            self.kernels.subtract_columns(
                self.flat, features, self.center, self.scale, beta, piece.start,
                out[piece],
            )

        self.crew.run(one_piece, pieces(features.size, self.n))
        out[self.weights == 0] = 0.0  # rows that do not count, whatever they hold
        return out

    def columns(self, features):
        """The standardized columns, n x |features|."""
        return self._block(features, 0, self.n).T

    def descend(
        self, features, penalty, l1, l2, v, beta, residual, target, max_epochs
    ):
        """Coordinate descent with residual updates; changes beta and residual."""
        return self.kernels.descend_residual(
            self.flat, self.weights, self.center, self.scale,
            features, penalty, l1, v, l2, beta, residual, target, max_epochs,
        )

    def to_user_scale(self, features, beta, response_mean):
        """Coefficients and intercept for X as the user gave it."""
        coefficients = beta / self.scale[features]
        return coefficients, response_mean - self.center[features] @ coefficients

    def _block(self, features, top, height):
        """Standardized columns as rows, `height` observations from `top` on."""
        out = np.empty((features.size, min(height, self.n - top)))
        self.kernels.copy_columns(
            self.flat, features, self.center, self.scale, top, out
        )
        return out


def pieces(depth, length):
    """Fixed slices of range(length), about PIECE numbers each at that depth."""
    if depth * length <= ALONE:
        return (slice(0, length),)
    width = max(PIECE // max(depth, 1), 1)
    return [slice(left, min(left + width, length)) for left in range(0, length, width)]


def dense_design(X, weights, intercept, standardize, crew):
    """Measure the columns of X once and wrap it up."""
    from . import kernels  # numba loads here: at the first fit, not at import

    n, p = X.shape
    view = X.view()
    view.flags.writeable = False
    flat = view.reshape(-1, order="F")
    center, scale, peak = np.empty((3, p))

    def one_piece(piece):
        kernels.measure_columns(
            flat, piece.start, weights, intercept, center[piece], scale[piece],
            peak[piece],
        )

    crew.run(one_piece, pieces(n, p))
    constant = peak <= ROUNDING * np.abs(center)
    constant |= scale == 0
    scale[constant] = 1.0
    with np.errstate(over="ignore"):
        norm2 = np.ones(p) if standardize else scale**2
    return DenseDesign(
        view, weights, center, scale if standardize else np.ones(p), norm2, constant,
        crew, flat, np.arange(p), kernels,
    )
