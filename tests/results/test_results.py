"""NcvPath: the questions one asks a path, and how it is kept."""

import base64
import copy
import dataclasses
import io
import json
import math
import pickle
import re

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from fitting import fit
from scipy import sparse

from ncvpath import (
    ConvergenceWarning,
    NcvPath,
    lambda_max,
    load_diabetes,
    ncvpath,
    simulate,
)

FRAME, RESPONSE = load_diabetes()
NAMES = list(FRAME.columns)
ROWS = ["(Intercept)", *NAMES]
SIZE = 20
WEIGHTS = 1.0 + np.arange(len(RESPONSE)) % 4
DATA_FIELDS = {"X", "y"}


@pytest.fixture(scope="module")
def path():
    return ncvpath(FRAME, RESPONSE, nlambda=SIZE)


@pytest.fixture(scope="module")
def table(path):
    """Intercepts and coefficients as one plain array, (p + 1) x L."""
    return np.vstack([path.intercept, path.beta.toarray()])


@pytest.fixture(scope="module", params=["weights and intercept", "neither"])
def settings(request):
    return {
        "weights and intercept": dict(weights=WEIGHTS, intercept=True),
        "neither": dict(weights=None, intercept=False),
    }[request.param]


def cases(table, names):
    return pytest.mark.parametrize(names, table.values(), ids=table.keys())


def assert_equal_paths(path, other):
    """Every field but the data is the same, and of the same type."""
    for name in {f.name for f in dataclasses.fields(path)} - DATA_FIELDS:
        ours, theirs = getattr(path, name), getattr(other, name)
        assert type(ours) is type(theirs), name
        if sparse.issparse(ours):
            ours, theirs = ours.toarray(), theirs.toarray()
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype, name
        np.testing.assert_equal(ours, theirs, err_msg=name)


# ---- coef --------------------------------------------------------------------------

SCALARS = {
    "first": (dict(which=0), 0),
    "numpy integer": (dict(which=np.int64(3)), 3),
    "last": (dict(which=-1), SIZE - 1),
    "from the end": (dict(which=-SIZE), 0),
}


@cases(SCALARS, "query, k")
def test_one_position_gives_a_series_named_by_lambda(query, k, path, table):
    coefficients = path.coef(**query)
    assert isinstance(coefficients, pd.Series)
    assert list(coefficients.index) == ROWS
    assert coefficients.name == path.lambdas[k]
    np.testing.assert_array_equal(coefficients, table[:, k])


@pytest.mark.parametrize("which", [[4], [3, -1, 0], np.array([5, 2]), range(2, 6)])
def test_several_positions_give_a_frame_in_the_order_asked(which, path, table):
    coefficients = path.coef(which=which)
    assert isinstance(coefficients, pd.DataFrame)
    assert list(coefficients.index) == ROWS
    assert coefficients.columns.name == "lambda"
    np.testing.assert_array_equal(coefficients.columns, path.lambdas[list(which)])
    np.testing.assert_array_equal(coefficients, table[:, list(which)])


def test_coef_without_arguments_is_the_whole_path(path, table):
    coefficients = path.coef()
    assert coefficients.shape == (11, SIZE)
    np.testing.assert_array_equal(coefficients, table)
    np.testing.assert_array_equal(coefficients.columns, path.lambdas)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("k", [0, 7, SIZE - 2])
def test_coefficients_between_lambdas_are_linear_in_lambda(share, k, path, table):
    lam = (1 - share) * path.lambdas[k] + share * path.lambdas[k + 1]
    expected = (1 - share) * table[:, k] + share * table[:, k + 1]
    np.testing.assert_allclose(path.coef(lam=lam), expected, rtol=1e-12, atol=1e-12)
    assert path.coef(lam=lam).name == lam


def test_a_lambda_of_the_grid_gives_exactly_its_own_coefficients(path, table):
    np.testing.assert_array_equal(path.coef(lam=path.lambdas), table)


def test_several_lambdas_give_a_frame_in_the_order_asked(path):
    wanted = [0.3, 20.0, 4.0]
    coefficients = path.coef(lam=wanted)
    assert list(coefficients.columns) == wanted
    for lam in wanted:
        np.testing.assert_array_equal(coefficients[lam], path.coef(lam=lam))


