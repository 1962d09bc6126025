"""The paper's systems and their relatives: one answer, several ways to it."""

import numpy as np
import pytest
from conftest import draw
from oracle import Problem
from scipy import sparse

from ncvpath import cv_ncvpath, kernels, ncvpath
from ncvpath.kernels.records import Coordinates, Penalty
from ncvpath.kernels.shared import MAX_IDLE_SWEEPS
from ncvpath.penalties import ROWS
from ncvpath.solver import gist, loop
from ncvpath.solver import problem as posed
from ncvpath.solver.certificates import Correlations
from ncvpath.solver.inner import INNER
from ncvpath.solver.mm import MAJORIZING
from ncvpath.solver.solutions import Solutions
from ncvpath.solver.working_set import RULES, nearest

SYSTEMS = [(rule, way) for way in INNER for rule in RULES]
SYSTEMS += [("fireworks", way) for way in MAJORIZING]
NAMES = [row.name for row in ROWS]

every_system = pytest.mark.parametrize("rule, way", SYSTEMS)
every_penalty = pytest.mark.parametrize("penalty", NAMES)


def system(rule, way):
    return dict(working_set=rule, solver=way)


@every_penalty
@every_system
def test_every_system_satisfies_fermat(rule, way, penalty):
    X, y = draw(40, 120, seed=2)
    path = ncvpath(
        X, y, penalty=penalty, nlambda=12, lambda_min_ratio=0.1, tol=1e-7,
        **system(rule, way),
    )
    assert path.converged.all()
    assert Problem(X, y, penalty=penalty).violations(path).max() <= 1.01e-7


HARD = dict(
    alpha=0.6, weights=np.linspace(0, 2, 60),
    penalty_factor=np.r_[0.0, np.inf, 0.3, 2.0, np.ones(56)],
)


@pytest.mark.parametrize("switches", [(True, True), (False, True), (True, False)])
@pytest.mark.parametrize("penalty", ["MCP", "logsum", "capped"])
@every_system
def test_ridge_weights_factors_and_switches(rule, way, penalty, switches):
    X, y = draw(60, 60, seed=5)
    X = X * np.linspace(0.5, 2, 60)
    options = HARD | dict(intercept=switches[0], standardize=switches[1])
    path = ncvpath(
        X, y, penalty=penalty, nlambda=10, lambda_min_ratio=0.05, tol=1e-7,
        **options, **system(rule, way),
    )
    assert path.converged.all()
    judge = Problem(X, y, penalty=penalty, **options)
    assert judge.violations(path).max() <= 1.01e-7


@every_system
def test_the_lasso_has_one_solution(rule, way):
    """From a cold start, where the working set has to be found."""
    X, y = draw(50, 150, seed=4, nonzero=10)
    options = dict(
        penalty="lasso", lambdas=[0.3, 0.1], warm_up=False, n_added=5, tol=1e-8
    )
    reference = ncvpath(X, y, **options, working_set="full")
    path = ncvpath(X, y, **options, **system(rule, way))
    np.testing.assert_allclose(
        path.beta.toarray(), reference.beta.toarray(), atol=1e-6
    )


@every_system
def test_sparse_columns_give_the_same(rule, way):
    rng = np.random.default_rng(3)
    X = sparse.csc_array(rng.random((60, 90)) * (rng.random((60, 90)) < 0.2))
    y = X[:, :4].sum(axis=1) + 0.1 * rng.standard_normal(60)
    options = dict(penalty="MCP", nlambda=10, tol=1e-9, **system(rule, way))
    ours, theirs = ncvpath(X, y, **options), ncvpath(X.toarray(), y, **options)
    edge = 10 if ours.convex_min is None else ours.convex_min
    assert edge > 2
    np.testing.assert_allclose(
        ours.beta[:, :edge].toarray(), theirs.beta[:, :edge].toarray(), atol=1e-6
    )
    judge = Problem(X.toarray(), y, penalty="MCP")
    assert judge.violations(ours).max() <= 1.01e-9


