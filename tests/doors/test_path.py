"""The loop over lambdas, the grid, the edge of convexity, and honest statuses."""

import numpy as np
import pytest
from conftest import draw
from fitting import fit
from oracle import Problem
from scipy import sparse

from ncvpath import ConvergenceWarning, lambda_max, ncvpath, simulate
from ncvpath.penalties import ROWS
from ncvpath.solver import loop
from ncvpath.solver.grid import approach, lambda_sequence

every_penalty = pytest.mark.parametrize("penalty", [row.name for row in ROWS])


@every_penalty
@pytest.mark.parametrize("factor", [None, "mixed"])
def test_the_first_automatic_lambda_has_exactly_the_null_model(wide, penalty, factor):
    X, y = wide
    m = None if factor is None else np.r_[0.0, 2.0, np.ones(118)]
    path = ncvpath(X, y, penalty=penalty, penalty_factor=m)
    assert path.df[0] == (0 if m is None else 1)
    assert path.lambdas[0] == lambda_max(X, y, penalty_factor=m)
    assert path.df[1] >= path.df[0]


@every_penalty
def test_just_below_lambda_max_a_feature_enters(wide, penalty):
    X, y = wide
    top = lambda_max(X, y)
    path = ncvpath(X, y, penalty=penalty, lambdas=[2 * top, top, 0.999 * top])
    assert list(path.df[:2]) == [0, 0] and path.df[2] >= 1


def test_lambda_max_is_divided_by_alpha(wide):
    X, y = wide
    assert lambda_max(X, y, alpha=0.25) == pytest.approx(4 * lambda_max(X, y))


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson", "cox"])
def test_lambda_max_is_the_first_automatic_lambda_of_every_family(family):
    X, y, _ = simulate(60, 30, family=family, nonzero=4, random_state=3)
    rng = np.random.default_rng(3)
    given = dict(
        alpha=0.5, weights=rng.uniform(0.5, 2, 60), offset=rng.normal(size=60),
        penalty_factor=np.r_[0.0, 2.0, np.ones(28)], standardize=False,
    )
    if family == "cox":
        y["time"] = y["time"].round(1) + 0.1  # ties
        given |= dict(ties="efron", strata=rng.integers(0, 2, 60))
    else:
        given |= dict(intercept=False)
    top = lambda_max(X, y, family=family, **given)
    assert top == ncvpath(X, y, family=family, nlambda=2, **given).lambdas[0]
    for name in given:  # each of them matters
        rest = {other: given[other] for other in given if other != name}
        assert lambda_max(X, y, family=family, **rest) != top


def test_grid_is_log_equispaced_between_its_ends():
    lambdas = lambda_sequence(2.0, 5, 0.01)
    np.testing.assert_allclose(np.diff(np.log(lambdas)), np.log(0.01) / 4)
    assert lambdas[0] == 2.0 and lambdas[-1] == pytest.approx(0.02)


def test_grid_of_ratio_zero_ends_in_exactly_zero():
    lambdas = lambda_sequence(2.0, 6, 0)
    np.testing.assert_allclose(lambdas[:-1], lambda_sequence(2.0, 5, 0.001))
    assert lambdas[-1] == 0


def test_default_depth_depends_on_the_shape(tall, wide):
    for (X, y), ratio in ((tall, 0.001), (wide, 0.05)):
        path = ncvpath(X, y, nlambda=3)
        assert path.lambdas[-1] / path.lambdas[0] == pytest.approx(ratio)


def test_default_depth_counts_columns_that_vary():
    """Those that are excluded from the model, too, but no constants; and rows that
    have a weight."""
    X, y = draw(30, 30, seed=4)
    excluded = np.r_[np.inf, np.ones(29)]
    constant, weights = X.copy(), np.r_[0.0, np.ones(29)]
    constant[:, 0] = 1.0
    for data, settings, ratio in (
        (X, dict(), 0.05),
        (X, dict(penalty_factor=excluded), 0.05),
        (constant, dict(), 0.001),
        (constant, dict(penalty_factor=excluded), 0.001),
        (constant, dict(weights=weights), 0.05),
    ):
        path = ncvpath(data, y, nlambda=3, **settings)
        assert path.lambdas[-1] / path.lambdas[0] == pytest.approx(ratio)


def test_hidden_lambdas_lead_to_the_first_and_stop_above_it():
    hidden = approach(1.0, 0.5, 0.05, 100)
    assert hidden[0] == 1.0 and 0.5 < hidden[-1] < 0.53
    assert approach(1.0, 0.0, 0.05, 100)[-1] > 0.001


