"""Everything that happens at one lambda. Only this module moves the `State`."""

from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter

import numpy as np

from .penalties import violations
from .working_set import (
    default_n_added,
    feasible_step,
    first_set,
    nearest_slabs,
    strong_set,
)

# Above this many rounds at one lambda the working set is no longer pruned, so it
# can only grow and the rounds must end.
PRUNING_ROUNDS = 20
# The working set is solved a little further than asked, for the rounding in the
# measured violation.
MARGIN = 0.5
# Rounds without progress on an unchanged working set before rounding gets the blame.
PATIENCE = 3


class Status(Enum):
    """How the work at one lambda ended, as the user reads it."""

    CONVERGED = "converged"
    MAX_EPOCHS = "max_epochs reached before tol; raise max_epochs or tol"
    ROUNDING = "tol is below what rounding allows on these data; raise tol"


@dataclass(frozen=True)
class Limits:
    """How the work is done and when it stops."""

    tol: float  # absolute: relative tol times the null gradient
    max_epochs: int
    working_set: str
    n_added: int | None
    prune: bool
    inexact: bool


@dataclass
class Work:
    """What it took at one lambda."""

    strong: int
    working_set: int = 0
    rounds: int = 0
    certified: int = 0
    checked: int = 0
    step: float = 1.0
    epochs: int = 0
    newton_steps: int = 0
    seconds: float = field(default_factory=lambda: -perf_counter())


def solve(problem, state, lam, limits):
    """Minimise at one lambda, from `state`, which moves there.

    Returns the status, the largest violation over all features, and the work done.
    """
    l1, l2 = problem.levels(lam)
    working, work = start(problem, state, l1, limits)
    # Slabs shrink with lambda, and so does what lies inside them.
    state.feasible *= lam / state.lam
    state.lam = lam
    target, best, stalled = limits.tol, np.inf, 0
    while True:
        # 1. Solve on the working set.
        epochs, newton_steps = descend(
            problem, state, working, l1, l2, MARGIN * target,
            limits.max_epochs - work.epochs,
        )
        work.epochs += epochs
        work.newton_steps += newton_steps
        # 2. Look at every feature that is not certified to be satisfied.
        outside = l1 < np.inf
        outside[working] = False
        refresh(problem, state, working, l1, limits, work)
        u = state.correlation - l2 * state.beta
        distance = violations(problem.penalty, state.beta, u, l1)
        # 3. Move FireWorks' feasible vector towards the residual.
        work.step = feasible_step(u, state.feasible, l1, outside)
        state.feasible += work.step * (u - state.feasible)
        np.clip(state.feasible, -l1, l1, out=state.feasible)
        # 4. Done?
        worst = distance.max()
        if worst <= limits.tol:
            status = Status.CONVERGED
            break
        if work.epochs >= limits.max_epochs:
            status = Status.MAX_EPOCHS
            break
        objecting = distance[outside].max(initial=0.0)
        if objecting <= limits.tol:
            # Nobody outside objects: the same set again, from exact correlations.
            stalled = 0 if worst < 0.5 * best else stalled + 1
            best, target = min(worst, best), limits.tol
            if stalled > PATIENCE:
                status = Status.ROUNDING
                break
            continue
        # 5. Choose who works next.
        working = choose(problem, state, u, l1, l2, working, outside, work, limits)
        target = inner_target(limits, target, objecting)
    work.seconds += perf_counter()
    return status, worst, work


def rest(problem, state, lam, limits):
    """Stay with the null model, the solution from lambda_max up."""
    l1, l2 = problem.levels(lam)
    u = state.correlation - l2 * state.beta
    state.lam, state.feasible = min(lam, problem.lambda_max), np.clip(u, -l1, l1)
    worst = violations(problem.penalty, state.beta, u, l1).max()
    status = Status.CONVERGED if worst <= limits.tol else Status.ROUNDING
    return status, worst, Work(strong=0, checked=problem.design.p, seconds=0.0)


def start(problem, state, l1, limits):
    """The working set to begin with: support, unpenalised and strong features."""
    held = (state.beta != 0) | (problem.factor == 0)
    if limits.working_set == "full":
        return np.flatnonzero(l1 < np.inf), Work(strong=0)
    n_added = limits.n_added or default_n_added(problem.design.p)
    if np.isfinite(state.lam):
        size = max(n_added, 2 * int(held.sum()))
        l1_before, l2_before = problem.levels(state.lam)
        u = state.correlation - l2_before * state.beta
        strong = strong_set(u, l1, l1_before, problem.growth, size)
    else:
        strong = first_set(state.correlation, problem.factor, n_added)
    held[strong] = True
    return np.flatnonzero(held), Work(strong=strong.size)


def descend(problem, state, working, l1, l2, target, max_epochs):
    """Solve on the working set; returns the number of sweeps and Newton steps.

    The Gram matrix of the set makes n disappear from the sweeps; a set that
    outgrows n is served by residual updates instead.
    """
    from .inner import descend_on_gram  # loads numba: at the first fit, not at import

    design, penalty = problem.design, problem.penalty
    beta, l1, l2 = state.beta[working], l1[working], l2[working]
    if working.size <= max(design.n, 1000):
        q = state.correlation[working] - l2 * beta
        v = design.norm2[working] + l2
        spent = descend_on_gram(
            state.gram, working, penalty, l1, v, beta, q, target, max_epochs
        )
    else:
        spent = design.descend(
            working, penalty, l1, l2, beta, state.residual, target, max_epochs
        ), 0
    state.beta[working] = beta
    return spent


def refresh(problem, state, working, l1, limits, work):
    """Residual and correlations anew from beta, so that no rounding piles up."""
    support = np.flatnonzero(state.beta)
    fitted = problem.design.combine(support, state.beta[support])
    state.residual = problem.response - fitted
    known = np.zeros(l1.size, dtype=bool)
    known[working] = True
    look = state.certificates.look(state.residual, known, l1, limits.tol)
    state.correlation = look.correlation
    work.rounds += 1
    work.checked += look.touched
    work.certified = np.count_nonzero(~look.exact)
    work.working_set = max(work.working_set, working.size)


def choose(problem, state, u, l1, l2, working, outside, work, limits):
    """FireWorks: prune the set to what is in use, add the nearest slabs outside."""
    n_added = limits.n_added
    if n_added is None:
        n_added = growing_n_added(u, l1, outside, work.rounds)
    length = np.sqrt(problem.design.norm2 + l2)
    added = nearest_slabs(
        u, state.feasible, l1, length, np.flatnonzero(outside), n_added
    )
    kept = np.zeros(outside.size, dtype=bool)
    if limits.prune and work.rounds < PRUNING_ROUNDS:
        kept[:] = (state.beta != 0) | (problem.factor == 0)
    else:
        kept[working] = True
    kept[added] = True
    return np.flatnonzero(kept)


def growing_n_added(u, l1, outside, rounds):
    """Twice as many in each further round, but not far beyond those that object.

    Each nonconvex jump calls for a round of its own; without the second limit the
    doubling would let in whole designs for the sake of a few features.
    """
    first = default_n_added(u.size)
    objecting = np.count_nonzero(outside & (np.abs(u) > l1))
    return max(first, min(first << min(rounds - 1, 30), 2 * objecting))


def inner_target(limits, target, objecting):
    """How exactly to solve the next round.

    While features outside object by much, a tenth of their violation is enough,
    and a tenth of the previous target at most so that the sum is finite (Corollary 1).
    """
    if not limits.inexact:
        return limits.tol
    before = target if target > limits.tol else np.inf
    return max(limits.tol, 0.1 * min(objecting, before))
