"""Every reported solution satisfies Fermat's conditions over all features."""

import numpy as np
import pytest
from conftest import draw
from oracle import Problem

from ncvpath import ncvpath
from ncvpath.penalties import ROWS

TOL = 1e-8
NAMES = [row.name for row in ROWS]


def scaled():
    X, y = draw(50, 17, seed=5)
    return X * 10.0 ** np.linspace(-8, 8, 17), y


def duplicated():
    X, y = draw(40, 20, seed=6)
    X[:, 10], X[:, 11], X[:, 12] = X[:, 0], -X[:, 1], 2 * X[:, 2]
    return X, y


def nearly_duplicated():
    X, y = draw(40, 20, seed=7)
    X[:, 1], X[:, 3] = X[:, 0] + 1e-7 * X[:, 1], X[:, 2] + 1e-4 * X[:, 3]
    return X, y


def far_from_zero():
    X, y = draw(50, 30, seed=8)
    return X + 1e6, y


def polynomial():
    X = np.vander(np.linspace(0, 1, 30), 9)
    return X, np.sin(6 * X[:, -2]) + 0.1 * draw(30, 1, seed=9)[1]


def with_constants():
    X, y = draw(50, 20, seed=10)
    X[:, 3], X[:, 4] = 0.0, 1.1
    return (X > 0.5) * 1.0, y


DESIGNS = {
    "tall": lambda: draw(60, 12, seed=0),
    "square": lambda: draw(30, 30, seed=1),
    "wide": lambda: draw(25, 80, seed=2),
    "one column": lambda: draw(40, 1, seed=3),
    "two rows": lambda: draw(2, 5, seed=4),
    "scaled": scaled,
    "duplicated": duplicated,
    "nearly duplicated": nearly_duplicated,
    "far from zero": far_from_zero,
    "polynomial": polynomial,
    "with constants": with_constants,
}
every_design = pytest.mark.parametrize("design", DESIGNS)
every_penalty = pytest.mark.parametrize("penalty", NAMES)


def check(X, y, tol=TOL, **settings):
    problem = Problem(X, y, **{k: v for k, v in settings.items() if k != "working_set"})
    path = ncvpath(X, y, nlambda=15, tol=tol, **settings)
    found = problem.violations(path)
    # Two ways of computing the same number differ by rounding.
    assert (found <= tol * 1.01 + 1e-10).all(), found.max()
    assert path.converged.all() and set(path.status) == {"converged"}
    np.testing.assert_allclose(found, path.violation, rtol=1e-2, atol=1e-10)
    objective = [
        problem.objective(problem.standardized(path, k), lam)
        for k, lam in enumerate(path.lambdas)
    ]
    np.testing.assert_allclose(path.objective, objective, rtol=1e-8)
    return path


@every_design
@every_penalty
@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("standardize", [True, False])
def test_plain_paths(design, penalty, alpha, standardize):
    X, y = DESIGNS[design]()
    check(X, y, penalty=penalty, alpha=alpha, standardize=standardize)


@pytest.mark.parametrize("design", [d for d in DESIGNS if d != "two rows"])
@every_penalty
@pytest.mark.parametrize("standardize", [True, False])
def test_paths_with_weights_and_factors(design, penalty, standardize):
    X, y = DESIGNS[design]()
    n, p = X.shape
    rng = np.random.default_rng(n + p)
    factor = rng.choice([0.5, 1.0, 2.0, 5.0], p)
    if p > 4:
        factor[0], factor[4] = 0.0, np.inf
    check(
        X, y, penalty=penalty, standardize=standardize, penalty_factor=factor,
        weights=rng.integers(1, 4, n), alpha=0.7,
    )


@pytest.mark.parametrize("design", ["tall", "wide", "scaled", "duplicated"])
@every_penalty
def test_paths_without_intercept(design, penalty):
    X, y = DESIGNS[design]()
    check(X, y, penalty=penalty, intercept=False)


@pytest.mark.parametrize("design", ["tall", "wide", "scaled", "with constants"])
@every_penalty
def test_paths_of_the_full_problem(design, penalty):
    X, y = DESIGNS[design]()
    check(X, y, penalty=penalty, working_set="full")


@every_penalty
def test_a_working_set_beyond_the_gram_limit_is_solved_with_residuals(penalty):
    X, y = draw(30, 1200, seed=11)
    path = check(X, y, penalty=penalty, working_set="full", tol=1e-6)
    assert (path.work["working_set"][1:] == 1200).all()


@every_penalty
def test_zero_weights_are_rows_left_out(penalty):
    X, y = draw(60, 20, seed=12)
    X[50:] *= 100
    weights = np.r_[np.ones(50), np.zeros(10)]
    path = check(X, y, penalty=penalty, weights=weights)
    short = ncvpath(X[:50], y[:50], penalty=penalty, nlambda=15, tol=TOL,
                    lambda_min_ratio=path.lambdas[-1] / path.lambdas[0])
    np.testing.assert_allclose(path.beta.toarray(), short.beta.toarray(), atol=1e-6)


@every_penalty
def test_lambda_zero_is_least_squares(penalty):
    X, y = draw(60, 12, seed=0)
    path = ncvpath(X, y, penalty=penalty, lambda_min_ratio=0, tol=1e-10)
    assert path.lambdas[-1] == 0
    expected = np.linalg.lstsq(np.c_[np.ones(60), X], y, rcond=None)[0]
    np.testing.assert_allclose(path.coef(which=-1), expected, atol=1e-8)


@every_penalty
def test_lambda_zero_with_more_columns_than_rows_fits_perfectly(penalty):
    X, y = draw(20, 60, seed=13)
    path = ncvpath(X, y, penalty=penalty, lambda_min_ratio=0)
    assert path.converged.all()
    assert path.loss[-1] <= 1e-6 * path.loss[0]


@pytest.mark.parametrize("penalty", ["MCP", "SCAD", "logsum", "capped"])
def test_gamma_near_its_limit(penalty):
    X, y = draw(50, 60, seed=14)
    gamma = {"MCP": 1 + 1e-6, "SCAD": 2 + 1e-6, "logsum": 1e-3, "capped": 0.5 + 1e-6}
    check(X, y, penalty=penalty, gamma=gamma[penalty])


@every_penalty
def test_objectives_match_a_naive_solver_from_the_same_start(penalty):
    """One small step of lambda away both find the same valley."""
    X, y = draw(40, 10, seed=15)
    path = ncvpath(X, y, penalty=penalty, nlambda=40, tol=1e-10)
    problem = Problem(X, y, penalty=penalty)
    agree = []
    for k in range(1, 40):
        start = problem.standardized(path, k - 1)
        naive = problem.naive_solution(path.lambdas[k], start)
        ours = problem.objective(problem.standardized(path, k), path.lambdas[k])
        agree.append(ours <= problem.objective(naive, path.lambdas[k]) * (1 + 1e-8))
    # Beyond the convex part the two may part ways; inside they may not.
    upto = 39 if penalty == "lasso" else path.convex_min or 39
    assert all(agree[:upto]) if penalty != "capped" else np.mean(agree) > 0.9
    assert np.mean(agree) > 0.9
