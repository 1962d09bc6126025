"""Proximal Newton steps and the Hessian, piece by piece."""

import numpy as np
import pytest
from scipy import sparse

from ncvpath import ncvpath
from ncvpath.families import FAMILIES
from ncvpath.families.response import Response
from ncvpath.matrices import open_matrix
from ncvpath.matrices.design import make_design
from ncvpath.runtime.threads import working
from ncvpath.solver.hessian import Reference
from ncvpath.solver.jacobian import Jacobian, change_within_signs, is_definite


class Posed:
    """As much of a problem as a Hessian asks for."""

    def __init__(self, X, y, family, threads, intercept=True):
        weights = np.full(len(X), 1 / len(X))
        matrix = open_matrix(np.asfortranarray(X), threads)
        self.design = make_design(matrix, weights, True, True)
        response = Response(y)
        if family == "cox":
            response = Response(y, stop=np.arange(len(X), 0, -1.0))
        self.likelihood = FAMILIES[family].bind(response, weights, intercept)


def drawn(seed=1, n=40, p=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    return X, (rng.random(n) < 0.5).astype(float), 0.7 * rng.standard_normal(n)


@pytest.mark.parametrize("family", ["binomial", "poisson", "cox"])
def test_the_hessian_is_that_of_the_loss(family):
    X, y, eta = drawn()
    with working(1) as threads:
        posed = Posed(X, y, family, threads)
        reference, features = Reference(posed, eta), np.arange(6)
        found = reference.gram(features, features[:4])
        diagonal, Z = reference.diagonal(features), posed.design.columns(features)
    step, expected = 1e-5, np.empty((6, 6))
    for k in range(6):
        # The intercept gives way, so that its own score stays.
        way = Z[:, k] - reference.shift(features[k : k + 1])
        ends = posed.likelihood.residual(np.array([eta + step * way, eta - step * way]))
        expected[:, k] = Z.T @ (posed.design.weights * (ends[1] - ends[0])) / (2 * step)
    np.testing.assert_allclose(found, expected[:, :4], atol=1e-8)
    np.testing.assert_allclose(diagonal, expected.diagonal(), atol=1e-8)


def test_moments_are_the_same_for_every_kind_of_x():
    X, _, eta = drawn()
    X[X < 0.3] = 0.0
    weights, features = np.exp(eta), np.array([4, 0, 2])
    found = []
    with working(2) as threads:
        for stored in (X, sparse.csc_array(X)):
            posed = make_design(
                open_matrix(clean(stored), threads), np.full(40, 1 / 40), True, True
            )
            found.append(posed.moments(weights, features))
            Z = posed.columns(features)
            np.testing.assert_allclose(found[-1], weights @ [Z, Z**2], rtol=1e-12)
    np.testing.assert_allclose(*found, rtol=1e-12)


def clean(X):
    """X as the door lets it in."""
    from ncvpath.inputs.checks import matrix

    return matrix("X", X)


def test_those_that_would_cross_zero_stay_there():
    jacobian = np.array([[2.0, 0.5], [0.5, 1.0]])
    beta, sign = np.array([1.0, 0.1]), np.array([1.0, 1.0])
    wrong = np.array([0.2, -3.0])
    both = np.array([True, True])
    change = change_within_signs(jacobian, wrong, beta, sign, both)
    assert beta[1] + change[1] == 0.0
    np.testing.assert_allclose(2.0 * change[0] - 0.5 * 0.1, 0.2)
    free = change_within_signs(jacobian, wrong, beta, sign, np.array([True, False]))
    np.testing.assert_allclose(jacobian @ free, wrong)
    assert change_within_signs(np.zeros((2, 2)), wrong, beta, sign, both) is None


def test_definite_matrices():
    assert is_definite(np.eye(2)) and not is_definite(np.diag([1.0, -1.0]))


def test_one_reference_serves_many_lambdas(monkeypatch):
    made = []
    init = Reference.__init__
    monkeypatch.setattr(
        Reference, "__init__",
        lambda self, *given: (made.append(1), init(self, *given))[1],
    )
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 300))
    y = (rng.random(200) < 1 / (1 + np.exp(-X[:, :3].sum(axis=1)))).astype(float)
    path = ncvpath(X, y, family="binomial", penalty="lasso", convex=False)
    assert path.converged.all() and len(made) < path.lambdas.size / 2


