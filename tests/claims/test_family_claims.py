"""What we promise of every family: Fermat's condition, the same answers however X is
stored, where a path ends, rows without weight, and families of one's own."""

import numpy as np
import pytest
from family_oracle import Curved, Rows, sigmoid
from scipy import sparse

from ncvpath import ConvergenceWarning, cv_ncvpath, ncvpath
from ncvpath.families import Family
from ncvpath.penalties import ROWS

TOL = 1e-8
FAMILIES = ("binomial", "poisson", "cox")
every_family = pytest.mark.parametrize("family", FAMILIES)
every_penalty = pytest.mark.parametrize("penalty", [row.name for row in ROWS])
either_way = pytest.mark.parametrize(
    "rescale", [True, False], ids=["rescaled", "plain"]
)


def respond(family, eta, rng):
    """A response of that linear predictor."""
    if family == "binomial":
        return (rng.random(eta.size) < sigmoid(eta)).astype(float)
    if family == "poisson":
        return rng.poisson(np.exp(0.5 * np.clip(eta, -4, 4))).astype(float)
    time = rng.exponential(np.exp(-np.clip(eta, -4, 4)))
    censored = rng.exponential(2 * np.median(time), eta.size)
    return np.column_stack([np.minimum(time, censored), time <= censored])


def drawn(family, n, p, seed, size=1.0):
    """Columns that correlate, of different scales, and a response to three of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    y = respond(family, size * (X[:, 0] - X[:, 1] + 0.5 * X[:, 2]), rng)
    X = X * rng.uniform(0.5, 2, p) + rng.uniform(-1, 1, p)
    return np.asfortranarray(X), y


def options_of(n, p):
    """What may be asked of any family."""
    rng = np.random.default_rng(n * p)
    factor = np.r_[0.0, 2.0, 0.5, np.inf, np.ones(p - 4)]
    weights = np.r_[0.0, 0.0, rng.uniform(0.2, 3, n - 2)]
    return {
        "plain": {},
        "ridge": dict(alpha=0.6),
        "factors": dict(penalty_factor=factor),
        "weights": dict(weights=weights),
        "offset": dict(offset=rng.normal(0.2, 0.5, n)),
        "no intercept": dict(intercept=False),
        "raw": dict(standardize=False),
        "all": dict(
            alpha=0.8, penalty_factor=factor, weights=weights,
            offset=rng.normal(0, 0.5, n), standardize=False,
        ),
    }


every_option = pytest.mark.parametrize("option", options_of(9, 9))


def judged(X, y, ratio, share, **settings):
    """A path whose lambdas meet Fermat's condition wherever it says so."""
    path = ncvpath(X, y, nlambda=15, lambda_min_ratio=ratio, tol=TOL, **settings)
    found = Curved(X, y, **settings).violations(path)
    said = path.converged
    # Two ways of computing the same number differ by rounding.
    assert (found[said] <= 1.01 * TOL + 1e-11).all(), found[said].max()
    np.testing.assert_allclose(path.violation, found, rtol=1e-3, atol=1e-10)
    assert said.mean() >= share, path.status
    return path


@every_option
@either_way
@every_penalty
@every_family
@pytest.mark.filterwarnings("ignore:.*did not reach tol")
@pytest.mark.parametrize("n, p", [(90, 12), (50, 80)], ids=["tall", "wide"])
def test_fermats_condition_of_every_family(family, penalty, rescale, option, n, p):
    X, y = drawn(family, n, p, seed=n + len(option))
    ratio = 0.05 if n > p else 0.3
    # Of a penalty that is flat far out there may be no solution, nor fixed units.
    share = 1.0 if penalty == "lasso" else 0.9 if rescale else 0.4
    judged(
        X, y, ratio, share, family=family, penalty=penalty, rescale=rescale,
        **options_of(n, p)[option],
    )


# ---- survival ------------------------------------------------------------------------


