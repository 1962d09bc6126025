"""X on disk: read by blocks, never as a whole, and the same path as in memory."""

import mmap
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import oracle
import pytest
from conftest import draw

from ncvpath import cv_ncvpath, matrices, ncvpath
from ncvpath.inputs.checks import matrix
from ncvpath.matrices import columns, out_of_core
from ncvpath.matrices.columns import Columns
from ncvpath.matrices.design import make_design
from ncvpath.matrices.out_of_core import OutOfCoreMatrix
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import ThreadPool


class Slices:
    """An array on disk, as h5py and zarr have them; notes what is read."""

    def __init__(self, values):
        self._values = np.array(values, order="C")
        self.shape, self.dtype = self._values.shape, self._values.dtype
        self.read = []

    def __getitem__(self, key):
        rows, wanted = key
        assert rows == slice(None) and wanted.step is None
        assert 0 <= wanted.start < wanted.stop <= self.shape[1]
        self.read.append((wanted.start, wanted.stop))
        return self._values[key]


def genotypes(n, p, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.binomial(2, rng.uniform(0.1, 0.5, p), (n, p)).astype(np.int8)
    return X, X[:, :4] @ np.array([1.0, -1, 2, 1]) + rng.standard_normal(n)


def mapped(folder, X, order):
    """The array in a file, read-only."""
    file = folder / f"X-{order}-{X.dtype}"
    written = np.memmap(file, X.dtype, "w+", shape=X.shape, order=order)
    written[:] = X
    written.flush()
    return np.memmap(file, X.dtype, "r", shape=X.shape, order=order)


@pytest.fixture
def in_blocks(monkeypatch):
    """Blocks of a few columns, even of a small X."""
    monkeypatch.setattr(matrices, "SMALL", 0)
    monkeypatch.setattr(columns, "BLOCK", 4000)
    monkeypatch.setattr(columns, "NEAR", 400)
    monkeypatch.setattr(columns, "NEAR_IN_ROW", 16)
    monkeypatch.setattr(columns, "TURNED", 16)


# Bytes of columns at hand: all that work, some of them, none.
BUDGETS = {"all": 1 << 20, "some": 6000, "none": 0}


@pytest.fixture(params=BUDGETS)
def cache(request, monkeypatch, in_blocks):
    monkeypatch.setattr(out_of_core, "KEPT", BUDGETS[request.param])
    monkeypatch.setattr(out_of_core, "STANDARDIZED", 1000)
    return request.param


FORMS = {
    "slices of float64": lambda X, folder: Slices(X),
    "slices of float32": lambda X, folder: Slices(X.astype(np.float32)),
    "slices of float16": lambda X, folder: Slices(X.astype(np.float16)),
    "big-endian slices": lambda X, folder: Slices(X.astype(">f8")),
    "mapped by rows": lambda X, folder: mapped(folder, X, "C"),
    "mapped float32 by rows": lambda X, folder: mapped(
        folder, X.astype(np.float32), "C"
    ),
    "mapped by columns": lambda X, folder: mapped(folder, X, "F"),
    "mapped int64": lambda X, folder: mapped(folder, (4 * X).astype(int), "F"),
    "every second row": lambda X, folder: mapped(
        folder, np.repeat(X, 2, axis=0), "F"
    )[::2],
    "int8": lambda X, folder: Slices(np.clip(40 * X, -128, 127).astype(np.int8)),
    "int16": lambda X, folder: Slices((9000 * X).astype(np.int16)),
    "bool": lambda X, folder: Slices(X > 0),
}


def values(X):
    return np.asarray(X._values if isinstance(X, Slices) else X)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("intercept", [True, False])
def test_operations_are_those_of_exact_numbers(cache, tmp_path, form, intercept):
    X = FORMS[form](draw(60, 45, seed=3)[0].round(2), tmp_path)
    w = np.random.default_rng(2).uniform(0.5, 2, 60)
    w /= w.sum()
    opened = matrices.open_matrix(matrix("X", X), ThreadPool(2))
    assert isinstance(opened, OutOfCoreMatrix) or form == "mapped by columns"
    made = make_design(opened, w, intercept, True)
    long, wl = values(X).astype(np.longdouble), w.astype(np.longdouble)
    Z = long - (wl @ long if intercept else 0)
    Z /= np.sqrt(wl @ Z**2)
    R, B = np.random.default_rng(3).standard_normal((2, 2, 60))
    few, some = np.array([17, 3]), np.r_[40, 3, np.arange(10, 30), 9]
    close = dict(rtol=1e-11, atol=1e-11)
    for features in (few, some, np.arange(45), few):
        part, b = Z[:, features], np.ascontiguousarray(B[:, : features.size])
        gram = part.T @ (wl[:, None] * Z[:, some])
        np.testing.assert_allclose(
            made.gram(features, some), np.float64(gram), **close
        )
        np.testing.assert_allclose(
            made.correlate(R, features), np.float64((wl * R) @ part), **close
        )
        np.testing.assert_allclose(made.columns(features), np.float64(part), **close)
        np.testing.assert_allclose(
            made.combine(features, b), np.float64(b @ part.T), **close
        )
        rows = np.array([5, 59, 0])
        raw = long[np.ix_(rows, features)]
        np.testing.assert_allclose(
            opened.predict(rows, features, b.T), np.float64(raw @ b.T), rtol=1e-9,
            atol=1e-9 * float(np.abs(raw).max()),
        )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("form", ["slices of float64", "mapped by rows"])
def test_the_path_is_that_of_memory(cache, tmp_path, row, form):
    X, y = draw(50, 90, seed=5)
    options = dict(
        penalty=row.name, nlambda=12, lambda_min_ratio=0.4, tol=1e-10,
        weights=np.random.default_rng(1).uniform(0.2, 2, 50),
        penalty_factor=np.r_[0.0, 2.0, np.inf, np.ones(87)], n_threads=2,
    )
    stored = FORMS[form](X, tmp_path)
    path, same = ncvpath(stored, y, **options), ncvpath(X, y, **options)
    assert path.converged.all() and path.X is stored
    close = dict(rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(path.beta.toarray(), same.beta.toarray(), **close)
    np.testing.assert_allclose(path.predict(stored), same.predict(X), **close)
    np.testing.assert_allclose(path.residuals(which=3), same.residuals(which=3),
                               **close)
    assert "round_trips" not in path.screening
    again = pickle.loads(pickle.dumps(path))
    assert again.X is None and (again.lambdas == path.lambdas).all()


@pytest.mark.parametrize("switches", [
    dict(intercept=False), dict(standardize=False), dict(penalty="lasso", alpha=0.5),
    dict(penalty="lasso", working_set="full"),
])
def test_fermats_conditions_hold(cache, switches):
    X, y = genotypes(40, 60)
    path = ncvpath(Slices(X), y, nlambda=10, lambda_min_ratio=0.2, tol=1e-8, **switches)
    switches = {k: v for k, v in switches.items() if k != "working_set"}
    problem = oracle.Problem(X, y, **{"penalty": "MCP"} | switches)
    assert path.converged.all()
    assert problem.violations(path).max() <= 1.1e-8


def test_residual_updates_reach_the_solution_block_by_block(cache):
    """More columns than the Gram matrix serves."""
    X, y = draw(20, 1100, seed=9)
    options = dict(penalty="lasso", nlambda=4, lambda_min_ratio=0.5,
                   working_set="full", tol=1e-8)
    path = ncvpath(Slices(X), y, **options)
    assert path.converged.all()
    np.testing.assert_allclose(
        path.beta.toarray(), ncvpath(X, y, **options).beta.toarray(), atol=1e-6
    )


def test_reading_is_sequential_and_in_blocks(in_blocks):
    X, y = draw(50, 400, seed=6)
    stored = Slices(X)
    ncvpath(stored, y, nlambda=10)
    width = columns.BLOCK // (50 * 8)
    assert max(last - first for first, last in stored.read) <= width
    whole = [(left, left + width) for left in range(0, 400, width)]
    # The door, centre and scale, the null model: one pass each.
    assert stored.read[: 3 * len(whole)] == 3 * whole


def test_few_columns_are_read_with_their_neighbours_alone():
    stored = Slices(np.arange(3000.0).reshape(3, 1000))
    source = Columns(stored)
    source.gap, source.width = 2, 100
    wanted = np.array([5, 6, 8, 20, 98, 99, 100, 101, 500])
    found = source.fetch(wanted, ThreadPool(2))
    np.testing.assert_array_equal(found, stored._values[:, wanted])
    assert stored.read == [(5, 9), (20, 21), (98, 100), (100, 102), (500, 501)]


def test_blocks_keep_to_the_chunks_of_the_file():
    stored = Slices(np.zeros((1000, 100)))
    stored.chunks = (10, 7)
    source = Columns(stored)
    assert source.width % 7 == 0 and source.gap >= 7
    stored.chunks = (1, 100_000_000)
    assert Columns(stored).width == columns.BLOCK // 8000


def test_working_columns_are_read_once(in_blocks):
    X, y = draw(50, 400, seed=6)
    stored = Slices(X)
    matrix = OutOfCoreMatrix(Columns(stored), ThreadPool(1))
    some, w = np.array([3, 200, 7]), np.full(50, 0.02)
    center, scale = np.zeros(400), np.ones(400)
    matrix.gram(some, some, w, center, scale)
    before = len(stored.read)
    matrix.gram(some[:2], some, w, center, scale)
    matrix.combine(some, np.ones((2, 3)), center, scale)
    matrix.correlate(w[None], some, center, scale)
    assert len(stored.read) == before


def test_large_whole_numbers_do_not_overflow(in_blocks):
    X = np.full((300, 40), 127, dtype=np.int8)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = -128
    y = X[:, 0] + np.random.default_rng(2).standard_normal(300)
    path = ncvpath(Slices(X), y, nlambda=5, intercept=False, standardize=False)
    same = ncvpath(X.astype(float), y, nlambda=5, intercept=False, standardize=False)
    np.testing.assert_allclose(path.beta.toarray(), same.beta.toarray(), atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("form", [Slices, None], ids=["slices", "mapped"])
def test_the_first_column_that_is_not_finite_is_named(in_blocks, tmp_path, order, form):
    X, y = draw(30, 70)
    X[3, 65], X[4, 66] = np.nan, np.inf
    X = form(X) if form else mapped(tmp_path, X, order)
    with pytest.raises(ValueError, match=r"column number 65 \(from 0\) contains nan"):
        ncvpath(X, y)


@pytest.mark.parametrize("form", ["slices of float64", "mapped by rows",
                                  "mapped by columns", "slices of float32"])
def test_predictions_look_at_columns_in_use_only(in_blocks, tmp_path, form):
    X, y = draw(30, 70)
    path = ncvpath(X, y, lambda_min_ratio=0.7)
    unused = np.setdiff1d(np.arange(70), path.beta.indices)
    X[:, unused] = np.nan
    assert np.isfinite(path.predict(FORMS[form](X, tmp_path))).all()
    X[2, path.beta.indices[0]] = np.nan
    with pytest.raises(ValueError, match="X must be finite; column number"):
        path.predict(FORMS[form](X, tmp_path))
    with pytest.raises(ValueError, match="X must have 70 columns; got 3"):
        path.predict(Slices(np.zeros((30, 3))))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [0, 64, 5000])
def test_a_file_that_was_cut_is_an_error(tmp_path, order, offset):
    X, y = draw(300, 70)
    file = tmp_path / "X"
    X = np.memmap(file, float, "w+", offset, X.shape, order)
    X[:] = draw(300, 70)[0]
    X.flush()
    mapped = np.memmap(file, float, "r", offset, X.shape, order)
    ncvpath(mapped, y, nlambda=2)
    os.truncate(file, offset + X.nbytes - 9)
    for view in (mapped, np.asarray(mapped), mapped[::-1]):
        with pytest.raises(ValueError, match="9 bytes of it are beyond the end"):
            ncvpath(view, y)
    # What is left may be used.
    left = mapped[:250] if order == "C" else mapped[:, :60]
    ncvpath(left, y[: len(left)], nlambda=2)


@pytest.mark.parametrize("X, message", [
    (Slices(np.zeros((3, 2), dtype=complex)), "real numbers; got dtype complex128"),
    (Slices(np.array([["a", "b"]])), "real numbers; got dtype"),
    (Slices(np.zeros((3, 0))), r"a row and a column at least; got shape \(3, 0\)"),
])
def test_what_cannot_be_used_is_refused(X, message):
    X.__class__.__array__ = lambda self, dtype=None, copy=None: self._values
    with pytest.raises(ValueError, match=f"X must (be|have) {message}"):
        ncvpath(X, [1.0, 2.0, 4.0][: X.shape[0]])


def test_slices_of_another_shape_are_refused():
    X, y = draw(30, 70)
    stored = Slices(X)
    stored.shape = (30, 80)
    stored._values = X
    with pytest.raises(ValueError, match=r"must have shape \(30, 80\); got \(30, 70\)"):
        ncvpath(stored, y)


@pytest.mark.parametrize("form", ["slices of float64", "mapped by rows", "int8"])
def test_cross_validation_reads_from_disk(in_blocks, tmp_path, form):
    X, y = draw(40, 30, seed=7)
    stored = FORMS[form](X, tmp_path)
    options = dict(nfolds=4, random_state=1, nlambda=10, lambda_min_ratio=0.2,
                   tol=1e-9)
    cv = cv_ncvpath(stored, y, **options)
    same = cv_ncvpath(values(stored).astype(float), y, **options)
    np.testing.assert_allclose(cv.cve, same.cve, rtol=1e-7)
    np.testing.assert_allclose(
        cv.fit.cross_validate(nfolds=4, random_state=1).cve, same.cve, rtol=1e-7
    )


def test_processes_read_from_a_file_of_their_own(in_blocks):
    X, y = genotypes(40, 30)
    options = dict(nfolds=3, random_state=1, nlambda=5)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as executor:
        cv = cv_ncvpath(Slices(X), y, executor=executor, **options)
    np.testing.assert_allclose(cv.cve, cv_ncvpath(X, y, **options).cve, rtol=1e-6)


def test_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(columns, "BLOCK", 1 << 20)
    X, y = genotypes(500, 6000)
    one, two = (
        ncvpath(Slices(X), y, nlambda=15, lambda_min_ratio=0.3, n_threads=k)
        for k in (1, 2)
    )
    np.testing.assert_array_equal(one.beta.toarray(), two.beta.toarray())
    np.testing.assert_array_equal(one.violation, two.violation)


def test_a_small_matrix_is_read_at_once():
    X, y = draw(30, 10)
    stored = Slices(X)
    path = ncvpath(stored, y, nlambda=5)
    np.testing.assert_array_equal(path.beta.toarray(),
                                  ncvpath(X, y, nlambda=5).beta.toarray())


def test_hdf5(in_blocks, tmp_path):
    h5py = pytest.importorskip("h5py", reason="needs h5py")
    X, y = genotypes(40, 60)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        chunked = file.create_dataset("chunked", data=X, chunks=(10, 7))
        plain = file.create_dataset("plain", data=X.astype(np.float32))
        same = ncvpath(X.astype(float), y, nlambda=10, tol=1e-10)
        for stored in (chunked, plain):
            path = ncvpath(stored, y, nlambda=10, tol=1e-10)
            np.testing.assert_allclose(
                path.beta.toarray(), same.beta.toarray(), rtol=1e-8, atol=1e-8
            )
            np.testing.assert_allclose(path.predict(stored), same.predict(X))


def test_zarr(in_blocks, tmp_path):
    zarr = pytest.importorskip("zarr", reason="needs zarr")
    X, y = genotypes(40, 60)
    stored = zarr.open_array(
        tmp_path / "X.zarr", mode="w", shape=X.shape, chunks=(40, 8), dtype="i1"
    )
    stored[:] = X
    path = ncvpath(stored, y, nlambda=10, tol=1e-10)
    same = ncvpath(X.astype(float), y, nlambda=10, tol=1e-10)
    np.testing.assert_allclose(
        path.beta.toarray(), same.beta.toarray(), rtol=1e-8, atol=1e-8
    )


def test_masked_blocks_are_refused():
    class Masked:
        values = np.ma.masked_greater(np.linspace(-1, 1, 800).reshape(40, 20), 0.9)
        shape, dtype = values.shape, values.dtype

        def __getitem__(self, key):
            return self.values[key]

    with pytest.raises(ValueError, match="masked"):
        ncvpath(Masked(), np.arange(40.0))


def test_memory_mapped_from_nowhere_is_memory():
    pages = mmap.mmap(-1, 40 * 5 * 8)
    X = np.frombuffer(pages).reshape(40, 5)
    X[:] = np.random.default_rng(0).standard_normal((40, 5))
    assert ncvpath(X, X[:, 0] + np.arange(40.0)).converged.all()


@pytest.mark.parametrize("settings", [{}, {"rescale": False, "solver": "bcd"}])
@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_other_losses_sweep_over_blocks_of_columns(cache, family, settings):
    X, y = draw(90, 40, seed=5, nonzero=5)
    y = (y > 0) * 1.0 if family == "binomial" else np.floor(np.exp(y / y.std()))
    settings = dict(
        family=family, lambda_min_ratio=0.2, nlambda=12, tol=1e-9, **settings
    )
    path, dense = ncvpath(Slices(X), y, **settings), ncvpath(X, y, **settings)
    assert path.converged.all() and dense.converged.all()
    beta = dense.beta.toarray()
    np.testing.assert_allclose(path.beta.toarray(), beta, atol=1e-6 * abs(beta).max())
