"""The design: X standardized in name only.

Centre and scale are two vectors, applied inside each operation, so X is never
copied and never changed. All inner products are <a, b> = sum_i w_i a_i b_i with weights
summing to one, and `x_j` means the standardized column (X_j - center_j) / scale_j.

    correlate(r)          <x_j, r> for every feature, or for some
    gram(A, B)            <x_a, x_b>
    residual(y, A, beta)  y - X_A beta
    columns(A)            the standardized columns themselves, for a few features
    descend(...)          coordinate descent with residual updates on the columns

How the numbers of X are stored is the matrix's business (`matrices` says which), and
it works for any centre and scale:

    measure(weights, intercept)             mean and root mean square about it, column
                                            by column, 0 if that is constant
    measure_without(rows, total, ...)       the same when some rows are left out, from
                                            that of all
    correlate(vectors, centers, features)   vectors @ (X_j - center_j), each vector with
                                            centres of its own, or one row for all
    gram, columns, descend                  as above, with weights, centre and scale
    subtract(A, center, steps, out)         take (X_A - center_A) steps from out
    size, work(A)                           numbers that a pass over X reads, or over A
    blur(center, scale)                     rounding in inner products, in units of what
                                            centred columns would bring
    predict(rows, A, beta)                  X[rows, A] @ beta
    crew, nbytes                            its threads; memory that X takes
    is_tall, gram_of_rows(...)              whether all products of columns are computed
                                            at once, and if so, those over some rows
"""

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from .compiled import compiled_code


@dataclass(frozen=True)
class Design:
    """A matrix with weights of its rows, and centre and scale of its columns."""

    matrix: object  # DenseMatrix, or one of its kind (`matrices`)
    weights: np.ndarray  # n, sum 1
    center: np.ndarray  # p
    scale: np.ndarray  # p
    norm2: np.ndarray  # p, <x_j, x_j>
    constant: np.ndarray  # p, bool: columns without variation, not to be used
    everyone: np.ndarray  # p, 0, 1, 2, ...
    blur: float  # rounding in inner products, in units of what it would be at least
    kernels: ModuleType  # the compiled code

    @property
    def n(self):
        """Observations."""
        return self.weights.size

    @property
    def p(self):
        """Features."""
        return self.center.size

    @property
    def round_trips(self):
        """How often a cluster was asked so far; None if there is none."""
        return getattr(self.matrix, "round_trips", None)

    def correlate(self, residual, features=None):
        """<x_j, residual> for every feature, or for some."""
        if features is None:
            features = self.everyone
        weighted = self.weights * residual
        out = self.matrix.correlate(weighted[None], self.center[None], features)[0]
        out /= self.scale[features]
        return out

    def correlate_many(self, residuals):
        """<x_j, residual> for every feature, by residual."""
        vectors = self.weights * residuals
        out = self.matrix.correlate(vectors, self.center[None], self.everyone)
        out /= self.scale
        return out

    def gram(self, rows, columns):
        """<x_a, x_b> for a in rows, b in columns."""
        return self.matrix.gram(rows, columns, self.weights, self.center, self.scale)

    def residual(self, response, features, beta):
        """The response minus X_A beta."""
        out = response.copy()
        with np.errstate(over="ignore"):  # of coefficients that run away
            steps = beta / self.scale[features]
        self.matrix.subtract(features, self.center, steps, out)
        out[self.weights == 0] = 0.0  # rows that do not count, whatever they hold
        return out

    def columns(self, features):
        """The standardized columns, n x |features|."""
        return self.matrix.columns(features, self.center, self.scale)

    def descend(
        self, features, penalty, l1, l2, v, beta, residual, target, max_epochs, cyclic
    ):
        """Coordinate descent with residual updates; changes beta and residual.

        If not `cyclic`, the support is swept alone until it has settled.
        """
        return self.matrix.descend(
            self.weights, self.center, self.scale, features, penalty, l1, v, l2, beta,
            residual, target, max_epochs, cyclic,
        )

    def to_user_scale(self, features, beta, response_mean):
        """Coefficients and intercept for X as the user gave it."""
        with np.errstate(over="ignore", invalid="ignore"):
            coefficients = beta / self.scale[features]
            intercept = response_mean - self.center[features] @ coefficients
        if not (np.isfinite(coefficients).all() and np.isfinite(intercept)):
            raise FloatingPointError(
                "coefficients overflowed in the units of X and y; rescale X and y"
            )
        return coefficients, intercept


def make_design(matrix, weights, intercept, standardize):
    """Measure the columns of X once and wrap it up."""
    return standardized(
        matrix, weights, standardize, *matrix.measure(weights, intercept)
    )


def standardized(matrix, weights, standardize, center, scale):
    """The design of a matrix whose columns were measured with these weights."""
    p = center.size
    constant = scale == 0
    blur = matrix.blur(center, scale)
    scale = np.where(constant, 1.0, scale)
    with np.errstate(over="ignore"):
        norm2 = np.ones(p) if standardize else scale**2
    return Design(
        matrix, weights, center, scale if standardize else np.ones(p), norm2, constant,
        np.arange(p), blur, compiled_code(),
    )
