"""One coordinate by brute force, and the compiled loops by what they promise."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import INTERPRETED, TESTS, compiled, draw

from ncvpath import kernels
from ncvpath.kernels import exchange
from ncvpath.kernels.records import (
    Coordinates,
    Features,
    Moves,
    Penalty,
    Products,
    Progress,
    ResidualSweeps,
    Scaling,
    Sweeps,
)
from ncvpath.penalties import ROWS
from ncvpath.solver.gram import empty_cholesky

pytestmark = pytest.mark.plain
every_penalty = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
CURVATURES = (0.05, 0.3, 0.5, 1.0, 1.7)
threshold, violation = compiled(kernels.threshold), compiled(kernels.violation)


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
                b = threshold(Penalty(row.kind, g), z, v, l1, 0.0)
                found = height(row, np.array([b]), z, v, l1, g)[0]
                assert found <= best + 1e-9, (g, v, z)


@every_penalty
def test_threshold_leaves_zero_alone_within_l1(row):
    for g in shapes(row):
        for v in CURVATURES:
            for z in (-0.8, -0.2, 0.0, 0.5, 0.8):
                assert threshold(Penalty(row.kind, g), z, v, 0.8, 0.0) == 0


@every_penalty
def test_threshold_finds_the_best_from_a_nonzero_coordinate(row):
    l1 = 0.8
    for g in shapes(row):
        for v in CURVATURES:
            for z in (-0.79, -0.3, 0.5, 0.79):
                grid = np.linspace(-4 / v, 4 / v, 20_001)
                best = height(row, grid, z, v, l1, g).min()
                b = threshold(Penalty(row.kind, g), z, v, l1, 1.0)
                found = height(row, np.array([b]), z, v, l1, g)[0]
                assert found <= best + 1e-9, (g, v, z)


@every_penalty
def test_threshold_satisfies_fermat(row):
    rng = np.random.default_rng(0)
    for g in shapes(row):
        for z, v, l1 in zip(rng.normal(0, 3, 300), rng.uniform(0.02, 2, 300),
                            rng.uniform(0, 2, 300)):
            penalty = Penalty(row.kind, g)
            b = threshold(penalty, z, v, l1, 1.0)
            if b == 0 and abs(z) > l1:
                pytest.fail(f"zero beyond l1: {g} {z} {v} {l1}")
            assert b == 0 or violation(penalty, b, z - v * b, l1) < 1e-9


@every_penalty
def test_unpenalised_coordinates_are_solved_exactly(row):
    for g in shapes(row):
        assert threshold(Penalty(row.kind, g), 1.5, 0.5, 0.0, 0.0) == 3.0


class Block:
    """Lambdas solved one after the other on a Gram matrix, all rows of which are there
    at first, or only those that are asked for on the way."""

    def __init__(self, gram, features, penalty, units, beta, correlation, slots=None,
                 all_rows=True, room=None, max_work=np.inf):
        m = beta.size
        slots = np.arange(m) if slots is None else slots
        self.gram, self.columns, self.rows = gram, np.argsort(slots), np.full(m, -1)
        self.values = np.full((m, m), np.nan)
        self.r = Coordinates(
            np.arange(m), slots.copy(), *np.empty((2, m)), beta.copy(),
            correlation.copy(),
        )
        self.n_rows = 0
        self.add_rows(np.arange(m) if all_rows else np.flatnonzero(beta))
        self.given = features, penalty, units
        self.cholesky = empty_cholesky(m if room is None else room)
        self.counts, self.max_work = np.array([0, 0, -1, 0, 0, 0]), max_work
        self.results = np.full((len(units), 3 + m), np.nan)
        self.calls = 0

    def add_rows(self, places):
        """Rows of products of the coordinates at some places."""
        for j in places:
            assert self.rows[self.r.slots[j]] < 0
            self.rows[self.r.slots[j]] = self.n_rows
            self.values[self.n_rows] = self.gram[self.r.order[j], self.columns]
            self.n_rows += 1

    def solve(self, target, most):
        """Go on to the end; returns the coefficients by lambda."""
        m, counts = self.r.beta.size, self.counts
        progress = Progress(counts, np.zeros(3), self.results)
        scratch, sweeps = np.empty((m, m)), Sweeps(target, most, most, self.max_work)
        met = True
        while counts[0] < len(self.results) and met:
            kernels.descend_block(
                Products(self.values, self.rows), self.r, *self.given, self.cholesky,
                scratch, sweeps, progress,
            )
            self.calls += 1
            if counts[2] >= 0:
                self.add_rows(counts[2:3])
            else:
                met = self.results[counts[0] - 1, 2] <= target
        return self.results[:, 3:]

    @property
    def correlation(self):
        """Of the last lambda's residual, in the order of the features."""
        (features, _, units), out = self.given, np.empty(self.r.q.size)
        out[self.r.order] = self.r.q
        k = self.counts[0] - 1
        return out + units[k, 1] * features.ridge_factor * self.results[k, 3:]


