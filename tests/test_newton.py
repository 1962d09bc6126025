"""Newton steps: exact where they can be, refused where they would harm."""

import numpy as np
import pytest
from conftest import draw
from oracle import Problem

from ncvpath import ncvpath
from ncvpath.newton import newton_change, share_to_first_edge, solve_positive
from ncvpath.penalties import ROWS, Penalty


def support_problem(row, l1=0.3, seed=1):
    """A restricted problem some way from its solution, all coordinates nonzero."""
    X, y = draw(60, 6, seed=seed)
    gram = X.T @ X / 60
    beta = np.linalg.solve(gram, X.T @ y / 60) * np.linspace(0.7, 1.3, 6)
    beta[np.abs(beta) < 0.05] = 0.4
    q = X.T @ (y - X @ beta) / 60
    return gram, Penalty(row.kind, row.gamma or 0.0), np.full(6, l1), beta, q


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_objective_never_rises(row):
    for seed in range(30):
        gram, penalty, l1, beta, q = support_problem(row, seed=seed)
        change = newton_change(gram, penalty, l1, gram.diagonal(), beta, q)
        if change is None:
            continue
        rise = (
            0.5 * change @ gram @ change - q @ change
            + row.value(np.abs(beta + change), l1, penalty.shape).sum()
            - row.value(np.abs(beta), l1, penalty.shape).sum()
        )
        assert rise <= 1e-14
        assert (np.sign(beta + change) * np.sign(beta) >= 0).all()


def test_one_step_solves_a_lasso_whose_signs_are_right():
    row = ROWS[0]
    gram, penalty, l1, beta, q = support_problem(row, l1=0.01)
    change = newton_change(gram, penalty, l1, gram.diagonal(), beta, q)
    left = q - gram @ change - np.sign(beta) * l1
    kept = beta + change != 0
    assert np.abs(left[kept]).max() < 1e-12


def test_a_singular_system_still_gives_a_step_and_an_indefinite_one_none():
    ones = np.ones((2, 2))
    step = solve_positive(ones, (np.ones(2), 1 + np.full(2, 1e-12)), np.ones(2), 10)
    np.testing.assert_allclose(step.sum(), 1, rtol=1e-3)
    assert solve_positive(ones, (np.full(2, 0.5),), np.ones(2), 10) is None


def test_steps_are_cut_at_sign_changes_and_piece_boundaries():
    size, l1 = np.array([1.0, 2.0]), np.ones(2)
    assert share_to_first_edge(size, np.array([-4.0, 0.0]), l1, ()) == 0.25
    assert share_to_first_edge(size, np.array([0.0, 2.0]), l1, (3.0,)) == 0.5
    assert share_to_first_edge(size, np.array([0.5, -0.5]), l1, (3.0,)) == 1.0


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
    change = newton_change(
        gram, Penalty(1, 3.0), np.full(2, 1e-3), np.ones(2), beta, np.array(q)
    )
    assert change is None or np.abs(change).max() < 1e3


def test_nearly_collinear_lasso_paths_converge():
    """Steps that end at zero are repeated without that coordinate: no zig-zag."""
    for seed in (259, 3, 17):
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((50, 4))
        y = B @ [2, -1, 0.5, 0] + 0.3 * rng.standard_normal(50)
        copies = [B + 1e-4 * rng.standard_normal(B.shape) for _ in range(4)]
        path = ncvpath(np.hstack([B, *copies]), y, penalty="lasso")
        assert path.converged.all()
