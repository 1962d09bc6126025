"""FireWorks and the strong rule on small arrays whose answer is known."""

import numpy as np
import pytest
from conftest import draw

from ncvpath import kernels, lambda_max, ncvpath
from ncvpath.penalties import Penalty
from ncvpath.solver.working_set import default_n_added, first_set, nearest_slabs

pytestmark = pytest.mark.plain


def step_of(u, f, l1, outside):
    """The step alone; factors are l1 at level 1, and the feasible vector moves."""
    moved = f.copy()
    *_, step = kernels.survey(
        Penalty(0, 0.0), l1, l1, 1.0, 0.0, np.zeros(u.size), u, ~outside, moved
    )
    np.testing.assert_allclose(moved, np.clip(f + step * (u - f), -l1, l1), atol=1e-15)
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


def test_step_is_one_when_nobody_outside_objects():
    u, l1 = np.array([0.5, 9.0]), np.ones(2)
    assert step_of(u, np.zeros(2), l1, np.array([True, False])) == 1.0


def test_step_is_zero_at_a_boundary_and_safe_when_u_equals_f():
    l1, outside = np.ones(2), np.ones(2, dtype=bool)
    f = np.array([1.0, 0.0])
    assert step_of(np.array([1.5, 0.0]), f, l1, outside) == 0.0
    assert step_of(f, f, l1, outside) == 1.0


def test_survey_measures_violations_inside_and_outside():
    factor = np.array([1.0, 1.0, 1.0, np.inf, 0.0])
    beta = np.array([2.0, 0.0, 0.0, 0.0, 0.0])
    u = np.array([0.7, 1.4, 0.2, 9.0, -0.2])
    member = np.array([True, False, False, False, True])
    inside, outside, step = kernels.survey(
        Penalty(0, 0.0), factor, factor, 1.0, 0.1, beta, u + 0.1 * beta, member,
        np.zeros(5),
    )
    assert (inside, outside) == (pytest.approx(0.3), pytest.approx(0.4))
    assert step == pytest.approx(1 / 1.4)


def test_nearest_slabs_divide_by_the_length_of_the_column():
    l1, f = np.ones(4), np.array([0.9, 0.5, 0.0, -0.8])
    length = np.array([0.1, 1.0, 10.0, 1.0])
    # Distances 1, 0.5, 0.1 and 0.2.
    assert sorted(nearest_slabs(f, f, l1, length, 2)) == [2, 3]


def test_all_blocking_features_enter_even_beyond_n_added():
    l1, f = np.ones(6), np.array([1.0, 0.2, -1.0, 0.3, 1.0 - 1e-15, 0.0])
    assert sorted(nearest_slabs(2 * f, f, l1, np.ones(6), 1)) == [0, 2, 4]


def test_at_lambda_zero_the_largest_violations_enter_first():
    u = np.array([0.1, -3.0, 2.0, 0.5])
    assert sorted(nearest_slabs(u, np.zeros(4), np.zeros(4), np.ones(4), 2)) == [1, 2]


def test_strong_rule_marks_penalised_features_above_the_cut():
    factor = np.array([1.0, 1.0, 2.0, np.inf, 0.0, 1.0])
    u = np.array([0.95, -0.85, 1.5, 5.0, 5.0, 0.1])
    member = np.array([False, False, False, False, False, True])
    assert kernels.mark_strong(factor, 0.8, u, member) == 2
    assert list(member) == [True, True, False, False, False, True]


@pytest.mark.parametrize("penalty, growth", [("lasso", 1.0), ("MCP", 1.5)])
@pytest.mark.parametrize("record", [False, True], ids=["easy stretches", "solver"])
def test_strong_features_are_those_that_may_enter_at_that_pace(penalty, growth, record):
    X, y = draw(60, 90, seed=5)
    path = ncvpath(X, y, penalty=penalty, nlambda=30, n_added=90, record=record)
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
    path = ncvpath(X, y, penalty="lasso", lambdas=[1.0, 0.02], n_added=5)
    assert path.screening["strong"].iloc[-1] <= max(5, 2 * path.df[0])
    assert path.converged.all()


def test_first_set_weighs_by_the_factor():
    chosen = first_set(np.array([3.0, 2.0, 1.0]), np.array([10.0, 1.0, 0.1]), 1)
    assert list(chosen) == [2]


def test_number_added_by_default():
    assert [default_n_added(p) for p in (5, 5000, 10**6)] == [10, 25, 1000]