@every_penalty
def test_both_descents_reach_the_same_point(row):
    X, y = draw(50, 8, seed=3)
    gram, ones = X.T @ X / 50, np.ones(8)
    weights, columns = np.full(50, 1 / 50), X.reshape(-1, order="F")
    l1, l2, penalty = np.full(8, 0.2), np.full(8, 0.1), Penalty(row.kind, 5.0)
    block = Block(
        gram, Features(ones, ones, gram.diagonal(), ones), penalty,
        np.array([[0.2, 0.1]]), np.zeros(8), X.T @ y / 50,
    )
    [beta] = block.solve(1e-12, 10_000)
    expected = X.T @ (y - X @ beta) / 50
    np.testing.assert_allclose(block.correlation, expected, atol=1e-12)
    for cyclic in (False, True):
        other, residual, order = np.zeros(8), y.copy(), np.arange(8)
        r = Coordinates(
            order, order.copy(), l1, gram.diagonal() + l2, other, np.empty(8)
        )
        kernels.descend_dense(
            columns, Scaling(np.zeros(8), ones), weights, np.arange(8), penalty, r, l2,
            residual,
            ResidualSweeps(1e-12, 10_000, cyclic),
            np.array([0.0, np.inf, not cyclic, 0.0]),
        )
        np.testing.assert_allclose(residual, y - X @ other, atol=1e-12)
        np.testing.assert_allclose(beta, other, atol=1e-9)


def test_epochs_never_exceed_their_limit():
    X, y = draw(50, 8, seed=3)
    gram, ones = X.T @ X / 50, np.ones(8)
    gram += 1e3 * np.outer(ones, ones)  # hard enough
    for most in (1, 2, 7):
        block = Block(
            gram, Features(ones, ones, gram.diagonal().copy(), ones), Penalty(1, 3.0),
            np.array([[0.01, 0.0], [0.005, 0.0]]), np.zeros(8), X.T @ y / 50, room=0,
        )
        block.solve(1e-12, most)
        epochs, worst = block.results[:, 0], block.results[:, 2]
        # The lambda after the one that did not arrive is not begun.
        assert block.counts[0] == 1 and epochs[0] == most and worst[0] > 0
        assert np.isnan(epochs[1])


