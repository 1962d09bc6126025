"""Where digits run out: no NaN leaves, and nothing is claimed that does not hold.

Judged in long double, from the coefficients as the user gets them.
"""

import warnings
from itertools import combinations_with_replacement

import numpy as np
import pytest
from conftest import ROOT, draw
from oracle import Problem

from ncvpath import load_diabetes, ncvpath
from ncvpath.path import ConvergenceWarning
from ncvpath.penalties import ROWS
from ncvpath.solver.loop import Status

NAMES = [row.name for row in ROWS]
SOLVERS = ("cd", "bcd", "gist", "mm-cd", "mm-prox")
SHARED = ROOT.parent / "shared" / "data" / "dense"
CLAIMS = {Status.CONVERGED.value, Status.ITSELF.value, Status.ONE_OF_MANY.value}
EXCUSES = {status.value for status in Status} - CLAIMS
# What the problem is; all other arguments say how it is solved.
POSED = {"penalty_factor", "intercept", "standardize"}
every_penalty = pytest.mark.parametrize("penalty", NAMES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)
# Long double is no longer than double on some machines.
pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="long double has too few digits here"
)


def judged(X, y, *, tol=1e-6, penalty="MCP", kind=np.longdouble, **settings):
    """The path, once everything that it says has been checked."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        path = ncvpath(X, y, tol=tol, penalty=penalty, **settings)
    posed = {k: v for k, v in settings.items() if k in POSED}
    problem = Problem(X, y, kind=kind, penalty=penalty, **posed)
    found = problem.violations(path)
    figures = ("intercept", "loss", "dev_ratio", "objective", "violation")
    assert np.isfinite([getattr(path, figure) for figure in figures]).all()
    assert np.isfinite(path.beta.data).all()
    assert (found[path.converged] <= 1.01 * tol).all(), found[path.converged].max()
    for converged, status in zip(path.converged, path.status):
        assert status in (CLAIMS if converged else EXCUSES)
    assert all(issubclass(w.category, ConvergenceWarning) for w in heard)
    assert len(heard) == (not path.converged.all())
    # What is reported is measured, failures too; or it is what rounding may hide.
    rounding = np.array([status == Status.ROUNDING.value for status in path.status])
    assert (found <= 1.1 * path.violation + 0.1 * tol + 1e-14).all()
    said = np.where(rounding, found, path.violation)
    np.testing.assert_allclose(said, found, rtol=0.1, atol=0.1 * tol + 1e-14)
    return path


def real(name):
    """A real data set, if it is at hand."""
    file = SHARED / f"{name}.npz"
    if not file.exists():
        pytest.skip(f"{file.name} is not at hand")
    data = np.load(file, allow_pickle=False)
    return data["X"].astype(float), data["y"].astype(float)


def monomials(X, degree):
    """All products of up to `degree` columns."""
    products = [
        X[:, list(chosen)].prod(axis=1)
        for size in range(1, degree + 1)
        for chosen in combinations_with_replacement(range(X.shape[1]), size)
    ]
    return np.asfortranarray(np.column_stack(products))


def twins(distance, n=40, p=20):
    """Six columns, and six more that differ by `distance` from them."""
    X, y = draw(n, p, seed=6)
    X[:, 10:16] = X[:, :6] + distance * X[:, 10:16]
    return X, y


@pytest.mark.parametrize("name", ["gasoline", "tecator"])
@every_penalty
def test_spectra(name, penalty):
    """Near-infrared: hundreds of columns that are nearly the same."""
    X, y = real(name)
    for ratio in (None, 1e-5, 0):
        path = judged(X, y, penalty=penalty, nlambda=20, lambda_min_ratio=ratio)
        assert path.lambdas.size == 20


@every_solver
@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
def test_spectra_by_every_solver(penalty, solver):
    X, y = real("gasoline")
    path = judged(X, y, penalty=penalty, nlambda=6, solver=solver, max_epochs=300)
    assert path.converged[0]


@every_penalty
def test_polynomials(penalty):
    X, y = load_diabetes()
    X = monomials(X.to_numpy(float), 3)
    for ratio in (None, 0):
        path = judged(X, y.to_numpy(float), penalty=penalty, nlambda=10,
                      lambda_min_ratio=ratio)
        assert path.converged.all()


def test_a_concave_penalty_that_takes_all_curvature():
    """Far down, the Newton system of logsum is not definite, and gave no step."""
    X, y = load_diabetes()
    X = monomials(X.to_numpy(float), 3)
    path = judged(
        X, y.to_numpy(float), penalty="logsum", nlambda=12, lambda_min_ratio=1e-4
    )
    assert path.converged.all()


@pytest.fixture(scope="module")
def body_fat():
    """To degree 5: 252 x 11627."""
    X, y = real("bodyfat_scale")
    return monomials(X, 5), y


@every_penalty
def test_polynomials_of_body_fat(body_fat, penalty):
    # So many numbers are judged in double: they are not that ill-conditioned.
    path = judged(*body_fat, penalty=penalty, nlambda=8, lambda_min_ratio=0.01,
                  kind=float)
    assert path.converged.all()


@pytest.mark.parametrize("distance", [0, 1e-4, 1e-8, 1e-12, 1e-15])
@every_penalty
def test_columns_that_are_nearly_the_same(distance, penalty):
    for n, p in ((40, 20), (12, 40)):
        X, y = twins(distance, n, p)
        for settings in ({}, {"standardize": False}, {"lambda_min_ratio": 0}):
            path = judged(X, y, penalty=penalty, nlambda=10, **settings)
            assert path.converged.all()


@pytest.mark.parametrize("distance", [0, 1e-12])
@every_solver
@every_penalty
def test_twins_by_every_solver(distance, penalty, solver):
    X, y = twins(distance)
    for tol in (1e-6, 1e-13):
        judged(X, y, penalty=penalty, nlambda=5, solver=solver, tol=tol,
               max_epochs=300)


@every_penalty
@pytest.mark.parametrize("solver", ["cd", "bcd"])
def test_a_perfect_fit(penalty, solver):
    """Nothing is left of y, and what is left of rounding is not followed."""
    for n, p in ((60, 8), (30, 60)):
        X, _ = draw(n, p, seed=3)
        y = X[:, :4] @ [2.0, -1.0, 0.5, 3.0]
        path = judged(X, y, penalty=penalty, nlambda=10, lambda_min_ratio=1e-7,
                      solver=solver)
        assert path.converged.all()
        assert 0 <= path.loss[-1] <= 1e-9 * path.loss[0]
        assert path.dev_ratio[-1] <= 1


@every_penalty
def test_a_saturated_model(penalty):
    """As many nonzero coefficients as there are degrees of freedom, and no more."""
    X, y = draw(15, 60, seed=4)
    for intercept, most in ((True, 14), (False, 15)):
        path = judged(X, y, penalty=penalty, nlambda=30, lambda_min_ratio=1e-5,
                      intercept=intercept)
        assert path.converged.all()
        assert path.df.max() >= most
        if penalty == "lasso":
            assert path.df.max() == most


def orthogonal_to(X):
    """A vector orthogonal to the columns of X and to ones, to the last digit."""
    columns = np.column_stack([np.ones(len(X)), X])
    rest = draw(len(X), 1, seed=2)[1].astype(np.longdouble)
    inverse = np.linalg.pinv(columns)
    for _ in range(4):
        rest -= columns.astype(np.longdouble) @ (inverse @ rest)
    return rest


@every_penalty
@pytest.mark.parametrize("intercept", [True, False])
def test_y_orthogonal_to_x_is_refused(penalty, intercept):
    X, _ = draw(50, 8, seed=1)
    y = orthogonal_to(X).astype(float) + 5 * intercept
    with pytest.raises(ValueError, match="lambda_max must be positive; got 0 up to"):
        ncvpath(X, y, penalty=penalty, intercept=intercept)


@pytest.mark.parametrize("share", [1e-8, 1e-9])
@every_penalty
def test_y_nearly_orthogonal_to_x(penalty, share):
    X, _ = draw(50, 8, seed=1)
    y = (orthogonal_to(X) + share * X[:, 0]).astype(float)
    path = judged(X, y, penalty=penalty, nlambda=8)
    assert path.converged.all() and path.df[-1] > 0


@pytest.mark.parametrize("share", [5e-12, 2e-11])
@pytest.mark.parametrize("solver", ["cd", "bcd"])
def test_y_so_nearly_orthogonal_that_rounding_decides(share, solver):
    for seed in range(5):
        X, _ = draw(50, 8, seed=seed)
        y = (orthogonal_to(X) + share * X[:, 0]).astype(float)
        judged(X, y, nlambda=8, solver=solver, max_epochs=1000, intercept=False)


@pytest.mark.parametrize("distance", [1e-6, 1e-8])
@pytest.mark.parametrize("solver", ["cd", "bcd", "gist"])
@every_penalty
def test_unpenalised_columns_that_are_nearly_the_same(distance, penalty, solver):
    X, y = draw(40, 12, seed=3)
    X[:, 1] = X[:, 0] + distance * X[:, 1]
    factor = np.r_[0, 0, np.ones(10)]
    judged(X, y, penalty=penalty, penalty_factor=factor, nlambda=5, solver=solver,
           max_epochs=2000)


def nearly_equal_free_columns(distance, standardize):
    for seed in range(3, 6):
        X, y = draw(40, 12, seed=seed)
        X[:, 1] = X[:, 0] + distance * X[:, 1]
        factor = np.r_[0, 0, np.ones(10)]
        for penalty in NAMES:
            judged(X, y, penalty=penalty, penalty_factor=factor, nlambda=8,
                   max_epochs=1000, intercept=False, standardize=standardize)


@pytest.mark.parametrize("standardize", [True, False])
def test_coefficients_so_large_that_rounding_decides(standardize):
    nearly_equal_free_columns(1e-10, standardize)


@pytest.mark.parametrize("standardize", [True, False])
def test_coefficients_larger_still(standardize):
    nearly_equal_free_columns(1e-12, standardize)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("p", [1, 2, 5])
@every_penalty
def test_few_observations(n, p, penalty):
    X, y = draw(n, p, seed=n + 10 * p)
    for intercept in (True, False):
        settings = dict(penalty=penalty, intercept=intercept, nlambda=8)
        if n == 1 and intercept:
            with pytest.raises(ValueError, match="y must vary when intercept=True"):
                ncvpath(X, y, **settings)
            continue
        for ratio in (None, 0):
            path = judged(X, y, lambda_min_ratio=ratio, **settings)
            assert path.converged.all()
        if p >= n - intercept:
            assert path.loss[-1] <= 1e-9 * path.loss[0]


@pytest.mark.parametrize("solver", ["cd", "bcd", "gist"])
@every_penalty
def test_lambda_zero_is_least_squares_where_it_is_hard(penalty, solver):
    """Columns of very different size, far from zero, and correlated to 0.999."""
    X, y = draw(60, 6, seed=5)
    X[:, 1] = X[:, 0] + 0.05 * X[:, 1]
    X = X * 10.0 ** np.arange(-3, 3) + 100
    path = judged(X, y, penalty=penalty, lambdas=[1.0, 0.1, 0.0], tol=1e-11,
                  solver=solver)
    assert set(path.status) <= {Status.CONVERGED.value, Status.ITSELF.value}
    Z = X - X.mean(axis=0)
    expected = np.linalg.lstsq(Z / Z.std(axis=0), y - y.mean(), rcond=None)[0]
    ours = path.beta[:, [2]].toarray()[:, 0] * Z.std(axis=0)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-8)
    assert path.intercept[2] == pytest.approx(
        y.mean() - X.mean(axis=0) @ (expected / Z.std(axis=0)), rel=1e-6
    )


DEPENDENT = {
    "twins": lambda: twins(0),
    "nearly twins": lambda: twins(1e-12),
    "more columns than rows": lambda: draw(12, 40, seed=3),
    "as many as rows": lambda: draw(10, 10, seed=3),  # and an intercept
}


@pytest.mark.parametrize("design", DEPENDENT)
@pytest.mark.parametrize("solver", ["cd", "mm-cd"])
@every_penalty
def test_lambda_zero_says_where_there_are_many_solutions(design, penalty, solver):
    """Whichever it is, it fits as well as least squares that leaves differences of
    1e-12 alone."""
    X, y = DEPENDENT[design]()
    path = judged(X, y, penalty=penalty, lambda_min_ratio=0, nlambda=10, solver=solver)
    Z, r = X - X.mean(axis=0), y - y.mean()
    best = r - Z @ np.linalg.lstsq(Z, r, rcond=1e-10)[0]
    assert path.converged.all()
    assert path.loss[-1] <= best @ best + 1e-6 * (r @ r)
    assert path.status[-1] == Status.ONE_OF_MANY.value
    assert Status.ONE_OF_MANY.value not in path.status[:-1]


def test_one_of_many_is_said_of_features_in_use_only():
    X, y = twins(0)
    factor = np.ones(20)
    for settings in (dict(nlambda=10), dict(lambdas=[0.1, 1e-6])):
        assert Status.ONE_OF_MANY.value not in judged(X, y, **settings).status
    factor[10:16] = np.inf
    path = judged(X, y, penalty_factor=factor, lambdas=[0.1, 0])
    assert path.status[-1] == Status.CONVERGED.value
    square = draw(10, 10, seed=3)
    path = judged(*square, intercept=False, lambdas=[0.1, 0])
    assert path.status[-1] == Status.CONVERGED.value


@pytest.mark.parametrize("far", [1e6, 1e10, 1e12])
@every_solver
def test_columns_far_from_zero(far, solver):
    X, y = draw(50, 10, seed=8)
    factor = np.r_[0, 0, np.ones(8)]
    judged(X + far, y, nlambda=5, solver=solver, max_epochs=1000)
    judged(X + far, y, nlambda=5, solver=solver, penalty_factor=factor, max_epochs=1000)


@pytest.mark.parametrize("far", [1e11, 1e12, 1e13])
def test_a_response_far_from_zero(far):
    """What the rounding of its mean leaves meets what that of columns leaves."""
    X, y = draw(50, 10, seed=8)
    for seed in range(5):
        y = np.random.default_rng(seed).permutation(y)
        judged(X + far, y + 1e13, nlambda=5, tol=1e-9)


def test_columns_so_far_from_zero_that_their_mean_is_rounded():
    X, y = draw(50, 10, seed=8)
    judged(X + 1e14, y, nlambda=5)


@every_penalty
def test_a_tolerance_below_rounding_is_said_to_be(penalty):
    X, y = draw(40, 20, seed=5)
    path = judged(X + 1e3, y, penalty=penalty, tol=1e-18, nlambda=4)
    assert not path.converged[1:].any()
    assert set(path.status[1:]) == {Status.ROUNDING.value}
