"""The paper's systems on losses that are not quadratic: one answer, several ways."""

import warnings

import numpy as np
import pytest
from family_oracle import FAMILIES, Curved
from fitting import settings_of
from scipy import sparse

from ncvpath import Family, ncvpath
from ncvpath.inputs.data import OfRows, check_data
from ncvpath.matrices import open_matrix
from ncvpath.matrices.design import make_design
from ncvpath.penalties import ROWS
from ncvpath.runtime.threads import working
from ncvpath.solver.inner import INNER
from ncvpath.solver.mm import MAJORIZING
from ncvpath.solver.newton import Newton
from ncvpath.solver.null_model import pose
from ncvpath.solver.restricted import Restricted
from ncvpath.solver.sweeps import WeightedSweeps
from ncvpath.solver.working_set import RULES

N, P = 80, 25
OTHERS = [way for way in (*INNER, *MAJORIZING) if way != "cd"]
every_family = pytest.mark.parametrize("family", FAMILIES)
every_way = pytest.mark.parametrize("way", OTHERS)
every_penalty = pytest.mark.parametrize("penalty", [row.name for row in ROWS])


def draw(family, seed=0):
    """Columns in a chain, many zeros, and a response of four of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P))
    X[:, 1:] += 0.5 * X[:, :-1]
    X[rng.random((N, P)) < 0.3] = 0.0
    eta = X[:, :4] @ [0.6, -0.6, 0.4, 0.3]
    if family == "binomial":
        return X, (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(float)
    if family == "poisson":
        return X, rng.poisson(np.exp(eta)).astype(float)
    if family == "cox":
        time = np.ceil(20 * rng.exponential(np.exp(-eta)))
        return X, np.column_stack([time, rng.random(N) < 0.7]).astype(float)
    return X, 0.01 + rng.gamma(2, np.exp(eta) / 2)


class Gamma(Family):
    """A gamma distribution with the logarithm as link, by shape."""

    name = "gamma"

    def loss(self, y, eta):
        with np.errstate(over="ignore"):
            return y * np.exp(-eta) + eta

    def residual(self, y, eta):
        return self.curvature(y, eta) - 1

    def curvature(self, y, eta):
        with np.errstate(over="ignore"):
            return y * np.exp(-eta)

    def mean(self, eta):
        with np.errstate(over="ignore"):
            return np.exp(eta)


SHORT = dict(nlambda=12, lambda_min_ratio=0.1)


@every_penalty
@every_way
@every_family
def test_every_way_satisfies_fermat(family, way, penalty):
    X, y = draw(family)
    path = ncvpath(
        X, y, family=family, penalty=penalty, solver=way, rescale=False, **SHORT
    )
    assert path.converged.all() and path.df[-1] > 3
    model = Curved(X, y, family=family, penalty=penalty, rescale=False)
    assert model.violations(path).max() <= 1.01e-6


FACTORS = np.r_[1.0, np.inf, 0.0, 0.3, 2.0, np.ones(P - 5)]
VARIANTS = {
    "weights": dict(
        weights=np.arange(N) % 3 * 1.0, offset=np.sin(np.arange(N)), penalty="SCAD"
    ),
    "factors": dict(penalty_factor=FACTORS, penalty="MCP"),
    "ridge": dict(alpha=0.5, penalty="logsum"),
    "bare": dict(intercept=False, penalty_factor=FACTORS, penalty="capped"),
    "scales": dict(standardize=False, penalty="MCP"),
}


@pytest.mark.parametrize("kind", [np.asfortranarray, sparse.csc_array])
@pytest.mark.parametrize("variant", VARIANTS)
@every_way
@every_family
def test_every_variant_satisfies_fermat(family, way, variant, kind):
    X, y = draw(family, seed=1)
    X, options = X * np.linspace(0.5, 2, P), VARIANTS[variant]
    path = ncvpath(
        kind(X), y, family=family, solver=way, rescale=False, **SHORT | options
    )
    model = Curved(X, y, family=family, rescale=False, **options)
    assert path.converged.all()
    assert model.violations(path).max() <= 1.01e-6


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("way", INNER)
def test_every_working_set_satisfies_fermat(way, rule):
    X, y = draw("binomial", seed=2)
    options = dict(penalty="MCP", rescale=False, family="binomial")
    path = ncvpath(X, y, solver=way, working_set=rule, n_added=2, **SHORT, **options)
    assert path.converged.all()
    assert Curved(X, y, **options).violations(path).max() <= 1.01e-6


@every_way
@pytest.mark.parametrize("family", [*FAMILIES, Gamma()], ids=[*FAMILIES, "own"])
def test_the_lasso_has_one_answer_with_any_units(family, way):
    """It has no units, so that the default of `rescale` is as good as any."""
    X, y = draw(family)
    options = dict(family=family, penalty="lasso", tol=1e-9, **SHORT)
    expected, path = ncvpath(X, y, **options), ncvpath(X, y, solver=way, **options)
    np.testing.assert_allclose(
        path.beta.toarray(), expected.beta.toarray(), atol=1e-6
    )
    np.testing.assert_allclose(path.intercept, expected.intercept, atol=1e-6)


@every_penalty
@every_way
def test_a_family_of_ones_own_goes_every_way(way, penalty):
    X, y = draw("gamma")
    options = dict(family=Gamma(), penalty=penalty, rescale=False, tol=1e-8, **SHORT)
    path = ncvpath(X, y, solver=way, **options)
    assert path.converged.all()
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = path.intercept + X @ path.beta.toarray()
    pull = standard.T @ (y[:, None] * np.exp(-eta) - 1) / N
    assert (np.abs(pull) <= path.lambdas * (1 + 1e-7)).all()


@pytest.mark.parametrize("penalty", ["MCP", "SCAD", "logsum", "capped"])
@every_way
@every_family
def test_the_objective_falls(family, way, penalty):
    """However early it ends, from a cold start."""
    X, y = draw(family, seed=3)
    top = ncvpath(X, y, family=family, penalty=penalty, rescale=False, nlambda=1)
    heights = [top.objective[0]]  # nothing is penalised there
    for most in (1, 2, 5, 20, 100, 50_000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            path = ncvpath(
                X, y, family=family, penalty=penalty, rescale=False, solver=way,
                lambdas=0.2 * top.lambdas[0], warm_up=False, max_epochs=most,
                working_set="fireworks" if way in MAJORIZING else "full",
            )
        heights.append(path.objective[0])
    assert max(heights[1:]) <= heights[0] and heights[-1] < heights[0]
    assert path.converged.all()


@pytest.mark.parametrize("way", OTHERS)
def test_rescaling_has_no_fixed_objective(way):
    X, y = draw("binomial")
    for options in (dict(), dict(penalty="lasso", alpha=0.9), dict(rescale=True)):
        with pytest.raises(ValueError) as refusal:
            ncvpath(X, y, family="binomial", solver=way, **options)
        for words in ("solver must be cd with rescale=True", "rescale=False",
                      f"got solver='{way}'", "family='binomial'"):
            assert words in str(refusal.value)


@every_way
@pytest.mark.parametrize("penalty", ["MCP", "lasso"])
def test_a_saturated_model_ends_the_path_whatever_the_way(way, penalty):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    path = ncvpath(
        X, X[:, 0] > 0, family="binomial", penalty=penalty, rescale=False, solver=way
    )
    assert (path.dev_ratio <= 0.99).all() and "saturated" in path.stopped


def posed(family, threads, **options):
    """A problem and its null state."""
    X, y = draw(family)
    settings = settings_of(family=family, rescale=False, **options)
    data = check_data(np.asfortranarray(X), y, OfRows(), None, settings)
    matrix = open_matrix(data.X, threads)
    design = make_design(matrix, data.weights, settings.centers, settings.standardize)
    return pose(data, settings, design)


@pytest.mark.parametrize("multiple", [1.0, 8.0])
@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_weighted_sweeps_minimise_the_same_multiplied_model(family, multiple):
    with working(1) as threads:
        problem, state = posed(family, threads, penalty="SCAD", alpha=0.9)
        levels, found = problem.levels(np.array([0.3 * problem.lambda_max])), []
        for steps in (Newton, WeightedSweeps):
            on = Restricted(problem, state, np.arange(P))
            on.point.pull = 0.01  # as if the intercept had not been found
            model = steps(on)
            model.multiple = multiple
            beta, _ = model.minimiser(levels, 1e-12, 10_000)
            found.append(np.append(beta, model.at(beta).intercept))
    assert np.count_nonzero(found[0]) > 3
    np.testing.assert_allclose(*found, atol=1e-9)


@pytest.mark.parametrize("way", ["cd", "bcd"])
def test_steps_that_lead_too_far_are_tried_with_more_weight(way):
    """From nothing, far down: a mean of e^eta may be anything there."""
    rng = np.random.default_rng(5)
    X = rng.standard_t(2, (60, 10))
    y = rng.poisson(np.exp(np.clip(X[:, 0], -8, 8))).astype(float)
    options = dict(family="poisson", penalty="lasso", rescale=False)
    top = ncvpath(X, y, nlambda=1, **options).lambdas[0]
    path = ncvpath(
        X, y, lambdas=1e-3 * top, warm_up=False, solver=way, working_set="full",
        **options,
    )
    assert path.converged.all()
    assert Curved(X, y, **options).violations(path).max() <= 1.01e-6


@pytest.mark.parametrize("settings", [{}, {"rescale": False}, {"penalty": "lasso"}])
@pytest.mark.parametrize("max_epochs", [2, 5, 20])
def test_counts_that_are_explained_are_not_saturated(max_epochs, settings):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 10))
    y = np.round(np.exp(6 + 0.3 * X[:, :4] @ [1.0, -0.8, 0.6, 0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = ncvpath(
            X, y, family="poisson", max_epochs=max_epochs,
            lambdas=np.geomspace(200, 0.01, 20), tol=1e-10, **settings,
        )
    assert path.dev_ratio[-1] > 0.99 and path.stopped is None
    assert not any(status.startswith("saturated") for status in path.status)


@pytest.mark.parametrize("way", ["cd", *OTHERS])
def test_separated_classes_end_a_path_though_tol_is_too_small(way):
    X = np.random.default_rng(3).standard_normal((40, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = ncvpath(
            X, X[:, 0] > 0, family="binomial", rescale=False, solver=way, tol=1e-13,
            nlambda=30, max_epochs=3000,
        )
    assert path.stopped.startswith("the model is saturated") and len(path.lambdas) < 30
