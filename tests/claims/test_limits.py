"""Many fits in a row, subscripts beyond 2^31, and the smallest and largest problems."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import TESTS, draw
from scipy import sparse

from ncvpath import NcvPath, cv_ncvpath, kernels, ncvpath
from ncvpath.kernels.records import Coordinates, ResidualSweeps
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.sparse import SparseColumns, sparse_matrix
from ncvpath.penalties import PENALTIES, shaped
from ncvpath.runtime.threads import ThreadPool

LONG = os.environ.get("NCVPATH_LONG") == "1"
long_only = pytest.mark.skipif(not LONG, reason="slow: set NCVPATH_LONG=1")
BEYOND = 2**31  # the first subscript that 32 bits do not hold

# ---- many fits in a row -------------------------------------------------------

MANY_FITS = """
import os, sys, tempfile, threading
import numpy as np
from scipy import sparse
from conftest import draw
from ncvpath import cv_ncvpath, ncvpath

X, y = draw(60, 150)
thin = sparse.csc_array(X * (np.abs(X) > 1))
large, response = draw(200, 11_000)
large = large.astype(np.float32)  # large enough to be shared out, and not expanded
tasks = [
    lambda: ncvpath(X, y, nlambda=30),
    lambda: ncvpath(thin, y, penalty="SCAD", nlambda=30),
    lambda: ncvpath(X.astype(np.float32), y, penalty="lasso", nlambda=30),
    lambda: ncvpath(X, y, penalty="logsum", nlambda=10, solver="bcd"),
    lambda: ncvpath(thin, y, penalty="capped", nlambda=10, alpha=0.5),
    lambda: ncvpath(X, y, nlambda=5, solver="mm-cd", record=True).trace,
    lambda: ncvpath(large, response, nlambda=5, n_threads=2),
    lambda: cv_ncvpath(X, y, nfolds=3, nlambda=10),
]

def held():
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return np.array([
        pages * os.sysconf("SC_PAGESIZE"), threading.active_count(),
        len(os.listdir("/proc/self/fd")), len(os.listdir(tempfile.gettempdir())),
    ])

warm, more = map(int, sys.argv[1:])
for k in range(warm + more):
    tasks[k % len(tasks)]()
    if k == warm - 1:
        before = held()
