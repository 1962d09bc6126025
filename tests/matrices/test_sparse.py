"""Sparse X: the operations, the same path as dense, and what the door lets in."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from conftest import TESTS
from fitting import fit
from oracle import Problem
from scipy import sparse

from ncvpath import cv_ncvpath, lambda_max, ncvpath
from ncvpath.inputs.checks import matrix
from ncvpath.matrices import sparse as room
from ncvpath.matrices.design import make_design
from ncvpath.matrices.sparse import SparseColumns
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import ThreadPool
from ncvpath.solver import gram as gram_room

N, P = 90, 60
FORMATS = ("csc", "csr", "coo", "lil", "dok", "bsr", "dia")
every_penalty = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def draw_sparse(n=N, p=P, seed=0, density=0.15):
    """Counts and halves, an empty, a nearly full and a full column; and a response."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(3, (n, p)) / 2 * (rng.random((n, p)) < density)
    X[:, 5] = 0.0
    X[:, 6] = rng.standard_normal(n) + 4
    X[3, 6] = 0.0
    X[:, 7] = rng.standard_normal(n) + 20
    y = 2 + X[:, :4] @ [1.0, -1.0, 0.5, 2.0] + X[:, 7] + 0.5 * rng.standard_normal(n)
    return sparse.csc_array(X), X, y


