"""What linear predictors of held-out rows are worth, against plain formulas."""

import numpy as np
import pytest

from ncvpath.crossval import measures
from ncvpath.crossval.measures import HeldOut, find_measure
from ncvpath.families import FAMILIES
from ncvpath.families.response import Response

N = 60
FOLDS = np.arange(N) % 4
ROWS = [np.flatnonzero(FOLDS == k) for k in range(4)]


def probability(eta):
    return np.clip(1 / (1 + np.exp(-eta)), 1e-5, 1 - 1e-5)


def xlogy(x, y):
    return np.where(x > 0, x * np.log(np.where(x > 0, y, 1.0)), 0.0)


def binomial_deviance(y, eta):
    p = probability(eta)
    saturated = xlogy(y, y) + xlogy(1 - y, 1 - y)
    return -2 * (y * np.log(p) + (1 - y) * np.log(1 - p) - saturated)


LOSSES = {
    ("gaussian", "mse"): lambda y, eta: (y - eta) ** 2,
    ("gaussian", "mae"): lambda y, eta: np.abs(y - eta),
    ("binomial", "deviance"): binomial_deviance,
    ("binomial", "class"): lambda y, eta: np.abs(y - (eta >= 0)),
    ("binomial", "brier"): lambda y, eta: (y - 1 / (1 + np.exp(-eta))) ** 2,
    ("binomial", "mae"): lambda y, eta: np.abs(y - 1 / (1 + np.exp(-eta))),
    ("poisson", "deviance"): lambda y, eta: 2 * (
        xlogy(y, y) - y + np.exp(eta) - y * eta
    ),
    ("poisson", "mse"): lambda y, eta: (y - np.exp(eta)) ** 2,
    ("poisson", "mae"): lambda y, eta: np.abs(y - np.exp(eta)),
}
RESPONSES = {
    "gaussian": lambda rng: rng.standard_normal(N),
    "binomial": lambda rng: rng.integers(0, 2, N).astype(float),
    "poisson": lambda rng: rng.poisson(2.0, N).astype(float),
}


def predictors(rng, size=3):
    return 2 * rng.standard_normal((size, N))


def split(eta, rows=ROWS):
    return [eta[:, each] for each in rows]


def weights_of(rng, weighted):
    weights = rng.random(N) + 0.1 if weighted else np.ones(N)
    return weights / weights.sum()


# ---- by observation ----------------------------------------------------------------


@pytest.mark.parametrize("family, name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cells", [7, measures.CELLS])
def test_errors_are_means_of_losses(family, name, weighted, cells, monkeypatch):
    monkeypatch.setattr(measures, "CELLS", cells)
    rng = np.random.default_rng(1)
    y, eta, weights = RESPONSES[family](rng), predictors(rng), weights_of(rng, weighted)
    measure = find_measure(FAMILIES[family], name)
    held_out = HeldOut(Response(y), weights, ROWS)
    found = measure.errors(held_out, split(eta))
    losses, scaled = LOSSES[family, name](y, eta), weights * N
    cve = losses @ scaled / N
    cvse = np.sqrt((losses - cve[:, None]) ** 2 @ scaled / (N * (N - 1)))
    np.testing.assert_allclose(found.cve, cve, rtol=1e-12)
    np.testing.assert_allclose(found.cvse, cvse, rtol=1e-12)
    for k, rows in enumerate(ROWS):
        expected = np.average(losses[:, rows], axis=1, weights=weights[rows])
        np.testing.assert_allclose(found.fold_errors[k], expected, rtol=1e-12)
    assert measure.by_fold and not measure.maximised and measure.name == name


def test_probabilities_of_zero_and_one_are_not_believed():
    measure = find_measure(FAMILIES["binomial"], None)
    held_out = HeldOut(Response(np.array([0.0, 1.0])), np.full(2, 0.5), [np.arange(2)])
    far = measure.errors(held_out, [np.array([[500.0, -500.0]])])
    assert far.cve[0] == pytest.approx(-2 * np.log(1e-5))
    near = measure.errors(held_out, [np.array([[-500.0, 500.0]])])
    assert near.cve[0] == pytest.approx(-2 * np.log(1 - 1e-5))


def test_the_deviance_of_proportions_counts_from_the_saturated_model():
    measure = find_measure(FAMILIES["binomial"], "deviance")
    y = np.array([0.2, 0.5, 0.9])
    held_out = HeldOut(Response(y), np.full(3, 1 / 3), [np.arange(3)])
    perfect = measure.errors(held_out, [np.log(y / (1 - y))[None]])
    assert perfect.cve[0] == pytest.approx(0, abs=1e-15)


def test_a_row_held_out_twice_is_one_observation():
    rng = np.random.default_rng(2)
    y, eta = rng.standard_normal(N), predictors(rng)
    measure, weights = find_measure(FAMILIES["gaussian"], "mse"), np.full(N, 1 / N)
    once = measure.errors(HeldOut(Response(y), weights, ROWS), split(eta))
    twice = measure.errors(
        HeldOut(Response(y), weights, ROWS * 2), split(eta, ROWS * 2)
    )
    np.testing.assert_allclose(twice.cve, once.cve)
    np.testing.assert_allclose(twice.cvse, once.cvse)