BAD_QUERIES = {
    "above the path": (dict(lam=50.0), ["lam must be within the path", "lam=50"]),
    "below the path": (dict(lam=[1.0, 0.01]), ["lam must be within", "lam=0.01"]),
    "zero": (dict(lam=0), ["lam must be within", "lam=0"]),
    "nan": (dict(lam=math.nan), ["lam must be", "finite", "nan"]),
    "text": (dict(lam="1se"), ["lam must be", "'1se'"]),
    "complex": (dict(lam=1j), ["lam must be", "1j"]),
    "a table": (dict(lam=[[1.0]]), ["lam must be", "[[1.0]]"]),
    "beyond the end": (dict(which=SIZE), ["which must be from", f"which={SIZE}"]),
    "before the start": (dict(which=-SIZE - 1), ["which must", f"={-SIZE - 1}"]),
    "one of several": (dict(which=[0, 99]), ["which must be from", "which=99"]),
    "a float": (dict(which=1.0), ["which must be integers", "which=1.0"]),
    "a flag": (dict(which=True), ["which must be integers", "which=True"]),
    "a word": (dict(which="min"), ["which must be integers", "which='min'"]),
    "both": (dict(lam=1.0, which=1), ["lam or which, not both"]),
}
QUESTIONS = {
    "coef": lambda path, query: path.coef(**query),
    "predict": lambda path, query: path.predict(FRAME, **query),
    "selected": lambda path, query: path.selected(**query),
    "residuals": lambda path, query: path.residuals(**query),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
@cases(BAD_QUERIES, "query, words")
def test_a_question_outside_the_path_is_refused(ask, query, words, path):
    with pytest.raises(ValueError) as caught:
        ask(path, query)
    for word in words:
        assert word in str(caught.value)


# ---- predict and residuals ---------------------------------------------------------


def test_predictions_are_intercept_plus_x_beta(path, table):
    X = FRAME.to_numpy()
    expected = table[0] + X @ table[1:]
    np.testing.assert_allclose(path.predict(FRAME), expected, rtol=1e-12)
    one = path.predict(X, which=-1)
    assert one.shape == (442,)
    np.testing.assert_allclose(one, expected[:, -1], rtol=1e-12)
    between = path.predict(X, lam=3.0)
    np.testing.assert_allclose(
        between, path.coef(lam=3.0).iloc[0] + X @ path.coef(lam=3.0).iloc[1:]
    )
    assert path.predict(X[:1].tolist(), which=[1, 2]).shape == (1, 2)


MATCHING = {
    "shuffled": lambda X: X[NAMES[::-1]],
    "extra number": lambda X: X.assign(extra=1.0)[["extra", *NAMES]],
    "extra text": lambda X: X.assign(clinic="north")[["clinic", *NAMES[::-1]]],
    "extra missing values": lambda X: X.assign(unknown=np.nan),
    "extra columns twice": lambda X: pd.concat(
        [X, X[["age"]].set_axis(["e"], axis=1), X[["age"]].set_axis(["e"], axis=1)],
        axis=1,
    ),
    "array": lambda X: X.to_numpy(),
}


@cases(MATCHING, "form")
def test_columns_of_a_frame_are_matched_by_name(form, path):
    expected = path.predict(FRAME, which=[5, -1])
    np.testing.assert_array_equal(path.predict(form(FRAME), which=[5, -1]), expected)


BAD_DESIGNS = {
    "missing columns": (
        lambda X: X.drop(columns=["bmi", "ltg"]), ["X must have", "bmi", "ltg"]
    ),
    "a renamed column": (lambda X: X.rename(columns={"bmi": "BMI"}), ["bmi"]),
    "a column twice": (
        lambda X: pd.concat([X, X[["bmi"]]], axis=1), ["column 'bmi' once"]
    ),
    "text in a column of the fit": (
        lambda X: X.assign(bmi="high"), ["X must be numeric", "'bmi'"]
    ),
    "nan": (lambda X: X.assign(bmi=np.nan), ["X must be finite", "'bmi'", "nan"]),
    "too few columns": (lambda X: X.to_numpy()[:, :3], ["X must have 10", "got 3"]),
    "too many columns": (lambda X: np.ones((2, 11)), ["X must have 10", "got 11"]),
    "one row as a vector": (lambda X: X.to_numpy()[0], ["X must be a 2-D"]),
    "too few sparse columns": (
        lambda X: sparse.csr_array(X.to_numpy()[:, :3]), ["X must have 10", "got 3"]
    ),
}


@cases(BAD_DESIGNS, "form, words")
def test_a_design_that_does_not_fit_the_path_is_refused(form, words, path):
    with pytest.raises(ValueError) as caught:
        path.predict(form(FRAME))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("columns", [["x3", "x1", "z"], ["x1", "x2", "z"]])
def test_a_frame_that_lacks_a_column_is_never_taken_by_position(columns):
    X, y, _ = simulate(30, 3, nonzero=2, random_state=1)
    path = ncvpath(X, y, nlambda=5)
    with pytest.raises(ValueError, match="missing"):
        path.predict(X.assign(z=0.0)[columns])


def test_a_path_fitted_to_an_array_takes_frames_by_position(path):
    bare = ncvpath(FRAME.to_numpy(), RESPONSE, nlambda=SIZE)
    np.testing.assert_array_equal(bare.predict(FRAME), path.predict(FRAME))


def test_a_frame_with_names_given_anew_still_has_residuals(path):
    renamed = ncvpath(FRAME, RESPONSE, nlambda=SIZE, feature_names=list("abcdefghij"))
    np.testing.assert_array_equal(renamed.residuals(), path.residuals())


def test_residuals_are_response_minus_prediction(path):
    y = RESPONSE.to_numpy()
    expected = y[:, None] - path.predict(FRAME)
    np.testing.assert_array_equal(path.residuals(), expected)
    np.testing.assert_array_equal(path.residuals(which=4), expected[:, 4])
    assert path.residuals(lam=[2.0, 1.0]).shape == (442, 2)


def test_residuals_may_be_asked_for_other_data(path):
    few, y = FRAME[:7], RESPONSE[:7]
    residuals = path.residuals(which=3, X=few, y=y)
    np.testing.assert_allclose(residuals, y - path.predict(few, which=3))
    with pytest.raises(ValueError, match="y must have one value per row"):
        path.residuals(X=few, y=RESPONSE)


# ---- selected, tables --------------------------------------------------------------


def test_selected_names_the_nonzero_features(path, table):
    expected = [[NAMES[j] for j in np.flatnonzero(b)] for b in table[1:].T]
    assert path.selected() == dict(zip(path.lambdas.tolist(), expected))
    assert path.selected(which=-1) == expected[-1]
    assert path.selected(which=0) == []
    assert path.selected(which=[0, 4]) == {
        path.lambdas[0]: [], path.lambdas[4]: expected[4]
    }


def test_selected_takes_the_lambda_nearest_on_the_log_scale(path):
    k = 1 + int(np.flatnonzero(np.diff(path.df[1:]))[0])
    high, low = path.lambdas[k], path.lambdas[k + 1]
    assert path.selected(which=k) != path.selected(which=k + 1)
    # Nearer to the lower lambda on the linear scale, to the higher one on the log.
    lam = 0.5 * (np.sqrt(high * low) + 0.5 * (high + low))
    assert path.selected(lam=lam) == path.selected(which=k)


def test_the_wide_table_is_coef(path):
    pd.testing.assert_frame_equal(path.to_frame(), path.coef())
    pd.testing.assert_frame_equal(path.to_frame("wide"), path.coef())


def test_a_huge_wide_table_is_sparse_and_holds_the_same(path, monkeypatch):
    dense = path.to_frame()
    monkeypatch.setattr("ncvpath.results.tables.SPARSE_CELLS", 10)
    wide = path.to_frame()
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in wide.dtypes)
    pd.testing.assert_frame_equal(wide.sparse.to_dense(), dense)


