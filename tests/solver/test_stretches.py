"""Walks by stretches: on few candidates, and yet right for everyone."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import draw
from oracle import Problem
from scipy import sparse

from ncvpath import assign_folds, cv_ncvpath, ncvpath
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import make_design
from ncvpath.penalties import ROWS, Penalty
from ncvpath.runtime.threads import Crew
from ncvpath.solver import certificates, stretches
from ncvpath.solver.certificates import Certificates
from ncvpath.solver.gram import GramCache
from ncvpath.solver.problem import null_state

PENALTIES = [row.name for row in ROWS]


@pytest.fixture
def seen(monkeypatch):
    """Small problems are walked like large ones; what happened is written down."""
    monkeypatch.setattr(certificates, "SMALL", 0)
    monkeypatch.setattr(stretches, "SHARE", 0.25)
    monkeypatch.setattr(stretches, "SPARE", (0.0, 0.0))
    monkeypatch.setattr(stretches, "FEWEST", 1)
    monkeypatch.setattr(stretches, "LONGEST", 16)
    found = {"lengths": [], "kept": [], "candidates": [], "by all": 0}
    among, check, all_of_them = (
        stretches.walk_among, stretches.checked, stretches.take_steps
    )

    def walk_among(problem, state, some, lambdas, limits):
        found["candidates"].append(some.size)
        found["lengths"].append(lambdas.size)
        return among(problem, state, some, lambdas, limits)

    def checked(*arguments):
        kept, back = check(*arguments)
        found["kept"].append(len(kept))
        return kept, back

    def take_steps(problem, state, lambdas, limits):
        if problem.design.p == found["p"]:
            found["by all"] += lambdas.size
        return all_of_them(problem, state, lambdas, limits)

    monkeypatch.setattr(stretches, "walk_among", walk_among)
    monkeypatch.setattr(stretches, "checked", checked)
    monkeypatch.setattr(stretches, "take_steps", take_steps)
    return found


@pytest.fixture
def paths_too(monkeypatch):
    """Paths walk as folds do, so that every lambda can be judged."""
    monkeypatch.setattr("ncvpath.path.take_steps", stretches.take_stretches)


def hidden_partner(n=120, p=400, seed=3):
    """A feature that nobody sees until another one has entered."""
    X, y = draw(n, p, seed)
    X[:, -1] = X[:, 0] + 0.3 * X[:, -1]
    return np.asfortranarray(X), 5 * (X[:, 0] - X[:, -1]) + 0.1 * y


MODELS = {
    "plain": {},
    "ridge": {"alpha": 0.6},
    "raw": {"standardize": False},
    "no intercept": {"intercept": False},
    "factors": {"penalty_factor": np.r_[0, 0, 0.5, 2, np.inf, np.ones(395)]},
    "weights": {"weights": np.random.default_rng(0).integers(0, 4, 120)},
}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
def test_every_lambda_meets_fermat_over_all_features(
    seen, paths_too, penalty, options
):
    seen["p"] = 400
    X, y = hidden_partner()
    path = ncvpath(X, y, penalty=penalty, nlambda=40, lambda_min_ratio=0.1, **options)
    found = Problem(X, y, penalty=penalty, **options).violations(path)
    assert path.converged.all()
    assert found.max() <= path.tol
    np.testing.assert_allclose(path.violation, found, atol=1e-12)
    assert sum(seen["kept"]) >= 15 and max(seen["candidates"]) <= 100


def test_somebody_objects_and_is_heard(seen, paths_too, monkeypatch):
    seen["p"] = 400
    monkeypatch.setattr(stretches, "SHARE", 0.1)
    X, y = hidden_partner()
    path = ncvpath(X, y, penalty="lasso", nlambda=40, lambda_min_ratio=0.1)
    assert path.beta[[-1], :].toarray()[0, -1] != 0
    # After the first objection stretches are short, and grow again.
    assert seen["lengths"][:4] == [16, 2, 3, 4]
    assert 0 < seen["kept"][0] < 16 and seen["kept"][1:4] == [2, 3, 4]


def test_violations_of_others_within_the_tolerance_are_reported(
    seen, paths_too, monkeypatch
):
    seen["p"] = 400
    monkeypatch.setattr(stretches, "SHARE", 0.1)
    X, y = hidden_partner()
    path = ncvpath(X, y, penalty="lasso", nlambda=40, lambda_min_ratio=0.1, tol=0.05)
    found = Problem(X, y, penalty="lasso").violations(path)
    assert path.converged.all() and sum(seen["kept"]) > 20
    np.testing.assert_allclose(path.violation, found, atol=1e-12)


@pytest.mark.parametrize("penalty", ["lasso", "MCP", "SCAD", "logsum"])
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_folds_are_what_their_rows_alone_give(seen, penalty, options, far):
    seen["p"] = 400
    X, y = hidden_partner()
    if options.get("intercept", True):
        X = np.asfortranarray(X + far * np.linspace(-1, 1, 400))
    labels = assign_folds(120, 4, random_state=1)
    settings = dict(penalty=penalty, tol=1e-10, lambda_min_ratio=0.3) | options
    cv = cv_ncvpath(X, y, folds=labels, keep=True, nlambda=20, **settings)
    path = ncvpath(X, y, nlambda=20, **settings)
    assert sum(seen["kept"]) >= 40
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


def test_too_many_features_in_use_are_for_all(seen, paths_too):
    """The walk goes on with everyone where candidates would be most of X."""
    seen["p"] = 200
    X, y = draw(100, 200, nonzero=60, noise=0.1)
    path = ncvpath(X, y, penalty="lasso", lambda_min_ratio=0.01)
    assert path.converged.all() and path.df.max() > 60
    assert 0 < sum(seen["kept"]) and seen["by all"] > 20
    assert sum(seen["kept"]) + seen["by all"] == 100


@pytest.mark.parametrize("options", [
    dict(lambda_min_ratio=0), dict(lambdas=[0.5, 0.02]),
    dict(lambdas=[0.5, 0.4, 0.02], warm_up=False), dict(dfmax=3), dict(nlambda=1),
], ids=["zero", "hidden", "cold", "dfmax", "one"])
def test_odd_paths(seen, paths_too, monkeypatch, options):
    seen["p"] = 60
    X, y = draw(200, 60, seed=4)
    path = ncvpath(X, y, penalty="lasso", tol=1e-9, **options)
    monkeypatch.undo()
    usual = ncvpath(X, y, penalty="lasso", tol=1e-9, **options)
    assert path.stopped == usual.stopped
    np.testing.assert_allclose(path.lambdas, usual.lambdas)
    np.testing.assert_allclose(path.beta.toarray(), usual.beta.toarray(), atol=1e-7)
    assert path.status == usual.status


def test_the_state_is_that_of_the_last_step_that_was_kept(
    seen, paths_too, monkeypatch
):
    seen["p"] = 400
    monkeypatch.setattr(stretches, "SHARE", 0.2)
    settle_in, shares = stretches.settle_in, set()

    def watched(problem, state, some, gram, kept, correlation):
        lam, design = state.lam, problem.design
        settle_in(problem, state, some, gram, kept, correlation)
        shares.add(np.sign(len(kept)) + (len(kept) == seen["lengths"][-1]))
        assert state.lam == (kept[-1].lam if kept else lam)
        support = np.flatnonzero(state.beta)
        assert kept == [] or (support == kept[-1].support).all()
        residual = problem.response - design.columns(support) @ state.beta[support]
        np.testing.assert_allclose(state.fit.residual, residual, atol=1e-12)
        exact = design.correlate(residual)
        assert np.abs(state.correlation - exact).max() <= 0.5 * state.lam
        np.testing.assert_allclose(
            state.correlation[state.exact], exact[state.exact], atol=1e-12
        )
        assert (np.abs(state.feasible) <= state.lam * (1 + 1e-12)).all()
        assert kept == [] or (state.member == (state.beta != 0)).all()
        known = state.gram.features[: state.gram.known]
        assert state.fit.cache is state.gram
        np.testing.assert_allclose(
            state.gram.block(known), design.gram(known, known), atol=1e-12
        )

    check, nothing = stretches.checked, certificates.LookBack([], None, np.array([399]))

    def checked(*arguments):
        kept, back = check(*arguments)
        return (kept, back) if shares else ([], nothing)  # the first one is refused

    monkeypatch.setattr(stretches, "settle_in", watched)
    monkeypatch.setattr(stretches, "checked", checked)
    X, y = hidden_partner()
    for penalty in PENALTIES:
        ncvpath(X, y, penalty=penalty, nlambda=60, lambda_min_ratio=0.05)
    assert shares == {0, 1, 2}  # none, some, and all of the steps


def test_whoever_has_objected_stays_until_there_is_progress(
    seen, paths_too, monkeypatch
):
    """Else two could take turns for ever."""
    seen["p"] = 400
    monkeypatch.setattr(stretches, "SHARE", 0.1)
    check, sets = stretches.checked, []

    def checked(problem, state, some, steps, tol):
        sets.append(set(some))
        if len(sets) in (1, 2, 3):  # others object, whatever happens
            outside = np.setdiff1d(np.arange(400), some)[-1:]
            return [], certificates.LookBack([], None, outside)
        return check(problem, state, some, steps, tol)

    monkeypatch.setattr(stretches, "checked", checked)
    X, y = hidden_partner()
    path = ncvpath(X, y, penalty="lasso", nlambda=10, lambda_min_ratio=0.5)
    assert path.converged.all()
    first, second = (max(set(range(400)) - some) for some in sets[:2])
    assert first in sets[1] and {first, second} <= sets[2]


def test_candidates_are_renewed_before_a_strong_feature_is_missed(
    seen, paths_too, monkeypatch
):
    """With a nonconvex penalty who may enter decides which solution is found."""
    seen["p"], found, renewed = 400, stretches.take_steps, 0
    monkeypatch.setattr(stretches, "SHARE", 0.08)
    settings = dict(penalty="MCP", nlambda=40, lambda_min_ratio=0.3, tol=1e-10)
    for seed in range(10):
        X, y = draw(25, 400, seed)
        monkeypatch.setattr("ncvpath.path.take_steps", stretches.take_stretches)
        path = ncvpath(X, y, **settings)
        renewed += sum(0 < k < n for k, n in zip(seen["kept"], seen["lengths"]))
        monkeypatch.setattr("ncvpath.path.take_steps", found)
        usual = ncvpath(X, y, **settings)
        inside = slice(0, (40 if usual.convex_min is None else usual.convex_min) + 1)
        np.testing.assert_allclose(
            path.beta.toarray()[:, inside], usual.beta.toarray()[:, inside], atol=1e-7
        )
    assert renewed > 5


def test_what_is_recorded_of_the_path_does_not_change_the_folds(seen):
    seen["p"] = 400
    X, y = hidden_partner()
    plain, recorded = (
        cv_ncvpath(X, y, nfolds=3, random_state=0, nlambda=20, gamma=1.5, record=record)
        for record in (False, True)
    )
    assert recorded.fit.trace is not None
    np.testing.assert_array_equal(plain.cve, recorded.cve)


def test_there_are_some_candidates_or_none(seen, paths_too, monkeypatch):
    seen["p"] = 400
    monkeypatch.setattr(stretches, "SHARE", 1e-9)
    X, y = hidden_partner()
    assert ncvpath(X, y, penalty="lasso", nlambda=5).converged.all()
    assert not seen["lengths"]


def test_what_does_not_converge_is_left_to_the_usual_walk(seen, paths_too):
    seen["p"] = 400
    X, y = hidden_partner()
    with pytest.warns(UserWarning, match="rounding"):
        path = ncvpath(X, y, penalty="lasso", nlambda=5, tol=1e-18)
    assert sum(seen["kept"]) == 0 and not path.converged[1:].any()


@pytest.mark.parametrize("options, X_like", [
    (dict(solver="bcd"), np.asfortranarray), (dict(working_set="maxvc"), np.asarray),
    (dict(max_epochs=999), np.asfortranarray), ({}, sparse.csc_array),
])
def test_unusual_wishes_are_not_for_stretches(seen, options, X_like):
    X, y = draw(60, 90)
    cv_ncvpath(X_like(X), y, penalty="lasso", nlambda=5, nfolds=3, **options)
    assert not seen["lengths"]


def test_short_numbers_are_not_for_stretches(seen):
    """Compiled walks are of float64 only."""
    usual = SimpleNamespace(
        working_set="fireworks", solver="cd", max_epochs=1000, record=False
    )
    for dtype in (float, np.float32, np.int8):
        matrix = dense_matrix(np.ones((3, 2), dtype, order="F"), Crew(1))
        assert stretches.suits(matrix, usual) == (dtype is float)


def standardized(X):
    n = X.shape[0]
    return make_design(dense_matrix(X, Crew(1)), np.full(n, 1 / n), True, True)


@pytest.mark.plain
def test_a_look_back_ends_before_the_first_objection():
    X, y = draw(60, 500, seed=5)
    design, rng = standardized(X), np.random.default_rng(0)
    references = null_state(design, y - y.mean(), np.ones(500), False).certificates
    residuals = (y - y.mean()) * np.linspace(1, 0.8, 6)[:, None]
    residuals += 0.05 * rng.standard_normal(residuals.shape)
    residuals -= residuals.mean(axis=1, keepdims=True)
    true = np.array([design.correlate(residual) for residual in residuals])
    member = np.zeros(500, dtype=bool)
    member[np.argsort(-np.abs(true).max(axis=0))[:50]] = True
    reach = np.abs(true[:, ~member]).max(axis=1)
    levels = 1.01 * reach
    for cut in range(7):
        limit = levels.copy()
        if cut < 6:
            limit[cut] = 0.99 * reach[cut]
        back = references.look_back(
            residuals, member, np.ones(500), limit, 0.0, np.full(6, np.inf)
        )
        assert len(back.worst) == cut
        assert (cut == 6) == (back.objecting.size == 0)
        if cut < 6:
            objecting = np.flatnonzero((np.abs(true[cut]) > limit[cut]) & ~member)
            assert set(objecting) <= set(back.objecting)
            assert not member[back.objecting].any()
        if cut:
            off = np.abs(back.correlation - true[cut - 1])
            assert off.max() <= certificates.CLOSE * limit.max()
    # It ends, too, with the first that calls somebody.
    for cut in range(5):
        cuts = np.full(6, np.inf)
        cuts[cut] = 0.2 * reach[cut]
        back = references.look_back(
            residuals, member, np.ones(500), levels, 0.0, cuts
        )
        assert len(back.worst) == cut + 1 and back.objecting.size == 0
    # A tolerance lets the same pass.
    tol = 0.02 * reach.max()
    back = references.look_back(
        residuals, member, np.ones(500), 0.99 * reach, tol, np.full(6, np.inf)
    )
    np.testing.assert_allclose(back.worst, 0.01 * reach, rtol=1e-6)


def test_one_pass_learns_what_is_new(monkeypatch):
    X, y = draw(60, 500, seed=5)
    design, rng = standardized(X), np.random.default_rng(0)
    references = null_state(design, y - y.mean(), np.ones(500), False).certificates
    steps = rng.standard_normal((2, 60))
    residuals = np.array([y - y.mean() + a * steps[0] + b * steps[1]
                          for a, b in rng.standard_normal((9, 2))])
    passes, correlate = [], type(design).correlate_many

    def counted(self, some):
        passes.append(len(some))
        return correlate(self, some)

    monkeypatch.setattr(type(design), "correlate_many", counted)
    touched, look = [], type(design).correlate
    monkeypatch.setattr(
        type(design), "correlate",
        lambda self, r, who=None: touched.append(who) or look(self, r, who),
    )
    member, level = np.zeros(500, dtype=bool), 1.01 * np.abs(
        np.array([look(design, r) for r in residuals])
    ).max()
    back = references.look_back(
        residuals, member, np.ones(500), np.full(9, level), 0.0, np.full(9, np.inf)
    )
    assert len(back.worst) == 9
    assert passes == [2]  # the others are combinations
    assert not touched  # few are not certified, and looked at


@pytest.mark.plain
def test_a_residual_that_leaves_many_uncertified_is_learnt(monkeypatch):
    monkeypatch.setattr(certificates, "TOGETHER", 1)
    X, y = draw(60, 500, seed=5)
    design, rng = standardized(X), np.random.default_rng(0)
    references = null_state(design, y - y.mean(), np.ones(500), False).certificates
    residuals = rng.standard_normal((3, 60))
    residuals -= residuals.mean(axis=1, keepdims=True)
    true = np.abs([design.correlate(r) for r in residuals])
    levels = 1.01 * true.max(axis=1)
    before = references.count
    back = references.look_back(
        residuals, np.zeros(500, dtype=bool), np.ones(500), levels, 0.0,
        np.full(3, np.inf),
    )
    assert len(back.worst) == 3 and references.count == before + 3
    np.testing.assert_allclose(np.abs(back.correlation), true[2], atol=1e-9)


@pytest.mark.parametrize("far", [0.0, 1e5])
def test_estimates_of_many_residuals_are_as_good_as_they_say(far):
    X, y = draw(200, 300, seed=6)
    X = np.asfortranarray(X + far)
    design = standardized(X)
    references, rng = Certificates(design), np.random.default_rng(1)
    base = rng.standard_normal((6, 200))
    for _ in range(3 * references.capacity):  # more than it can keep
        references.learn(base.T @ rng.standard_normal(6) + rng.standard_normal(200))
        assert references.count <= references.capacity
    residuals = rng.standard_normal((5, 6)) @ base + rng.standard_normal((5, 200))
    estimates = np.empty((5, 300))
    slack = references._estimates(residuals, estimates)
    exact = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.longdouble).T
    exact = (exact @ residuals.T / 200).T
    assert (np.abs(estimates - exact) <= slack[:, None]).all()
    estimates = np.empty((references.capacity, 300))
    assert references._estimates(references.residuals, estimates).max() <= 1e-9


@pytest.mark.plain
def test_residuals_of_several_solutions():
    X, y = draw(30, 8, seed=9)
    weights = np.r_[0, 0, np.full(28, 1 / 28)]
    design = make_design(dense_matrix(X, Crew(1)), weights, True, True)
    supports = [np.arange(0), np.array([2, 5]), np.array([0, 2, 7])]
    values = [np.linspace(-1, 2, support.size) for support in supports]
    found = np.full((3, 30), np.nan)
    design.kernels.residuals_along(
        design.matrix.flat, design.center, design.scale, weights, y,
        np.array([0, 2, 5]), np.concatenate(supports), np.concatenate(values), found,
    )
    for row, support, beta in zip(found, supports, values):
        np.testing.assert_array_equal(row, design.residual(y, support, beta))
    assert not found[:, :2].any()


def test_products_are_known_by_other_numbers():
    X, _ = draw(30, 8)
    design = standardized(X)
    cache, some = GramCache(design), np.array([1, 3, 4, 6])
    cache.slots(np.array([6, 3]))
    place = np.full(8, -1)
    place[some] = np.arange(4)
    few = stretches.chosen(design, some)
    there = cache.renumbered(few, place)
    expected = few.gram(np.arange(4), np.arange(4))
    np.testing.assert_allclose(there.block(np.array([0, 1, 3])),
                               expected[np.ix_([0, 1, 3], [0, 1, 3])], atol=1e-12)
    back = there.renumbered(design, some)
    assert set(back.features[: back.known]) == {1, 3, 6}
    np.testing.assert_allclose(
        back.block(np.array([1, 6])), design.gram(np.array([1, 6]), np.array([1, 6])),
        atol=1e-12,
    )


def test_candidates_that_become_more_find_room_for_their_products():
    # What grows with them is copied each time, and two of it need memory.
    X, _ = draw(30, 60)
    design, rooms = standardized(X), []
    cache = GramCache(design)
    for size in (10, 25, 60):
        some = np.arange(size)
        cache = cache.renumbered(stretches.chosen(design, some), np.arange(60))
        cache.reserve(size)
        rooms.append((cache.array, cache.factor_for(size)))
        cache = cache.renumbered(design, some)
    assert all(room is rooms[0][0] and rows is rooms[0][1] for room, rows in rooms)


def test_chosen_columns_are_a_design_of_their_own():
    X, y = draw(30, 8, seed=7)
    X[:, 5] += 1e3
    some, features = np.array([1, 3, 5, 6]), np.array([0, 2])
    few, own = stretches.chosen(standardized(X), some), standardized(X[:, some])
    residual, beta = y - y.mean(), np.array([0.5, -2.0])
    for design in (few, own):
        assert design.p == 4
    same = np.testing.assert_array_equal
    same(few.correlate(residual), own.correlate(residual))
    same(few.correlate(residual, features), own.correlate(residual, features))
    same(few.gram(few.everyone, features), own.gram(few.everyone, features))
    same(few.residual(y, features, beta), own.residual(y, features, beta))
    results = []
    for design in (few, own):
        b, rest = np.zeros(2), residual.copy()
        design.descend(
            features, Penalty(0, 0.0), np.full(2, 0.1), np.zeros(2), np.ones(2), b,
            rest, 1e-9, 100, True,
        )
        results.append((b, rest))
    same(results[0][0], results[1][0])
    same(results[0][1], results[1][1])
    assert results[0][0].any()


def test_a_coarse_grid_is_walked_as_usual(monkeypatch):
    # Who works first decides on the way there, with a penalty that is not convex.
    X, y = draw(60, 400, seed=3)
    kinds = {row.name: row.kind for row in ROWS}
    mcp, lasso = (
        SimpleNamespace(penalty=Penalty(kind, 3.0), growth=2.0, lambda_max=1.0)
        for kind in (kinds["MCP"], kinds["lasso"])
    )
    for coarse in ([0.6], [5.0, 0.6, 0.5], [0.9, 0.8, 0.5], [0.9, 0.1, 0.0]):
        assert stretches.is_coarse(mcp, np.array(coarse))
        assert not stretches.is_coarse(lasso, np.array(coarse))
    for fine in ([0.7], [5.0, 0.9, 0.7], [0.9, 0.8, 0.0], [2.0, 1.5]):
        assert not stretches.is_coarse(mcp, np.array(fine))
    monkeypatch.setattr(certificates, "SMALL", 0)
    monkeypatch.setattr(stretches, "FEWEST", 1)
    walked = []
    walk_among = stretches.walk_among
    monkeypatch.setattr(
        stretches, "walk_among", lambda *a: walked.append(a[3]) or walk_among(*a)
    )
    for nlambda in (3, 60):
        walked.clear()
        cv_ncvpath(X, y, penalty="MCP", nlambda=nlambda, nfolds=3, random_state=1)
        assert bool(walked) == (nlambda == 60)
