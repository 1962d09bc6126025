"""Where every path begins: the problem is posed, and its null model solved.

What no path could be fitted to is refused here.
"""

from dataclasses import replace

import numpy as np

from ..matrices.least_squares import EPS, least_squares, off_center
from ..penalties import by_name, shaped
from .certificates import Correlations
from .gram import GramCache
from .newton import Newton
from .problem import Problem
from .restricted import Restricted
from .rounding import measure_rounding
from .solutions import Anchor
from .state import State

# A null gradient below this share of |x_j| times what is subtracted is rounding, not
# signal.
ORTHOGONAL = 2e-14
# The null model is solved to this share of the score's scale, in so many sweeps.
EXACT, MOST_SWEEPS = 1e-10, 100_000
# Squares below this lose digits to the end of the range of numbers.
VANISHING = np.finfo(float).tiny / EPS


def pose(data, settings, design, products=None):
    """The problem, and the state of its null model.

    `products` of all columns, if they are known, serve a tall design.
    """
    likelihood = settings.family.bind(data.response, data.weights, settings.intercept)
    spread = check_sizes(design, likelihood)
    penalty = choose_penalty(settings, likelihood, spread)
    penalty_factor = np.where(design.constant, np.inf, data.penalty_factor)
    nothing = np.full((1, design.n), likelihood.null_intercept())
    check_saturated(likelihood, nothing)
    problem = Problem(
        likelihood, design, penalty, settings.alpha, penalty_factor, np.inf, np.nan,
        measure_rounding(design, likelihood.terms(), np.isfinite(penalty_factor)),
        settings.rescale, likelihood.loss(nothing)[0], settings.ends_at_saturation,
    )
    with np.errstate(over="ignore", invalid="ignore"):
        state = null_state(problem, nothing)
        tall = design.matrix.is_tall and settings.uses_products
        if products is not None or tall:
            state.gram.learn_all(products)
    g0, top = extremes(design, state, spread, penalty_factor, settings.alpha)
    return replace(problem, g0=g0, lambda_max=top), state


def choose_penalty(settings, likelihood, spread):
    """The penalty in the units of coefficients."""
    unit = float(spread)  # of y, and so of coefficients of standardized columns
    if not likelihood.is_quadratic:
        unit = 1.0 if settings.rescale else unit / likelihood.null_curvature()
    penalty = shaped(settings.row, settings.gamma, unit)
    if not np.isfinite(penalty.shape):
        raise ValueError(
            "gamma times the spread of y must not overflow; got "
            f"gamma={settings.gamma:g} and a spread of {spread:g}: choose a smaller "
            "gamma or rescale y"
        )
    return penalty


def check_sizes(design, likelihood):
    """The scale of the response; squares may not overflow nor vanish."""
    with np.errstate(over="ignore"):
        spread = likelihood.spread()
        total = design.n * spread**2
    if not (np.isfinite(spread) or likelihood.is_quadratic):
        raise ValueError(
            "offset and y must leave the null model scores that do not overflow; got "
            f"some of size {spread:g}: an offset that far from its mean is not one"
        )
    if spread == 0 and likelihood.y.any() and not likelihood.is_quadratic:
        raise ValueError(
            "y must leave something to explain beside the null model; got one that it "
            "explains in every row (or no event while others are at risk)"
        )
    squares = {
        "y": np.array([total] if likelihood.y.any() else []),
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


def check_saturated(likelihood, nothing):
    """Deviances are counted from the saturated model, below which no loss may be."""
    null_loss = likelihood.loss(nothing)[0]
    if not (likelihood.is_quadratic or null_loss > likelihood.saturated):
        raise ValueError(
            f"family {likelihood.family.name!r} must define saturated(y), the smallest "
            f"loss of each observation; got {likelihood.saturated:g} on average, which "
            f"the null model's {null_loss:g} is not above"
        )


def null_state(problem, nothing):
    """Where every path begins: intercept and unpenalised features alone.

    `nothing` is the linear predictor of the intercept.
    """
    design, likelihood = problem.design, problem.likelihood
    beta, intercept = np.zeros(design.p), nothing[0, 0]
    state = state_at(problem, beta, intercept, nothing)
    free = np.flatnonzero(problem.free)
    if free.size == 0:
        return state
    if likelihood.is_quadratic:
        beta[free] = least_squares(design, likelihood.y, free)[0]
    else:
        beta[free], intercept = fit_unpenalised(problem, state, free)
    eta = design.combine(free, beta[free][None]) + intercept
    return state_at(problem, beta, intercept, eta)


def state_at(problem, beta, intercept, eta):
    """The state of coefficients of unpenalised features."""
    design, likelihood = problem.design, problem.likelihood
    residual = likelihood.residual(eta)[0]
    values = design.correlate(residual[None])[0]
    anchor = Anchor(beta.copy(), values.copy(), likelihood.loss(eta)[0])
    return State(
        np.inf, beta, float(intercept), Correlations(design, residual, values),
        problem.free.copy(), anchor, GramCache(design),
    )


def fit_unpenalised(problem, state, free):
    """Coefficients of the unpenalised features and the intercept, by Newton's method
    from the intercept alone. Numbers, other than classes, may well be explained."""
    design, length = problem.design, problem.design.length
    problem = replace(
        problem, watches=problem.likelihood.family.may_separate,
        penalty=shaped(by_name("lasso"), None, 1.0),  # none acts, to the last bit
        design=replace(  # in units of the columns, whatever those of the user are
            design, scale=design.scale * length, length=np.ones(design.p),
            norm2=np.ones(design.p),
        ),
    )
    on, target = Restricted(problem, state, free), EXACT * problem.rounding.spread
    _, _, met, failure = Newton(on).solve(
        problem.levels(np.zeros(1)), target, MOST_SWEEPS
    )
    if not met or failure:
        raise ValueError(
            "unpenalised features (penalty_factor 0) must leave the null model a "
            "solution; got features that explain "
            f"{problem.explained(on.point.loss):.3g} of the deviance of y: "
            "penalise them"
        )
    return on.point.beta / length[free], on.point.intercept


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
    if not penalised.any():
        raise ValueError(
            "lambda_max must be positive; got 0, as no column of X that varies has a "
            "penalty_factor other than 0 and inf"
        )
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
