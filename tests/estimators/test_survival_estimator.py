"""NcvSurvival: what scikit-learn's checks would ask, if they knew survival times."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from ncvpath import cv_ncvpath, load_veteran, ncvpath
from ncvpath.estimators import NcvSurvival, StepFunction

FAST = dict(nlambda=20, select="bic")


def records(y):
    """Times and status as scikit-survival has them."""
    out = np.empty(len(y), dtype=[("died", bool), ("days", float)])
    out["died"], out["days"] = y["status"] == 1, y["time"]
    return out


@pytest.fixture(scope="module")
def veteran():
    X, y = load_veteran()
    return X, records(y)


# ---- as estimators are -------------------------------------------------------------


def test_parameters_come_back():
    model = NcvSurvival(ties="efron", gamma=4.0, penalty_factor=[0, 1])
    parameters = model.get_params()
    assert parameters["ties"] == "efron" and clone(model).get_params() == parameters
    assert model.set_params(cv=3).cv == 3
    assert repr(NcvSurvival(cv=3)) == "NcvSurvival(cv=3)"
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(intercept=True)
    with pytest.raises(TypeError, match="intercept"):
        NcvSurvival(intercept=True)


def test_init_sets_parameters_and_fit_what_ends_in_an_underscore(veteran):
    model = NcvSurvival(**FAST)
    assert set(vars(model)) == set(model.get_params())
    before = model.get_params()
    assert model.fit(*veteran) is model
    added = set(vars(model)) - set(before)
    assert model.get_params() == before and all(name[-1] == "_" for name in added)
    state = {name: id(value) for name, value in vars(model).items()}
    model.predict(veteran[0]), model.predict_survival_function(veteran[0].head(2))
    assert {name: id(value) for name, value in vars(model).items()} == state


def test_it_says_what_its_path_says_to_the_bit(veteran):
    X, y = veteran
    model = NcvSurvival(nlambda=20, random_state=1).fit(X, y)
    cv = cv_ncvpath(X, y, family="cox", nlambda=20, random_state=1)
    assert model.lambda_ == cv.lambda_min
    np.testing.assert_array_equal(model.predict(X), cv.predict(X, type="link"))
    np.testing.assert_array_equal(model.coef_, cv.coef())
    assert model.n_features_in_ == X.shape[1] and model.intercept_ == 0
    assert list(model.feature_names_in_) == list(X.columns)
    again = model.predict(X)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), again)


def test_kept_and_cloned(veteran):
    X, y = veteran
    model = NcvSurvival(**FAST).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    (curve,), (other,) = (
        each.predict_survival_function(X.head(1)) for each in (model, again)
    )
    np.testing.assert_array_equal(curve.y, other.y)
    assert not hasattr(clone(model), "path_")
    kept = pickle.loads(pickle.dumps(curve))
    assert kept(100) == curve(100) and "StepFunction(x=" in repr(kept)


def test_tags_are_true():
    tags = get_tags(NcvSurvival())
    assert tags.input_tags.sparse and tags.target_tags.required
    assert not is_classifier(NcvSurvival()) and not is_regressor(NcvSurvival())


def test_what_it_refuses(veteran):
    X, y = veteran
    model = NcvSurvival(**FAST)
    with pytest.raises(NotFittedError):
        model.predict(X)
    refused = {
        "requires y to be passed, but the target y is None": (X, None),
        "y must have one row per row of X": (X, y[:-1]),
        "minimum of 2 is required by NcvSurvival": (X.to_numpy()[:1], y[:1]),
        "Reshape your data": (X.to_numpy()[:, 0], y),
        "Complex data not supported": (X.to_numpy() + 1j, y),
        "contains NaN": (X.assign(age=np.nan), y),
        "y must be n x 2": (X, y["days"]),
        "an event": (X, np.column_stack([y["days"], 0 * y["days"]])),
    }
    for message, (wrong, response) in refused.items():
        with pytest.raises(ValueError, match=message):
            model.fit(wrong, response)
    model.fit(X, y)
    for message, wrong in {
        "feature names should match": X[X.columns[::-1]],
        "feature names should match.*missing": X.iloc[:, :3],
        "contains NaN": X.assign(age=np.nan),
    }.items():
        with pytest.raises(ValueError, match=f"(?s){message}"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="X has 3 features, but NcvSurvival is"):
        model.fit(X.to_numpy(), y).predict(X.to_numpy()[:, :3])


def test_any_x_and_any_y(veteran):
    X, y = veteran
    expected = NcvSurvival(**FAST).fit(X, y).predict(X)
    frame = pd.DataFrame({"time": y["days"], "status": y["died"]})
    for stored in (sparse.csr_matrix(X), X.to_numpy(np.float32), X.to_numpy().tolist()):
        for response in (y, frame, frame.astype(float).to_numpy()):
            found = NcvSurvival(**FAST).fit(stored, response).predict(stored)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


# ---- curves ------------------------------------------------------------------------


def test_curves_are_those_of_the_path(veteran):
    X, y = veteran
    model = NcvSurvival(**FAST).fit(X, y)
    curves = model.predict_survival_function(X)
    table = model.path_.predict(X, lam=model.lambda_, type="survival")
    assert curves.shape == (len(X),) and curves.dtype == object
    for curve, own in zip(curves, table.to_numpy().T):
        assert curve.domain == (0, y["days"].max())
        np.testing.assert_array_equal(curve(table.index), own)
        between = (table.index[:-1] + table.index[1:]) / 2
        np.testing.assert_array_equal(curve(between), own[:-1])
    array = model.predict_survival_function(X, return_array=True)
    assert array.shape == (len(X), model.unique_times_.size)
    np.testing.assert_array_equal(array[3], curves[3].y)
    assert (array[:, 0] == 1).all() and (np.diff(array) <= 0).all()
    hazards = model.predict_cumulative_hazard_function(X)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(hazards[3].y, -np.log(array[3]))
    assert hazards.shape == curves.shape
    assert float(curves[0](0)) == 1 and curves[0](y["days"].max()).ndim == 0
    for outside in (-1, [3, 1e6], np.nan):
        with pytest.raises(ValueError, match="x must be within the domain, 0 to 999"):
            curves[0](outside)


def test_rows_of_strata(veteran):
    X, y = veteran
    rng = np.random.default_rng(1)
    w, offset = rng.uniform(size=137), rng.normal(size=137)
    trial = np.where(X["test"] == 1, "new", "old")
    model = NcvSurvival(ties="efron", **FAST)
    model.fit(X, y, sample_weight=w, offset=offset, strata=trial)
    given = dict(weights=w, offset=offset, strata=trial, ties="efron", family="cox")
    path = ncvpath(X, y, nlambda=20, **given)
    lam = path.select("bic")
    eta = path.predict(X, lam=lam, offset=offset, type="link")
    np.testing.assert_array_equal(model.predict(X, offset=offset), eta)
    rows = dict(offset=offset, strata=trial)
    curves = model.predict_survival_function(X, **rows)
    table = path.predict(X, lam=lam, type="survival", **rows)
    np.testing.assert_array_equal(curves[5](table.index), table[5])
    whole = model.score(X, y, offset=offset)
    within = model.score(X, y, sample_weight=w, **rows)
    assert whole != within and 0.4 < within < 1
    by_hand = concordance_by_hand(y, eta, w, trial)
    assert within == pytest.approx(by_hand, abs=1e-12)
    with pytest.raises(ValueError, match="^strata must be given"):
        model.predict_survival_function(X, offset=offset)
    with pytest.raises(ValueError, match="^sample_weight must have one value"):
        model.score(X, y, sample_weight=[1], offset=offset)


def concordance_by_hand(y, eta, weights, strata):
    right = possible = 0.0
    for i in np.flatnonzero(y["died"]):
        for j in range(len(y)):
            later = y["days"][j] > y["days"][i] or (
                y["days"][j] == y["days"][i] and not y["died"][j]
            )
            if later and strata[i] == strata[j]:
                both = weights[i] * weights[j]
                possible += both
                right += both * ((eta[i] > eta[j]) + (eta[i] == eta[j]) / 2)
    return right / possible


def test_a_score_needs_a_pair(veteran):
    X, y = veteran
    model = NcvSurvival(**FAST).fit(X, y)
    last = y["days"].argmax()
    with pytest.raises(ValueError, match="y must have an event"):
        model.score(X.iloc[[last]], y[[last]])


# ---- in company --------------------------------------------------------------------


def test_among_objects_of_scikit_learn(veteran):
    X, y = veteran
    model = make_pipeline(StandardScaler(), NcvSurvival(**FAST))
    assert cross_val_score(model, X, y, cv=3).min() > 0.5
    search = GridSearchCV(model, {"ncvsurvival__gamma": [2.0, 5.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    chosen = SelectFromModel(NcvSurvival(**FAST), threshold=1e-12).fit(X, y)
    path = chosen.estimator_.path_
    names = path.selected(lam=chosen.estimator_.lambda_)
    assert list(chosen.get_feature_names_out()) == names


def test_rows_that_are_routed(veteran):
    X, y = veteran
    strata = np.arange(137) % 2
    with config_context(enable_metadata_routing=True):
        model = NcvSurvival(**FAST)
        model.set_fit_request(strata=True).set_score_request(strata=True)
        found = cross_validate(
            model, X, y, cv=3, params={"strata": strata}, return_estimator=True
        )
    assert all(len(each.path_.strata) < 137 for each in found["estimator"])


def test_as_scikit_survival_judges(veteran):
    metrics = pytest.importorskip("sksurv.metrics")
    X, y = veteran
    model = NcvSurvival(**FAST).fit(X, y)
    found = metrics.concordance_index_censored(y["died"], y["days"], model.predict(X))
    assert model.score(X, y) == pytest.approx(found[0], abs=1e-12)
    times = np.array([30.0, 100.0, 300.0])
    curves = model.predict_survival_function(X)
    values = np.array([curve(times) for curve in curves])
    brier = metrics.integrated_brier_score(y, y, values, times)
    assert 0 < brier < 0.25
    scorer = metrics.as_integrated_brier_score_scorer(model, times=times).fit(X, y)
    assert scorer.score(X, y) == pytest.approx(-brier)


def test_curves_answer_as_those_of_scikit_survival():
    functions = pytest.importorskip("sksurv.functions")
    x, y = np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 0.25])
    ours, theirs = StepFunction(x, y), functions.StepFunction(x, y)
    assert ours.domain == theirs.domain
    at = np.array([0.0, 0.5, 1.0, 3.9, 4.0])
    np.testing.assert_array_equal(ours(at), theirs(at))
    assert ours(0.5) == theirs(0.5)
    public = {name for name in dir(theirs) if name[0] != "_"} - {"a", "b"}
    assert public <= set(dir(ours))


def test_in_a_pipeline_of_scikit_survival(veteran):
    pytest.importorskip("sksurv")
    from sksurv.base import SurvivalAnalysisMixin
    from sksurv.column import encode_categorical
    from sksurv.preprocessing import OneHotEncoder

    X, y = veteran
    cells = pd.cut(X["karnofsky"], [0, 40, 70, 100], labels=["low", "middle", "high"])
    frame = X.assign(karnofsky=cells)
    model = make_pipeline(OneHotEncoder(), NcvSurvival(**FAST)).fit(frame, y)
    assert model.score(frame, y) > 0.6
    names = model[-1].feature_names_in_
    assert sum("karnofsky" in name for name in names) == 2
    encoded = encode_categorical(frame)
    direct = NcvSurvival(**FAST).fit(encoded, y)
    np.testing.assert_allclose(direct.predict(encoded), model.predict(frame))
    # Whatever takes scikit-survival's own models finds these methods, and arguments.
    for name in ("predict_survival_function", "predict_cumulative_hazard_function"):
        assert hasattr(NcvSurvival, name) and hasattr(SurvivalAnalysisMixin, f"_{name}")
        asked = inspect.signature(getattr(NcvSurvival, name)).parameters
        assert list(asked)[:3] == ["self", "X", "return_array"]