def weights_with_zeros(n=N):
    weights = np.random.default_rng(4).uniform(0.5, 2, n)
    weights[[0, 3, n // 2]] = 0
    return weights


@pytest.fixture
def small_pieces(monkeypatch):
    """Several pieces even here, and results of products in chunks."""
    monkeypatch.setattr(room, "PIECE", 40)
    monkeypatch.setattr(room, "ALONE", 40)
    monkeypatch.setattr(room, "RESULTS", 16)


@pytest.fixture
def never_dense(monkeypatch):
    """An error where a matrix with the rows of X is filled in."""
    for kind in {type(sparse.csc_array((1, 1)).asformat(f)) for f in FORMATS} | {
        type(sparse.csc_matrix((1, 1)).asformat(f)) for f in FORMATS
    }:
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, watched(getattr(kind, name)))


def watched(fill):
    def fill_unless_x(self, *arguments, **keywords):
        assert self.shape[0] != N, "X was filled in"
        return fill(self, *arguments, **keywords)

    return fill_unless_x


# ---- operations ----------------------------------------------------------------------


def pair(X, dense, weights, intercept, standardize):
    """A design of sparse columns and what it stands for, in extended precision."""
    w = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    stored = room.sparse_matrix(matrix("X", X), ThreadPool(2))
    made = make_design(stored, w, intercept, standardize)
    long, wl = dense.astype(np.longdouble), w.astype(np.longdouble)
    wl = wl / wl.sum()
    Z = long - (wl @ long if intercept else 0)
    if standardize:
        scale = np.sqrt(wl @ Z**2)
        Z = Z / np.where(scale > 0, scale, 1)
    return made, Z, wl


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_operations_are_those_of_the_standardized_matrix(
    weighted, intercept, standardize, small_pieces
):
    X, dense, _ = draw_sparse()
    dense = dense.copy()
    dense[:, 7] += 1e4  # stored in full: centred entry by entry
    X = sparse.csc_array(dense)
    weights = weights_with_zeros() if weighted else None
    made, Z, w = pair(X, dense, weights, intercept, standardize)
    rng = np.random.default_rng(3)
    R, B = rng.standard_normal((3, N)), rng.standard_normal((2, 5))
    some, others = np.array([3, 7, 6, 5, 9]), np.array([0, 9, 7, 6])
    size = np.sqrt((w @ Z**2).astype(float))
    size[5] = 1.0
    close = dict(rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(made.norm2, size**2, **close)
    np.testing.assert_allclose(
        made.correlate(R) / size, ((w * R) @ Z / size).astype(float), **close
    )
    # One residual alone, and some features alone, have the same bits.
    np.testing.assert_array_equal(made.correlate(R[1:2])[0], made.correlate(R)[1])
    np.testing.assert_array_equal(made.correlate(R, some), made.correlate(R)[:, some])
    gram = (Z[:, some].T @ (w[:, None] * Z[:, others])).astype(float)
    lengths = np.outer(size[some], size[others])
    np.testing.assert_allclose(
        made.gram(some, others) / lengths, gram / lengths, **close
    )
    expected = (B / size[some] @ Z[:, some].T).astype(float)
    expected[:, made.weights == 0] = 0.0
    np.testing.assert_allclose(made.combine(some, B / size[some]), expected, **close)
    np.testing.assert_allclose(
        made.columns(some) / size[some], (Z[:, some] / size[some]).astype(float),
        rtol=1e-9, atol=1e-9,
    )
    rows = np.array([4, 0, 17])
    np.testing.assert_allclose(
        made.matrix.predict(rows, some, B.T), dense[np.ix_(rows, some)] @ B.T,
        rtol=1e-12,
    )


def test_descent_with_residual_updates_reaches_the_answer_of_the_gram_matrix(
    monkeypatch
):
    X, dense, y = draw_sparse()
    keywords = dict(
        penalty="lasso", nlambda=10, tol=1e-10, weights=weights_with_zeros()
    )
    by_gram = ncvpath(X, y, **keywords)
    monkeypatch.setattr(gram_room, "LARGEST_SET", 0)
    by_residual = ncvpath(X, y, **keywords)
    assert by_residual.converged.all()
    assert by_residual.screening["newton_steps"].sum() == 0
    np.testing.assert_allclose(
        by_residual.beta.toarray(), by_gram.beta.toarray(), atol=1e-8
    )
    np.testing.assert_allclose(by_residual.intercept, by_gram.intercept, atol=1e-8)


def test_columns_without_variation_are_listed():
    X, dense, y = draw_sparse()
    dense = dense.copy()
    dense[:, 8] = 3.0
    path = ncvpath(sparse.csc_array(dense), y, nlambda=5)
    assert path.constant == ("x6", "x9")
    assert not path.beta[[5, 8]].nnz
    path = ncvpath(sparse.csc_array(dense), y, nlambda=5, intercept=False)
    assert path.constant == ("x6",)


def test_a_column_of_zeros_among_rows_that_count_is_constant():
    X, dense, y = draw_sparse()
    dense, weights = dense.copy(), weights_with_zeros()
    dense[:, 9] = 0.0
    dense[0, 9] = 5.0  # in a row of weight zero
    path = ncvpath(sparse.csc_array(dense), y, nlambda=5, weights=weights)
    assert path.constant == ("x6", "x10")


# ---- the same path -------------------------------------------------------------------

SETTINGS = {
    "plain": {},
    "weights": dict(weights=weights_with_zeros()),
    "factors": dict(penalty_factor=np.r_[0, np.inf, np.tile([0.5, 1, 2], 20)[:58]]),
    "no intercept": dict(intercept=False),
    "raw": dict(standardize=False),
    "ridge": dict(alpha=0.5),
}


@every_penalty
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_path_is_that_of_the_dense_matrix(row, settings):
    X, dense, y = draw_sparse()
    keywords = dict(
        penalty=row.name, nlambda=12, lambda_min_ratio=0.2, tol=1e-10
    ) | settings
    path, other = ncvpath(X, y, **keywords), ncvpath(dense, y, **keywords)
    assert path.converged.all()
    np.testing.assert_allclose(path.lambdas, other.lambdas, rtol=1e-12)
    np.testing.assert_allclose(path.beta.toarray(), other.beta.toarray(), atol=1e-8)
    np.testing.assert_allclose(path.intercept, other.intercept, atol=1e-7)
    np.testing.assert_allclose(path.loss, other.loss, rtol=1e-8)
    assert path.convex_min == other.convex_min
    oracle = Problem(dense, y, **{"penalty": row.name} | settings)
    assert oracle.violations(path).max() <= 1.1e-10


@every_penalty
def test_certificates_hold_on_sparse_columns(row):
    # Columns that are long enough for an estimate to be worth its while.
    X, dense, y = draw_sparse(2000, 900, seed=2, density=0.02)
    path = fit(X, y, penalty=row.name, nlambda=40, tol=1e-7)
    assert path.converged.all() and path.screening["certified"].sum() > 0
    assert Problem(dense, y, penalty=row.name).violations(path).max() <= 1.1e-7


def test_other_answers_are_those_of_the_dense_matrix(never_dense):
    X, dense, y = draw_sparse()
    path, other = ncvpath(X, y, nlambda=20), ncvpath(dense, y, nlambda=20)
    close = dict(atol=1e-6)
    np.testing.assert_allclose(path.predict(X), other.predict(dense), **close)
    np.testing.assert_allclose(path.predict(X.tocsr(), which=3),
                               other.predict(dense, which=3), **close)
    np.testing.assert_allclose(path.predict(dense[:5]), other.predict(dense[:5]),
                               **close)
    np.testing.assert_allclose(path.residuals(), other.residuals(), **close)
    assert list(path.selected().values()) == list(other.selected().values())
    assert lambda_max(X, y) == pytest.approx(lambda_max(dense, y))
    with pytest.raises(ValueError, match="X must have 60 columns; got 59"):
        path.predict(X[:, 1:])
    np.testing.assert_allclose(ncvpath(X, y, nlambda=1).predict(X), y.mean())


@pytest.mark.parametrize("settings", [{}, {"weights": weights_with_zeros()}])
def test_cross_validation_is_that_of_the_dense_matrix(settings, never_dense):
    X, dense, y = draw_sparse()
    keywords = dict(nlambda=15, random_state=1, keep=True, tol=1e-9) | settings
    cv, other = cv_ncvpath(X, y, **keywords), cv_ncvpath(dense, y, **keywords)
    np.testing.assert_allclose(cv.cve, other.cve, rtol=1e-6)
    np.testing.assert_allclose(cv.predictions, other.predictions, atol=1e-5)
    again = ncvpath(X, y, nlambda=15, tol=1e-9, **settings).cross_validate(
        folds=cv.folds
    )
    np.testing.assert_allclose(again.cve, cv.cve, rtol=1e-6)


def test_sparse_columns_travel_to_other_processes():
    X, _, y = draw_sparse()
    here = cv_ncvpath(X, y, nlambda=8, nfolds=3, random_state=1)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        there = cv_ncvpath(
            X, y, nlambda=8, nfolds=3, random_state=1, executor=executor
        )
    np.testing.assert_array_equal(there.cve, here.cve)


# ---- what comes in -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("family", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_columns(form, family, never_dense):
    X, _, y = draw_sparse()
    given = getattr(sparse, f"csc_{family}")(X).asformat(form)
    assert given.format == form
    expected, columns = matrix("X", X), matrix("X", given)
    for ours, theirs in zip(columns.arrays, expected.arrays):
        assert ours.dtype == theirs.dtype
        if form != "bsr":  # which stores zeros
            np.testing.assert_array_equal(ours, theirs)
    path, other = ncvpath(given, y, nlambda=8), ncvpath(X, y, nlambda=8)
    np.testing.assert_allclose(path.beta.toarray(), other.beta.toarray(), atol=1e-9)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32])