def test_a_fold_without_weight_has_no_error():
    weights = np.where(FOLDS == 2, 0.0, 1.0)
    rows = [each[weights[each] > 0] for each in ROWS]
    held_out = HeldOut(Response(np.ones(N)), weights / weights.sum(), rows)
    found = find_measure(FAMILIES["gaussian"], None).errors(
        held_out, split(np.zeros((2, N)), rows)
    )
    assert np.isnan(found.fold_errors[2]).all() and (found.cve == 1).all()


# ---- AUC ---------------------------------------------------------------------------


def test_auc_is_weighted_by_pairs_and_varies_over_folds():
    rng = np.random.default_rng(3)
    y, eta, weights = RESPONSES["binomial"](rng), predictors(rng), np.full(N, 1 / N)
    y[FOLDS == 1] = 0  # a fold without pairs
    measure = find_measure(FAMILIES["binomial"], "auc")
    found = measure.errors(HeldOut(Response(y), weights, ROWS), split(eta))
    areas, pairs = [], []
    for rows in (ROWS[0], ROWS[2], ROWS[3]):
        up, down = rows[y[rows] == 1], rows[y[rows] == 0]
        areas.append((eta[:, up, None] > eta[:, None, down]).mean(axis=(1, 2)))
        pairs.append(up.size * down.size)
    mean = np.average(areas, axis=0, weights=pairs)
    variance = np.average((np.array(areas) - mean) ** 2, axis=0, weights=pairs) / 2
    np.testing.assert_allclose(found.cve, mean)
    np.testing.assert_allclose(found.cvse, np.sqrt(variance))
    np.testing.assert_allclose(found.fold_errors[[0, 2, 3]], areas)
    assert np.isnan(found.fold_errors[1]).all() and measure.maximised


def test_auc_needs_pairs():
    rows, weights = list(np.arange(N)[:, None]), np.full(N, 1 / N)
    held_out = HeldOut(Response(1.0 * (np.arange(N) > 9)), weights, rows)
    measure = find_measure(FAMILIES["binomial"], "auc")
    with pytest.raises(ValueError, match="fold that holds out both classes; got one"):
        measure.errors(held_out, split(np.zeros((1, N)), rows))


# ---- survival ----------------------------------------------------------------------


def survival(rng, strata=False, entry=False, ties="breslow"):
    time = rng.integers(1, 25, N).astype(float)
    return Response(
        (rng.random(N) < 0.6).astype(float), stop=time,
        start=np.floor(time * rng.random(N)) if entry else None,
        strata=rng.integers(0, 2, N) if strata else None, ties=ties,
    )