@pytest.mark.parametrize("solver", ["cd", "bcd", "gist"])
@pytest.mark.parametrize("working_set", ["fireworks", "maxvc"])
def test_no_feature_outside_is_violated_after_exact_rounds(wide, solver, working_set):
    X, y = wide
    path = ncvpath(
        X, y, penalty="lasso", lambdas=0.2 * lambda_max(X, y), warm_up=False,
        inexact=False, n_added=2, solver=solver, working_set=working_set,
    )
    assert path.work["rounds"][0] > 1
    assert Problem(X, y, penalty="lasso").violations(path).max() <= 1.01e-6


def test_a_cold_start_is_possible_and_satisfies_fermat(wide):
    X, y = wide
    lam = 0.3 * lambda_max(X, y)
    path = ncvpath(X, y, penalty="logsum", lambdas=lam, warm_up=False)
    assert Problem(X, y, penalty="logsum").violations(path)[0] <= 1.01e-6
    assert path.screening["rounds"].iloc[0] >= 1


def brute_convex_min(path, problem, concavity):
    """The definition, with dense eigenvalues."""
    beta = path.beta.toarray()
    for i in range(path.lambdas.size - 1):
        used = (beta[:, i] != 0) | (beta[:, i + 1] != 0)
        if not used.any():
            continue
        l1, l2 = (level[used] for level in problem.levels(path.lambdas[i + 1]))
        Z = problem.Z[:, used]
        k = np.where(problem.m[used] > 0, concavity(l1), 0.0)
        H = Z.T @ (problem.w[:, None] * Z) + np.diag(l2 - k)
        if np.linalg.eigvalsh(H)[0] < 0:
            return i
    return None


@pytest.mark.parametrize("alpha", [1.0, 0.7])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_convex_min_is_the_first_negative_eigenvalue(alpha, standardize, seed):
    X, y = draw(40, 60, seed=seed)
    factor = np.r_[0.0, np.linspace(0.5, 2, 59)]
    settings = dict(alpha=alpha, standardize=standardize, penalty_factor=factor,
                    weights=np.linspace(1, 2, 40))
    found = 0
    for penalty, bound in {
        "MCP": lambda problem: lambda l1: np.full(l1.size, 1 / 3),
        "SCAD": lambda problem: lambda l1: np.full(l1.size, 1 / 2.7),
        "logsum": lambda problem: lambda l1: l1 / problem.theta,
    }.items():
        problem = Problem(X, y, penalty=penalty, **settings)
        path = ncvpath(X, y, penalty=penalty, **settings)
        expected = brute_convex_min(path, problem, bound(problem))
        assert path.convex_min == expected
        found += expected is not None
    assert found or alpha < 1


def test_convex_min_is_not_defined_for_lasso_and_capped_nor_when_not_asked(wide):
    for settings in ({"penalty": "lasso"}, {"penalty": "capped"}, {"convex": False}):
        assert ncvpath(*wide, **settings).convex_min is None


def test_a_lambda_out_of_sweeps_is_kept_and_said_once(wide):
    X, y = wide
    with pytest.warns(ConvergenceWarning, match="max_epochs") as caught:
        path = ncvpath(X, y, penalty="lasso", max_epochs=1, nlambda=20, tol=1e-12)
    assert len(caught) == 1
    missed = {path.status[k] for k in np.flatnonzero(~path.converged)}
    assert caught[0].message.reasons == tuple(sorted(missed))
    assert path.lambdas.size == 20 and not path.converged.all()
    assert (path.n_epochs <= 1).all()
    assert ((path.violation <= 1e-12) == path.converged).all()


def test_a_tolerance_below_rounding_is_said_and_ends():
    X, y = draw(90, 60, seed=3)
    with pytest.warns(ConvergenceWarning, match="rounding"):
        path = ncvpath(X + 1e5, y, penalty="lasso", tol=1e-18, nlambda=10)
    assert path.violation.max() < 1e-12


def test_screening_says_what_happened():
    X, y = draw(200, 800, seed=5)
    table = fit(X, y, penalty="lasso", nlambda=50).screening
    accounted = table["certified"] + table["checked"] + table["working_set"]
    assert (accounted >= 800).all()
    assert table["certified"].sum() > 500
    assert (table["step"] == 1).all()
    assert (table["working_set"] <= 800).all() and table["epochs"].iloc[0] == 0


def test_same_call_same_bits(wide):
    X, y = wide
    first, second = ncvpath(X, y), ncvpath(X, y)
    assert first.beta.data.tobytes() == second.beta.data.tobytes()
    assert first.loss.tobytes() == second.loss.tobytes()


