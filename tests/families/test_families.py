"""Families that are sums over rows: the kit on ours and on a user's own."""

import inspect
import math
import pickle

import kit
import numpy as np
import pytest

from ncvpath import Family
from ncvpath.families import FAMILIES
from ncvpath.families.binomial import entropy
from ncvpath.families.gaussian import Gaussian
from ncvpath.families.response import Response

RNG = np.random.default_rng(3)


class NegativeBinomial(Family):
    """Counts with variance mu + mu^2 / size."""

    name = "negative binomial"
    response = "counts >= 0"
    size = 2.0

    def loss(self, y, eta):
        return (y + self.size) * np.logaddexp(eta, np.log(self.size)) - y * eta

    def residual(self, y, eta):
        return y - (y + self.size) * self._share(eta)

    def curvature(self, y, eta):
        share = self._share(eta)
        return (y + self.size) * share * (1 - share)

    def mean(self, eta):
        with np.errstate(over="ignore"):
            return np.exp(eta)

    def saturated(self, y):
        return self.loss(y, np.log(np.maximum(y, 1e-300)))

    def _share(self, eta):
        return np.exp(eta - np.logaddexp(eta, np.log(self.size)))


class PlainGaussian(Gaussian):
    """As any other family is bound: its own likelihood is of centred responses."""

    bind = Family.bind


COUNTS = RNG.poisson(2.0, 40).astype(float)
CASES = {
    "gaussian": (PlainGaussian(), RNG.normal(3, 2, 40)),
    "classes": (FAMILIES["binomial"], (RNG.random(40) < 0.3).astype(float)),
    "proportions": (FAMILIES["binomial"], RNG.random(40).round(2)),
    "poisson": (FAMILIES["poisson"], COUNTS),
    "fractions of counts": (FAMILIES["poisson"], COUNTS + RNG.random(40)),
    "negative binomial": (NegativeBinomial(), COUNTS),
}
every_family = pytest.mark.parametrize("family, y", CASES.values(), ids=CASES.keys())


@every_family
def test_derivatives(family, y):
    kit.check_derivatives(family, np.unique(y)[:8])


@every_family
def test_tables_of_predictors(family, y):
    kit.check_rows(family, np.unique(y)[:8])


@every_family
def test_extreme_predictors(family, y):
    kit.check_extremes(family, np.unique(y))


@every_family
def test_saturation(family, y):
    kit.check_saturation(family, np.unique(y)[:8])


@every_family
def test_likelihood(family, y):
    kit.check_likelihood(family, y)


@every_family
def test_null_link(family, y):
    kit.check_null_link(family, y)


@every_family
def test_weights(family, y):
    kit.check_weights(family, y)


@every_family
def test_families_pickle(family, y):
    again = pickle.loads(pickle.dumps(family))
    np.testing.assert_array_equal(again.loss(y, y), family.loss(y, y))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_table_says_what_each_is(name):
    family = FAMILIES[name]
    assert family.name == name and family.response and isinstance(family, Family)
    assert family.predict_types[:2] == ("response", "link")
    assert family.form in ("number", "class", "survival")
    assert family.is_quadratic == (name == "gaussian")
    assert family.has_intercept == (name != "cox")


def test_default_measures_of_cross_validation():
    assert [next(iter(FAMILIES[name].measures)) for name in list(FAMILIES)[:3]] == [
        "mse", "deviance", "deviance"
    ]
    assert list(NegativeBinomial().measures) == ["deviance"]


def test_a_family_of_ones_own_is_short():
    assert len(inspect.getsource(NegativeBinomial).splitlines()) < 30


def test_what_a_family_does_not_define_is_named():
    class Nothing(Family):
        name = "nothing"

    one = np.ones(1)
    for call in ("loss", "residual", "curvature"):
        with pytest.raises(NotImplementedError, match="'nothing' has no"):
            getattr(Nothing(), call)(one, one)
    with pytest.raises(NotImplementedError, match="mean"):
        Nothing().mean(one)
    assert Nothing().saturated(one) == 0 and Nothing().check(-one) is None


def test_small_probabilities_keep_their_digits():
    family = FAMILIES["binomial"]
    eta = np.array([-50.0, 50.0])
    tail = math.exp(-50)
    np.testing.assert_allclose(family.loss(np.array([0.0, 1.0]), eta), tail, rtol=1e-14)
    np.testing.assert_allclose(
        family.residual(np.array([0.0, 1.0]), eta), [-tail, tail], rtol=1e-14
    )
    np.testing.assert_allclose(family.curvature(None, eta), tail, rtol=1e-14)
    np.testing.assert_allclose(family.mean(eta), [tail, 1], rtol=1e-14)


