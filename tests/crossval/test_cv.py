"""Cross-validation: ncvreg's figures, the folds' own fits, and where they are run."""

import json
import os
import pickle
import signal
import threading
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import get_context
from time import sleep
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import TESTS, draw
from fitting import cross_validate, fit
from scipy import sparse

from ncvpath import (
    ConvergenceWarning,
    NcvPath,
    assign_folds,
    cv_ncvpath,
    load_diabetes,
    load_heart,
    ncvpath,
)
from ncvpath import cv as cv_module
from ncvpath.crossval import engines
from ncvpath.cv import warn_if_unconverged
from ncvpath.families import FAMILIES
from ncvpath.matrices import dense
from ncvpath.runtime.progress import Bar
from ncvpath.solver.gram import GramCache

FOLDER = TESTS / "reference"
REFERENCES = sorted(file.stem for file in FOLDER.glob("cv*-gaussian_*.json"))


@pytest.fixture(scope="module")
def data():
    return draw(60, 25, seed=11)


@pytest.fixture(scope="module")
def labels():
    return assign_folds(60, 5, random_state=3)


# ---- ncvreg's figures ---------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCES)
def test_curves_are_ncvregs(name):
    known = json.loads((FOLDER / f"{name}.json").read_text())
    frame = pd.read_csv(FOLDER / known["data"])
    X, y = frame.drop(columns="y"), frame["y"]
    cv = cv_ncvpath(X, y, penalty=known["penalty"], nlambda=len(known["lambda"]),
                    lambda_min_ratio=known["lambda"][-1] / known["lambda"][0],
                    folds=known["fold"], tol=1e-9)
    np.testing.assert_allclose(cv.lambdas, known["lambda"], rtol=2e-6)
    cv = cv_ncvpath(X, y, penalty=known["penalty"], lambdas=known["lambda"],
                    folds=known["fold"], tol=1e-9)
    np.testing.assert_allclose(cv.cve, known["cve"], rtol=1e-5)
    np.testing.assert_allclose(cv.cvse, known["cvse"], rtol=1e-5)
    assert cv.index_min == known["min"] - 1
    assert cv.null_error == pytest.approx(known["null_dev"], rel=1e-10)


# ---- what a fold is -----------------------------------------------------------


@pytest.mark.parametrize("penalty", ["lasso", "MCP", "SCAD", "logsum"])
@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("options", [{}, {"standardize": False}, {"alpha": 0.7}])
def test_a_fold_is_the_path_on_its_training_rows(data, labels, penalty, far, options):
    X, y = data
    X = X + far * np.linspace(-1, 1, 25)
    options = options | dict(penalty=penalty, tol=1e-10, lambda_min_ratio=0.3)
    cv = cv_ncvpath(X, y, folds=labels, keep=True, nlambda=20, **options)
    for fold in range(5):
        train = labels != fold
        alone = ncvpath(X[train], y[train], lambdas=cv.lambdas, **options)
        edge = 19 if penalty == "lasso" else alone.convex_min
        edge = 5 if edge is None else edge  # logsum has none: near lambda_max
        expected = alone.predict(X[~train])[:, : edge + 1]
        np.testing.assert_allclose(
            cv.predictions[~train, : edge + 1], expected, atol=1e-8 * np.ptp(y)
        )


def no_threads_left():
    return [t for t in threading.enumerate() if t.name.startswith("ncvpath")] == []


# Sizes of X from which on certificates are used: always, and never here.
sizes = pytest.mark.parametrize("certify_from", [0, 2_000_000])


@sizes
@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csc_array])
@pytest.mark.parametrize("penalty", ["lasso", "MCP", "SCAD", "logsum"])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_folds_in_company_are_paths_of_their_own(penalty, far, form, certify_from):
    X, y = draw(80, 300, seed=21)
    X = form(X + far * np.linspace(-1, 1, 300))
    labels = assign_folds(80, 4, random_state=1)
    options = dict(penalty=penalty, tol=1e-10, lambda_min_ratio=0.3)
    cv = cross_validate(X, y, certify_from, folds=labels, keep=True, nlambda=20,
                        **options)
    path = fit(X, y, certify_from, nlambda=20, **options)
    assert np.array_equal(cv.fit.beta.toarray(), path.beta.toarray())
    certified = cv.fit.screening["certified"]
    assert certified.equals(path.screening["certified"])
    assert (certified > 0).any() == (certify_from == 0)
    for fold in range(4):
        train = labels != fold
        alone = ncvpath(X[train], y[train], lambdas=cv.lambdas, **options)
        edge = 19 if penalty == "lasso" else alone.convex_min
        edge = 5 if edge is None else edge
        np.testing.assert_allclose(
            cv.predictions[~train, : edge + 1],
            alone.predict(X[~train])[:, : edge + 1], atol=1e-8 * np.ptp(y),
        )


