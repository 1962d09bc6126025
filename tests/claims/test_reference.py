"""The same answers as R: figures of ncvreg and glmnet on small designs."""

import json
from functools import cache

import numpy as np
import pytest
from conftest import TESTS
from oracle import Problem

from ncvpath import ncvpath

HERE = TESTS / "reference"
NCVREG = sorted(file.stem for file in HERE.glob("ncvreg-*.json"))
GLMNET = sorted(file.stem for file in HERE.glob("glmnet-*.json"))
TOL = 1e-9


@cache
def case(name):
    """The figures of one case, its data and the arguments that ask for the same."""
    figures = json.loads((HERE / f"{name}.json").read_text())
    table = np.loadtxt(HERE / figures["data"], delimiter=",", skiprows=1)
    settings = {"penalty": figures.get("penalty", "lasso"), "alpha": figures["alpha"]}
    if settings["penalty"] != "lasso":
        settings["gamma"] = figures["gamma"]
    for ours, theirs in {
        "penalty_factor": "penalty_factor",
        "weights": "weights",
        "standardize": "standardize",
        "intercept": "intercept_fitted",
    }.items():
        if figures.get(theirs) is not None:
            settings[ours] = figures[theirs]
    return figures, np.asfortranarray(table[:, 1:]), table[:, 0], settings


def theirs(figures):
    """R's coefficients, intercept first, features x lambdas."""
    beta = np.array(figures["beta"]).T
    if "intercept" in figures:
        intercept = np.broadcast_to(figures["intercept"], beta.shape[1])
        beta = np.vstack([intercept, beta])
    return beta


@cache
def fitted(name):
    """Our path at R's lambdas."""
    figures, X, y, settings = case(name)
    return ncvpath(X, y, lambdas=figures["lambda"], tol=TOL, **settings)


@pytest.mark.parametrize("name", NCVREG)
def test_automatic_lambdas_are_those_of_ncvreg(name):
    figures, X, y, settings = case(name)
    ratio = 0.01 if X.shape[0] > X.shape[1] else 0.3
    path = ncvpath(X, y, nlambda=30, lambda_min_ratio=ratio, **settings)
    # ncvreg multiplies the first lambda by 1.000001 when a factor is 0.
    np.testing.assert_allclose(path.lambdas, figures["lambda"], rtol=2e-6)


@pytest.mark.parametrize("name", NCVREG)
def test_coefficients_are_those_of_ncvreg_in_the_convex_part(name):
    figures, *_ = case(name)
    reference, path = theirs(figures), fitted(name)
    upto = figures["convex_min"] or reference.shape[1]
    error = np.abs(path.coef().to_numpy() - reference)[:, :upto]
    assert error.max() <= 1e-5 * np.abs(reference).max()
    np.testing.assert_allclose(path.loss[:upto], figures["loss"][:upto], rtol=1e-6)


def test_objectives_are_not_above_ncvregs_beyond_the_convex_part():
    checked, above = 0, []
    for name in NCVREG:
        figures, X, y, settings = case(name)
        problem, reference = Problem(X, y, **settings), theirs(figures)
        path = fitted(name)
        for k in range(figures["convex_min"] or len(path.lambdas), len(path.lambdas)):
            b = reference[1:, k] * problem.scale
            checked += 1
            if path.objective[k] > problem.objective(b, path.lambdas[k]) * (1 + 1e-7):
                above.append((name, k))
    assert checked > 20
    assert len(above) <= 0.05 * checked, above


@pytest.mark.parametrize("name", [n for n in NCVREG if "alpha1" in n])
def test_convex_min_is_ncvregs(name):
    figures, *_ = case(name)
    expected = figures["convex_min"]
    assert fitted(name).convex_min == (None if expected is None else expected - 1)


@pytest.mark.parametrize("name", GLMNET)
def test_coefficients_are_those_of_glmnet(name):
    figures, *_ = case(name)
    reference = theirs(figures)
    error = np.abs(fitted(name).coef().to_numpy() - reference)
    assert error.max() <= 1e-5 * np.abs(reference).max()
