"""THE loop: FireWorks rounds over blocks of lambdas. Nothing else moves the state.

A round chooses a working set for the next few lambdas, solves them on it one after the
other, and checks all features at their residuals together; the lambdas before the first
that fails are finished. If that fails because of features outside, some of these join
by FireWorks' rule and the next round begins from its rejected solution. Blocks of one
lambda make it the algorithm of the paper.
"""

from dataclasses import dataclass, field
from functools import cached_property, partial
from time import perf_counter
from typing import NamedTuple

import numpy as np

from .. import kernels
from .certificates import Certificates, Checked, Correlations
from .finished import Finished, Status, add_work, no_work
from .inner import INNER, Solved, by_steps
from .problem import Problem
from .rounding import AT_WORST
from .solutions import Solutions
from .trace import record_round
from .working_set import choose_block, nearest, step_towards, usable_cuts

# The working set is solved a little further than asked, for the rounding in the
# measured violation.
MARGIN = 0.5
# How much further a working set is solved that was thought to be solved.
FURTHER = 0.2
# Objectives that differ by a smaller share may do so by the way they were computed.
SAME_OBJECTIVE = 1e-9
# Rounds without progress on an unchanged working set before it is given up.
PATIENCE = 3
# Correlations of a block: lambdas times features, at most.
BLOCK_NUMBERS = 1 << 23
# By how many lambdas a block may be longer than the one before.
LONGER = 2
# Where the problem on the working set has no solution, whatever its violation.
NO_SOLUTION = (Status.SATURATED,)
# A lambda this close to lambda_max is lambda_max, rounded differently.
SAME_LAMBDA = 1e-12


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
    record: bool
    certify_from: int  # numbers in X


@dataclass
class Attempt:
    """The next lambda, from the first try until it is finished."""

    problem: Problem
    lam: float
    beta: np.ndarray  # p, where it starts: the coefficients of the lambda before
    intercept: float
    start: Correlations  # of their residual
    target: float  # how exactly to solve the next round
    loosest: float  # and the loosest that a later one may be
    feasible: Correlations | None = None  # FireWorks' s, once it is needed
    best: float = np.inf  # violation on an unchanged working set
    stalled: int = 0
    work: dict = field(default_factory=lambda: no_work(1))
    trace: list = field(default_factory=list)

    @cached_property
    def origin(self):
        """Where it starts, as a solution at this lambda."""
        support = np.flatnonzero(self.beta)
        return Solutions(
            self.problem, np.array([self.lam]), support, self.beta[support][None],
            np.array([self.intercept]),
        )

    @property
    def ceiling(self):
        """The highest objective that is not above the origin's, as far as we know."""
        if self.problem.rescales:
            return np.inf  # there is no fixed objective
        height, hides = self.origin.objective[0], self.origin.objective_rounding[0]
        return max(height + SAME_OBJECTIVE * abs(height), hides)

    def allows(self, solutions):
        """Whether a solution's objective is not above that, nor may be by rounding."""
        hides = solutions.objective_rounding[0]
        return max(solutions.objective[0], hides) <= self.ceiling


class Outcome(NamedTuple):
    """A block of lambdas, solved and checked."""

    solved: Solved
    checked: Checked
    inside: np.ndarray  # by lambda: the largest violation in the working set
    outside: np.ndarray  # and beyond it
    work: dict[str, np.ndarray]

    @property
    def solutions(self):
        """What was found."""
        return self.solved.solutions

    @property
    def worst(self):
        """The largest violation, by lambda; NaN, if any, stays visible."""
        return np.maximum(self.inside, self.outside)

    def passed(self, tol):
        """How many lambdas are finished: those before the first that fails."""
        good = self.solved.met & (self.worst <= tol) & (self.solutions.rounding <= tol)
        return good.size if good.all() else int(np.argmin(good))


def begin_walk(problem, state, lambdas, limits):
    """The lambdas at which the null model stays, finished, and the others."""
    state.certificates = Certificates(problem.design, limits.certify_from)
    state.certificates.learn(state.correlation.vector, state.correlation.values)
    n = np.count_nonzero(lambdas >= problem.lambda_max * (1 - SAME_LAMBDA))
    return [stay_at_null(problem, state, lambdas[:n], limits)] if n else [], lambdas[n:]


