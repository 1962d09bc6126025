"""Estimators: their parameters, the choice of lambda, families and classes, cost."""

from functools import partial
from inspect import Parameter, signature
from time import thread_time

import numpy as np
import pandas as pd
import pytest
from conftest import draw
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.utils import get_tags

from ncvpath import Family, cv_ncvpath, load_heart, ncvpath, simulate
from ncvpath.estimators import NcvClassifier, NcvRegressor, NcvSurvival, base
from ncvpath.families.gaussian import Gaussian

LEFT_OUT = {
    NcvRegressor: {"ties"},
    NcvClassifier: {"family", "ties"},
    NcvSurvival: {"family", "intercept"},
}
every_class = pytest.mark.parametrize("cls", LEFT_OUT)
RULES = ("cv", "cv-1se", "aic", "bic", "ebic")
SHORT = dict(nlambda=20)


@pytest.fixture(scope="module")
def heart():
    return load_heart()


# ---- parameters --------------------------------------------------------------------


@every_class
def test_parameters_are_those_of_ncvpath(cls):
    """What it has more belongs to rows, and goes to fit()."""
    asked = {
        name: each.default for name, each in signature(ncvpath).parameters.items()
        if each.kind is Parameter.KEYWORD_ONLY
    }
    parameters, by_fit = cls().get_params(), signature(cls.fit).parameters
    assert {k: v for k, v in parameters.items() if k not in base.OWN} == {
        name: default for name, default in asked.items()
        if name not in {*base.OF_ROWS, "n_threads", *LEFT_OUT[cls]}
    }
    assert set(base.OF_ROWS) <= set(asked) and set(base.OWN) <= set(parameters)
    without = set() if cls is NcvSurvival else {"strata"}
    assert set(base.OF_ROWS.values()) - without <= set(by_fit)
    assert "ties" in parameters if cls is NcvSurvival else "strata" not in by_fit


@pytest.mark.parametrize("select, door", [("bic", "ncvpath"), ("cv", "cv_ncvpath")])
@every_class
def test_parameters_reach_ncvpath(cls, select, door, monkeypatch):
    class ReachedError(Exception):
        pass

    def caught(X, y, **arguments):
        raise ReachedError(arguments)

    monkeypatch.setattr(base, door, caught)
    X, _ = draw(20, 3)
    y = {
        NcvRegressor: X[:, 0], NcvClassifier: X[:, 0] > 0,
        NcvSurvival: np.column_stack([np.exp(X[:, 0]), X[:, 1] > 0]),
    }[cls]
    given = {name: object() for name in cls._settings if name != "family"}
    weights, offset = np.ones(20), np.zeros(20)
    own = dict(select=select, cv=7, measure="mine", random_state=3, n_jobs=2)
    rows = dict(sample_weight=weights, offset=offset)
    rows |= dict(strata=offset) if cls is NcvSurvival else {}
    with pytest.raises(ReachedError) as caught:
        cls(**own, **given).fit(X, y, groups=[1] * 20, **rows)
    (found,) = caught.value.args
    assert {name: found[name] for name in given} == given
    assert found["weights"] is weights and found["offset"] is offset
    assert found["n_threads"] == 2
    assert found.get("strata") is rows.get("strata")
    if door == "cv_ncvpath":
        assert found["groups"] == [1] * 20 and found["measure"] == "mine"
        assert found["nfolds"] == 7 and found["random_state"] == 3


def test_an_unknown_parameter_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'lamda'"):
        NcvRegressor(lamda=1)


def test_the_constructor_is_shown_as_it_is():
    shown = str(signature(NcvClassifier))
    assert shown.startswith("(*, penalty='MCP', gamma=None, alpha=1.0, nlambda=100,")
    assert shown.endswith("select='cv', cv=10, measure=None, random_state=None, "
                          "n_jobs=None)")
    assert repr(NcvRegressor(gamma=5)) == "NcvRegressor(gamma=5)"


# ---- the choice of lambda ----------------------------------------------------------


