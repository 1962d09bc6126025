"""One coordinate by brute force, and the compiled loops by what they promise."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import INTERPRETED, TESTS, draw

from ncvpath import kernels
from ncvpath.penalties import ROWS, Penalty
from ncvpath.solver.gram import empty_factor

pytestmark = pytest.mark.plain
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
    working = np.arange(8)
    kernels.descend_gram(
        gram, working, slots, penalty, l1, v, beta, q, empty_factor(8),
        np.empty((8, 8)), 1e-12, 10_000,
    )
    order = np.argsort(working)
    beta, q, slots = beta[order], q[order], np.arange(8)
    np.testing.assert_allclose(
        q, X.T @ (y - X @ beta) / 50 - l2 * beta, atol=1e-12
    )
    for cyclic in (False, True):
        other, residual = np.zeros(8), y.copy()
        kernels.descend_residual(
            X_flat, weights, np.zeros(8), np.ones(8), slots, penalty, l1, v, l2, other,
            residual, 1e-12, cyclic, 10_000, np.array([0.0, np.inf, not cyclic, 0.0]),
        )
        np.testing.assert_allclose(residual, y - X @ other, atol=1e-12)
        np.testing.assert_allclose(beta, other, atol=1e-9)


def test_epochs_never_exceed_their_limit():
    X, y = draw(50, 8, seed=3)
    gram, q = X.T @ X / 50, X.T @ y / 50
    gram += 1e3 * np.outer(np.ones(8), np.ones(8))  # hard enough
    for most in (1, 2, 7):
        epochs, _, worst = kernels.descend_gram(
            gram, np.arange(8), np.arange(8), Penalty(1, 3.0), np.full(8, 0.01),
            gram.diagonal().copy(), np.zeros(8), q.copy(), empty_factor(0),
            np.empty((8, 8)), 1e-12, most,
        )
        assert epochs == most and worst > 0


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


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_every_kernel_is_compiled_once():
    """In a process of its own: other tests call kernels with types of their own."""
    run = subprocess.run(
        [sys.executable, "-c", FITS], cwd=TESTS, capture_output=True, text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr


def at_order(working, *arrays):
    """Arrays of the working set back in the order they had."""
    order = np.argsort(working)
    return [a[order] for a in arrays]


@every_penalty
def test_the_order_of_the_working_set_follows_its_arrays(row):
    X, y = draw(60, 9, seed=8)
    gram, c = X.T @ X / 60, X.T @ y / 60
    rng = np.random.default_rng(0)
    working, slots = np.arange(9) + 100, rng.permutation(9)
    l1, v = rng.uniform(0.1, 1.0, 9), gram.diagonal() + rng.uniform(0, 0.2, 9)
    given_l1, given_v = l1.copy(), v.copy()
    beta = np.where(rng.random(9) < 0.3, 0.5, 0.0)
    q = c - gram @ beta - (v - gram.diagonal()) * beta
    products = np.empty((9, 9))
    products[np.ix_(slots, slots)] = gram
    given = slots.copy()
    _, _, worst = kernels.descend_gram(
        products, working, slots, Penalty(row.kind, row.gamma or 0.0), l1, v, beta, q,
        empty_factor(9), np.empty((9, 9)), 1e-11, 1000,
    )
    slots, l1, v, beta, q = at_order(working, slots, l1, v, beta, q)
    assert worst <= 1e-11
    np.testing.assert_array_equal(slots, given)
    np.testing.assert_array_equal(l1, given_l1)
    np.testing.assert_array_equal(v, given_v)
    expected = c - gram @ beta - (v - gram.diagonal()) * beta
    np.testing.assert_allclose(q, expected, atol=1e-12)


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


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 7])
def test_many_dots(count, width):
    """Each product is that of its vector and column, whatever is computed beside it."""
    rng = np.random.default_rng(count)
    X = np.asfortranarray(rng.standard_normal((37, 12)) + 1e6)
    center, vectors = X.mean(axis=0), rng.standard_normal((count, 37))
    features = rng.permutation(12)[: width + 2]
    out = np.full((count, width + 2), np.nan)
    kernels.many_dots(
        X.reshape(-1, order="F"), features, 1, width + 1, center, vectors, out
    )
    assert np.isnan(out[:, [0, -1]]).all()  # beyond first and last
    some = features[1:-1]
    exact = vectors.astype(np.longdouble) @ (X[:, some].astype("g") - center[some])
    np.testing.assert_allclose(out[:, 1:-1], exact.astype(float), rtol=0, atol=1e-12)
    alone = np.empty((1, 12))
    for m, k in np.ndindex(count, width):
        kernels.many_dots(
            X.reshape(-1, order="F"), np.arange(12), 0, 12, center, vectors[[m]], alone
        )
        assert out[m, k + 1] == alone[0, some[k]]
