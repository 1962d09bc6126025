"""Least squares as a family: what the solver asks of a loss."""

import numpy as np
import pytest
from conftest import draw

from ncvpath import ncvpath
from ncvpath.families import FAMILIES
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import make_design
from ncvpath.runtime.threads import ThreadPool

GAUSSIAN = FAMILIES["gaussian"]


@pytest.fixture
def drawn():
    """Response, two linear predictors, and weights of which one is zero."""
    rng = np.random.default_rng(0)
    weights = np.r_[0.0, rng.uniform(0.1, 3, 29)]
    return rng.normal(3, 2, 30), rng.standard_normal((2, 30)), weights / weights.sum()


def test_families_are_found_by_name():
    assert [(name, family.name) for name, family in FAMILIES.items()] == [
        ("gaussian", "gaussian")
    ]
    assert GAUSSIAN.is_quadratic


def test_loss_is_half_the_weighted_mean_square(drawn):
    response, eta, weights = drawn
    expected = [
        sum(w * (y - e) ** 2 / 2 for w, y, e in zip(weights, response, row))
        for row in eta
    ]
    found = GAUSSIAN.loss(response, eta, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found.shape == (2,)


def test_the_residual_is_minus_the_derivative_of_the_loss(drawn):
    """By differences in each observation, which are exact for a parabola."""
    response, eta, weights = drawn
    residual = GAUSSIAN.residual(response, eta)
    step = 1e-3
    for i in range(30):
        ahead, behind = eta.copy(), eta.copy()
        ahead[:, i] += step
        behind[:, i] -= step
        rise = GAUSSIAN.loss(response, ahead, weights)
        rise = rise - GAUSSIAN.loss(response, behind, weights)
        np.testing.assert_allclose(
            rise / (2 * step), -weights[i] * residual[:, i], atol=1e-11
        )


def test_the_loss_is_its_own_quadratic_model(drawn):
    response, eta, weights = drawn
    [loss, other] = GAUSSIAN.loss(response, eta, weights)
    step = eta[1] - eta[0]
    residual = GAUSSIAN.residual(response, eta[:1])[0]
    model = loss - weights @ (residual * step) + 0.5 * weights @ step**2
    assert other == pytest.approx(model, rel=1e-13)


def test_deviance_is_the_residual_sum_of_squares(drawn):
    response, eta, _ = drawn
    loss = GAUSSIAN.loss(response, eta, np.full(30, 1 / 30))
    np.testing.assert_allclose(
        GAUSSIAN.deviance(loss, 30), ((response - eta) ** 2).sum(axis=1), rtol=1e-13
    )


def test_the_loss_of_a_path_is_a_deviance():
    X, y = draw(60, 9)
    path = ncvpath(X, y, nlambda=10)
    squares = ((y[:, None] - path.predict(X)) ** 2).sum(axis=0)
    np.testing.assert_allclose(path.loss, squares, rtol=1e-10)
    np.testing.assert_allclose(
        path.dev_ratio, 1 - squares / ((y - y.mean()) ** 2).sum(), atol=1e-12
    )


def test_the_centre_is_the_weighted_mean_and_rows_without_weight_are_zero(drawn):
    y, _, weights = drawn
    y = y.copy()
    y[0] = np.nan  # whatever it is
    response, mean = GAUSSIAN.center(y, weights, True)
    assert mean == pytest.approx(weights[1:] @ y[1:], rel=1e-14)
    np.testing.assert_allclose(response[1:], y[1:] - mean, rtol=1e-13, atol=1e-14)
    assert response[0] == 0 and abs(weights @ response) < 1e-15


def test_without_intercept_nothing_is_taken_away(drawn):
    y, _, weights = drawn
    response, mean = GAUSSIAN.center(y, weights, False)
    assert mean == 0 and response[0] == 0
    np.testing.assert_array_equal(response[1:], y[1:])


def test_a_centre_far_from_zero_leaves_no_constant():
    rng = np.random.default_rng(1)
    y, weights = 1e12 + rng.standard_normal(1000), np.full(1000, 1e-3)
    response, _ = GAUSSIAN.center(y, weights, True)
    exact = y.astype(np.longdouble)
    exact = exact - exact.mean()
    assert abs(weights @ response) < 1e-9
    np.testing.assert_allclose(response, exact.astype(float), atol=1e-6)


def test_the_spread_is_the_standard_deviation(drawn):
    y, _, weights = drawn
    response, mean = GAUSSIAN.center(y, weights, True)
    expected = np.sqrt(weights @ (y - mean) ** 2)
    assert GAUSSIAN.spread(response, weights) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_the_null_model_is_least_squares_on_the_unpenalised_features(far):
    X, y = draw(50, 6, seed=2)
    X = np.asfortranarray(X + far)
    weights = np.r_[0, 0, np.random.default_rng(3).uniform(0.5, 2, 48)]
    weights /= weights.sum()
    design = make_design(dense_matrix(X, ThreadPool(1)), weights, True, True)
    response, _ = GAUSSIAN.center(y, weights, True)
    features = np.array([1, 4])
    beta = GAUSSIAN.null_coefficients(design, response, features)
    residual = GAUSSIAN.residual(response, design.combine(features, beta[None]))
    # The residual is orthogonal to them, so that no other has a smaller loss.
    assert np.abs(design.correlate(residual, features)).max() < 1e-9 + 1e-15 * far
    root = np.sqrt(weights)
    Z = (X[:, features] - design.center[features]) / design.scale[features]
    expected = np.linalg.lstsq(Z * root[:, None], response * root, rcond=None)[0]
    np.testing.assert_allclose(beta, expected, atol=1e-9)
