"""What random problems found, each by name. See test_properties.py."""

import warnings

import numpy as np
import pytest
import recipes
from conftest import draw
from fitting import clean, cross_validate, fit, settings_of
from judge import is_honest, never_rises, nothing_to_explain
from scipy import sparse

from ncvpath import ConvergenceWarning, assign_folds, cv_ncvpath, ncvpath
from ncvpath.crossval.fold_fits import AllRows
from ncvpath.inputs.checks import matrix
from ncvpath.matrices.dense import dense_matrix
from ncvpath.matrices.design import make_design
from ncvpath.matrices.sparse import sparse_matrix
from ncvpath.runtime.threads import ThreadPool
from ncvpath.solver import inner, loop
from ncvpath.solver.certificates import Checked
from ncvpath.solver.finished import no_work
from ncvpath.solver.null_model import pose
from ncvpath.solver.solutions import Solutions

PLAIN = dict(
    n=20, p=10, seed=0, trouble="none", closeness=-1, shift=None, scaled=False, noise=0,
    unit=0,
)
LASSO = dict(
    penalty="lasso", gamma=None, alpha=1.0, intercept=True, standardize=True,
    weights=False, penalty_factor=False,
)
FREE = LASSO | dict(penalty_factor=True)
RAW = dict(intercept=False, standardize=False)
# What free columns leave of y is rounding; it was taken for signal.
NOTHING_LEFT = {
    "nearly equal free columns": (
        PLAIN | dict(n=9, p=38, seed=2837207257, trouble="nearly", closeness=-11,
                     scaled=True, noise=1, unit=3),
        FREE | RAW | dict(alpha=0.3),
    ),
    "free columns in a narrow cone": (
        PLAIN | dict(n=5, p=36, seed=705669455, trouble="factor", shift=8, unit=-7),
        FREE | dict(penalty="SCAD", gamma=2.5, alpha=0.9, intercept=False),
    ),
    "powers as free columns": (
        PLAIN | dict(n=6, p=27, seed=1868442765, trouble="powers", shift=0, scaled=True,
                     noise=-3, unit=6),
        FREE | dict(penalty="MCP", gamma=1 + 1e-6, standardize=False),
    ),
}
# Three rows, powers of one column far from zero, free ones among them.
FEW_ROWS = PLAIN | dict(n=3, p=150, seed=91, trouble="powers", shift=4, noise=-8)
WEIGHTED = FREE | dict(weights=True)
NOTHING_LEFT["a free column for two rows"] = (
    FEW_ROWS | dict(p=32, seed=0), WEIGHTED,  # the judge took rounding for signal
)
NOTHING_LEFT["many nearly equal free columns"] = (  # likewise
    PLAIN | dict(n=22, p=60, seed=3929, trouble="nearly", closeness=-12, noise=-8),
    FREE | RAW,
)
FOUND = {
    # Violations were measured to be small by chance: rounding is larger than tol.
    "nearly equal free columns": (
        PLAIN | dict(n=25, p=13, seed=371617563, trouble="nearly", closeness=-5,
                     shift=0, unit=12),
        FREE | dict(penalty="logsum", gamma=10.0, alpha=0.3, intercept=False),
    ),
    "powers as free columns": (
        PLAIN | dict(n=21, p=33, seed=975777840, trouble="powers", noise=1, unit=11),
        FREE | dict(penalty="logsum", alpha=0.01, intercept=False, weights=True),
    ),
    "equal free columns": (
        PLAIN | dict(n=23, p=18, seed=1444875767, trouble="duplicates", shift=6,
                     noise=1, unit=-1),
        FREE | dict(intercept=False),
    ),
    # A centre has half a unit in its last place, here much of what a column has.
    "columns that vary in their last places": (
        PLAIN | dict(n=2, p=16, seed=1, trouble="powers", shift=6, noise=-8, unit=5),
        LASSO | dict(alpha=0.9),
    ),
    "columns that vary in their last places, to infinity": (
        PLAIN | dict(n=2, p=37, trouble="powers", shift=8, scaled=True, unit=-12),
        FREE | dict(penalty="MCP", alpha=0.3, weights=True),
    ),
    # Coefficients ran away along directions that rounding had made.
    "equal free columns far from zero": (
        PLAIN | dict(n=28, p=7, seed=2676974, trouble="duplicates", shift=8,
                     scaled=True, noise=-3, unit=-8),
        FREE | RAW | dict(penalty="MCP", gamma=1.5, alpha=0.01),
    ),
    # Whether a column was constant was a matter of how its mean had been summed.
    "columns that hardly vary": (
        FEW_ROWS | dict(seed=182), WEIGHTED | dict(penalty="MCP"),
    ),
    "columns that hardly vary, not standardized": (
        FEW_ROWS | dict(unit=-1), WEIGHTED | dict(penalty="MCP", standardize=False),
    ),
    "columns that hardly vary, to infinity": (
        FEW_ROWS, WEIGHTED | dict(penalty="SCAD", standardize=False),
    ),
    # The judge took the rounding of centres for a rise of the objective.
    "columns of every size that hardly vary": (
        FEW_ROWS | dict(p=27, seed=3422, scaled=True), FREE | dict(standardize=False),
    ),
}


