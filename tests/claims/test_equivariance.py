"""Changes of the data that must change the path in a known way, or not at all."""

import numpy as np
import pytest
from conftest import draw

from ncvpath import lambda_max, ncvpath
from ncvpath.penalties import ROWS

every_penalty = pytest.mark.parametrize("penalty", [row.name for row in ROWS])
DESIGNS = {"tall": (70, 15), "wide": (40, 90)}
every_design = pytest.mark.parametrize("design", DESIGNS)


def fit(X, y, **settings):
    return ncvpath(X, y, **({"nlambda": 25, "tol": 1e-11} | settings))


def convex_part(path, other):
    """Lambdas where the solution is unique enough to compare coefficients."""
    if path.penalty == "lasso":
        return slice(None)
    edges = [p.convex_min for p in (path, other) if p.convex_min is not None]
    return slice(min(edges) + 1 if edges else None)


def same(path, other, *, lam=1.0, coef=1.0, rtol=1e-7):
    """other == path with lambdas and coefficients multiplied, in the convex part."""
    np.testing.assert_allclose(other.lambdas, path.lambdas * lam, rtol=1e-10)
    part = convex_part(path, other)
    ours, theirs = path.beta.toarray()[:, part], other.beta.toarray()[:, part]
    size = np.abs(ours * np.reshape(coef, (-1, 1))).max()
    error = np.abs(theirs - ours * np.reshape(coef, (-1, 1)))
    assert error.max() <= rtol * size


@every_design
@every_penalty
def test_scaling_y_scales_lambda_and_coefficients(design, penalty):
    X, y = draw(*DESIGNS[design], seed=1)
    path = fit(X, y, penalty=penalty)
    for c in (1e-6, 37.0, 1e9):
        same(path, fit(X, c * y, penalty=penalty), lam=c, coef=c)


@every_design
@every_penalty
def test_shifting_y_moves_the_intercept_alone(design, penalty):
    X, y = draw(*DESIGNS[design], seed=1)
    path, other = fit(X, y, penalty=penalty), fit(X, y + 100, penalty=penalty)
    same(path, other)
    part = convex_part(path, other)
    np.testing.assert_allclose(other.intercept[part] - path.intercept[part], 100)


@every_design
@every_penalty
def test_scaling_and_shifting_columns_is_undone_by_standardization(design, penalty):
    X, y = draw(*DESIGNS[design], seed=2)
    rng = np.random.default_rng(3)
    c = 10.0 ** rng.uniform(-6, 6, X.shape[1])
    other = fit(X * c + 5 * c, y, penalty=penalty)
    path = fit(X, y, penalty=penalty)
    np.testing.assert_allclose(other.lambdas, path.lambdas, rtol=1e-10)
    part = convex_part(path, other)
    ours, theirs = path.beta.toarray()[:, part], other.beta.toarray()[:, part]
    assert np.abs(theirs * c[:, None] - ours).max() <= 1e-7 * np.abs(ours).max()


@every_design
@every_penalty
def test_order_of_rows_and_columns_does_not_matter(design, penalty):
    X, y = draw(*DESIGNS[design], seed=4)
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    path = fit(X, y, penalty=penalty)
    same(path, fit(X[rows], y[rows], penalty=penalty))
    other = fit(X[:, columns], y, penalty=penalty)
    part = convex_part(path, other)
    moved = other.beta.toarray()[np.argsort(columns)][:, part]
    np.testing.assert_allclose(moved, path.beta.toarray()[:, part], atol=1e-8)


@every_penalty
def test_signs_flip_with_columns_and_response(penalty):
    X, y = draw(70, 15, seed=6)
    path = fit(X, y, penalty=penalty)
    same(path, fit(X, -y, penalty=penalty), coef=-1)
    flips = np.where(np.arange(15) % 2 == 0, 1.0, -1.0)
    same(path, fit(X * flips, y, penalty=penalty), coef=flips)


@every_penalty
@pytest.mark.parametrize("alpha", [1.0, 0.6])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_weight_of_two_is_the_row_twice(penalty, alpha, standardize, intercept):
    X, y = draw(50, 12, seed=7)
    times = np.random.default_rng(8).integers(1, 4, 50)
    settings = dict(
        penalty=penalty, alpha=alpha, standardize=standardize, intercept=intercept
    )
    weighted = fit(X, y, weights=times, **settings)
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times),
                   lambdas=weighted.lambdas, **settings)
    same(weighted, repeated)
    part = convex_part(weighted, repeated)
    np.testing.assert_allclose(
        weighted.objective[part], repeated.objective[part], rtol=1e-9
    )
    switches = dict(alpha=alpha, standardize=standardize, intercept=intercept)
    assert lambda_max(X, y, weights=times, **switches) == pytest.approx(
        lambda_max(np.repeat(X, times, axis=0), np.repeat(y, times), **switches)
    )


