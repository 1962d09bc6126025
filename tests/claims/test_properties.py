"""Random problems of every kind, judged by Fermat's conditions in extended precision.

    HYPOTHESIS_PROFILE=long python -m pytest tests/claims/test_properties.py

looks at other problems each time, for the better part of an hour. Each failure found
is a named recipe in test_found.py.
"""

import os
import warnings

import numpy as np
import pytest
import recipes
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from judge import fit, is_honest, never_rises
from oracle import Problem
from scipy import sparse

from ncvpath import cv_ncvpath
from ncvpath.solver import working_set
from ncvpath.solver.inner import INNER
from ncvpath.solver.mm import MAJORIZING

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
common = dict(deadline=None, database=None, suppress_health_check=SLOW)
settings.register_profile("ci", max_examples=200, derandomize=True, **common)
settings.register_profile("long", max_examples=30_000, print_blob=True, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
FEW = settings().max_examples // 3

TOL = 1e-7


def as_float32(X):
    with np.errstate(over="ignore"):  # such are not used
        return X.astype(np.float32)


KINDS = {
    "csc": sparse.csc_array, "csr": sparse.csr_array, "coo": sparse.coo_array,
    "columns": np.asfortranarray, "float32": as_float32,
    "every other": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


def in_one_unit(design, model):
    """Columns that can be compared.

    Violations are judged in the largest one's unit: with columns of other units, what
    is left of small ones may be worth something.
    """
    if model["standardize"]:
        return design
    trouble = "none" if design["trouble"] == "powers" else design["trouble"]
    return design | {"scaled": False, "trouble": trouble}


def is_bounded(model):
    """Whether a small violation means a small gap in the objective.

    The gap is at most the violation times how far the coefficients are off, which is
    bounded where all are penalised; nearly equal free columns know no bound.
    """
    return model["penalty"] == "lasso" and model["penalty_factor"] is None


@given(recipes.designs, recipes.models())
def test_what_is_called_converged_is(design, model):
    X, y, model = recipes.problem(design, model)
    path = fit(X, y, nlambda=7, lambda_min_ratio=0.05, tol=TOL, **model)
    is_honest(X, y, path, model, TOL)


@given(recipes.designs, recipes.models(), st.sampled_from(list(KINDS)))
def test_every_kind_of_matrix(design, model, kind):
    X, y, model = recipes.problem(design, model)
    stored = KINDS[kind](X)
    if kind == "float32":
        assume(np.isfinite(stored).all())
        X = stored.astype(float)
    path = fit(stored, y, nlambda=5, lambda_min_ratio=0.2, tol=TOL, **model)
    is_honest(X, y, path, model, TOL)


@given(
    recipes.designs, recipes.models(), st.integers(30, 300),
    st.sampled_from(["csc", "columns", "float32"]),
)
def test_certificates(design, model, n, kind):
    """The way of large designs, on small ones."""
    X, y, model = recipes.problem(design | {"n": n}, model)
    stored = KINDS[kind](X)
    if kind == "float32":
        assume(np.isfinite(stored).all())
        X = stored.astype(float)
    path = fit(
        stored, y, certify_from=0, nlambda=7, lambda_min_ratio=0.05, tol=TOL, **model
    )
    is_honest(X, y, path, model, TOL)


@given(
    recipes.designs, recipes.models(), st.integers(2, 60), st.integers(1, 150),
    st.sampled_from([0, 1, 3]), st.sampled_from([4, 12, 40]),
)
def test_blocks_of_lambdas(design, model, n, p, strong_per_held, nlambda):
    """Of every length, with more or fewer features for them; the lambdas of a block
    that come after one that fails are tried again."""
    X, y, model = recipes.problem(design | {"n": n, "p": p}, model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(working_set, "STRONG_PER_HELD", strong_per_held)
        path = fit(
            X, y, certify_from=0, nlambda=nlambda, lambda_min_ratio=0.05, tol=TOL,
            n_added=1 + design["seed"] % 5, **model,
        )
    is_honest(X, y, path, model, TOL)
    never_rises(X, y, path, model)


@settings(max_examples=FEW)
@given(
    recipes.designs, recipes.models(), st.sampled_from([*INNER, *MAJORIZING]),
    st.sampled_from(["fireworks", "maxvc", "full"]), st.sampled_from([None, 1, 5]),
)
def test_every_system(design, model, solver, working_set, n_added):
    X, y, model = recipes.problem(design, model)
    assume(solver not in MAJORIZING or working_set == "fireworks")
    path = fit(
        X, y, nlambda=4, lambda_min_ratio=0.2, tol=1e-5, solver=solver, max_epochs=300,
        working_set=working_set, n_added=n_added, **model,
    )
    is_honest(X, y, path, model, 1e-5)


@given(recipes.designs, recipes.models())
def test_each_solution_is_no_worse_than_the_one_before(design, model):
    X, y, model = recipes.problem(design, model)
    path = fit(X, y, nlambda=6, lambda_min_ratio=0.1, tol=TOL, **model)
    never_rises(X, y, path, model)


@given(recipes.designs, recipes.models())
def test_the_lasso_is_as_low_as_the_naive_solver(design, model):
    design = in_one_unit(design, model)
    model = model | dict(penalty="lasso", gamma=None, penalty_factor=False)
    X, y, model = recipes.problem(design, model)
    assert is_bounded(model)
    path = fit(X, y, nlambda=4, lambda_min_ratio=0.2, tol=1e-9, **model)
    problem = Problem(X, y, **model)
    null = problem.objective(problem.standardized(path, 0), path.lambdas[0])
    for k in np.flatnonzero(path.converged):
        ours = problem.standardized(path, k)
        try:
            naive = problem.naive_solution(path.lambdas[k], ours, sweeps=100, tol=1e-9)
        except AssertionError:
            continue  # too slow to judge
        gap = problem.objective(ours, path.lambdas[k]) - problem.objective(
            naive, path.lambdas[k]
        )
        assert gap <= 1e-7 * null


@given(recipes.designs, recipes.models(), st.integers(-30, 30), st.integers(-30, 30))
def test_powers_of_four_pass_through_unchanged(design, model, of_y, of_x):
    """No constant in the code has a unit: not one bit of a mantissa changes."""
    X, y, model = recipes.problem(design, model)
    # These would change the problem: a ridge penalty has a unit.
    of_x = of_x if model["standardize"] else 0
    of_y = of_y if model["alpha"] == 1 else 0
    path = fit(X, y, nlambda=5, lambda_min_ratio=0.1, tol=TOL, **model)
    other = fit(
        X * 4.0**of_x, y * 4.0**of_y, nlambda=5, lambda_min_ratio=0.1, tol=TOL, **model
    )
    assert other.status == path.status
    np.testing.assert_array_equal(other.lambdas, path.lambdas * 4.0**of_y)
    np.testing.assert_array_equal(
        other.beta.toarray(), path.beta.toarray() * 4.0 ** (of_y - of_x)
    )


def same_lambdas(path, other, factors):
    """Each lambda_max is as right as its gradient, which free features leave rounding.

    That is, to tol times the largest gradient, which need not be the one that decides.
    """
    positive = np.ones(1) if factors is None else factors[factors > 0]
    positive = positive[np.isfinite(positive)]
    tolerance = 2 * TOL * positive.max() / positive.min()
    np.testing.assert_allclose(other.lambdas, path.lambdas, rtol=tolerance)


@given(recipes.designs, recipes.models())
def test_order_of_rows_and_columns_does_not_matter(design, model):
    X, y, model = recipes.problem(in_one_unit(design, model), model)
    rng = np.random.default_rng(design["seed"])
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    moved = dict(model)
    for name, order in (("weights", rows), ("penalty_factor", columns)):
        if model[name] is not None:
            moved[name] = model[name][order]
    arguments = dict(nlambda=4, lambda_min_ratio=0.3, tol=TOL)
    path = fit(X, y, **arguments, **model)
    other = fit(X[rows][:, columns], y[rows], **arguments, **moved)
    assume(path.converged.all() and other.converged.all())
    same_lambdas(path, other, model["penalty_factor"])
    if is_bounded(model):
        np.testing.assert_allclose(other.objective, path.objective, rtol=1e-5)


@given(recipes.designs, recipes.models(), st.integers(1, 3))
def test_weights_count_rows(design, model, most):
    design = in_one_unit(design, model)
    X, y, model = recipes.problem(design, model | {"weights": False})
    counts = np.random.default_rng(design["seed"]).integers(0, most + 1, len(y))
    assume(np.count_nonzero(counts) > 1)
    arguments = model | dict(nlambda=4, lambda_min_ratio=0.3, tol=TOL)
    path = fit(X, y, **(arguments | {"weights": counts.astype(float)}))
    other = fit(np.repeat(X, counts, axis=0), np.repeat(y, counts), **arguments)
    assume(path.converged.all() and other.converged.all())
    same_lambdas(path, other, model["penalty_factor"])
    if is_bounded(model):
        np.testing.assert_allclose(other.objective, path.objective, rtol=1e-5)


@settings(max_examples=FEW)
@given(
    recipes.designs, recipes.models(), st.integers(2, 6), st.sampled_from([0.3, 0.9])
)
def test_cross_validation_is_paths_on_training_rows(design, model, nfolds, alpha):
    # Some ridge, whose unit is that of y, and no free features: predictions are unique.
    design = design | dict(noise=0, unit=max(design["unit"], 0))
    model = model | dict(penalty="lasso", gamma=None, alpha=alpha, penalty_factor=False)
    design = in_one_unit(design, model)
    X, y, model = recipes.problem(design | {"n": design["n"] + 6}, model)
    labels = np.random.default_rng(design["seed"]).permutation(len(y)) % nfolds
    arguments = model | dict(lambda_min_ratio=0.2, tol=1e-9)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            cv = cv_ncvpath(X, y, folds=labels, nlambda=4, keep=True, **arguments)
    except ValueError:
        assume(False)
    for fold in range(nfolds):
        test = labels == fold
        train = dict(arguments)
        if model["weights"] is not None:
            train["weights"] = model["weights"][~test]
        alone = fit(X[~test], y[~test], lambdas=cv.fit.lambdas, **train)
        if alone.converged.all() and cv.converged[fold].all():
            np.testing.assert_allclose(
                cv.predictions[test], alone.predict(X[test]), rtol=1e-5,
                atol=1e-5 * np.abs(y).max(),
            )