def test_other_numbers_are_converted(dtype):
    X, dense, y = draw_sparse()
    given = sparse.csc_array((dense[:, :5] > 0).astype(dtype))
    columns = matrix("X", given)
    assert columns.data.dtype == np.float64 and (columns.data == 1).all()


def test_columns_in_order_are_not_copied():
    X, _, _ = draw_sparse()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    columns = matrix("X", X)
    assert np.shares_memory(columns.data, X.data)
    assert np.shares_memory(columns.indices, X.indices)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert matrix("X", X).indices.dtype == np.int32


@pytest.mark.parametrize("form", ["csc", "csr", "coo"])
def test_unsorted_and_repeated_entries_are_put_in_order_on_a_copy(form):
    X, dense, y = draw_sparse()
    coo = X.tocoo()
    order = np.random.default_rng(1).permutation(2 * coo.nnz)
    twice = [np.tile(part, 2)[order] for part in (coo.data / 2, coo.row, coo.col)]
    messy = sparse.coo_array((twice[0], (twice[1], twice[2])), X.shape)
    if form != "coo":  # by hand: scipy would put it in order
        major, minor = (twice[2], twice[1]) if form == "csc" else (twice[1], twice[2])
        by = np.argsort(major, kind="stable")
        size = X.shape[1] if form == "csc" else X.shape[0]
        indptr = np.append(0, np.cumsum(np.bincount(major, minlength=size)))
        messy = getattr(sparse, f"{form}_array")(
            (twice[0][by], minor[by], indptr), shape=X.shape
        )
    before = [part.copy() for part in (messy.data, *twice)]
    columns, expected = matrix("X", messy), matrix("X", X)
    for ours, theirs in zip(columns.arrays, expected.arrays):
        np.testing.assert_array_equal(ours, theirs)
    assert messy.nnz == 2 * X.nnz
    np.testing.assert_array_equal(messy.data, before[0])