@pytest.mark.parametrize("penalty", ["MCP", "SCAD", "lasso"])
def test_no_saturated_model_is_returned_however_it_was_found(penalty):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    path = ncvpath(X, X[:, 0] > 0, family="binomial", penalty=penalty)
    assert (path.dev_ratio <= 0.99).all() and "saturated" in path.stopped


def correlated(n=120, p=60, seed=4):
    """Columns in a chain, and classes by the sum of some."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
    eta = 2 * X[:, ::6].sum(axis=1) / np.sqrt(10)
    return X, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)


@pytest.mark.filterwarnings("ignore:.*did not reach tol")  # near saturation
@pytest.mark.parametrize("penalty", ["MCP", "SCAD"])
def test_sweeps_settle_units_beyond_the_convex_region(penalty):
    X, y = correlated()
    path = ncvpath(X, y, family="binomial", penalty=penalty, lambda_min_ratio=0.05)
    beyond = np.arange(path.lambdas.size) > path.convex_min
    assert path.n_epochs[beyond].sum() > 0  # Newton's method alone does not do it
    early = path.dev_ratio < 0.9
    assert (beyond & early).sum() > 10
    assert path.converged[early].mean() >= (1.0 if penalty == "MCP" else 0.96)


def test_derivatives_of_the_units_serve_many_lambdas(monkeypatch):
    made, init = [], Jacobian.__init__
    monkeypatch.setattr(
        Jacobian, "__init__",
        lambda self, *given: (made.append(1), init(self, *given))[1],
    )
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 30))
    y = (rng.random(400) < 1 / (1 + np.exp(-X[:, :3].sum(axis=1)))).astype(float)
    path = ncvpath(X, y, family="binomial", convex=False)
    assert path.converged.all() and len(made) < path.lambdas.size / 2


@pytest.mark.parametrize("family", ["binomial", "cox"])
def test_derivatives_of_the_units_are_those_of_differences(family):
    X, y, eta = drawn()
    features, step = np.arange(6), 1e-5
    with working(1) as threads:
        posed = Posed(X, y, family, threads)
        jacobian = Jacobian(posed, eta)
        found = jacobian.of(features)[1]
        ways = posed.design.columns(features) - jacobian.reference.shift(features)
        for k in features:
            ends = [
                Reference(posed, eta + sign * step * ways[:, k]).v(features)
                for sign in (1, -1)
            ]
            slope = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(found[:, k], slope, atol=1e-6)


def test_features_that_come_later_have_no_derivatives_of_units_yet():
    X, y, eta = drawn()
    with working(1) as threads:
        posed = Posed(X, y, "binomial", threads)
        jacobian = Jacobian(posed, eta)
        first = jacobian.of(np.array([4, 1]))
        hessian, bends = jacobian.of(np.array([1, 3, 4]))
        whole = jacobian.reference.gram(np.array([1, 3, 4]), np.array([1, 3, 4]))
    np.testing.assert_allclose(hessian, whole, atol=1e-14)
    np.testing.assert_array_equal(bends[np.ix_([2, 0], [2, 0])], first[1])
    assert not bends[1].any() and not bends[:, 1].any()


def test_a_column_that_varies_in_rows_without_curvature_bends_upwards():
    rng = np.random.default_rng(0)
    X, far = rng.standard_normal((60, 4)), np.where(np.arange(60) < 20, 45.0, 0.0)
    X[:, 3] = np.where(far > 0, rng.standard_normal(60), 1.0)
    with working(1) as threads:
        posed = Posed(X, (X[:, 0] > 0) * 1.0, "binomial", threads)
        diagonal = Reference(posed, far).diagonal(np.arange(4))
    assert (diagonal > 0).all()
