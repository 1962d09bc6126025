"""The estimators among scikit-learn's own objects, and through its doors."""

import copy
import pickle
import sys

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from ncvpath import load_diabetes, load_heart
from ncvpath.estimators import NcvClassifier, NcvRegressor

FAST = dict(nlambda=20, select="bic")


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes()


@pytest.fixture(scope="module")
def heart():
    return load_heart()


def test_cross_validation(diabetes, heart):
    scores = cross_val_score(NcvRegressor(nlambda=20, random_state=1), *diabetes, cv=3)
    assert scores.shape == (3,) and scores.min() > 0.3
    areas = cross_val_score(NcvClassifier(**FAST), *heart, scoring="roc_auc")
    assert areas.min() > 0.6
    held_out = cross_val_predict(NcvClassifier(**FAST), *heart, method="predict_proba")
    assert held_out.shape == (462, 2)


def test_grid_search_in_two_processes(diabetes):
    grid = {"gamma": [2.0, 5.0], "select": ["bic", 3.0]}
    search = GridSearchCV(NcvRegressor(nlambda=20), grid, n_jobs=2).fit(*diabetes)
    alone = GridSearchCV(NcvRegressor(nlambda=20), grid).fit(*diabetes)
    for name in ("mean_test_score", "params"):
        assert list(search.cv_results_[name]) == list(alone.cv_results_[name])
    assert search.best_estimator_.path_.gamma == search.best_params_["gamma"]


def mixed(heart):
    """A frame with words in one column."""
    X, y = heart
    drinks = pd.cut(X["alcohol"], [-1, 0, 20, 200], labels=["none", "some", "much"])
    return X.assign(alcohol=drinks.astype(str)), y


