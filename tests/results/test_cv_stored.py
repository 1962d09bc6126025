"""Cross-validations in files, and results that cannot be changed by accident."""

import copy
import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from ncvpath import CvNcvPath, NcvPath, cv_ncvpath, load_diabetes, load_heart, ncvpath

X, Y = load_diabetes()
HEART, CHD = load_heart()


@pytest.fixture(scope="module")
def cv():
    return cv_ncvpath(
        X, Y, nlambda=8, nfolds=3, random_state=1, gamma=[2.0, 3.0], keep=True
    )


@pytest.fixture(scope="module")
def stored(cv):
    stream = io.BytesIO()
    cv.save(stream)
    return stream.getvalue()


# ---- files -------------------------------------------------------------------------


def test_a_cross_validation_comes_back_as_it_was(cv, stored):
    back = CvNcvPath.load(io.BytesIO(stored))
    for name in ("lambdas", "cve", "cvse", "fold_errors", "converged", "folds"):
        np.testing.assert_array_equal(getattr(back, name), getattr(cv, name))
    np.testing.assert_array_equal(back.predictions, cv.predictions)
    pd.testing.assert_frame_equal(back.grid, cv.grid)
    pd.testing.assert_frame_equal(back.to_frame(), cv.to_frame())
    assert repr(back) == repr(cv) and back.measure == cv.measure
    np.testing.assert_array_equal(back.predict(X, "1se"), cv.predict(X, "1se"))
    assert back.fit.X is None


def test_classes_and_what_was_not_kept_come_back(tmp_path):
    cv = cv_ncvpath(HEART, CHD, family="binomial", measure="auc", nlambda=6, nfolds=3,
                    random_state=1)
    cv.save(tmp_path / "cv.npz")
    back = CvNcvPath.load(tmp_path / "cv.npz")
    assert back.kept is None and repr(back) == repr(cv)
    np.testing.assert_array_equal(back.pe, cv.pe)


def test_paths_and_cross_validations_tell_their_files_apart(cv, stored):
    path = NcvPath.load(io.BytesIO(stored))
    np.testing.assert_array_equal(path.coef(), cv.fit.coef())
    alone = io.BytesIO()
    cv.fit.save(alone)
    alone.seek(0)
    with pytest.raises(ValueError, match="a path alone, which NcvPath.load reads"):
        CvNcvPath.load(alone)


def changed(stored, name, change):
    source, out = zipfile.ZipFile(io.BytesIO(stored)), io.BytesIO()
    with np.load(io.BytesIO(stored)) as arrays, zipfile.ZipFile(out, "w") as archive:
        for member in source.namelist():
            data = source.read(member)
            if member == f"{name}.npy":
                found = change(arrays[name])
                if found is None:
                    continue
                stream = io.BytesIO()
                np.save(stream, found)
                data = stream.getvalue()
            archive.writestr(member, data)
    return io.BytesIO(out.getvalue())


def facts(**others):
    def change(text):
        found = json.loads(str(text))
        return np.array(json.dumps(found | {"cv": found["cv"] | others}))

    return change


TAMPERED = {
    "cve is not there": ("cv_cve", lambda a: None, "cv_cve is missing"),
    "too many errors": ("cv_cve", lambda a: np.append(a, a), "must have shape"),
    "an error that is none": ("cv_cve", lambda a: a * np.nan, "cve is not finite"),
    "folds of other rows": ("cv_folds", lambda a: a[:5], "cv_folds must have"),
    "a grid of nothing": ("cv_grid_cve", lambda a: a[:0], "cv_grid_gamma must have"),
    "the best is not there": ("facts", facts(index_min=8), "index_min=8 is not on"),
    "1se is not there": ("facts", facts(index_1se=-1), "index_1se=-1 is not on"),
    "no folds": ("facts", facts(n_folds=0), "n_folds is not a count"),
    "a measure without a name": ("facts", facts(measure=3), "measure is not a name"),
    "no error of none": ("facts", facts(null_error="x"), "null_error is not a number"),
    "facts too many": ("facts", facts(more=1), "facts of its cross-validation"),
}


@pytest.mark.parametrize("name, change, words", TAMPERED.values(), ids=TAMPERED.keys())
def test_tampered_files_are_refused(name, change, words, stored):
    with pytest.raises(ValueError, match="written by CvNcvPath.save.*" + words):
        CvNcvPath.load(changed(stored, name, change))


