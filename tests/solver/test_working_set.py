"""FireWorks and the strong rule on small arrays whose answer is known."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import draw

from ncvpath import lambda_max, ncvpath
from ncvpath.kernels.records import Penalty
from ncvpath.penalties import ROWS
from ncvpath.solver.certificates import Correlations
from ncvpath.solver.inner import INNER
from ncvpath.solver.problem import Problem
from ncvpath.solver.working_set import (
    DARING,
    SENSIBLE,
    STRONG_PER_HELD,
    choose_block,
    default_n_added,
    first_set,
    nearest,
    step_towards,
    usable_cuts,
)

pytestmark = pytest.mark.plain
KINDS = {row.name: row.kind for row in ROWS}
LASSO = Penalty(KINDS["lasso"], 0.0)
LEAST_SQUARES = SimpleNamespace(is_quadratic=True)


def problem_with(penalty_factor, alpha=1.0, penalty=LASSO):
    """As much of a problem as a choice of features needs."""
    return Problem(
        likelihood=LEAST_SQUARES, design=None, penalty=penalty, alpha=alpha,
        penalty_factor=penalty_factor, lambda_max=1.0, g0=1.0, rounding=None,
    )


class Known:
    """A design whose correlations with one vector are known; it counts columns."""

    def __init__(self, truth, length):
        self.truth, self.length, self.touched = truth, length, 0

    def correlate(self, residuals, features):
        self.touched += features.size
        return self.truth[features][None]


def exactly(values):
    """Correlations that are all known."""
    return Correlations(None, None, np.array(values))


def estimated(truth, length, exact, slack, rng):
    """Correlations of which some are off, by slack |x_j| at most."""
    off = slack * length * rng.choice([-1.0, -0.5, 0.5, 1.0], truth.size)
    values = np.where(exact, truth, truth + off)
    return Correlations(
        Known(truth, length), np.zeros(1), values, exact.copy(), slack
    )


def step_of(u, f, l1, outside):
    """The step alone; factors are l1 at lambda 1, all of them known."""
    step, touched = step_towards(
        exactly(f), exactly(u), problem_with(l1), 1.0, ~outside
    )
    assert touched == 0
    return step


def bisected_step(u, f, l1, outside):
    low, high = 0.0, 1.0
    fits = lambda t: (np.abs(t * u + (1 - t) * f) <= l1)[outside].all()
    if fits(1.0):
        return 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@pytest.mark.parametrize("seed", range(20))
def test_step_is_the_largest_that_stays_in_every_slab(seed):
    rng = np.random.default_rng(seed)
    l1 = rng.uniform(0.1, 2, 50)
    f, u = rng.uniform(-1, 1, 50) * l1, rng.normal(0, 1.2, 50)
    outside = rng.random(50) < 0.8
    step = step_of(u, f, l1, outside)
    assert step == pytest.approx(bisected_step(u, f, l1, outside), abs=1e-12)


def test_step_is_one_without_violators_outside():
    u, l1 = np.array([0.5, 9.0]), np.ones(2)
    assert step_of(u, np.zeros(2), l1, np.array([True, False])) == 1.0


def test_step_is_zero_at_a_boundary_and_safe_when_u_equals_f():
    l1, outside = np.ones(2), np.ones(2, dtype=bool)
    f = np.array([1.0, 0.0])
    assert step_of(np.array([1.5, 0.0]), f, l1, outside) == 0.0
    assert step_of(f, f, l1, outside) == 1.0


def test_step_is_the_same_where_the_feasible_vector_is_an_estimate():
    """It has to be known where the residual is violated, and nowhere else."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        l1, length = rng.uniform(0.1, 2, 40), rng.uniform(0.5, 2, 40)
        f, u = rng.uniform(-1, 1, 40) * l1, rng.normal(0, 1, 40)
        outside, exact = rng.random(40) < 0.8, rng.random(40) < 0.5
        feasible = estimated(f, length, exact, 0.3, rng)
        problem = problem_with(l1)
        step, touched = step_towards(feasible, exactly(u), problem, 1.0, ~outside)
        assert step == step_of(u, f, l1, outside)
        asked = outside & (np.abs(u) > l1) & ~exact
        assert touched == asked.sum() == feasible.design.touched
        assert (feasible.exact == exact | asked).all()


def test_excluded_features_hold_no_step_back():
    factor = np.array([1.0, np.inf])
    step, _ = step_towards(
        exactly([0.0, 0.0]), exactly([2.0, 9.0]), problem_with(factor), 1.0,
        np.zeros(2, dtype=bool),
    )
    assert step == 0.5


def nearest_to(f, u, l1, length, n_added):
    """FireWorks' choice among features that are all outside."""
    found, _ = nearest(
        exactly(f), np.array(u), l1, length, np.arange(l1.size), n_added, True
    )
    return sorted(found)


def test_nearest_slabs_divide_by_the_length_of_the_column():
    l1, f = np.ones(4), np.array([0.9, 0.5, 0.0, -0.8])
    length = np.array([0.1, 1.0, 10.0, 1.0])
    # Distances 1, 0.5, 0.1 and 0.2.
    assert nearest_to(f, f, l1, length, 2) == [2, 3]


