"""Cross-validation of families: ncvreg's figures, folds, measures, refusals."""

import json
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from conftest import TESTS

from ncvpath import (
    ConvergenceWarning,
    assign_folds,
    cv_ncvpath,
    load_heart,
    load_veteran,
    ncvpath,
)
from ncvpath.crossval import engines
from ncvpath.crossval.concordance import Pairs
from ncvpath.families.response import Response

FOLDER = TESTS / "reference"
CURVES = sorted(
    file.stem for family in ("binomial", "poisson")
    for file in FOLDER.glob(f"cv-{family}_*.json")
)
SURVIVAL = sorted(file.stem for file in FOLDER.glob("cv-cox_*.json"))
X, Y = load_heart()
LABELS = assign_folds(len(Y), 5, random_state=1, y=Y)
FEW = dict(nlambda=12, lambda_min_ratio=0.02, penalty="lasso")


def read(name):
    """Figures, X and y."""
    known = json.loads((FOLDER / f"{name}.json").read_text())
    table = pd.read_csv(FOLDER / known["data"])
    if known.get("sorted_by_time"):
        table = table.sort_values("time").reset_index(drop=True)
    own = ["time", "status"] if known["family"] == "cox" else ["y"]
    return known, table.drop(columns=own), table[own].squeeze(axis=1)


def quietly(*data, **options):
    """A path that need not converge near and beyond the end of its convex part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ncvpath(*data, **options)


def common(known, X, y):
    """How many lambdas have one solution in every fold, as far as can be seen: those
    of the convex part, up to the first that a finer grid solves in another way."""
    lambdas = np.array(known["lambda"][: len(known["cve"])])
    options = dict(family=known["family"], penalty=known["penalty"])
    for fold in range(1, 11):
        train = np.array(known["fold"]) != fold
        if known["penalty"] == "lasso":
            break
        alone = quietly(X[train], y[train], lambdas=lambdas, **options)
        last = alone.lambdas.size if alone.convex_min is None else alone.convex_min + 1
        lambdas = lambdas[:last]
        finer = np.union1d(lambdas, np.sqrt(lambdas[1:] * lambdas[:-1]))
        twice = quietly(X[train], y[train], lambdas=finer, **options)
        change = np.abs(twice.beta.toarray()[:, ::2] - alone.beta.toarray()[:, :last])
        alike = change.max(axis=0) < 1e-3
        lambdas = lambdas[: last if alike.all() else np.argmin(alike)]
    return lambdas.size


@cache
def validated(name):
    """The same cross-validation as R's, at its lambdas, up to where all agree."""
    known, X, y = read(name)
    size = common(known, X, y)
    cv = cv_ncvpath(
        X, y, family=known["family"], penalty=known["penalty"], folds=known["fold"],
        lambdas=known["lambda"][:size], tol=1e-9, keep=True,
    )
    return cv, {
        key: np.array(values)[:size] for key, values in known.items()
        if key in ("cve", "cvse", "pe", "auc") and values is not None
    }, known


# ---- ncvreg's figures ---------------------------------------------------------------


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_ncvregs(name):
    cv, figures, known = validated(name)
    np.testing.assert_allclose(cv.cve, figures["cve"], rtol=1e-5)
    np.testing.assert_allclose(cv.cvse, figures["cvse"], rtol=1e-5)
    assert cv.null_error == pytest.approx(known["null_dev"], rel=1e-10)
    assert cv.index_min == known["min"] - 1 or cv.lambdas.size < known["min"]
    if "pe" in figures:
        np.testing.assert_allclose(cv.pe, figures["pe"], atol=1e-12)
    snell = 1 - np.exp(cv.cve - cv.null_error)
    np.testing.assert_allclose(cv.r2, snell, rtol=1e-12)


def ncvsurv(eta, time, status):
    """Cve, cvse and concordance of pooled linear predictors, as ncvreg has them."""
    risk = np.cumsum(np.exp(eta)[::-1], axis=0)[::-1]
    terms = -2 * (eta - np.log(risk))[status == 1]
    pairs = Pairs(Response(status.astype(float), stop=time), np.ones(time.size))
    return (
        terms.mean(axis=0), terms.std(axis=0, ddof=1) / np.sqrt(len(terms)),
        pairs.credits(eta.T).sum(axis=1) / pairs.possible().sum(),
    )


@pytest.mark.parametrize("name", SURVIVAL)
def test_linear_predictors_kept_give_ncvregs_figures(name):
    cv, figures, _ = validated(name)
    y = read(name)[2]
    found = ncvsurv(cv.predictions, y["time"].to_numpy(), y["status"].to_numpy())
    for key, values in zip(("cve", "cvse", "auc"), found):
        np.testing.assert_allclose(values, figures[key], rtol=1e-5)


