"""X as a dask array, on dask's threads and on a cluster of two processes."""

import os
import pickle
import signal
import sys

import numpy as np
import oracle
import pytest
from conftest import draw
from fitting import cross_validate, fit

from ncvpath import cv_ncvpath, ncvpath
from ncvpath.matrices import out_of_core
from ncvpath.matrices.columns import Columns
from ncvpath.matrices.design import make_design
from ncvpath.matrices.distributed import DaskColumns, current_client, kept_there
from ncvpath.matrices.out_of_core import OutOfCoreMatrix
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import ThreadPool

da = pytest.importorskip("dask.array", reason="needs the extra [dask]")
distributed = pytest.importorskip("distributed", reason="needs the extra [dask]")

UNEVEN = (20, 1, 40, 29)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as running:
        yield running


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        yield connected


@pytest.fixture(params=["all", "none"])
def cache(request, monkeypatch):
    """Whether columns are kept at hand."""
    monkeypatch.setattr(out_of_core, "KEPT", {"all": 1 << 20, "none": 0}[request.param])
    monkeypatch.setattr(out_of_core, "STANDARDIZED", 1000)


def close(a, b, most=1e-8):
    np.testing.assert_allclose(a, b, rtol=most, atol=most)


def close_paths(path, same):
    assert path.converged.all()
    close(path.beta.toarray(), same.beta.toarray())
    close(path.intercept, same.intercept)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64])
@pytest.mark.parametrize("intercept", [True, False])
def test_operations_are_those_of_exact_numbers(cache, dtype, intercept):
    X = (30 * draw(60, 90, seed=3)[0]).astype(dtype)
    w = np.random.default_rng(2).uniform(0.5, 2, 60)
    w /= w.sum()
    opened = OutOfCoreMatrix(DaskColumns(da.from_array(X, (60, UNEVEN))), ThreadPool(1))
    made = make_design(opened, w, intercept, True)
    long, wl = X.astype(np.longdouble), w.astype(np.longdouble)
    Z = long - (wl @ long if intercept else 0)
    Z /= np.sqrt(wl @ Z**2)
    R, B = np.random.default_rng(3).standard_normal((2, 2, 60))
    few, some = np.array([70, 20, 3]), np.r_[40, 3, np.arange(10, 30), 61]
    for features in (few, some, np.arange(90)):
        part = Z[:, features]
        close(made.correlate(R, features), np.float64((wl * R) @ part), 1e-11)
        gram = part.T @ (wl[:, None] * Z[:, some])
        close(made.gram(features, some), np.float64(gram), 1e-11)
    b = np.ascontiguousarray(B[:, : some.size])
    close(made.combine(some, b), np.float64(b @ Z[:, some].T), 1e-11)
    close(made.columns(some), np.float64(Z[:, some]), 1e-11)
    fitted = opened.predict(np.arange(60), some, b.T)
    close(fitted, np.float64(long[:, some] @ b.T), 1e-10)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_path_is_that_of_memory(cache, row):
    X, y = draw(50, 90, seed=5)
    options = dict(
        penalty=row.name, nlambda=10, lambda_min_ratio=0.4, tol=1e-10,
        weights=np.random.default_rng(1).uniform(0.2, 2, 50),
        penalty_factor=np.r_[0.0, 2.0, np.inf, np.ones(87)],
    )
    given = da.from_array(X, (50, UNEVEN))
    path, same = ncvpath(given, y, **options), ncvpath(X, y, **options)
    close_paths(path, same)
    assert path.X is given
    close(path.predict(given), same.predict(X))
    close(path.residuals(which=2), same.residuals(which=2))
    assert pickle.loads(pickle.dumps(path)).X is None