@every_system
def test_threads_do_not_change_bits(rule, way):
    X, y = draw(300, 4000, seed=6)
    options = dict(nlambda=5, lambda_min_ratio=0.4, **system(rule, way))
    one, four = (ncvpath(X, y, n_threads=k, **options) for k in (1, 4))
    assert (one.beta != four.beta).nnz == 0
    np.testing.assert_array_equal(one.intercept, four.intercept)


@pytest.mark.parametrize("way", ["bcd", "gist", "mm-cd"])
def test_a_tight_limit_is_kept_and_reported(way):
    X, y = draw(40, 120, seed=2)
    with pytest.warns(UserWarning, match="max_epochs"):
        path = ncvpath(X, y, nlambda=5, max_epochs=3, tol=1e-10, solver=way)
    assert path.n_epochs.max() == 3
    judged = Problem(X, y, penalty="MCP").violations(path)
    np.testing.assert_allclose(path.violation, judged, atol=1e-12)
    assert not path.converged.all()


@pytest.mark.parametrize("way", ["bcd", "gist", "mm-prox"])
def test_cross_validation_takes_any_system(way):
    X, y = draw(60, 30, seed=7)
    options = dict(penalty="lasso", nlambda=15, tol=1e-9, random_state=1)
    ours = cv_ncvpath(X, y, solver=way, **options)
    np.testing.assert_allclose(ours.cve, cv_ncvpath(X, y, **options).cve, rtol=1e-6)
    again = ours.fit.cross_validate(random_state=1)
    np.testing.assert_array_equal(again.cve, ours.cve)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@every_system