@every_penalty
def test_only_ratios_of_weights_matter(penalty):
    X, y = draw(50, 12, seed=7)
    w = np.random.default_rng(8).uniform(0.5, 2, 50)
    path = fit(X, y, weights=w, penalty=penalty)
    same(path, fit(X, y, weights=1e5 * w, penalty=penalty))


def test_mcp_with_huge_gamma_is_the_lasso():
    X, y = draw(40, 90, seed=9)
    lasso = fit(X, y, penalty="lasso")
    mcp = fit(X, y, penalty="MCP", gamma=1e9)
    np.testing.assert_allclose(mcp.beta.toarray(), lasso.beta.toarray(), atol=1e-6)


@every_penalty
def test_alpha_just_below_one_is_alpha_one(penalty):
    X, y = draw(40, 90, seed=10)
    path = fit(X, y, penalty=penalty)
    other = fit(X, y, penalty=penalty, alpha=1 - 1e-12)
    part = convex_part(path, other)
    np.testing.assert_allclose(
        other.beta.toarray()[:, part], path.beta.toarray()[:, part], atol=1e-7
    )


@every_penalty
def test_factor_inf_is_the_column_left_out(penalty):
    X, y = draw(40, 30, seed=11)
    factor = np.ones(30)
    factor[[2, 20]] = np.inf
    path = fit(X, y, penalty=penalty, penalty_factor=factor)
    other = fit(np.delete(X, [2, 20], axis=1), y, penalty=penalty)
    np.testing.assert_allclose(path.lambdas, other.lambdas, rtol=1e-12)
    beta = path.beta.toarray()
    assert not beta[[2, 20]].any()
    part = convex_part(path, other)
    np.testing.assert_allclose(
        np.delete(beta, [2, 20], axis=0)[:, part], other.beta.toarray()[:, part],
        atol=1e-9,
    )


@every_penalty
def test_a_constant_column_is_listed_and_changes_nothing(penalty):
    X, y = draw(60, 12, seed=12)
    other = fit(np.insert(X, 5, 0.1, axis=1), y, penalty=penalty)
    path = fit(X, y, penalty=penalty)
    assert other.constant == ("x6",)
    np.testing.assert_allclose(other.lambdas, path.lambdas, rtol=1e-12)
    beta = np.delete(other.beta.toarray(), 5, axis=0)
    part = convex_part(path, other)
    np.testing.assert_allclose(beta[:, part], path.beta.toarray()[:, part], atol=1e-9)


def test_without_intercept_a_constant_column_is_a_feature():
    X, y = draw(60, 5, seed=13)
    path = fit(np.c_[np.full(60, 2.0), X], y, penalty="lasso", intercept=False)
    assert path.constant == ()
    assert path.beta.toarray()[0, -1] > 1
    assert not path.intercept.any()


@every_penalty
def test_a_list_of_lambdas_may_start_anywhere(penalty):
    X, y = draw(40, 90, seed=14)
    path = fit(X, y, penalty=penalty)
    other = fit(X, y, penalty=penalty, lambdas=path.lambdas[10:])
    edge = path.convex_min
    upto = 25 if penalty == "lasso" or edge is None else edge + 1
    np.testing.assert_allclose(
        other.beta.toarray()[:, : upto - 10], path.beta.toarray()[:, 10:upto], atol=1e-8
    )


@every_penalty
def test_fireworks_and_the_full_problem_agree_in_the_convex_part(penalty):
    X, y = draw(60, 100, seed=15)
    path = fit(X, y, penalty=penalty)
    other = fit(X, y, penalty=penalty, working_set="full")
    assert (other.objective <= path.objective * (1 + 1e-8)).mean() > 0.8
    if penalty != "capped":
        same(path, other)


@pytest.mark.parametrize(
    "settings",
    [{"n_added": 1}, {"n_added": 3, "prune": False}, {"inexact": False},
     {"n_added": 2, "inexact": False}, {"prune": False}],
    ids=str,
)
def test_the_way_to_the_solution_does_not_change_it(settings):
    X, y = draw(40, 400, seed=16)
    # A coarse grid, so that the strong rule is not enough and FireWorks has to work.
    path = fit(X, y, penalty="lasso", nlambda=4)
    other = fit(X, y, penalty="lasso", nlambda=4, **settings)
    same(path, other)
    assert other.screening["rounds"].max() > 1
