"""Certificates are never wrong: every feature not looked at is compared with truth."""

import numpy as np
import pytest
from conftest import draw
from scipy import sparse

from ncvpath import kernels, ncvpath
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import Design, make_design
from ncvpath.matrices.sparse import SparseColumns, sparse_matrix
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import Crew
from ncvpath.solver import certificates as room
from ncvpath.solver.certificates import Certificates
from ncvpath.solver.fits import Fit
from ncvpath.solver.gram import GramCache
from ncvpath.solver.problem import null_state


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


class Plain:
    """As much of a fit as a look at its residual needs."""

    by_gram = False

    def __init__(self, residual):
        self.residual = residual


DESIGNS = {"plain": draw, "collinear": collinear, "norms": huge_norms, "far": far}


@pytest.fixture
def watched(monkeypatch):
    """Checks every look against extended precision; counts the certified."""
    counts = {"certified": 0, "checked": 0, "incomplete": 0, "by gram": 0}
    monkeypatch.setattr(room, "SMALL", 0)
    look = Certificates.look

    def checked_look(self, fit, member, factor, level, tol):
        found = look(self, fit, member, factor, level, tol)
        residual = fit.residual
        counts["by gram"] += fit.by_gram
        correlation, exact = found.correlation, found.exact
        design = self.design
        Z = (design.matrix.X.astype(np.longdouble) - design.center) / design.scale
        truth = Z.T @ (design.weights.astype(np.longdouble) * residual)
        size = np.sqrt(design.weights @ residual**2)
        if fit.by_gram:  # a difference, whose terms may be larger than the residual
            size = np.sqrt(fit.anchor.mean_square)
            size += np.abs(fit.change) @ self.length[fit.moved]
        close = 1e-12 * self.length * size + 1e-300
        known = np.abs(correlation - truth) <= close
        l1 = np.where(np.isinf(factor), np.inf, level * factor)
        assert exact[member].all() and known[exact].all()
        if found.complete:
            # Whoever truly is outside its slab was looked at.
            assert exact[np.abs(truth) > l1].all()
        else:
            assert (exact & ~member & (np.abs(correlation) > l1 + tol)).any()
            counts["incomplete"] += 1
        counts["certified"] += np.count_nonzero(~exact)
        counts["checked"] += found.touched
        return found

    monkeypatch.setattr(Certificates, "look", checked_look)
    return counts


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("standardize", [True, False])
def test_no_certified_feature_is_outside_its_slab(watched, design, row, standardize):
    X, y = DESIGNS[design](60, 300, 1)
    weights = np.random.default_rng(2).uniform(0, 3, 60)
    path = ncvpath(X, y, penalty=row.name, standardize=standardize, weights=weights,
                   nlambda=40, alpha=0.9)
    assert watched["certified"] > 0
    assert watched["checked"] <= path.work["checked"][1:].sum()


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_nor_where_the_gram_matrix_stands_in_for_the_residual(watched, design, row):
    X, y = DESIGNS[design](400, 300, 1)
    factor = np.ones(300)
    factor[:2] = 0.0
    ncvpath(X, y, penalty=row.name, nlambda=40, penalty_factor=factor)
    assert watched["by gram"] > 5 and watched["certified"] > 0


def test_both_ways_to_a_fit_agree():
    X, y = draw(400, 30, seed=9)
    design = make_design(
        dense_matrix(X, Crew(1)), np.full(400, 1 / 400), True, True
    )
    response = y - y.mean()
    factor = np.r_[0.0, np.ones(29)]
    state = null_state(design, response, factor, learns=False)
    beta, features = np.zeros(30), np.arange(30)
    beta[[3, 7, 20]] = 1.0, -2.0, 0.5
    state.gram.slots(np.array([0, 3, 7, 20, 21]))
    ways = [
        Fit(
            design, response, beta, design.everyone, state.fit.anchor, cache
        )
        for cache in (state.gram, GramCache(design))
    ]
    assert [fit.by_gram for fit in ways] == [True, False]
    (by_gram, few), (direct, all_of_them) = (fit.correlate(features) for fit in ways)
    assert (few, all_of_them) == (25, 30)
    np.testing.assert_allclose(by_gram, direct, atol=1e-13)
    assert ways[0].mean_square == pytest.approx(ways[1].mean_square, rel=1e-12)


def test_bounds_hold_for_residuals_the_path_never_meets():
    """Random residuals, near and far from the references, with tight slabs."""
    rng = np.random.default_rng(3)
    X, _ = collinear(50, 200, 3)
    weights = np.full(50, 1 / 50)
    design = make_design(
        dense_matrix(np.asfortranarray(X), Crew(1)), weights, True, True
    )
    certificates = Certificates(design)
    base = rng.standard_normal((3, 50))
    for r in base:
        certificates.learn(r)
    Z = (X.astype(np.longdouble) - design.center) / design.scale
    skipped = 0
    for turn, size in enumerate(np.repeat(10.0 ** np.arange(-16, 1), 6)):
        # What is new about a residual may point anywhere, or right at a feature.
        at_feature = Z[:, turn].astype(float)
        new = at_feature if turn % 2 else rng.standard_normal(50)
        r = rng.standard_normal(3) @ base + size * new
        truth = np.abs(Z.T @ (weights * r))
        l1 = (truth * (1 + rng.choice([-1e-13, 1e-13, 1e-3, 0.1], 200))).astype(float)
        estimate, slack = certificates._estimate(Plain(r))
        expected, uncertified = np.empty((2, 200), dtype=np.int64)
        few, more = kernels.sort_out(
            l1, 1.0, certificates.length, slack, estimate, np.zeros(200, dtype=bool),
            expected, uncertified,
        )
        certified = np.ones(200, dtype=bool)
        certified[expected[:few]] = certified[uncertified[:more]] = False
        assert (truth <= l1)[certified].all()
        skipped += certified.sum()
    assert skipped > 100


