"""Everything that happens at one lambda. Beside this module only walk.py's compiled
stretches, stretches.py and mm.py (its feasible vector) move the `State`."""

from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter

import numpy as np

from .fits import Fit
from .inner import INNER, Restricted
from .problem import least_squares
from .trace import Round, look_back
from .working_set import RULES, first_set, largest

# The working set is solved a little further than asked, for the rounding in the
# measured violation.
MARGIN = 0.5
# How much further a working set is solved that was thought to be solved.
FURTHER = 0.2
# Numbers in X up to which least squares is computed from a copy of it.
DIRECT = 20_000_000
# Objectives that differ by a smaller share may do so by the way they were computed.
SAME_HEIGHT = 1e-9
# The share of tol that rounding may take where correlations come by way of products,
# whose sums of squares it spoils several times as much.
BY_FAR = 0.01
# Rounds without progress on an unchanged working set before it is given up.
PATIENCE = 3


class Status(Enum):
    """How the work at one lambda ended, as the user reads it."""

    CONVERGED = "converged"
    ITSELF = "converged in one majorization: the lasso is its own"
    ONE_OF_MANY = (
        "converged to one of many solutions: there is no penalty, and the columns are "
        "linearly dependent up to rounding"
    )
    MAX_EPOCHS = "max_epochs reached before tol; raise max_epochs or tol"
    STALLED = "progress stopped before tol; raise tol, or lower alpha to add some ridge"
    ROUNDING = "tol is below what rounding allows on these data; raise tol"


@dataclass(frozen=True)
class Limits:
    """How the work is done and when it stops."""

    tol: float  # absolute: relative tol times the null gradient
    max_epochs: int
    working_set: str
    solver: str
    n_added: int  # features that enter in a round
    growing: bool  # whether more do in further rounds
    prune: bool
    inexact: bool
    dfmax: int  # p: none
    record: bool


@dataclass
class Work:
    """What it took at one lambda."""

    strong: int = 0
    working_set: int = 0
    rounds: int = 0
    certified: int = 0
    checked: int = 0
    step: float = 1.0
    epochs: int = 0
    newton_steps: int = 0
    seconds: float = field(default_factory=lambda: -perf_counter())
    round_trips: int = 0  # to a cluster; what came before the first lambda counts there
    majorizations: int = 0  # weighted lassos solved (mm.py)
    trace: list[Round] = field(default_factory=list)  # if it is to be recorded


def solve(problem, state, lam, limits, work):
    """Minimise at one lambda, from `state`, which moves there.

    Counts its work on top of what `work` has already. Returns the status, the largest
    violation over all features, and the work.
    """
    done = work.rounds
    origin, highest = state.fit, not_above(problem, state.fit, lam)
    target, loosest = limits.tol, np.inf
    if state.lam == np.inf and limits.working_set != "full":
        # From a cold start the first set is a guess, and need not be solved exactly.
        target, loosest = inner_target(limits, loosest, problem.g0)
    start(problem, state, lam, limits, work)
    # Slabs shrink with lambda, and so does what lies inside them.
    state.feasible *= lam / state.lam
    state.lam = lam
    best, stalled = np.inf, 0
    while True:
        # 1. Solve on the working set.
        descend(problem, state, worthwhile(problem, state, target), limits, work)
        # 2. Look at every feature that is not certified to be satisfied.
        refresh(problem, state, limits, work)
        # 3. Measure the violations; move FireWorks' feasible vector to the residual.
        inside, outside, work.step = survey(problem, state)
        worst = np.maximum(inside, outside)  # NaN, if any, stays visible
        if limits.record:
            look_back(problem, state, work)
        # 4. Done?
        if worst <= limits.tol:
            status = Status.CONVERGED
            break
        if work.epochs >= limits.max_epochs:
            status = Status.MAX_EPOCHS
            break
        if problem.hidden(state.fit.support, state.fit.beta) > highest:
            status = Status.ROUNDING
            break
        if outside > limits.tol:
            # 5. Choose who works next.
            choose(problem, state, limits, work.rounds - done)
            target, loosest = inner_target(limits, loosest, outside)
            best, stalled = np.inf, 0
            continue
        # Nobody outside objects: the same set again, from exact correlations. Sweeps on
        # residuals measure on their way, and what they met may grow again behind them;
        # if they thought they had arrived, they have to go further.
        stalled = 0 if worst < 0.5 * best else stalled + 1
        best = min(worst, best)
        target = limits.tol if target > limits.tol else FURTHER * target
        if stalled > PATIENCE:
            at_rounding = worst <= problem.rounding_at_worst(state.beta)
            status = Status.ROUNDING if at_rounding else Status.STALLED
            break
    known = problem.rounding(state.fit.support, state.fit.beta) <= limits.tol
    if status is not Status.CONVERGED or not known:
        moved = take_back(problem, state, lam, origin, highest)
        if moved or status is not Status.CONVERGED:
            status, worst = measured_anew(problem, state, limits, status, work)
    return status, worst, work


