"""Newton steps: exact where they can be, refused where they would harm."""

import numpy as np
import pytest
from conftest import draw
from oracle import Problem

from ncvpath import kernels, lambda_max, ncvpath
from ncvpath.kernels.records import Coordinates, Penalty
from ncvpath.penalties import ROWS
from ncvpath.solver.gram import empty_cholesky

pytestmark = pytest.mark.plain


def support_problem(row, l1=0.3, seed=1):
    """A restricted problem some way from its solution, all coordinates nonzero."""
    X, y = draw(60, 6, seed=seed)
    gram = X.T @ X / 60
    beta = np.linalg.solve(gram, X.T @ y / 60) * np.linspace(0.7, 1.3, 6)
    beta[np.abs(beta) < 0.05] = 0.4
    q = X.T @ (y - X @ beta) / 60
    return gram, Penalty(row.kind, row.gamma or 0.0), np.full(6, l1), beta, q


def step(gram, penalty, l1, beta, q, v=None, farthest=np.inf):
    """A Newton step: whether it was taken, and the change it made."""
    size = beta.size
    v = gram.diagonal().copy() if v is None else v
    r = Coordinates(
        np.arange(size), np.arange(size), l1, v, beta.copy(), q.copy()
    )
    direction = np.empty(size)
    taken, _ = kernels.newton_direction(
        r, gram, size, penalty, empty_cholesky(size), False, 0, direction
    )
    if taken:
        taken, _ = kernels.step_along(r, gram, size, penalty, direction, farthest)
    ridge = (v - gram.diagonal()) * (r.beta - beta)
    np.testing.assert_allclose(r.q, q - gram @ (r.beta - beta) - ridge, atol=1e-12)
    return taken, r.beta - beta


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_objective_never_rises(row):
    seen = 0
    for seed in range(30):
        gram, penalty, l1, beta, q = support_problem(row, seed=seed)
        taken, change = step(gram, penalty, l1, beta, q)
        seen += taken
        rise = (
            0.5 * change @ gram @ change - q @ change
            + row.value(np.abs(beta + change), l1, penalty.shape).sum()
            - row.value(np.abs(beta), l1, penalty.shape).sum()
        )
        assert rise <= 1e-14
        assert (np.sign(beta + change) * np.sign(beta) >= 0).all()
    assert seen > 15


def test_a_step_too_far_ends_where_the_piece_does():
    """In the concave piece the full step leads to 6, where the objective is higher."""
    gram, l1, beta, q = np.eye(1), np.ones(1), np.array([0.5]), np.array([1.5])
    taken, change = step(gram, Penalty(1, 1.2), l1, beta, q)
    assert taken and beta + change == pytest.approx(1.2)


def test_a_step_beyond_all_digits_is_refused():
    gram, l1, beta, q = np.eye(1), np.ones(1), np.array([2.0]), np.array([9.0])
    taken, change = step(gram, Penalty(0, 0.0), l1, beta, q)
    assert taken and beta + change == pytest.approx(10)
    taken, change = step(gram, Penalty(0, 0.0), l1, beta, q, farthest=2.1)
    assert not taken and change == 0


def test_one_step_solves_a_lasso_whose_signs_are_right():
    row = ROWS[0]
    gram, penalty, l1, beta, q = support_problem(row, l1=0.01)
    taken, change = step(gram, penalty, l1, beta, q)
    left = q - gram @ change - np.sign(beta) * l1
    kept = beta + change != 0
    assert taken and np.abs(left[kept]).max() < 1e-12


@pytest.mark.parametrize("row", ROWS[1:3], ids=lambda row: row.name)
def test_one_step_solves_a_concave_piece_too(row):
    gram, _, l1, beta, q = support_problem(row, l1=0.1)
    gram, l1, beta, q = gram[:4, :4], l1[:4], beta[:4], q[:4]  # far from zero
    taken, change = step(gram, Penalty(row.kind, 50.0), l1, beta, q)
    new = beta + change
    slope = row.slope(np.abs(new), l1, 50.0)
    assert taken and (slope < l1).all() and (slope > 0).all()
    np.testing.assert_allclose(q - gram @ change, np.sign(new) * slope, atol=1e-12)


def matrix_of(factor):
    """The matrix a factor stands for, by slot."""
    size = factor.size[0]
    lower = np.tril(factor.lower[:size, :size])
    order = np.argsort(factor.slots[:size])
    return (lower @ lower.T)[np.ix_(order, order)]