def test_references_are_the_latest_few_that_taught_something():
    rng = np.random.default_rng(4)
    X, _ = draw(50, 30, seed=4)
    weights = np.full(50, 1 / 50)
    certificates = Certificates(
        make_design(dense_matrix(X, Crew(1)), weights, True, True)
    )
    size = certificates.capacity
    learnt = rng.standard_normal((20, 50))
    for residual in learnt:
        certificates.learn(residual)
    certificates.learn(learnt[-3:].sum(axis=0))  # teaches nothing new
    assert certificates.count == size < 20
    kept = np.roll(certificates.residuals, -certificates.next, axis=0)
    np.testing.assert_array_equal(kept, learnt[-size:])
    references = certificates.residuals
    np.testing.assert_allclose(
        certificates.products, (references * weights) @ references.T, atol=1e-12
    )
    expected = [certificates.design.correlate(r) for r in references]
    np.testing.assert_array_equal(certificates.correlations, expected)


def test_slack_does_not_pile_up_with_what_is_learnt():
    """Bounds on the errors of orthonormalised references had grown a thousandfold with
    each ten of them, until nothing was certified."""
    rng = np.random.default_rng(5)
    X, y = draw(200, 40, seed=5)
    certificates = Certificates(
        make_design(dense_matrix(X, Crew(1)), np.full(200, 1 / 200), True, True)
    )
    residual = y - y.mean()
    for _ in range(100):  # each a small step from the last
        certificates.learn(residual)
        before, residual = residual, residual + 0.01 * rng.standard_normal(200)
    size = np.sqrt(np.mean(residual**2))
    _, slack = certificates._estimate(Plain(before))
    assert slack < 1e-7 * size
    _, slack = certificates._estimate(Plain(residual))
    assert slack < 0.02


def test_a_look_ends_with_those_who_object(watched):
    X, y = draw(60, 300, 5)
    ncvpath(X, y, penalty="MCP", nlambda=5, n_added=2)
    assert watched["incomplete"] > 0


def test_every_column_that_is_correlated_is_counted(monkeypatch):
    monkeypatch.setattr(room, "SMALL", 0)
    touched, correlate = [], Design.correlate

    def counted(self, residual, features=None):
        touched.append(self.p if features is None else features.size)
        return correlate(self, residual, features)

    monkeypatch.setattr(Design, "correlate", counted)
    for penalty in ("lasso", "MCP"):
        touched.clear()
        X, y = draw(60, 300, 6)
        path = ncvpath(X, y, penalty=penalty, nlambda=30)
        assert path.work["checked"].sum() == sum(touched)


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
        assert 100 < design.blur < 1000
        y = (X[:, :3] - design.center[:3]) @ rng.standard_normal(3)
        y = np.where(weights > 0, y - weights @ y, 0)
        state = null_state(design, y, np.ones(p), False)
        state.gram.slots(np.arange(p))
        certificates, beta = state.certificates, np.zeros(p)
        Z = (X.astype(np.longdouble) - design.center) / design.scale
        for _ in range(10):
            beta[:3] = rng.standard_normal(3)
            fit = Fit(design, y, beta, np.arange(p), state.fit.anchor, state.gram)
            assert fit.by_gram
            # As if the residual were all that is left: b = 0 is as good as any.
            certificates._solve = np.zeros_like
            _, slack = certificates._by_gram(fit)
            left = np.where(weights > 0, y - Z @ beta, 0)
            assert np.sqrt(weights @ left**2) <= slack


def sparse_design_matrix(X):
    X = sparse.csc_array(X)
    columns = SparseColumns(
        X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), X.shape
    )
    return sparse_matrix(columns, Crew(1))


def test_estimates_are_never_further_off_than_they_say():
    """Few rows, weights of all sizes, references of all scales, nearly dependent."""
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
        design = make_design(
            dense_matrix(np.asfortranarray(X), Crew(1)), weights, True, True
        )
        certificates, base = Certificates(design), rng.standard_normal((3, n))
        for _ in range(rng.integers(1, 3 * certificates.capacity)):
            near = 10.0 ** -rng.integers(0, 9) * rng.standard_normal(n)
            residual = np.where(counted, base.T @ rng.standard_normal(3) + near, 0)
            certificates.learn(residual * 10.0 ** rng.uniform(-10, 10))
        references = certificates.residuals[: certificates.count]
        mix = rng.standard_normal(len(references)) / np.sqrt(references**2 @ weights)
        Z = (X.astype(np.longdouble) - design.center) / design.scale
        at_feature = Z[:, rng.integers(p)].astype(float)
        residual = mix @ references + 10.0 ** -rng.integers(0, 18) * at_feature
        residual = np.where(counted, residual, 0)
        estimate, slack = certificates._estimate(Plain(residual))
        off = np.abs(estimate - Z.T @ (weights * residual)) / certificates.length
        assert off.max() <= slack
        tight += off.max() > 0.9 * slack
    assert tight > 10