@pytest.mark.parametrize("switches", [
    dict(intercept=False), dict(standardize=False), dict(penalty="lasso", alpha=0.5),
    dict(penalty="lasso", working_set="full"),
])
def test_fermats_conditions_hold(switches):
    X, y = draw(40, 60, seed=4)
    given = da.from_array(X, (40, 25))
    path = ncvpath(given, y, nlambda=8, lambda_min_ratio=0.2, tol=1e-8, **switches)
    switches = {k: v for k, v in switches.items() if k != "working_set"}
    problem = oracle.Problem(X, y, **{"penalty": "MCP"} | switches)
    assert problem.violations(path).max() <= 1.1e-8


def test_a_cluster_finds_the_same_path(client):
    X, y = draw(60, 200, seed=6)
    given = da.from_array(X.astype(np.float32), (60, 70))
    path = ncvpath(given, y, nlambda=15, tol=1e-10, lambda_min_ratio=0.3)
    exact = X.astype(np.float32).astype(float)
    close_paths(path, ncvpath(exact, y, nlambda=15, tol=1e-10, lambda_min_ratio=0.3))
    close(path.predict(given), path.predict(exact))


def test_round_trips_are_counted_and_few(client):
    X, y = draw(60, 200, seed=6)
    path = ncvpath(da.from_array(X, (60, 70)), y, nlambda=15, lambda_min_ratio=0.3)
    trips = path.screening["round_trips"]
    # Of the first lambda: centre and scale, and the null model.
    assert trips.iloc[0] == 2
    # A look in each round, and the columns that enter.
    assert (trips.iloc[1:] <= 2 * path.screening["rounds"].iloc[1:]).all()
    assert "round_trips" not in ncvpath(X, y, nlambda=2).screening


@pytest.mark.parametrize("certify_from", [0, 2_000_000])
def test_round_trips_of_a_path_in_company_are_counted(client, certify_from):
    X, y = draw(60, 200, seed=6)
    given, asked = da.from_array(X, (60, 70)), dict(nlambda=8, lambda_min_ratio=0.3)
    path = fit(given, y, certify_from, **asked)
    cv = cross_validate(given, y, certify_from, nfolds=3, **asked)
    found, alone = (each.screening["round_trips"] for each in (cv.fit, path))
    assert found.tolist() == alone.tolist() and found.iloc[0] == 2


def test_only_vectors_and_working_columns_travel(monkeypatch):
    X, y = draw(60, 2000, seed=6)
    travelled = []
    each = DaskColumns.each

    def watched(self, *arguments):
        for some, found in each(self, *arguments):
            travelled.append(np.size(found))
            yield some, found

    monkeypatch.setattr(DaskColumns, "each", watched)
    path = ncvpath(da.from_array(X, (60, 500)), y, nlambda=15, lambda_min_ratio=0.5)
    counts = path.screening
    looks = 2000 * (counts["rounds"].sum() + 5)  # a number per column for each look
    assert sum(travelled) <= looks + 60 * counts["working_set"].sum()


class Killer:
    """Kills a worker at the n-th look."""

    def __init__(self, client, looks):
        self.client, self.left, self.killed = client, looks, None
        self.correlate = OutOfCoreMatrix.correlate

    def __call__(self, matrix, *arguments):
        self.left -= 1
        if self.left == 0:
            workers = self.client.scheduler_info()["workers"]
            self.killed = next(iter(workers))
            pids = self.client.run(os.getpid, workers=[self.killed])
            os.kill(pids[self.killed], signal.SIGKILL)
        return self.correlate(matrix, *arguments)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_worker_that_dies_does_not_change_the_answer(client, monkeypatch):
    X, y = draw(60, 200, seed=6)
    given = da.from_array(X, (60, 50))
    options = dict(nlambda=15, tol=1e-10, lambda_min_ratio=0.3)
    before = ncvpath(given, y, **options)
    killer = Killer(client, looks=3)  # of four, for all blocks of lambdas
    monkeypatch.setattr(
        OutOfCoreMatrix, "correlate", lambda *arguments: killer(*arguments)
    )
    path = ncvpath(given, y, **options)
    assert killer.killed
    np.testing.assert_array_equal(path.beta.toarray(), before.beta.toarray())
    close_paths(path, ncvpath(X, y, **options))