@sizes
@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csc_array])
@pytest.mark.parametrize("shape", [(80, 300), (400, 20)])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_bits_of_a_fold_do_not_depend_on_its_company(
    monkeypatch, n_threads, shape, form, certify_from
):
    monkeypatch.setattr(dense, "ALONE", 0)  # (400, 20) counts as tall
    X, y = draw(*shape, seed=25)
    labels = assign_folds(y.size, 4, random_state=1)
    options = dict(penalty="MCP", nlambda=20, lambda_min_ratio=0.1)
    cv = cross_validate(form(X), y, certify_from, folds=labels, keep=True,
                        n_threads=n_threads, **options)
    for fold in range(4):
        pair = [(labels != fold, labels == fold)]
        alone = cross_validate(form(X), y, certify_from, folds=pair, n_threads=1,
                               lambdas=cv.lambdas, **options)
        assert np.array_equal(alone.fold_errors[0], cv.fold_errors[fold])
        assert np.array_equal(alone.converged[0], cv.converged[fold])


@sizes
def test_folds_of_very_different_length_end(certify_from):
    X, y = draw(60, 200, seed=22)
    pairs = [(np.arange(60) != 0, [0]), (np.arange(60) < 12, np.arange(12, 60))]
    X = sparse.csc_array(X)
    cv = cross_validate(X, y, certify_from, folds=pairs, penalty="lasso", n_threads=3)
    assert cv.converged.all() and no_threads_left()


@pytest.fixture
def lone_fold_fails():
    """Folds of which the second has nothing to fit but rounding."""
    X, y = draw(60, 200, seed=22)
    y[:30] = 1.0
    y[31] = 1.0 + 1e-14
    pairs = [(np.arange(60) > 5, [0]), (np.arange(60) < 30, [40])]
    return X, y, pairs


@sizes
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_a_fold_that_fails_ends_the_others_and_is_named(
    lone_fold_fails, n_threads, certify_from
):
    X, y, pairs = lone_fold_fails
    with pytest.raises(ValueError, match="in fold 1"):
        cross_validate(X, y, certify_from, folds=pairs, penalty="lasso",
                       n_threads=n_threads)
    assert no_threads_left()


TALL_CASES = {
    "plain": {},
    "raw": {"standardize": False},
    "no intercept": {"intercept": False},
    "ridge": {"alpha": 0.7},
    "factors": {"penalty_factor": [0, 0.5, 2, np.inf] + 16 * [1]},
}


@pytest.mark.parametrize("options", TALL_CASES.values(), ids=TALL_CASES)
@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_of_a_tall_design_share_its_products(
    monkeypatch, penalty, weighted, options
):
    X, y = draw(400, 20, seed=23)
    rng = np.random.default_rng(24)
    labels = assign_folds(400, 5, random_state=1)
    X[:, 7] += 1e6
    X[:, 8] = 0.01 * X[:, 8] + 30 * (np.arange(400) == np.flatnonzero(labels == 2)[0])
    X[:, 9] = labels == 3  # constant where it is held out
    X = np.asfortranarray(X)
    weights = rng.integers(0, 4, 400) if weighted else None
    options = options | dict(penalty=penalty, tol=1e-10, lambda_min_ratio=0.3)
    monkeypatch.setattr(dense, "ALONE", 0)
    cv = cross_validate(X, y, folds=labels, keep=True, nlambda=15, weights=weights,
                        **options)
    path = fit(X, y, nlambda=15, weights=weights, **options)
    assert path.screening["checked"].iloc[1:].sum() == 0  # by products alone
    assert np.array_equal(cv.fit.beta.toarray(), path.beta.toarray())
    monkeypatch.undo()
    for fold in range(5):
        train = labels != fold
        alone = ncvpath(X[train], y[train], lambdas=cv.lambdas,
                        weights=None if weights is None else weights[train], **options)
        edge = 14 if alone.convex_min is None else alone.convex_min
        np.testing.assert_allclose(
            cv.predictions[~train, : edge + 1],
            alone.predict(X[~train])[:, : edge + 1], atol=1e-8 * np.ptp(y),
        )


@pytest.mark.parametrize("shape", [(60, 25), (300, 9000)])
def test_threads_do_not_change_bits(shape):
    X, y = draw(*shape, seed=12)
    one, two = (
        cv_ncvpath(X, y, nfolds=3, random_state=0, nlambda=10, keep=True, n_threads=k)
        for k in (1, 2)
    )
    assert np.array_equal(one.predictions, two.predictions)
    assert np.array_equal(one.cve, two.cve)


def test_a_column_that_is_constant_in_a_fold_stays_out_there(data, labels):
    X, y = data[0].copy(), data[1]
    X[:, 0] = 0.0
    X[np.flatnonzero(labels == 2)[0], 0] = 5.0
    cv = cv_ncvpath(X, y, folds=labels, penalty="lasso", keep=True, tol=1e-9)
    train = labels != 2
    alone = ncvpath(X[train], y[train], lambdas=cv.lambdas, penalty="lasso", tol=1e-9)
    np.testing.assert_allclose(
        cv.predictions[~train], alone.predict(X[~train]), atol=1e-6
    )


