"""AUC and concordance, against counting every pair."""

import numpy as np
import pytest

from ncvpath.crossval.concordance import Pairs, auc
from ncvpath.families.response import Response


def counted_auc(y, eta, weights):
    events, others = weights * y, weights * (1 - y)
    order = np.sign(eta[:, None] - eta) / 2 + 0.5
    return events @ order @ others / (events.sum() * others.sum())


@pytest.mark.parametrize("kind", ["classes", "shares"])
def test_auc_counts_pairs(kind):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 50) if kind == "classes" else rng.random(50)
    weights = rng.random(50) * (rng.random(50) < 0.8)
    eta = np.stack([rng.standard_normal(50), rng.integers(0, 4, 50), np.zeros(50)])
    areas, pairs = auc(y, eta, weights)
    expected = [counted_auc(y, each, weights) for each in eta]
    np.testing.assert_allclose(areas, expected, rtol=1e-12)
    assert areas[2] == pytest.approx(0.5)
    assert pairs == pytest.approx((weights * y).sum() * (weights * (1 - y)).sum())


def test_one_class_has_no_auc():
    areas, pairs = auc(np.ones(5), np.arange(10.0).reshape(2, 5), np.ones(5))
    assert np.isnan(areas).all() and areas.size == 2 and pairs == 0


def counted_pairs(response, weights, eta):
    """Right and possible pairs, each counted twice for both of its rows."""
    n, right, possible = weights.size, *np.zeros((2, weights.size))
    strata = np.zeros(n) if response.strata is None else response.strata
    start = np.full(n, -np.inf) if response.start is None else response.start
    stop, died = response.stop, response.y > 0
    for i, j in np.argwhere(strata[:, None] == strata):
        later = stop[j] > stop[i] or (stop[j] == stop[i] and not died[j])
        if died[i] and later and start[j] < stop[i]:
            credit = 0.5 + np.sign(eta[i] - eta[j]) / 2
            for k in (i, j):
                right[k] += 2 * weights[i] * weights[j] * credit
                possible[k] += 2 * weights[i] * weights[j]
    return right, possible


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("strata", [False, True])
def test_concordance_counts_pairs(seed, entry, strata):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    stop = rng.integers(1, 12, n).astype(float)  # many at the same time
    response = Response(
        rng.integers(0, 2, n).astype(float), stop=stop,
        start=np.floor(stop * rng.random(n)) if entry else None,
        strata=rng.integers(0, 3, n) if strata else None,
    )
    weights = rng.random(n)
    eta = np.round(rng.standard_normal((3, n)), 1)
    pairs = Pairs(response, weights)
    found = pairs.credits(eta)
    for k in range(3):
        right, possible = counted_pairs(response, weights, eta[k])
        np.testing.assert_allclose(found[k], right, atol=1e-12)
        np.testing.assert_allclose(pairs.possible(), possible, atol=1e-12)


def test_many_pairs_are_counted_in_no_time():
    """30,000 rows have half a billion pairs."""
    rng = np.random.default_rng(1)
    time, eta = rng.random(30_000), rng.standard_normal((1, 30_000))
    response = Response(np.ones(30_000), stop=time)
    pairs = Pairs(response, np.ones(30_000))
    share = pairs.credits(eta).sum() / pairs.possible().sum()
    assert share == pytest.approx(0.5, abs=0.01)
    assert pairs.credits(-time[None]).sum() == pytest.approx(pairs.possible().sum())