@pytest.mark.parametrize("zeros", [False, True])
def test_the_long_table_holds_the_same_coefficients(zeros, path):
    long = path.to_frame("long", zeros=zeros)
    assert list(long) == ["feature", "lambda", "coefficient", "df", "dev_ratio"]
    assert len(long) == (11 * SIZE if zeros else SIZE + path.df.sum())
    wide = long.pivot(index="feature", columns="lambda", values="coefficient")
    wide = wide.reindex(index=ROWS, columns=path.lambdas).fillna(0.0)
    np.testing.assert_array_equal(wide, path.coef())
    facts = long.groupby("lambda", sort=False)[["df", "dev_ratio"]].first()
    np.testing.assert_array_equal(facts.index, path.lambdas)
    np.testing.assert_array_equal(facts["df"], path.df)
    np.testing.assert_array_equal(facts["dev_ratio"], path.dev_ratio)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_long_table_has_no_zeros_unless_asked_for(intercept):
    path = ncvpath(FRAME, RESPONSE, nlambda=5, intercept=intercept)
    long = path.to_frame("long")
    assert (long["coefficient"] != 0).all()
    assert (path.to_frame("long", zeros=True)["coefficient"] == 0).any()


def test_an_unknown_form_of_table_is_refused(path):
    with pytest.raises(ValueError, match="form must be one of wide, long.*'tall'"):
        path.to_frame("tall")


