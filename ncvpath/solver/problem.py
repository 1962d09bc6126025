"""What is minimised, and its null model."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..families import FAMILIES
from ..kernels.records import Features, Penalty
from ..matrices.design import Design
from ..matrices.least_squares import EPS, off_center
from ..penalties import BY_KIND, MAX_GROWTH, shaped
from .certificates import Correlations
from .gram import GramCache
from .rounding import Rounding, measure_rounding
from .solutions import Anchor
from .state import State

# A null gradient below this share of |x_j| times what is subtracted is rounding, not
# signal.
ORTHOGONAL = 2e-14
# Squares below this lose digits to the end of the range of numbers.
VANISHING = np.finfo(float).tiny / EPS


@dataclass(frozen=True)
class Problem:
    """What is minimised; it never changes along the path."""

    family: object  # families/
    design: Design
    response: np.ndarray  # n, y as the family wants it
    mean: float  # what was taken away from y
    penalty: Penalty
    alpha: float
    penalty_factor: np.ndarray  # p, 0 = unpenalised, inf = excluded (or constant)
    lambda_max: float  # the null model is the solution from here up
    g0: float  # largest |<x_j, r0>| of a penalised feature: the unit of violations
    rounding: Rounding
    majorizes: "Problem | None" = None  # whose penalty this one's lies above (mm.py)

    def units(self, lambdas):
        """l1 and l2 per unit of the penalty factor, a row for each lambda."""
        return lambdas[:, None] * np.array([self.alpha, 1 - self.alpha])

    def levels(self, lam, features):
        """l1 and l2 of features that may enter."""
        return (
            lam * self.alpha * self.penalty_factor[features],
            lam * (1 - self.alpha) * self.ridge_factor[features],
        )

    def ridge_of(self, lam, beta):
        """What the ridge penalty takes from correlations, p; None if there is none."""
        if self.alpha == 1:
            return None
        ridge = np.where(self.may_enter, self.ridge_factor, 0.0)
        return lam * (1 - self.alpha) * ridge * beta

    def of_features(self, features):
        """What kernels want to know of the features of a working set."""
        return Features(
            self.penalty_factor[features], self.ridge_factor[features],
            self.design.norm2[features],
        )

    @property
    def ridge_factor(self):
        """What multiplies the ridge penalty: it is not majorized."""
        return (self.majorizes or self).penalty_factor

    @cached_property
    def growth(self):
        """The slope of the strong rule."""
        return min(BY_KIND[self.penalty.kind].growth(self.penalty.shape), MAX_GROWTH)

    @cached_property
    def free(self):
        """Which features are not penalised."""
        return self.penalty_factor == 0

    @cached_property
    def may_enter(self):
        """Which features are not excluded."""
        return self.penalty_factor < np.inf


def pose(data, settings, design, products=None):
    """The problem, and the state of its null model.

    `products` of all columns, if they are known, serve a tall design.
    """
    family = FAMILIES["gaussian"]
    response, mean = family.center(data.y, data.weights, settings.intercept)
    spread = check_sizes(design, family, response)
    penalty = shaped(settings.row, settings.gamma, float(spread))
    if not np.isfinite(penalty.shape):
        raise ValueError(
            "gamma times the spread of y must not overflow; got "
            f"gamma={settings.gamma:g} and a spread of {spread:g}: choose a smaller "
            "gamma or rescale y"
        )
    penalty_factor = np.where(design.constant, np.inf, data.penalty_factor)
    with np.errstate(over="ignore", invalid="ignore"):
        beta, eta = null_model(family, design, response, penalty_factor)
        state = null_state(family, design, response, beta, eta, penalty_factor)
        if products is not None or (design.matrix.is_tall and settings.uses_products):
            state.gram.learn_all(products)
    g0, lambda_max = extremes(design, state, spread, penalty_factor, settings.alpha)
    problem = Problem(
        family, design, response, mean, penalty, settings.alpha, penalty_factor,
        lambda_max, g0, measure_rounding(design, spread, np.isfinite(penalty_factor)),
    )
    return problem, state


def check_sizes(design, family, response):
    """The scale of the response; squares may not overflow nor vanish."""
    with np.errstate(over="ignore"):
        spread = family.spread(response, design.weights)
        total = design.n * spread**2
    squares = {
        "y": np.array([total] if response.any() else []),
        "X": design.norm2[~design.constant],
    }
    for name, found in squares.items():
        if not np.isfinite(found).all():
            raise ValueError(
                f"{name} must not be so large that its squares overflow; rescale it; "
                f"got squares of up to {found.max():g}"
            )
        if not (found > VANISHING).all():
            raise ValueError(
                f"{name} must not be so small that its squares vanish; rescale it; "
                f"got squares of {found.min():g}"
            )
    return spread


def null_model(family, design, response, penalty_factor):
    """Coefficients of the unpenalised features alone, and their linear predictor."""
    beta, free = np.zeros(design.p), np.flatnonzero(penalty_factor == 0)
    if free.size == 0:
        return beta, np.zeros((1, design.n))
    beta[free] = family.null_coefficients(design, response, free)
    return beta, design.combine(free, beta[free][None])


def null_state(family, design, response, beta, eta, penalty_factor):
    """Where every path begins."""
    residual = family.residual(response, eta)[0]
    values = design.correlate(residual[None])[0]
    anchor = Anchor(
        beta.copy(), values.copy(), family.loss(response, eta, design.weights)[0]
    )
    return State(
        np.inf, beta, Correlations(design, residual, values), penalty_factor == 0,
        anchor, GramCache(design),
    )


def extremes(design, state, spread, penalty_factor, alpha):
    """Of the null model: the largest |<x_j, r>| of a penalised feature, and lambda_max.

    The first must be more than rounding leaves of the terms of that residual.
    """
    correlation = state.correlation
    lost = ~np.isfinite(correlation.values)
    if lost.any() and np.isfinite(correlation.vector).all():
        j = int(np.argmax(lost))
        raise ValueError(
            "X must not have columns so large that differences of their entries "
            f"overflow, or their sums; got column number {j} (from 0) with a mean of "
            f"{design.center[j]:g}: rescale it"
        )
    if lost.any():
        raise ValueError(
            "X must not have unpenalised columns so small that their coefficients "
            f"overflow; got one of size {design.scale[state.beta != 0].min():g}: "
            "rescale it"
        )
    penalised = (penalty_factor > 0) & (penalty_factor < np.inf)
    reach, size = np.abs(correlation.values[penalised]), np.abs(state.beta)
    off = off_center(design, design.all_features)
    terms = design.cancellation * (spread + size @ design.length)
    noise = ORTHOGONAL * terms * design.length + 2 * (size @ off) * off
    if not (reach > noise[penalised]).any():
        raise ValueError(
            "lambda_max must be positive; got 0 up to rounding: no penalised feature "
            "(penalty_factor neither 0 nor inf, column of X not constant) is "
            "correlated with what the unpenalised ones leave of y"
        )
    with np.errstate(over="ignore"):
        top = (reach / penalty_factor[penalised]).max() / alpha
    if not np.isfinite(top):
        raise ValueError(
            "penalty_factor and alpha must leave lambda_max finite; got "
            f"penalty_factor={penalty_factor[penalised].min():g}, alpha={alpha:g}"
        )
    return reach.max(), top