def latent(n, p, factors, seed):
    """Few factors and little else: nearly collinear columns."""
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, factors))
    X = F @ rng.standard_normal((factors, p)) + 0.1 * rng.standard_normal((n, p))
    y = X[:, :5].sum(axis=1)
    return X / X.std(axis=0), y / y.std() + rng.standard_normal(n)


@every_penalty
@pytest.mark.parametrize("seed", range(3))
def test_no_lambda_ends_above_its_warm_start(penalty, seed):
    """Descent from the last solution: an estimate must never pass for a gradient."""
    X, y = latent(60, 1500, 15, seed)
    path = fit(X, y, penalty=penalty, nlambda=60, lambda_min_ratio=0.01)
    problem = Problem(X, y, penalty=penalty)
    assert path.work["certified"].sum() > 0
    for k in range(1, path.lambdas.size):
        start = problem.objective(problem.standardized(path, k - 1), path.lambdas[k])
        assert path.objective[k] <= start * (1 + 1e-6), k


def test_violations_of_failures_are_measured_over_all_features():
    X, y = latent(60, 800, 15, 7)
    with pytest.warns(ConvergenceWarning):
        path = fit(X, y, penalty="MCP", nlambda=40, max_epochs=3, n_added=1)
    found = Problem(X, y, penalty="MCP").violations(path)
    np.testing.assert_allclose(found, path.violation, rtol=1e-6, atol=1e-12)


def test_redundant_unpenalised_columns_do_not_disturb_convex_min():
    X, y = draw(60, 10, seed=8)
    group = np.arange(60) % 3
    dummies = (group[:, None] == np.arange(3)) * 1.0  # their sum is the intercept
    factor = np.r_[np.zeros(3), np.ones(10)]
    path = ncvpath(np.c_[dummies, X], y, penalty_factor=factor, gamma=8.0)
    short = np.delete(np.c_[dummies, X], 0, axis=1)
    assert path.convex_min == ncvpath(short, y, penalty_factor=factor[1:],
                                      gamma=8.0).convex_min


@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("solver", ["cd", "bcd", "gist"])
@every_penalty
def test_what_rows_without_weight_hold_does_not_matter(penalty, solver, kind):
    X, y = draw(60, 40, seed=9)
    weights = np.r_[np.zeros(5), np.ones(55)]
    wild_X, wild_y = X.copy(), y.copy()
    wild_X[:5], wild_y[:5] = 1e150, -1e150
    settings = dict(penalty=penalty, weights=weights, solver=solver, nlambda=10)
    path = fit(kind(X), y, **settings)
    wild = fit(kind(wild_X), wild_y, **settings)
    assert path.converged.all()
    assert path.beta.data.tobytes() == wild.beta.data.tobytes()
    assert path.loss.tobytes() == wild.loss.tobytes()


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda X, y: (X, y * 1e200, {}), "y must not be so large"),
        (lambda X, y: (X * 1e200, y, {"standardize": False}), "X must not be so large"),
        (lambda X, y: (X, y, {"penalty_factor": [1e-320] * 12}), "lambda_max finite"),
    ],
    ids=["y", "X", "factor"],
)
def test_overflow_is_said_in_words(tall, change, words):
    X, y, settings = change(*tall)
    with pytest.raises(ValueError, match=words):
        ncvpath(X, y, **settings)


def test_lambdas_a_rounding_apart_are_fitted(wide):
    X, y = wide
    top = lambda_max(X, y)
    assert ncvpath(X, y, lambdas=[top, top * (1 - 1e-11)]).converged.all()


def test_an_unused_ratio_does_not_stretch_the_hidden_path(wide):
    X, y = wide
    path = ncvpath(X, y, lambdas=[0.3], lambda_min_ratio=0.999999)
    assert path.converged.all()


def test_numbers_that_overflow_are_an_error_not_a_result(tall):
    X, y = tall
    with pytest.raises(ValueError, match="gamma .* must not overflow; got gamma=1.7e"):
        ncvpath(X, y, penalty="logsum", gamma=1.7e308, nlambda=5)


@pytest.mark.parametrize("measured", [0, 1])  # lambdas before that happens
@pytest.mark.parametrize("max_epochs", [1, 100])
def test_numbers_that_are_none_are_an_error_not_a_result(
    tall, monkeypatch, measured, max_epochs
):
    sizes, violations = [], loop.violations  # of blocks of lambdas

    def lost(solutions, *others):
        found = np.array(violations(solutions, *others))
        found[:, max(measured - sum(sizes), 0) :] = np.nan
        sizes.append(len(solutions))
        return found

    monkeypatch.setattr(loop, "violations", lost)
    with pytest.raises(FloatingPointError, match="rescale"):
        ncvpath(*tall, nlambda=40, max_epochs=max_epochs)
    assert sum(sizes) > measured