def rounds(problem, state, lambdas, limits):
    """One round after another, until all lambdas are finished."""
    way, memory = INNER[limits.solver], max(BLOCK_NUMBERS // problem.design.p, 1)
    most = min(way.max_block, memory)
    done, attempt, longest = 0, None, most
    while done < lambdas.size:
        # 1. Choose the working set, and for how many of the next lambdas.
        if attempt is None:
            attempt = begin(problem, state, lambdas[done], limits)
            ahead = lambdas[done:][:longest]
            block = choose_block(problem, state, ahead, limits, way.strong_per_added)
            longest = min(block.lambdas.size + LONGER, most)
        # 2. Solve them on it, one after the other.
        # 3. Check all features at the residuals of all of them.
        ahead = lambdas[done + block.lambdas.size :][:longest]
        outcome = solve_and_check(problem, state, block, attempt, limits, ahead)
        # 4. Finish the lambdas before the first that fails.
        passed = outcome.passed(limits.tol)
        if passed:
            yield finish(state, outcome, passed, attempt, limits)
            done, attempt = done + passed, None
        if passed == len(outcome.solutions):
            continue
        # 5. Let violators join, and try again from the rejected solution; or give up.
        if attempt is None:
            attempt = begin(problem, state, lambdas[done], limits)
        status = handle_failure(problem, state, attempt, outcome, passed, limits)
        if status is None:
            # Alone: those behind it would be solved in vain if it fails again.
            block = block._replace(lambdas=lambdas[done : done + 1], touched=0)
            longest = max(longest // 2, 1)
        else:
            yield close(state, attempt, outcome, passed, status, limits)
            done, attempt = done + 1, None


def return_to(problem, state, finished):
    """Be at a lambda that was finished before."""
    begin_at(problem, state, finished.solutions)
    finished.solutions.settled()
    state.lam = finished.solutions.lambdas[0]


def begin_at(problem, state, solutions):
    """Be at coefficients that the loop has not led to, with exact correlations."""
    values = problem.design.correlate(solutions.residual)[0]
    correlation = Correlations(problem.design, solutions.residual[0], values)
    state.stand(solutions, 0, correlation)


def begin(problem, state, lam, limits):
    """A new lambda, from the last one finished."""
    target, loosest = limits.tol, np.inf
    if state.lam == np.inf and limits.working_set != "full":
        # From a cold start the first set is a guess, and need not be solved exactly.
        target, loosest = inner_target(limits, loosest, problem.g0)
    return Attempt(
        problem, lam, state.beta, state.intercept, state.correlation, target, loosest
    )


def solve_and_check(problem, state, block, attempt, limits, ahead):
    """Solve a block on the working set, and check all features at its residuals."""
    started, trips = perf_counter(), problem.design.round_trips or 0
    features = np.flatnonzero(state.member)
    touched = block.touched + state.correlation.resolve(features)
    rounding = problem.rounding.in_violations(features, state.beta[features])
    # A little further than asked, but not into rounding.
    target = max(MARGIN * attempt.target, 0.5 * rounding)
    left = limits.max_epochs - int(attempt.work["epochs"][0])
    way = INNER[limits.solver]
    quadratic = problem.likelihood.is_quadratic
    solve = way.solve if quadratic else partial(by_steps, way)
    solved = solve(
        problem, state, features, block.lambdas, target, left, limits.max_epochs
    )
    checked = check(problem, state, solved.solutions, limits, ahead)
    n = len(checked.values)  # up to the first that is certain to fail
    solved = solved.part(n)
    inside, outside = violations(solved.solutions, checked.values, state.member)
    work = no_work(n)
    work["strong"][:], work["working_set"][:] = block.strong, features.size
    work["rounds"][:], work["certified"][:] = 1, checked.certified
    work["checked"][:], work["epochs"][:] = checked.touched, solved.epochs
    work["newton_steps"][:] = solved.newton_steps
    work["seconds"][:] = (perf_counter() - started) / n
    work["checked"][0] += touched
    work["round_trips"][0] = (problem.design.round_trips or 0) - trips
    return Outcome(solved, checked, inside, outside, work)


def check(problem, state, solutions, limits, ahead):
    """Correlations of all features with the residuals, exact where it matters."""
    values = solutions.correlate_by_gram(state.anchor, state.gram, limits.tol)
    if values is not None:
        return Checked(values, None, *np.zeros((2, len(solutions))))
    cut = np.inf  # from which on features may be strong for the lambdas ahead
    if ahead.size:
        cut = usable_cuts(problem, solutions.lambdas[-1], ahead)[-1]
    return state.certificates.check(
        solutions.residual, state.member, problem.penalty_factor, solutions.levels,
        limits.tol, cut,
    )


def violations(solutions, correlation, member):
    """The largest violations in the working set and outside, by lambda."""
    outside = np.empty(len(solutions))
    kernels.measure_outside(
        solutions.problem.penalty_factor, solutions.levels, correlation, member, outside
    )
    return solutions.violation(correlation[:, solutions.features]), outside


def finish(state, outcome, n, attempt, limits):
    """The first n lambdas of a block are finished; the state moves to the last."""
    work = {name: counts[:n].copy() for name, counts in outcome.work.items()}
    first = {name: counts[:1] for name, counts in work.items()}
    for name, count in add_work(attempt.work, first).items():
        work[name][0] = count[0]
    trace = [[] for _ in range(n)]
    if limits.record:
        member = outcome.solutions.member
        trace = [[record_round(outcome, k, member, 1.0)] for k in range(n)]
        trace[0] = attempt.trace + trace[0]
    solutions = outcome.solutions.part(0, n)
    state.move(solutions, n - 1, outcome.checked.row(solutions, n - 1))
    return Finished(
        solutions.settled(), outcome.worst[:n], [Status.CONVERGED] * n, work, trace
    )


def handle_failure(problem, state, attempt, outcome, k, limits):
    """How a lambda that failed ends, or None for another round.

    The state moves to its solution; if features outside violate their condition, some
    of them join the working set.
    """
    solutions, outside, worst = outcome.solutions, outcome.outside[k], outcome.worst[k]
    spent = {name: counts[k : k + 1].copy() for name, counts in outcome.work.items()}
    for name in ("checked", "seconds"):  # also on those after it, in vain
        spent[name][0] = outcome.work[name][k:].sum()
    state.stand(solutions, k, outcome.checked.row(solutions, k))
    if outside > limits.tol:
        move_feasible(problem, state, attempt, solutions.lambdas[k], spent)
    attempt.work = add_work(attempt.work, spent)
    if limits.record:
        step = spent["step"][0]
        attempt.trace.append(record_round(outcome, k, state.member, step))
    failure = outcome.solved.failure if k == len(solutions) - 1 else None
    if failure in NO_SOLUTION:
        return failure
    if worst <= limits.tol:
        return Status.CONVERGED
    if failure and outside <= limits.tol:
        return failure
    if attempt.work["epochs"][0] >= limits.max_epochs:
        return Status.MAX_EPOCHS
    if solutions.objective_rounding[k] > attempt.ceiling:
        return Status.ROUNDING
    if outside > limits.tol:
        enlarge(problem, state, attempt, solutions.lambdas[k], limits)
        attempt.target, attempt.loosest = inner_target(limits, attempt.loosest, outside)
        attempt.best, attempt.stalled = np.inf, 0
        return None
    # None outside is violated: the same set again, from exact correlations. Sweeps on
    # residuals measure on their way, and what they met may grow again behind them; if
    # they thought they had arrived, they have to go further.
    attempt.stalled = 0 if worst < 0.5 * attempt.best else attempt.stalled + 1
    attempt.best = min(worst, attempt.best)
    further = attempt.target <= limits.tol
    attempt.target = FURTHER * attempt.target if further else limits.tol
    if attempt.stalled <= PATIENCE:
        return None
    at_rounding = worst <= AT_WORST * solutions.rounding[k]
    return Status.ROUNDING if at_rounding else Status.STALLED


def move_feasible(problem, state, attempt, lam, spent):
    """Move FireWorks' vector towards the residual, as far as it stays feasible."""
    if attempt.feasible is None:
        # Slabs shrink with lambda, and so does what lies inside them; those of another
        # majorant need not hold it.
        share = 0.0 if problem.majorizes else min(lam / state.lam, 1.0)
        ridge = problem.ridge_of(lam, attempt.beta)
        attempt.feasible = attempt.start.times(share, ridge)
        keep_inside(problem, attempt.feasible, lam)
    correlation = state.correlation.times(1.0, problem.ridge_of(lam, state.beta))
    step, touched = step_towards(
        attempt.feasible, correlation, problem, lam, state.member
    )
    attempt.feasible = attempt.feasible.moved(step, correlation)
    keep_inside(problem, attempt.feasible, lam)
    spent["step"][0] = step
    spent["checked"] += touched


def keep_inside(problem, feasible, lam):
    """Keep FireWorks' vector in every slab: members that are solved loosely, which do
    not shorten the step, would take it out, and may be outside the set next time."""
    live = np.flatnonzero(problem.may_enter)
    l1, _ = problem.levels_of(lam, live)
    feasible.values[live] = np.clip(feasible.values[live], -l1, l1)


def enlarge(problem, state, attempt, lam, limits):
    """Prune the set to what is in use, and add those outside whom the rule names."""
    done, way = int(attempt.work["rounds"][0]), INNER[limits.solver]
    outside = np.flatnonzero(~state.member & problem.may_enter)
    l1, l2 = problem.levels_of(lam, outside)
    n_added = first = limits.n_added
    if limits.growing:
        # Twice as many in each further round, but not far beyond the violators: each
        # nonconvex jump calls for a round of its own, and bare doubling would let in
        # whole designs for the sake of a few features.
        violators = np.count_nonzero(np.abs(state.correlation.values[outside]) > l1)
        n_added = max(first, min(first << min(done - 1, 30), 2 * violators))
        # Nor beyond what the Gram matrix serves, while that is possible.
        held = np.count_nonzero((state.beta != 0) | problem.free)
        n_added = min(n_added, max(first, state.gram.largest_set - held))
    fireworks = limits.working_set == "fireworks"
    added, touched = nearest(
        attempt.feasible if fireworks else state.correlation, state.correlation.values,
        l1, np.sqrt(problem.design.norm2[outside] + l2), outside, n_added, fireworks,
    )
    attempt.work["checked"] += touched
    size = np.count_nonzero(state.member) + added.size
    last = way.pruning_rounds if state.gram.suits(size) else way.last_pruning
    if limits.prune and done < last:
        state.member = (state.beta != 0) | problem.free
    state.member[added] = True


def inner_target(limits, loosest, outside):
    """How exactly to solve the next round, and the loosest that a later one may be.

    While features outside are violated by much, a share of that is enough. What is
    allowed falls geometrically at each lambda, so that the sum of targets above tol is
    finite (Corollary 1).
    """
    if not limits.inexact:
        return limits.tol, limits.tol
    way = INNER[limits.solver]
    target = max(limits.tol, min(way.share * outside, loosest))
    return target, way.decay * target


def close(state, attempt, outcome, k, status, limits):
    """A lambda ends, and not with a doubtless success; the state moves there.

    If rounding has led the steps since the origin above its objective, or so far that
    it hides as much, they are undone.
    """
    solutions = outcome.solutions.part(k, k + 1)
    if not attempt.allows(solutions):
        solutions = attempt.origin
    elif status is Status.CONVERGED:
        return conclude(state, solutions, status, outcome.worst[k], attempt, limits)
    return conclude(state, solutions, status, None, attempt, limits)


def conclude(state, solutions, status, worst, attempt, limits):
    """The end of a lambda. If its largest violation is not given, it is measured by
    exact correlations with all features; beyond what rounding allows it is not known.
    """
    correlation, design = state.correlation, solutions.problem.design
    if worst is None:
        values = design.correlate(solutions.residual)
        attempt.work["checked"] += design.p
        correlation = Correlations(design, solutions.residual[0], values[0])
        worst = np.maximum(*violations(solutions, values, solutions.member))[0]
        if worst <= limits.tol and status not in NO_SOLUTION:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.ROUNDING
    if solutions.rounding[0] > limits.tol:
        worst = max(worst, solutions.rounding[0])
        status = status if status in NO_SOLUTION else Status.ROUNDING
    state.move(solutions, 0, correlation)
    return Finished(
        solutions.settled(), np.array([worst]), [status], attempt.work, [attempt.trace]
    )


def stay_at_null(problem, state, lambdas, limits):
    """The null model, the solution from lambda_max up."""
    n, support = lambdas.size, np.flatnonzero(state.beta)
    beta = state.beta[support][None].repeat(n, axis=0)
    intercept = np.full(n, state.intercept)
    solutions = Solutions(problem, lambdas, support, beta, intercept)
    values = np.broadcast_to(state.correlation.values, (n, problem.design.p))
    # lambda_max may be rounded differently.
    inside = solutions.violation(values[:, support])
    checked = Checked(values, None, *np.zeros((2, n)))
    solved = Solved(solutions, *np.zeros((3, n)))
    outcome = Outcome(solved, checked, inside, np.zeros(n), no_work(n))
    outcome.work["checked"][:] = problem.design.p
    outcome.work["round_trips"][0] = problem.design.round_trips or 0
    trace = [[] for _ in range(n)]
    if limits.record:
        trace = [[record_round(outcome, k, problem.free, 1.0)] for k in range(n)]
    known = solutions.rounding <= limits.tol
    worst = np.where(known, inside, np.maximum(inside, solutions.rounding))
    state.lam = min(lambdas[-1], problem.lambda_max)
    return Finished(
        solutions.settled(), worst,
        [Status.CONVERGED if k else Status.ROUNDING for k in worst <= limits.tol],
        outcome.work, trace,
    )