def test_the_summary_has_one_row_per_lambda(path):
    summary = path.summary()
    columns = ["lambda", "df", "dev_ratio", "loss", "violation", "converged"]
    assert list(summary) == columns
    attributes = ["lambdas", *columns[1:]]
    for column, attribute in zip(columns, attributes):
        np.testing.assert_array_equal(summary[column], getattr(path, attribute))


def test_screening_says_what_happened_at_each_lambda(path):
    screening = path.screening
    np.testing.assert_array_equal(screening.index, path.lambdas)
    assert screening.index.name == "lambda"
    assert list(screening) == [
        "strong", "working_set", "rounds", "certified", "checked", "step", "epochs",
        "newton_steps", "seconds",
    ]
    np.testing.assert_array_equal(screening["epochs"], path.n_epochs)
    assert (screening["working_set"] >= path.df).all()
    assert (screening["rounds"].iloc[1:] >= 1).all()
    assert screening["step"].between(0, 1).all()
    assert (screening["seconds"].iloc[1:] > 0).all()
    # Of this few features all products are known soon, and no column is looked at.
    assert screening["checked"].iloc[0] == 10 and screening["checked"].iloc[-1] == 0
    assert (screening["certified"] == 0).all()


@pytest.mark.parametrize("certify_from", [0, 2_000_000])
def test_every_feature_is_certified_or_checked_at_each_lambda(certify_from):
    X, y, _ = simulate(60, 1500, nonzero=5, random_state=1)
    screening = fit(X, y, certify_from, nlambda=100).screening
    assert (screening["certified"] + screening["checked"] >= 1500).all()
    assert (screening["certified"] > 0).any() == (certify_from == 0)


# ---- attributes and criteria -------------------------------------------------------


def test_attributes_describe_the_fit(path, table):
    assert (path.n, path.p, path.penalty, path.gamma) == (442, 10, "MCP", 3.0)
    assert path.alpha == 1.0
    assert path.feature_names == tuple(NAMES)
    assert path.beta.format == "csc" and path.beta.shape == (10, SIZE)
    assert path.X is FRAME and path.y is RESPONSE
    np.testing.assert_array_equal(path.df, np.count_nonzero(table[1:], axis=0))
    np.testing.assert_array_equal(path.penalty_factor, np.ones(10))
    assert path.lambdas[0] == pytest.approx(lambda_max(FRAME, RESPONSE), rel=1e-12)
    assert (np.diff(path.lambdas) < 0).all()
    assert path.converged.all() and set(path.status) == {"converged"}
    assert path.stopped is None and path.constant == ()
    assert ncvpath(FRAME, RESPONSE, penalty="lasso", nlambda=2).gamma is None


def test_loss_and_deviance_are_weighted_sums_of_squares(settings):
    path = ncvpath(FRAME, RESPONSE, nlambda=6, **settings)
    w = np.ones(442) if settings["weights"] is None else WEIGHTS * 442 / WEIGHTS.sum()
    y = RESPONSE.to_numpy()
    loss = w @ path.residuals() ** 2
    null = y - (w @ y / 442 if settings["intercept"] else 0)
    np.testing.assert_allclose(path.loss, loss, rtol=1e-10)
    np.testing.assert_allclose(
        path.dev_ratio, 1 - loss / (w @ null**2), rtol=1e-10, atol=1e-12
    )


