"""What estimators take: folds, what belongs to rows, any X; and what they refuse."""

from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import draw
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from ncvpath import load_heart, ncvpath
from ncvpath.estimators import NcvClassifier, NcvRegressor

SHORT = dict(nlambda=20)


# ---- folds -------------------------------------------------------------------------


def test_folds_are_drawn_or_given(tall):
    X, y = tall
    labels = np.arange(80) % 4
    pairs = [(np.flatnonzero(labels != k), np.flatnonzero(labels == k))
             for k in range(4)]
    found = [
        NcvRegressor(cv=cv, **SHORT).fit(X, y).cv_
        for cv in (labels, pairs, KFold(4, shuffle=True, random_state=1))
    ]
    np.testing.assert_array_equal(found[0].cve, found[1].cve)
    assert found[2].fold_errors.shape == (4, 20)
    assert NcvRegressor(cv=None, **SHORT).fit(X, y).cv_.fold_errors.shape[0] == 10
    drawn = [
        NcvRegressor(random_state=state, cv=3, **SHORT).fit(X, y).cv_.folds
        for state in (np.random.RandomState(1), np.random.RandomState(1), 1,
                      np.random.default_rng(1))
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(drawn[2], drawn[3])


@pytest.mark.parametrize("select", ["cv", "bic", 0.3])
def test_groups_are_one_per_row_even_where_they_do_not_matter(tall, select):
    X, y = tall
    model = NcvRegressor(select=select, **SHORT)
    with pytest.raises(ValueError, match="^groups must have one label per row; got 79"):
        model.fit(X, y, groups=np.arange(79))
    model.fit(X, y, groups=np.arange(80))


def test_groups_stay_together(tall):
    X, y = tall
    groups = np.repeat(np.arange(16), 5)
    cv = NcvRegressor(cv=4, **SHORT).fit(X, y, groups=groups).cv_
    assert all(np.unique(cv.folds[groups == g]).size == 1 for g in range(16))


def test_fewer_rows_than_folds_leave_one_out_each(tall):
    X, y = tall
    with pytest.warns(UserWarning, match="cv must be at most .* rows, 8; got cv=10"):
        model = NcvRegressor(**SHORT).fit(X[:8], y[:8])
    assert model.cv_.fold_errors.shape[0] == 8


def test_a_class_of_one_row_is_no_class_to_hold_out(tall):
    X, _ = tall
    y = np.array(["a"] * 79 + ["b"])
    with pytest.raises(ValueError, match="^cv must leave both classes in every"):
        NcvClassifier().fit(X, y)


# ---- rows --------------------------------------------------------------------------


def test_what_belongs_to_rows_goes_to_fit(tall):
    X, y = tall
    rng = np.random.default_rng(1)
    w, offset = rng.uniform(size=80), rng.normal(size=80)
    model = NcvRegressor(select="bic", **SHORT)
    path = ncvpath(X, y, weights=w, offset=offset, **SHORT)
    model.fit(X, y, sample_weight=w, offset=offset)
    found, lam = model.predict(X, offset=offset), path.select("bic")
    np.testing.assert_array_equal(found, path.predict(X, lam=lam, offset=offset))
    score = model.score(X, y, sample_weight=w, offset=offset)
    assert score == pytest.approx(r2_score(y, found, sample_weight=w))
    with pytest.raises(ValueError, match="^offset must be given for new rows"):
        model.predict(X)
    X, y = load_heart()
    offset = rng.normal(size=len(y))
    model = NcvClassifier(select="bic", **SHORT).fit(X, y, offset=offset)
    right = model.predict(X, offset) == y
    assert model.score(X, y, offset=offset) == pytest.approx(right.mean())
    assert model.predict_proba(X, offset).shape == (len(y), 2)
    assert model.predict_log_proba(X, offset).shape == (len(y), 2)


MESSAGES = {
    "sample_weight must be >= 0; got -1": dict(sample_weight=-np.ones(80)),
    "sample_weight must have one value": dict(sample_weight=[1, 2]),
    "offset must be finite": dict(offset=np.full(80, np.nan)),
    "groups must be at least as many as folds, cv=10": dict(groups=[1] * 80),
    "y must be given": dict(y=None),
    "X must be finite; .* contains NaN": dict(X=np.full((80, 12), np.nan)),
    "two classes need NcvClassifier": dict(y=["a", "b"] * 40),
    "cv must have one label per row": dict(cv=[0, 1]),
    "cv must be one integer label per row": dict(cv="five"),
    "^cv must be an integer of at least 2; got cv=1$": dict(cv=1),
    "n_jobs must be None or an integer": dict(n_jobs=0),
    "n_jobs must be": dict(n_jobs="all"),
    "gamma must be greater than 1": dict(gamma=0.5),
    "NcvClassifier has two classes": dict(family="binomial"),
    "family must be one of": dict(family="gamma"),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_speak_of_the_arguments_of_estimators(tall, message):
    """A word, and a phrase, of ncvpath() are translated."""
    given = dict(zip("Xy", tall)) | MESSAGES[message]
    known = signature(NcvRegressor.fit).parameters
    by_fit = {name: given.pop(name) for name in [*given] if name in known}
    with pytest.raises(ValueError, match=message):
        NcvRegressor(**given).fit(**by_fit)


def test_a_column_for_y_is_remarked_upon(tall):
    X, y = tall
    with pytest.warns(DataConversionWarning):
        NcvRegressor(select="bic", **SHORT).fit(X, y[:, None])


# ---- any X -------------------------------------------------------------------------


def kinds_of_x(X, folder):
    """One X, as people store it, and what a column is called."""
    names = [f"x{j}" for j in range(X.shape[1])]
    file = np.memmap(folder / "X", dtype=float, mode="w+", shape=X.shape, order="F")
    file[:] = X
    import dask.array as da

    return {
        "C order": np.ascontiguousarray(X), "list": X.tolist(),
        "float32": X.astype(np.float32), "object": X.astype(object),
        "csr": sparse.csr_array(X), "coo matrix": sparse.coo_matrix(X),
        "pandas": pd.DataFrame(X, columns=names), "polars": pl.DataFrame(X, names),
        "numbered": pd.DataFrame(X), "file": file,
        "sparse frame": pd.DataFrame.sparse.from_spmatrix(
            sparse.csc_matrix(X), columns=names
        ),
        "dask": da.from_array(X, chunks=(-1, 4)),
    }


def test_any_kind_of_x(tmp_path):
    X, y = draw(40, 8, seed=3)
    X = np.asfortranarray((2 * X).round() / 2)  # exact in float32, with zeros
    model = NcvRegressor(select="bic", **SHORT)
    expected = model.fit(X, y).predict(X)
    for kind, stored in kinds_of_x(X, tmp_path).items():
        found = model.fit(stored, y).predict(stored)
        np.testing.assert_allclose(found, expected, rtol=1e-8, err_msg=kind)
        assert model.n_features_in_ == 8
        named = kind in ("pandas", "polars", "sparse frame")
        assert hasattr(model, "feature_names_in_") == named, kind
        if named:
            assert model.path_.feature_names == tuple(model.feature_names_in_)


def test_an_x_in_memory_is_not_copied(tall):
    X, y = tall
    assert NcvRegressor(select="bic", **SHORT).fit(X, y).path_.X is X


def test_columns_must_be_those_of_the_fit(tall):
    X, y = tall
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    model = NcvRegressor(select="bic", **SHORT).fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.raises(ValueError, match="X has 3 features, but NcvRegressor"):
        model.fit(X, y).predict(X[:, :3])


def test_an_estimator_must_be_fitted(tall):
    with pytest.raises(NotFittedError):
        NcvRegressor().predict(tall[0])