def test_all_blocking_features_enter_even_beyond_n_added():
    l1, f = np.ones(6), np.array([1.0, 0.2, -1.0, 0.3, 1.0 - 1e-15, 0.0])
    assert nearest_to(f, 2 * f, l1, np.ones(6), 1) == [0, 2, 4]


def test_at_lambda_zero_the_largest_violations_enter_first():
    u = np.array([0.1, -3.0, 2.0, 0.5])
    assert nearest_to(np.zeros(4), u, np.zeros(4), np.ones(4), 2) == [1, 2]


@pytest.mark.parametrize("all_touching", [True, False])
def test_the_nearest_are_the_same_where_some_are_estimates(all_touching):
    """Estimates say only which columns have to be looked at: not most of them."""
    rng, touched = np.random.default_rng(1), 0
    for turn in range(200):
        l1, length = rng.uniform(0.5, 2, 60), rng.uniform(0.5, 2, 60)
        f = rng.uniform(-1, 1, 60) * l1
        f[rng.integers(0, 60, 3)] = l1[:3].min()
        blocked = rng.integers(0, 60, turn % 4)
        f[blocked] = l1[blocked]  # touching
        exact, outside = rng.random(60) < 0.3, np.flatnonzero(rng.random(60) < 0.9)
        u, n_added = rng.normal(0, 2, 60), int(rng.integers(1, 70))
        exact[blocked] = True  # as violators are
        some = estimated(f, length, exact, 0.05, rng)
        arguments = u, l1[outside], length[outside], outside, n_added, all_touching
        found, counted = nearest(some, *arguments)
        expected, none = nearest(exactly(f), *arguments)
        assert sorted(found) == sorted(expected) and none == 0
        assert counted == some.design.touched
        touched += counted if n_added <= 10 else 0
    assert 0 < touched < 200 * 5


def begin_at(problem, lam, correlation, beta=None, largest_set=1000):
    """As much of a state as the choice of a block needs."""
    beta = np.zeros(problem.penalty_factor.size) if beta is None else beta
    gram = SimpleNamespace(
        largest_set=largest_set, suits=lambda size: size <= largest_set
    )
    return SimpleNamespace(
        lam=lam, beta=beta, correlation=correlation, member=None, gram=gram
    )


def limits(n_added, working_set="fireworks"):
    return SimpleNamespace(n_added=n_added, working_set=working_set)


def test_strong_rule_marks_penalised_features_above_the_cut():
    # From 1 to 0.9 the cut is 0.9 - 0.1 times the factor.
    factor = np.r_[1.0, 1.0, 2.0, np.inf, 0.0, 1.0, np.ones(9)]
    problem, beta = problem_with(factor), np.zeros(15)
    u = exactly(np.r_[0.95, -0.85, 1.5, 5.0, 5.0, 0.1, np.full(9, 0.79)])
    beta[5] = 2.0
    state = begin_at(problem, 1.0, u, beta)
    block = choose_block(problem, state, np.array([0.9]), limits(2), 1)
    assert block.strong == 2 and block.touched == 0
    assert state.member[:6].tolist() == [True, True, False, False, True, True]
    assert not state.member[6:].any()


def test_the_first_cut_is_the_strong_rule_and_those_after_it_are_daring():
    mcp = Penalty(KINDS["MCP"], 3.0)
    problem = problem_with(np.ones(3), alpha=0.5, penalty=mcp)
    lambdas = np.array([0.9, 0.8, 0.7, 0.3])
    cuts = usable_cuts(problem, 1.0, lambdas)
    growth = problem.growth * np.array([1, DARING, DARING, DARING])
    expected = 0.5 * (lambdas + growth * (lambdas - 1.0))
    expected = np.minimum.accumulate(expected)
    sensible = (expected >= SENSIBLE * 0.5 * lambdas).sum()
    assert 0 < sensible < 4  # the last of them would let nearly all features in
    np.testing.assert_allclose(cuts, expected[:sensible], rtol=1e-14)
    # One is always there, even where it is below zero.
    assert usable_cuts(problem, 1.0, np.array([0.1, 0.05])).size == 1


@pytest.mark.parametrize("seed", range(10))
def test_a_block_is_as_long_as_its_strong_features_are_few(seed):
    rng = np.random.default_rng(seed)
    p, lambdas = 400, 0.95 ** np.arange(1, 9)
    factor = np.where(rng.random(p) < 0.2, rng.uniform(0.5, 2, p), 1.0)
    factor[:3], factor[3:6] = 0.0, np.inf
    problem, beta = problem_with(factor), np.zeros(p)
    beta[:12] = 1.0
    near = 0.1 + 0.9 * rng.random(p) ** 2  # fewer the nearer to the slab's boundary
    u = exactly(near * np.where(factor == np.inf, 9.0, factor))
    state = begin_at(problem, 1.0, u, beta)
    block = choose_block(problem, state, lambdas, limits(5), 1)
    held = (beta != 0) | (factor == 0)
    most = max(5, STRONG_PER_HELD * held.sum())
    outside = ~held & (factor < np.inf)
    # One by one: from the start, as long as there are not too many.
    for k, cut in enumerate(usable_cuts(problem, 1.0, lambdas)):
        strong = outside & (np.abs(u.values) >= cut * factor)
        if strong.sum() > most:
            break
        size, chosen = k + 1, strong
    assert 0 < size < 8
    assert block.lambdas.tolist() == lambdas[:size].tolist()
    assert (state.member == held | chosen).all() and block.strong == chosen.sum()