# ---- errors and rules ---------------------------------------------------------


@pytest.mark.parametrize("measure, loss", [("mse", np.square), ("mae", np.abs)])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_means_over_observations(data, labels, measure, loss, weighted):
    X, y = data
    weights = np.random.default_rng(0).uniform(0, 2, 60) if weighted else None
    cv = cv_ncvpath(X, y, folds=labels, measure=measure, weights=weights, keep=True)
    w = np.ones(60) if weights is None else weights * 60 / weights.sum()
    e = loss(y[:, None] - cv.predictions)
    cve = w @ e / 60
    np.testing.assert_allclose(cv.cve, cve, rtol=1e-10)
    np.testing.assert_allclose(
        cv.cvse, np.sqrt(w @ (e - cve) ** 2 / (60 * 59)), rtol=1e-10
    )
    for fold in range(5):
        test = labels == fold
        expected = np.average(e[test], axis=0, weights=w[test])
        np.testing.assert_allclose(cv.fold_errors[fold], expected, rtol=1e-10)
    assert cv.null_error == pytest.approx(w @ loss(y - w @ y / 60) / 60)
    np.testing.assert_allclose(cv.r2, 1 - cve / cv.null_error, rtol=1e-8, atol=1e-10)


def test_rows_of_weight_zero_do_not_count(data, labels):
    X, y = data
    cv = cv_ncvpath(X, y, folds=labels, nlambda=10)
    twice = cv_ncvpath(
        np.vstack([X, X]), np.r_[y, y], folds=np.r_[labels, labels], nlambda=10,
        weights=np.r_[np.ones(60), np.zeros(60)],
    )
    np.testing.assert_allclose(twice.cve, cv.cve, rtol=1e-8)
    np.testing.assert_allclose(twice.cvse, cv.cvse, rtol=1e-8)


def test_a_fold_of_weight_zero_has_no_error_of_its_own(data, labels):
    X, y = data
    cv = cv_ncvpath(X, y, folds=labels, weights=(labels != 2) * 1.0, nlambda=10)
    assert np.isnan(cv.fold_errors[2]).all() and np.isfinite(cv.cve).all()
    with pytest.raises(ValueError, match="hold out rows of positive weight"):
        cv_ncvpath(X, y, folds=[(np.arange(30), np.arange(30, 60))],
                   weights=(np.arange(60) < 30) * 1.0)


def test_the_two_rules(data, labels):
    cv = cv_ncvpath(*data, folds=labels, penalty="lasso")
    assert cv.index_min == np.argmin(cv.cve)
    bound = cv.cve.min() + cv.cvse[cv.index_min]
    assert cv.cve[cv.index_1se] <= bound
    assert (cv.cve[: cv.index_1se] > bound).all()
    assert cv.lambda_1se == cv.lambdas[cv.index_1se] >= cv.lambda_min
    for rule, index in (("min", cv.index_min), ("1se", cv.index_1se)):
        pd.testing.assert_series_equal(cv.coef(rule), cv.fit.coef(which=index))
        assert cv.selected(rule) == cv.fit.selected(which=index)
        np.testing.assert_array_equal(
            cv.predict(data[0], rule), cv.fit.predict(data[0], which=index)
        )
    lam = 0.5 * (cv.lambdas[3] + cv.lambdas[4])
    pd.testing.assert_series_equal(cv.coef(lam=lam), cv.fit.coef(lam=lam))
    with pytest.raises(ValueError, match="rule must be"):
        cv.coef("best")


def test_tables_and_text(data, labels):
    cv = cv_ncvpath(*data, folds=labels)
    table = cv.summary()
    assert list(table.index) == ["min", "1se"]
    assert table.loc["min", "sigma"] == pytest.approx(np.sqrt(cv.cve.min()))
    r2 = table.loc["min", "r2"]
    assert table.loc["min", "snr"] == pytest.approx(r2 / (1 - r2))
    assert "sigma" not in cv_ncvpath(*data, folds=labels, measure="mae").summary()
    assert list(cv.to_frame().columns) == ["cve", "cvse", "r2", "df"]
    assert "cross-validated MCP path: n=60, p=25, gamma=3, 5 folds" in repr(cv)


def test_leave_one_out():
    X, y = draw(25, 6, seed=2)
    cv = cv_ncvpath(X, y, nfolds=25, penalty="lasso", nlambda=15, keep=True)
    assert cv.fold_errors.shape == (25, 15)
    np.testing.assert_allclose(cv.cve, cv.fold_errors.mean(axis=0))


def test_repeated_tests_are_averaged_over_all_predictions(data):
    X, y = data
    first, second = np.arange(40), np.arange(20, 60)
    pairs = [(np.setdiff1d(np.arange(60), test), test) for test in (first, second)]
    with pytest.warns(UserWarning, match="predictions are not kept"):
        cv = cv_ncvpath(X, y, folds=pairs, penalty="lasso", nlambda=10, keep=True)
    assert cv.folds is None and cv.kept is None
    with pytest.raises(AttributeError, match="do not hold out every row exactly once"):
        cv.predictions  # noqa: B018
    np.testing.assert_allclose(cv.cve, cv.fold_errors.mean(axis=0))