def test_criteria_are_ncvregs(settings):
    path = ncvpath(FRAME, RESPONSE, nlambda=6, **settings)
    n, p = 442, 10
    k = path.df + (2 if settings["intercept"] else 1)  # sigma, and the intercept
    loglik = -n / 2 * (math.log(2 * math.pi) + np.log(path.loss / n) + 1)
    models = np.array([math.log(math.comb(p, df)) for df in path.df])
    expected = {
        "loglik": loglik,
        "aic": 2 * k - 2 * loglik,
        "bic": math.log(n) * k - 2 * loglik,
        "ebic": math.log(n) * k - 2 * loglik + 2 * models,
    }
    for name, values in expected.items():
        criterion = getattr(path, name)()
        assert criterion.name == name and criterion.index.name == "lambda"
        np.testing.assert_array_equal(criterion.index, path.lambdas)
        np.testing.assert_allclose(criterion, values, rtol=1e-12)
        if name != "loglik":
            assert path.select(name) == path.lambdas[np.argmin(values)]
    np.testing.assert_allclose(
        path.ebic(g=0.5), (expected["bic"] + expected["ebic"]) / 2, rtol=1e-12
    )
    assert path.select() == path.select("bic")


def test_select_gives_a_lambda_that_coef_takes(path):
    lam = path.select("bic")
    assert isinstance(lam, float)
    k = int(np.argmin(path.bic()))
    pd.testing.assert_series_equal(path.coef(lam=lam), path.coef(which=k))


@pytest.mark.parametrize("criterion", ["cv", None, ["bic"]])
def test_an_unknown_criterion_is_refused(criterion, path):
    with pytest.raises(ValueError, match="criterion must be one of aic, bic, ebic"):
        path.select(criterion)


# ---- the lambdas -------------------------------------------------------------------


def test_own_lambdas_are_fitted_in_decreasing_order(path):
    own = ncvpath(FRAME, RESPONSE, lambdas=[1.0, 30.0, 0.0, 5.0], nlambda=SIZE)
    np.testing.assert_array_equal(own.lambdas, [30.0, 5.0, 1.0, 0.0])
    assert own.df[-1] == 10


@pytest.mark.parametrize("k", [3, 9, SIZE - 1])
@pytest.mark.parametrize("form", [float, np.float64, lambda lam: [lam]])
def test_a_single_lambda_gives_what_the_path_has_there(k, form, path, table):
    one = ncvpath(FRAME, RESPONSE, lambdas=form(path.lambdas[k]), nlambda=SIZE)
    assert one.lambdas.shape == (1,)
    np.testing.assert_allclose(one.coef(which=0), table[:, k], rtol=1e-4, atol=1e-6)


def test_the_first_lambda_alone_is_the_null_model():
    path = ncvpath(FRAME, RESPONSE, nlambda=1)
    np.testing.assert_allclose(path.lambdas, lambda_max(FRAME, RESPONSE))
    assert path.df[0] == 0
    assert path.intercept[0] == pytest.approx(RESPONSE.mean())
    assert "1 lambda\n" in repr(path)
    assert "<table" in path._repr_html_()


@pytest.mark.parametrize("nlambda", [2, 3, 12])
def test_ratio_zero_ends_at_least_squares(nlambda):
    path = ncvpath(FRAME, RESPONSE, nlambda=nlambda, lambda_min_ratio=0, tol=1e-10)
    assert path.lambdas.size == nlambda
    assert path.lambdas[-1] == 0
    if nlambda > 2:
        assert path.lambdas[-2] == pytest.approx(0.001 * path.lambdas[0])
    X = np.column_stack([np.ones(442), FRAME])
    expected = np.linalg.lstsq(X, RESPONSE.to_numpy(), rcond=None)[0]
    np.testing.assert_allclose(path.coef(lam=0), expected, rtol=1e-6)
    assert path.selected(lam=0) == NAMES


def test_constant_columns_get_zero_and_are_listed():
    X = FRAME.assign(one=1.0, zero=0.0)
    path = ncvpath(X, RESPONSE, nlambda=SIZE)
    assert path.constant == ("one", "zero")
    assert not path.coef().loc[["one", "zero"]].any(axis=None)
    assert "one, zero" in repr(path)


def test_without_intercept_only_a_column_of_zeros_is_constant():
    X = FRAME.assign(one=1.0, zero=0.0)
    path = ncvpath(X, RESPONSE, nlambda=SIZE, intercept=False)
    assert path.constant == ("zero",)
    assert path.coef().loc["one"].any()


# ---- dfmax -------------------------------------------------------------------------