def test_a_pipeline_with_columns_of_words(heart):
    X, y = mixed(heart)
    numbers = X.columns.drop("alcohol").tolist()
    columns = ColumnTransformer([
        ("words", OneHotEncoder(), ["alcohol"]), ("numbers", StandardScaler(), numbers),
    ])
    model = make_pipeline(columns, NcvClassifier(**FAST))
    assert model.fit(X, y).score(X, y) > 0.7
    named = clone(model).set_params(
        columntransformer__words__sparse_output=False
    ).set_output(transform="pandas").fit(X, y)
    names = named[-1].path_.feature_names
    assert names == tuple(columns.fit(X).get_feature_names_out())
    np.testing.assert_array_equal(named.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_features_that_are_selected(diabetes, output):
    X, y = diabetes
    select = SelectFromModel(NcvRegressor(**FAST), threshold=1e-12)
    select.set_output(transform=output)
    kept = select.fit_transform(X, y)
    path = select.estimator_.path_
    names = path.selected(lam=select.estimator_.lambda_)
    assert list(select.get_feature_names_out()) == names and 0 < len(names) < 10
    assert kept.shape == (442, len(names))
    assert (output == "pandas") == isinstance(kept, pd.DataFrame)
    classes = SelectFromModel(NcvClassifier(**FAST), threshold=1e-12).fit(X, y > 150)
    assert 0 < classes.get_support().sum() < 10
    model = make_pipeline(clone(select), LinearRegression()).fit(X, y)
    assert model.score(X, y) > 0.4


def test_features_that_are_put_side_by_side(diabetes):
    union = FeatureUnion([
        ("squares", Pipeline([
            ("all", PolynomialFeatures(2, include_bias=False)),
            ("best", SelectFromModel(NcvRegressor(**FAST), threshold=1e-12)),
        ])),
        ("scaled", StandardScaler()),
    ])
    assert union.fit_transform(*diabetes).shape[1] > 10
    names = union.get_feature_names_out()
    assert sum(name.startswith("squares__") for name in names) > 0


def test_stacked(diabetes):
    stack = StackingRegressor(
        [("ncv", NcvRegressor(**FAST)), ("ridge", Ridge())], cv=3,
    ).fit(*diabetes)
    assert stack.score(*diabetes) > 0.4


def test_calibrated(heart):
    X, y = heart
    model = CalibratedClassifierCV(NcvClassifier(**FAST), cv=3).fit(X, y)
    assert abs(model.predict_proba(X)[:, 1].mean() - y.mean()) < 0.05


def test_one_against_the_rest(diabetes):
    X, y = diabetes
    third = np.digitize(y, [100, 180])
    model = OneVsRestClassifier(NcvClassifier(**FAST)).fit(X, third)
    assert model.score(X, third) > 0.5 and len(model.estimators_) == 3


def test_permuted(diabetes):
    model = NcvRegressor(**FAST).fit(*diabetes)
    found = permutation_importance(model, *diabetes, n_repeats=2, random_state=1)
    unused = model.coef_ == 0
    assert (found.importances_mean[unused] == 0).all()
    assert (found.importances_mean[~unused] > 0).all()


def test_rows_through_a_pipeline(diabetes):
    X, y = diabetes
    w = np.random.default_rng(1).uniform(size=442)
    model = make_pipeline(StandardScaler(), NcvRegressor(**FAST))
    model.fit(X, y, ncvregressor__sample_weight=w)
    direct = NcvRegressor(**FAST).fit(StandardScaler().fit_transform(X), y, w)
    np.testing.assert_array_equal(model.predict(X), direct.predict(
        StandardScaler().fit_transform(X)))


def test_rows_that_are_routed(diabetes):
    X, y = diabetes
    rng = np.random.default_rng(1)
    w, groups = rng.uniform(size=442), np.arange(442) // 3
    offset = rng.normal(size=442)
    with config_context(enable_metadata_routing=True):
        model = NcvRegressor(nlambda=20, cv=3, random_state=1)
        model.set_fit_request(sample_weight=True, groups=True, offset=True)
        model.set_predict_request(offset=True)
        model.set_score_request(sample_weight=True, offset=True)
        found = cross_validate(
            model, X, y, cv=GroupKFold(3), return_estimator=True, return_indices=True,
            params=dict(sample_weight=w, groups=groups, offset=offset),
        )
        rows = found["indices"]["train"][0]
        inner = found["estimator"][0]
        own = groups[rows]
        together = [np.unique(inner.cv_.folds[own == g]).size for g in np.unique(own)]
        assert set(together) == {1}
        expected = w[rows] / w[rows].sum()
        np.testing.assert_allclose(inner.path_.weights, expected)
        np.testing.assert_array_equal(inner.path_.offset, offset[rows])


@pytest.mark.parametrize("store", [joblib, pickle, cloudpickle])
def test_kept_in_files(diabetes, heart, store, tmp_path):
    for model, (X, y) in (
        (NcvRegressor(nlambda=20, random_state=1), diabetes),
        (NcvClassifier(**FAST), heart),
    ):
        expected = model.fit(X, y).predict(X)
        with open(tmp_path / "model", "wb") as file:
            store.dump(model, file)
        with open(tmp_path / "model", "rb") as file:
            again = (pickle if store is cloudpickle else store).load(file)
        np.testing.assert_array_equal(again.predict(X), expected)
        assert again.path_.X is None and model.path_.X is X


def test_clones_and_copies(diabetes):
    X, y = diabetes
    model = NcvRegressor(gamma=[2, 4], penalty_factor={"bmi": 0.0}, **FAST)
    twin = clone(model)
    assert twin.get_params() == model.get_params() and not hasattr(twin, "path_")
    model.set_params(gamma=2.0).fit(X, y)
    np.testing.assert_array_equal(copy.deepcopy(model).predict(X), model.predict(X))
    assert clone(model).gamma == 2.0


def test_in_a_notebook(diabetes):
    assert "NcvRegressor" in NcvRegressor(**FAST).fit(*diabetes)._repr_html_()


def test_without_scikit_learn(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("ncvpath.estimators")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        import ncvpath.estimators  # noqa: F401