print(*(held() - before))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_fits_in_a_row_leave_nothing_behind(tmp_path):
    warm, more = (200, 1000) if LONG else (40, 120)
    done = subprocess.run(
        [sys.executable, "-c", MANY_FITS, str(warm), str(more)],
        cwd=TESTS, env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr
    grown, threads, files, temporary = map(int, done.stdout.split())
    # One X of 72 kB kept by every other fit would be more.
    assert grown < more * 36_000
    assert (threads, files, temporary) == (0, 0, 0)


# ---- subscripts beyond 2^31 ---------------------------------------------------

N, FEW = 4099, 12


def operations(matrix, features, center, scale):
    """All that a matrix does with some of its columns."""
    rng = np.random.default_rng(1)
    n, size = N, features.size
    weights = rng.dirichlet(np.ones(n))
    vectors = rng.standard_normal((2, n))
    beta, order = np.arange(1.0, 2 * size + 1).reshape(2, size), np.arange(size)
    r = Coordinates(
        order, order.copy(), np.full(size, 0.001), np.full(size, 2.0), np.zeros(size),
        np.zeros(size),
    )
    out = {
        "correlate": matrix.correlate(vectors, features, center, scale),
        "gram": matrix.gram(features, features[:3], weights, center, scale),
        "columns": matrix.columns(features, center, scale),
        "combine": matrix.combine(features, beta, center, scale),
        "beta": r.beta,
        "residual": vectors[1].copy(),
    }
    matrix.descend(
        features, center, scale, weights, shaped(PENALTIES["mcp"], 3.0, 1.0), r,
        np.zeros(size), out["residual"], ResidualSweeps(1e-9, 5, True),
    )
    assert out["beta"].any() and (out["residual"] != vectors[1]).any()
    return out


def test_dense_columns_beyond_2_to_the_31():
    p = BEYOND // N + FEW + 1
    try:
        X = np.zeros((N, p), dtype=np.int8, order="F")  # pages come when written to
    except MemoryError:
        pytest.skip("no 2 GB of address space")
    last = np.arange(p - FEW, p)
    assert int(last[0]) * N > BEYOND
    X[:, last] = np.random.default_rng(0).integers(-9, 10, (N, FEW))
    center, scale = np.zeros(p), np.ones(p)
    center[last], scale[last] = np.linspace(-1, 1, FEW), np.linspace(1, 2, FEW)
    far, near = dense_matrix(X, ThreadPool(2)), dense_matrix(X[:, last], ThreadPool(2))
    found = operations(far, last, center, scale)
    wanted = operations(near, np.arange(FEW), center[last], scale[last])
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    beta, rows = np.arange(1.0, FEW + 1), np.arange(0, N, 7)
    wanted = X[np.ix_(rows, last)] @ beta
    np.testing.assert_array_equal(far.predict(rows, last, beta), wanted)
    weights = np.full(N, 1 / N)
    figures, expected = np.empty((2, FEW)), near.measure(weights, True)
    kernels.measure_columns(far.flat, int(last[0]), weights, True, *figures)
    np.testing.assert_array_equal(figures, expected)
    shorter = [array.copy() for array in expected]
    left = weights, rows, 1 - weights[rows].sum(), True
    kernels.leave_out(far.flat, int(last[0]), *left, *figures)
    kernels.leave_out(near.flat, 0, *left, *shorter)
    assert np.isfinite(shorter).all()
    np.testing.assert_array_equal(figures[:2], shorter)


def test_sparse_entries_beyond_2_to_the_31():
    rng = np.random.default_rng(0)
    numbers, there = rng.integers(-9, 10, (N, FEW)), rng.random((N, FEW)) < 0.1
    near = sparse.csc_array(numbers * there)
    near.sort_indices()
    # Short numbers, so that untouched pages are all that the entries before these take.
    try:
        data = np.zeros(BEYOND + near.nnz, dtype=np.int8)
        indices = np.zeros(BEYOND + near.nnz, dtype=np.int16)
    except MemoryError:
        pytest.skip("no 6 GB of address space")
    data[BEYOND:], indices[BEYOND:] = near.data, near.indices
    indptr = near.indptr.astype(np.int64)
    near = SparseColumns(data[BEYOND:], indices[BEYOND:], indptr, (N, FEW))
    far = SparseColumns(data, indices, indptr + BEYOND, (N, FEW))
    features = np.arange(FEW)
    center, scale = np.linspace(-1, 1, FEW), np.linspace(1, 2, FEW)
    near, far = sparse_matrix(near, ThreadPool(2)), sparse_matrix(far, ThreadPool(2))
    found = operations(far, features, center, scale)
    for name, values in operations(near, features, center, scale).items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    weights = np.full(N, 1 / N)
    for one, other in zip(far.measure(weights, True), near.measure(weights, True)):
        np.testing.assert_array_equal(one, other)


@long_only
def test_a_fit_and_its_folds_beyond_2_to_the_31():
    n, p, used = 50_000, 43_000, 60
    rng = np.random.default_rng(0)
    X = np.zeros((n, p), dtype=np.int8, order="F")
    assert X.size > BEYOND
    X[:, -used:] = rng.integers(-9, 10, (n, used))
    y = X[:, -5:] @ np.arange(1.0, 6) + 10 * rng.standard_normal(n)
    small = X[:, -used:].astype(float, order="F")
    for solver in ("cd", "bcd"):
        path = ncvpath(X, y, nlambda=10, tol=1e-9, solver=solver)
        other = ncvpath(small, y, nlambda=10, tol=1e-9)
        assert path.converged.all() and len(path.constant) == p - used
        np.testing.assert_allclose(
            path.beta[-used:].toarray(), other.beta.toarray(), atol=1e-7
        )
    np.testing.assert_allclose(
        path.predict(X, which=9), y - path.residuals(which=9), atol=1e-9
    )
    folds = dict(nfolds=3, nlambda=5, random_state=0, tol=1e-9)
    np.testing.assert_allclose(
        cv_ncvpath(X, y, **folds).cve, cv_ncvpath(small, y, **folds).cve, rtol=1e-6
    )


# ---- large and small ----------------------------------------------------------


def sparse_draw(n, p, each):
    """Columns of `each` entries, drawn without looking at n x p cells."""
    rng = np.random.default_rng(0)
    step = n // each
    rows = rng.integers(0, step, (p, each)) + step * np.arange(each)
    X = sparse.csc_array(
        (rng.standard_normal(p * each), rows.ravel(), np.arange(0, p * each + 1, each)),
        shape=(n, p),
    )
    return X, 3 * X[:, ::p // 4].sum(axis=1) + 0.1 * rng.standard_normal(n)


def test_a_million_sparse_features(tmp_path):
    X, y = sparse_draw(500, 1_000_000, 3)
    path = ncvpath(X, y, nlambda=12, lambda_min_ratio=0.3)
    assert path.converged.all() and path.df[-1] >= 3
    table = path.to_frame()
    assert table.shape == (1_000_001, 12)
    assert table.memory_usage(index=False).sum() < 100_000
    assert len(path.to_frame("long")) == path.df.sum() + 12
    np.testing.assert_allclose(
        path.coef(which=11).to_numpy()[1:][path.beta[:, [11]].indices],
        path.beta[:, [11]].data,
    )
    path.plot().figure.savefig(tmp_path / "path.png")
    path.save(tmp_path / "path.npz")
    again = NcvPath.load(tmp_path / "path.npz")
    assert again.feature_names == path.feature_names
    np.testing.assert_array_equal(again.predict(X), path.predict(X))


def test_a_million_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 1_000_000)).T
    y = X @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.standard_normal(1_000_000)
    path = ncvpath(X, y, nlambda=20)
    assert path.converged.all()
    last = path.coef(which=19).to_numpy()
    np.testing.assert_allclose(last[1:4], [1, -1, 0.5], atol=0.01)


