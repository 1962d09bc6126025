"""The partial likelihood against plain loops over risk sets, and against R."""

import itertools
import json

import numpy as np
import pytest
from conftest import ROOT

from ncvpath import ncvpath
from ncvpath.families import FAMILIES, cox
from ncvpath.families.response import Response
from ncvpath.families.risk_sets import Intervals, Segments

COX = FAMILIES["cox"]
REFERENCE = ROOT.parent / "shared" / "reference"
N = 26


class Plain:
    """Minus the log partial likelihood, by its definition."""

    def __init__(self, response, weights):
        self.counted = np.count_nonzero(weights)  # rows that are observations
        self.w = weights * self.counted / weights.sum()
        self.response, self.n = response, weights.size
        start, strata = response.start, response.strata
        self.start = np.full(self.n, -np.inf) if start is None else start
        self.strata = np.zeros(self.n) if strata is None else strata
        self.events = sorted({
            (self.strata[i], response.stop[i]) for i in range(self.n)
            if response.y[i] and self.w[i] > 0
        })

    def sets(self):
        """Of each event time: who is at risk, and who has the event."""
        stop, rows = self.response.stop, range(self.n)
        for stratum, t in self.events:
            at_risk = [
                i for i in rows if self.start[i] < t <= stop[i] and self.w[i] > 0
                and self.strata[i] == stratum
            ]
            yield at_risk, [
                i for i in at_risk if stop[i] == t and self.response.y[i]
            ]

    def terms(self):
        """(weight of events, share of each row in the risk set), one per logarithm."""
        for at_risk, died in self.sets():
            mass, d = sum(self.w[i] for i in died), len(died)
            efron = self.response.ties == "efron"
            for k in range(d if efron else 1):
                share = np.zeros(self.n)
                share[at_risk] = 1.0
                if efron:
                    share[died] -= k / d
                yield mass / d if efron else mass, share

    def loss(self, eta):
        if self.response.offset is not None:
            eta = eta + self.response.offset
        found = sum(
            mass * np.log(sum(self.w * share * np.exp(eta)))
            for mass, share in self.terms()
        )
        return (found - sum(self.w * self.response.y * eta)) / self.counted

    def smallest(self):
        """The loss with all risk on those who have the event."""
        found = 0.0
        for _, died in self.sets():
            mass, d = sum(self.w[i] for i in died), len(died)
            if self.response.ties == "efron":
                found += sum(mass / d * np.log(mass * (1 - k / d)) for k in range(d))
            else:
                found += mass * np.log(mass)
        return found / self.counted

    def first_term(self, eta):
        """Of the Hessian's diagonal, by row, over its weight."""
        eta = eta if self.response.offset is None else eta + self.response.offset
        return sum(
            mass * share * np.exp(eta) / sum(self.w * share * np.exp(eta))
            for mass, share in self.terms()
        ) * (self.w > 0)


def problem(ties="breslow", strata=False, late=False, weighted=False, offset=False):
    rng = np.random.default_rng(5)
    stop = np.ceil(rng.exponential(7, N)) + 1
    weights = rng.uniform(0.3, 2, N) if weighted else np.ones(N)
    weights[3:6] = 0 if weighted else 1
    response = Response(
        np.r_[1.0, rng.random(N - 1) < 0.7],
        offset=rng.normal(size=N) if offset else None,
        start=np.floor(stop * rng.random(N)) if late else None, stop=stop,
        strata=rng.integers(0, 3, N) if strata else None, ties=ties,
    )
    return response, weights / weights.sum(), rng.normal(size=(2, N))


SWITCHES = list(itertools.product(["breslow", "efron"], *[[False, True]] * 4))
NAMES = ("strata", "late", "weights", "offset")
every_case = pytest.mark.parametrize("case", SWITCHES, ids=[
    "-".join([ties, *itertools.compress(NAMES, on)]) for ties, *on in SWITCHES
])


