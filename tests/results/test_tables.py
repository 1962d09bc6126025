"""Tables to take away: what they hold, say of themselves, and survive."""

import copy
import json
import pickle
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from ncvpath import cv_ncvpath, load_diabetes, ncvpath
from ncvpath.results import tables

FRAME, RESPONSE = load_diabetes()
FACTS = {
    "penalty": "SCAD", "gamma": 4.0, "alpha": 0.8, "n": 442, "p": 10, "tol": 1e-6,
    "convex_min": None, "stopped": None, "intercept": True, "family": "gaussian",
}
FORMS = ("wide", "long")
forms = pytest.mark.parametrize("form", FORMS)


@pytest.fixture(scope="module")
def path():
    return ncvpath(FRAME, RESPONSE, nlambda=15)


@pytest.fixture(scope="module")
def cv():
    return cv_ncvpath(FRAME, RESPONSE, nlambda=15, nfolds=4, random_state=2)


# ---- facts -------------------------------------------------------------------------


@forms
def test_tables_say_what_was_fitted(form):
    path = ncvpath(
        FRAME, RESPONSE, penalty="scad", gamma=np.float64(4), alpha=0.8, nlambda=9,
        convex=False,
    )
    assert path.to_frame(form).attrs == FACTS


def test_facts_tell_where_the_path_stopped_and_turned(path):
    stopped = ncvpath(FRAME, RESPONSE, dfmax=3).to_frame().attrs["stopped"]
    assert stopped.startswith("dfmax=3")
    assert path.to_frame().attrs["convex_min"] == path.convex_min is not None
    assert ncvpath(FRAME, RESPONSE, penalty="lasso").to_frame().attrs["gamma"] is None


@forms
def test_facts_are_json_and_survive_copies(form, path):
    table = path.to_frame(form)
    assert json.loads(json.dumps(table.attrs)) == table.attrs
    for kept in (
        table.copy(), copy.deepcopy(table), pickle.loads(pickle.dumps(table)),
        table.iloc[:3],
    ):
        assert kept.attrs == table.attrs
    table.attrs["penalty"] = "mine"
    assert path.to_frame(form).attrs["penalty"] == "MCP"


def test_tables_of_a_cross_validation_have_facts(cv):
    expected = cv.fit.to_frame().attrs | {
        "measure": "mse", "lambda_min": cv.lambda_min, "lambda_1se": cv.lambda_1se,
    }
    for table in (cv.to_frame(), cv.summary()):
        assert table.attrs == expected
        assert json.loads(json.dumps(table.attrs)) == expected


# ---- round trips -------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [False, True])
def test_long_becomes_wide_again(zeros, path):
    long, wide = path.to_frame("long", zeros=zeros), path.to_frame()
    back = long.pivot(index="feature", columns="lambda", values="coefficient")
    back = back.reindex(index=wide.index, columns=wide.columns).fillna(0.0)
    np.testing.assert_array_equal(back, wide)


def test_types_are_those_one_expects(path):
    long = path.to_frame("long")
    assert isinstance(long["feature"].dtype, pd.CategoricalDtype)
    assert list(long["feature"].cat.categories) == ["(Intercept)", *FRAME.columns]
    assert not long["feature"].cat.ordered
    for column in ("lambda", "coefficient", "dev_ratio"):
        assert long[column].dtype == np.float64
    assert path.to_frame().columns.dtype == np.float64


def test_text_brings_back_every_digit(path):
    long, wide = path.to_frame("long"), path.to_frame()
    read = pd.read_csv(StringIO(long.to_csv(index=False)), dtype=str)
    pd.testing.assert_frame_equal(read.astype(long.dtypes.to_dict()), long)
    read = pd.read_csv(StringIO(wide.to_csv()), index_col=0, dtype=str)
    np.testing.assert_array_equal(read.astype(float), wide)
    np.testing.assert_array_equal(read.columns.astype(float), path.lambdas)


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_are_in_the_order_of_lambdas_the_intercept_first(intercept):
    path = ncvpath(FRAME, RESPONSE, nlambda=6, intercept=intercept)
    long = path.to_frame("long")
    assert long["lambda"].is_monotonic_decreasing
    first = long.groupby("lambda", sort=False)["feature"].first()
    assert (first == "(Intercept)").all() == intercept
    assert len(long) == path.df.sum() + 6 * intercept


