"""What is minimised, and where we are.

`Problem` never changes along the path; `State` is moved by the solver and the walk.
Special to least squares are the residual, `objective` and the null model.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..matrices.design import Design
from ..penalties import BY_KIND, MAX_GROWTH, Penalty, shaped
from .certificates import Certificates
from .fits import Anchor, Fit
from .gram import GramCache

# A null gradient below this share of |x_j| times what is subtracted is rounding, not
# signal.
ORTHOGONAL = 2e-14
# Rounding in a violation, as a share of |x_j| times what is subtracted; and how many
# times as much it may be when all goes wrong.
EPS = np.finfo(float).eps
ROUNDING = 2 * EPS
AT_WORST = 5e3
# Squares below this lose digits to the end of the range of numbers.
VANISHING = np.finfo(float).tiny / EPS


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
    spread: float  # root mean square of the response
    longest: float  # largest |x_j|
    farthest_off: float  # largest constant that the rounding of a centre leaves in one
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

    def rounding(self, support, beta):
        """What rounding does to a violation.

        That is a difference of larger numbers: of the response and of each feature's
        share in the fit. And a centre is off by half a unit in its last place, so that
        columns keep a little of the constant, which meets that of others.
        """
        design, size = self.design, np.abs(beta)
        with np.errstate(over="ignore"):  # of coefficients that have run away
            terms = self.spread + size @ np.sqrt(design.norm2[support])
            rest = size @ off_centre(design, support) * self.farthest_off
            return ROUNDING * design.blur * self.longest * terms + rest

    def hidden(self, support, beta):
        """What of the objective rounding hides, at least: half the square of what it
        does to the residual.

        Coefficients that have run away may seem to leave nothing of the response.
        """
        with np.errstate(over="ignore"):
            return 0.5 * (self.rounding(support, beta) / self.longest) ** 2

    def rounding_at_worst(self, beta):
        """Violations up to here may well be kept up by rounding alone."""
        support = np.flatnonzero(beta)
        return AT_WORST * self.rounding(support, beta[support])

    def objective(self, mean_square, lam, support, beta):
        """Half the mean square of the residual plus both penalties."""
        return 0.5 * mean_square + self.design.kernels.penalty_total(
            self.penalty, self.factor, self.ridge_factor, *self.units(lam), support,
            beta,
        )


def off_centre(design, features):
    """What the rounding of their centres leaves in columns."""
    return 0.5 * EPS * np.abs(design.center[features]) / design.scale[features]


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
    response, mean = np.where(counted, data.y, 0.0), 0.0
    for _ in range(2 if settings.intercept else 0):  # the second for its rounding
        rest = data.weights @ response
        response, mean = np.where(counted, response - rest, 0.0), mean + rest
    spread = check_sizes(design, response)
    penalty = shaped(settings.row, settings.gamma, float(spread))
    if not np.isfinite(penalty.shape):
        raise ValueError(
            "gamma times the spread of y must not overflow; got "
            f"gamma={settings.gamma:g} and a spread of {spread:g}: choose a smaller "
            "gamma or rescale y"
        )
    factor = np.where(design.constant, np.inf, data.factor)
    learns = design.matrix.is_tall and settings.uses_products
    with np.errstate(over="ignore", invalid="ignore"):
        state = null_state(design, response, factor, learns, products)
    reach, top = extremes(design, state, spread, factor, settings.alpha)
    live = np.isfinite(factor)
    problem = Problem(
        design, response, mean, penalty, settings.alpha, factor, top, reach, spread,
        np.sqrt(design.norm2[live].max()), off_centre(design, live).max(),
    )
    return problem, state


def check_sizes(design, response):
    """The root mean square of the response; squares may not overflow nor vanish."""
    with np.errstate(over="ignore"):
        spread = np.sqrt(design.weights @ response**2)
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


def extremes(design, state, spread, factor, alpha):
    """Of the null model: the largest |<x_j, r>| of a penalised feature, and lambda_max.

    The first must be more than rounding leaves of the terms of that residual.
    """
    lost = ~np.isfinite(state.correlation)
    if lost.any() and np.isfinite(state.fit.residual).all():
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
    penalised = (factor > 0) & (factor < np.inf)
    reach = np.abs(state.correlation[penalised])
    length, size = np.sqrt(design.norm2), np.abs(state.beta)
    off = off_centre(design, design.everyone)
    terms = design.blur * (spread + size @ length)
    noise = ORTHOGONAL * terms * length + 2 * (size @ off) * off
    if not (reach > noise[penalised]).any():
        raise ValueError(
            "lambda_max must be positive; got 0 up to rounding: no penalised feature "
            "(penalty_factor neither 0 nor inf, column of X not constant) is "
            "correlated with what the unpenalised ones leave of y"
        )
    with np.errstate(over="ignore"):
        top = (reach / factor[penalised]).max() / alpha
    if not np.isfinite(top):
        raise ValueError(
            "penalty_factor and alpha must leave lambda_max finite; got "
            f"penalty_factor={factor[penalised].min():g}, alpha={alpha:g}"
        )
    return reach.max(), top


def least_squares(design, response, features):
    """Coefficients of features that nobody penalises, and whether no others do as
    well: as far as the smallest singular value's square can be told from rounding."""
    root, length = np.sqrt(design.weights), np.sqrt(design.norm2[features])
    columns = design.columns(features) / length * root[:, None]
    # Entries of X are known to their last place: what is smaller has no direction.
    known = max(columns.shape) * EPS
    known += 2 * np.sqrt(features.size) * (off_centre(design, features) / length).max()
    found, _, _, values = np.linalg.lstsq(columns, response * root, known)
    unique = values[-1] ** 2 > 8 * EPS * features.size * values[0] ** 2
    return found / length, features.size <= design.n and unique


def null_state(design, response, factor, learns, products=None):
    """The model of the unpenalised features alone, fitted by least squares.

    If the solver `learns` all products of columns at once, it does so here.
    """
    beta = np.zeros(design.p)
    free = np.flatnonzero(factor == 0)
    if free.size:
        beta[free], _ = least_squares(design, response, free)
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
