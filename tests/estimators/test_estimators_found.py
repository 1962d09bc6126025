"""What a hostile tester found in the estimators, each by name."""

import numpy as np
import pandas as pd
import pytest
from sklearn import exceptions
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ncvpath import ConvergenceWarning, load_diabetes, load_heart, load_veteran
from ncvpath.estimators import NcvClassifier, NcvRegressor, NcvSurvival

X, Y = load_diabetes()
A = X.to_numpy(dtype=float)
HEART, CHD = load_heart()


def test_columns_whose_names_are_numbers_go_by_position():
    table = pd.DataFrame(A)[[2, 0, 1]]
    model = NcvRegressor(select="bic", nlambda=20).fit(table, Y)
    expected = model.predict(table)
    for same in (table.to_numpy(), pd.DataFrame(table.to_numpy())):
        np.testing.assert_array_equal(model.predict(same), expected)


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_names_that_the_fit_did_not_see_are_none():
    model = make_pipeline(StandardScaler(), NcvRegressor(select="bic", nlambda=20))
    expected = model.fit(A, Y).predict(A)
    model.set_output(transform="pandas")
    np.testing.assert_array_equal(model.predict(A), expected)
    veteran, times = load_veteran()
    survival = NcvSurvival(select="bic", nlambda=20).fit(veteran.to_numpy(), times)
    p = veteran.shape[1]
    backwards = veteran.set_axis([f"x{j}" for j in range(p, 0, -1)], axis=1)
    np.testing.assert_array_equal(
        survival.predict(backwards), survival.predict(veteran.to_numpy())
    )


def test_features_may_have_names_of_ones_own():
    model = NcvRegressor(select="bic", nlambda=20, feature_names=list(X.columns[::-1]))
    usual = NcvRegressor(select="bic", nlambda=20).fit(X, Y)
    np.testing.assert_array_equal(model.fit(X, Y).predict(X), usual.predict(X))


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_rows_that_are_all_alike_have_a_score(family):
    model = NcvRegressor(family=family, select="bic", nlambda=10).fit(X, Y)
    assert model.score(X.head(4), np.full(4, 2.0)) == 0
    assert model.score(X.head(4), np.zeros(4)) == 0


def test_masks_are_not_forgotten():
    masked = np.ma.array(Y.to_numpy(float), mask=np.arange(len(Y)) < 20)
    with pytest.raises(ValueError, match="y must not be a masked array"):
        NcvRegressor(select="bic").fit(X, masked)
    with pytest.raises(ValueError, match="X must not be a masked array"):
        NcvRegressor(select="bic").fit(np.ma.array(A), Y)
    with pytest.raises(ValueError, match="y must not be a masked array"):
        NcvClassifier(select="bic").fit(HEART, np.ma.array(CHD))


def test_a_fit_that_fails_leaves_the_one_before():
    model = NcvClassifier(select="bic", nlambda=10)
    model.fit(HEART, CHD.map({0: "no", 1: "yes"}))
    expected = model.predict(HEART)
    with pytest.raises(ValueError, match="binary"):
        model.fit(HEART, np.array(["x", "y", "z"])[np.arange(len(CHD)) % 3])
    np.testing.assert_array_equal(model.predict(HEART), expected)
    crossed = NcvRegressor(nlambda=10, cv=3, random_state=1).fit(X, Y)
    with pytest.raises(ValueError, match="gamma"):
        crossed.set_params(gamma=-1).fit(X, Y)
    assert crossed.cv_ is not None


@pytest.mark.parametrize("model, y", [(NcvRegressor, Y), (NcvClassifier, Y > 150)])
def test_an_index_in_another_order_is_told(model, y):
    with pytest.warns(UserWarning, match="X and y have different indexes"):
        model(select="bic", nlambda=10).fit(X, y.sample(frac=1, random_state=1))


def test_warnings_are_those_of_scikit_learn_in_its_words():
    for category in (exceptions.ConvergenceWarning, ConvergenceWarning):
        with pytest.warns(category, match="did not reach tol") as caught:
            NcvRegressor(select="bic", max_epochs=1).fit(X, Y)
        assert caught[0].message.reasons
    with pytest.warns(UserWarning, match="for two classes say NcvClassifier"):
        NcvRegressor(select="bic", nlambda=5).fit(HEART, CHD)
    weights = pd.Series(1.0, index=X.index[::-1])
    with pytest.warns(UserWarning, match="X and sample_weight have different"):
        NcvRegressor(select="bic", nlambda=5).fit(X, Y, sample_weight=weights)


def test_a_lambda_to_select_does_not_hide_what_lambdas_are():
    for lambdas in ("auto", [], [1.0, 1.0], [True]):
        with pytest.raises((ValueError, TypeError), match="lambdas must"):
            NcvRegressor(select=2.5, lambdas=lambdas).fit(X, Y)
    assert NcvRegressor(select="BIC", nlambda=10).fit(X, Y).lambda_ > 0


def test_draws_follow_numpys_seed():
    chosen = set()
    for _ in range(2):
        np.random.seed(0)
        chosen.add(NcvRegressor(nlambda=20, cv=3).fit(X, Y).lambda_)
    assert len(chosen) == 1


def test_labels_that_are_missing_are_refused_by_name():
    X = np.random.default_rng(0).standard_normal((20, 3))
    y = np.array([None, "a"] * 10, dtype=object)
    with pytest.raises(ValueError, match="^y must not have missing"):
        NcvClassifier(select="bic").fit(X, y)


# ---- words of others ---------------------------------------------------------------


@pytest.mark.parametrize("word, meant", [
    ("lam", "select, the lambda itself"), ("n_threads", "n_jobs"), ("folds", "cv"),
    ("weights", "sample_weight of fit()"), ("fit_intercept", "intercept"),
])
def test_parameters_of_others_come_with_ours(word, meant):
    with pytest.raises(TypeError) as caught:
        NcvRegressor(**{word: 1})
    assert str(caught.value) == (
        f"NcvRegressor() got an unexpected keyword argument {word!r} (did you mean "
        f"{meant}?)"
    )


def test_parameters_have_names():
    with pytest.raises(TypeError, match=r"NcvRegressor\(\) .*name them, as in penalty"):
        NcvRegressor("SCAD")