def measured_anew(problem, state, limits, status, work):
    """Status and violation of where the state is now, which need not be where the
    status was found."""
    worst = measure_all(problem, state, work)
    if worst <= limits.tol:
        return Status.CONVERGED, worst
    return Status.ROUNDING if status is Status.CONVERGED else status, worst


def unpenalised(problem, state, limits, status, worst, work):
    """At lambda 0: least squares without detours, where it has one solution.

    Where columns are nearly dependent a small violation says little about the
    coefficients. And where they are dependent, the solution found is one of many.
    """
    design, live = problem.design, np.flatnonzero(np.isfinite(problem.factor))
    unique = live.size <= design.n
    if unique and design.n * live.size <= DIRECT:
        beta, unique = least_squares(design, problem.response, live)
        if unique:
            origin, highest = state.fit, not_above(problem, state.fit, 0.0)
            state.beta[live] = beta
            state.fit = fitted(problem, state)
            take_back(problem, state, 0.0, origin, highest)
            worst = measure_all(problem, state, work)
    if worst <= limits.tol:
        status = Status.CONVERGED if unique else Status.ONE_OF_MANY
    return status, worst, work


def rest(problem, state, lam, limits, work):
    """Stay with the null model, the solution from lambda_max up."""
    state.lam = min(lam, problem.lambda_max)
    state.member = problem.free.copy()
    worst = np.max(survey(problem, state)[:2])
    work.checked += problem.design.p
    if limits.record:
        look_back(problem, state, work)
    return Status.CONVERGED if worst <= limits.tol else Status.ROUNDING, worst, work


def start(problem, state, lam, limits, work):
    """The working set to begin with: support, unpenalised and strong features.

    The sequential strong rule expects |u_j| to move no faster than `growth` per unit
    of l1_j. On a coarse grid that lets in everyone; the largest |u_j| / l1_j then
    stand in for the set.
    """
    if limits.working_set == "full":
        state.member = np.isfinite(problem.factor)
        return
    held = (state.beta != 0) | problem.free
    n_added = limits.n_added
    if state.lam == np.inf:
        strong = first_set(state.correlation, problem.factor, n_added)
        held[strong] = True
        state.member, work.strong = held, strong.size
        return
    cut = problem.alpha * (lam + problem.growth * (lam - state.lam))
    member = held.copy()
    work.strong = problem.design.kernels.mark_strong(
        problem.factor, cut, state.correlation, member
    )
    size = crowd(n_added, np.count_nonzero(held), state.gram.largest_set)
    if work.strong > size:
        strong = np.flatnonzero(member & ~held)
        reach = np.abs(state.correlation[strong]) / problem.factor[strong]
        member = held
        member[strong[largest(reach, size)]] = True
        work.strong = size
    state.member = member


def crowd(n_added, held, most):
    """How many strong features may join those held, before they are taken in turns."""
    return max(n_added, min(2 * held, most - held))


def worthwhile(problem, state, target):
    """How far to solve for a target: a little further, but not into rounding."""
    rounding = problem.rounding(state.fit.support, state.fit.beta)
    return max(MARGIN * target, 0.5 * rounding)


def descend(problem, state, target, limits, work):
    """Solve on the working set."""
    know_members(state, work)
    some = Restricted(
        *problem.design.kernels.restrict(
            state.member, problem.factor, problem.ridge_factor,
            *problem.units(state.lam), problem.design.norm2, state.beta,
            state.correlation,
        )
    )
    left = limits.max_epochs - work.epochs
    epochs, newton_steps = INNER[limits.solver].solve(
        problem, state, some, target, left
    )
    state.beta[some.features] = some.beta
    work.epochs += epochs
    work.newton_steps += newton_steps
    work.working_set = max(work.working_set, some.features.size)


def know_members(state, work):
    """Exact correlations for members that entered on an estimate.

    A gradient that no residual has can lie outside the range of the Gram matrix, and
    descent would follow it without end along directions that have no curvature.
    """
    unknown = (state.member & ~state.exact).nonzero()[0]
    if unknown.size:
        state.correlation[unknown], touched = state.fit.correlate(unknown)
        work.checked += touched


