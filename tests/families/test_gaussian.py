"""Least squares as a family: what the solver asks of a loss."""

import numpy as np
import pytest
from conftest import draw

from ncvpath import ncvpath
from ncvpath.families import FAMILIES
from ncvpath.families.response import Response
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import make_design
from ncvpath.matrices.least_squares import least_squares
from ncvpath.runtime.threads import ThreadPool

GAUSSIAN = FAMILIES["gaussian"]


def bound(y, weights, intercept=False):
    """The likelihood of one fit."""
    return GAUSSIAN.bind(Response(y), weights, intercept)


@pytest.fixture
def drawn():
    """Response, two linear predictors, and weights of which one is zero."""
    rng = np.random.default_rng(0)
    weights = np.r_[0.0, rng.uniform(0.1, 3, 29)]
    return rng.normal(3, 2, 30), rng.standard_normal((2, 30)), weights / weights.sum()


def test_families_are_found_by_name():
    assert [(name, family.name) for name, family in FAMILIES.items()] == [
        (name, name) for name in ("gaussian", "binomial", "poisson", "cox")
    ]
    assert GAUSSIAN.is_quadratic


def test_loss_is_half_the_weighted_mean_square(drawn):
    response, eta, weights = drawn
    expected = [
        sum(w * (y - e) ** 2 / 2 for w, y, e in zip(weights, response, row))
        for row in eta
    ]
    found = bound(response, weights).loss(eta)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found.shape == (2,)


def test_the_residual_is_minus_the_derivative_of_the_loss(drawn):
    """By differences in each observation, which are exact for a parabola."""
    response, eta, weights = drawn
    likelihood, step = bound(response, weights), 1e-3
    residual = likelihood.residual(eta)
    for i in range(30):
        ahead, behind = eta.copy(), eta.copy()
        ahead[:, i] += step
        behind[:, i] -= step
        rise = likelihood.loss(ahead) - likelihood.loss(behind)
        np.testing.assert_allclose(
            rise / (2 * step), -weights[i] * residual[:, i], atol=1e-11
        )


def test_the_loss_is_its_own_quadratic_model(drawn):
    response, eta, weights = drawn
    likelihood = bound(response, weights)
    [loss, other] = likelihood.loss(eta)
    step = eta[1] - eta[0]
    residual = likelihood.residual(eta[:1])[0]
    model = loss - weights @ (residual * step) + 0.5 * weights @ step**2
    assert other == pytest.approx(model, rel=1e-13)


def test_deviance_is_the_residual_sum_of_squares(drawn):
    response, eta, _ = drawn
    likelihood = bound(response, np.full(30, 1 / 30))
    np.testing.assert_allclose(
        likelihood.deviance(likelihood.loss(eta)), ((response - eta) ** 2).sum(axis=1),
        rtol=1e-13,
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
    centred = bound(y, weights, intercept=True)
    response, mean = centred.y, centred.mean
    assert mean == pytest.approx(weights[1:] @ y[1:], rel=1e-14)
    np.testing.assert_allclose(response[1:], y[1:] - mean, rtol=1e-13, atol=1e-14)
    assert response[0] == 0 and abs(weights @ response) < 1e-15


def test_without_intercept_nothing_is_taken_away(drawn):
    y, _, weights = drawn
    plain = bound(y, weights)
    assert plain.mean == 0 and plain.y[0] == 0
    np.testing.assert_array_equal(plain.y[1:], y[1:])


def test_the_offset_is_taken_away_from_y(drawn):
    y, [offset, eta], weights = drawn
    one = GAUSSIAN.bind(Response(y, offset=offset), weights, True)
    other = bound(y - offset, weights, intercept=True)
    assert one.mean == other.mean and one.spread() == other.spread()
    np.testing.assert_array_equal(one.y, other.y)
    np.testing.assert_array_equal(one.residual(eta[None]), other.residual(eta[None]))


def test_a_centre_far_from_zero_leaves_no_constant():
    rng = np.random.default_rng(1)
    y, weights = 1e12 + rng.standard_normal(1000), np.full(1000, 1e-3)
    response = bound(y, weights, intercept=True).y
    exact = y.astype(np.longdouble)
    exact = exact - exact.mean()
    assert abs(weights @ response) < 1e-9
    np.testing.assert_allclose(response, exact.astype(float), atol=1e-6)


def test_the_spread_is_the_standard_deviation(drawn):
    y, _, weights = drawn
    centred = bound(y, weights, intercept=True)
    expected = np.sqrt(weights @ (y - centred.mean) ** 2)
    assert centred.spread() == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_the_null_model_is_least_squares_on_the_unpenalised_features(far):
    X, y = draw(50, 6, seed=2)
    X = np.asfortranarray(X + far)
    weights = np.r_[0, 0, np.random.default_rng(3).uniform(0.5, 2, 48)]
    weights /= weights.sum()
    design = make_design(dense_matrix(X, ThreadPool(1)), weights, True, True)
    likelihood, features = bound(y, weights, intercept=True), np.array([1, 4])
    response = likelihood.y
    beta = least_squares(design, response, features)[0]
    residual = likelihood.residual(design.combine(features, beta[None]))
    # The residual is orthogonal to them, so that no other has a smaller loss.
    assert np.abs(design.correlate(residual, features)).max() < 1e-9 + 1e-15 * far
    root = np.sqrt(weights)
    Z = (X[:, features] - design.center[features]) / design.scale[features]
    expected = np.linalg.lstsq(Z * root[:, None], response * root, rcond=None)[0]
    np.testing.assert_allclose(beta, expected, atol=1e-9)