def test_measures_by_hand():
    y, eta = np.array([0.0, 1.0, 1.0, 0.25]), np.array([-1.0, 0.0, -2.0, 3.0])
    binomial, mu = FAMILIES["binomial"].measures, 1 / (1 + np.exp(-eta))
    np.testing.assert_array_equal(binomial["class"](y, eta), [0, 0, 1, 0.75])
    np.testing.assert_allclose(binomial["brier"](y, eta), (y - mu) ** 2)
    np.testing.assert_allclose(binomial["mae"](y, eta), np.abs(y - mu))
    log_odds = -2 * (y * np.log(mu) + (1 - y) * np.log(1 - mu)) - 2 * entropy(y)
    np.testing.assert_allclose(binomial["deviance"](y, eta), log_odds)
    half = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    assert entropy(y)[3] == pytest.approx(half)
    poisson = FAMILIES["poisson"].measures
    np.testing.assert_allclose(poisson["mse"](y, eta), (y - np.exp(eta)) ** 2)
    np.testing.assert_allclose(poisson["mae"](y, eta), np.abs(y - np.exp(eta)))
    squares = FAMILIES["gaussian"].measures["mse"](y, eta)
    np.testing.assert_allclose(squares, (y - eta) ** 2)


def test_log_likelihoods_by_hand():
    weights = np.array([0.0, 2.0, 1.0])
    eta = np.array([[9.0, 0.3, -0.5], [9.0, 1.0, 0.0]])
    y = np.array([7.0, 2.0, 0.0])
    poisson = [
        sum(
            w * (v * e - math.exp(e) - math.lgamma(v + 1))
            for w, v, e in zip(weights, y, row)
        )
        for row in eta
    ]
    np.testing.assert_allclose(FAMILIES["poisson"].loglik(y, eta, weights), poisson)
    classes = np.array([0.0, 1.0, 0.0])
    binomial = [
        2 * math.log(1 / (1 + math.exp(-row[1]))) - math.log1p(math.exp(row[2]))
        for row in eta
    ]
    np.testing.assert_allclose(
        FAMILIES["binomial"].loglik(classes, eta, weights), binomial
    )
    squares = ((y - eta) ** 2) @ weights
    gaussian = -1.5 * (np.log(2 * np.pi * squares / 3) + 1)
    np.testing.assert_allclose(FAMILIES["gaussian"].loglik(y, eta, weights), gaussian)
    assert FAMILIES["gaussian"].loglik(y, y, weights) == np.inf


def test_counts_of_trials_are_rows_of_zeros_and_ones():
    """A row of failures and successes has as many rows' likelihood, up to deviance."""
    family = FAMILIES["binomial"]
    failures, successes = np.array([3, 0, 5]), np.array([1, 4, 5])
    trials = (failures + successes).astype(float)
    grouped = Response(successes / trials, trials=trials)
    weights = grouped.weighted(np.full(3, 1 / 3))
    bound = family.bind(grouped, weights, True)
    single = np.repeat(np.tile([0.0, 1.0], 3), np.c_[failures, successes].ravel())
    apart = family.bind(Response(single), np.full(18, 1 / 18), True)
    eta = np.array([0.3, -1.0, 2.0])
    rows = np.repeat(eta, trials.astype(int))
    assert bound.loss(eta) == pytest.approx(apart.loss(rows), rel=1e-14)
    assert bound.total == apart.total == 18
    assert bound.null_intercept() == pytest.approx(apart.null_intercept(), rel=1e-12)
    saturated = 36 * weights @ entropy(grouped.y)
    difference = apart.deviance(apart.loss(rows)) - bound.deviance(bound.loss(eta))
    assert difference == pytest.approx(saturated, rel=1e-12)
    np.testing.assert_array_equal(Response(single).weighted(single), single)


def test_a_null_model_far_away_is_found():
    """Offsets of any size, and means that have no bound."""
    y, even = np.array([0.0, 1.0, 1.0]), np.full(3, 1 / 3)
    for name in ("binomial", "poisson"):
        for far in (-300.0, 300.0):
            bound = FAMILIES[name].bind(Response(y, offset=np.full(3, far)), even, True)
            near = FAMILIES[name].bind(Response(y), even, True)
            assert bound.null_intercept() == pytest.approx(near.null_intercept() - far)
    bound = PlainGaussian().bind(Response(1e9 + y), even, True)
    assert bound.null_intercept() == pytest.approx(1e9 + 2 / 3, rel=1e-15)
    uneven = np.array([-60.0, 0.0, 70.0])  # where Newton's own steps would leap
    bound = FAMILIES["binomial"].bind(Response(y, offset=uneven), even, True)
    residual = bound.residual(np.full(3, bound.null_intercept()))
    assert abs(even @ residual) < 1e-15


@pytest.mark.parametrize("name, y, words", [
    ("binomial", [0.5, 1.5], "proportions in \\[0, 1\\].*got 1.5 at position 1"),
    ("binomial", [-1.0, 0.5], "got -1 at position 0"),
    ("poisson", [1.0, -2.0], "counts >= 0.*got -2 at position 1"),
    ("poisson", [0.0, 0.0], "positive count; got zeros only"),
])
def test_responses_that_a_family_cannot_have(name, y, words):
    with pytest.raises(ValueError, match=words):
        FAMILIES[name].check(np.array(y))
