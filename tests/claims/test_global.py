"""Which minima are global: in one variable all, in a few those that must be."""

import numpy as np
import pytest
from conftest import compiled
from oracle import Problem

from benchmarks.global_minima import SAME, compared, drawn, gammas
from ncvpath import kernels
from ncvpath.penalties import ROWS, Penalty

every_penalty = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
CASES = 400
threshold = compiled(kernels.threshold)


def height(row, b, z, v, l1, g):
    return v * b**2 / 2 - z * b + row.value(np.abs(b), l1, g)


def brute_force(row, z, v, l1, g):
    """The lowest height over b >= 0, z >= 0: a grid, and finer ones around its best."""
    low, high = np.zeros_like(z), 1.1 * z / v
    best = np.zeros_like(z)  # the height of b = 0
    for _ in range(5):
        share = np.linspace(0, 1, 1001)[:, None]
        grid = low + share * (high - low)
        heights = height(row, grid, z, v, l1, g)
        at = heights.argmin(axis=0)
        best = np.minimum(best, heights.min(axis=0))
        middle, step = grid[at, np.arange(z.size)], (high - low) / 1000
        low, high = np.maximum(middle - step, 0.0), middle + step
    return best


def problems(row, far):
    """Random coordinates, |z| beyond l1 or not, at any curvature, with some ridge."""
    rng = np.random.default_rng(row.kind)
    l1 = 10.0 ** rng.uniform(-3, 3, CASES)
    v = 10.0 ** rng.uniform(-4, 3, CASES) + rng.choice([0.0, 0.5], CASES)  # l2
    edge = rng.random(CASES) < 0.2  # where convexity just ends
    if row.gamma is None:
        g = np.zeros(CASES)
    else:
        g = row.above + 10.0 ** rng.choice([-12, -6, -1, 0, 2], CASES)
        nearly = 1 + rng.choice([-1e-9, 0.0, 1e-9], CASES)
        flattest = row.concavity(l1, g) if row.concavity else v
        v = np.where(edge, flattest * nearly, v)
    beyond = 10.0 ** rng.choice([-12, -6, -1, 0, 1], CASES)
    z = l1 * (1 + beyond) if far else l1 * rng.uniform(0, 1, CASES)
    # Where a jump to the last, flat piece is a close call: z / v about sqrt(2 r / v).
    flat = row.value(np.full(CASES, 1e9), l1, g) if row.name != "lasso" else l1
    call = np.sqrt(2 * v * flat) * (1 + rng.choice([-1e-6, 1e-6], CASES))
    fits = (call > l1) == far
    return np.where(fits & (rng.random(CASES) < 0.3), call, z), v, l1, g


@every_penalty
@pytest.mark.parametrize("far", [True, False], ids=["beyond l1", "within l1"])
def test_one_coordinate_is_minimised_globally(row, far):
    """From zero beyond l1; within l1 from anywhere but zero, which is stationary."""
    z, v, l1, g = problems(row, far)
    best = brute_force(row, z, v, l1, g)
    current = 0.0 if far else 1.0
    b = np.array([
        threshold(Penalty(row.kind, shape), *case, current)
        for *case, shape in zip(z, v, l1, g)
    ])
    assert (b >= 0).all() and np.isfinite(b).all()
    found = height(row, b, z, v, l1, g)
    size = v * b**2 / 2 + z * b + z**2 / v  # of the terms that cancel
    worse = found - best > 1e-12 * size
    assert not worse.any(), list(zip(*(a[worse][:3] for a in (z, v, l1, g))))
    mirrored = threshold(
        Penalty(row.kind, g[0]), -z[0], v[0], l1[0], -current
    )
    assert mirrored == -b[0]


@every_penalty
@pytest.mark.parametrize("alpha", [1.0, 0.6])
def test_tiny_problems_against_a_grid(row, alpha):
    """The path never beats the best point of a search, which would then be no search;
    it is there wherever the objective is convex; and it is always stationary."""
    for gamma in gammas(row):
        for seed in range(12):
            one = compared(row, gamma, seed, alpha)
            problem = Problem(*drawn(seed), penalty=row.name, gamma=gamma, alpha=alpha)
            assert problem.violations(one.path).max() <= 1.1e-9
            assert (one.excess >= -1e-10).all()
            assert (one.excess[one.convex] <= SAME).all()


def test_the_search_finds_what_the_path_does_not():
    """Capped l1 with a small gamma has better minima than those the path follows."""
    row = next(row for row in ROWS if row.name == "capped")
    missed = [(compared(row, 0.6, seed).excess > SAME).any() for seed in range(10)]
    assert any(missed)