FITS = """
import numpy as np
import scipy.sparse as sp
from conftest import draw
from fitting import cross_validate, fit
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
X, y = draw(40, 60)
for design in (X, sp.csc_array(np.where(np.abs(X) > 0.7, X, 0.0))):
    for solver in ("cd", "bcd", "gist", "mm-cd"):
        for size in (0, 2_000_000):
            fit(design, y, certify_from=size, solver=solver, nlambda=4, n_added=2)
    cross_validate(design, y, nlambda=4, nfolds=3)
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


def uneven_block(row, **options):
    """A block of three lambdas with slots in disorder, factors and a ridge."""
    X, y = draw(60, 9, seed=8)
    gram, c = X.T @ X / 60, X.T @ y / 60
    rng = np.random.default_rng(0)
    slots, units = rng.permutation(9), np.array([[1.0, 1.0], [0.8, 0.7], [0.1, 0.0]])
    features = Features(
        rng.uniform(0.1, 1.0, 9), rng.uniform(0, 0.2, 9), gram.diagonal().copy(),
        np.ones(9),
    )
    beta = np.where(rng.random(9) < 0.3, 0.5, 0.0)
    penalty = Penalty(row.kind, row.gamma or 0.0)
    return c, Block(
        gram, features, penalty, units, beta, c - gram @ beta, slots, **options
    )


@every_penalty
def test_a_block_is_solved_whatever_the_order_of_its_slots(row):
    """At each lambda Fermat's conditions with every feature's own l1 and l2."""
    c, block = uneven_block(row)
    (features, penalty, units), gram = block.given, block.gram
    found = block.solve(1e-11, 1000)
    assert block.counts[0] == 3 and (block.results[:, 2] <= 1e-11).all()
    np.testing.assert_allclose(block.correlation, c - gram @ found[-1], atol=1e-12)
    for (l1, l2), b in zip(units, found):
        u = c - gram @ b - l2 * features.ridge_factor * b
        level = l1 * features.penalty_factor
        for j in range(9):
            assert violation(penalty, b[j], u[j], level[j]) <= 1.1e-11
    assert np.unique(np.count_nonzero(found, axis=1)).size > 1


@every_penalty
def test_a_block_goes_on_from_where_it_was_interrupted(row):
    """For a row of products that was missing, or since it had done enough for a call:
    the same bits."""
    _, block = uneven_block(row)
    expected = block.solve(1e-11, 1000)
    assert block.calls == 1
    for options in (dict(all_rows=False), dict(max_work=0.0)):
        _, other = uneven_block(row, **options)
        np.testing.assert_array_equal(other.solve(1e-11, 1000), expected)
        np.testing.assert_array_equal(other.results, block.results)
        assert other.calls > 2
    _, other = uneven_block(row, all_rows=False)
    other.solve(1e-11, 1000)
    entered = (other.results[:, 3:] != 0).any(axis=0)
    assert np.count_nonzero(entered) <= other.n_rows


def test_coordinates_change_places_with_all_that_is_theirs():
    rng = np.random.default_rng(1)
    slots, gram = rng.permutation(6), np.full((6, 6), np.nan)
    A = rng.standard_normal((6, 6))
    by_slot, rows = A + A.T, rng.permutation(6)
    values = by_slot[np.argsort(rows)]
    given = rng.standard_normal((4, 6))
    r = Coordinates(np.arange(6), slots.copy(), *given.copy())
    for size, j in enumerate((4, 1, 2, 5)):
        entering = r.order[j]
        compiled(kernels.activate)(j, size, Products(values, rows), gram, r)
        assert r.order[size] == entering
        np.testing.assert_array_equal(np.sort(r.order), np.arange(6))
        np.testing.assert_array_equal(r.slots, slots[r.order])
        np.testing.assert_array_equal((r.l1, r.v, r.beta, r.q), given[:, r.order])
        active = by_slot[np.ix_(r.slots[: size + 1], r.slots)]
        np.testing.assert_array_equal(gram[: size + 1], active)


@every_penalty
def test_nan_is_never_the_smaller_violation(row):
    larger = compiled(kernels.larger)
    assert np.isnan(larger(1.0, np.nan)) and larger(1.0, 0.5) == 1.0
    assert np.isnan(larger(np.nan, 1.0))
    for beta in (np.array([1.0, 0.0]), np.zeros(2)):
        q = np.array([np.nan, 0.0])
        worst = kernels.largest_violation(Penalty(row.kind, 3.0), np.ones(2), beta, q)
        assert np.isnan(worst)


def test_logsum_does_not_overflow():
    b = threshold(Penalty(kernels.LOGSUM, 1e100), 3e200, 1e100, 1e99, 0.0)
    assert b == pytest.approx(3e100, rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 7])
def test_many_dots(count, width):
    """Each product is that of its vector and column, whatever is computed beside it."""
    rng = np.random.default_rng(count)
    X = np.asfortranarray(rng.standard_normal((37, 12)) + 1e6)
    center, vectors = X.mean(axis=0), rng.standard_normal((count, 37))
    scale = rng.uniform(0.5, 2.0, 12)
    columns = X.reshape(-1, order="F"), Scaling(center, scale)
    features = rng.permutation(12)[: width + 2]
    out = np.full((count, width + 2), np.nan)
    kernels.dense_dots(*columns, features, 1, width + 1, vectors, out)
    assert np.isnan(out[:, [0, -1]]).all()  # beyond first and last
    some = features[1:-1]
    exact = vectors.astype(np.longdouble) @ (X[:, some].astype("g") - center[some])
    exact /= scale[some]
    np.testing.assert_allclose(out[:, 1:-1], exact.astype(float), rtol=0, atol=1e-12)
    alone = np.empty((1, 12))
    for m, k in np.ndindex(count, width):
        kernels.dense_dots(*columns, np.arange(12), 0, 12, vectors[[m]], alone)
        assert out[m, k + 1] == alone[0, some[k]]


# ---- features that change places -----------------------------------------------------


CONCAVE = [row for row in ROWS if row.gamma is not None]


@pytest.mark.parametrize("row", CONCAVE, ids=lambda row: row.name)
def test_a_swap_leads_down_and_keeps_the_gradient(row):
    """One of two similar columns is in use, and the other one explains y."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 6))
    X[:, 1] = X[:, 0] + 0.4 * rng.standard_normal(30)
    X /= np.sqrt((X**2).mean(axis=0))
    y, gram, level = 2 * X[:, 1], X.T @ X / 30, 0.3
    beta = np.array([y @ X[:, 0] / 30, 0, 0, 0, 0, 0])
    r = Coordinates(
        np.arange(6), np.arange(6), np.full(6, level), np.ones(6), beta.copy(),
        (y - X @ beta) @ X / 30,
    )

    def objective(beta):
        return 0.5 * np.mean((y - X @ beta) ** 2) + np.sum(
            row.value(np.abs(beta), level, row.gamma)
        )

    tried, kept = kernels.exchange_places(
        Penalty(row.kind, row.gamma), r, gram, 10, 200, 1e-8, 1e-9
    )
    assert tried >= kept >= 1 and objective(r.beta) < objective(beta) - 1e-3
    assert r.beta[1] != 0
    np.testing.assert_allclose(r.q, (y - X @ r.beta) @ X / 30, atol=1e-10)