def event_terms(response, weights, eta):
    """-2 log of each event's share of the risk, one by one."""
    n, terms = weights.size, np.full(weights.size, np.nan)
    strata = np.zeros(n) if response.strata is None else response.strata
    start = np.full(n, -1.0) if response.start is None else response.start
    risk = n * weights * np.exp(eta)
    for i in np.flatnonzero(response.y):
        t = response.stop[i]
        same = strata == strata[i]
        at_risk = risk[same & (start < t) & (response.stop >= t)].sum()
        tied = same & (response.stop == t) & (response.y > 0)
        shares = np.arange(tied.sum()) / tied.sum() if response.ties == "efron" else [0]
        logs = [np.log(at_risk - share * risk[tied].sum()) for share in shares]
        terms[i] = -2 * (eta[i] - np.mean(logs))
    return terms


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("strata, entry", [(False, False), (True, True)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cells", [7, measures.CELLS])
def test_partial_deviance_is_a_mean_over_events(
    ties, strata, entry, weighted, cells, monkeypatch
):
    monkeypatch.setattr(measures, "CELLS", cells)
    rng = np.random.default_rng(4)
    response = survival(rng, strata, entry, ties)
    eta, weights = predictors(rng), weights_of(rng, weighted)
    measure = find_measure(FAMILIES["cox"], None)
    found = measure.errors(HeldOut(response, weights, ROWS), split(eta))
    events = response.y > 0
    own = weights[events] / weights[events].sum()
    for k in range(len(eta)):
        terms = event_terms(response, weights, eta[k])[events]
        assert found.cve[k] == pytest.approx(own @ terms, rel=1e-12)
        variance = own @ (terms - own @ terms) ** 2 / (events.sum() - 1)
        assert found.cvse[k] == pytest.approx(np.sqrt(variance), rel=1e-12)
        mean = np.average(
            terms[FOLDS[events] == 2], weights=own[FOLDS[events] == 2]
        )
        assert found.fold_errors[2, k] == pytest.approx(mean, rel=1e-12)


def concordance(response, eta, rows):
    """The share of right pairs among some rows, pair by pair."""
    right = possible = 0.0
    stop, died = response.stop, response.y > 0
    for i in rows:
        for j in rows:
            later = stop[j] > stop[i] or (stop[j] == stop[i] and not died[j])
            if died[i] and later:
                right += 0.5 + np.sign(eta[i] - eta[j]) / 2
                possible += 1
    return right / possible


@pytest.mark.parametrize("cells", [7, measures.CELLS])
def test_concordance_is_pooled_and_jackknifed_over_folds(cells, monkeypatch):
    monkeypatch.setattr(measures, "CELLS", cells)
    rng = np.random.default_rng(5)
    response, eta = survival(rng), np.round(predictors(rng), 1)
    measure = find_measure(FAMILIES["cox"], "concordance")
    held_out = HeldOut(response, np.full(N, 1 / N), ROWS)
    found = measure.errors(held_out, split(eta))
    for k in range(len(eta)):
        every = concordance(response, eta[k], np.arange(N))
        without = [
            concordance(response, eta[k], np.flatnonzero(FOLDS != fold))
            for fold in range(4)
        ]
        within = [concordance(response, eta[k], rows) for rows in ROWS]
        assert found.cve[k] == pytest.approx(every)
        np.testing.assert_allclose(found.fold_errors[:, k], within)
        jackknife = np.sqrt(3 * np.var(without))
        assert found.cvse[k] == pytest.approx(jackknife)
    assert measure.maximised and not measure.by_fold


def test_concordance_of_single_rows():
    rng = np.random.default_rng(6)
    response, rows = survival(rng), list(np.arange(N)[:, None])
    measure = find_measure(FAMILIES["cox"], "concordance")
    held_out = HeldOut(response, np.full(N, 1 / N), rows)
    found = measure.errors(held_out, split(predictors(rng), rows))
    assert np.isnan(found.fold_errors).all() and (found.cvse > 0).all()


def test_concordance_needs_pairs():
    response = Response(np.array([0.0, 1.0]), stop=np.array([1.0, 2.0]))
    measure = find_measure(FAMILIES["cox"], "concordance")
    held_out = HeldOut(response, np.full(2, 0.5), [np.array([0]), np.array([1])])
    with pytest.raises(ValueError, match="an event before another row's time ends"):
        measure.errors(held_out, [np.zeros((1, 1))] * 2)


# ---- a function of one's own -------------------------------------------------------


def pinball(y, eta, weights):
    return np.maximum(0.9 * (y - eta), 0.1 * (eta - y))


def test_a_function_is_a_measure():
    rng = np.random.default_rng(7)
    y, eta, weights = rng.standard_normal(N), predictors(rng), weights_of(rng, True)
    measure = find_measure(FAMILIES["gaussian"], pinball)
    found = measure.errors(HeldOut(Response(y), weights, ROWS), split(eta))
    by_row = measures.ByRow("pinball", lambda y, eta: pinball(y, eta, None))
    expected = by_row.errors(HeldOut(Response(y), weights, ROWS), split(eta))
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    assert measure.name == "pinball()"


def test_a_function_sees_y_eta_and_weights_that_sum_to_n():
    rng = np.random.default_rng(8)
    response, weights, seen = survival(rng, entry=True), weights_of(rng, True), []

    def watch(y, eta, weights):
        seen.append((y, weights))
        return eta**2

    held_out = HeldOut(response, weights, ROWS)
    find_measure(FAMILIES["cox"], watch).errors(held_out, split(predictors(rng, 1)))
    expected = np.column_stack([response.start, response.stop, response.y])
    for (y, _), rows in zip(seen, ROWS):
        np.testing.assert_array_equal(y, expected[rows])
    assert sum(given.sum() for _, given in seen) == pytest.approx(N)


@pytest.mark.parametrize("found", [1.0, np.ones(3), np.full(N // 4, "x"), None])
def test_a_function_must_give_a_loss_of_each_observation(found):
    measure = find_measure(FAMILIES["gaussian"], lambda y, eta, weights: found)
    held_out = HeldOut(Response(np.zeros(N)), np.full(N, 1 / N), ROWS)
    with pytest.raises(ValueError, match="measure must be a function .* for 15 rows"):
        measure.errors(held_out, split(np.zeros((1, N))))


@pytest.mark.parametrize("family, default", [
    ("gaussian", "mse"), ("binomial", "deviance"), ("poisson", "deviance"),
    ("cox", "deviance"),
])
@pytest.mark.parametrize("wrong", ["r2", 3, float])
def test_measures_are_those_of_the_family(family, default, wrong):
    family = FAMILIES[family]
    assert find_measure(family, None).name == default
    for name in family.measure_names:
        assert find_measure(family, name).name == name
    rule = f"measure must be one of {', '.join(family.measure_names)} with family="
    with pytest.raises(ValueError, match=f"{rule}.*got measure="):
        find_measure(family, wrong)