@pytest.mark.parametrize("dfmax", [0, 1, 2, 3, 5, 9])
def test_dfmax_stops_before_the_first_larger_model(dfmax, path, table):
    short = ncvpath(FRAME, RESPONSE, nlambda=SIZE, dfmax=dfmax)
    size = int(np.flatnonzero(path.df > dfmax)[0])
    assert short.lambdas.size == size
    assert (short.df <= dfmax).all()
    np.testing.assert_array_equal(short.coef(), table[:, :size])
    assert f"dfmax={dfmax}" in short.stopped
    assert f"{path.lambdas[size]:.4g}" in short.stopped
    assert short.stopped in repr(short)


def test_a_dfmax_that_is_never_exceeded_changes_nothing(path):
    full = ncvpath(FRAME, RESPONSE, nlambda=SIZE, dfmax=10)
    assert full.stopped is None
    np.testing.assert_array_equal(full.coef(), path.coef())


@pytest.mark.parametrize(
    "keywords", [dict(penalty_factor={"age": 0, "sex": 0}), dict(lambdas=0.1)]
)
def test_a_dfmax_below_the_first_model_is_refused(keywords):
    with pytest.raises(ValueError, match="dfmax must .*first lambda.*dfmax=1"):
        ncvpath(FRAME, RESPONSE, dfmax=1, **keywords)


def test_larger_models_of_the_warm_up_do_not_count():
    X, y, _ = simulate(40, 40, nonzero=15, rho=0.9, random_state=5)
    same = dict(penalty="lasso", nlambda=60)
    path = ncvpath(X, y, **same)
    k = int(np.argmax(np.maximum.accumulate(path.df) - path.df))
    assert path.df[k] < path.df[:k].max()
    lam, dfmax = path.lambdas[k], int(path.df[k])
    assert ncvpath(X, y, lambdas=lam, dfmax=dfmax, **same).df == [dfmax]


# ---- convergence -------------------------------------------------------------------


