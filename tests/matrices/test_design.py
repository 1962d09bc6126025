"""The design's operations against plain NumPy on explicitly standardized columns."""

import numpy as np
import pytest
from conftest import draw

from ncvpath.matrices import dense as room
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import make_design
from ncvpath.runtime.threads import ThreadPool


def pair(X, weights=None, intercept=True, standardize=True):
    """A design and the matrix it stands for, in extended precision."""
    n = X.shape[0]
    w = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    made = make_design(
        dense_matrix(np.asfortranarray(X), ThreadPool(2)), w, intercept, standardize
    )
    long, wl = X.astype(np.longdouble), w.astype(np.longdouble)
    Z = long - (wl @ long if intercept else 0)
    if standardize:
        scale = np.sqrt(wl @ Z**2)
        Z = Z / np.where(scale > 0, scale, 1)
    return made, Z, wl


@pytest.fixture(params=["plain", "weights", "far", "tiny", "huge"])
def case(request, monkeypatch):
    monkeypatch.setattr(room, "PIECE", 500)  # several pieces even here
    X, _ = draw(60, 25, seed=1)
    X = X * {"tiny": 1e-150, "huge": 1e140}.get(request.param, 1.0)
    X = X + (1e6 if request.param == "far" else 0)
    weights = np.random.default_rng(2).uniform(0, 2, 60)
    return X, weights if request.param == "weights" else None


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_operations_are_those_of_the_standardized_matrix(case, intercept, standardize):
    X, weights = case
    if not standardize and abs(X[0, 0]) > 1e100:
        pytest.skip("squares of raw columns overflow")
    made, Z, w = pair(X, weights, intercept, standardize)
    rng = np.random.default_rng(3)
    R, B = rng.standard_normal((3, 60)), rng.standard_normal((2, 4))
    R -= (R @ w).astype(float)[:, None]
    some, others = np.array([3, 17, 4, 9]), np.array([0, 9, 24])
    size = np.sqrt((w @ Z**2).astype(float))
    close = dict(rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(
        made.correlate(R) / size, ((w * R) @ Z / size).astype(float), **close
    )
    # One residual alone, and some features alone, have the same bits.
    np.testing.assert_array_equal(made.correlate(R[1:2])[0], made.correlate(R)[1])
    np.testing.assert_array_equal(
        made.correlate(R, others), made.correlate(R)[:, others]
    )
    gram = (Z[:, some].T @ (w[:, None] * Z[:, others])).astype(float)
    lengths = np.outer(size[some], size[others])
    if lengths.min() > 0:
        np.testing.assert_allclose(made.gram(some, others) / lengths, gram / lengths,
                                   **close)
    np.testing.assert_allclose(
        made.combine(some, B / size[some]),
        ((B / size[some]) @ Z[:, some].T).astype(float), rtol=1e-9, atol=1e-9,
    )
    # Centres near 1e6 are known to 1e-10 only.
    np.testing.assert_allclose(
        made.columns(some) / size[some], (Z[:, some] / size[some]).astype(float),
        rtol=1e-9, atol=1e-9,
    )
    np.testing.assert_allclose(made.norm2, size**2, rtol=1e-10)


def test_coefficients_return_to_the_users_scale():
    X, _ = draw(60, 5, seed=4)
    X = X * 7 + 3
    made, Z, _ = pair(X)
    # Three models: of two features, of none, of one.
    features, beta = np.array([1, 3, 4]), np.array([0.5, -2.0, 1.5])
    ends = np.array([0, 2, 2, 3])
    coefficients, intercept = made.to_user_scale(features, beta, ends, 10.0)
    for k, some in enumerate([slice(0, 2), slice(0, 0), slice(2, 3)]):
        np.testing.assert_allclose(
            intercept[k] + X[:, features[some]] @ coefficients[some],
            (10 + Z[:, features[some]] @ beta[some]).astype(float),
        )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8, -3.3e-9])
def test_constant_columns_are_recognised_at_any_level(value):
    X, _ = draw(37, 3, seed=5)
    X[:, 1] = value
    made, *_ = pair(X)
    assert list(made.constant) == [False, True, False]
    found = made.correlate(np.linspace(-1, 1, 37)[None])[0, 1]
    assert found == pytest.approx(0, abs=1e-6)


def test_columns_that_barely_vary_are_kept():
    X, _ = draw(50, 3, seed=6)
    X[:, 0] *= 1e-12
    X[:, 1] = 1e6 + 1e-3 * X[:, 1]
    made, *_ = pair(X)
    assert not made.constant.any()


def test_variation_in_rows_without_weight_does_not_count():
    X, _ = draw(10, 2, seed=7)
    X[:9, 0] = 4.0
    made, *_ = pair(X, weights=np.r_[np.ones(9), 0.0])
    assert list(made.constant) == [True, False]


def test_the_users_matrix_is_neither_copied_nor_writable():
    X, _ = draw(20, 4)
    made, *_ = pair(X)
    assert np.shares_memory(made.matrix.X, X)
    assert not made.matrix.X.flags.writeable and X.flags.writeable