def test_the_order_is_seen_across_the_pieces_of_a_scan(monkeypatch):
    from ncvpath.inputs import sparse as sparse_inputs

    monkeypatch.setattr(sparse_inputs, "SCAN", 7)
    X, _, _ = draw_sparse()
    columns = matrix("X", X)
    assert sparse_inputs.is_sorted(columns)
    inner = np.setdiff1d(np.arange(1, X.nnz), columns.indptr)
    for place in inner[::9]:
        indices = columns.indices.copy()
        indices[place] = indices[place - 1]
        assert not sparse_inputs.is_sorted(replace(columns, indices=indices))


def broken(**changes):
    """CSC with some of its arrays replaced behind scipy's back."""

    def build():
        X, _, _ = draw_sparse()
        for name, change in changes.items():
            setattr(X, name, change(getattr(X, name).copy()))
        return X

    return build


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def as_rows():
    X, _, _ = draw_sparse()
    X = X.tocsr()
    X.indices[4] = P
    return X


def as_coordinates():
    X, _, _ = draw_sparse()
    X = X.tocoo()
    X.row[4] = -1
    return X


def without_a_row():
    X = draw_sparse()[0].tocoo()
    X.row = X.row[:-1]
    return X


BAD = {
    "coordinates without a row": (without_a_row, ["a row and a column for each"]),
    "nan": (broken(data=put(0, np.nan)), ["must be finite", "column number 0", "nan"]),
    "inf": (broken(data=put(-1, -np.inf)), ["must be finite", "number 59", "-inf"]),
    "a row too far": (broken(indices=put(7, N)), ["from 0 to 89", "got 90"]),
    "a negative row": (broken(indices=put(7, -2)), ["from 0 to 89", "got -2"]),
    "rows that are no integers": (
        broken(indices=lambda a: a.astype(float)), ["integer indices", "float64"]
    ),
    "a column of rows too far": (as_rows, ["from 0 to 59", "got 60"]),
    "a coordinate below zero": (as_coordinates, ["from 0 to 89", "got -1"]),
    "an indptr that falls": (broken(indptr=put(3, 10**6)), ["never falls", "1000000"]),
    "an indptr that begins late": (broken(indptr=put(0, 1)), ["indptr[0]=1"]),
    "an indptr too long": (broken(indptr=lambda a: np.append(a, a[-1])), ["length 61"]),
    "entries that are not there": (
        broken(indptr=put(-1, 10**6)), ["1000000 entries", "got"]
    ),
    "entries cut off": (broken(data=lambda a: a[:-5]), ["must store all"]),
    "objects": (
        broken(data=lambda a: a.astype(object)), ["real numbers", "object"]
    ),
    "complex": (lambda: draw_sparse()[0] * 1j, ["real numbers", "complex128"]),
    "no column": (lambda: sparse.csc_array((N, 0)), ["a row and a column"]),
}
ONE_DIMENSION = sparse.coo_array(np.eye(N)[0])
if ONE_DIMENSION.ndim == 1:  # scipy 1.13 on; before, a matrix of one row
    BAD["one dimension"] = (lambda: ONE_DIMENSION, ["a row and a column"])


