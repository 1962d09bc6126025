"""Short numbers in memory: not expanded, and the same path as in float64."""

import tracemalloc

import numpy as np
import oracle
import pytest
from conftest import draw
from fitting import clean

from ncvpath import cv_ncvpath, matrices, ncvpath
from ncvpath.matrices.columns import SHORT
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import make_design
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import ThreadPool

TYPES = [np.dtype(kind).name for kind in SHORT]


@pytest.fixture
def kept_short(monkeypatch):
    """As for a large X."""
    monkeypatch.setattr(matrices, "SMALL", 0)


def entries(n, p, dtype, seed=3):
    """Numbers that use the type's range, and a response."""
    X, y = draw(n, p, seed)
    if np.dtype(dtype).kind == "f":
        return np.asfortranarray(X.astype(dtype)), y
    limits = np.iinfo(dtype)
    levels = np.random.default_rng(seed).integers(limits.min, limits.max + 1, (n, p))
    levels[0], levels[1] = limits.min, limits.max
    return np.asfortranarray(levels.astype(dtype)), levels[:, 0] / limits.max + y


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("intercept", [True, False])
def test_operations_are_those_of_exact_numbers(dtype, intercept):
    X, _ = entries(60, 25, dtype)
    w = np.random.default_rng(2).uniform(0.5, 2, 60)
    w /= w.sum()
    made = make_design(dense_matrix(X, ThreadPool(2)), w, intercept, True)
    long, wl = X.astype(np.longdouble), w.astype(np.longdouble)
    Z = long - (wl @ long if intercept else 0)
    Z /= np.sqrt(wl @ Z**2)
    r, beta = np.random.default_rng(3).standard_normal((2, 60))
    some, others = np.array([3, 17, 4, 9]), np.array([0, 9, 24])
    close = dict(rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(
        made.correlate(r[None])[0], np.float64(Z.T @ (wl * r)), **close
    )
    gram = Z[:, some].T @ (wl[:, None] * Z[:, others])
    np.testing.assert_allclose(made.gram(some, others), np.float64(gram), **close)
    np.testing.assert_allclose(made.columns(some), np.float64(Z[:, some]), **close)
    np.testing.assert_allclose(
        made.combine(some, beta[None, :4])[0], np.float64(Z[:, some] @ beta[:4]),
        **close,
    )
    np.testing.assert_allclose(
        made.matrix.predict(np.arange(60), some, beta[:4]),
        np.float64(long[:, some] @ beta[:4]), **close,
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_path_is_that_of_the_same_numbers_in_float64(kept_short, row, order):
    X, y = draw(50, 90, seed=5)
    X = np.array(X, dtype=np.float32, order=order)
    options = dict(
        penalty=row.name, nlambda=12, lambda_min_ratio=0.3, tol=1e-10,
        weights=np.random.default_rng(1).uniform(0.2, 2, 50),
        penalty_factor=np.r_[0.0, 2.0, np.inf, np.ones(87)], n_threads=2,
    )
    path = ncvpath(X, y, **options)
    same = ncvpath(X.astype(float), y, **options)
    assert path.converged.all()
    np.testing.assert_allclose(
        path.beta.toarray(), same.beta.toarray(), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(path.predict(X), same.predict(X.astype(float)))


@pytest.mark.parametrize("switches", [
    dict(intercept=False), dict(standardize=False),
    dict(working_set="full"), dict(penalty="lasso", alpha=0.5),
])
def test_fermats_conditions_hold(kept_short, switches):
    X, y = draw(40, 60, seed=6)
    X = X.astype(np.float32)
    path = ncvpath(X, y, nlambda=10, tol=1e-8, **switches)
    switches = {k: v for k, v in switches.items() if k != "working_set"}
    problem = oracle.Problem(X, y, **{"penalty": "MCP"} | switches)
    assert path.converged.all()
    assert problem.violations(path).max() <= 1.1e-8


@pytest.mark.parametrize("dtype", TYPES)
def test_fortran_order_is_the_users_own_memory(dtype):
    X, y = entries(30, 7, dtype)
    checked = clean(X, y).X
    assert np.shares_memory(checked, X) and checked.dtype == X.dtype
    copied = clean(np.ascontiguousarray(X), y).X
    assert copied.dtype == X.dtype and copied.flags.f_contiguous


@pytest.mark.parametrize("order, share", [("F", 0.6), ("C", 1.6)])
def test_nothing_is_expanded(order, share):
    X = np.random.default_rng(4).standard_normal((400, 20_000), dtype=np.float32)
    X = np.array(X, order=order)
    y = X[:, 0] + X[:, 17] + np.random.default_rng(5).standard_normal(400)
    ncvpath(X[:, :6000], y, nlambda=3)  # what is loaded at the first fit stays
    tracemalloc.start()
    path = ncvpath(X, y, nlambda=20, lambda_min_ratio=0.3)
    path.predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.converged.all()
    assert peak < share * X.nbytes


def test_what_is_not_finite_is_named():
    X, y = draw(30, 7)
    X = X.astype(np.float32)
    X[3, 5] = np.inf
    with pytest.raises(ValueError, match=r"column number 5 \(from 0\) contains inf"):
        ncvpath(X, y)


def test_cross_validation_takes_short_numbers(kept_short):
    X, y = draw(40, 20, seed=7)
    X = X.astype(np.float32)
    options = dict(nfolds=4, random_state=1, nlambda=10, lambda_min_ratio=0.2)
    cv = cv_ncvpath(X, y, **options)
    same = cv_ncvpath(X.astype(float), y, **options)
    np.testing.assert_allclose(cv.cve, same.cve, rtol=1e-5)


def test_bits_do_not_depend_on_threads():
    X = np.random.default_rng(8).standard_normal((300, 8000), dtype=np.float32)
    y = X[:, 0] + np.random.default_rng(9).standard_normal(300)
    one, two = (
        ncvpath(X, y, nlambda=10, lambda_min_ratio=0.5, n_threads=k) for k in (1, 2)
    )
    np.testing.assert_array_equal(one.beta.toarray(), two.beta.toarray())
    np.testing.assert_array_equal(one.violation, two.violation)