def test_no_feature_is_called_as_the_intercept_is():
    """Nobody could tell them apart."""
    X = FRAME.rename(columns={"bmi": "(Intercept)"})
    with pytest.raises(ValueError, match="drop or rename"):
        ncvpath(X, RESPONSE, nlambda=5)


def test_tables_do_not_share_memory_with_the_path(path):
    before = path.beta.toarray()
    for form in FORMS:
        table = path.to_frame(form)
        table[table.columns[-3]] = 0.0
    sparse = tables.sparse_table(
        path.intercept, path.beta, range(11), pd.Index(path.lambdas)
    )
    assert not np.shares_memory(sparse.iloc[:, 3].array.sp_values, path.beta.data)
    np.testing.assert_array_equal(path.beta.toarray(), before)


# ---- a million features ------------------------------------------------------------


def test_a_wide_table_of_many_features_stays_sparse(path, monkeypatch):
    monkeypatch.setattr("ncvpath.results.tables.SPARSE_CELLS", 0)
    wide = path.to_frame()
    assert wide.sparse.density < 1
    stored = sum(column.array.sp_values.size for _, column in wide.items())
    assert stored == path.beta.nnz + path.lambdas.size
    np.testing.assert_array_equal(wide.sparse.to_dense(), path.coef().sparse.to_dense())
    assert wide.attrs["p"] == 10


# ---- the summary of a cross-validation ---------------------------------------------


def test_the_summary_reads_as_ncvregs(cv):
    table = cv.summary()
    lines = repr(table).splitlines()
    assert lines[0] == "MCP-penalized linear regression with n=442, p=10, gamma=3"
    low, rule = table.loc["min"], "At minimum cross-validation error"
    assert lines[1] == f"{rule} (lambda={low['lambda']:.4g}):"
    assert lines[3:8] == [
        f"  Nonzero coefficients: {low['nonzero']:.0f}",
        f"  Cross-validation error (squared): {low['cve']:.4g} (standard error "
        f"{low['cvse']:.4g})",
        f"  R-squared: {low['r2']:.2f}",
        f"  Signal-to-noise ratio: {low['snr']:.2f}",
        f"  Scale estimate (sigma): {low['sigma']:.4g}",
    ]
    assert f"(lambda={cv.lambda_1se:.4g})" in lines[8]


def test_absolute_errors_have_no_signal_to_noise_ratio():
    text = repr(
        cv_ncvpath(
            FRAME, RESPONSE, penalty="lasso", alpha=0.5, nlambda=5, nfolds=3,
            measure="mae", random_state=1,
        ).summary()
    )
    assert text.splitlines()[0].endswith("p=10, alpha=0.5")
    assert "(absolute)" in text and "Fraction explained" in text
    assert "ratio" not in text and "sigma" not in text


def test_the_summary_is_a_table_for_all_else(cv):
    table = cv.summary()
    assert isinstance(table, pd.DataFrame)
    assert type(table[["cve"]]) is type(table.loc[["min"]]) is pd.DataFrame
    restored = pickle.loads(pickle.dumps(table))
    pd.testing.assert_frame_equal(restored, table)
    assert repr(restored) == repr(table)
    assert "<table" in table._repr_html_()


def test_a_summary_that_was_changed_prints_as_a_table(cv):
    table = cv.summary()
    del table["cve"]
    assert repr(table) == repr(pd.DataFrame(table))
    table = cv.summary()
    table.attrs = {}
    assert repr(table) == repr(pd.DataFrame(table))


# ---- notebooks ---------------------------------------------------------------------


def test_notebooks_see_the_table_and_the_curve(cv):
    html = cv._repr_html_()
    assert html.startswith("<p>cross-validated MCP path: n=442, p=10")
    assert html.count("<tr") >= 3 and f"{cv.lambda_1se:.4g}" in html
    assert 'src="data:image/png;base64,iVBOR' in html


def test_a_cross_validation_of_one_lambda_has_no_picture():
    cv = cv_ncvpath(FRAME, RESPONSE, lambdas=[5.0], nfolds=3, random_state=1)
    assert "<table" in cv._repr_html_() and "<img" not in cv._repr_html_()