def test_one_warning_names_the_lambdas_that_did_not_converge():
    with pytest.warns(ConvergenceWarning) as caught:
        path = ncvpath(FRAME, RESPONSE, nlambda=10, max_epochs=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    missed = np.flatnonzero(~path.converged)
    assert missed.size > 5
    assert f"{missed.size} of 10" in message
    for k in missed[:5]:
        assert f"{k} ({path.lambdas[k]:.4g})" in message
    assert f"and {missed.size - 5} more" in message
    assert "raise max_epochs" in message
    assert path.lambdas.size == 10
    assert (path.violation[missed] > path.tol).all()
    assert all("max_epochs" in path.status[k] for k in missed)
    assert (path.n_epochs <= 1).all()
    assert f"{missed.size} of 10 lambdas did not reach tol" in repr(path)


# ---- looking -----------------------------------------------------------------------


def shown_rows(path):
    """Index, df, %dev, lambda and status of the rows of the printed table."""
    pattern = r"^ +(\d+) +(\d+) +([\d.]+) +(\S+)  (\S.*)$"
    return [m.groups() for m in re.finditer(pattern, repr(path), re.MULTILINE)]


@pytest.mark.parametrize("nlambda", [2, 12, 13, 100])
def test_the_printed_table_is_short_and_true(nlambda):
    path = ncvpath(FRAME, RESPONSE, nlambda=nlambda)
    rows = shown_rows(path)
    assert len(rows) == min(nlambda, 12)
    assert (int(rows[0][0]), int(rows[-1][0])) == (0, nlambda - 1)
    for k, df, dev, lam, status in rows:
        k = int(k)
        assert int(df) == path.df[k]
        assert float(dev) == pytest.approx(100 * path.dev_ratio[k], abs=0.005)
        assert float(lam) == pytest.approx(path.lambdas[k], rel=1e-3)
        assert status == path.status[k]
    assert ("summary() has all" in repr(path)) == (nlambda > 12)


@pytest.mark.parametrize(
    "keywords, words",
    [
        (dict(penalty="SCAD"), ["SCAD path", "n=442", "p=10", "gamma=3.7", "20 lam"]),
        (dict(penalty="lasso", alpha=0.5), ["lasso path", "alpha=0.5"]),
    ],
)
def test_the_header_says_what_was_fitted(keywords, words):
    header = repr(ncvpath(FRAME, RESPONSE, nlambda=SIZE, **keywords)).splitlines()[0]
    for word in words:
        assert word in header
    assert ("gamma" in header) == (keywords["penalty"] != "lasso")


def test_the_print_says_where_local_convexity_ends(path):
    assert path.convex_min is not None
    edge = f"{path.lambdas[path.convex_min]:.4g}"
    assert f"Not locally convex below lambda={edge}" in repr(path)
    plain = ncvpath(FRAME, RESPONSE, nlambda=SIZE, convex=False)
    assert plain.convex_min is None
    assert "convex" not in repr(plain)


def test_notebooks_get_a_table_and_a_picture_without_open_figures(path):
    figures = plt.get_fignums()
    html = path._repr_html_()
    assert plt.get_fignums() == figures
    assert html.count("<tr>") == 13
    encoded = re.search(r'src="data:image/png;base64,([^"]+)"', html).group(1)
    assert base64.b64decode(encoded).startswith(b"\x89PNG\r\n")
    assert "MCP path: n=442" in html


def test_names_are_escaped_in_notebooks():
    path = ncvpath(FRAME.assign(**{"<b>": 1.0}), RESPONSE, nlambda=3)
    assert "&lt;b&gt;" in path._repr_html_()
    assert "<b>" not in path._repr_html_()


@pytest.mark.parametrize("lambdas", [[90.0, 80.0], [10.0, 0.0]])
def test_notebooks_show_paths_with_little_to_draw(lambdas):
    assert "<table" in ncvpath(FRAME, RESPONSE, lambdas=lambdas)._repr_html_()


# ---- keeping -----------------------------------------------------------------------


def through_pickle(path, tmp_path):
    return pickle.loads(pickle.dumps(path))


def through_a_named_file(path, tmp_path):
    path.save(tmp_path / "model")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    return NcvPath.load(tmp_path / "model")


def through_a_file_name(path, tmp_path):
    path.save(str(tmp_path / "model.v1"))
    assert [file.name for file in tmp_path.iterdir()] == ["model.v1"]
    return NcvPath.load(str(tmp_path / "model.v1"))


def through_an_open_file(path, tmp_path):
    with open(tmp_path / "model.npz", "wb") as stream:
        path.save(stream)
    with open(tmp_path / "model.npz", "rb") as stream:
        return NcvPath.load(stream)


def through_memory(path, tmp_path):
    stream = io.BytesIO()
    path.save(stream)
    stream.seek(0)
    return NcvPath.load(stream)


WAYS = [
    through_pickle, through_a_named_file, through_a_file_name, through_an_open_file,
    through_memory,
]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)

STORED = {
    "MCP": dict(penalty="MCP"),
    "lasso": dict(penalty="lasso", intercept=False, alpha=0.5),
    "stopped": dict(dfmax=3, penalty_factor={"age": 0, "bp": np.inf}),
    "constant": dict(X=FRAME.assign(one=1.0)),
    "unusual names": dict(
        X=FRAME.to_numpy(), feature_names=["µ β", "a,b", "", 'q"', "n\nl", *"fghij"]
    ),
}


@each_way
@cases(STORED, "keywords")
def test_a_stored_path_comes_back_the_same_without_the_data(way, keywords, tmp_path):
    data = dict(X=FRAME, y=RESPONSE, nlambda=SIZE) | keywords
    path = ncvpath(**data)
    back = way(path, tmp_path)
    assert_equal_paths(path, back)
    assert back.X is None and back.y is None
    assert path.X is data["X"]
    pd.testing.assert_frame_equal(back.coef(), path.coef())
    assert repr(back) == repr(path)


@each_way
def test_a_stored_path_asks_for_the_data_when_residuals_need_them(way, path, tmp_path):
    back = way(path, tmp_path)
    with pytest.raises(ValueError, match="X and y must be given"):
        back.residuals(which=3)
    np.testing.assert_array_equal(
        back.residuals(which=3, X=FRAME, y=RESPONSE), path.residuals(which=3)
    )
    np.testing.assert_array_equal(back.predict(FRAME), path.predict(FRAME))


def test_a_copy_keeps_the_data(path):
    again = copy.copy(path)
    assert again is not path and again.X is path.X
    np.testing.assert_array_equal(again.residuals(which=3), path.residuals(which=3))


