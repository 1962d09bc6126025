"""What any family owes, row by row: run on ours and on one of a user's."""

import numpy as np
import pytest

from ncvpath.families.response import Response

# Where e^eta is neither zero nor infinite, and where it is.
MODERATE, EXTREME = np.linspace(-6, 6, 25), np.array([-1e4, -800.0, -40.0, 40.0, 800.0])


def differences(function, at, step):
    """Central ones."""
    return (function(at + step) - function(at - step)) / (2 * step)


def grid(responses):
    """Each response with each moderate linear predictor."""
    return np.repeat(responses, MODERATE.size), np.tile(MODERATE, responses.size)


def check_derivatives(family, responses, exact_curvature=True):
    """Residuals are minus the derivative of the loss, and curvatures that of these."""
    y, eta = grid(responses)
    slope = differences(lambda at: family.loss(y, at), eta, 1e-5)
    residual, curvature = family.residual(y, eta), family.curvature(y, eta)
    size = 1 + np.abs(residual) + np.abs(family.loss(y, eta))
    assert (np.abs(slope + residual) <= 1e-8 * size).all()
    assert (curvature >= 0).all()
    if exact_curvature:
        bend = differences(lambda at: -family.residual(y, at), eta, 1e-5)
        assert (np.abs(bend - curvature) <= 1e-8 * (1 + curvature + size)).all()


def check_rows(family, responses):
    """A table of linear predictors is one row after the other."""
    y, eta = grid(responses)
    table = np.stack([eta, eta[::-1], eta + 1])
    measures = family.measures.values()
    functions = (
        family.loss, family.residual, family.curvature, family.unit_deviance,
        family.deviance_residual, *measures,
    )
    for function in functions:
        found = function(y, table)
        assert found.shape == table.shape
        for row, expected in zip(found, table):
            np.testing.assert_array_equal(row, function(y, expected))


def check_extremes(family, responses):
    """No warning (they are errors here) and no NaN, however large eta is."""
    y = np.repeat(responses, EXTREME.size)
    eta = np.tile(EXTREME, responses.size)
    for function in (family.loss, family.residual, family.curvature):
        assert not np.isnan(function(y, eta)).any()
    assert (family.unit_deviance(y, eta) >= -1e-12 * np.abs(eta)).all()
    assert np.isfinite(family.curvature(y, eta)[eta < 0]).all()


def check_saturation(family, responses):
    """The deviance is never negative, and zero where the loss is smallest."""
    y, eta = grid(responses)
    size = 1 + np.abs(family.loss(y, eta))
    assert (family.unit_deviance(y, eta) >= -1e-12 * size).all()
    near = np.linspace(-30, 30, 60_001)
    for value in responses:
        assert family.unit_deviance(value, near).min() < 1e-5
        signs = np.sign(family.deviance_residual(np.full(near.size, value), near))
        assert (np.diff(signs) <= 0).all()  # above the mean, then below


def check_likelihood(family, y, seed=0):
    """Bound to data: means with weights and offset, and the null model's intercept."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 2, y.size)
    weights /= weights.sum()
    offset, eta = rng.normal(size=y.size), rng.normal(size=(3, y.size))
    bound = family.bind(Response(y, offset=offset), weights, True)
    expected = [
        sum(w * family.loss(v, e) for w, v, e in zip(weights, y, row + offset))
        for row in eta
    ]
    np.testing.assert_allclose(bound.loss(eta), expected, rtol=1e-12)
    np.testing.assert_array_equal(bound.residual(eta), family.residual(y, eta + offset))
    np.testing.assert_array_equal(
        bound.curvature(eta), family.curvature(y, eta + offset)
    )
    deviance = 2 * y.size * (family.unit_deviance(y, eta + offset) / 2 @ weights)
    np.testing.assert_allclose(bound.deviance(bound.loss(eta)), deviance, rtol=1e-10)
    for fixed in (0.0, eta[0], 5 * eta[0]):
        intercept = bound.null_intercept(fixed)
        residual = bound.residual(np.broadcast_to(fixed, y.shape) + intercept)
        assert abs(weights @ residual) <= 1e-13 * (1 + weights @ np.abs(residual))
    without = family.bind(Response(y, offset=offset), weights, False)
    assert without.null_intercept(eta[0]) == 0


def check_null_link(family, y):
    """The null model without offset is where its mean says."""
    bound = family.bind(Response(y), np.full(y.size, 1 / y.size), True)
    link = family.null_link(y.mean())
    assert bound.null_intercept() == pytest.approx(link, rel=1e-9, abs=1e-9)


def check_weights(family, y, seed=0):
    """A weight of two is the row twice; one of zero is no row, whatever it holds."""
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 3, y.size)
    times[:2] = 1, 0
    offset, eta = rng.normal(size=y.size), rng.normal(size=(2, y.size))
    repeated = family.bind(
        Response(np.repeat(y, times), offset=np.repeat(offset, times)),
        np.full(times.sum(), 1 / times.sum()), True,
    )
    spoilt = np.where(times > 0, y, np.nan)
    weighted = family.bind(
        Response(spoilt, offset=np.where(times > 0, offset, np.nan)),
        times / times.sum(), True,
    )
    strange = np.where(times > 0, eta, 1e5)
    rows = np.repeat(eta, times, axis=-1)
    np.testing.assert_allclose(weighted.loss(strange), repeated.loss(rows), rtol=1e-12)
    assert weighted.null_intercept(strange[0]) == pytest.approx(
        repeated.null_intercept(rows[0]), rel=1e-9, abs=1e-12
    )
    for name in ("residual", "curvature"):
        found = getattr(weighted, name)(strange)
        assert not found[:, times == 0].any()
        np.testing.assert_array_equal(
            np.repeat(found, times, axis=-1), getattr(repeated, name)(rows)
        )