@pytest.mark.parametrize("measure", ["deviance", "concordance"])
def test_constants_added_to_columns_change_nothing(measure):
    """Linear predictors of each fold are centred at its own training rows."""
    _, X, y = read("cv-cox_tall-lasso")
    options = dict(family="cox", measure=measure, random_state=1, keep=True, **FEW)
    near = cv_ncvpath(X, y, **options)
    far = cv_ncvpath(X + 60 * (1 + np.arange(15)), y, **options)
    np.testing.assert_allclose(far.cve, near.cve, rtol=1e-9)
    np.testing.assert_allclose(far.cvse, near.cvse, rtol=1e-9)
    assert near.null_error == pytest.approx(far.null_error)
    pooled = ncvsurv(far.predictions, y["time"].to_numpy(), y["status"].to_numpy())
    assert np.abs(pooled[0] - far.cve).max() > 0.1  # as ncvreg would have it


def test_the_centre_is_the_mean_of_training_rows():
    X, y = load_veteran()
    labels = assign_folds(137, 4, random_state=1, y=y)
    cv = cv_ncvpath(X, y, family="cox", folds=labels, keep=True, **FEW)
    eta = np.empty_like(cv.predictions)
    for fold in range(4):
        train = labels != fold
        own = ncvpath(X[train], y[train], family="cox", lambdas=cv.lambdas,
                      penalty="lasso")
        link = own.predict(X, type="link")
        np.testing.assert_allclose(cv.predictions[~train], link[~train], atol=1e-5)
        eta[~train] = (link - link[train].mean(axis=0))[~train]
    order = np.argsort(y["time"].to_numpy(), kind="stable")
    time, status = (y[name].to_numpy()[order] for name in ("time", "status"))
    risk = np.array([np.exp(eta[order])[time >= t].sum(axis=0) for t in time])
    terms = -2 * (eta[order] - np.log(risk))[status == 1]
    np.testing.assert_allclose(cv.cve, terms.mean(axis=0), rtol=1e-5)


# ---- measures -----------------------------------------------------------------------


@pytest.mark.parametrize("measure, loss", [
    ("class", lambda y, p: np.abs(y - (p >= 0.5))),
    ("brier", lambda y, p: (y - p) ** 2),
    ("mae", lambda y, p: np.abs(y - p)),
])
def test_measures_of_linear_predictors(measure, loss):
    cv = cv_ncvpath(X, Y, family="binomial", folds=LABELS, measure=measure, keep=True,
                    **FEW)
    p = 1 / (1 + np.exp(-cv.predictions))
    e = loss(Y.to_numpy()[:, None], p)
    np.testing.assert_allclose(cv.cve, e.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(cv.cvse, e.std(axis=0, ddof=1) / np.sqrt(462), rtol=1e-9)
    null = loss(Y.to_numpy(), np.full(462, Y.mean())).mean()
    assert cv.null_error == pytest.approx(null)
    assert np.isnan(cv.r2).all() == (measure != "mae")
    assert "pe" in cv.summary() or measure == "class"


def test_the_largest_area_is_the_best():
    cv = cv_ncvpath(X, Y, family="binomial", folds=LABELS, measure="auc", **FEW)
    assert cv.index_min == np.argmax(cv.cve) and cv.null_error == 0.5
    bound = cv.cve.max() - cv.cvse[cv.index_min]
    assert cv.cve[cv.index_1se] >= bound and (cv.cve[: cv.index_1se] < bound).all()
    assert cv.fold_errors.shape == (5, 12) and np.isnan(cv.r2).all()
    grid = cv_ncvpath(X, Y, family="binomial", folds=LABELS, measure="auc", nlambda=8,
                      gamma=[2.0, 20.0])
    assert grid.cve.max() == grid.grid["cve"].max()
    text = repr(cv.summary())
    assert "At maximum cross-validated AUC" in text and "Prediction error" in text
    assert "judged by AUC" in repr(cv)


def cost(y, eta, weights):
    """Missing a case is worse."""
    return np.where(y == 1, 5.0, 1.0) * (y != (eta > 0))


def test_a_function_of_the_users_own():
    cv = cv_ncvpath(X, Y, family="binomial", folds=LABELS, measure=cost, keep=True,
                    **FEW)
    e = np.column_stack([cost(Y.to_numpy(), eta, None) for eta in cv.predictions.T])
    np.testing.assert_allclose(cv.cve, e.mean(axis=0))
    assert cv.measure == "cost()" and cv.plot().get_ylabel() == "cost() (CV)"
    without = cv_ncvpath(X, Y, family="binomial", folds=LABELS, measure=cost, **FEW)
    assert without.kept is None and np.array_equal(without.cve, cv.cve)


def test_weights_are_rows_given_more_than_once():
    weights = 1.0 + np.arange(462) % 3
    again = np.repeat(np.arange(462), weights.astype(int))
    options = dict(family="binomial", tol=1e-9, **FEW)
    one = cv_ncvpath(X, Y, folds=LABELS, weights=weights, **options)
    many = cv_ncvpath(X.iloc[again], Y.iloc[again], folds=LABELS[again],
                      lambdas=one.lambdas, **options | {"nlambda": 12})
    np.testing.assert_allclose(one.cve, many.cve, rtol=1e-6)
    np.testing.assert_allclose(one.pe, many.pe, rtol=1e-12)


def test_counts_are_trials():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((60, 5))
    trials = rng.integers(1, 6, 60)
    successes = rng.binomial(trials, 1 / (1 + np.exp(-Z[:, 0])))
    y = np.column_stack([trials - successes, successes])
    labels = np.arange(60) % 4
    rows = np.repeat(np.arange(60), trials)
    single = np.concatenate(
        [np.arange(t) < s for t, s in zip(trials, successes)]
    ).astype(int)
    options = dict(family="binomial", tol=1e-9, **FEW)
    for measure in ("class", "auc"):
        one = cv_ncvpath(Z, y, folds=labels, measure=measure, **options)
        many = cv_ncvpath(Z[rows], single, folds=labels[rows], measure=measure,
                          lambdas=one.lambdas, **options)
        np.testing.assert_allclose(one.cve, many.cve, rtol=1e-6)


def test_an_offset_is_a_part_of_the_linear_predictor():
    rng = np.random.default_rng(2)
    Z, exposure = rng.standard_normal((80, 6)), rng.uniform(1, 9, 80)
    y = rng.poisson(exposure * np.exp(0.5 * Z[:, 0]))
    offset, labels = np.log(exposure), np.arange(80) % 5
    cv = cv_ncvpath(Z, y, family="poisson", offset=offset, folds=labels, keep=True,
                    **FEW)
    train = labels != 2
    own = ncvpath(Z[train], y[train], family="poisson", offset=offset[train],
                  lambdas=cv.lambdas, penalty="lasso")
    link = own.predict(Z[~train], type="link", offset=offset[~train])
    np.testing.assert_allclose(cv.predictions[~train], link, atol=1e-5)
    mu = exposure * y.sum() / exposure.sum()
    ylogy = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mu), 0)
    assert cv.null_error == pytest.approx(2 * (ylogy - y + mu).mean())