def test_pickles_and_files_do_not_grow_with_the_data():
    X, y, _ = simulate(4000, 5, nonzero=2, random_state=1)
    path, stream = ncvpath(X, y, nlambda=3), io.BytesIO()
    path.save(stream)
    assert len(pickle.dumps(path)) < 20_000
    assert len(stream.getvalue()) < 20_000


@pytest.fixture(scope="module")
def stored(path):
    stream = io.BytesIO()
    path.save(stream)
    return stream.getvalue()


def test_a_file_holds_no_pickle(stored):
    with np.load(io.BytesIO(stored), allow_pickle=False) as content:
        assert all(content[name].dtype.kind in "biufU" for name in content.files)


def refused(content):
    with pytest.raises(ValueError, match=r"file must be written by NcvPath\.save"):
        NcvPath.load(io.BytesIO(content))


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.999])
def test_truncated_files_are_refused(share, stored):
    refused(stored[: int(share * len(stored))])


def npy(values):
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=True)
    return stream.getvalue()


GARBAGE = {
    "text": b"feature,coefficient\nbmi,1\n",
    "zeros": bytes(1000),
    "a pickle": pickle.dumps({"lambdas": [1.0]}),
    "a zip file of nothing": b"PK\x05\x06" + bytes(18),
    "an array": npy(np.ones(3)),
    "pickled objects": npy(np.array([{}], dtype=object)),
}


@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE.keys())
def test_files_of_another_kind_are_refused(content):
    refused(content)


def with_facts(**changes):
    def change(arrays):
        facts = json.loads(str(arrays["facts"])) | changes
        return dict(facts=np.array(json.dumps(facts)))

    return change


TAMPERED = {
    "without facts": lambda a: dict(facts=None),
    "without coefficients": lambda a: dict(beta_data=None),
    "without lambdas": lambda a: dict(lambdas=None),
    "facts cut off": lambda a: dict(facts=np.array(str(a["facts"])[:-5])),
    "facts a list": lambda a: dict(facts=np.array("[]")),
    "facts a number": lambda a: dict(facts=np.array("3")),
    "of another format": with_facts(format=1),
    "with too few statuses": with_facts(status=["converged"]),
    "with another p": with_facts(p=11),
    "with too few lambdas": lambda a: dict(lambdas=a["lambdas"][:5]),
    "with too few losses": lambda a: dict(loss=a["loss"][:5]),
    "with too few names": lambda a: dict(names_ends=a["names_ends"][:3]),
    "with too few factors": lambda a: dict(penalty_factor=np.ones(2)),
    "with lambdas as text": lambda a: dict(lambdas=a["lambdas"].astype(str)),
    "with too few counts": lambda a: dict(work_epochs=a["work_epochs"][:5]),
    "with counts as text": lambda a: dict(work_epochs=a["work_epochs"].astype(str)),
    "with too few weights": lambda a: dict(weights=np.ones(3)),
    "with coefficients as text": lambda a: dict(beta_data=a["beta_data"].astype(str)),
    "with whole coefficients": lambda a: dict(beta_data=a["beta_data"].astype(int)),
    "with features that are not there": lambda a: dict(
        beta_indices=a["beta_indices"] + 100
    ),
    "with a pickle inside": lambda a: dict(
        lambdas=np.array([None] * SIZE, dtype=object)
    ),
}


@cases(TAMPERED, "change")
def test_tampered_files_are_refused(change, stored):
    with np.load(io.BytesIO(stored)) as content:
        arrays = dict(content)
    arrays = arrays | change(arrays)
    stream = io.BytesIO()
    np.savez(stream, **{k: v for k, v in arrays.items() if v is not None})
    refused(stream.getvalue())


def test_a_damaged_byte_is_noticed_or_harmless(stored, path):
    rng = np.random.default_rng(3)
    for place in rng.integers(len(stored), size=150):
        damaged = bytearray(stored)
        damaged[place] ^= int(rng.integers(1, 256))
        try:
            back = NcvPath.load(io.BytesIO(bytes(damaged)))
        except ValueError as error:
            assert "file must be written by NcvPath.save" in str(error)
        else:
            np.testing.assert_array_equal(back.coef(), path.coef())


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        NcvPath.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("name", ["lambdas", "penalty", "colour"])
def test_a_path_cannot_be_changed(name, path):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(path, name, None)