def test_correlated_columns_are_solved_to_the_end(rule, way, alpha):
    """What a sweep meets on its way is less than what it leaves behind."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60)) + 3 * rng.standard_normal((40, 1))
    y = X[:, :3] @ [2, -1, 1] + rng.standard_normal(40)
    options = dict(penalty="lasso", alpha=alpha)
    path = ncvpath(X, y, nlambda=10, **options, **system(rule, way))
    assert path.converged.all()
    assert Problem(X, y, **options).violations(path).max() <= 1.01e-6


def test_a_working_set_beyond_the_gram_matrix_is_solved_to_the_end():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 1500)) + 3 * rng.standard_normal((20, 1))
    y = X[:, :3] @ [2, -1, 1] + rng.standard_normal(20)
    for record in (False, True):
        path = ncvpath(X, y, penalty="lasso", alpha=0.1, nlambda=5, record=record)
        assert path.converged.all()


@pytest.mark.parametrize("way", ["bcd", "gist"])
def test_what_rounding_forbids_is_not_a_matter_of_sweeps(way):
    X, y = draw(40, 12, seed=2)
    with pytest.warns(UserWarning, match="rounding"):
        path = ncvpath(X, y, nlambda=3, tol=1e-18, solver=way, max_epochs=10**7)
    assert path.violation.max() < 1e-14
    # A few rounds that led nowhere, each until its sweeps have been idle long enough.
    assert path.n_epochs.max() < 10 * MAX_IDLE_SWEEPS


def test_warnings_of_a_cross_validation_give_reasons_of_failures_only():
    X, y = draw(60, 30, seed=7)
    with pytest.warns(UserWarning, match="did not reach") as caught:
        cv_ncvpath(
            X, y, penalty="lasso", nlambda=5, solver="mm-cd", max_epochs=12, tol=1e-9,
            random_state=1,
        )
    assert not any("one majorization" in str(item.message) for item in caught)


# ---- MaxVC -------------------------------------------------------------------------


def test_the_most_violated_are_measured_by_distance():
    u, l1 = np.array([3.0, -2.0, 0.5, 9.0]), np.ones(4)
    length, outside = np.array([1.0, 0.1, 1.0, 100.0]), np.arange(4)
    residual = Correlations(None, None, u)
    # Distances 2, 10, -0.5 and 0.08.
    for n_added, added in ((2, [0, 1]), (9, [0, 1, 2, 3])):
        found, touched = nearest(residual, u, l1, length, outside, n_added, False)
        assert sorted(found) == added and touched == 0


def test_maxvc_adds_as_many_as_asked_and_keeps_them_unless_pruned():
    X, y = draw(50, 150, seed=4, nonzero=10)
    options = dict(
        penalty="lasso", lambdas=0.05, warm_up=False, working_set="maxvc",
        solver="bcd", n_added=7, inexact=False, record=True,
    )
    kept = ncvpath(X, y, prune=False, **options).trace["working_set"].to_numpy()
    np.testing.assert_array_equal(np.diff(kept), 7)
    pruned = ncvpath(X, y, **options).trace["working_set"].to_numpy()
    assert pruned.max() < kept.max()


# ---- GIST --------------------------------------------------------------------------


@every_penalty
@pytest.mark.parametrize("t", [0.05, 0.3, 1.0, 40.0])
def test_proximal_point_minimises_each_coordinate(penalty, t):
    """Against a fine grid; where nothing holds it at zero."""
    row = ROWS[NAMES.index(penalty)]
    rule = Penalty(row.kind, row.gamma or 0.0)
    rng = np.random.default_rng(1)
    beta, q = rng.normal(0, 1, 40), rng.normal(0, 2, 40)
    l1, new = np.full(40, 0.7), np.empty(40)
    kernels.proximal_point(rule, l1, beta, q, t, new)
    reach = np.abs(beta + q / t).max() + 1
    grid = np.linspace(-reach, reach, 40_001)
    penalties = row.value(np.abs(grid), 0.7, row.gamma or 0.0)
    for target, point in zip(beta + q / t, new):
        own = t / 2 * (point - target) ** 2
        own += row.value(np.abs(point), 0.7, row.gamma or 0.0)
        lowest = (t / 2 * (grid - target) ** 2 + penalties).min()
        assert own <= lowest + 1e-9 * (1 + abs(lowest))


@every_penalty
def test_every_step_of_gist_lowers_the_objective(penalty):
    X, y = draw(40, 120, seed=8, nonzero=10)
    heights = []
    for most in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        with pytest.warns(UserWarning, match="max_epochs"):
            path = ncvpath(
                X, y, penalty=penalty, lambdas=0.1, warm_up=False, solver="gist",
                working_set="full", max_epochs=most, tol=1e-12,
            )
        heights.append(path.objective[0])
    assert (np.diff(heights) <= 1e-14).all()
    assert heights[-1] < heights[0]


@pytest.mark.parametrize("kind", [np.asfortranarray, sparse.csc_array])
@pytest.mark.parametrize("settings", [{}, {"solver": "bcd", "working_set": "full"}])
def test_sweeps_come_in_portions(kind, settings, monkeypatch):
    """An interrupt is heard between them; where they are cut changes nothing."""
    X, y = draw(30, 60, seed=3, nonzero=8)
    monkeypatch.setattr("ncvpath.solver.gram.GramCache.suits", lambda self, size: False)
    path = ncvpath(kind(X), y, nlambda=8, tol=1e-8, **settings)
    monkeypatch.setattr("ncvpath.matrices.portions.PORTION", 0)  # a sweep each
    other = ncvpath(kind(X), y, nlambda=8, tol=1e-8, **settings)
    assert path.n_epochs.sum() > 100
    np.testing.assert_array_equal(other.n_epochs, path.n_epochs)
    np.testing.assert_allclose(
        other.beta.toarray(), path.beta.toarray(), rtol=1e-9, atol=1e-12
    )


def test_gist_starts_from_nothing():
    """An empty set has nothing to move."""
    none = np.empty(0)
    no_features = none.astype(int)
    r = Coordinates(no_features, no_features, none, none, none, none)
    assert gist.minimise(None, Penalty(0, 0.0), r, none, 1e-9, 10) == 0


# ---- majorization-minimization -----------------------------------------------------


@pytest.mark.parametrize("way", MAJORIZING)
def test_the_lasso_is_one_majorization_and_says_so(way):
    X, y = draw(40, 120, seed=2)
    path = ncvpath(X, y, penalty="lasso", nlambda=5, solver=way)
    assert path.screening["majorizations"].tolist() == [0, 1, 1, 1, 1]
    assert path.converged.all()
    assert all("one majorization" in status for status in path.status[1:])


def test_only_majorizing_solvers_count_majorizations():
    X, y = draw(40, 12, seed=2)
    assert "majorizations" not in ncvpath(X, y, nlambda=3).screening
    many = ncvpath(X, y, nlambda=3, lambda_min_ratio=0.1, solver="mm-cd").screening
    assert many["majorizations"].iloc[-1] > 1


@pytest.mark.parametrize("way", MAJORIZING)
@pytest.mark.parametrize("penalty", ["MCP", "SCAD", "logsum", "capped"])
def test_majorization_reaches_the_same_objective_in_the_convex_part(way, penalty):
    X, y = draw(200, 10, seed=3)
    options = dict(penalty=penalty, nlambda=8, lambda_min_ratio=0.2, tol=1e-9)
    ours, other = ncvpath(X, y, solver=way, **options), ncvpath(X, y, **options)
    edge = 2 if penalty == "capped" else 8
    np.testing.assert_allclose(
        ours.objective[:edge], other.objective[:edge], rtol=1e-9
    )


@pytest.mark.parametrize("way", MAJORIZING)
def test_majorization_may_spend_all_its_sweeps(way):
    X, y = draw(40, 120, seed=2)
    options = dict(penalty="logsum", lambdas=0.1, warm_up=False, solver=way)
    path = ncvpath(X, y, **options)
    again = ncvpath(X, y, max_epochs=int(path.n_epochs[0]), **options)
    assert again.converged.all() and again.n_epochs == path.n_epochs


@pytest.mark.parametrize("penalty", ["MCP", "SCAD", "logsum", "capped"])
def test_every_majorization_lowers_the_objective(monkeypatch, penalty):
    heights, majorized = [], posed.Problem.majorized

    def watching(problem, beta, level):
        support, lam = np.flatnonzero(beta), np.array([level / problem.alpha])
        now = Solutions(problem, lam, support, beta[support][None])
        heights.append(now.objective[0])
        return majorized(problem, beta, level)

    monkeypatch.setattr(posed.Problem, "majorized", watching)
    X, y = draw(40, 120, seed=8, nonzero=10)
    path = ncvpath(
        X, y, penalty=penalty, lambdas=0.1, warm_up=False, solver="mm-cd", alpha=0.8
    )
    heights.append(path.objective[0])
    assert len(heights) > 3
    assert (np.diff(heights) <= 1e-9 * heights[0]).all()


@pytest.mark.parametrize("way", MAJORIZING)
def test_majorization_at_lambda_zero_is_least_squares(way):
    X, y = draw(60, 5, seed=3)
    path = ncvpath(X, y, lambdas=[0.5, 0.0], solver=way, tol=1e-9)
    A = np.column_stack([np.ones(60), X])
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(path.coef(which=1), expected, atol=1e-7)


@pytest.mark.filterwarnings("ignore:.*did not reach tol")
@pytest.mark.parametrize("off, words", [(1.0, "progress stopped"), (1e-13, "rounding")])
def test_majorization_that_no_longer_moves_ends(monkeypatch, off, words):
    """Were the two measures of a violation ever at odds, it would go on for ever."""
    X, y = draw(60, 12, seed=1)
    violations = loop.violations

    def at_odds(solutions, *rest):
        found = violations(solutions, *rest)
        if solutions.problem.majorizes:
            return found
        return np.full(1, off), np.full(1, off)

    monkeypatch.setattr(loop, "violations", at_odds)
    path = ncvpath(X, y, solver="mm-prox", nlambda=4, tol=1e-14 if off < 1 else 1e-6)
    assert all(words in status for status in path.status[1:])
    assert path.work["majorizations"].max() < 1000