def test_groups_stay_together_and_seeds_repeat(data):
    groups = np.arange(60) // 3
    left, right = (
        cv_ncvpath(*data, nfolds=4, groups=groups, random_state=7, nlambda=5)
        for _ in range(2)
    )
    assert np.array_equal(left.folds, right.folds)
    assert all(np.unique(left.folds[groups == g]).size == 1 for g in range(20))


# ---- gamma and alpha ----------------------------------------------------------


def test_gamma_and_alpha_are_tuned_together(data, labels):
    X, y = data
    cv = cv_ncvpath(X, y, folds=labels, gamma=[2, 3, 8], alpha=[1.0, 0.5], nlambda=20)
    assert len(cv.grid) == 3 * 2 * 20
    best = cv.grid.loc[cv.grid["cve"].idxmin()]
    assert (cv.gamma, cv.alpha) == (best["gamma"], best["alpha"])
    assert cv.lambda_min == best["lambda"]
    alone = cv_ncvpath(X, y, folds=labels, gamma=cv.gamma, alpha=cv.alpha, nlambda=20)
    np.testing.assert_array_equal(cv.cve, alone.cve)
    assert (cv.fit.gamma, cv.fit.alpha) == (cv.gamma, cv.alpha)
    assert cv.fit.convex_min == alone.fit.convex_min
    cv.plot(kind="grid")


def test_alpha_alone_for_the_lasso(data, labels):
    cv = cv_ncvpath(*data, folds=labels, penalty="lasso", alpha=np.array([1, 0.3]))
    assert cv.gamma is None and cv.grid["gamma"].isna().all()
    assert set(cv.grid["alpha"]) == {1.0, 0.3}


# ---- executors ----------------------------------------------------------------

OPTIONS = dict(penalty="MCP", nlambda=12, keep=True)


@pytest.fixture(scope="module")
def here(data, labels):
    return cv_ncvpath(*data, folds=labels, **OPTIONS)


def same(cv, here):
    np.testing.assert_array_equal(cv.cve, here.cve)
    np.testing.assert_array_equal(cv.predictions, here.predictions)
    assert cv.converged.all()


def test_threads_elsewhere(data, labels, here):
    with ThreadPoolExecutor(3) as executor:
        same(cv_ncvpath(*data, folds=labels, executor=executor, **OPTIONS), here)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


def test_processes_elsewhere(data, labels, here, processes, tmp_path, monkeypatch):
    monkeypatch.setattr(engines.tempfile, "tempdir", str(tmp_path))
    same(cv_ncvpath(*data, folds=labels, executor=processes, **OPTIONS), here)
    assert not list(tmp_path.iterdir())  # X was there, and is gone


def test_a_function_that_no_process_could_be_sent_judges_here(
    data, labels, processes
):
    """It is not pickled: folds send back what they predict."""
    power = 1.5

    def loss(y, eta, weights):
        return np.abs(y - eta) ** power

    options = dict(folds=labels, nlambda=8)
    for measure in (loss, lambda y, eta, weights: np.abs(y - eta)):
        there = cv_ncvpath(*data, measure=measure, executor=processes, **options)
        here = cv_ncvpath(*data, measure=measure, **options)
        np.testing.assert_array_equal(there.cve, here.cve)
        assert there.kept is None and there.measure == measure.__name__ + "()"
    X, y = load_heart()
    options = dict(family="binomial", nlambda=4, nfolds=3, random_state=1)
    there = cv_ncvpath(X, y, measure=measure, executor=processes, **options)
    np.testing.assert_array_equal(there.pe, cv_ncvpath(X, y, **options).pe)


def test_processes_say_which_fold_failed(data, processes):
    X, y = data
    flat = np.where(np.arange(60) < 30, y, 0.0)
    X = X * (np.arange(60) < 30)[:, None]
    pairs = [(np.arange(20), np.arange(20, 30)), (np.arange(30, 60), np.arange(30))]
    with pytest.raises(ValueError, match=r"in fold 1 \(from 0\): lambda_max"):
        cv_ncvpath(X, flat + (np.arange(60) == 40), folds=pairs, executor=processes)


def die(*_):
    os._exit(3)


def test_a_worker_that_dies_is_named(data, labels, monkeypatch):
    monkeypatch.setattr(engines, "task", die)
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as executor:
        with pytest.raises(RuntimeError, match=r"fold \d .* failed: BrokenProcessPool"):
            cv_ncvpath(*data, folds=labels, executor=executor, **OPTIONS)


def test_dask_elsewhere(data, labels, here):
    distributed = pytest.importorskip("distributed", reason="needs the extra [dask]")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        same(cv_ncvpath(*data, folds=labels, executor=executor, **OPTIONS), here)


