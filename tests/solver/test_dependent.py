"""Columns that are nearly dependent: they may not cost more than they are worth."""

import numpy as np
import pytest
from conftest import draw

from ncvpath import ncvpath
from ncvpath.solver import gist, lambda_zero


def hilbert(n, p):
    return 1 / (np.arange(1, n + 1)[:, None] + np.arange(p)[None])


def powers(n, p):
    return np.linspace(-1, 1, n)[:, None] ** np.arange(1, p + 1)


PROBLEMS = {"Hilbert": hilbert(100, 30), "square": hilbert(60, 50),
            "powers": powers(200, 20), "many powers": powers(100, 30)}
SETTINGS = {"alone": dict(lambdas=0.0), "cold": dict(lambdas=0.0, warm_up=False),
            "at the end": dict(lambda_min_ratio=0, nlambda=20)}


@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("X", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_lambda_0_creeps_along_no_direction(X, setting, penalty):
    """It took seconds and 70,000 Newton steps, where least squares takes 7 ms."""
    y = np.random.default_rng(0).standard_normal(len(X))
    path = ncvpath(X, y, penalty=penalty, **setting)
    assert path.converged.all() and path.status[-1].startswith("converged to one of")
    assert path.screening["newton_steps"].iloc[-1] == 0
    assert path.n_epochs[-1] == 0
    # The violation is as good as it says, by plain NumPy.
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    residual = y - path.predict(X)[:, -1]
    worst = np.abs(Z.T @ residual).max() / np.abs(Z.T @ (y - y.mean())).max()
    assert worst < 1.5 * path.tol
    assert np.abs(path.coef(standardized=True).iloc[1:, -1]).max() < 1e9


def test_of_many_solutions_it_is_one_with_the_support_before():
    X, y = draw(60, 4, seed=3)
    X = np.column_stack([X, X[:, 0], X[:, 1] - X[:, 2]])
    path = ncvpath(X, y, penalty="lasso", lambdas=[1e-3, 0.0])
    assert path.status[-1].startswith("converged to one of many")
    assert set(path.selected(which=1)) <= set(path.selected(which=0))
    expected = np.linalg.lstsq(np.column_stack([np.ones(60), X]), y, rcond=None)[0]
    fitted = np.column_stack([np.ones(60), X]) @ expected
    np.testing.assert_allclose(path.predict(X, which=1), fitted, rtol=1e-5)


def test_where_there_is_one_solution_it_is_least_squares():
    X, y = draw(60, 5, seed=3)
    path = ncvpath(X, y, lambdas=0.0)
    expected = np.linalg.lstsq(np.column_stack([np.ones(60), X]), y, rcond=None)[0]
    np.testing.assert_allclose(path.coef(which=0), expected, rtol=1e-10)
    assert path.status == ("converged",)


def test_records_do_not_change_it():
    X, y = hilbert(60, 50), np.random.default_rng(1).standard_normal(60)
    plain = ncvpath(X, y, lambda_min_ratio=0, nlambda=8)
    told = ncvpath(X, y, lambda_min_ratio=0, nlambda=8, record=True)
    np.testing.assert_array_equal(plain.beta.toarray(), told.beta.toarray())
    assert told.trace.loc[0.0]["violation"].iloc[-1] <= told.tol


def test_what_cannot_be_had_at_once_goes_by_rounds(monkeypatch):
    monkeypatch.setattr(lambda_zero, "DIRECT", 10)
    X, y = hilbert(60, 8), np.random.default_rng(1).standard_normal(60)
    path = ncvpath(X, y, lambdas=0.0)
    assert path.n_epochs[-1] > 0


def test_steps_of_gist_cost_no_look_at_a_column(monkeypatch):
    """Thousands of steps on powers of one variable took twenty seconds."""
    X, y = powers(300, 12), np.sin(3 * np.linspace(-1, 1, 300))
    y = y + 0.1 * np.random.default_rng(0).standard_normal(300)
    looks = []
    look = gist.Squares.look
    monkeypatch.setattr(
        gist.Squares, "look", lambda *arguments: looks.append(1) or look(*arguments)
    )
    settings = dict(penalty="lasso", nlambda=6, lambda_min_ratio=0.05)
    path = ncvpath(X, y, solver="gist", working_set="maxvc", **settings)
    assert path.converged.all() and not looks
    monkeypatch.setattr(gist, "FEW_PRODUCTS", 0)
    other = ncvpath(X, y, solver="gist", working_set="maxvc", **settings)
    assert looks
    np.testing.assert_allclose(path.objective, other.objective, rtol=1e-6)
    same = ncvpath(X, y, **settings)
    np.testing.assert_allclose(path.objective, same.objective, rtol=1e-6)