def few(row, seed=4, level=0.3):
    """A small problem at a stationary point of its coordinates in use."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 7)) + rng.standard_normal((40, 1))
    X /= np.sqrt((X**2).mean(axis=0))
    y, gram, beta = X[:, :3] @ [3.0, -2.0, 2.5], X.T @ X / 40, np.zeros(7)
    beta[:3] = np.linalg.solve(gram[:3, :3], X[:, :3].T @ y / 40)
    return Coordinates(
        np.arange(7), np.arange(7), np.full(7, level), np.ones(7), beta,
        (y - X @ beta) @ X / 40,
    ), gram


def test_the_rest_follows_a_move():
    """With a flat penalty the foreseen rise is that of the refit, exactly."""
    row = next(row for row in CONCAVE if row.name == "MCP")
    penalty, (r, gram) = Penalty(row.kind, row.gamma), few(row)
    assert (np.abs(r.beta[:3]) > row.gamma * r.l1[0]).all()
    used, answer = np.arange(3), np.empty((3, 7))
    moves = exchange.follow(r, gram, used, penalty, answer)
    inverse = np.linalg.inv(gram[:3, :3])
    np.testing.assert_allclose(answer[:, :3], inverse, atol=1e-12)
    np.testing.assert_allclose(answer[:, 3:], inverse @ gram[:3, 3:], atol=1e-12)
    assert moves.all()
    best = Moves(np.empty(5), np.empty(5, dtype=np.int64), np.empty(5))
    exchange.rank_moves(r, gram, penalty, used, answer, moves, best)
    assert (np.diff(best.rises) >= 0).all()
    for rise, move, entry in zip(*best):
        trial = exchange.copied(r)
        exchange.take(trial, gram, used, answer, moves, move, entry)
        s, k = divmod(move, 8)
        stay = [j for j in range(3) if j != s]
        np.testing.assert_allclose(trial.q[stay], r.q[stay], atol=1e-10)
        assert s == 3 or trial.beta[s] == 0
        assert k == 7 or trial.beta[k] == entry
        if (np.abs(trial.beta[stay]) > row.gamma * r.l1[0]).all():
            found = exchange.rise_between(trial, r.beta, r.q, penalty)
            assert found == pytest.approx(rise, rel=1e-8)


@pytest.mark.parametrize("row", CONCAVE, ids=lambda row: row.name)
def test_another_start_is_kept_if_it_leads_lower(row):
    penalty, (r, gram) = Penalty(row.kind, row.gamma), few(row)
    good, c = r.beta.copy(), r.q + gram @ r.beta
    r.beta[:], r.q[:] = 0.0, c
    starts = np.array([good, np.full(7, 5.0)])
    assert kernels.begin_elsewhere(penalty, r, gram, starts, 500, 1e-9, 1e-6)
    np.testing.assert_allclose(r.q, c - gram @ r.beta, atol=1e-9)
    before = r.beta.copy()
    assert not kernels.begin_elsewhere(penalty, r, gram, starts, 500, 1e-9, 1e-6)
    np.testing.assert_array_equal(r.beta, before)