class Remote(Executor):
    """Some other engine: everything is pickled, and one task after another runs."""

    def submit(self, function, *arguments):
        future = Future()
        future.set_result(pickle.loads(pickle.dumps(function))(
            *pickle.loads(pickle.dumps(arguments))
        ))
        return future


def test_any_executor_will_do(data, labels, here):
    same(cv_ncvpath(*data, folds=labels, executor=Remote(), **OPTIONS), here)


class Early(Executor):
    """Its second task fails before the first has begun."""

    def __init__(self):
        self.futures = []

    def submit(self, *_):
        self.futures.append(Future())
        if len(self.futures) == 2:
            self.futures[1].set_exception(ValueError("too bad"))
        return self.futures[-1]


def test_the_fold_that_failed_is_named_though_others_have_not_begun(data, labels):
    executor = Early()
    with pytest.raises(ValueError, match=r"in fold 1 \(from 0\): too bad"):
        cv_ncvpath(*data, folds=labels, executor=executor, **OPTIONS)
    assert executor.futures[0].cancelled()


def test_an_engine_that_breaks_between_tasks_is_named(data, labels):
    class Broken(Early):
        def submit(self, *_):
            if self.futures:
                raise BrokenExecutor("gone")
            return super().submit()

    with pytest.raises(RuntimeError, match=r"fold 1 \(from 0\) failed: .*gone"):
        cv_ncvpath(*data, folds=labels, executor=Broken(), **OPTIONS)


def test_a_fold_that_fails_in_this_process_is_named(data):
    X, y = data
    X = X * (np.arange(60) < 30)[:, None]
    pairs = [(np.arange(20), np.arange(20, 30)), (np.arange(30, 60), np.arange(30))]
    with pytest.raises(ValueError, match=r"in fold 1 \(from 0\): lambda_max"):
        cv_ncvpath(X, y, folds=pairs)