@every_case
def test_the_loss_is_the_one_of_the_definition(case):
    response, weights, eta = problem(*case)
    bound, plain = COX.bind(response, weights, True), Plain(response, weights)
    expected = [plain.loss(row) for row in eta]
    np.testing.assert_allclose(bound.loss(eta), expected, rtol=1e-12)
    assert bound.loss(eta[0]) == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(
        bound.deviance(bound.loss(eta)),
        2 * plain.counted * (np.array(expected) - plain.smallest()), rtol=1e-11,
    )
    assert bound.null_intercept(eta[0]) == 0 and bound.total == plain.counted


@every_case
def test_residuals_are_the_gradient(case):
    response, weights, eta = problem(*case)
    bound, plain = COX.bind(response, weights, True), Plain(response, weights)
    found, step = bound.residual(eta), 1e-5
    for row, residual in zip(eta, found):
        gradient = [
            (plain.loss(row + step * e) - plain.loss(row - step * e)) / (2 * step)
            for e in np.eye(N)
        ]
        np.testing.assert_allclose(-weights * residual, gradient, atol=1e-10)
        np.testing.assert_allclose(
            bound.curvature(row), plain.first_term(row), rtol=1e-11, atol=1e-14
        )
    assert not found[:, weights == 0].any()
    np.testing.assert_allclose(bound.curvature(eta)[1], bound.curvature(eta[1]))
    # In each stratum residuals sum to zero: its baseline is free.
    strata = np.zeros(N) if response.strata is None else response.strata
    for stratum in np.unique(strata):
        assert abs(found @ (weights * (strata == stratum))).max() < 1e-13


@every_case
def test_the_hessian_is_exact(case):
    response, weights, eta = problem(*case)
    bound, step = COX.bind(response, weights, True), 1e-5
    columns = [
        (bound.residual(eta[0] - step * e) - bound.residual(eta[0] + step * e))
        / (2 * step) for e in np.eye(N)
    ]
    operator = bound.hessian(eta[0])
    found = operator.times(np.eye(N))
    np.testing.assert_allclose(found, np.array(columns).T, atol=1e-9)
    whole = weights[:, None] * found
    np.testing.assert_allclose(whole, whole.T, atol=1e-15)
    assert np.linalg.eigvalsh(whole)[0] > -1e-14
    assert not found[weights == 0].any() and not found[:, weights == 0].any()
    np.testing.assert_allclose(operator.times(np.ones((N, 1))), 0, atol=1e-13)


def test_the_hessian_of_many_columns_goes_in_blocks(monkeypatch):
    response, weights, eta = problem()
    operator = COX.bind(response, weights, True).hessian(eta[0])
    Z = np.random.default_rng(1).normal(size=(N, 7))
    expected = operator.times(Z)
    for entries in (1, 3 * N, 7 * N):
        monkeypatch.setattr(cox, "ENTRIES", entries)
        np.testing.assert_array_equal(operator.times(Z), expected)
        np.testing.assert_array_equal(operator.times(np.asfortranarray(Z)), expected)
    assert operator.times(Z[:, :0]).shape == (N, 0)


@pytest.mark.parametrize("late", [False, True])
def test_a_weight_of_two_is_the_row_twice_with_breslow(late):
    response, _, eta = problem(late=late, strata=True)
    times = np.random.default_rng(2).integers(0, 3, N)
    parts = {
        name: np.repeat(getattr(response, name), times)
        for name in ("y", "stop", "strata")
    }
    start = np.repeat(response.start, times) if late else None
    size = times.sum()
    repeated = COX.bind(Response(**parts, start=start), np.full(size, 1 / size), True)
    weighted = COX.bind(response, times / size, True)
    rows = np.repeat(eta, times, axis=-1)
    # Risk sums count in units of the mean weight: a constant, in the loss only.
    shift = np.log(np.count_nonzero(times) / size) * (times * response.y).sum() / size
    np.testing.assert_allclose(weighted.loss(eta), repeated.loss(rows) + shift)
    for name in ("residual", "curvature"):
        found = np.repeat(getattr(weighted, name)(eta), times, axis=-1)
        np.testing.assert_allclose(found, getattr(repeated, name)(rows), atol=1e-13)