@pytest.mark.parametrize("step", [0.97, 0.9, 0.5], ids=["fine", "usual", "coarse"])
def test_a_block_is_the_same_where_some_correlations_are_estimates(step):
    rng, touched = np.random.default_rng(2), 0
    problem, beta = problem_with(rng.uniform(0.5, 2, 300)), np.zeros(300)
    beta[:8], factor = 1.0, problem.penalty_factor
    for _ in range(50):
        u = rng.uniform(-1, 1, 300) * factor
        length, exact = rng.uniform(0.5, 1, 300), rng.random(300) < 0.3
        some = estimated(u, length, exact, 0.02, rng)
        found, states = [], []
        for correlation in (some, exactly(u)):
            states.append(begin_at(problem, 1.0, correlation, beta))
            found.append(
                choose_block(problem, states[-1], step ** np.arange(1, 7), limits(5), 1)
            )
        assert found[0].lambdas.size == found[1].lambdas.size
        assert (states[0].member == states[1].member).all()
        assert found[0].touched == some.design.touched
        touched += found[0].touched
    assert touched > 0


def test_where_few_are_outside_all_work():
    problem = problem_with(np.r_[np.ones(9), np.inf])
    state = begin_at(problem, 1.0, exactly(np.zeros(10)))
    block = choose_block(problem, state, np.array([0.9, 0.5, 0.0]), limits(9), 1)
    assert block.lambdas.size == 3 and block.strong == 9
    assert state.member.tolist() == [True] * 9 + [False]


def test_a_full_set_has_all_that_may_enter():
    problem = problem_with(np.r_[0.0, np.ones(30), np.inf])
    state = begin_at(problem, np.inf, exactly(np.zeros(32)))
    block = choose_block(problem, state, np.array([0.9, 0.5]), limits(1, "full"), 1)
    assert block.lambdas.size == 2 and block.strong == 0
    assert state.member.tolist() == [True] * 31 + [False]


@pytest.mark.parametrize("penalty, growth", [("lasso", 1.0), ("MCP", 1.5)])
@pytest.mark.parametrize("record", [False, True])
def test_strong_features_are_those_that_may_enter_at_that_pace(penalty, growth, record):
    """Blocks of one lambda: those of more are tested above."""
    X, y = draw(60, 190, seed=5)
    path = ncvpath(
        X, y, penalty=penalty, nlambda=30, n_added=90, record=record, solver="bcd"
    )
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    beta = path.beta.toarray() * X.std(axis=0)[:, None]
    size = np.abs(Z.T @ (y[:, None] - y.mean() - Z @ beta)) / 60
    before, now = path.lambdas[:-1], path.lambdas[1:]
    strong = (size[:, :-1] >= now + growth * (now - before)) & (beta[:, :-1] == 0)
    assert path.work["strong"][1:].tolist() == strong.sum(axis=0).tolist()
    assert strong.sum() > 10


def test_twice_as_many_join_in_each_further_round():
    X, y = draw(40, 400, seed=2, nonzero=20)
    path = ncvpath(X, y, penalty="lasso", lambdas=0.02 * lambda_max(X, y), prune=False,
                   warm_up=False, record=True)
    sizes = path.trace["working_set"].to_numpy()
    assert sizes[:4].tolist() == [10, 20, 40, 80] and sizes[-1] < 200


def test_on_a_coarse_grid_the_strong_set_stays_small(wide):
    X, y = wide
    path = ncvpath(X, y, penalty="lasso", lambdas=[1.0, 0.02], n_added=2)
    added = INNER["cd"].strong_per_added * 2
    assert path.screening["strong"].iloc[-1] == STRONG_PER_HELD * path.df[0] > added
    assert path.converged.all()


def test_first_set_weighs_by_the_factor():
    problem = problem_with(np.array([10.0, 1.0, 0.1, 0.0, np.inf]))
    state = begin_at(problem, np.inf, exactly([3.0, 2.0, 1.0, 9.0, 9.0]))
    assert list(first_set(problem, state, 1)) == [2]
    assert sorted(first_set(problem, state, 2)) == [1, 2]
    block = choose_block(problem, state, np.array([0.5, 0.4]), limits(1), 1)
    # From a cold start there is one lambda, and the unpenalised are members.
    assert block.lambdas.tolist() == [0.5] and block.strong == 1
    assert state.member.tolist() == [False, False, True, True, False]


def test_number_added_by_default():
    assert [default_n_added(p) for p in (5, 5000, 10**6)] == [10, 25, 1000]