@pytest.mark.parametrize("build, words", BAD.values(), ids=BAD)
def test_a_bad_matrix_is_refused_in_clear_words(build, words):
    _, _, y = draw_sparse()
    with pytest.raises(ValueError) as caught:
        ncvpath(build(), y)
    for word in ["X must", *words]:
        assert word in str(caught.value)


def test_entries_beyond_the_last_column_are_not_read():
    X, dense, y = draw_sparse()
    X.data, X.indices = np.append(X.data, np.nan), np.append(X.indices, -5)
    path, other = ncvpath(X, y, nlambda=5), ncvpath(dense, y, nlambda=5)
    np.testing.assert_allclose(path.beta.toarray(), other.beta.toarray(), atol=1e-8)


def test_a_matrix_without_entries_has_nothing_to_offer():
    with pytest.raises(ValueError, match="lambda_max must be positive"):
        ncvpath(sparse.csc_array((N, P)), np.arange(N))


def test_inputs_are_not_modified():
    X, _, y = draw_sparse()
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    ncvpath(X, y, nlambda=5, weights=weights_with_zeros())
    for part, old in zip((X.data, X.indices, X.indptr), before):
        np.testing.assert_array_equal(part, old)
    X.data.flags.writeable = False
    ncvpath(X, y, nlambda=5)


@pytest.mark.parametrize("mean", [1e9, 1e12])
def test_zeros_in_rows_that_do_not_count_do_not_blur_the_others(mean):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((51, 19)) < 0.5, 0.0, rng.standard_normal((51, 19)))
    X[:, ::2] = mean + rng.standard_normal((51, 10))
    X[:16] = 0
    X[3, 4] = mean  # a stored entry in a row that does not count
    y, weights = rng.standard_normal(51), np.r_[np.zeros(16), rng.random(35)]
    given = dict(y=y, weights=weights, penalty="lasso", nlambda=10)
    path, other = ncvpath(sparse.csc_array(X), **given), ncvpath(X, **given)
    assert path.converged.all()
    np.testing.assert_allclose(path.beta.toarray(), other.beta.toarray(), atol=1e-5)


@pytest.mark.parametrize("form", ["csc", "csr", "coo"])
def test_numbers_and_indices_may_be_big_endian(form):
    X, _, y = draw_sparse()
    turned = X.asformat(form).copy()
    turned.data = turned.data.astype(">f8")
    if form != "coo":
        turned.indices = turned.indices.astype(">i4")
        turned.indptr = turned.indptr.astype(">i4")
    path, other = ncvpath(turned, y, nlambda=5), ncvpath(X, y, nlambda=5)
    np.testing.assert_array_equal(path.beta.toarray(), other.beta.toarray())
    np.testing.assert_array_equal(path.predict(turned), other.predict(X))


# ---- pandas --------------------------------------------------------------------------


def sparse_frame(dense):
    column = pd.arrays.SparseArray.from_spmatrix
    columns = sparse.csc_array(dense)
    return pd.DataFrame({
        f"f{j}": column(columns[:, [j]]) for j in range(dense.shape[1])
    })


def test_a_frame_of_sparse_columns_is_not_filled_in(monkeypatch):
    X, dense, y = draw_sparse()
    frame = sparse_frame(dense)
    monkeypatch.setattr(pd.DataFrame, "to_numpy", lambda *_, **__: pytest.fail("dense"))
    path, other = ncvpath(frame, y, nlambda=8), ncvpath(dense, y, nlambda=8)
    assert path.feature_names[:2] == ("f0", "f1")
    np.testing.assert_allclose(path.beta.toarray(), other.beta.toarray(), atol=1e-8)
    turned = frame[frame.columns[::-1]]
    np.testing.assert_allclose(path.predict(turned), other.predict(dense), atol=1e-6)