def survival(n, p, seed, tied=False, late=False):
    """Times of a few values where they are tied; rows that enter late."""
    X, y = drawn("cox", n, p, seed)
    rng = np.random.default_rng(seed)
    if tied:
        y[:, 0] = np.ceil(4 * y[:, 0] / np.median(y[:, 0]))
    if late:
        y = np.column_stack([y[:, 0] * rng.choice([0, 0.5], n), y])
    return X, y, rng


@pytest.mark.filterwarnings("ignore:.*did not reach tol")
@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("late", [False, True], ids=["from the start", "late"])
@pytest.mark.parametrize("strata", [1, 3])
@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
def test_fermats_condition_of_ties_strata_and_delayed_entry(
    penalty, strata, late, ties
):
    X, y, rng = survival(80, 12, 3, tied=True, late=late)
    judged(
        X, y, 0.1, 1.0 if penalty == "lasso" else 0.9, family="cox", penalty=penalty,
        ties=ties, strata=np.arange(80) % strata if strata > 1 else None,
        weights=rng.uniform(0.5, 2, 80), offset=rng.normal(0, 0.3, 80),
    )


# ---- kinds of X ----------------------------------------------------------------------


def stored(X, folder):
    """The kinds of X; entries are whole numbers, which all of them hold."""
    yield "sparse", sparse.csc_array(X)
    for dtype in (np.float32, np.int8):
        yield np.dtype(dtype).name, np.asfortranarray(X.astype(dtype))
    written = np.memmap(folder / "X", float, "w+", shape=X.shape, order="F")
    written[:] = X
    written.flush()
    yield "memmap", np.memmap(folder / "X", float, "r", shape=X.shape, order="F")
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file["X"] = X
    yield "h5py", h5py.File(folder / "X.h5")["X"]
    array = pytest.importorskip("dask.array")
    yield "dask", array.from_array(X, chunks=(len(X), 20))


@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
@every_family
def test_kinds_of_x_agree(family, penalty, tmp_path, monkeypatch):
    monkeypatch.setattr("ncvpath.matrices.SMALL", 0)
    X, y = drawn(family, 100, 60, seed=7)
    X = np.trunc(2 * X)
    settings = dict(
        family=family, penalty=penalty, nlambda=12, lambda_min_ratio=0.2, tol=1e-11,
        weights=np.random.default_rng(1).uniform(0.5, 2, 100),
    )
    dense = ncvpath(X, y, **settings)
    edge = 12 if dense.convex_min is None else dense.convex_min + 1
    assert edge >= 4 and dense.converged[:edge].all()
    expected = dense.beta[:, :edge].toarray()
    size = np.abs(expected).max()
    for kind, matrix in stored(X, tmp_path):
        path = ncvpath(matrix, y, **settings)
        np.testing.assert_allclose(path.lambdas[:edge], dense.lambdas[:edge], rtol=1e-9)
        np.testing.assert_allclose(
            path.beta[:, :edge].toarray(), expected, rtol=0, atol=1e-8 * size,
            err_msg=kind,
        )


# ---- where a path ends ---------------------------------------------------------------


