"""What rounding is said to do is what it does, compared with extended precision."""

import numpy as np
import pytest
from conftest import draw
from scipy import sparse

from ncvpath.families import FAMILIES
from ncvpath.families.response import Response
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import make_design
from ncvpath.matrices.sparse import SparseColumns, sparse_matrix
from ncvpath.runtime.threads import ThreadPool
from ncvpath.solver.rounding import AT_WORST, Rounding, measure_rounding

GAUSSIAN = FAMILIES["gaussian"]


def designs(seed):
    """Columns near zero, far from it, of many sizes, and with coefficients of many."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 300)), 8
    X, y = draw(n, p, seed)
    X += rng.choice([0.0, 10.0 ** rng.uniform(0, 7)]) * rng.standard_normal(p)
    beta = rng.standard_normal((3, p)) * 10.0 ** rng.uniform(-2, 6, (3, 1))
    return np.asfortranarray(X), y, beta


def test_violations_are_off_by_about_what_is_said():
    ratios = []
    for seed in range(60):
        X, y, beta = designs(seed)
        weights = np.full(len(y), 1 / len(y))
        design = make_design(dense_matrix(X, ThreadPool(1)), weights, True, True)
        likelihood = GAUSSIAN.bind(Response(y), weights, True)
        rounding = measure_rounding(design, likelihood.spread(), np.ones(8, dtype=bool))
        said = rounding.in_violations(np.arange(8), beta)
        residual = likelihood.y - design.combine(np.arange(8), beta)
        # The columns as they would be with an exact centre.
        exact = X.astype(np.longdouble)
        Z = (exact - exact.mean(axis=0)) / design.scale
        truth = (y - y.astype(np.longdouble).mean() - beta @ Z.T) @ Z / len(y)
        off = np.abs(design.correlate(residual) - truth).max(axis=1)
        assert (off <= AT_WORST * said).all()
        ratios += (off / said).astype(float).tolist()
    # Neither far too small nor far too large.
    assert np.quantile(ratios, 0.9) < 10 and np.median(ratios) > 1e-2


@pytest.mark.plain
def test_its_terms():
    rounding = Rounding(
        spread=2.0, max_length=3.0, unit=1e-3,
        per_size=np.array([1e-3 * 1 + 0.5 * 0.5, 1e-3 * 3]),
    )
    features = np.array([0, 1])
    # Nothing but the response, and each feature's share, whatever its sign.
    found = rounding.in_violations(features, np.array([[0.0, 0.0], [-4.0, 1.0]]))
    np.testing.assert_allclose(found, [2e-3, 1e-3 * (2 + 4 + 3) + 4 * 0.5 * 0.5])
    found = rounding.in_violations(np.array([1]), np.array([[-1.0]]))
    np.testing.assert_allclose(found, [1e-3 * (2 + 3)])
    # Of the objective, half the square of what it does to the residual is hidden.
    assert rounding.in_objective(6.0) == 0.5 * 2.0**2
    np.testing.assert_array_equal(rounding.in_objective(np.array([0.0, 3.0])), [0, 0.5])


@pytest.mark.plain
def test_runaway_coefficients_hide_everything_without_a_warning():
    rounding = Rounding(2.0, 1.0, 1e-16, np.ones(2))
    features = np.array([0, 1])
    for size in (1e300, 1e308, np.inf):
        [said] = rounding.in_violations(features, np.full((1, 2), size))
        assert said > 1e200 and rounding.in_objective(said) > 1e200


def test_it_grows_with_what_cancels_and_with_excluded_columns_left_out():
    X, y = draw(60, 5)
    X[0], X[:, 4] = 0, 1e3 * X[:, 4]
    weights = np.r_[0.0, np.full(59, 1 / 59)]
    far = np.where(X != 0, X + 500, 0)
    live = np.array([True] * 4 + [False])

    def measured(columns, standardize):
        X = sparse.csc_array(columns)
        stored = SparseColumns(
            X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), X.shape
        )
        matrix = sparse_matrix(stored, ThreadPool(1))
        design = make_design(matrix, weights, True, standardize)
        return design, measure_rounding(design, 1.0, live)

    near_design, near = measured(X, True)
    far_design, other = measured(far, True)
    assert far_design.cancellation > 100 > near_design.cancellation
    assert other.unit / near.unit == pytest.approx(
        far_design.cancellation / near_design.cancellation
    )
    design, raw = measured(X, False)
    assert raw.max_length == design.length[:4].max() < design.length[4]