# ---- questions ---------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["1se", "lambda_1se", "lambda.1se"])
def test_rules_have_the_names_of_r(cv, rule):
    pd.testing.assert_series_equal(cv.coef(rule), cv.coef(lam=cv.lambda_1se))
    with pytest.raises(ValueError, match="rule must be one of min, 1se; got rule='2s"):
        cv.coef("2se")


def test_predictions_that_were_not_kept_say_what_to_do():
    cv = cv_ncvpath(X, Y, nlambda=4, nfolds=3, random_state=1)
    with pytest.raises(AttributeError, match="not kept; .*keep=True"):
        cv.predictions  # noqa: B018
    assert getattr(cv, "predictions", None) is None


def test_standardized_coefficients_are_those_of_the_path(cv):
    expected = cv.fit.coef(which=cv.index_min, standardized=True)
    pd.testing.assert_series_equal(cv.coef(standardized=True), expected)


@pytest.mark.parametrize("measure", ["mse", "mae"])
def test_one_row_held_out_has_no_standard_error(measure):
    folds = [(np.arange(1, 442), np.array([0]))]
    cv = cv_ncvpath(X, Y, folds=folds, nlambda=6, measure=measure)
    assert np.isnan(cv.cvse).all() and np.isfinite(cv.cve).all()
    assert cv.index_1se is None and cv.lambda_min in cv.lambdas
    for ask in (lambda: cv.lambda_1se, lambda: cv.coef("1se")):
        with pytest.raises(ValueError, match="lambda_1se needs a standard error"):
            ask()
    assert list(cv.summary().index) == ["min"] and "1se" not in repr(cv)
    cv.plot()
    cv.fit.plot(mark=cv)
    stream = io.BytesIO()
    cv.save(stream)
    stream.seek(0)
    assert CvNcvPath.load(stream).index_1se is None


def test_one_fold_has_no_standard_error_of_an_auc():
    folds = [(np.arange(100, 462), np.arange(100))]
    cv = cv_ncvpath(HEART, CHD, family="binomial", measure="auc", folds=folds,
                    nlambda=5)
    assert cv.index_1se is None


# ---- accidents ---------------------------------------------------------------------


def arrays_of(result):
    for name, value in vars(result).items():
        if name in ("X", "y"):
            continue
        if isinstance(value, np.ndarray):
            yield value
        if isinstance(value, dict):
            yield from (v for v in value.values() if isinstance(v, np.ndarray))
        if hasattr(value, "indptr"):
            yield from (value.data, value.indices, value.indptr)


def test_arrays_of_results_are_read_only(cv, stored):
    x, y = np.array(X), np.array(Y)
    path = ncvpath(x, y, nlambda=5, weights=np.ones(442), record=True)
    again = pickle.loads(pickle.dumps(path))
    back = CvNcvPath.load(io.BytesIO(stored))
    for result in (path, again, copy.copy(path), copy.deepcopy(path), cv, cv.fit, back,
                   pickle.loads(pickle.dumps(cv))):
        found = list(arrays_of(result))
        assert len(found) >= 5
        for array in found:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    assert x.flags.writeable and y.flags.writeable and path.X is x


def test_the_grid_that_is_handed_out_is_the_users(cv):
    """What was written into it was in all later answers."""
    before, picture = cv.grid.copy(), cv.plot(kind="grid")
    table = cv.grid
    table["cve"] = 0.0
    del table["alpha"]
    pd.testing.assert_frame_equal(cv.grid, before)
    assert cv.plot(kind="grid").get_ylabel() == picture.get_ylabel()


def test_lambda_is_said_in_one_way(cv):
    at = float(cv.lambdas[2])
    for ask in (cv.coef, lambda **where: cv.predict(X, **where)):
        np.testing.assert_array_equal(ask(), ask(rule="min"))
        np.testing.assert_array_equal(ask(rule="lambda.min"), ask(rule="min"))
        with pytest.raises(ValueError, match="give lam or rule, not both; got lam="):
            ask(rule="1se", lam=at)
        for more in ({}, {"lam": at}):
            with pytest.raises(ValueError, match="rule must be one of min, 1se; got"):
                ask(rule="2se", **more)


def test_read_only_results_answer_all_the_same():
    path = ncvpath(X, Y, nlambda=5)
    table = path.coef()  # tables are the user's
    table.iloc[0, 0] = 1.0
    long = path.to_frame("long")
    long.loc[0, "coefficient"] = 1.0
    (path.beta - path.beta).toarray()
    path.beta.sort_indices()
    cv_ncvpath(X, Y, lambdas=path.lambdas, nfolds=3, random_state=1)
    assert path.cross_validate(nfolds=3, random_state=1).fit.lambdas.size == 5