def test_the_order_of_rows_does_not_matter():
    response, weights, eta = problem("efron", True, True, True, True)
    bound = COX.bind(response, weights, True)
    order = np.random.default_rng(3).permutation(N)
    names = ("y", "offset", "start", "stop", "strata")
    parts = {name: getattr(response, name)[order] for name in names}
    mixed = COX.bind(Response(**parts, ties="efron"), weights[order], True)
    np.testing.assert_allclose(mixed.loss(eta[:, order]), bound.loss(eta), rtol=1e-13)
    np.testing.assert_allclose(
        mixed.residual(eta[:, order]), bound.residual(eta)[:, order], atol=1e-13
    )


def test_a_constant_by_stratum_has_no_effect_however_large():
    response, weights, eta = problem(strata=True)
    bound = COX.bind(response, weights, True)
    far = eta + np.array([-2000.0, 0.0, 3000.0])[response.strata]
    np.testing.assert_allclose(bound.loss(far), bound.loss(eta), rtol=1e-9)
    np.testing.assert_allclose(bound.residual(far), bound.residual(eta), atol=1e-9)


def test_strata_do_not_round_each_other():
    """The last at risk in one stratum have hardly any; the next is as if alone."""
    rng = np.random.default_rng(4)
    stop, y = np.tile(np.arange(1.0, 21), 2), np.ones(40)
    strata = np.repeat([0, 1], 20)
    eta = np.r_[-3.0 * np.arange(20), rng.normal(size=20)]
    both = COX.bind(Response(y, stop=stop, strata=strata), np.full(40, 1 / 40), True)
    alone = COX.bind(Response(y[20:], stop=stop[20:]), np.full(20, 1 / 20), True)
    np.testing.assert_allclose(
        both.residual(eta)[20:], alone.residual(eta[20:]), rtol=1e-12
    )


@pytest.mark.parametrize("spread", [1e3, 1e5])
def test_any_linear_predictor_has_finite_answers(spread):
    for case in itertools.product(["breslow", "efron"], *[[False, True]] * 2):
        response, weights, eta = problem(*case)
        bound = COX.bind(response, weights, True)
        assert np.isfinite(bound.loss(spread * eta)).all()
        assert np.isfinite(bound.residual(spread * eta)).all()
        assert (bound.curvature(spread * eta) >= 0).all()
        assert np.isfinite(bound.hessian(spread * eta[0]).times(np.eye(N))).all()


def test_rows_never_at_risk_and_strata_without_events_do_not_matter():
    y = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    stop = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    strata = np.array([0, 0, 0, 0, 1, 1])
    bound = COX.bind(Response(y, stop=stop, strata=strata), np.full(6, 1 / 6), True)
    eta = np.array([1e5, 0.5, 0.0, 1.0, 1e6, -3.0])
    expected = np.log(np.exp([0.5, 0.0, 1.0]).sum()) - 0.5
    assert bound.loss(eta) == pytest.approx(expected / 6, rel=1e-12)
    assert not bound.residual(eta)[[0, 4, 5]].any()


def newton(bound, X):
    """Coefficients without penalty."""
    beta = np.zeros(X.shape[1])
    for _ in range(30):
        eta, scaled = X @ beta, X * bound.weights[:, None]
        score = scaled.T @ bound.residual(eta)
        beta += np.linalg.solve(scaled.T @ bound.hessian(eta).times(X), score)
    return beta