def fitted(problem, state):
    """The fit of beta as it stands."""
    features = ((state.beta != 0) | problem.free).nonzero()[0]
    return Fit(
        problem.design, problem.response, state.beta, features, state.fit.anchor,
        state.gram,
    )


def refresh(problem, state, limits, work):
    """Correlations anew from beta, so that no rounding piles up."""
    state.fit = fit = fitted(problem, state)
    fit.by_gram &= problem.rounding(fit.support, fit.beta) <= BY_FAR * limits.tol
    level, _ = problem.units(state.lam)
    look = state.certificates.look(
        state.fit, state.member, problem.factor, level, limits.tol
    )
    state.correlation, state.exact = look.correlation, look.exact
    work.rounds += 1
    work.checked += look.touched
    work.certified = np.count_nonzero(~look.exact) if look.complete else 0


def survey(problem, state):
    """Violations inside and outside the working set, and FireWorks' step."""
    return problem.design.kernels.survey(
        problem.penalty, problem.factor, problem.ridge_factor,
        *problem.units(state.lam), state.beta, state.correlation, state.member,
        state.feasible,
    )


def objective(problem, fit, lam):
    """The objective of a fit; not finite if its coefficients have run away."""
    with np.errstate(over="ignore", invalid="ignore"):
        return problem.objective(fit.mean_square, lam, fit.support, fit.beta)


def not_above(problem, origin, lam):
    """The highest objective that is no higher than the origin's, as far as we know."""
    height = objective(problem, origin, lam)
    hidden = problem.hidden(origin.support, origin.beta)
    return max(height + SAME_HEIGHT * abs(height), hidden)


def take_back(problem, state, lam, origin, highest):
    """Undo all steps since `origin` if rounding has led them above the `highest`
    objective allowed, or so far that it hides as much; returns whether it was so.

    An origin is a fit or a step of the path. Correlations stay as they are.
    """
    reached, fit = objective(problem, state.fit, lam), state.fit
    if max(reached, problem.hidden(fit.support, fit.beta)) <= highest:
        return False
    go_back(problem, state, origin)
    return True


def go_back(problem, state, origin):
    """Coefficients and fit of the origin; correlations stay as they are."""
    state.beta[:] = 0.0
    state.beta[origin.support] = origin.beta
    state.fit = fitted(problem, state)


def measure_all(problem, state, work):
    """The largest violation by exact correlations: what is reported of a failure."""
    state.correlation = problem.design.correlate(state.fit.residual)
    state.exact = state.certificates.everyone
    work.checked += problem.design.p
    return np.max(survey(problem, state)[:2])


def choose(problem, state, limits, rounds):
    """Prune the set to what is in use, and add those outside whom the rule names."""
    outside = np.flatnonzero(~state.member & np.isfinite(problem.factor))
    l1, l2 = problem.levels(state.lam, outside)
    u = state.correlation[outside]
    n_added = first = limits.n_added
    if limits.growing:
        # Twice as many in each further round, but not far beyond those that object:
        # each nonconvex jump calls for a round of its own, and bare doubling would let
        # in whole designs for the sake of a few features.
        objecting = np.count_nonzero(np.abs(u) > l1)
        n_added = max(first, min(first << min(rounds - 1, 30), 2 * objecting))
        # Nor beyond what the Gram matrix serves, while that is possible.
        held = np.count_nonzero(state.beta) + np.count_nonzero(problem.free)
        n_added = min(n_added, max(first, state.gram.largest_set - held))
    length = np.sqrt(problem.design.norm2[outside] + l2)
    rule = RULES[limits.working_set]
    added = rule(u, state.feasible[outside], l1, length, n_added)
    size = np.count_nonzero(state.member) + added.size
    way = INNER[limits.solver]
    last = way.pruning_rounds if state.gram.suits(size) else way.last_pruning
    if limits.prune and rounds < last:
        state.member = (state.beta != 0) | problem.free
    state.member[outside[added]] = True


def inner_target(limits, loosest, objecting):
    """How exactly to solve the next round, and the loosest that a later one may be.

    While features outside object by much, a share of their violation is enough. What is
    allowed falls geometrically at each lambda, so that the sum of targets above tol is
    finite (Corollary 1).
    """
    if not limits.inexact:
        return limits.tol, limits.tol
    way = INNER[limits.solver]
    target = max(limits.tol, min(way.share * objecting, loosest))
    return target, way.decay * target
