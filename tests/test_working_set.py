"""FireWorks and the strong rule on small arrays whose answer is known."""

import numpy as np
import pytest

from ncvpath.working_set import (
    default_n_added,
    feasible_step,
    first_set,
    nearest_slabs,
    strong_set,
)


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
    step = feasible_step(u, f, l1, outside)
    assert step == pytest.approx(bisected_step(u, f, l1, outside), abs=1e-12)
    moved = f + step * (u - f)
    assert (np.abs(moved) <= l1 * (1 + 1e-12))[outside].all()


def test_step_is_one_when_nobody_outside_objects():
    u, l1 = np.array([0.5, 9.0]), np.ones(2)
    assert feasible_step(u, np.zeros(2), l1, np.array([True, False])) == 1.0


def test_step_is_zero_at_a_boundary_and_safe_when_u_equals_f():
    l1, outside = np.ones(2), np.ones(2, dtype=bool)
    f = np.array([1.0, 0.0])
    assert feasible_step(np.array([1.5, 0.0]), f, l1, outside) == 0.0
    assert feasible_step(f, f, l1, outside) == 1.0


def test_nearest_slabs_divide_by_the_length_of_the_column():
    l1, f = np.ones(4), np.array([0.9, 0.5, 0.0, -0.8])
    length = np.array([0.1, 1.0, 10.0, 1.0])
    # Distances 1, 0.5, 0.1 and 0.2.
    added = nearest_slabs(f, f, l1, length, np.arange(4), 2)
    assert sorted(added) == [2, 3]


def test_all_blocking_features_enter_even_beyond_n_added():
    l1, f = np.ones(6), np.array([1.0, 0.2, -1.0, 0.3, 1.0 - 1e-15, 0.0])
    added = nearest_slabs(2 * f, f, l1, np.ones(6), np.arange(6), 1)
    assert sorted(added) == [0, 2, 4]


def test_at_lambda_zero_the_largest_violations_enter_first():
    u = np.array([0.1, -3.0, 2.0, 0.5])
    added = nearest_slabs(u, np.zeros(4), np.zeros(4), np.ones(4), np.arange(4), 2)
    assert sorted(added) == [1, 2]


def test_strong_rule_keeps_what_can_reach_the_new_lambda():
    u = np.array([0.95, 0.85, 0.79, 0.2])
    l1, before = np.full(4, 0.9), np.ones(4)
    assert list(strong_set(u, l1, before, 1.0, 10)) == [0, 1]
    assert list(strong_set(u, l1, before, 1.5, 10)) == [0, 1, 2]


def test_strong_rule_on_a_coarse_grid_keeps_the_largest_only():
    u = np.array([0.1, 0.5, 0.3, 0.9, 0.2])
    strong = strong_set(u, np.full(5, 0.01), np.ones(5), 1.0, 2)
    assert sorted(strong) == [1, 3]


def test_excluded_and_unpenalised_features_are_never_strong():
    u = np.full(3, 5.0)
    l1, before = np.array([np.inf, 0.0, 1.0]), np.array([np.inf, 0.0, 2.0])
    assert list(strong_set(u, l1, before, 1.0, 3)) == [2]
    assert list(first_set(u, np.array([np.inf, 0.0, 1.0]), 3)) == [2]


def test_first_set_weighs_by_the_factor():
    chosen = first_set(np.array([3.0, 2.0, 1.0]), np.array([10.0, 1.0, 0.1]), 1)
    assert list(chosen) == [2]


def test_number_added_by_default():
    assert [default_n_added(p) for p in (5, 5000, 10**6)] == [10, 50, 1000]
