"""Certificates are never wrong: every feature not looked at is compared with truth."""

import numpy as np
import pytest
from conftest import draw
from fitting import fit
from scipy import sparse

from ncvpath import kernels
from ncvpath.families import FAMILIES
from ncvpath.families.response import Response
from ncvpath.kernels.records import Penalty
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import Design, make_design
from ncvpath.matrices.sparse import SparseColumns, sparse_matrix
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import ThreadPool
from ncvpath.solver import certificates as certifying
from ncvpath.solver import working_set
from ncvpath.solver.certificates import Certificates, Correlations
from ncvpath.solver.gram import GramCache
from ncvpath.solver.null_model import null_state
from ncvpath.solver.problem import Problem
from ncvpath.solver.rounding import measure_rounding
from ncvpath.solver.solutions import BY_FAR, Solutions

GAUSSIAN = FAMILIES["gaussian"]
OFF = 1 << 60  # numbers in X from which certificates begin: never


def collinear(n, p, seed):
    """Ten directions and next to nothing else."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10)) @ rng.standard_normal((10, p))
    return X + 1e-6 * rng.standard_normal((n, p)), X[:, 0] + rng.standard_normal(n)


def huge_norms(n, p, seed):
    X, y = draw(n, p, seed)
    return X * 10.0 ** np.random.default_rng(seed).uniform(-8, 8, p), y


def far(n, p, seed):
    X, y = draw(n, p, seed)
    return X + 10.0 ** np.random.default_rng(seed).uniform(0, 7, p), y


def standardized(X, weights=None):
    weights = np.full(len(X), 1 / len(X)) if weights is None else weights
    return make_design(
        dense_matrix(np.asfortranarray(X), ThreadPool(1)), weights, True, True
    )


DESIGNS = {"plain": draw, "collinear": collinear, "norms": huge_norms, "far": far}


@pytest.fixture
def watched(monkeypatch):
    """Compares every check with extended precision; counts the certified."""
    counts = {"certified": 0, "touched": 0, "ahead": 0, "blocks": 0, "ended": 0}
    check = Certificates.check

    def checked(self, residuals, member, penalty_factor, units, tol, cut):
        found = check(self, residuals, member, penalty_factor, units, tol, cut)
        design, n = self.design, len(found.values)
        whole, residuals, units = n == len(units), residuals[:n], units[:n]
        Z = (design.matrix.X.astype(np.longdouble) - design.center) / design.scale
        truth = (design.weights.astype(np.longdouble) * residuals) @ Z
        size = np.sqrt(residuals**2 @ design.weights)[:, None]
        close = 1e-12 * design.length * size + 1e-300
        off = np.abs(found.values - truth)
        exact = np.ones(design.p, bool) if found.exact is None else found.exact
        exact = exact | (found.slack == 0)[:, None]
        assert exact[:, member].all() and (off <= close)[exact].all()
        assert (off <= found.slack[:, None] * design.length + close).all()
        # Whoever truly is outside its slab was looked at, and so was whoever may be
        # strong for the lambdas ahead.
        live = penalty_factor < np.inf
        factor = np.where(live, penalty_factor, 0.0)
        excess = np.where(live, np.abs(truth) - units[:, :1] * factor, -np.inf)
        assert exact[excess > 0].all()
        if not whole:  # it ended with a violation that is certain
            assert excess[-1, ~member].max() > tol
            counts["ended"] += 1
        elif cut < units[-1, 0]:
            strong = (np.abs(truth[-1]) >= cut * factor) & live & (factor > 0)
            assert exact[-1, strong].all()
            counts["ahead"] += np.count_nonzero(strong)
        assert (found.certified == (~exact).sum(axis=1)).all()
        counts["certified"] += found.certified.sum()
        counts["touched"] += found.touched.sum()
        counts["blocks"] += n > 1
        return found

    monkeypatch.setattr(Certificates, "check", checked)
    return counts


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("standardize", [True, False])
def test_no_certified_feature_is_outside_its_slab(watched, design, row, standardize):
    X, y = DESIGNS[design](60, 900, 1)
    weights = np.random.default_rng(2).uniform(0, 3, 60)
    path = fit(X, y, penalty=row.name, standardize=standardize, weights=weights,
               nlambda=40, alpha=0.9)
    assert watched["certified"] > 0 and watched["blocks"] and watched["ahead"]
    assert watched["touched"] <= path.work["checked"][1:].sum()


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_nor_with_blocks_of_one_lambda_and_unpenalised_features(watched, design, row):
    X, y = DESIGNS[design](400, 300, 1)
    factor = np.ones(300)
    factor[:2] = 0.0
    fit(X, y, penalty=row.name, nlambda=40, penalty_factor=factor, solver="bcd",
        tol=1e-4, lambda_min_ratio=0.1)
    assert watched["certified"] > 0 and not watched["blocks"]


def test_a_check_ends_where_a_violation_is_certain(watched, monkeypatch):
    # Sets are chosen for the first lambda of a block alone, so that others fail.
    monkeypatch.setattr(working_set, "DARING", -2.0)
    X, y = draw(60, 300, 7, nonzero=30)
    for penalty in ("lasso", "MCP"):
        fit(X + X[:, :1], y, penalty=penalty, nlambda=30, n_added=2)
    assert watched["ended"] > 0


# ---- choices are made by exact correlations ------------------------------------------


def correlated(n, p, seed, rho):
    """Neighbours resemble each other."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(p)
    beta[rng.choice(p, 8, replace=False)] = rng.choice([-2.0, -1.0, 1.0, 2.0], 8)
    return np.asfortranarray(X), X @ beta + rng.standard_normal(n)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("factors", [False, True], ids=["plain", "factors"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_certificates_change_no_choice(row, factors, alpha):
    """Which features enter decides, with a nonconvex penalty, which solution is found:
    that must not depend on what was certified. Also where blocks are short."""
    certified = 0
    for seed, (rho, ratio) in enumerate(
        [(0.0, 0.1), (0.5, 0.1), (0.9, 0.1), (0.9, 0.02), (0.99, 0.1), (0.7, 0.3)]
    ):
        X, y = correlated(50, 900, seed, rho)
        options = dict(
            penalty=row.name, alpha=alpha, lambda_min_ratio=ratio, nlambda=40, tol=1e-8
        )
        if factors:
            rng = np.random.default_rng(seed)
            options["penalty_factor"] = np.r_[0, 0, np.inf, rng.uniform(0.3, 3, 897)]
        one, other = (fit(X, y, begin, **options) for begin in (0, OFF))
        beta, expected = one.beta.toarray(), other.beta.toarray()
        assert ((beta != 0) == (expected != 0)).all()
        np.testing.assert_allclose(beta, expected, rtol=1e-10, atol=1e-10)
        for name in ("strong", "working_set", "rounds", "step"):
            np.testing.assert_allclose(one.work[name], other.work[name], rtol=1e-9)
        assert not other.screening["certified"].any()
        certified += one.screening["certified"].sum()
    assert certified > 0


@pytest.mark.parametrize("penalty", ["lasso", "MCP", "capped"])
def test_nor_do_they_where_lambdas_of_a_block_fail(monkeypatch, penalty):
    monkeypatch.setattr(working_set, "DARING", -2.0)
    certified = rejected = 0
    options = dict(penalty=penalty, nlambda=30, n_added=2, lambda_min_ratio=0.1)
    for seed in range(4):
        X, y = draw(60, 300, seed, nonzero=30)
        one, other = (fit(X, y, begin, tol=1e-8, **options) for begin in (0, OFF))
        np.testing.assert_allclose(
            one.beta.toarray(), other.beta.toarray(), rtol=1e-10, atol=1e-10
        )
        for name in ("strong", "working_set", "rounds", "step"):
            np.testing.assert_allclose(one.work[name], other.work[name], rtol=1e-9)
        certified += one.screening["certified"].sum()
        rejected += (one.work["rounds"] > 1).sum()
    assert certified > 0 and rejected > 3


@pytest.mark.parametrize("options", [
    dict(working_set="maxvc", solver="bcd"), dict(solver="bcd", n_added=3),
    dict(nlambda=6, lambda_min_ratio=0.4, n_added=3), dict(solver="mm-cd", nlambda=10),
    dict(lambdas=[0.4, 0.2, 0.1], warm_up=False, prune=False),
], ids=["maxvc", "bcd", "coarse", "mm", "cold"])
def test_nor_do_they_in_other_systems(options):
    certified = 0
    settings = dict(penalty="MCP", nlambda=20, lambda_min_ratio=0.2, tol=1e-8) | options
    for seed in range(4):
        X, y = correlated(50, 300, seed, 0.5)
        one, other = (fit(X, y, begin, **settings) for begin in (0, OFF))
        np.testing.assert_allclose(
            one.beta.toarray(), other.beta.toarray(), rtol=1e-10, atol=1e-10
        )
        assert one.work["rounds"].tolist() == other.work["rounds"].tolist()
        certified += one.screening["certified"].sum()
    assert certified > 0


# ---- products of columns -------------------------------------------------------------


def posed(design, y, factor):
    """A lasso whose null model is known, and its state."""
    likelihood = GAUSSIAN.bind(Response(y), design.weights, True)
    problem = Problem(
        likelihood, design, Penalty(0, 0.0), 1.0, factor, 1.0, 1.0,
        measure_rounding(design, likelihood.spread(), factor < np.inf),
    )
    return problem, null_state(problem, np.zeros((1, design.n)))


def test_both_ways_to_correlations_agree():
    X, y = draw(400, 30, seed=9)
    design = standardized(X)
    problem, state = posed(design, y, np.r_[0.0, np.ones(29)])
    features = np.array([0, 3, 7, 20, 21])
    beta = np.array([[0.3, 1.0, -2.0, 0.5, 0.0], [0.1, 0.0, -1.0, 0.7, 2.0]])
    make = lambda: Solutions(problem, np.array([0.5, 0.4]), features, beta)
    shuffled = GramCache(design)  # in the order of learning
    shuffled.block(np.array([29, 3, 17]))
    assert make().correlate_by_gram(state.anchor, shuffled, 1e-6) is None
    shuffled.block(np.random.default_rng(0).permutation(30))
    state.gram.learn_all()
    direct = make()
    for cache in (state.gram, shuffled):
        by_gram = make()
        values = by_gram.correlate_by_gram(state.anchor, cache, 1e-6)
        assert "residual" not in by_gram.__dict__
        np.testing.assert_allclose(
            values, design.correlate(direct.residual), atol=1e-13
        )
        np.testing.assert_allclose(by_gram.loss, direct.loss, rtol=1e-12)
        # Where tol is near rounding, or coefficients have run away, columns are asked.
        assert make().correlate_by_gram(state.anchor, cache, 1e-15) is None
    beta[1, 1] = 1e12
    assert make().correlate_by_gram(state.anchor, state.gram, 1e-6) is None


def test_a_loss_of_too_few_digits_is_that_of_the_residual():
    X, _ = draw(400, 30, seed=9)
    design = standardized(X)
    y = X[:, 3] * 2 + 1e-6 * X[:, 20]
    problem, state = posed(design, y, np.ones(30))
    state.gram.learn_all()
    beta = np.array([[2 * design.scale[3]]])
    solutions = Solutions(problem, np.array([0.1]), np.array([3]), beta)
    assert solutions.correlate_by_gram(state.anchor, state.gram, 1e-6) is not None
    residual = y - y.mean() - 2 * (X[:, 3] - X[:, 3].mean())
    assert solutions.loss[0] == pytest.approx(0.5 * np.mean(residual**2), rel=1e-8)


# ---- references ----------------------------------------------------------------------


def learn(certificates, residual):
    certificates.learn(residual, certificates.design.correlate(residual[None])[0])


def test_bounds_hold_for_residuals_the_path_never_meets():
    """Random residuals, near and far from the references, with tight slabs."""
    rng = np.random.default_rng(3)
    X, _ = collinear(50, 200, 3)
    weights = np.full(50, 1 / 50)
    design = standardized(X)
    certificates = Certificates(design, 0)
    base = rng.standard_normal((3, 50))
    for r in base:
        learn(certificates, r)
    Z = (X.astype(np.longdouble) - design.center) / design.scale
    skipped = 0
    for turn, size in enumerate(np.repeat(10.0 ** np.arange(-16, 1), 6)):
        # What is new about a residual may point anywhere, or right at a feature.
        at_feature = Z[:, turn].astype(float)
        new = at_feature if turn % 2 else rng.standard_normal(50)
        r = rng.standard_normal(3) @ base + size * new
        truth = np.abs(Z.T @ (weights * r))
        l1 = (truth * (1 + rng.choice([-1e-13, 1e-13, 1e-3, 0.1], 200))).astype(float)
        estimate, slack = certificates.estimate(r[None])
        needed = np.zeros(200, dtype=bool)
        kernels.find_uncertified(
            l1, np.array([[1.0, 0.0]]), 0.0, design.length, slack, estimate,
            np.zeros(200, dtype=bool), needed,
        )
        certified = ~needed
        assert (truth <= l1)[certified].all()
        skipped += certified.sum()
    assert skipped > 100


def test_references_are_the_latest_few_that_taught_something():
    rng = np.random.default_rng(4)
    X, _ = draw(50, 30, seed=4)
    certificates = Certificates(standardized(X), 0)
    weights, size = certificates.design.weights, certificates.capacity
    learnt = rng.standard_normal((20, 50))
    for residual in learnt:
        learn(certificates, residual)
    learn(certificates, learnt[-3:].sum(axis=0))  # teaches nothing new
    assert certificates.count == size < 20
    kept = np.roll(certificates.residuals, -certificates.next, axis=0)
    np.testing.assert_array_equal(kept, learnt[-size:])
    references = certificates.residuals
    np.testing.assert_allclose(
        certificates.products, (references * weights) @ references.T, atol=1e-12
    )
    expected = certificates.design.correlate(references)
    np.testing.assert_array_equal(certificates.correlations, expected)


@pytest.fixture
def begun():
    """Certificates that know one residual, and what they learn after it."""
    X, y = draw(60, 500, seed=5)
    certificates = Certificates(standardized(X), 0)
    learn(certificates, y - y.mean())
    return certificates, y - y.mean()


def all_checked(certificates, residuals, level, tol=np.inf):
    """A check without members; it has no end if no violation is too large."""
    p, level = certificates.design.p, np.broadcast_to(level, len(residuals))
    units = np.column_stack([level, np.zeros(len(residuals))])
    return certificates.check(
        residuals, np.zeros(p, dtype=bool), np.ones(p), units, tol, np.inf
    )


def test_of_a_block_that_is_checked_in_full_what_is_new_is_learnt(begun):
    certificates, first = begun
    rng = np.random.default_rng(0)
    steps = rng.standard_normal((2, 60))
    residuals = first + rng.standard_normal((9, 2)) @ steps
    found = all_checked(certificates, residuals, 0.01)  # most are outside their slabs
    true = certificates.design.correlate(residuals)
    assert (found.touched == 500).all() and not found.certified.any()
    np.testing.assert_array_equal(found.values, true)
    assert certificates.count == 3  # the others are combinations
    # Those teach nothing, and are certified from now on.
    level = 1.01 * np.abs(true).max()
    again = all_checked(certificates, residuals, level)
    assert again.touched.max() < 50
    assert (again.certified == 500 - again.touched).all()
    np.testing.assert_allclose(again.values, true, atol=1e-6)
    assert certificates.count == 3


@pytest.mark.parametrize("where", range(6))
def test_a_check_ends_with_the_first_violation_beyond_tol(begun, where):
    certificates, first = begun
    rng = np.random.default_rng(0)
    residuals = first * np.linspace(1, 0.8, 6)[:, None]
    residuals += 0.05 * rng.standard_normal(residuals.shape)
    residuals -= residuals.mean(axis=1, keepdims=True)
    for residual in residuals[::2]:
        learn(certificates, residual)
    reach = np.abs(certificates.design.correlate(residuals)).max(axis=1)
    level = 1.01 * reach
    level[where] = 0.5 * reach[where]
    found = all_checked(certificates, residuals, level, 0.0)
    assert len(found.values) == where + 1 == len(found.touched) == len(found.slack)
    worst = np.abs(found.values).max(axis=1) - level[: where + 1]
    assert (worst[:-1] <= 0).all() and worst[-1] == pytest.approx(0.5 * reach[where])
    # A larger tolerance lets it pass.
    assert len(all_checked(certificates, residuals, level, reach[where]).values) == 6


def test_at_lambda_zero_residuals_are_learnt_without_a_warning(begun):
    certificates, first = begun
    residuals = first + np.random.default_rng(1).standard_normal((3, 60))
    found = all_checked(certificates, residuals, 0.0)
    np.testing.assert_array_equal(
        found.values, certificates.design.correlate(residuals)
    )


def test_residuals_that_leave_many_uncertified_are_learnt(begun):
    certificates, _ = begun
    residuals = np.random.default_rng(0).standard_normal((3, 60))
    residuals -= residuals.mean(axis=1, keepdims=True)
    true = certificates.design.correlate(residuals)
    for k in range(3):
        level = 1.01 * np.abs(true[k]).max()
        found = all_checked(certificates, residuals[k : k + 1], level)
        assert found.touched == 500 and found.slack == 0 and certificates.count == 2 + k
        np.testing.assert_array_equal(found.values[0], true[k])


def test_there_are_none_where_x_is_small_or_columns_have_few_entries():
    X, y = draw(60, 500, seed=5)
    design = standardized(X)
    assert Certificates(design, 30_000).enabled
    assert not Certificates(design, 30_001).enabled
    assert Certificates(standardized(X[:32]), 0).enabled
    assert not Certificates(standardized(X[:31]), 0).enabled
    none = Certificates(design, 30_001)
    learn(none, y - y.mean())
    found = all_checked(none, (y - y.mean())[None], 9.0)
    assert found.exact is None and found.touched == 500 and none.count == 0


@pytest.mark.parametrize("far", [0.0, 1e5])
def test_estimates_of_many_residuals_are_as_good_as_they_say(far):
    X, y = draw(200, 300, seed=6)
    X = np.asfortranarray(X + far)
    certificates, rng = Certificates(standardized(X), 0), np.random.default_rng(1)
    base = rng.standard_normal((6, 200))
    for _ in range(3 * certificates.capacity):  # more than it can keep
        learn(certificates, base.T @ rng.standard_normal(6) + rng.standard_normal(200))
        assert certificates.count <= certificates.capacity
    residuals = rng.standard_normal((5, 6)) @ base + rng.standard_normal((5, 200))
    estimates, slack = certificates.estimate(residuals)
    exact = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.longdouble).T
    exact = (exact @ residuals.T / 200).T
    assert (np.abs(estimates - exact) <= slack[:, None]).all()
    _, slack = certificates.estimate(certificates.residuals)
    assert slack.max() <= 1e-9


def test_slack_does_not_pile_up_with_what_is_learnt():
    """Bounds on the errors of orthonormalised references had grown a thousandfold with
    each ten of them, until nothing was certified."""
    rng = np.random.default_rng(5)
    X, y = draw(200, 40, seed=5)
    certificates = Certificates(standardized(X), 0)
    residual = y - y.mean()
    for _ in range(100):  # each a small step from the last
        learn(certificates, residual)
        before, residual = residual, residual + 0.01 * rng.standard_normal(200)
    size = np.sqrt(np.mean(residual**2))
    _, [slack] = certificates.estimate(before[None])
    assert slack < 1e-7 * size
    _, [slack] = certificates.estimate(residual[None])
    assert slack < 0.02


def test_every_column_that_is_correlated_is_counted(monkeypatch):
    touched, correlate = [], Design.correlate

    def counted(self, residuals, features=None):
        columns = self.p if features is None else features.size
        touched.append(columns * len(residuals))
        return correlate(self, residuals, features)

    monkeypatch.setattr(Design, "correlate", counted)
    for options in (dict(), dict(n_added=2, nlambda=5), dict(working_set="maxvc")):
        for penalty in ("lasso", "MCP"):
            touched.clear()
            X, y = draw(60, 300, 6)
            path = fit(X, y, **dict(penalty=penalty, nlambda=30) | options)
            assert path.work["checked"].sum() == sum(touched)


# ---- correlations of which some are estimates ----------------------------------------


@pytest.mark.plain
def test_estimates_are_resolved_once_and_bounds_hold():
    rng = np.random.default_rng(7)
    X, y = draw(40, 20, seed=7)
    design, shift = standardized(X), rng.standard_normal(20)
    vector = y - y.mean()
    truth = design.correlate(vector[None])[0] - shift
    exact = rng.random(20) < 0.5
    values = np.where(exact, truth, truth + 0.1 * rng.uniform(-1, 1, 20))
    some = Correlations(design, lambda: vector, values, exact, 0.1, shift)
    assert (some.bounds() >= np.abs(truth)).all()
    np.testing.assert_array_equal(some.bounds()[exact], np.abs(truth[exact]))
    features = np.arange(0, 20, 2)
    unknown = features[~exact[features]]
    assert some.resolve(features) == unknown.size > 0
    np.testing.assert_allclose(some.values[features], truth[features], atol=1e-14)
    assert some.exact[features].all() and some.resolve(features) == 0
    whole = Correlations(design, vector, truth)
    assert whole.resolve(features) == 0
    np.testing.assert_array_equal(whole.bounds(), np.abs(truth))


@pytest.mark.plain
def test_combinations_know_what_they_know():
    """Multiples and points between: vectors, values, slack and shift move together."""
    rng = np.random.default_rng(8)
    X, y = draw(40, 20, seed=8)
    design = standardized(X)
    vectors = rng.standard_normal((2, 40))
    truth = design.correlate(vectors)

    def some(k, slack, exact):
        off = np.where(exact, 0.0, slack * rng.uniform(-1, 1, 20))
        return Correlations(design, vectors[k], truth[k] + off, exact.copy(), slack)

    a = some(0, 0.1, rng.random(20) < 0.6)
    b = some(1, 0.3, rng.random(20) < 0.6)
    shifts = rng.standard_normal((2, 20))
    a, b = a.times(0.5, shifts[0]), b.times(1.0, shifts[1])
    between = a.moved(0.25, b)
    expected = 0.75 * (0.5 * truth[0] - shifts[0]) + 0.25 * (truth[1] - shifts[1])
    assert (between.exact == a.exact & b.exact).all()
    assert between.slack == pytest.approx(0.75 * 0.05 + 0.25 * 0.3)
    off = np.abs(between.values - expected)
    assert (off[between.exact] < 1e-14).all() and (off <= between.slack).all()
    np.testing.assert_allclose(between.bounds()[~between.exact] - between.slack,
                               np.abs(between.values[~between.exact]), atol=1e-14)
    between.resolve(np.arange(20))
    np.testing.assert_allclose(between.values, expected, atol=1e-14)
    # What they were made of stays as it was.
    assert not a.exact.all() and not b.exact.all()


def test_the_rounding_of_products_of_blurred_columns_is_allowed_for():
    """What is left, by way of the Gram matrix, of sparse columns far from zero, whose
    only zeros lie in a row that does not count."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, p = rng.integers(30, 80), 12
        X = rng.standard_normal((n, p)) + rng.uniform(400, 640, p)
        X[0] = 0
        weights = np.where(np.arange(n) > 0, 1 / (n - 1), 0.0)
        design = make_design(sparse_design_matrix(X), weights, True, True)
        assert 100 < design.cancellation < 1000
        y = (X[:, :3] - design.center[:3]) @ rng.standard_normal(3)
        problem, state = posed(design, y, np.ones(p))
        state.gram.learn_all()
        Z = (X.astype(np.longdouble) - design.center) / design.scale
        for _ in range(10):
            beta = rng.standard_normal((1, 3))
            solutions = Solutions(problem, np.array([0.1]), np.arange(3), beta)
            # The smallest tol at which products are used at all.
            tol = 1.001 * design.cancellation * solutions.rounding[0] / BY_FAR
            refused = solutions.correlate_by_gram(state.anchor, state.gram, 0.99 * tol)
            values = solutions.correlate_by_gram(state.anchor, state.gram, tol)
            assert refused is None
            left = np.where(weights > 0, problem.likelihood.y - Z[:, :3] @ beta[0], 0)
            truth = Z.T @ (weights * left)
            assert np.abs(values - truth).max() <= BY_FAR * tol
            loss = 0.5 * (weights @ left**2)
            assert solutions.loss[0] == pytest.approx(float(loss), rel=1e-9)


def sparse_design_matrix(X):
    X = sparse.csc_array(X)
    columns = SparseColumns(
        X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), X.shape
    )
    return sparse_matrix(columns, ThreadPool(1))


def test_estimates_are_never_further_off_than_they_say(monkeypatch):
    """Few rows, weights of all sizes, references of all scales, nearly dependent."""
    monkeypatch.setattr(certifying, "FEW_ENTRIES", 0)
    tight = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n, p = int(rng.choice([2, 3, 4, 6, 10, 40, 300])), 20
        X = rng.standard_normal((n, p)) + rng.choice([0, 10.0 ** rng.uniform(0, 8)])
        weights = rng.uniform(0.1, 3, n)
        if n > 4 and rng.random() < 0.5:
            weights[rng.integers(0, n, n // 3)] = 0
        weights /= weights.sum()
        counted = weights > 0
        design = standardized(X, weights)
        certificates, base = Certificates(design, 0), rng.standard_normal((3, n))
        for _ in range(rng.integers(1, 3 * certificates.capacity)):
            near = 10.0 ** -rng.integers(0, 9) * rng.standard_normal(n)
            residual = np.where(counted, base.T @ rng.standard_normal(3) + near, 0)
            learn(certificates, residual * 10.0 ** rng.uniform(-10, 10))
        references = certificates.residuals[: certificates.count]
        mix = rng.standard_normal(len(references)) / np.sqrt(references**2 @ weights)
        Z = (X.astype(np.longdouble) - design.center) / design.scale
        at_feature = Z[:, rng.integers(p)].astype(float)
        residual = mix @ references + 10.0 ** -rng.integers(0, 18) * at_feature
        residual = np.where(counted, residual, 0)
        [estimate], [slack] = certificates.estimate(residual[None])
        off = np.abs(estimate - Z.T @ (weights * residual)) / design.length
        assert off.max() <= slack
        tight += off.max() > 0.9 * slack
    assert tight > 10