def test_folds_that_cannot_be_judged_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("ncvpath.cv.side_by_side", None)
    with pytest.raises(ValueError, match="a fold that holds out both classes"):
        cv_ncvpath(X, Y, family="binomial", nfolds=462, measure="auc")
    with pytest.raises(ValueError, match="measure must be a function"):
        cv_ncvpath(X, Y, family="binomial", measure=lambda y, eta, weights: 1.0)


@pytest.mark.parametrize("measure", ["deviance", "concordance"])
def test_one_row_at_a_time(measure):
    Z, y = load_veteran()
    cv = cv_ncvpath(Z[:40], y[:40], family="cox", nfolds=40, measure=measure, **FEW)
    assert cv.fold_errors.shape == (40, 12) and (cv.cvse > 0).all()


# ---- folds --------------------------------------------------------------------------


def test_drawn_folds_are_stratified():
    cv = cv_ncvpath(X, Y, family="binomial", nfolds=7, random_state=3, **FEW)
    for rows in (Y == 0, Y == 1):
        assert np.ptp(np.bincount(cv.folds[rows])) <= 1
    Z, y = load_veteran()
    cv = cv_ncvpath(Z, y, family="cox", nfolds=3, random_state=3, **FEW)
    assert np.ptp(np.bincount(cv.folds[y["status"] == 0])) <= 1


def test_a_fold_that_loses_a_class_is_named():
    rare = np.where(np.arange(462) < 3, "ill", "well")
    folds = np.where(np.arange(462) < 3, 2, np.arange(462) % 2)
    message = r"leave both classes .* in fold 2 \(from 0\) there is only well"
    with pytest.raises(ValueError, match=message):
        cv_ncvpath(X, rare, family="binomial", folds=folds)


def test_a_fold_that_loses_all_events_is_named():
    Z, y = load_veteran()
    y = y.assign(status=(np.arange(137) < 5).astype(int))
    folds = np.where(np.arange(137) < 5, 1, 0)
    message = r"leave an event .* in fold 1 \(from 0\) all rows are censored"
    with pytest.raises(ValueError, match=message):
        cv_ncvpath(Z, y, family="cox", folds=folds)