def test_a_matrix_that_does_not_fit_is_not_kept_on_the_cluster(client):
    small, large = (da.zeros((1000, p), chunks=(1000, 10_000)) for p in (10, 10**8))
    assert kept_there(large, large.dtype) is large
    kept = kept_there(small, small.dtype)
    assert kept is not small and len(distributed.futures_of(kept)) == 1


def test_chunks_of_rows_are_rechunked_with_a_message():
    X, y = draw(40, 60, seed=4)
    with pytest.warns(UserWarning, match="2 chunks of rows; it is rechunked") as seen:
        path = ncvpath(da.from_array(X, (20, 30)), y, nlambda=5, tol=1e-10)
    assert seen[0].filename == __file__
    close_paths(path, ncvpath(X, y, nlambda=5, tol=1e-10))
    close(path.predict(da.from_array(X, (20, 30))), path.predict(X))


def unknown():
    X = da.from_array(np.eye(4), (2, 4))
    return X[X.sum(axis=1) > 0]


@pytest.mark.parametrize("X, message", [
    (unknown, "chunks of known size"),
    (lambda: da.zeros((4, 3), dtype=complex), "real numbers; got dtype complex128"),
    (lambda: da.zeros(4), r"got 1 dimension\(s\)"),
    (lambda: da.zeros((4, 0)), "a row and a column at least"),
    (lambda: da.from_array(np.array([["a"], ["b"], ["c"], ["d"]])), "real numbers"),
])
def test_what_cannot_be_used_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        ncvpath(X(), [1.0, 2.0, 4.0, 3.0])


def test_the_first_column_that_is_not_finite_is_named():
    X, y = draw(30, 70)
    X[3, 45], X[4, 66] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"column number 45 \(from 0\) contains nan"):
        ncvpath(da.from_array(X, (30, 20)), y)


@pytest.mark.parametrize("which", [0, [0, 3], None])
def test_predictions_of_an_empty_support(which):
    """There was nothing to read, and it was an IndexError."""
    X, y = draw(30, 70)
    given = da.from_array(X, (30, 20))
    path = ncvpath(given, y, lambdas=[1e9, 1e8, 1e7, 1e6])
    assert path.df.max() == 0
    found = path.predict(given, which=which)
    np.testing.assert_allclose(found, np.broadcast_to(y.mean(), found.shape))
    expected = y - path.predict(X, which=0)
    np.testing.assert_allclose(path.residuals(which=0), expected)


def test_cross_validation_of_a_dask_array(client):
    X, y = draw(40, 30, seed=7)
    options = dict(nfolds=3, random_state=1, nlambda=8, lambda_min_ratio=0.3, tol=1e-9)
    given = da.from_array(X, (40, 12))
    cv = cv_ncvpath(given, y, **options)
    close(cv.cve, cv_ncvpath(X, y, **options).cve, 1e-7)
    with pytest.raises(ValueError, match="executor must be None where X is a dask"):
        cv_ncvpath(given, y, executor=client.get_executor(), **options)


def test_bits_do_not_depend_on_where_they_are_computed():
    X, y = draw(50, 90, seed=5)
    sources = Columns(X), DaskColumns(da.from_array(X, (50, UNEVEN)))
    r, center, scale = y[None] - y.mean(), X.mean(axis=0), X.std(axis=0)
    disk, cluster = (
        OutOfCoreMatrix(source, ThreadPool(1)).correlate(
            r, np.arange(90), center, scale
        )
        for source in sources
    )
    np.testing.assert_array_equal(disk, cluster)


def test_without_distributed_there_is_no_cluster_to_ask(monkeypatch):
    monkeypatch.delitem(sys.modules, "distributed", raising=False)
    assert current_client() is None
