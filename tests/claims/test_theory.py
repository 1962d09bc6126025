"""What the paper proves of FireWorks, on random problems.

A round at one lambda: the working set A, the residual's correlations u, the feasible
vector's f before and after the step. Distances are to slab boundaries, in units of the
column's length.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from conftest import draw

from ncvpath import kernels, ncvpath
from ncvpath.penalties import ROWS, Penalty
from ncvpath.solver import loop
from ncvpath.solver.inner import INNER, single

NAMES = [row.name for row in ROWS]
SEEDS = range(12)


@dataclass
class Watched:
    lam: float
    outside: np.ndarray
    u: np.ndarray
    before: np.ndarray
    after: np.ndarray
    l1: np.ndarray
    length: np.ndarray
    step: float

    @property
    def violated(self):
        return self.outside & (np.abs(self.u) > self.l1)

    @property
    def gap(self):
        """dist_S of the feasible vector before the step."""
        return (self.l1 - np.abs(self.before)) / self.length

    @property
    def distance(self):
        """From the residual to each slab."""
        return np.maximum(np.abs(self.u) - self.l1, 0) / self.length


STEP_TOWARDS, FINISH = loop.step_towards, loop.finish


def watch(monkeypatch, seed, penalty, **options):
    """Every round of a cold start at one lambda that moves the feasible vector, and
    the last one; and the path."""
    rounds = []

    def step_towards(feasible, correlation, problem, lam, member):
        # Towards where nothing is violated the step is one.
        assert STEP_TOWARDS(feasible, feasible, problem, lam, member)[0] == 1
        step, touched = STEP_TOWARDS(feasible, correlation, problem, lam, member)
        l1, l2 = problem.levels_of(lam, np.arange(problem.design.p))
        after = feasible.moved(step, correlation)
        loop.keep_inside(problem, after, lam)
        rounds.append(
            Watched(
                lam, ~member, correlation.values.copy(), feasible.values.copy(),
                after.values, l1, np.sqrt(problem.design.norm2 + l2), step,
            )
        )
        return step, touched

    def finish(state, outcome, n, attempt, *others):
        solutions, problem = outcome.solutions, outcome.solutions.problem
        ridge = problem.ridge_of(solutions.lambdas[0], solutions.full(0))
        correlation = outcome.checked.row(solutions, 0).times(1.0, ridge)
        step_towards(
            attempt.feasible, correlation, problem, solutions.lambdas[0], state.member
        )
        return FINISH(state, outcome, n, attempt, *others)

    monkeypatch.setattr(loop, "step_towards", step_towards)
    monkeypatch.setattr(loop, "finish", finish)
    X, y = draw(40, 150, seed=seed, nonzero=15)
    X = X * np.random.default_rng(seed).uniform(0.3, 3, 150)
    path = ncvpath(
        X, y, penalty=penalty, lambdas=0.03 * np.abs(X.T @ y).max() / 40,
        warm_up=False, standardize=False, n_added=4, record=True, tol=1e-9, **options,
    )
    return rounds, path


def blocking(r):
    """Violated features on whose boundary the feasible vector now lies."""
    touching = np.abs(r.after) >= r.l1 * (1 - 1e-12)
    return np.flatnonzero(r.violated & touching)


@pytest.mark.parametrize("penalty", NAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_proposition_2_and_its_consequences(monkeypatch, seed, penalty):
    """The step is one exactly when no feature outside is violated; else some of them
    block it, and work in the next round. The feasible vector stays in every slab."""
    rounds, path = watch(monkeypatch, seed, penalty, solver="bcd")
    assert path.converged.all() and len(rounds) > 2
    for r, following in zip(rounds, [*rounds[1:], None]):
        assert (np.abs(r.before) <= r.l1).all() and (np.abs(r.after) <= r.l1).all()
        assert (r.step == 1) == (not r.violated.any())
        if r.step < 1:
            np.testing.assert_array_equal(r.after, following.before)
            blockers = blocking(r)
            assert blockers.size > 0
            assert not following.outside[blockers].any()
    assert rounds[-1].step == 1 or rounds[-1].distance.max() <= 1e-9
    # What the record says of them; a round without violators does not move it.
    said = path.trace["step"].to_numpy()
    np.testing.assert_array_equal(said[said < 1], [r.step for r in rounds[:-1]])
    assert said[-1] == 1


@pytest.mark.parametrize("penalty", NAMES)
@pytest.mark.parametrize("alpha", [1.0, 0.7])
@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_1_holds_for_what_blocks(monkeypatch, seed, alpha, penalty):
    """dist(r, C_j) = (1 - step) / step dist_S(j) >= (1 - step) / step tau, with tau
    the smallest dist_S that was left outside."""
    rounds, _ = watch(monkeypatch, seed, penalty, alpha=alpha)
    checked = 0
    for r in rounds[1:]:
        if not 0 < r.step < 1:
            continue
        ratio = (1 - r.step) / r.step
        j = blocking(r)[np.argmin(r.gap[blocking(r)])]
        same_side = r.u[j] * r.before[j] >= 0
        way_to_go = r.gap[j] if same_side else 2 * r.l1[j] / r.length[j] - r.gap[j]
        tau = r.gap[r.outside].min()
        np.testing.assert_allclose(r.distance[j], ratio * way_to_go, rtol=1e-6)
        assert r.distance[j] >= ratio * tau * (1 - 1e-9)
        checked += 1
    assert checked > 0


def test_lemma_1_fails_for_other_violators(monkeypatch):
    """As printed, the lower bound is claimed for every violated feature."""
    counter_examples = 0
    for seed in SEEDS:
        rounds, _ = watch(monkeypatch, seed, "logsum")
        for r in rounds[1:]:
            if 0 < r.step < 1:
                bound = (1 - r.step) / r.step * r.gap[r.outside].min()
                counter_examples += np.sum(r.distance[r.violated] < 0.99 * bound)
    assert counter_examples > 0


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_violator_lowers_the_objective_by_half_its_distance_squared(seed, row):
    """A concave penalty lies below l1 |b|, so letting one feature in from zero gains
    at least (|u| - l1)^2 / (2 v): why rounds cannot repeat."""
    rng = np.random.default_rng(seed)
    l1, v, u = rng.uniform(0.1, 2), rng.uniform(0.2, 3), rng.normal(0, 3)
    shape = row.gamma or 0.0
    b = kernels.threshold(Penalty(row.kind, shape), u, v, l1, 0.0)
    gained = u * b - v * b**2 / 2 - row.value(abs(b), l1, shape)
    assert gained >= max(abs(u) - l1, 0) ** 2 / (2 * v) * (1 - 1e-12)


@pytest.mark.parametrize("rule", ["fireworks", "maxvc"])
@pytest.mark.parametrize("way", INNER)
@pytest.mark.parametrize("penalty", NAMES)
@pytest.mark.parametrize("seed", SEEDS[:5])
def test_the_objective_never_rises(monkeypatch, seed, penalty, way, rule):
    for inexact in (True, False):
        _, path = watch(
            monkeypatch, seed, penalty, solver=way, working_set=rule, inexact=inexact
        )
        heights = path.trace["objective"].to_numpy()
        assert (np.diff(heights) <= 1e-12 * heights[0]).all()
        assert heights[-1] < heights[0]


@pytest.mark.parametrize("way", INNER)
def test_inexact_targets_are_summable(way):
    """Corollary 1: they fall geometrically until they are tol."""
    limits = loop.Limits(
        1e-8, 100, "fireworks", way, 10, True, True, True, False, 0
    )
    targets, loosest = [], np.inf
    for violation in (1.0, 1e-3, *np.ones(100)):  # violations may rise again
        target, loosest = loop.inner_target(limits, loosest, violation)
        targets.append(target)
    assert targets[0] < 1 and targets[-1] == limits.tol
    loose = [target for target in targets if target > limits.tol]
    assert all(b <= 0.8 * a for a, b in zip(loose, loose[1:]))
    assert targets[len(loose) :] == [limits.tol] * (len(targets) - len(loose))
    exact = replace(limits, inexact=False)
    assert loop.inner_target(exact, np.inf, 1.0) == (1e-8, 1e-8)


@pytest.mark.parametrize("p", [150, 1500])  # few, and more than a Gram matrix serves
@pytest.mark.parametrize("way", INNER)
def test_pruning_ends_even_with_a_solver_that_cannot_move(monkeypatch, way, p):
    """What would go round for ever: a violator enters, stays at zero, is pruned and
    violates again. From some round on the set only grows, until all are in it."""
    calls = []

    def stuck(problem, state, features, lambdas, *_):
        calls.append(features.size)
        if len(calls) > 2000:
            raise RecursionError("round for ever")
        return single(problem, features, lambdas, state.beta[features], 0)

    X, y = draw(40, p, seed=1)
    options = dict(lambdas=0.1, warm_up=False, n_added=10, solver=way)
    patient = INNER[way]._replace(solve=stuck)
    for_ever = patient._replace(pruning_rounds=np.inf, last_pruning=np.inf)
    monkeypatch.setitem(INNER, way, for_ever)
    with pytest.raises(RecursionError):
        ncvpath(X, y, **options)
    calls.clear()
    monkeypatch.setitem(INNER, way, patient)
    with pytest.warns(UserWarning, match="progress stopped"):
        path = ncvpath(X, y, **options)
    assert len(calls) < 110 + p / 10 and calls[-1] > calls[0]
    assert not path.converged[0]
