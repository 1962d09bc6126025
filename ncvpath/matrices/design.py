"""The design: X standardized in name only.

Centre and scale are two vectors, applied inside each operation, so X is never
copied and never changed. All inner products are <a, b> = sum_i w_i a_i b_i with weights
summing to one, and `x_j` means the standardized column (X_j - center_j) / scale_j.

    correlate(R, A)       <x_j, r> for rows r of R and every feature, or some
    gram(A, B)            <x_a, x_b>
    moments(w, A)         sum_i w_i x_ij and sum_i w_i x_ij^2, with weights of the
                          caller's own
    combine(A, B)         X_A beta for rows beta of B
    columns(A)            the standardized columns themselves, for a few features
    descend(...)          coordinate descent with residual updates on the columns

How the numbers of X are stored is the matrix's business (`matrices` says which), and
it works for any centre and scale:

    measure(weights, intercept)             mean and root mean square about it, column
                                            by column, 0 if that is constant
    measure_without(rows, total, ...)       the same when some rows are left out, from
                                            that of all
    correlate, gram, moments, combine, columns, descend   as above, with weights,
                                            centre and scale
    size, work(A)                           numbers that a pass over X reads, or over A
    cancellation(center, scale)             rounding in inner products, in units of what
                                            centred columns would bring
    predict(rows, A, beta)                  X[rows, A] @ beta
    threads, nbytes                            its threads; memory that X takes
    is_tall, gram_of_rows(...)              whether all products of columns are computed
                                            at once, and if so, those over some rows
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Design:
    """A matrix with weights of its rows, and centre and scale of its columns."""

    matrix: object  # DenseMatrix, or one of its kind
    weights: np.ndarray  # n, sum 1
    center: np.ndarray  # p
    scale: np.ndarray  # p
    norm2: np.ndarray  # p, <x_j, x_j>
    constant: np.ndarray  # p, bool: columns that do not vary
    cancellation: float  # rounding in inner products, over what it is at least
    all_features: np.ndarray  # p, 0, 1, 2, ...
    length: np.ndarray  # p, |x_j|
    left_out: np.ndarray  # rows of weight zero

    @property
    def n(self):
        """Observations."""
        return self.weights.size

    @property
    def n_counted(self):
        """Observations of positive weight: those of a fold are its training rows."""
        return self.n - self.left_out.size

    @property
    def p(self):
        """Features."""
        return self.center.size

    @property
    def spread(self):
        """Standard deviation of each column, or its root mean square about zero."""
        return np.where(self.constant, 0.0, self.scale * self.length)

    @property
    def round_trips(self):
        """How often a cluster was asked so far; None if there is none."""
        return getattr(self.matrix, "round_trips", None)

    def correlate(self, residuals, features=None):
        """<x_j, residual> for each residual and every feature, or for some."""
        if features is None:
            features = self.all_features
        vectors = self.weights * residuals
        return self.matrix.correlate(vectors, features, self.center, self.scale)

    def gram(self, rows, columns):
        """<x_a, x_b> for a in rows, b in columns."""
        return self.matrix.gram(rows, columns, self.weights, self.center, self.scale)

    def moments(self, weights, features):
        """Sum_i weights_i x_ij and sum_i weights_i x_ij^2 for some features."""
        return self.matrix.moments(weights, features, self.center, self.scale)

    def combine(self, features, beta):
        """X_A beta for each row of beta; zero in rows that do not count."""
        out = self.matrix.combine(features, beta, self.center, self.scale)
        if self.left_out.size:
            out[:, self.left_out] = 0.0  # whatever they hold
        return out

    def columns(self, features):
        """The standardized columns, n x |features|."""
        return self.matrix.columns(features, self.center, self.scale)

    def descend(self, features, penalty, coordinates, l2, residual, sweeps):
        """Coordinate descent with residual updates; changes beta and residual."""
        return self.matrix.descend(
            features, self.center, self.scale, self.weights, penalty, coordinates, l2,
            residual, sweeps,
        )

    def to_user_scale(self, features, beta, ends, mean):
        """Coefficients and intercepts for X as the user gave it.

        Those of model k are from ends[k] up to ends[k + 1].
        """
        models = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        with np.errstate(over="ignore", invalid="ignore"):
            coefficients = beta / self.scale[features]
            shift = coefficients * self.center[features]
            intercept = mean - np.bincount(models, shift, ends.size - 1)
        if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
            raise FloatingPointError(
                "coefficients overflowed in the units of X and y; rescale X and y, "
                "e.g. divide each by its largest absolute value"
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
    cancellation = matrix.cancellation(center, scale)
    scale = np.where(constant, 1.0, scale)
    with np.errstate(over="ignore"):
        norm2 = np.ones(p) if standardize else scale**2
    return Design(
        matrix, weights, center, scale if standardize else np.ones(p), norm2, constant,
        cancellation, np.arange(p), np.sqrt(norm2), np.flatnonzero(weights == 0),
    )
