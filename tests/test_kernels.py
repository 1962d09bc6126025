"""One coordinate by brute force, and the compiled loops by what they promise."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import draw

from ncvpath import kernels
from ncvpath.penalties import ROWS, Penalty

every_penalty = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
CURVATURES = (0.05, 0.3, 0.5, 1.0, 1.7)


def shapes(row):
    """Gamma at its default, near its limit, and large."""
    if row.gamma is None:
        return (0.0,)
    return (row.gamma, row.above + 1e-3, 50.0)


def height(row, b, z, v, l1, g):
    return v * b**2 / 2 - z * b + row.value(np.abs(b), l1, g)


@every_penalty
def test_threshold_beats_a_fine_grid_beyond_l1(row):
    l1 = 0.8
    for g in shapes(row):
        for v in CURVATURES:
            for z in (-6.0, -2.5, -0.81, 0.81, 1.0, 1.9, 4.0):
                grid = np.linspace(-1.5 * abs(z) / v, 1.5 * abs(z) / v, 20_001)
                best = height(row, grid, z, v, l1, g).min()
                b = kernels.threshold(Penalty(row.kind, g), z, v, l1, 0.0)
                found = height(row, np.array([b]), z, v, l1, g)[0]
                assert found <= best + 1e-9, (g, v, z)


@every_penalty
def test_threshold_leaves_zero_alone_within_l1(row):
    for g in shapes(row):
        for v in CURVATURES:
            for z in (-0.8, -0.2, 0.0, 0.5, 0.8):
                assert kernels.threshold(Penalty(row.kind, g), z, v, 0.8, 0.0) == 0


@every_penalty
def test_threshold_finds_the_best_from_a_nonzero_coordinate(row):
    l1 = 0.8
    for g in shapes(row):
        for v in CURVATURES:
            for z in (-0.79, -0.3, 0.5, 0.79):
                grid = np.linspace(-4 / v, 4 / v, 20_001)
                best = height(row, grid, z, v, l1, g).min()
                b = kernels.threshold(Penalty(row.kind, g), z, v, l1, 1.0)
                found = height(row, np.array([b]), z, v, l1, g)[0]
                assert found <= best + 1e-9, (g, v, z)


@every_penalty
def test_threshold_satisfies_fermat(row):
    rng = np.random.default_rng(0)
    for g in shapes(row):
        for z, v, l1 in zip(rng.normal(0, 3, 300), rng.uniform(0.02, 2, 300),
                            rng.uniform(0, 2, 300)):
            penalty = Penalty(row.kind, g)
            b = kernels.threshold(penalty, z, v, l1, 1.0)
            if b == 0 and abs(z) > l1:
                pytest.fail(f"zero beyond l1: {g} {z} {v} {l1}")
            assert b == 0 or kernels.violation(penalty, b, z - v * b, l1) < 1e-9


@every_penalty
def test_unpenalised_coordinates_are_solved_exactly(row):
    for g in shapes(row):
        assert kernels.threshold(Penalty(row.kind, g), 1.5, 0.5, 0.0, 0.0) == 3.0


@every_penalty
def test_both_descents_reach_the_same_point(row):
    X, y = draw(50, 8, seed=3)
    gram = X.T @ X / 50
    X_flat, weights = X.reshape(-1, order="F"), np.full(50, 1 / 50)
    l1, l2 = np.full(8, 0.2), np.full(8, 0.1)
    penalty = Penalty(row.kind, 5.0)
    v = gram.diagonal() + l2
    beta, q = np.zeros(8), X.T @ y / 50
    slots = np.arange(8)
    kernels.descend_gram(gram, slots, penalty, l1, v, beta, q, 1e-12, 10_000)
    np.testing.assert_allclose(
        q, X.T @ (y - X @ beta) / 50 - l2 * beta, atol=1e-12
    )
    other, residual = np.zeros(8), y.copy()
    kernels.descend_residual(
        X_flat, weights, np.zeros(8), np.ones(8), slots, penalty, l1, v, l2, other,
        residual, 1e-12, 10_000,
    )
    np.testing.assert_allclose(residual, y - X @ other, atol=1e-12)
    np.testing.assert_allclose(beta, other, atol=1e-9)


def test_epochs_never_exceed_their_limit():
    X, y = draw(50, 8, seed=3)
    gram, q = X.T @ X / 50, X.T @ y / 50
    epochs, worst = kernels.descend_gram(
        gram, np.arange(8), Penalty(0, 0.0), np.full(8, 0.01), gram.diagonal().copy(),
        np.zeros(8), q, 0.0, 7,
    )
    assert epochs <= 7 and worst > 0


FITS = """
import numpy as np
from conftest import draw
from ncvpath import kernels, ncvpath
from ncvpath.penalties import ROWS