def interrupt_main():
    """Ctrl-C, while the main thread waits."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.fixture
def cancelled(monkeypatch):
    """The events by which walks are told to end, as they are made."""
    events, run_all = [], engines.run_all

    def watched(jobs, n_threads, cancelled):
        events.append(cancelled)
        return run_all(jobs, n_threads, cancelled)

    monkeypatch.setattr(engines, "run_all", watched)
    return events


@pytest.fixture
def ended(monkeypatch):
    """Folds that came to their end."""
    found, fit_fold = [], engines.fit_fold

    def watched(*arguments):
        found.append(fit_fold(*arguments))
        return found[-1]

    monkeypatch.setattr(engines, "fit_fold", watched)
    return found


@pytest.mark.skipif(os.name != "posix", reason="needs pthread_kill")
@pytest.mark.parametrize("n_threads", [1, 2, 6])
def test_an_interrupt_ends_all_folds_soon(
    data, labels, monkeypatch, cancelled, ended, n_threads
):
    ticks = []

    class Interrupting(Bar):
        def tick(self, count=1):
            ticks.append(count)
            if len(ticks) == 1:
                sleep(0.2)  # until the main thread waits
                interrupt_main()
            assert cancelled[0].wait(30)
            super().tick(count)

    monkeypatch.setattr(cv_module, "Bar", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        cv_ncvpath(*data, folds=labels, nlambda=50, n_threads=n_threads)
    # No thread went on beyond the lambdas that it was about to report.
    assert len(ticks) <= n_threads and not ended and no_threads_left()


@pytest.mark.parametrize("bad", [0, 3, 4])
def test_a_fold_that_fails_cancels_the_others(
    data, labels, monkeypatch, cancelled, ended, bad
):
    class Patient(Bar):
        def tick(self, count=1):
            assert cancelled[0].wait(30)

    def failing(data, settings, train, *rest):
        if np.array_equal(train, labels != bad):
            raise ValueError("no good")
        return fit_fold(data, settings, train, *rest)

    fit_fold = engines.fit_fold
    monkeypatch.setattr(engines, "fit_fold", failing)
    monkeypatch.setattr(cv_module, "Bar", Patient)
    with pytest.raises(ValueError, match=rf"in fold {bad} \(from 0\): no good"):
        cv_ncvpath(*data, folds=labels, nlambda=50, n_threads=6)
    assert not ended and no_threads_left()


def test_memory_that_is_not_there_is_a_folds(data, labels, monkeypatch):
    def greedy(*_):
        raise MemoryError

    monkeypatch.setattr(engines, "fit_fold", greedy)
    with pytest.raises(MemoryError, match=r"in fold 0 \(from 0\): .*n_threads=1"):
        cv_ncvpath(*data, folds=labels, n_threads=1)


# ---- what is said -------------------------------------------------------------


def test_convergence_inside_folds_is_reported_once(data, labels):
    with pytest.warns(ConvergenceWarning, match="raise max_epochs") as caught:
        cv = cv_ncvpath(*data, folds=labels, max_epochs=1, tol=1e-12, nlambda=10)
    assert len(caught) == 1 and caught[0].filename == __file__
    message = str(caught[0].message)
    assert f"{(~cv.converged).sum()} of 50 fits in folds 0, 1, 2, 3, 4" in message
    assert cv.converged.shape == (5, 10) and not cv.converged.all()


@pytest.mark.parametrize("path, folds, words", [
    ([True, False], [[True, True]], "^1 of 2 lambdas of the full fit did not"),
    ([True, True], [[True, True], [False, False]], "^2 of 4 fits in folds 1 did not"),
])
def test_the_warning_names_path_and_folds_where_each_failed(path, folds, words):
    fit = SimpleNamespace(converged=np.array(path), tol=1e-6)
    curve = SimpleNamespace(path=fit, converged=np.array(folds), reasons={"why"})
    with pytest.warns(ConvergenceWarning, match=words) as caught:
        warn_if_unconverged(curve)
    assert caught[0].message.reasons == ("why",)


def test_a_fold_stopped_by_dfmax_shortens_the_curve(data, labels):
    with pytest.warns(UserWarning, match=r"first \d+ of \d+ lambdas"):
        cv = cv_ncvpath(*data, folds=labels, penalty="lasso", dfmax=8)
    assert cv.lambdas.size == cv.cve.size < cv.fit.lambdas.size
    assert np.array_equal(cv.lambdas, cv.fit.lambdas[: cv.lambdas.size])


def test_progress_is_one_bar(data, labels, capsys):
    cv_ncvpath(*data, folds=labels, nlambda=7, alpha=[1, 0.5], progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "84/84" in shown.err  # 2 x (1 + 5) x 7
    cv_ncvpath(*data, folds=labels, nlambda=7)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options, message", [
    (dict(nfolds=1), "nfolds must"),
    (dict(nfolds=61), "nfolds must"),
    (dict(folds=np.zeros(59, int)), "folds must"),
    (dict(folds=np.r_[np.ones(30, int), np.full(30, 3)]), "fold"),
    (dict(folds=[(np.arange(40), np.arange(30, 60))]), "overlap"),
    (dict(groups=np.arange(60) // 30, nfolds=5), "groups must"),
    (dict(folds=np.arange(60) // 30, weights=np.arange(60) // 30), "fold 1.*has none"),
    (dict(measure="r2"), "measure must be"),
    (dict(executor="threads"), "executor must be"),
    (dict(keep="yes"), "keep must be"),
    (
        dict(folds=np.arange(60) // 30, weights=np.arange(60) < 30),
        r"folds must leave training rows of positive weight; fold 0 \(from 0\)",
    ),
    (dict(gamma=[]), "gamma must have"),
    (dict(gamma=[3, 0.5]), "gamma must"),
    (dict(alpha=[1, 0]), "alpha must"),
])
def test_bad_arguments_are_named(data, options, message):
    with pytest.raises(ValueError, match=message):
        cv_ncvpath(*data, **options)


def test_unknown_arguments_are_named(data):
    with pytest.raises(TypeError, match="'nlamda'"):
        cv_ncvpath(*data, nlamda=5)


def test_a_fold_whose_training_y_is_constant_is_refused():
    X, _ = draw(20, 3)
    y = np.r_[np.zeros(15), np.arange(5.0)]
    folds = np.r_[np.zeros(15, int), np.ones(5, int)]
    with pytest.raises(ValueError, match=r"in fold 1 \(from 0\) it is constant"):
        cv_ncvpath(X, y, folds=folds)


# ---- from a path --------------------------------------------------------------


def test_a_path_cross_validates_itself(tmp_path):
    X, y = load_diabetes()
    weights = np.linspace(1, 2, 442)
    options = dict(penalty="SCAD", gamma=5, alpha=0.8, weights=weights, nlambda=15,
                   penalty_factor={"bmi": 0}, standardize=False, tol=1e-8)
    path = ncvpath(X, y, **options)
    folds = assign_folds(442, 5, random_state=0)
    asked = cv_ncvpath(X, y, folds=folds, **options)
    path.save(tmp_path / "path.npz")
    stored = NcvPath.load(tmp_path / "path.npz")
    with pytest.raises(ValueError, match="X and y must be given"):
        stored.cross_validate(folds=folds)
    for cv in (
        path.cross_validate(folds=folds), stored.cross_validate(X, y, folds=folds)
    ):
        np.testing.assert_allclose(cv.lambdas, asked.lambdas, rtol=1e-12)
        np.testing.assert_allclose(cv.cve, asked.cve, rtol=1e-6)
        assert cv.fit.settings == path.settings
    assert path.cross_validate(folds=folds, penalty="lasso").gamma is None


def test_columns_given_again_are_found_by_name(tmp_path):
    """In another order they gave another answer, without a word."""
    X, y = load_diabetes()
    path = ncvpath(X, y, nlambda=8, penalty_factor={"bmi": 0})
    path.save(tmp_path / "path.npz")
    stored = NcvPath.load(tmp_path / "path.npz")
    same = path.cross_validate(nfolds=3, random_state=1)
    turned = X.iloc[:, ::-1]
    for given in (turned, turned.assign(more="text"), X.to_numpy()):
        cv = stored.cross_validate(given, y, nfolds=3, random_state=1)
        np.testing.assert_array_equal(cv.cve, same.cve)
        assert cv.fit.feature_names == path.feature_names
    with pytest.raises(ValueError, match="must have the columns of the fit; missing b"):
        stored.cross_validate(X.rename(columns={"bmi": "other"}), y, nfolds=3)


@pytest.mark.parametrize("family", ["Gaussian", "gaussian", FAMILIES["gaussian"]])
def test_the_same_family_by_any_name_keeps_the_lambdas(tall, family):
    path = ncvpath(*tall, lambdas=[0.5, 0.3])
    cv = path.cross_validate(nfolds=3, family=family)
    assert cv.lambdas.tolist() == [0.5, 0.3]


@pytest.mark.parametrize("search", ["both", "thorough"])
def test_a_search_is_left_out_where_there_can_be_none(search):
    X, y = load_heart()
    path = ncvpath(X.drop(columns="age"), X["age"], search=search, nlambda=5)
    for other in (dict(penalty="lasso"), dict(family="poisson")):
        assert path.cross_validate(nfolds=3, **other).fit.search == "forward"
        with pytest.raises(ValueError, match="search must be forward with"):
            path.cross_validate(nfolds=3, search=search, **other)
    assert path.cross_validate(nfolds=3, penalty="SCAD").fit.search == search
    fixed = ncvpath(X, y, family="binomial", rescale=False, search=search, nlambda=5)
    assert fixed.cross_validate(nfolds=3).fit.search == search
    assert fixed.cross_validate(nfolds=3, rescale=True).fit.search == "forward"


def test_the_result_pickles(data, labels):
    cv = cv_ncvpath(*data, folds=labels, nlambda=5)
    again = pickle.loads(pickle.dumps(cv))
    np.testing.assert_array_equal(again.cve, cv.cve)
    assert again.fit.X is None


def test_the_callers_random_state_is_left_alone(data):
    before = np.random.get_state()[1].copy()
    cv_ncvpath(*data, nfolds=3, nlambda=3)
    assert np.array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("shape", [(600, 50), (5000, 20)])
@pytest.mark.parametrize("little", [1e-6, 1e-10])
def test_training_rows_of_little_weight_keep_their_digits(monkeypatch, shape, little):
    """What is left after most of the weight is held out must not be a difference."""
    monkeypatch.setattr(dense, "ALONE", 0)
    n = shape[0]
    X, y = draw(*shape, seed=31)
    train = np.arange(n) % 2 == 0
    weights = np.where(train, little, 1.0)
    options = dict(penalty="lasso", tol=1e-9)
    cv = cross_validate(X, y, folds=[(train, ~train)], weights=weights, nlambda=10,
                        **options)
    alone = ncvpath(X[train], y[train], lambdas=cv.lambdas, **options)
    error = np.square(y[~train, None] - alone.predict(X[~train])).mean(axis=0)
    np.testing.assert_allclose(cv.fold_errors[0], error, rtol=1e-7)


def test_a_path_is_cross_validated_on_other_lambdas_if_asked(tall):
    path = ncvpath(*tall, nlambda=12)
    assert path.cross_validate(nfolds=3).lambdas.size == 12
    assert path.cross_validate(nfolds=3, nlambda=5).lambdas.size == 5
    deep = path.cross_validate(nfolds=3, lambda_min_ratio=0.5)
    assert deep.lambdas[-1] == pytest.approx(0.5 * deep.lambdas[0])


def test_rows_that_are_held_out_again_are_no_other_observations():
    X, y = load_diabetes()
    labels = assign_folds(len(y), 5, random_state=1)
    once = [(labels != k, labels == k) for k in range(5)]
    single, thrice = (cv_ncvpath(X, y, folds=f, nlambda=10) for f in (once, 3 * once))
    np.testing.assert_allclose(thrice.cve, single.cve, rtol=1e-12)
    np.testing.assert_allclose(thrice.cvse, single.cvse, rtol=1e-12)
    assert thrice.lambda_1se == single.lambda_1se


def test_other_rows_are_not_this_path(tmp_path):
    X, y = load_diabetes()
    path = ncvpath(X, y, nlambda=5)
    for fewer in (y.head(100), y.head(100).to_numpy(), y.head(100).tolist()):
        with pytest.raises(ValueError, match="y must have .* 442 rows; got 100"):
            path.cross_validate(X.head(100), fewer)


@pytest.mark.parametrize("call", [
    lambda X, y, **more: cv_ncvpath(X, y, **more),
    lambda X, y, **more: ncvpath(X, y, dfmax=6).cross_validate(**more),
], ids=["cv_ncvpath", "cross_validate"])
def test_warnings_point_at_the_users_line(call):
    X, y = load_diabetes()
    with pytest.warns(UserWarning, match="the curve has the first") as caught:
        call(X, y, dfmax=6, random_state=2)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_search_and_an_early_end_are_printed():
    X, y = load_diabetes()
    tuned = cv_ncvpath(X, y, alpha=[0.5, 1], gamma=3, nlambda=10, random_state=1)
    assert f"alpha={tuned.alpha:g}, 10 folds" in repr(tuned)
    ended = cv_ncvpath(X, y, dfmax=5, random_state=1)
    for text in (repr(ended), ended._repr_html_()):
        assert "Stopped early: dfmax=5, but" in text
    assert "Stopped" not in repr(tuned)
    pair = [(np.arange(300), np.arange(300, 442))]
    assert ", 1 fold, " in repr(cv_ncvpath(X, y, folds=pair, nlambda=5))


@pytest.mark.parametrize("arguments, message", [
    (dict(executor=ThreadPoolExecutor), "executor must be a .*; got <class"),
    (dict(alpha=[0.5, 0.5]), r"alpha must be distinct values; got \[0.5, 0.5\]"),
    (dict(gamma=[None, 3]), r"gamma must be distinct values; got \[None, 3\]"),
    (dict(lambda_=1), r"did you mean lambdas\?"),
    (dict(folds=["a"] * 442), "folds must be integer labels; got 'a'"),
])
def test_common_slips_are_named(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cv_ncvpath(*load_diabetes(), **arguments)


def test_a_path_is_cross_validated_as_it_was_fitted():
    X, y = load_diabetes()
    path = ncvpath(X, y, gamma=5, nlambda=5, convex=False)
    assert path.cross_validate(penalty="mcp", nfolds=3).gamma == 5
    assert path.cross_validate(penalty="SCAD", nfolds=3).gamma == 3.7
    assert path.cross_validate(nfolds=3, lambda_min_ratio=1e-4).fit.convex_min is None


def test_nothing_is_explained_of_rows_that_are_their_mean():
    X, y = draw(20, 3)
    y -= y[5:].mean()
    y[:5] = 0.0
    y -= y.mean()
    cv = cv_ncvpath(X, y, folds=[(np.arange(5, 20), np.arange(5))], nlambda=5)
    assert cv.null_error < 1e-20 and "r2" in repr(cv)


def test_a_task_that_was_cancelled_is_named(data, labels):
    class Cancelling(ThreadPoolExecutor):
        def submit(self, *arguments, **keywords):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with Cancelling(1) as executor, pytest.raises(RuntimeError, match="fold 0 .* canc"):
        cv_ncvpath(*data, folds=labels, executor=executor, **OPTIONS)


@pytest.mark.parametrize("measure, huge", [("mse", 1e160), ("mae", 1e308)])
@pytest.mark.parametrize("column", [0, None], ids=["X", "y"])
def test_rows_of_weight_zero_may_be_anything(measure, huge, column):
    X, y = draw(40, 6)
    weights, folds = np.ones(40), np.arange(40) % 4
    weights[5] = 0.0
    asked = dict(folds=folds, weights=weights, nlambda=6, measure=measure)
    expected = cv_ncvpath(X, y, **asked)
    (y if column is None else X[:, column])[5] = huge
    found = cv_ncvpath(X, y, lambdas=expected.lambdas, **asked)
    for name in ("cve", "cvse", "null_error", "fold_errors"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-12
        )


def test_errors_that_overflow_end_the_curve():
    X, y = draw(40, 6)
    X[5, 1] = 1e160
    folds = [(np.r_[0:5, 6:40], [5])]
    free = dict(penalty_factor=[1, 1, 1, 1, 1, 1], folds=folds, nlambda=20)
    with pytest.warns(UserWarning, match=r"of 20 lamb.*\(errors of held-out rows ov"):
        cv = cv_ncvpath(X, y + 2 * X[:, 0], **free)
    assert 0 < cv.lambdas.size < 20 and np.isfinite(cv.cve).all()
    with pytest.raises(FloatingPointError, match="errors of held-out rows overflowed"):
        cv_ncvpath(X, y, **(free | dict(penalty_factor=[1, 0, 1, 1, 1, 1])))


@pytest.mark.parametrize("solver, asks", [("cd", True), ("bcd", False)])
def test_products_of_a_tall_x_are_for_solvers_that_use_them(monkeypatch, solver, asks):
    monkeypatch.setattr(dense, "ALONE", 1)
    asked, learn_all = [], GramCache.learn_all
    monkeypatch.setattr(
        GramCache, "learn_all", lambda *a: asked.append(1) or learn_all(*a)
    )
    X, y = draw(400, 4)
    labels = assign_folds(400, 3, random_state=1)
    options = dict(solver=solver, penalty="lasso", tol=1e-9)
    cv = cross_validate(X, y, folds=labels, nlambda=5, keep=True, **options)
    assert bool(asked) == asks
    for fold in range(3):
        train = labels != fold
        alone = ncvpath(X[train], y[train], lambdas=cv.lambdas, **options)
        np.testing.assert_allclose(
            cv.predictions[~train], alone.predict(X[~train]), atol=1e-7 * np.ptp(y)
        )
