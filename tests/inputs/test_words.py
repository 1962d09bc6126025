"""What a new user reads: words of R, numbers stored as text, what is missing, ridge."""

from decimal import Decimal
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ncvpath import cv_ncvpath, lambda_max, load_diabetes, ncvpath
from ncvpath.inputs.words import ELSEWHERE, OF_CROSS_VALIDATION

X, Y = load_diabetes()


# ---- arguments ---------------------------------------------------------------------


@pytest.mark.parametrize("word, meant", [
    ("lambda", "lambdas"), ("lambda_", "lambdas"), ("lam", "lambdas"),
    ("lambda.min", "lambda_min_ratio"), ("lambda.min.ratio", "lambda_min_ratio"),
    ("nfold", "nfolds of cv_ncvpath()"), ("type", "type of predict()"),
    ("s", "lam of coef(), predict() and selected()"),
    ("exclude", "penalty_factor, inf for features that never enter"),
    ("maxit", "max_epochs"), ("thresh", "tol"), ("eps", "tol"),
    ("seed", "random_state of cv_ncvpath()"), ("penalty.factor", "penalty_factor"),
    ("type.measure", "measure of cv_ncvpath()"), ("fit_intercept", "intercept"),
    ("n_jobs", "n_threads"), ("standardise", "standardize"), ("nlam", "nlambda"),
])
def test_words_of_other_packages_come_with_ours(word, meant):
    with pytest.raises(TypeError, match="unexpected keyword") as caught:
        ncvpath(X, Y, **{word: 1})
    assert str(caught.value) == (
        f"ncvpath() got an unexpected keyword argument {word!r} (did you mean {meant}?)"
    )
    with pytest.raises(TypeError) as caught:
        cv_ncvpath(X, Y, **{word: 1})
    own = meant.replace(" of cv_ncvpath()", "")
    assert str(caught.value).endswith(f"(did you mean {own}?)")


def test_what_nobody_means_is_just_refused():
    with pytest.raises(TypeError, match=r"argument 'clusterfrog'$"):
        ncvpath(X, Y, clusterfrog=1)
    with pytest.raises(TypeError, match=r"lambda_max\(\) got .*'weight' .*weights"):
        lambda_max(X, Y, weight=1)


def test_the_table_of_words_is_up_to_date():
    own = set(signature(ncvpath).parameters)
    cross = set(signature(cv_ncvpath).parameters)
    assert set(OF_CROSS_VALIDATION) == cross - own - {"arguments"}
    for word, meant in ELSEWHERE.items():
        assert word not in own | cross
        first = meant.split(",")[0]
        assert first in own | cross or " of " in first


PATH = ncvpath(X, Y, nlambda=5)
CV = cv_ncvpath(X, Y, nlambda=5, nfolds=3, random_state=1)


@pytest.mark.parametrize("ask, word, meant", [
    (PATH.coef, "s", "lam"), (PATH.coef, "lambda_", "lam"), (PATH.predict, "s", "lam"),
    (PATH.predict, "newx", "X"), (PATH.selected, "lambda", "lam"),
    (PATH.residuals, "s", "lam"), (PATH.coef, "standardised", "standardized"),
    (CV.coef, "s", "rule or lam"), (CV.predict, "s", "rule or lam"),
    (CV.selected, "s", "rule"), (CV.coef, "lambda.min", "rule"),
    (CV.plot, "type", "kind"),
])
def test_questions_know_the_words_of_others(ask, word, meant):
    with pytest.raises(TypeError) as caught:
        ask(**{word: 1})
    assert str(caught.value) == (
        f"{ask.__qualname__}() got an unexpected keyword argument {word!r} (did you "
        f"mean {meant}?)"
    )


def test_questions_are_described_as_they_are_asked():
    assert list(signature(PATH.coef).parameters) == ["lam", "which", "standardized"]
    assert list(signature(cv_ncvpath).parameters)[:3] == ["X", "y", "nfolds"]
    assert PATH.coef.__doc__.startswith("Coefficients")
    with pytest.raises(TypeError, match=r"keyword argument 'frog'$"):
        PATH.coef(frog=1)


@pytest.mark.parametrize("function", [ncvpath, cv_ncvpath, lambda_max])
def test_arguments_without_a_name_are_to_be_named(function):
    with pytest.raises(TypeError, match="3 were given: name the arguments after X, y"):
        function(X, Y, "SCAD")


# ---- values ------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, words", [
    (dict(penalty_factor={"Age": 0}), "got 'Age' (did you mean 'age'?)"),
    (dict(penalty="ridge"), "leaves no coefficient at zero"),
    (dict(penalty="elasticnet"), "(it is the lasso with alpha < 1)"),
    (dict(penalty="l1"), "(did you mean 'lasso'?)"),
    (dict(family="logistic"), "(did you mean 'binomial'?)"),
    (dict(family="normal"), "(did you mean 'gaussian'?)"),
])
def test_values_of_other_packages_come_with_ours(arguments, words):
    with pytest.raises(ValueError) as caught:
        ncvpath(X, Y, **arguments)
    assert words in str(caught.value)


