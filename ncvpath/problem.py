"""What is minimised, and where we are.

`Problem` never changes along the path; `State` is moved by the solver and the walk.
Nothing here is special to least squares but the residual.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .certificates import Certificates
from .design import Design
from .fits import Anchor, Fit
from .gram import GramCache
from .penalties import BY_KIND, MAX_GROWTH, Penalty, shaped

# A null gradient below this share of |x_j| |y| is rounding, not signal.
ORTHOGONAL = 1e-12
# Rounding in an inner product and in the residual, as a share of |x_j| |y|.
ROUNDING = 1e4 * np.finfo(float).eps
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Problem:
    """What is minimised."""

    design: Design
    response: np.ndarray  # n, y minus its mean when there is an intercept
    mean: float  # what was taken away
    penalty: Penalty
    alpha: float
    factor: np.ndarray  # p, 0 = unpenalised, inf = never enters (constant columns too)
    lambda_max: float  # the null model is the solution from here up
    g0: float  # largest |<x_j, r0>| of a penalised feature: the unit of violations
    rounding: float  # violations up to here may be due to rounding alone
    majorizes: "Problem | None" = None  # whose penalty this one's lies above (mm.py)

    def units(self, lam):
        """l1 and l2 per unit of the penalty factor."""
        return lam * self.alpha, lam * (1 - self.alpha)

    def levels(self, lam, features):
        """l1 and l2 of features that may enter."""
        level, ridge = self.units(lam)
        return level * self.factor[features], ridge * self.ridge_factor[features]

    @property
    def ridge_factor(self):
        """What multiplies the ridge penalty: it is not majorized."""
        return (self.majorizes or self).factor

    @cached_property
    def growth(self):
        """The slope of the strong rule."""
        return min(BY_KIND[self.penalty.kind].growth(self.penalty.shape), MAX_GROWTH)

    @cached_property
    def free(self):
        """Which features are not penalised."""
        return self.factor == 0

    def objective(self, mean_square, lam, support, beta):
        """Half the mean square of the residual plus both penalties."""
        return 0.5 * mean_square + self.design.kernels.penalty_total(
            self.penalty, self.factor, self.ridge_factor, *self.units(lam), support,
            beta,
        )


@dataclass
class State:
    """Where we are on the path."""

    lam: float
    beta: np.ndarray  # p, on the standardized scale
    fit: Fit  # its residual
    correlation: np.ndarray  # p, <x_j, residual>; an estimate where not exact
    exact: np.ndarray  # p, bool
    feasible: np.ndarray  # p, <x_j, s> of FireWorks' s: inside every slab
    member: np.ndarray  # p, bool: the working set
    gram: GramCache
    certificates: Certificates


def pose(data, settings, design, products=None):
    """The problem, and the state of its null model.

    `products` of all columns, if they are known, serve a tall design.
    """
    counted = data.weights > 0
    mean = data.weights @ np.where(counted, data.y, 0.0) if settings.intercept else 0.0
    response = np.where(counted, data.y - mean, 0.0)
    with np.errstate(over="ignore"):
        spread = np.sqrt(data.weights @ response**2)
    if not (np.isfinite(spread) and np.isfinite(design.norm2).all()):
        culprit = "y" if not np.isfinite(spread) else "X"
        raise ValueError(
            f"{culprit} must not be so large that its squares overflow; rescale it"
        )
    penalty = shaped(settings.row, settings.gamma, spread)
    factor = np.where(design.constant, np.inf, data.factor)
    learns = design.matrix.is_tall and settings.uses_products
    state = null_state(design, response, factor, learns, products)
    penalised = (factor > 0) & (factor < np.inf)
    reach = np.abs(state.correlation[penalised])
    share = reach / (np.sqrt(design.norm2[penalised]) * max(spread, TINY))
    if not share.max(initial=0.0) > ORTHOGONAL:
        raise ValueError(
            "lambda_max must be positive; got 0 up to rounding: no penalised feature "
            "(penalty_factor neither 0 nor inf, column not constant) is correlated "
            "with what the unpenalised ones leave of y"
        )
    with np.errstate(over="ignore"):
        top = (reach / factor[penalised]).max() / settings.alpha
    if not np.isfinite(top):
        raise ValueError(
            "penalty_factor and alpha must leave lambda_max finite; got "
            f"penalty_factor={factor[penalised].min():g}, alpha={settings.alpha:g}"
        )
    longest = np.sqrt(design.norm2[np.isfinite(factor)].max())
    size = spread + abs(mean)  # the mean too was subject to rounding
    problem = Problem(
        design, response, mean, penalty, settings.alpha, factor, top, reach.max(),
        ROUNDING * longest * size,
    )
    return problem, state


def null_state(design, response, factor, learns, products=None):
    """The model of the unpenalised features alone, fitted by least squares.

    If the solver `learns` all products of columns at once, it does so here.
    """
    beta = np.zeros(design.p)
    free = np.flatnonzero(factor == 0)
    if free.size:
        root = np.sqrt(design.weights)
        length = np.sqrt(design.norm2[free])
        columns = design.columns(free) / length * root[:, None]
        beta[free] = np.linalg.lstsq(columns, response * root, rcond=None)[0] / length
    residual = design.residual(response, free, beta[free])
    certificates, cache = Certificates(design), GramCache(design)
    if learns or products is not None:
        cache.learn_all(products)
    correlation = certificates.learn(residual)
    mean_square = (design.weights * residual) @ residual
    anchor = Anchor(beta.copy(), correlation.copy(), mean_square)
    return State(
        np.inf, beta, Fit(design, response, beta, free, anchor, cache), correlation,
        certificates.everyone, np.zeros(design.p), factor == 0, cache, certificates,
    )