def test_a_factor_follows_supports_that_come_and_go():
    rng = np.random.default_rng(4)
    A = rng.standard_normal((60, 40))
    gram = A.T @ A / 60 + 0.1 * np.eye(40)
    factor, slots = empty_cholesky(40), np.arange(40)
    support = np.arange(0, 40, 2)
    for turn in range(60):
        diagonal = gram.diagonal()[support].copy()
        diagonal += rng.choice([0.0, 0.2], support.size)  # pieces of a penalty
        place = np.empty(support.size, dtype=np.int64)
        kernels.refactor(
            factor, gram, slots, support, diagonal, gram.diagonal()[support], 1e-12,
            place,
        )
        expected = gram[np.ix_(support, support)]
        np.fill_diagonal(expected, diagonal)
        np.testing.assert_allclose(matrix_of(factor), expected, atol=1e-12)
        np.testing.assert_array_equal(factor.slots[place], support)
        flips = rng.choice(40, 1 if turn % 10 else 15, replace=False)
        support = np.setxor1d(support, flips)


def test_singular_and_indefinite_systems_are_raised_to_a_majorant():
    ones, slots = np.ones((2, 2)), np.arange(2)
    for diagonal in (np.ones(2), np.full(2, 0.5)):
        factor, place = empty_cholesky(2), np.empty(2, dtype=np.int64)
        kernels.refactor(
            factor, ones, slots, slots, diagonal, np.ones(2), 1e-9, place
        )
        raised = matrix_of(factor)
        assert (np.linalg.eigvalsh(raised) > 0).all()
        assert (raised.diagonal() >= diagonal - 1e-15).all()
        assert not factor.left[:2].all()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_ill_conditioned_paths_converge_in_few_sweeps(row):
    X = np.vander(np.linspace(0, 1, 50), 10)
    y = np.sin(6 * X[:, -2])
    path = ncvpath(X, y, penalty=row.name, nlambda=30, tol=1e-9)
    assert path.converged.all()
    assert path.n_epochs.sum() < 30_000
    problem = Problem(X, y, penalty=row.name)
    assert problem.violations(path).max() <= 1.01e-9 + 1e-11


def test_newton_steps_take_over_where_sweeps_crawl():
    X, y = draw(80, 30, seed=2)
    X[:, 1:20] = X[:, [0]] + 1e-5 * X[:, 1:20]
    path = ncvpath(X, y, penalty="lasso", tol=1e-9)
    assert path.converged.all()
    assert path.screening["newton_steps"].sum() > 0


@pytest.mark.parametrize("q", [(1.3e-3, 5e-6), (1e-9, 1e-9), (1e-16, 1e-16)])
@pytest.mark.parametrize("correlation", [-1.0, -1 + 1.1e-16])
def test_opposite_columns_do_not_send_the_step_to_infinity(q, correlation):
    gram = np.array([[1.0, correlation], [correlation, 1.0]])
    beta = np.array([0.1, 0.136])
    _, change = step(gram, Penalty(1, 3.0), np.full(2, 1e-3), beta, np.array(q))
    assert np.abs(change).max() < 1e3


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("spread, options", [
    (0.001, dict(lambda_min_ratio=0)),
    (0.01, dict(own=[0.9, 0.1, 0.01, 0.001])),
    (0.01, {}),
])
def test_strongly_correlated_columns_do_not_stall(row, spread, options):
    """One factor and little else: sweeps crawl, and undo what few steps reach."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 1)) + spread * rng.standard_normal((100, 30))
        D = X - X.mean(axis=1, keepdims=True)
        y = X[:, 0] + 3 * (D / D.std())[:, :3] @ [1, -1, 0.5] + rng.standard_normal(100)
        options = dict(options)
        if "own" in options:
            top = lambda_max(X, y)
            options["lambdas"] = np.array(options.pop("own")) * top
        path = ncvpath(X, y, penalty=row.name, **options)
        assert path.converged.all()


def test_nearly_collinear_lasso_paths_converge():
    """Steps that end at zero are repeated without that coordinate: no zig-zag."""
    for seed in (259, 3, 17):
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((50, 4))
        y = B @ [2, -1, 0.5, 0] + 0.3 * rng.standard_normal(50)
        copies = [B + 1e-4 * rng.standard_normal(B.shape) for _ in range(4)]
        path = ncvpath(np.hstack([B, *copies]), y, penalty="lasso")
        assert path.converged.all()
