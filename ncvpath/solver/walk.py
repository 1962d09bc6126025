"""The loop over lambdas, and the short cut through its easy stretches."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..matrices.dense import as_stored
from . import mm
from .solver import (
    Limits,
    Status,
    Work,
    fitted,
    go_back,
    not_above,
    objective,
    rest,
    solve,
    take_back,
    unpenalised,
    worthwhile,
)
from .working_set import default_n_added

# A lambda this close to lambda_max is lambda_max, rounded differently.
SAME_LAMBDA = 1e-12
# Room for a stretch's coefficients, and for new features in its Gram matrix.
ROOM = 1 << 16
MORE_FEATURES = 200
# Lambdas in a stretch: between stretches progress is shown and interrupts are heard.
STRETCH = 25


class Step(NamedTuple):
    """One lambda of the finished path."""

    lam: float
    support: np.ndarray
    beta: np.ndarray  # of the support, on the standardized scale
    mean_square: float
    objective: float
    violation: float  # relative to the null gradient
    status: str
    work: Work

    @property
    def converged(self):
        """Whether tol was reached, as far as can be known."""
        return self.status.startswith("converged")


def walk(problem, state, lambdas, hidden, settings, tick, stride):
    """Walk down the path; returns its steps and why it stopped early, if it did.

    `tick` is called after every lambda, with 0 after hidden ones; what it raises ends
    the walk. `stride` makes the steps: take_steps, or one of its kind.
    """
    limits = Limits(
        settings.tol * problem.g0, settings.max_epochs, settings.working_set,
        settings.solver, settings.n_added or default_n_added(problem.design.p),
        settings.n_added is None, settings.prune, settings.inexact,
        problem.design.p if settings.dfmax is None else settings.dfmax,
        settings.record,
    )
    ahead, steps = np.append(hidden, lambdas), []
    for k, step in enumerate(stride(problem, state, ahead, limits)):
        tick(int(k >= hidden.size))
        if not np.isfinite(step.violation):
            raise FloatingPointError(
                f"numbers overflowed at lambda={step.lam:g}; rescale X and y, or "
                "choose a less extreme gamma"
            )
        if k < hidden.size:
            continue
        df = step.support.size
        if settings.dfmax is not None and df > settings.dfmax:
            if not steps:
                raise ValueError(
                    f"dfmax must be at least {df}, the nonzero coefficients at the "
                    f"first lambda; got dfmax={settings.dfmax}"
                )
            where = f"{df} nonzero at lambda={step.lam:.4g}"
            return steps, f"dfmax={settings.dfmax}, but {where}"
        steps.append(step)
    return steps, None


def take_steps(problem, state, lambdas, limits):
    """One finished step after another: easy ones many at a time, others singly."""
    done, trips = 0, 0
    minimise = mm.minimise if limits.solver in mm.MAJORIZING else solve
    while done < lambdas.size:
        lam, work = lambdas[done], Work()
        if lam >= problem.lambda_max * (1 - SAME_LAMBDA):
            outcome = rest(problem, state, lam, limits, work)
        else:
            if lam > 0 and may_be_easy(state, limits):
                few = lambdas[done : done + STRETCH]
                few = few[few > 0]
                steps, spent = easy_stretch(problem, state, few, limits)
                yield from steps
                done += len(steps)
                if len(steps) == few.size:
                    continue
                lam, work = lambdas[done], Work(epochs=spent)
                if spent:  # on a round that led nowhere
                    work.rounds, work.checked = 1, problem.design.p
            outcome = minimise(problem, state, lam, limits, work)
            if lam == 0:
                outcome = unpenalised(problem, state, limits, *outcome)
        work.seconds += perf_counter()
        step = finished_step(problem, state, lam, limits.tol, *outcome)
        so_far = problem.design.round_trips or 0
        step.work.round_trips, trips = so_far - trips, so_far
        yield step
        done += 1


def may_be_easy(state, limits):
    """Whether compiled code may try: with a small dense X, and an earlier lambda.

    The code is long, and compiled for float64 in memory only.
    """
    stored = as_stored(state.certificates.design)
    at_hand = stored is not None and stored[0].dtype == np.float64
    possible = at_hand and state.certificates.small and state.lam < np.inf
    return possible and is_usual(limits)


def is_usual(limits):
    """Whether nothing is asked for that compiled code does not do.

    A tight limit on sweeps is for the solver to keep, and so is a record of rounds.
    """
    usual = limits.working_set == "fireworks" and limits.solver == "cd"
    return usual and limits.max_epochs >= 1000 and not limits.record


def finished_step(problem, state, lam, tol, status, worst, work):
    """What the path keeps of one lambda."""
    fit = state.fit
    worst, status = believed(problem, fit.support, fit.beta, tol, worst, status)
    return Step(
        lam, fit.support, fit.beta, fit.mean_square, objective(problem, fit, lam),
        worst / problem.g0, status.value, work,
    )


def believed(problem, support, beta, tol, worst, status):
    """The largest violation and the status, as far as rounding lets us know them."""
    rounding = problem.rounding(support, beta)
    if rounding <= tol:
        return worst, status
    return max(worst, rounding), Status.ROUNDING


def easy_stretch(problem, state, lambdas, limits):
    """Steps that compiled code takes by itself, and sweeps spent on the next one.

    With a small X the calls between kernels cost more than the work in them. The state
    moves along; what is not easy is left to `solve`.
    """
    start = perf_counter()
    design, cache, p, before = problem.design, state.gram, problem.design.p, state.fit
    cache.reserve(min(cache.known + MORE_FEATURES, p))
    factor = cache.factor_for(min(state.fit.support.size + MORE_FEATURES, p))
    figures = np.empty((lambdas.size, 9))
    supports, values = np.empty(ROOM, dtype=np.int64), np.empty(ROOM)
    with design.matrix.crew.room("working set", cache.array.size) as space:
        done, cache.known, spent = design.kernels.walk_down(
            *as_stored(design), design.weights, design.norm2, problem.response,
            problem.factor, problem.penalty, problem.alpha, problem.growth, state.lam,
            lambdas, limits.tol, worthwhile(problem, state, limits.tol),
            limits.max_epochs // 2, limits.dfmax, limits.n_added, cache.features,
            cache.known, cache.slot, cache.array, factor, space, state.beta,
            np.empty(design.n), state.correlation, state.feasible, figures, supports,
            values,
        )
    state.fit = fitted(problem, state)
    state.exact = state.certificates.everyone
    share = (perf_counter() - start) / max(done, 1)  # no clock in there: alike for all
    steps, vain = easy_steps(
        problem, before, lambdas[:done], limits.tol, figures, supports, values, share
    )
    done, origin = len(steps), steps[-1] if steps else before
    state.lam = lambdas[done - 1] if done else state.lam
    if vain:
        go_back(problem, state, origin)
    elif spent:  # on a lambda that was not finished, perhaps in vain
        lam = lambdas[done]
        take_back(problem, state, lam, origin, not_above(problem, origin, lam))
    if vain or spent:
        state.correlation = design.correlate(state.fit.residual)
    return steps, spent + vain


def easy_steps(problem, before, lambdas, tol, figures, supports, values, share):
    """Steps from the figures of compiled code, and sweeps spent in vain.

    If coefficients have run away, that and all that followed is left out.
    """
    steps, first, origin = [], 0, before
    for k, (lam, row) in enumerate(zip(lambdas, figures.tolist())):
        strong, size, epochs, newton, step, worst, mean_square, penalty, last = row
        part = slice(first, int(last))
        # Views would keep all of it in memory.
        support, beta = supports[part].copy(), values[part].copy()
        first = int(last)
        worst, status = believed(problem, support, beta, tol, worst, Status.CONVERGED)
        if status is not Status.CONVERGED:
            if problem.hidden(support, beta) > not_above(problem, origin, lam):
                return steps, int(figures[k : lambdas.size, 2].sum())
        work = Work(
            int(strong), int(size), 1, 0, problem.design.p, step, int(epochs),
            int(newton), share,
        )
        origin = Step(
            lam, support, beta, mean_square, 0.5 * mean_square + penalty,
            worst / problem.g0, status.value, work,
        )
        steps.append(origin)
    return steps, 0
