"""The one loop: blocks of lambdas, rounds, and how the work at a lambda ends."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import draw
from fitting import clean, cross_validate, fit, settings_of
from oracle import Problem
from scipy import sparse

from ncvpath import assign_folds, ncvpath
from ncvpath.matrices import open_matrix
from ncvpath.matrices.design import make_design
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import ThreadPool
from ncvpath.solver import follow, loop, working_set
from ncvpath.solver.certificates import Checked
from ncvpath.solver.finished import Status
from ncvpath.solver.inner import INNER, Solved
from ncvpath.solver.null_model import pose
from ncvpath.solver.solutions import Solutions
from ncvpath.solver.working_set import default_n_added

PENALTIES = [row.name for row in ROWS]
ONCE = "ignore:.*did not reach tol"


def hidden_partner(n=120, p=400, seed=3):
    """A feature that no correlation shows until another one has entered."""
    X, y = draw(n, p, seed)
    X[:, -1] = X[:, 0] + 0.3 * X[:, -1]
    return np.asfortranarray(X), 5 * (X[:, 0] - X[:, -1]) + 0.1 * y


def posed(X, y, penalty_factor=None, weights=None, **options):
    """The problem, its null state, settings and limits, as `ncvpath()` makes them."""
    settings = settings_of(**options)
    data = clean(X, y, weights, penalty_factor, settings)
    design = make_design(
        open_matrix(data.X, ThreadPool(1)), data.weights, settings.intercept,
        settings.standardize,
    )
    problem, state = pose(data, settings, design)
    limits = loop.Limits(
        settings.tol * problem.g0, settings.max_epochs, settings.working_set,
        settings.solver, settings.n_added or default_n_added(design.p),
        settings.n_added is None, settings.prune, settings.inexact, settings.record,
        settings.certify_from,
    )
    return problem, state, limits


@pytest.fixture
def singly(monkeypatch):
    """Fits with blocks of one lambda."""

    def one_by_one(*arguments, **options):
        with monkeypatch.context() as patch:
            patch.setitem(INNER, "cd", INNER["cd"]._replace(max_block=1))
            return ncvpath(*arguments, **options)

    return one_by_one


@pytest.fixture
def rounds(monkeypatch):
    """A list that will hold every round: what it began with, and what came of it."""
    found, solve_and_check = [], loop.solve_and_check

    def watched(problem, state, block, attempt, limits, ahead):
        start = state.beta.copy(), state.member.copy(), int(attempt.work["rounds"][0])
        outcome = solve_and_check(problem, state, block, attempt, limits, ahead)
        found.append((block.lambdas, *start, outcome, outcome.passed(limits.tol)))
        return outcome

    monkeypatch.setattr(loop, "solve_and_check", watched)
    return found


# ---- blocks --------------------------------------------------------------------------


MODELS = {
    "plain": {},
    "ridge": {"alpha": 0.6},
    "raw": {"standardize": False},
    "no intercept": {"intercept": False},
    "factors": {"penalty_factor": np.r_[0, 0, 0.5, 2, np.inf, np.ones(395)]},
    "weights": {"weights": np.random.default_rng(0).integers(0, 4, 120)},
}


@pytest.mark.parametrize("certify_from", [0, 1 << 60], ids=["certified", "all checked"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
def test_every_lambda_meets_fermat_over_all_features(
    rounds, penalty, options, certify_from
):
    X, y = hidden_partner()
    path = fit(X, y, certify_from, penalty=penalty, nlambda=40, lambda_min_ratio=0.1,
               **options)
    found = Problem(X, y, penalty=penalty, **options).violations(path)
    assert path.converged.all()
    assert found.max() <= path.tol
    np.testing.assert_allclose(path.violation, found, atol=1e-12)
    assert max(passed for *_, passed in rounds) > 3  # lambdas were finished together


def test_violations_of_others_within_the_tolerance_are_reported(rounds):
    X, y = hidden_partner()
    path = fit(
        X, y, penalty="lasso", nlambda=40, lambda_min_ratio=0.1, tol=0.05, n_added=1
    )
    found = Problem(X, y, penalty="lasso").violations(path)
    assert path.converged.all()
    np.testing.assert_allclose(path.violation, found, atol=1e-12)
    assert any((0 < outcome.outside[:n]).any() for *_, outcome, n in rounds)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("alpha", [1.0, 0.6])
@pytest.mark.parametrize("shape", [(80, 12), (60, 90)])
def test_blocks_and_single_lambdas_agree(singly, penalty, alpha, shape):
    X, y = draw(*shape, seed=5)
    rng = np.random.default_rng(6)
    X += 10 * rng.standard_normal(shape[1])
    weights = rng.uniform(0.5, 2, shape[0]) * (rng.random(shape[0]) > 0.1)
    factor = np.r_[0.0, np.inf, rng.uniform(0.5, 2, shape[1] - 2)]
    options = dict(penalty=penalty, alpha=alpha, weights=weights, tol=1e-11,
                   penalty_factor=factor, nlambda=40, lambda_min_ratio=0.2)
    path, other = ncvpath(X, y, **options), singly(X, y, **options)
    for name in ("beta", "intercept", "objective", "loss"):
        left, right = (getattr(each, name) for each in (path, other))
        left, right = (a.toarray() if name == "beta" else a for a in (left, right))
        np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-8)
    assert (path.df == other.df).all() and path.status == other.status
    assert (path.screening["rounds"].iloc[1:] > 0).all()


def test_nonconvex_blocks_lead_to_the_same_solutions_where_they_are_unique(singly):
    """With a nonconvex penalty who may enter decides which solution is found."""
    settings = dict(penalty="MCP", nlambda=40, lambda_min_ratio=0.3, tol=1e-10)
    compared = 0
    for seed in range(10):
        X, y = draw(25, 400, seed)
        path, usual = ncvpath(X, y, **settings), singly(X, y, **settings)
        inside = slice(0, (40 if usual.convex_min is None else usual.convex_min) + 1)
        np.testing.assert_allclose(
            path.beta.toarray()[:, inside], usual.beta.toarray()[:, inside], atol=1e-7
        )
        compared += usual.df[inside].max()
    assert compared > 20


@pytest.mark.parametrize("options", [
    dict(lambda_min_ratio=0), dict(lambdas=[0.5, 0.02]),
    dict(lambdas=[0.5, 0.4, 0.02], warm_up=False), dict(dfmax=3), dict(nlambda=1),
], ids=["zero", "hidden", "cold", "dfmax", "one"])
def test_odd_paths(singly, options):
    X, y = draw(200, 60, seed=4)
    path = fit(X, y, penalty="lasso", tol=1e-9, **options)
    usual = singly(X, y, penalty="lasso", tol=1e-9, **options)
    assert path.stopped == usual.stopped
    np.testing.assert_allclose(path.lambdas, usual.lambdas)
    np.testing.assert_allclose(path.beta.toarray(), usual.beta.toarray(), atol=1e-7)
    assert path.status == usual.status


def test_an_easy_path_takes_few_rounds(rounds):
    X, y = draw(60, 90, seed=5)
    path = ncvpath(X, y, penalty="lasso", nlambda=50)
    sizes = [len(outcome.solutions) for *_, outcome, _ in rounds]
    assert sum(passed for *_, passed in rounds) == 49
    assert len(sizes) <= 9 and max(sizes) <= INNER["cd"].max_block
    assert path.screening["rounds"].sum() <= 51  # hardly a lambda is tried twice


@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
def test_a_block_is_longer_than_the_one_before_by_little(rounds, penalty):
    X, y = hidden_partner()
    ncvpath(X, y, penalty=penalty, nlambda=100, n_added=3)
    first = [lambdas.size for lambdas, _, _, tries, _, _ in rounds if tries == 0]
    assert all(b <= a + loop.LONGER for a, b in zip(first, first[1:]))
    assert len(set(first)) > 3


@pytest.mark.parametrize("way, rule", [
    ("bcd", "fireworks"), ("bcd", "maxvc"), ("gist", "full"), ("mm-cd", "fireworks")
])
def test_other_systems_solve_one_lambda_at_a_time(rounds, way, rule):
    X, y = draw(60, 90, seed=5)
    ncvpath(X, y, nlambda=8, lambda_min_ratio=0.3, solver=way, working_set=rule)
    assert {lambdas.size for lambdas, *_ in rounds} == {1}


def test_coarse_grids_and_hard_lambdas_take_several_rounds():
    X, y = draw(60, 300, seed=7, nonzero=30)
    X += 3 * X[:, :1]  # correlated columns: Newton steps, too
    for options in (dict(nlambda=4), dict(nlambda=100, lambda_min_ratio=0.001)):
        path = ncvpath(X, y, penalty="MCP", **options)
        assert path.converged.all()
        assert path.screening["rounds"].max() > 1
        assert (path.screening["checked"] % 300 == 0).all()


def test_a_model_of_most_columns_is_followed_to_the_end():
    X, y = draw(100, 200, nonzero=60, noise=0.1)
    path = fit(X, y, penalty="lasso", lambda_min_ratio=0.01)
    assert path.converged.all() and path.df.max() > 60


@pytest.mark.parametrize("penalty", ["lasso", "MCP", "SCAD", "logsum"])
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_folds_are_what_their_rows_alone_give(penalty, options, far):
    X, y = hidden_partner()
    if options.get("intercept", True):
        X = np.asfortranarray(X + far * np.linspace(-1, 1, 400))
    labels = assign_folds(120, 4, random_state=1)
    settings = dict(penalty=penalty, tol=1e-10, lambda_min_ratio=0.3) | options
    cv = cross_validate(X, y, folds=labels, keep=True, nlambda=20, **settings)
    path = fit(X, y, nlambda=20, **settings)
    assert np.array_equal(cv.fit.beta.toarray(), path.beta.toarray())
    for fold in range(4):
        train = labels != fold
        own = settings.copy()
        if "weights" in own:
            own["weights"] = own["weights"][train]
        alone = ncvpath(X[train], y[train], lambdas=cv.lambdas, **own)
        edge = 19 if penalty == "lasso" else alone.convex_min
        edge = 5 if edge is None else edge
        np.testing.assert_allclose(
            cv.predictions[~train, : edge + 1],
            alone.predict(X[~train])[:, : edge + 1], atol=1e-8 * np.ptp(y),
        )


@pytest.mark.parametrize("certify_from", [0, 1 << 60], ids=["certified", "all checked"])
def test_the_state_is_that_of_the_last_finished_lambda(certify_from):
    X, y = hidden_partner()
    lengths = set()
    for penalty in PENALTIES:
        problem, state, limits = posed(X, y, penalty=penalty, n_added=3)
        limits = replace(limits, certify_from=certify_from)
        grid = problem.lambda_max * 0.93 ** np.arange(1, 40)
        walked, before = [], np.inf
        for part in follow.walk(problem, state, grid, limits, loop.rounds):
            solutions = part.solutions
            walked += solutions.lambdas.tolist()
            lengths.add(len(part))
            assert before > solutions.lambdas[0] and state.lam == solutions.lambdas[-1]
            before = state.lam
            np.testing.assert_array_equal(state.beta, solutions.full(len(part) - 1))
            support = np.flatnonzero(state.beta)
            eta = problem.design.columns(support) @ state.beta[support]
            residual = state.correlation.vector
            np.testing.assert_allclose(residual, problem.likelihood.y - eta, atol=1e-12)
            exact = problem.design.correlate(residual[None])[0]
            known = state.correlation.exact
            known = np.ones(400, dtype=bool) if known is None else known
            off = np.abs(state.correlation.values - exact)
            assert (off[known] <= 1e-12).all()
            assert (off <= state.correlation.slack + 1e-12).all()
        assert walked == grid.tolist()
    assert len(lengths) > 3


# ---- rounds --------------------------------------------------------------------------


def outcome_of(met, inside, outside, rounding):
    """What `passed` looks at."""
    solutions = type("Some", (), {"rounding": np.array(rounding)})()
    n = len(met)
    solved = Solved(solutions, np.zeros(n, int), np.zeros(n, int), np.array(met))
    return loop.Outcome(solved, None, np.array(inside), np.array(outside), None)


@pytest.mark.parametrize("what", ["met", "inside", "outside", "rounding"])
def test_the_lambdas_before_the_first_that_fails_are_finished(what):
    good = dict(met=[True] * 4, inside=[0.1] * 4, outside=[0.0] * 4, rounding=[0.0] * 4)
    assert outcome_of(**good).passed(0.1) == 4
    for k in range(4):
        for bad in ([0.2, np.nan] if what != "met" else [False]):
            numbers = good[what].copy()
            numbers[k] = bad
            if k < 3:
                numbers[3] = bad
            assert outcome_of(**good | {what: numbers}).passed(0.1) == k


@pytest.mark.parametrize("certify_from", [0, 1 << 60], ids=["certified", "all checked"])
@pytest.mark.parametrize("rule", ["fireworks", "maxvc"])
def test_a_rejected_lambda_is_tried_again_from_where_it_was_rejected(
    rounds, monkeypatch, rule, certify_from
):
    # Sets are chosen for the first lambda of a block alone, so that others fail.
    monkeypatch.setattr(working_set, "DARING", -2.0)
    X, y = draw(60, 300, seed=7, nonzero=30)
    X, kinds = X + X[:, :1], set()
    for penalty in PENALTIES:
        rounds.clear()
        path = fit(X, y, certify_from, penalty=penalty, nlambda=30, n_added=2,
                   lambda_min_ratio=0.05, working_set=rule)
        assert path.converged.all()
        finished = []
        for now, later in zip(rounds, rounds[1:] + [None]):
            lambdas, _, member, tries, outcome, passed = now
            finished += lambdas[:passed].tolist()
            if passed == len(outcome.solutions):
                continue
            kinds.add((min(passed, 1), min(tries, 1)))
            ahead, beta, others, next_tries, _, _ = later
            # The same lambda again, alone, from the rejected solution, with a larger
            # set.
            np.testing.assert_array_equal(ahead, lambdas[passed : passed + 1])
            np.testing.assert_array_equal(beta, outcome.solutions.full(passed))
            assert outcome.outside[passed] > 0 and (others > member).any()
            assert not (member & ~others).any()
            assert next_tries == (1 if passed else tries + 1)
        np.testing.assert_array_equal(finished, path.lambdas[1:])
    # At once and after others in a first round, and alone in a further one.
    assert kinds == {(0, 0), (1, 0), (0, 1)}


@pytest.mark.parametrize("way", ["bcd", "gist"])
def test_sets_are_pruned_between_rounds_where_that_pays(rounds, way):
    X, y = draw(50, 150, seed=4, nonzero=10)
    options = dict(lambdas=0.05, warm_up=False, n_added=3, solver=way, penalty="lasso")
    for prune in (True, False):
        rounds.clear()
        ncvpath(X, y, prune=prune, **options)
        left = [
            (now[2] & ~later[2]).sum() for now, later in zip(rounds, rounds[1:])
        ]
        used = [
            (now[4].solutions.full(0) != 0) & ~later[2]
            for now, later in zip(rounds, rounds[1:])
        ]
        assert len(left) > 5 and (max(left) > 0) == prune
        assert not np.any(used)  # what is in use stays


def test_objectives_never_rise_from_round_to_round():
    X, y = draw(50, 150, seed=4, nonzero=10)
    for penalty in PENALTIES:
        path = ncvpath(X, y, penalty=penalty, lambdas=0.05, warm_up=False, n_added=3,
                       solver="bcd", record=True)
        heights = path.trace["objective"].to_numpy()
        assert len(heights) > 5 and (np.diff(heights) <= 1e-12 * heights[0]).all()


@pytest.mark.plain
def test_violations_inside_and_outside_and_both_penalties():
    X, y = draw(30, 5)
    factor = np.array([1.0, 1.0, 1.0, np.inf, 0.0])
    problem, *_ = posed(X, y, penalty_factor=factor, penalty="lasso", alpha=0.5)
    features = np.array([0, 4])
    beta = np.array([[2.0, 0.0], [0.0, -3.0]])
    solutions = Solutions(problem, np.array([2.0, 1.0]), features, beta)
    # l1 = 1 and l2 = 1 at the first lambda, half as much at the second.
    u = np.array([[2.7, 1.4, 0.2, 9.0, -0.2], [-0.9, 0.1, 0.8, 9.0, 0.05]])
    inside, outside = loop.violations(solutions, u, solutions.member)
    np.testing.assert_allclose(inside, [0.3, 0.4])
    np.testing.assert_allclose(outside, [0.4, 0.3])
    np.testing.assert_allclose(solutions.objective - solutions.loss, [2.0 + 2.0, 0.0])
    u[0, 2] = u[1, 0] = np.nan
    inside, outside = loop.violations(solutions, u, solutions.member)
    assert np.isnan(outside[0]) and np.isnan(inside[1])


def test_from_a_cold_start_the_first_set_is_a_guess_solved_loosely(rounds):
    X, y = draw(50, 150, seed=4, nonzero=10)
    options = dict(lambdas=[0.1, 0.09], warm_up=False, n_added=7, penalty="lasso",
                   solver="bcd", tol=1e-8)
    path = ncvpath(X, y, **options)
    lambdas, beta, member, *_, outcome, passed = rounds[0]
    assert lambdas.tolist() == [0.1] and not beta.any() and member.sum() == 7
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    reach = np.abs(Z.T @ (y - y.mean()))
    assert set(np.flatnonzero(member)) == set(np.argsort(-reach)[:7])
    assert passed == 0 and outcome.inside[0] > 100 * 1e-8 * reach.max() / 50
    rounds.clear()
    exact = ncvpath(X, y, inexact=False, **options)
    assert rounds[0][4].inside[0] <= 1e-8 * reach.max() / 50
    np.testing.assert_allclose(path.beta.toarray(), exact.beta.toarray(), atol=1e-6)


@pytest.mark.parametrize("way", ["cd", "bcd"])
def test_warm_starts_save_work(way):
    X, y = draw(100, 300, seed=4, nonzero=10)
    options = dict(penalty="lasso", solver=way, tol=1e-8)
    path = ncvpath(X, y, nlambda=20, lambda_min_ratio=0.1, **options)
    cold = [
        ncvpath(X, y, lambdas=lam, warm_up=False, **options) for lam in path.lambdas
    ]
    assert path.n_epochs.sum() < sum(one.n_epochs[0] for one in cold)
    beta = np.column_stack([one.beta.toarray()[:, 0] for one in cold])
    np.testing.assert_allclose(path.beta.toarray(), beta, atol=1e-6)


# ---- how a lambda ends ---------------------------------------------------------------


def with_beta(solved, beta):
    """The same with other coefficients."""
    was = solved.solutions
    return solved._replace(
        solutions=Solutions(was.problem, was.lambdas, was.features, beta)
    )


def spoil(monkeypatch, spoilt, below):
    """From a lambda down, what the solver found is something else."""
    way = INNER["cd"]

    def solve(problem, state, features, lambdas, *rest):
        solved = way.solve(problem, state, features, lambdas[:1], *rest)
        if lambdas[0] < below:
            start = state.beta[features][None]
            solved = with_beta(solved, spoilt(solved.solutions.beta, start))
        return solved

    monkeypatch.setitem(INNER, "cd", way._replace(solve=solve))


@pytest.mark.filterwarnings(ONCE)
@pytest.mark.parametrize("times", [1e3, 1e9, 1e20, 1e200, np.inf])
@pytest.mark.parametrize("penalty", ["lasso", "MCP", "logsum"])
def test_what_has_run_away_is_undone(monkeypatch, penalty, times):
    X, y = draw(60, 90, seed=5)
    options = dict(penalty=penalty, nlambda=10, lambda_min_ratio=0.3)
    usual = ncvpath(X, y, **options)
    edge = usual.lambdas[5]

    def run_away(beta, start):
        return np.multiply(times, beta, out=np.zeros_like(beta), where=beta != 0)

    spoil(monkeypatch, run_away, edge)
    path = ncvpath(X, y, **options)
    beta, expected = path.beta.toarray(), usual.beta.toarray()
    np.testing.assert_allclose(beta[:, :6], expected[:, :6], rtol=1e-4, atol=1e-6)
    # The solution of the last lambda that was finished, and its true violation.
    for k in range(6, 10):
        np.testing.assert_array_equal(beta[:, k], beta[:, 5])
    found = Problem(X, y, penalty=penalty).violations(path)
    np.testing.assert_allclose(path.violation, found, atol=1e-12)
    assert path.converged.tolist() == [True] * 6 + [False] * 4
    assert not any(status.startswith("max_epochs") for status in path.status)


@pytest.mark.filterwarnings(ONCE)
def test_a_lambda_that_does_not_move_is_given_up_after_some_rounds(monkeypatch):
    X, y = draw(60, 90, seed=5)
    options = dict(penalty="lasso", nlambda=10, lambda_min_ratio=0.3, n_added=90)
    edge = ncvpath(X, y, **options).lambdas[5]
    spoil(monkeypatch, lambda beta, start: start, edge)
    path = ncvpath(X, y, **options)
    assert set(path.status[6:]) == {Status.STALLED.value}
    # The first, and then those without progress.
    assert (path.work["rounds"][6:] == loop.PATIENCE + 2).all()
    found = Problem(X, y, penalty="lasso").violations(path)
    np.testing.assert_allclose(path.violation, found, atol=1e-12)


def test_what_is_met_too_late_is_solved_further(monkeypatch):
    """Sweeps that only think they have arrived are sent on, with a closer target."""
    X, y = draw(60, 12, seed=5)
    way, targets = INNER["cd"], []

    def solve(problem, state, features, lambdas, target, *rest):
        targets.append(target)
        solved = way.solve(problem, state, features, lambdas[:1], target, *rest)
        start = state.beta[features]
        return with_beta(solved, start + 0.999 * (solved.solutions.beta - start))

    monkeypatch.setitem(INNER, "cd", way._replace(solve=solve))
    path = ncvpath(X, y, penalty="lasso", nlambda=3, lambda_min_ratio=0.3, tol=1e-8)
    assert path.converged.all() and (path.work["rounds"][1:] == 3).all()
    np.testing.assert_allclose(np.array(targets[1:3]) / targets[0], [0.2, 0.04])


@pytest.mark.parametrize("way", ["cd", "bcd", "gist", "mm-cd", "mm-prox"])
def test_sweeps_are_limited_at_each_lambda(way):
    X, y = draw(40, 120, seed=2, nonzero=10)
    with pytest.warns(UserWarning, match="max_epochs"):
        path = ncvpath(X, y, nlambda=8, max_epochs=3, tol=1e-12, solver=way)
    assert path.n_epochs.max() == 3 and not path.converged.all()
    assert Status.MAX_EPOCHS.value in path.status
    found = Problem(X, y, penalty="MCP").violations(path)
    np.testing.assert_allclose(path.violation, found, atol=1e-12)
    out = np.array(path.status) == Status.MAX_EPOCHS.value
    assert (path.n_epochs[out] == 3).all()


def test_what_rounding_forbids_is_said(rounds):
    X, y = hidden_partner()
    with pytest.warns(UserWarning, match="rounding"):
        path = fit(X, y, penalty="lasso", nlambda=5, tol=1e-18)
    assert not path.converged[1:].any()
    assert set(path.status[1:]) == {Status.ROUNDING.value}
    assert path.violation.max() < 1e-13
    assert all(passed == 0 for *_, passed in rounds)


@pytest.mark.parametrize("certify_from", [0, 1 << 60], ids=["certified", "all checked"])
def test_a_reported_violation_is_never_less_than_rounding(certify_from):
    """Where rounding exceeds tol no more can be known."""
    X, y = draw(60, 90, seed=5)
    problem, *_ = posed(X, y, penalty="lasso")
    with pytest.warns(UserWarning, match="rounding"):
        path = fit(X, y, certify_from, penalty="lasso", nlambda=5, tol=1e-17)
    beta = path.beta.toarray() * X.std(axis=0)[:, None]
    least = problem.rounding.in_violations(np.arange(90), beta.T) / problem.g0
    assert (path.violation[1:] >= least[1:] * (1 - 1e-9)).all()


# ---- the ends of the path ------------------------------------------------------------


@pytest.mark.parametrize("way", ["cd", "gist", "mm-cd"])
@pytest.mark.parametrize("free", [False, True], ids=["all penalised", "one free"])
def test_the_null_model_stays_from_lambda_max_up(way, free):
    X, y = draw(60, 90, seed=5)
    factor = np.r_[0.0 if free else 1.0, np.ones(89)]
    options = dict(penalty_factor=factor, solver=way, record=True)
    top = ncvpath(X, y, nlambda=1, **options).lambdas[0]
    lambdas = top * np.array([3.0, 1.0, 1 - 1e-13, 0.9])
    path = ncvpath(X, y, lambdas=lambdas, **options)
    assert path.df.tolist()[:3] == [int(free)] * 3 and path.df[3] > free
    assert path.converged.all()
    assert (path.violation[:3] <= 1e-12).all()
    for name in ("rounds", "epochs", "newton_steps", "working_set", "strong"):
        assert not path.work[name][:3].any()
    assert path.work["checked"][:3].tolist() == [90] * 3
    assert (path.work["step"][:3] == 1).all()
    np.testing.assert_allclose(path.objective[:3], path.objective[0], rtol=1e-14)


def test_rounding_of_the_null_model_is_said():
    X, y = draw(60, 9, seed=5)
    factor = np.r_[0.0, np.ones(8)]
    with pytest.warns(UserWarning, match="rounding"):
        path = ncvpath(X, y, nlambda=1, penalty_factor=factor, tol=1e-18)
    assert path.status == (Status.ROUNDING.value,)


@pytest.mark.parametrize("way", ["cd", "bcd", "gist", "mm-cd"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_lambda_zero_is_least_squares(penalty, way):
    X, y = draw(60, 12, seed=3)
    factor = np.r_[np.ones(10), 0.0, np.inf]
    path = ncvpath(X, y, lambdas=[0.5, 0.0], penalty=penalty, penalty_factor=factor,
                   solver=way)
    A = np.column_stack([np.ones(60), X[:, :11]])
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(path.coef(which=1)[:12], expected, atol=1e-12)
    assert path.converged.all() and path.violation[1] < 1e-14
    assert path.df[1] == 11


@pytest.mark.parametrize("way", ["cd", "bcd"])
def test_of_many_solutions_at_lambda_zero_one_is_found_and_said_to_be_so(way):
    X, y = draw(20, 40, seed=3)
    path = ncvpath(X, y, lambdas=[0.5, 0.1, 0.0], penalty="lasso", solver=way,
                   working_set="full" if way == "bcd" else "fireworks", tol=1e-5)
    assert path.status[2] == Status.ONE_OF_MANY.value and path.converged.all()
    assert path.loss[2] < 1e-6 * path.loss[1]


# ---- recording -----------------------------------------------------------------------


SYSTEMS = [
    dict(), dict(working_set="maxvc", solver="bcd", n_added=3), dict(solver="gist"),
    dict(working_set="full"), dict(solver="mm-cd", nlambda=8), dict(alpha=0.5),
    dict(lambdas=[0.3, 0.05], warm_up=False, n_added=3), dict(lambda_min_ratio=0),
]


@pytest.mark.parametrize("certify_from", [0, 1 << 60], ids=["certified", "all checked"])
@pytest.mark.parametrize("options", SYSTEMS, ids=str)
def test_a_record_adds_nothing_to_the_numbers(options, certify_from):
    X, y = draw(60, 200, seed=5, nonzero=10)
    settings = dict(penalty="MCP", nlambda=30, lambda_min_ratio=0.1) | options
    plain, recorded = (
        fit(X, y, certify_from, record=record, **settings) for record in (False, True)
    )
    assert plain.trace is None
    assert len(recorded.trace) == max(recorded.work["rounds"].sum(), 0) + sum(
        recorded.work["rounds"] == 0
    )
    assert (plain.beta != recorded.beta).nnz == 0
    for name in ("intercept", "objective", "loss", "violation"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(recorded, name))
    assert plain.status == recorded.status
    for name in set(plain.work) - {"seconds"}:
        np.testing.assert_array_equal(plain.work[name], recorded.work[name])


def test_what_is_recorded_of_the_path_does_not_change_the_folds():
    X, y = hidden_partner()
    plain, recorded = (
        cross_validate(
            X, y, nfolds=3, random_state=0, nlambda=20, gamma=1.5, record=record
        )
        for record in (False, True)
    )
    assert recorded.fit.trace is not None
    np.testing.assert_array_equal(plain.cve, recorded.cve)


# ---- solutions of a block ------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("kind", [np.asfortranarray, sparse.csc_array])
def test_residuals_of_several_solutions(kind):
    X, y = draw(30, 8, seed=9)
    weights = np.r_[1, 0, np.ones(28)]
    problem, *_ = posed(kind(X), y, weights=weights, penalty="lasso")
    design, features = problem.design, np.array([0, 2, 5, 7])
    beta = np.array([[0.0, 0, 0, 0], [0, -1, 2, 0], [0.5, 1, 0, -3]])
    found = Solutions(problem, np.array([0.3, 0.2, 0.1]), features, beta)
    Z = (X - design.center) / design.scale
    counted = design.weights > 0
    expected = np.where(counted, problem.likelihood.y - beta @ Z[:, features].T, 0.0)
    np.testing.assert_allclose(found.residual, expected, atol=1e-13)
    assert not found.residual[:, ~counted].any()
    np.testing.assert_allclose(found.loss, 0.5 * expected**2 @ design.weights)
    for k in range(3):
        one = found.part(k, k + 1)
        np.testing.assert_array_equal(one.residual[0], found.residual[k])
        assert found.full(k)[features].tolist() == beta[k].tolist()
        assert np.count_nonzero(found.full(k)) == np.count_nonzero(beta[k])


@pytest.mark.plain
def test_a_check_leaves_its_correlations_to_the_state():
    """Each row is a copy: what is resolved at one lambda is not another's."""
    X, y = draw(40, 8, seed=9)
    problem, *_ = posed(X, y, penalty="lasso")
    solutions = Solutions(
        problem, np.array([0.3, 0.2]), np.array([1]), np.array([[0.0], [1.0]])
    )
    values = problem.design.correlate(solutions.residual) + 0.01
    exact = np.zeros(8, dtype=bool)
    checked = Checked(values, exact, np.array([0.01, 0.02]), np.zeros(2))
    assert checked.certified.tolist() == [8, 8]
    row = checked.row(solutions, 1)
    assert row.slack == 0.02 and row.resolve(np.arange(8)) == 8
    np.testing.assert_allclose(row.values + 0.01, values[1], atol=1e-14)
    assert not exact.any()