@pytest.mark.parametrize("select", RULES)
def test_a_regressor_says_what_its_path_says_to_the_bit(tall, select):
    X, y = tall
    model = NcvRegressor(select=select, random_state=1, **SHORT).fit(X, y)
    if select.startswith("cv"):
        cv = cv_ncvpath(X, y, random_state=1, n_threads=1, **SHORT)
        path = cv.fit
        lam = cv.lambda_min if select == "cv" else cv.lambda_1se
        np.testing.assert_array_equal(model.cv_.cve, cv.cve)
    else:
        path = ncvpath(X, y, n_threads=1, **SHORT)
        lam = path.select(select)
        assert model.cv_ is None
    assert model.lambda_ == lam
    np.testing.assert_array_equal(model.predict(X), path.predict(X, lam=lam))
    coef = path.coef(lam=lam)
    np.testing.assert_array_equal(model.coef_, coef[1:])
    assert model.intercept_ == coef.iloc[0]
    assert model.n_iter_ == path.n_epochs[path.lambdas == lam]


def test_a_classifier_says_what_its_path_says_to_the_bit(heart):
    X, y = heart
    model = NcvClassifier(random_state=1, **SHORT).fit(X, y)
    cv = cv_ncvpath(X, y, family="binomial", random_state=1, n_threads=1, **SHORT)
    assert model.lambda_ == cv.lambda_min
    said = {
        "response": model.predict_proba(X)[:, 1],
        "link": model.decision_function(X), "class": model.predict(X),
    }
    for type, found in said.items():
        np.testing.assert_array_equal(found, cv.predict(X, type=type))
    np.testing.assert_array_equal(model.coef_[0], cv.coef()[1:])
    assert model.intercept_.shape == (1,) and model.coef_.shape == (1, X.shape[1])
    share = (model.predict(X) == y).mean()
    assert model.score(X, y) == pytest.approx(share)
    logs = model.predict_log_proba(X)
    np.testing.assert_allclose(logs, np.log(model.predict_proba(X)))
    wide = model.predict_log_proba(1e6 * X)
    assert np.isfinite(wide).all() and model.predict_proba(1e6 * X).min() == 0


def test_a_number_is_the_lambda(tall):
    X, y = tall
    model = NcvRegressor(select=0.3).fit(X, y)
    path = ncvpath(X, y, lambdas=0.3)
    assert model.lambda_ == 0.3 and list(model.path_.lambdas) == [0.3]
    np.testing.assert_array_equal(model.predict(X), path.predict(X, which=0))
    among = NcvRegressor(select=0.3, lambdas=[0.1, 0.7]).fit(X, y)
    assert list(among.path_.lambdas) == [0.7, 0.3, 0.1] and among.lambda_ == 0.3
    assert NcvRegressor(select=0.3, lambdas=0.3).fit(X, y).path_.lambdas.size == 1


def test_a_lambda_that_the_path_does_not_reach_is_refused(tall):
    X, y = tall
    model = NcvRegressor(select=1e-3, lambdas=[4, 2, 0.3], dfmax=2)
    with pytest.raises(ValueError, match=r"^select must .* reaches; it ended .*0\.001"):
        model.fit(X, y)


@pytest.mark.parametrize("select", ["min", True, -1.0, np.nan, None, [0.1]])
def test_other_choices_are_refused(tall, select):
    with pytest.raises(ValueError, match="^select must be"):
        NcvRegressor(select=select).fit(*tall)


@pytest.mark.parametrize("name", ["gamma", "alpha"])
def test_several_values_without_folds_are_told_where_they_work(tall, name):
    model = NcvRegressor(select="bic", **{name: [0.5, 1]})
    message = f"^{name} must be a number.*; several are tuned with select='cv'; got"
    with pytest.raises(ValueError, match=message):
        model.fit(*tall)


def test_gamma_is_chosen_with_lambda(tall):
    model = NcvRegressor(gamma=[2, 5], random_state=1, **SHORT).fit(*tall)
    assert model.cv_.grid["gamma"].nunique() == 2
    assert model.path_.gamma in (2, 5)