X, y = draw(30, 5)
read_only = X.copy()
read_only.flags.writeable = False
designs = (X, read_only, X[:, :1], np.ascontiguousarray(X), X.astype(int), X[:, ::2])
for design in designs:
    for row in ROWS:
        for working_set in ("fireworks", "full"):
            ncvpath(design, y, penalty=row.name, nlambda=5, working_set=working_set)
ncvpath(X, y, weights=np.arange(1, 31), penalty_factor=[0, 1, 2, 3, np.inf], alpha=0.5)
X, y = draw(20, 1100)
ncvpath(X, y, nlambda=3, working_set="full")
jitted = {n: k for n, k in vars(kernels).items() if hasattr(k, "signatures")}
twice = {n: k.signatures for n, k in jitted.items() if len(k.signatures) > 1}
assert len(jitted) > 10 and not twice, twice
"""


def test_every_kernel_is_compiled_once():
    """In a process of its own: other tests call kernels with types of their own."""
    run = subprocess.run(
        [sys.executable, "-c", FITS], cwd=Path(__file__).parent, capture_output=True,
        text=True, timeout=120,
    )
    assert run.returncode == 0, run.stderr


def swept(gram, c, sweeps):
    """Consecutive points of plain sweeps on least squares, and where they end."""
    size = c.size
    beta, q, points = np.zeros(size), c.copy(), np.empty((sweeps, size))
    for k in range(sweeps):
        kernels.sweep(gram, Penalty(0, 0.0), np.zeros(size), gram.diagonal().copy(),
                      beta, q)
        points[k] = beta
    return points, beta, q


@pytest.mark.parametrize("noise", [0.1, 1e-3, 1e-6])
def test_extrapolation_helps_and_keeps_q_exact(noise):
    """Also where columns are nearly the same and the weights become huge."""
    X, y = draw(60, 8, seed=4)
    X[:, 1] = X[:, 0] + noise * X[:, 1]
    gram, c = np.ascontiguousarray(X.T @ X / 60), X.T @ y / 60
    points, beta, q = swept(gram, c, kernels.DEPTH + 1)
    before = np.abs(q).max()
    height = 0.5 * beta @ gram @ beta - c @ beta
    kernels.extrapolate(gram, Penalty(0, 0.0), np.zeros(8), gram.diagonal().copy(),
                        points, beta, q)
    assert 0.5 * beta @ gram @ beta - c @ beta < height
    close = 1e-11 * (1 + np.abs(beta).max())
    np.testing.assert_allclose(q, c - gram @ beta, atol=close)
    if noise == 0.1:  # six sweeps tell enough about the limit
        assert np.abs(q).max() < 1e-2 * before


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_extrapolation_of_a_standstill_or_underflow_stays_put(scale):
    points = np.full((kernels.DEPTH + 1, 3), scale)
    points[0] = 0.0
    beta, q = np.full(3, scale), np.ones(3)
    kernels.extrapolate(np.eye(3), Penalty(0, 0.0), np.ones(3), np.ones(3), points,
                        beta, q)
    assert np.isfinite(beta).all() and np.isfinite(q).all()


@every_penalty
def test_nan_is_never_the_smaller_violation(row):
    assert np.isnan(kernels.larger(1.0, np.nan)) and kernels.larger(1.0, 0.5) == 1.0
    assert np.isnan(kernels.larger(np.nan, 1.0))
    for beta in (np.array([1.0, 0.0]), np.zeros(2)):
        q = np.array([np.nan, 0.0])
        worst = kernels.largest_violation(Penalty(row.kind, 3.0), np.ones(2), beta, q)
        assert np.isnan(worst)


def test_logsum_does_not_overflow():
    b = kernels.threshold(Penalty(kernels.LOGSUM, 1e100), 3e200, 1e100, 1e99, 0.0)
    assert b == pytest.approx(3e100, rel=1e-6)