def separated(n=40, p=15, seed=2):
    """Classes that the first column tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X[:, 0] > 0).astype(float)


@pytest.mark.parametrize("penalty", ["lasso", "MCP", "SCAD"])
def test_an_automatic_grid_stops_before_the_model_is_saturated(penalty):
    X, y = separated()
    path = ncvpath(
        X, y, family="binomial", penalty=penalty, nlambda=50, lambda_min_ratio=1e-4
    )
    assert 1 < path.lambdas.size < 50 and path.stopped.startswith("the model is satur")
    assert path.dev_ratio.max() <= 0.99 and path.converged.all()


def test_a_flat_penalty_stops_at_users_lambdas_too_and_a_lasso_goes_on():
    X, y = separated()
    lambdas = [0.1, 0.01, 1e-3, 1e-4]
    flat = ncvpath(X, y, family="binomial", penalty="MCP", lambdas=lambdas)
    assert flat.lambdas.size < 4 and "saturated" in flat.stopped
    lasso = ncvpath(X, y, family="binomial", penalty="lasso", lambdas=lambdas)
    assert lasso.lambdas.tolist() == lambdas and lasso.stopped is None
    assert lasso.converged.all() and lasso.dev_ratio[-1] > 0.99


@pytest.mark.filterwarnings("ignore:.*did not reach tol")
def test_the_first_lambda_is_always_returned_and_flagged():
    X, y = separated()
    path = ncvpath(X, y, family="binomial", penalty="MCP", lambdas=[1e-4])
    assert path.lambdas.tolist() == [1e-4] and not path.converged[0]
    assert path.status[0].startswith("saturated")


def test_counts_of_classes_that_a_finite_model_explains_are_not_saturated():
    """The deviance of shares counts from their entropy, which finite coefficients
    reach; only classes that are told apart send them to infinity."""
    dose = np.arange(1.0, 7.0)
    eta = 1.1 * dose - 3.8
    dead = np.round(1000 / (1 + np.exp(-eta)))
    counts = np.column_stack([1000 - dead, dead])
    X = np.column_stack([dose, [3.0, 1, 4, 1, 5, 9]])
    path = ncvpath(X, counts, family="binomial", lambdas=0, tol=1e-9)
    assert path.dev_ratio[0] > 0.999 and path.converged.all()
    assert path.beta.toarray()[0, 0] == pytest.approx(1.1, rel=0.01)
    whole = ncvpath(X, counts, family="binomial")
    assert whole.stopped is None and whole.converged.all()


@pytest.mark.parametrize("factor", [1.0, 0.0])
def test_counts_that_are_well_explained_have_a_model(factor):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4))
    y = rng.poisson(np.exp(8 + 2 * X[:, 0])).astype(float)
    path = ncvpath(
        X, y, family="poisson", lambdas=[1e-3], penalty_factor=[factor, 1, 1, 1]
    )
    assert path.dev_ratio[0] > 0.99 and path.converged.all()


@pytest.mark.parametrize("rescale", [True, False])
def test_many_lambdas_above_the_largest(rescale):
    X, y = drawn("binomial", 50, 5, seed=1)
    top = ncvpath(X, y, family="binomial", nlambda=1).lambdas[0]
    lambdas = top * np.linspace(3, 0.5, 30)
    path = ncvpath(X, y, family="binomial", lambdas=lambdas, rescale=rescale)
    assert path.converged.all() and not path.df[:20].any() and path.df[-1]


@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
def test_steps_from_far_away_do_not_overflow(penalty):
    X, y = np.array([[0.5], [0.5], [6.3]]), np.array([2976.0, 2911, 3056])
    given = dict(family="poisson", penalty=penalty, intercept=False, nlambda=10)
    for rescale in (True, False):
        assert ncvpath(X, y, rescale=rescale, **given).converged.all()
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 20))
    y = rng.poisson(1000 * np.exp(0.5 * X[:, 0]))
    path = ncvpath(X, y, rescale=False, **given)
    assert path.converged.mean() > 0.8


def test_classes_that_unpenalised_features_separate_are_an_error():
    X, y = separated()
    with pytest.raises(ValueError, match="unpenalised features .* must leave"):
        ncvpath(X, y, family="binomial", penalty_factor=np.r_[0.0, np.ones(14)])


# ---- rows without weight -------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
@every_family
def test_rows_without_weight_might_as_well_not_be_there(family, penalty):
    X, y = drawn(family, 120, 15, seed=4)
    kept = np.random.default_rng(5).random(120) < 0.7
    settings = dict(
        family=family, penalty=penalty, nlambda=12, lambda_min_ratio=0.2, tol=1e-11
    )
    alone = ncvpath(X[kept], y[kept], **settings)
    weighted = ncvpath(X, y, weights=kept.astype(float), **settings)
    edge = 12 if alone.convex_min is None else alone.convex_min + 1
    np.testing.assert_allclose(
        weighted.lambdas[:edge], alone.lambdas[:edge], rtol=1e-10
    )
    np.testing.assert_allclose(
        weighted.beta.toarray()[:, :edge], alone.beta.toarray()[:, :edge], atol=1e-8
    )
    np.testing.assert_allclose(
        weighted.intercept[:edge], alone.intercept[:edge], atol=1e-8
    )


@pytest.mark.parametrize("family", ["gaussian", *FAMILIES])
def test_nor_do_they_count_as_observations(family):
    X, y = drawn("poisson" if family == "gaussian" else family, 120, 15, seed=4)
    kept = np.random.default_rng(5).random(120) < 0.6
    settings = dict(family=family, penalty="lasso", lambdas=[0.1, 0.05], tol=1e-11)
    alone = ncvpath(X[kept], y[kept], **settings)
    weighted = ncvpath(X, y, weights=kept.astype(float), **settings)
    np.testing.assert_allclose(weighted.loss, alone.loss, rtol=1e-9)
    for question in ("loglik", "aic", "bic", "ebic"):
        np.testing.assert_allclose(
            getattr(weighted, question)(), getattr(alone, question)(), rtol=1e-9
        )
    counts = np.random.default_rng(6).poisson(3.0, (120, 2)) + 1.0
    path = ncvpath(X, counts, family="binomial", weights=kept.astype(float))
    assert path.trials == counts[kept].sum()


# ---- what has no solution, or many ---------------------------------------------------


@pytest.mark.parametrize("solver", ["cd", "mm-cd"])
@pytest.mark.parametrize("penalty", ["lasso", "logsum"])
def test_at_lambda_zero_classes_that_can_be_separated_have_no_solution(penalty, solver):
    settings = dict(family="binomial", penalty=penalty, solver=solver, rescale=False)
    with pytest.warns(ConvergenceWarning, match="lambda"):
        path = ncvpath(*separated(), lambdas=[0.1, 0], **settings)
    assert path.status[-1].startswith("saturated")
    X, _ = separated()
    mixed = np.random.default_rng(8).integers(0, 2, len(X))
    assert ncvpath(X, mixed, lambdas=[0.1, 0], **settings).converged.all()


@every_family
def test_at_lambda_zero_dependent_columns_have_many_solutions(family):
    X, y = drawn(family, 120, 6, seed=4)
    settings = dict(family=family, penalty="lasso", lambdas=[0.05, 0])
    assert ncvpath(X, y, **settings).status[-1] == "converged"
    path = ncvpath(np.column_stack([X, X[:, 0]]), y, **settings)
    assert path.status[-1].startswith("converged to one of many")


def test_a_constant_y_needs_explaining_where_the_offset_varies():
    X, _ = drawn("poisson", 80, 5, seed=3)
    offset = 0.3 * X[:, 1] + np.random.default_rng(7).normal(0, 0.3, 80)
    for family in ("gaussian", "poisson"):
        path = ncvpath(X, np.full(80, 3.0), family=family, offset=offset, nlambda=5)
        assert path.converged.all() and path.beta[1, -1] < -0.1
        cv = cv_ncvpath(
            X, np.full(80, 3.0), family=family, offset=offset, nlambda=5, nfolds=4,
            random_state=1,
        )
        assert np.isfinite(cv.cve).all()
    with pytest.raises(ValueError, match="y must vary beyond its offset"):
        ncvpath(X, offset + 3, offset=offset)


def test_what_the_null_model_explains_in_every_row_is_refused_by_that_name():
    X, _ = drawn("cox", 40, 3, seed=2)
    last_alone = np.column_stack([np.arange(1.0, 41), np.arange(40) == 39])
    with pytest.raises(ValueError, match="y must leave something to explain"):
        ncvpath(X, last_alone, family="cox")


# ---- one's own -----------------------------------------------------------------------


class NegativeBinomial(Family):
    """Counts of mean e^eta and variance mu + mu^2 / size."""

    name, size = "negative binomial", 2.0

    def loss(self, y, eta):
        return (y + self.size) * np.logaddexp(eta, np.log(self.size)) - y * eta

    def residual(self, y, eta):
        return y - (y + self.size) * sigmoid(eta - np.log(self.size))

    def curvature(self, y, eta):
        share = sigmoid(eta - np.log(self.size))
        return (y + self.size) * share * (1 - share)

    def mean(self, eta):
        return np.exp(eta)


@pytest.mark.filterwarnings("ignore:.*did not reach tol")
@either_way
@every_penalty
def test_a_family_of_ones_own_meets_fermats_condition(penalty, rescale):
    X, y = drawn("poisson", 90, 12, seed=8)
    own = NegativeBinomial()
    settings = dict(penalty=penalty, rescale=rescale)
    path = ncvpath(
        X, y, family=own, nlambda=15, lambda_min_ratio=0.05, tol=TOL, **settings
    )
    judge = Curved(
        X, y, family=lambda **_: Rows(own.residual, own.curvature), **settings
    )
    found = judge.violations(path)
    assert path.converged[:5].all() and path.df.max() > 3
    assert (found[path.converged] <= 1.01 * TOL + 1e-11).all()


# ---- what a hostile tester found -----------------------------------------------------


@pytest.mark.parametrize("family", ["binomial", "cox"])
@pytest.mark.parametrize("penalty", ["MCP", "logsum"])
def test_units_of_a_column_that_is_not_penalised_do_not_matter(family, penalty):
    X, y = drawn(family, 120, 8, seed=4)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    settings = dict(
        family=family, penalty=penalty, standardize=False, lambdas=[0.1, 0.05],
        penalty_factor=np.r_[0.0, np.ones(7)],
    )
    usual, units = ncvpath(X, y, **settings), np.r_[1e7, np.ones(7)]
    path = ncvpath(X * units, y, **settings)
    assert usual.converged.all() and path.converged.all()
    beta = path.beta.toarray() * units[:, None]
    np.testing.assert_allclose(beta, usual.beta.toarray(), atol=1e-4)


@pytest.mark.parametrize("stored", [np.asfortranarray, sparse.csc_array])
def test_losses_are_those_of_the_coefficients_after_steps_that_leapt_far(stored):
    X, y = np.zeros((60, 6)), np.zeros(60)
    X[[2, 4, 7, 17, 26, 27, 27, 39, 50], [3, 5, 1, 0, 5, 4, 5, 2, 4]] = 1
    y[[2, 12, 15, 16, 17, 19, 23, 24, 37, 43, 46, 49, 51, 52, 58]] = 1
    path = ncvpath(stored(X), y, family="binomial", penalty="SCAD", nlambda=5)
    for k in np.flatnonzero(path.converged):
        eta = path.predict(X, which=int(k), type="link")
        loss = 2 * np.sum(np.logaddexp(0, eta) - y * eta)
        assert path.loss[k] == pytest.approx(loss, rel=1e-8)
        assert abs(np.mean(y - sigmoid(eta))) < 1e-6


@pytest.mark.parametrize("penalty", ["MCP", "SCAD"])
@pytest.mark.parametrize("solver", ["cd", "bcd"])
def test_a_class_that_one_column_explains_takes_few_steps(penalty, solver):
    X = np.array([[1.0], [0], [0], [0], [0]])
    path = ncvpath(
        X, [1, 1, 0, 0, 0], family="binomial", penalty=penalty, rescale=False,
        solver=solver,
    )
    assert path.converged.all() and path.n_epochs.max() < 500