# ---- families and classes ----------------------------------------------------------


def test_counts_are_scored_by_their_deviance():
    X, y, _ = simulate(100, 10, family="poisson", random_state=1)
    model = NcvRegressor(family="poisson", select="bic", **SHORT).fit(X, y)
    mean = model.predict(X)
    assert (mean > 0).all() and get_tags(model).target_tags.positive_only
    assert not get_tags(NcvRegressor()).target_tags.positive_only
    expected = d2_tweedie_score(y, mean, power=1)
    assert model.score(X, y) == expected > 0.1


def test_rows_without_weight_are_not_scored():
    """A y that is constant in all the others divided by zero."""
    X, y, _ = simulate(100, 10, family="poisson", random_state=1)
    model = NcvRegressor(family="poisson", select="bic", **SHORT).fit(X, y)
    same = 1.0 * (y == 1)
    assert model.score(X, y, sample_weight=same) == 0
    w = np.arange(100.0) % 3
    own = w > 0
    expected = model.score(X[own], y[own], sample_weight=w[own])
    assert model.score(X, list(y), sample_weight=list(w)) == pytest.approx(expected)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, y, sample_weight=w[1:])


def test_a_family_of_ones_own(tall):
    class Mine(Gaussian):
        name = "mine"

    X, y = tall
    assert isinstance(Mine(), Family)
    model = NcvRegressor(family=Mine(), select="bic", **SHORT).fit(X, y)
    assert model.score(X, y) == r2_score(y, model.predict(X)) > 0.5


LABELS = {
    "numbers": [1, -1], "truth": [True, False], "text": ["no", "yes"],
    "floats": [0.0, 2.0],
    "categories": pd.Categorical(["b", "a"], categories=["b", "a"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_of_any_kind(tall, kind):
    X, y = tall
    pair = LABELS[kind]
    labels = pair.take((y > 3) * 1) if kind == "categories" else (
        np.array(pair)[(y > 3) * 1]
    )
    model = NcvClassifier(select="bic", **SHORT).fit(X, labels)
    assert list(model.classes_) == sorted(np.unique(pair))
    said = model.predict(X)
    assert said.dtype == model.classes_.dtype
    assert (said == np.asarray(labels)).mean() > 0.9
    second = model.predict_proba(X)[:, 1] > 0.5
    np.testing.assert_array_equal(second, said == model.classes_[1])
    assert list(model.path_.classes) == list(model.classes_)


def test_more_classes_name_the_wrapper(tall):
    X, y = tall
    three = np.digitize(y, [1, 5])
    with pytest.raises(ValueError, match=r"3 classes: 0, 1, 2 .*OneVsRestClassifier"):
        NcvClassifier().fit(X, three)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        NcvClassifier().fit(X, y)


# ---- cost --------------------------------------------------------------------------


def test_threads_never_change_the_answer(tall):
    X, y = tall
    found = [
        NcvRegressor(n_jobs=n, random_state=1, **SHORT).fit(X, y).predict(X)
        for n in (None, 1, 2, -1)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("select", ["bic", "cv", 0.3])
def test_an_estimator_adds_two_milliseconds_at_most(tall, select, monkeypatch):
    """Of this thread's time, beside what ncvpath() takes of it."""
    X, y = tall
    frame, inside = pd.DataFrame(X), []

    def clocked(call, *given, **arguments):
        start = thread_time()
        result = call(*given, **arguments)
        inside.append(thread_time() - start)
        return result

    for door in (ncvpath, cv_ncvpath):
        monkeypatch.setattr(base, door.__name__, partial(clocked, door))
    model = NcvRegressor(select=select, random_state=1, **SHORT)
    added = []
    for _ in range(12):
        clocked(model.fit, frame, y)
        path, whole = inside[-2:]
        added.append(whole - path)
    assert 0 < min(added) < 2e-3