FITS = {
    "efron": dict(ties="efron"), "breslow": {}, "breslow_strata": dict(strata=True),
    "breslow_entry": dict(entry=True),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("design", ["tall", "square", "wide"])
def test_coefficients_and_likelihoods_are_those_of_coxph(design, fit):
    file = REFERENCE / f"coxph-cox_{design}.json"
    if not file.exists():
        pytest.skip(f"R's figures are not at {REFERENCE}")
    figures = json.loads(file.read_text())
    table = np.loadtxt(REFERENCE / figures["data"], delimiter=",", skiprows=1)
    table = table[np.argsort(table[:, 0], kind="stable")]
    X = table[:, 2:6] - table[:, 2:6].mean(axis=0)
    entry, strata = FITS[fit].get("entry"), FITS[fit].get("strata")
    response = Response(
        np.array(figures["status"], float),
        start=np.array(figures["entry"], float) if entry else None,
        stop=np.array(figures["exit" if entry else "time"], float),
        strata=np.array(figures["strata"]) if strata else None,
        ties=FITS[fit].get("ties", "breslow"),
    )
    n = len(X)
    bound = COX.bind(response, np.full(n, 1 / n), True)
    beta = newton(bound, X)
    np.testing.assert_allclose(beta, figures[fit], rtol=1e-7, atol=1e-8)
    found = -n * bound.loss(np.stack([np.zeros(n), X @ beta]))
    np.testing.assert_allclose(found, figures[f"{fit}_loglik"], rtol=1e-10)


def test_what_is_asked_of_cox_by_name():
    assert COX.predict_types == ("response", "link", "survival", "median")
    np.testing.assert_array_equal(COX.mean(np.array([0.0, 1e4])), [1, np.inf])
    assert COX.measures == {}
    with pytest.raises(NotImplementedError, match="'cox' has no loss by row"):
        COX.loss(np.ones(1), np.ones(1))


@pytest.mark.parametrize("size", [1, 2, 5, 8, 13])
def test_sums_over_intervals_are_those_of_a_matrix(size):
    rng = np.random.default_rng(size)
    ends = np.sort(rng.integers(0, size + 1, (2, 30)), axis=0)
    times = np.arange(size)
    matrix = (ends[0] <= times[:, None]) & (times[:, None] < ends[1])
    intervals = Intervals(*ends, size)
    values, terms = rng.normal(size=(3, 30)), rng.normal(size=(2, 4, size))
    np.testing.assert_allclose(intervals.sums(values), values @ matrix.T, atol=1e-14)
    np.testing.assert_allclose(intervals.back(terms), terms @ matrix, atol=1e-14)


@pytest.mark.parametrize("offset", [20.0, 40.0, -40.0])
def test_risk_that_is_yet_to_enter_takes_no_digit(offset):
    rng = np.random.default_rng(0)
    X, late = rng.normal(size=(40, 3)), np.arange(40) >= 20
    begin = np.where(late, 10.0, 0.0)
    y = np.column_stack([begin, begin + rng.uniform(1, 5, 40), np.ones(40)])
    settings = dict(family="cox", nlambda=10, tol=1e-9)
    plain = ncvpath(X, y, **settings)
    moved = ncvpath(X, y, offset=np.where(late, offset, 0.0), **settings)
    np.testing.assert_allclose(moved.lambdas, plain.lambdas, rtol=1e-13)
    np.testing.assert_allclose(moved.beta.toarray(), plain.beta.toarray(), atol=1e-8)


@pytest.mark.parametrize("sizes", [[7], [5, 1, 40], [1, 2, 3, 4, 3, 2, 1] * 3])
def test_sums_start_anew_in_each_segment(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(len(sizes)).random((2, labels.size))
    values[:, labels == 0] *= 1e200  # what a difference would not give back
    found = Segments(labels).so_far(values)
    for k in range(len(sizes)):
        own = labels == k
        np.testing.assert_allclose(
            found[:, own], np.cumsum(values[:, own], axis=1), rtol=1e-14
        )