def test_sparse_columns_of_any_fill_and_type():
    dense = np.array([[0, 3, 1], [2, 3, 0], [0, 1, 1.0]])
    frame = pd.DataFrame({
        "zeros": pd.arrays.SparseArray(dense[:, 0], fill_value=0.0, kind="block"),
        "threes": pd.arrays.SparseArray(dense[:, 1].astype(int), fill_value=3),
        "flags": pd.arrays.SparseArray(dense[:, 2] > 0, fill_value=False),
    })
    columns = matrix("X", frame)
    assert isinstance(columns, SparseColumns)
    np.testing.assert_array_equal(columns.to_scipy().toarray(), dense)


def test_missing_entries_of_a_sparse_frame_are_named():
    frame = sparse_frame(draw_sparse()[1])
    frame["f2"] = pd.arrays.SparseArray(np.r_[np.ones(N - 1), np.nan])
    with pytest.raises(ValueError, match="X must be finite; column 'f2' contains nan"):
        matrix("X", frame)


def test_a_frame_with_some_sparse_columns_is_an_ordinary_one():
    X, dense, y = draw_sparse()
    frame = sparse_frame(dense).assign(
        plain=1.5 * np.arange(N), flag=pd.array(np.arange(N) % 2 == 0, "boolean"),
        whole=pd.array(np.arange(N) % 7, "Int64"),
    )
    more = np.column_stack(
        [dense, 1.5 * np.arange(N), np.arange(N) % 2 == 0, np.arange(N) % 7]
    )
    np.testing.assert_array_equal(matrix("X", frame), more)


def test_sparse_columns_that_are_no_numbers_are_refused_by_name():
    frame = sparse_frame(draw_sparse()[1])
    frame["f3"] = pd.arrays.SparseArray(np.full(N, 1j), fill_value=0j)
    with pytest.raises(ValueError, match="column 'f3' has dtype .*encode it"):
        matrix("X", frame)


# ---- threads, kernels, size ----------------------------------------------------------


def test_the_number_of_threads_does_not_change_a_bit(small_pieces):
    X, _, y = draw_sparse(400, 600, seed=3)
    one, three = (fit(X, y, nlambda=20, n_threads=k) for k in (1, 3))
    assert one.screening["certified"].sum() > 0
    for name in ("lambdas", "intercept", "loss", "violation"):
        assert getattr(one, name).tobytes() == getattr(three, name).tobytes()
    assert one.beta.data.tobytes() == three.beta.data.tobytes()


def test_pieces_hold_about_as_many_entries_each(small_pieces):
    counts = np.random.default_rng(0).geometric(0.2, 300)
    counts[40] = 500
    pieces = room.balanced(counts)
    assert [piece.start for piece in pieces[1:]] == [p.stop for p in pieces[:-1]]
    assert pieces[0].start == 0 and pieces[-1].stop == 300
    sizes = np.array([(counts[piece] + 1).sum() for piece in pieces])
    assert len(pieces) > 20 and np.sort(sizes)[-2] < 40 + 2 * np.sort(counts)[-2]
    for few in ([3], []):
        assert room.balanced(np.array(few)) == (slice(0, len(few)),)


FITS = """
import sys
sys.path.append("matrices")
import numpy as np
from scipy import sparse
from test_sparse import draw_sparse, weights_with_zeros
from ncvpath import kernels, ncvpath
from ncvpath.solver import gram
from ncvpath.penalties import ROWS

X, dense, y = draw_sparse()
for design in (X, X.tocsr(), sparse.csc_matrix(X.astype(np.float32)), X[:, :1]):
    for row in ROWS:
        ncvpath(design, y, penalty=row.name, nlambda=5)
X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
ncvpath(X, y, weights=weights_with_zeros(), alpha=0.5, nlambda=5, working_set="full")
ncvpath(dense, y, nlambda=5)
gram.LARGEST_SET = 0
ncvpath(X, y, nlambda=5)
jitted = {n: k for n, k in vars(kernels).items() if hasattr(k, "signatures")}
twice = {n: k.signatures for n, k in jitted.items() if len(k.signatures) > 1}
assert kernels.sparse_dots.signatures and not twice, twice
"""