def test_the_kinds_of_picture_that_r_has():
    with pytest.raises(ValueError, match="kind must be r2 where R has rsq"):
        CV.plot(kind="rsq")


def test_values_are_shown_without_the_types_of_numpy():
    with pytest.raises(ValueError, match=r"with 'yes' at \[0\]"):
        ncvpath(X, np.resize(["yes", "no", "so"], len(X)))


# ---- numbers stored as something else ----------------------------------------------


def text(column):
    return X.assign(bmi=column)


@pytest.mark.parametrize("column, words", [
    (X["bmi"].astype(str), "numbers stored as text: X['bmi'] = pandas.to_numeric("),
    (X["bmi"].astype(object), "numbers stored as objects: X['bmi'] = pandas.to_num"),
    (X["bmi"].map(lambda v: Decimal(repr(float(v)))), "numbers stored as objects"),
    (X["bmi"].astype(str).where(X.index != 7, "n/a"),
     "'n/a' in row 7 (from 0) is no number, most others are: pandas.to_numeric(X['bmi"),
    (np.resize(["low", "high"], len(X)), "pandas.get_dummies"),
    (np.resize(["low", "high", "3"], len(X)), "pandas.get_dummies"),
    (pd.Series([[1]] * len(X)), "pandas.get_dummies"),
])
def test_columns_that_are_no_numbers_say_what_helps(column, words):
    with pytest.raises(ValueError, match="X must be numeric; column 'bmi'") as caught:
        ncvpath(text(column), Y)
    assert words in str(caught.value)
    assert ("get_dummies" in str(caught.value)) == ("get_dummies" in words)


def test_dates_become_numbers():
    dates = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(len(X)), "D")
    with pytest.raises(ValueError, match="X must be numeric; column 'bmi'") as caught:
        ncvpath(text(dates), Y)
    assert "e.g. days: (X['bmi'] - X['bmi'].min()).dt.days" in str(caught.value)
    days = (dates - dates.min()).days
    assert ncvpath(text(days), Y, nlambda=3).p == 10


def test_the_advice_works():
    frame = X.astype(str)
    with pytest.raises(ValueError, match=r"X = X.apply\(pandas.to_numeric\)"):
        ncvpath(frame, Y)
    path = ncvpath(frame.apply(pd.to_numeric), Y, nlambda=3)
    assert path.p == 10


@pytest.mark.parametrize("y", [Y.astype(str), Y.astype(object).map(str).to_numpy(),
                               Y.astype(str).tolist()])
def test_a_y_of_text_says_what_helps(y):
    with pytest.raises(ValueError, match=r"stored as text or objects.*to_numeric\(y\)"):
        ncvpath(X, y)
    assert ncvpath(X, pd.to_numeric(np.asarray(y)), nlambda=2).n == 442


# ---- what is missing ---------------------------------------------------------------


def with_gaps(frame):
    found = frame.astype(float)
    found.iloc[[1, 5, 9], 2] = np.nan
    found.iloc[4, 0] = np.inf
    return found


def test_missing_values_are_counted_by_column():
    with pytest.raises(ValueError, match="X must be finite") as caught:
        ncvpath(with_gaps(X), Y)
    assert str(caught.value) == (
        "X must be finite; column 'age' contains inf in 1 of 442 rows, column 'bmi' "
        "contains nan in 3 of 442 rows: fill them in, or leave those columns out, or "
        "those rows, of y as well (X.notna().all(axis=1) has those to keep)"
    )


@pytest.mark.parametrize("kind", [
    np.asarray, lambda X: sparse.csc_array(np.asarray(X)),
    lambda X: np.asfortranarray(X, dtype=np.float32),
])
def test_missing_values_of_any_x_are_counted(kind):
    with pytest.raises(ValueError) as caught:
        ncvpath(kind(with_gaps(X)), Y)
    assert "column number 2 (from 0) contains nan in 3 of 442 rows" in str(caught.value)
    assert "column number 0 (from 0) contains inf in 1 of 442" in str(caught.value)


def test_many_columns_with_gaps_are_not_all_listed():
    wide = np.full((5, 40), np.nan)
    with pytest.raises(ValueError, match="and 35 more columns have such") as caught:
        ncvpath(wide, np.arange(5.0))
    assert len(str(caught.value)) < 600


def test_missing_values_of_y_are_counted():
    y = Y.astype(float)
    y.iloc[[3, 7]] = np.nan
    with pytest.raises(ValueError) as caught:
        ncvpath(X, y)
    assert str(caught.value) == (
        "y must be finite; got nan at position 3, one of 2 such values; leave such "
        "rows out of X and y"
    )


# ---- ridge -------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0, 0.0, np.float64(0)])
def test_alpha_0_is_told_from_a_mistake(alpha):
    with pytest.raises(ValueError, match="alpha must be greater than 0; .*ridge") as c:
        ncvpath(X, Y, alpha=alpha)
    assert "RidgeCV" in str(c.value)


def test_overflow_says_argument_and_remedy():
    with pytest.raises(FloatingPointError, match="rescale X and y, e.g. divide each"):
        ncvpath(X.assign(bmi=1e-310 * X["bmi"]), Y, penalty="lasso")
