"""Baselines of survival, against their definition."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csc_array

from ncvpath.families.response import Response
from ncvpath.families.survival import Baseline, make_baseline, tied_rise

N = 40


def draw(seed, rounded=None, strata=False, entry=False):
    rng = np.random.default_rng(seed)
    time = rng.exponential(size=N) + 0.1
    time = time if rounded is None else np.ceil(rounded * time) / rounded
    return Response(
        (rng.random(N) < 0.7).astype(float), stop=time,
        start=time * rng.random(N) * 0.9 if entry else None,
        strata=rng.integers(0, 2, N) if strata else None,
    ), rng.random(N) + 0.2, rng.standard_normal((3, N))


def rise(weights, theta, risk):
    """The one solution, by bisection."""
    if np.isclose((weights * theta).sum(), risk, rtol=1e-14):
        return np.inf

    def excess(h):
        return (weights * theta / -np.expm1(-theta * h)).sum() - risk

    return brentq(excess, 1e-12, 1e4, xtol=1e-15, rtol=1e-14)


def by_definition(response, weights, eta, code):
    """Event times of a stratum, and cumulative hazards, time by time."""
    strata = np.zeros(N) if response.strata is None else response.strata
    start = np.full(N, -1.0) if response.start is None else response.start
    theta, own = np.exp(eta), strata == code
    times, rises = np.unique(response.stop[own & (response.y > 0)]), []
    for t in times:
        at_risk = own & (start < t) & (response.stop >= t)
        died = own & (response.stop == t) & (response.y > 0)
        risk = (weights * theta)[at_risk].sum()
        rises.append(rise(weights[died], theta[died], risk))
    return times, np.cumsum(rises)


@pytest.mark.parametrize("rounded", [None, 5])
@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("entry", [False, True])
def test_hazards_solve_their_equation(rounded, strata, entry):
    response, weights, eta = draw(3, rounded, strata, entry)
    baseline = make_baseline(response, weights / weights.sum(), [eta], np.zeros(3))
    for code in range(1 + strata):
        own = baseline.strata == code
        for k in range(3):
            times, hazard = by_definition(response, weights, eta[k], code)
            np.testing.assert_array_equal(baseline.times[own], times)
            found = baseline.hazard[own, k] * np.exp(-baseline.center[k])
            np.testing.assert_allclose(found, hazard, rtol=1e-9)


def test_the_centre_is_the_mean_and_constants_do_not_matter():
    response, weights, eta = draw(4)
    weights = weights / weights.sum()
    one = make_baseline(response, weights, [eta[:2], eta[2:]], np.zeros(3))
    other = make_baseline(response, weights, [eta + 700], np.full(3, -50.0))
    np.testing.assert_allclose(one.center, eta @ weights)
    np.testing.assert_allclose(other.center, one.center + 650)
    np.testing.assert_allclose(other.hazard, one.hazard, rtol=1e-10)
    link, codes = eta.T[:5], np.zeros(5, int)
    times, curves = one.survival(link, codes)
    np.testing.assert_allclose(other.survival(link + 650, codes)[1], curves)
    np.testing.assert_array_equal(
        other.median(link + 650, codes), one.median(link, codes)
    )
    assert curves.shape == (times.size, 5, 3)
    assert (np.diff(curves, axis=0) <= 0).all()


def test_rows_without_weight_do_not_count():
    response, weights, eta = draw(5)
    weights[::3] = 0
    kept = np.flatnonzero(weights)
    eta[:, ::3] = 1e6
    some = Response(response.y[kept], stop=response.stop[kept])
    one = make_baseline(response, weights / weights.sum(), [eta], np.zeros(3))
    other = make_baseline(
        some, weights[kept] / weights.sum(), [eta[:, kept]], np.zeros(3)
    )
    np.testing.assert_allclose(one.hazard, other.hazard)
    np.testing.assert_allclose(one.center, other.center)


def test_medians_are_where_survival_reaches_one_half():
    response, weights, eta = draw(6, strata=True)
    baseline = make_baseline(response, weights / weights.sum(), [eta], np.zeros(3))
    times, curves = baseline.survival(eta.T, response.strata)
    medians = baseline.median(eta.T, response.strata)
    for row, k in np.ndindex(N, 3):
        below = np.flatnonzero(curves[:, row, k] <= 0.5)
        expected = times[below[0]] if below.size else np.nan
        np.testing.assert_equal(medians[row, k], expected)
    last = Baseline(np.array([1.0]), np.zeros(1, int), np.array([[0.1]]), np.zeros(1))
    assert np.isnan(last.median(np.zeros((1, 1)), np.zeros(1, int)))


def test_strata_without_an_event_go_on_for_ever():
    response, weights, eta = draw(7, strata=True)
    response.y[response.strata == 1] = 0
    baseline = make_baseline(response, weights / weights.sum(), [eta], np.zeros(3))
    _, curves = baseline.survival(eta.T, response.strata)
    assert (curves[:, response.strata == 1] == 1).all()
    assert np.isnan(baseline.median(eta.T, response.strata)[response.strata == 1]).all()


def test_a_hazard_without_end_leaves_nobody():
    baseline = Baseline(
        np.array([1.0, 2.0]), np.zeros(2, int), np.array([[0.5], [np.inf]]), np.zeros(1)
    )
    link = np.array([[0.0], [-800.0], [800.0]])
    _, curves = baseline.survival(link, np.zeros(3, int))
    np.testing.assert_allclose(curves[0, :, 0], [np.exp(-0.5), 1, 0])
    assert (curves[1] == 0).all()


def test_between_two_lambdas_logarithms_are_mixed():
    response, weights, eta = draw(8)
    baseline = make_baseline(response, weights / weights.sum(), [eta], np.zeros(3))
    mix = csc_array(np.array([[0, 0.25], [1, 0.75], [0, 0]]))
    mixed = baseline.at(mix)
    np.testing.assert_allclose(mixed.hazard[:, 0], baseline.hazard[:, 1])
    logs = np.log(baseline.hazard)
    np.testing.assert_allclose(
        mixed.hazard[:, 1], np.exp(0.25 * logs[:, 0] + 0.75 * logs[:, 1])
    )
    np.testing.assert_allclose(mixed.center, baseline.center @ mix.toarray())


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 900.0])
@pytest.mark.parametrize("other", [1e-9, 1.0, 1e9])  # risk of those without an event
def test_tied_rises_of_any_size(spread, other):
    rng = np.random.default_rng(9)
    weights, eta = rng.random(4) + 0.5, spread * rng.standard_normal((1, 4))
    eta -= eta.max()
    risk = weights * np.exp(eta)
    rise = tied_rise(weights, eta, risk / (risk.sum() + other))
    x = np.maximum(np.exp(eta) * rise[:, None], 1e-300)
    found = (weights * x / -np.expm1(-x)).sum() / rise
    assert found == pytest.approx(risk.sum() + other, rel=1e-9)