@pytest.mark.parametrize("name", NOTHING_LEFT)
def test_nothing_left_to_explain(name):
    X, y, model = recipes.problem(*NOTHING_LEFT[name])
    assert nothing_to_explain(X, y, model)
    with pytest.raises(ValueError, match="lambda_max must be positive"):
        ncvpath(X, y, **model)


@pytest.mark.parametrize("nlambda", [4, 7])
@pytest.mark.parametrize("name", FOUND)
def test_claims_of_convergence(name, nlambda):
    X, y, model = recipes.problem(*FOUND[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = ncvpath(X, y, nlambda=nlambda, lambda_min_ratio=0.05, tol=1e-7, **model)
    is_honest(X, y, path, model, 1e-7)
    never_rises(X, y, path, model)


@pytest.mark.parametrize("kind", [np.asfortranarray, sparse.csc_array])
def test_what_is_constant_does_not_depend_on_its_mean(kind):
    """Sixteen units in the last place are, seventeen are not, in any order."""
    X, y = draw(30, 40, seed=3)
    rng = np.random.default_rng(3)
    units = np.r_[np.arange(16), 16, 17, np.arange(18, 22)]
    for j, unit in enumerate(units):
        start = 2.0 ** rng.integers(-30, 30)  # whose last place above it is eps
        places = np.r_[0, unit, rng.integers(0, unit + 1, 28)]
        X[:, j] = -start * (1 + rng.permutation(places) * np.finfo(float).eps)
    size = np.abs(X[:, : units.size]).max(axis=0)
    spread = np.ptp(X[:, : units.size], axis=0)
    expected = [f"x{j + 1}" for j in np.flatnonzero(spread <= 16 * 2.0**-52 * size)]
    assert len(expected) == 17
    for weights in (np.ones(30), rng.random(30)):
        path = ncvpath(kind(X), y, nlambda=1, weights=weights)
        assert list(path.constant) == expected


def test_products_of_columns_when_tol_is_near_rounding():
    """Violations by way of them were 1e-8, of the residual 3e-7; tol is 1e-7."""
    X, y, model = recipes.problem(
        PLAIN | dict(n=81, p=34, seed=237, trouble="powers", shift=6), FREE | RAW
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # not all can be known
        path = fit(
            sparse.csc_array(X), y, nlambda=7, lambda_min_ratio=0.05, tol=1e-7, **model
        )
    assert path.converged.any()
    is_honest(X, y, path, model, 1e-7)


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray])
def test_a_residual_of_nothing_but_rounding(kind):
    """Coefficients of 1e34 seemed to leave nothing of y, and were kept."""
    design = PLAIN | dict(
        n=10, p=22, seed=2995792612, trouble="powers", shift=2, noise=-3, unit=-2
    )
    X, y, model = recipes.problem(
        design, FREE | dict(penalty="MCP", gamma=1.5, weights=True)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = ncvpath(kind(X), y, nlambda=7, lambda_min_ratio=0.05, tol=1e-7, **model)
    is_honest(X, y, path, model, 1e-7)
    never_rises(X, y, path, model)


# Whether numbers overflowed decided what was done next, and was a matter of units.
OVERFLOWS = {
    "a direction": (
        PLAIN | dict(n=28, p=37, seed=95, trouble="factor", shift=2, noise=1, unit=-10),
        LASSO | dict(penalty="logsum", weights=True), 1.0, 4.0**-19,
    ),
    "steps that seem to lead down": (
        PLAIN | dict(n=2, p=29, seed=1424459, trouble="powers", shift=8, noise=-8,
                     unit=-8),
        FREE | dict(penalty="SCAD", alpha=0.01), 4.0**-23, 1.0,
    ),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_newton_steps_without_curvature_have_no_unit(name):
    *recipe, of_x, of_y = OVERFLOWS[name]
    X, y, model = recipes.problem(*recipe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path, other = (
            ncvpath(X * x, y * z, nlambda=5, lambda_min_ratio=0.1, tol=1e-7, **model)
            for x, z in ((1.0, 1.0), (of_x, of_y))
        )
    np.testing.assert_array_equal(
        other.beta.toarray(), path.beta.toarray() * (of_y / of_x)
    )


def test_free_columns_equal_up_to_rounding_are_one():
    """Their difference was given a coefficient of 1e15, and all of y was rounding."""
    design = PLAIN | dict(
        n=14, p=15, seed=7, trouble="duplicates", shift=2, scaled=True, noise=-8
    )
    X, y, model = recipes.problem(design, FREE | dict(standardize=False))
    weights = np.random.default_rng(7).integers(0, 3, len(y))
    path = ncvpath(X, y, **(model | dict(weights=weights, nlambda=5)))
    length = np.sqrt((X**2).mean(axis=0))
    assert (np.abs(path.beta[:, [0]].toarray()[:, 0]) * length).max() < 1e3


def test_the_spread_of_a_column_that_hardly_varies():
    """Rounding in the centre is no part of it."""
    X, y = draw(50, 5, seed=8)
    far = X + 1e13  # entries are integers or halves of them
    path = ncvpath(far, y, nlambda=5, tol=1e-4)
    exact = far.astype(np.longdouble)
    spread = np.sqrt(((exact - exact.mean(axis=0)) ** 2).mean(axis=0))
    r = (y - y.astype(np.longdouble).mean()) / 50
    top = np.abs((exact - exact.mean(axis=0)).T @ r / spread).max()
    np.testing.assert_allclose(path.lambdas[0], float(top), rtol=1e-8)


def test_squares_that_overflow_only_in_their_sum():
    X, y = draw(442, 3)
    with pytest.raises(ValueError, match="y must not be so large"):
        ncvpath(X, y / np.abs(y).max() * 4e153)


def test_a_free_column_too_small_for_its_coefficient():
    X, y = draw(30, 8, seed=1)
    with pytest.raises(ValueError, match="X must not have unpenalised .* 9e-311"):
        X[:, 0] *= 9e-311 / X[:, 0].std()
        ncvpath(X, y, penalty_factor=np.r_[0.0, np.ones(7)])


def test_many_rows_do_not_blur_a_free_column():
    """The cut for directions that rounding made grew with n, and took real ones."""
    n = 200_000
    rng = np.random.default_rng(1)
    x = rng.standard_normal(n)
    near = 0.9 * x + np.sqrt(1 - 0.81) * rng.standard_normal(n)
    X = np.column_stack([x + 1e10, near, rng.standard_normal(n)])
    y = 3 * x - 3 * near + 0.1 * X[:, 2] + 0.1 * rng.standard_normal(n)
    path = ncvpath(X, y, penalty_factor=[0, 0, 1], nlambda=3)
    np.testing.assert_allclose(path.beta.toarray()[:2, 0], [3, -3], atol=0.01)


LIMITS = loop.Limits(
    1e-6, 100, "fireworks", "cd", 10, True, True, True, record=False, certify_from=0
)


def posed(X, y):
    """The problem of a fit by default, and its null model."""
    data = clean(X, y)
    design = make_design(dense_matrix(data.X, ThreadPool(1)), data.weights, True, True)
    return pose(data, settings_of(), design)


def outcome_of(problem, lambdas, beta, loss=None):
    """Coefficients of the first feature, as a round leaves them."""
    p, count = problem.design.p, len(lambdas)
    solutions = Solutions(problem, lambdas, np.array([0]), np.array(beta)[:, None])
    if loss is not None:
        solutions.loss = np.full(count, loss)
    values = problem.design.correlate(solutions.residual)
    checked = Checked(values, None, *np.zeros((2, count)))
    inside, outside = loop.violations(solutions, values, np.arange(p) == 0)
    epochs, met = 7 + np.arange(count), np.ones(count, dtype=bool)
    work = no_work(count)
    work["epochs"][:], work["rounds"][:] = epochs, 1
    return loop.Outcome(
        inner.Solved(solutions, epochs, 0 * epochs, met), checked, inside, outside, work
    )


def given_up(X, y, size, loss=None):
    """A lambda that is given up with one coefficient, on the side of its gradient if
    that is positive, and what is reported of it."""
    problem, state = posed(X, y)
    lam = 0.5 * problem.lambda_max
    attempt = loop.begin(problem, state, lam, LIMITS)
    step = size * np.sign(state.correlation.values[0])
    outcome = outcome_of(problem, np.array([lam]), [step], loss)
    status = loop.Status.STALLED
    finished = loop.close(state, attempt, outcome, 0, status, LIMITS)
    return state, attempt, outcome, finished


@pytest.mark.parametrize("size, kept", [(1e-3, True), (1.0, True), (-1e-3, False)])
def test_steps_that_led_upwards_are_taken_back(tall, size, kept):
    X, y = tall
    state, attempt, outcome, finished = given_up(X, y, size)
    found = outcome.solutions
    assert (found.objective[0] <= attempt.ceiling) == kept
    assert (state.beta[0] != 0) == kept
    used = np.count_nonzero(finished.solutions.beta)
    assert np.count_nonzero(state.beta) == used == kept
    # What is reported is that of what is kept.
    expected = found.objective if kept else attempt.origin.loss
    np.testing.assert_allclose(finished.solutions.objective, expected, rtol=1e-12)
    residual = y - y.mean()
    if kept:
        residual = found.residual[0]
    np.testing.assert_allclose(state.correlation.vector, residual, atol=1e-12)


@pytest.mark.parametrize("size, kept", [(0.1, True), (1e30, False)])
def test_a_perfect_fit_by_coefficients_that_ran_away(tall, size, kept):
    state, attempt, outcome, _ = given_up(*tall, size, loss=0.0)  # as rounding has it
    assert outcome.solutions.objective[0] < attempt.ceiling
    assert (state.beta[0] != 0) == kept


@pytest.mark.parametrize("size, kept", [(0.1, 2), (1e30, 1)])
def test_blocks_end_where_coefficients_ran_away(tall, size, kept):
    """Of two lambdas at whose solutions nothing seems to be violated."""
    problem, state = posed(*tall)
    lambdas = problem.lambda_max * np.array([0.9, 0.8])
    outcome = outcome_of(problem, lambdas, [0.1, size])
    outcome = outcome._replace(inside=np.zeros(2), outside=np.zeros(2))
    assert outcome.passed(1e-6 * problem.g0) == kept
    if kept == 1:  # what was spent on the other counts at its next attempt
        attempt = loop.begin(problem, state, lambdas[1], LIMITS)
        loop.handle_failure(problem, state, attempt, outcome, 1, LIMITS)
        assert attempt.work["epochs"] == 8 and attempt.work["rounds"] == 1


@pytest.mark.parametrize("penalty", ["lasso", "MCP"])
def test_least_squares_of_nearly_equal_columns(penalty):
    """A violation below tol left coefficients of -1208 where -5951 is the solution."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal(200)
    X = np.column_stack([z, z + 1e-5 * rng.standard_normal(200)])
    y = z + rng.standard_normal(200)
    path = ncvpath(X, y, penalty=penalty, lambda_min_ratio=0, nlambda=10)
    expected = np.linalg.lstsq(np.column_stack([np.ones(200), X]), y, rcond=None)[0]
    np.testing.assert_allclose(path.coef(which=-1), expected, rtol=1e-6)
    assert path.status[-1] == "converged"


def test_a_response_whose_squares_vanish():
    X, y = draw(40, 12, seed=1)
    with pytest.raises(ValueError, match="y must not be so small .* got squares of"):
        ncvpath(X, y * 1e-162)


def test_columns_whose_squares_vanish():
    X, y = draw(40, 12, seed=1)
    assert ncvpath(X * 1e-162, y, nlambda=3).converged.all()
    with pytest.raises(ValueError, match="X must not be so small .* got squares of 0"):
        ncvpath(X * 1e-162, y, standardize=False)


def test_folds_of_columns_far_from_zero():
    """A mean of 1e10 sd is rounded; what folds derived from it was off by 4e-6."""
    X, y, model = recipes.problem(
        PLAIN | dict(n=14, p=27, trouble="sparse", shift=8), LASSO | dict(alpha=0.3)
    )
    labels = np.random.default_rng(0).permutation(14) % 2
    settings = model | dict(tol=1e-9, lambda_min_ratio=0.2)
    cv = cv_ncvpath(X, y, folds=labels, nlambda=4, keep=True, **settings)
    for test in (labels == 0, labels == 1):
        alone = ncvpath(X[~test], y[~test], lambdas=cv.fit.lambdas, **settings)
        np.testing.assert_allclose(
            cv.predictions[test], alone.predict(X[test]), rtol=0, atol=1e-6
        )


@pytest.mark.parametrize("unit", [1e-82, 1e76])
def test_the_standard_error_has_the_unit_of_the_error(unit):
    """The square of a squared error may leave the range of numbers."""
    X, y = draw(60, 8, seed=2)
    one, other = (
        cv_ncvpath(X, y * c, penalty="lasso", nfolds=5, nlambda=20, random_state=1)
        for c in (1.0, unit)
    )
    np.testing.assert_allclose(other.cvse, one.cvse * unit**2, rtol=1e-9)
    assert other.index_1se == one.index_1se


def test_the_rounding_of_a_mean_is_no_part_of_the_response():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = 1e9 + 1e-5 * (X[:, 0] + rng.standard_normal(60))
    settings = dict(penalty="logsum", gamma=0.1, weights=rng.random(60))
    path = ncvpath(X, y, nlambda=20, **settings)
    near = ncvpath(X, y - 1e9, lambdas=path.lambdas, **settings)  # without rounding
    np.testing.assert_allclose(path.loss, near.loss, rtol=1e-6)
    np.testing.assert_allclose(
        path.beta.toarray(), near.beta.toarray(), atol=1e-6 * abs(near.beta).max()
    )


def test_the_scale_of_a_fold_whose_columns_are_far_from_zero():
    """With means of 1e6 sd, and weights that leave it little, it was off by 5e-6, and
    the fold said that it had converged."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = np.asfortranarray(rng.standard_normal((6, 8)) + 10 ** rng.uniform(0, 7, 8))
        matrix = dense_matrix(X, ThreadPool(1))
        weights = rng.choice([0.01, 1, 100], 6)
        weights /= weights.sum()
        total = AllRows(weights, *matrix.measure(weights, True), None)
        rows = rng.permutation(6)[:3]
        own = weights.copy()
        own[rows] = 0
        own /= own.sum()
        center, scale = matrix.measure_without(rows, total, own, True)
        true_center, true_scale = matrix.measure(own, True)
        np.testing.assert_allclose(scale, true_scale, rtol=1e-9)
        assert (np.abs(center - true_center) <= 1e-9 * true_scale).all()


LARGEST = np.finfo(float).max


@pytest.mark.parametrize("of_x, of_y", [(1e-310, 1.0), (1e-170, 1e140)])
def test_coefficients_that_overflow_in_the_units_of_a_tall_x(of_x, of_y, monkeypatch):
    """Where all products are known no residual was seen: they were inf, and called
    converged."""
    monkeypatch.setattr("ncvpath.matrices.dense.ALONE", 100)
    X, y = draw(400, 8)
    X[:, 0] *= of_x
    y = of_y * (3 * X[:, 0] / of_x + y)
    with pytest.raises(FloatingPointError, match="rescale X and y"):
        fit(X, y, penalty="lasso", nlambda=4)
    with pytest.raises(FloatingPointError, match="rescale X and y"):
        cross_validate(X, y, penalty="lasso", nlambda=4, nfolds=3, random_state=0)


@pytest.mark.parametrize("kind", [np.asfortranarray, sparse.csc_array])
@pytest.mark.parametrize(
    "column", [np.full(11, LARGEST), np.r_[LARGEST, np.full(10, -LARGEST)]]
)
def test_columns_whose_sums_overflow(kind, column):
    """The message was about an array without entries."""
    X, y = draw(11, 2)
    with pytest.raises(ValueError, match="(rescale it|sparse X must not)"):
        ncvpath(kind(np.column_stack([X, column])), y, nlambda=3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e200, 1e-160])
def test_folds_of_a_tall_x_where_a_column_is_constant(size, monkeypatch):
    """What stood in for its scale met one of all rows, and overflowed."""
    monkeypatch.setattr("ncvpath.matrices.dense.ALONE", 100)
    X, y = draw(300, 8)
    labels = assign_folds(300, 3, random_state=0)
    X[:, 0] = np.where(labels == 0, size * X[:, 0], 0)
    cv = cv_ncvpath(X, y, folds=labels, penalty="lasso", nlambda=5)
    assert cv.converged.all() and np.isfinite(cv.cve).all()


def test_one_centre_for_many_residuals_of_a_sparse_x():
    """Where none was given for the others, memory of others was read."""
    X, _ = draw(30, 5)
    X = sparse_matrix(matrix("X", sparse.csc_array(X * (X > 0))), ThreadPool(1))
    design = make_design(X, np.full(30, 1 / 30), True, True)
    residuals = np.random.default_rng(0).standard_normal((4, 30))
    expected = [design.correlate(residual[None])[0] for residual in residuals]
    np.testing.assert_array_equal(design.correlate(residuals), expected)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
@pytest.mark.parametrize("least", [1e-12, 1e-14])
def test_zeros_that_hardly_weigh_make_the_same_sparse_path(family, least):
    """The weight of rows that are not stored was a difference without digits."""
    x = np.r_[np.ones(6), np.zeros(6)][:, None]
    y = np.r_[np.arange(6.0), 1e9 + 1e8 * np.arange(6)]
    settings = dict(
        family=family, weights=np.r_[np.ones(6), np.full(6, least)], penalty="lasso",
        nlambda=5, lambda_min_ratio=0.2,
    )
    dense, stored = (ncvpath(X, y, **settings) for X in (x, sparse.csc_array(x)))
    np.testing.assert_allclose(stored.lambdas, dense.lambdas, rtol=1e-9)
    np.testing.assert_allclose(
        stored.beta.toarray(), dense.beta.toarray(), rtol=1e-6
    )


def test_times_whose_heavy_rows_cancel_claim_no_digits_that_rounding_took():
    x = np.array([0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0.0])
    y = np.array([
        [0, 1, 0], [0.9, 1, 1], [1.8, 2, 1], [0, 1, 1], [0, 1, 1], [0.9, 1, 1],
        [0.3, 1, 1], [0, 3, 0], [0.3, 1, 1], [0, 4, 0], [0, 1, 1], [0.9, 1, 1],
        [0.9, 1, 1], [0, 1, 0], [0, 1, 0],
    ])
    weights = np.array([
        9.01347790e01, 6.32537458e-11, 4.92534778e-03, 1.35460378e11, 7.19254131e-10,
        8.43625156e06, 8.81574402e11, 1.85664780e-12, 3.52822348e08, 2.09021811e-06,
        3.46704974e00, 1.47225238e-07, 2.01009598e-02, 8.43474190e-01, 3.52808770e-07,
    ])
    with pytest.warns(ConvergenceWarning, match="rounding"):
        path = ncvpath(
            x[:, None], y, family="cox", penalty="lasso", weights=weights, tol=1e-10,
            nlambda=50, standardize=False,
        )
    assert path.violation.max() > 4e-10  # as known from 60 digits


def test_columns_of_any_size_and_counts_without_a_word():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8)) * 10.0 ** np.linspace(-120, 120, 8)
    path = ncvpath(
        X, rng.poisson(2, 60), family="poisson", standardize=False, alpha=0.5,
        nlambda=20,
    )
    assert path.converged.all()