@pytest.mark.parametrize("penalty", [row.name for row in PENALTIES.values()])
def test_a_thousand_lambdas(wide, penalty):
    X, y = wide
    path = ncvpath(X, y, penalty=penalty, nlambda=1000, lambda_min_ratio=0.1)
    assert path.lambdas.size == 1000 and path.converged.all()
    assert path.coef().shape == (121, 1000) and len(path.status) == 1000
    coarse = ncvpath(X, y, penalty="lasso", lambdas=path.lambdas[::111])
    if penalty == "lasso":  # the others may be in another valley
        np.testing.assert_allclose(
            path.beta[:, ::111].toarray(), coarse.beta.toarray(), atol=1e-4
        )


def test_one_lambda_is_the_null_model(wide, tmp_path):
    X, y = wide
    path = ncvpath(X, y, nlambda=1)
    assert path.lambdas.size == 1 and path.df.tolist() == [0]
    assert path.intercept[0] == pytest.approx(y.mean())
    path.save(tmp_path / "path.npz")
    assert repr(NcvPath.load(tmp_path / "path.npz")) == repr(path)
    cv = cv_ncvpath(X, y, nlambda=1, nfolds=4, random_state=0)
    assert cv.lambda_min == cv.lambda_1se == path.lambdas[0]
    assert "4 folds, 1 lambda\n" in repr(cv)
    for one in (path, cv):  # nothing to draw a line through
        with pytest.raises(ValueError, match="at least 2 lambdas; got 1"):
            one.plot()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array, np.float32])
@pytest.mark.parametrize("penalty", [row.name for row in PENALTIES.values()])
def test_two_rows_and_one_column(kind, penalty):
    X, y = np.array([[0.0], [2.0]]), np.array([1.0, 5.0])
    path = ncvpath(kind(X), y, penalty=penalty, nlambda=5)
    assert path.converged.all()
    assert ((0 <= path.beta.toarray()) & (path.beta.toarray() <= 2 + 1e-12)).all()
    np.testing.assert_allclose(
        path.predict(kind(X), which=4).mean(), 3.0, rtol=1e-12
    )


def test_one_row_with_an_intercept_has_nothing_to_explain():
    with pytest.raises(ValueError, match="y must vary when intercept=True; got .*y=3"):
        ncvpath([[1.0, 2.0]], [3.0])


def test_one_row_without_an_intercept_is_a_fit():
    path = ncvpath([[1.0, 2.0]], [3.0], intercept=False, standardize=False, nlambda=9)
    assert path.converged.all() and path.df[-1] == 1
    with pytest.raises(ValueError, match="nfolds"):
        path.cross_validate()


def test_a_long_name_is_kept_and_does_not_flood(tmp_path):
    X, y = draw(20, 30)
    names = ["a" * 100_000, *(f"x{j}" for j in range(1, 30))]
    path = ncvpath(X, y, nlambda=20, feature_names=names)
    assert names[0] in path.selected(which=19)
    assert len(repr(path)) < 5000
    axes = path.plot()
    assert max(len(text.get_text()) for text in axes.texts) < 200
    path.save(tmp_path / "path.npz")
    assert NcvPath.load(tmp_path / "path.npz").feature_names == tuple(names)