def test_every_kernel_is_compiled_once():
    run = subprocess.run(
        [sys.executable, "-c", FITS], cwd=TESTS, capture_output=True, text=True,
        timeout=180,
    )
    assert run.returncode == 0, run.stderr


def test_the_big_benchmark_scaled_down_converges():
    from benchmarks import big

    X, y = big.click_logs(20_000, 10_000, seed=1)
    assert X.shape == (20_000, 10_000) and X.nnz == 39 * 20_000
    assert X.has_canonical_format
    path = big.fit(X, y)
    assert path.lambdas.size == 30 and path.converged.all()
    center = path.beta.toarray()[:, -1]
    residual = y - X @ center - path.intercept[-1]
    means = np.asarray(X.mean(axis=0)).ravel()
    u = X.T @ residual / 20_000 - means * residual.mean()
    theta, size = np.std(y), np.abs(center)
    slope = np.sign(center) * path.lambdas[-1] / (1 + size / theta)
    met = np.where(size > 0, np.abs(u - slope), np.abs(u) - path.lambdas[-1])
    assert met.max() <= 1.01e-4 * path.lambdas[0]


def test_the_big_benchmark_with_a_click_scaled_down_converges():
    from benchmarks import big

    X, y = big.click_logs(20_000, 10_000, seed=1)
    path = big.fit(X, big.clicks(y, 1), "binomial")
    assert path.lambdas.size == 30 and path.converged.all()


def test_the_gram_matrix_keeps_to_its_budget(monkeypatch):
    X, dense, y = draw_sparse(200, 150, seed=5)
    keywords = dict(penalty="lasso", lambda_min_ratio=0.001, tol=1e-8)
    expected = ncvpath(X, y, **keywords)
    monkeypatch.setattr(gram_room, "LARGEST_SET", 40)
    path = ncvpath(X, y, **keywords)
    assert path.converged.all() and path.df.max() > 60
    np.testing.assert_allclose(path.beta.toarray(), expected.beta.toarray(), atol=1e-5)


def test_a_far_column_whose_zeros_do_not_count_is_still_exact():
    """Its mean is in every product; such products are not relied on."""
    rng = np.random.default_rng(5)
    dense = rng.standard_normal((2000, 20))
    dense[:, :5] = 1e6 + np.sign(dense[:, :5])
    dense[0] = 0.0
    y = dense[:, 4] - 1e6 + 0.1 * dense[:, 10] + rng.standard_normal(2000)
    y[0] = 0.0
    weights = np.ones(2000)
    weights[0] = 0.0
    path = ncvpath(sparse.csc_array(dense), y, weights=weights, penalty="lasso",
                   nlambda=20)
    Z, z = dense[1:], y[1:]
    scale = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / scale
    for k in range(20):
        beta = path.beta[:, [k]].toarray().ravel() * scale
        u = Z.T @ (z - z.mean() - Z @ beta) / 1999
        lam = path.lambdas[k]
        excess = np.where(beta == 0, np.maximum(np.abs(u) - lam, 0),
                          np.abs(u - lam * np.sign(beta)))
        assert excess.max() <= 2e-6 * path.lambdas[0]
    assert path.converged.all()


@pytest.mark.parametrize("factor", [1e160, 1e-200])
def test_scales_whose_squares_overflow_are_refused(factor):
    X, _, y = draw_sparse()
    with pytest.raises(ValueError, match=r"column number \d+ .*: rescale"):
        ncvpath(X * factor, y)