def test_a_fold_that_loses_all_counts_is_named():
    y = np.where(np.arange(462) < 4, np.arange(462), 0)
    folds = np.where(np.arange(462) < 4, 1, 0)
    with pytest.raises(ValueError, match=r"in fold 1 \(from 0\) it is constant, y=0"):
        cv_ncvpath(X, y, family="poisson", folds=folds)


@pytest.mark.parametrize("measure", ["deviance", "concordance"])
def test_survival_needs_each_row_held_out_once(measure):
    Z, y = load_veteran()
    twice = [(np.arange(60), np.arange(60, 137)), (np.arange(70, 137), np.arange(70))]
    with pytest.raises(ValueError, match="hold out each row exactly once with measure"):
        cv_ncvpath(Z, y, family="cox", folds=twice, measure=measure)


def test_rows_may_be_held_out_twice_elsewhere():
    again = [(LABELS != k, LABELS == k) for k in (0, 1, 2, 3, 4, 0)]
    cv = cv_ncvpath(X, Y, family="binomial", folds=again, **FEW)
    once = cv_ncvpath(X, Y, family="binomial", folds=LABELS, **FEW)
    assert cv.fold_errors.shape == (6, 12) and cv.folds is None
    np.testing.assert_allclose(cv.fold_errors[:5], once.fold_errors, rtol=1e-12)


# ---- where folds are fitted ---------------------------------------------------------


@pytest.mark.parametrize("kind", ["threads", "processes"])
@pytest.mark.parametrize("family, measure", [
    ("binomial", None), ("binomial", "auc"), ("cox", None), ("cox", "concordance"),
    ("binomial", cost),
])
def test_executors_change_nothing(kind, family, measure):
    data = (X, Y) if family == "binomial" else load_veteran()
    options = dict(family=family, measure=measure, nfolds=3, random_state=1, **FEW)
    here = cv_ncvpath(*data, **options)
    pools = {
        "threads": lambda: ThreadPoolExecutor(2),
        "processes": lambda: ProcessPoolExecutor(2, get_context("spawn")),
    }
    with pools[kind]() as pool:
        there = cv_ncvpath(*data, executor=pool, **options)
    assert np.array_equal(here.cve, there.cve)
    assert np.array_equal(here.cvse, there.cvse)


@pytest.mark.parametrize("family", ["binomial", "cox"])
def test_a_path_cross_validates_itself(family):
    data = (X, Y) if family == "binomial" else load_veteran()
    path = ncvpath(*data, family=family, **FEW)
    cv = path.cross_validate(nfolds=3, random_state=1)
    again = cv_ncvpath(*data, family=family, nfolds=3, random_state=1, **FEW)
    np.testing.assert_allclose(cv.cve, again.cve, rtol=1e-10)
    kept = pickle.loads(pickle.dumps(cv))
    assert np.array_equal(kept.cve, cv.cve) and kept.measure == cv.measure


@pytest.mark.parametrize("rule", ["1se", "lambda_1se", "lambda.1se"])
def test_rules_have_names_of_r_too(rule):
    cv = cv_ncvpath(X, Y, family="binomial", folds=LABELS, **FEW)
    pd.testing.assert_series_equal(cv.coef(rule), cv.fit.coef(which=cv.index_1se))
    assert set(cv.predict(X, rule, type="class")) <= {0, 1}


def test_summaries_read_as_ncvregs():
    Z, y = load_veteran()
    text = repr(cv_ncvpath(Z, y, family="cox", nfolds=3, **FEW).summary())
    assert "lasso-penalized Cox regression with n=137, p=8" in text
    assert "error (deviance)" in text and "Signal-to-noise" in text
    assert "sigma" not in text
    text = repr(cv_ncvpath(X, Y, family="binomial", nfolds=3, **FEW).summary())
    assert "logistic regression" in text and "Prediction error: 0." in text


@pytest.mark.filterwarnings("ignore::ncvpath.ConvergenceWarning", "ignore:the curve")
def test_folds_need_not_go_on_where_the_path_has_ended(monkeypatch):
    rng = np.random.default_rng(3)
    columns = rng.standard_normal((120, 60))
    y = (columns[:, 0] - columns[:, 1] + 0.3 * rng.standard_normal(120) > 0).astype(int)
    sizes, fit_fold = [], engines.fit_fold

    def counting(data, settings, *others):
        sizes.append(settings.lambdas.size)
        return fit_fold(data, settings, *others)

    monkeypatch.setattr(engines, "fit_fold", counting)
    cv = cv_ncvpath(
        columns, y, family="binomial", penalty="lasso", lambda_min_ratio=1e-5,
        nlambda=60, nfolds=5, random_state=1, n_threads=1,
    )
    assert cv.fit.lambdas.size < 60 and set(sizes) == {cv.fit.lambdas.size}
    assert (np.diff(cv.lambdas) < 0).all() and cv.cve.size == cv.lambdas.size
