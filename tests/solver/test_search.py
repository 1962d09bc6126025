"""A search for lower minima: what it keeps, refuses and promises."""

import io
import pickle

import numpy as np
import pytest
from conftest import draw
from fitting import cross_validate, fit
from oracle import Problem
from scipy import sparse

from ncvpath import NcvPath, ncvpath
from ncvpath.solver.follow import joined
from ncvpath.solver.search import hidden_lambda

DEEP = dict(nlambda=25, lambda_min_ratio=0.03)
SEARCHES = ("both", "thorough")
every_search = pytest.mark.parametrize("search", SEARCHES)


def correlated(n=50, p=80, seed=0):
    """Columns with a factor in common."""
    X, y = draw(n, p, seed, nonzero=6)
    common = np.random.default_rng(seed).standard_normal((n, 1))
    X = np.asfortranarray(0.4 * X + common)
    return X, X[:, :6] @ [2.0, -2.0, 1.0, -1.0, 2.0, -1.0] + 0.3 * y


def bits(path):
    return [
        path.beta.data.tobytes(), path.beta.indices.tobytes(), path.objective.tobytes(),
        *(path.work[name].tobytes() for name in path.work if name != "seconds"),
    ]


@every_search
@pytest.mark.parametrize("penalty", ["MCP", "SCAD", "logsum", "capped"])
def test_solutions_are_certified_and_never_higher(search, penalty):
    X, y = correlated()
    own = dict(penalty=penalty, gamma=0.05 if penalty == "logsum" else None)
    forward = ncvpath(X, y, **own, **DEEP)
    path = ncvpath(X, y, search=search, **own, **DEEP)
    assert path.converged.all()
    assert (path.objective <= forward.objective * (1 + 1e-9)).all()
    assert (path.objective < forward.objective * (1 - 1e-6)).any()
    exact = Problem(X, y, **own)
    unit = exact.reach(exact.standardized(path, 0))
    for k, lam in enumerate(path.lambdas):
        b = exact.standardized(path, k)
        assert exact.violation(b, lam) <= 1.5e-6 * unit
        assert exact.objective(b, lam) == pytest.approx(path.objective[k], rel=1e-8)


def test_lists_that_end_nearby_begin_the_walk_back_at_the_same_place():
    top, step = 3.0, hidden_lambda(3.0, 2.9) / 3.0
    for last in (0.51, 0.55, 0.59):
        below = hidden_lambda(top, last)
        assert below < last <= below / step * (1 + 1e-12)
        assert below == hidden_lambda(top, 0.999 * last) or 0.999 * last < below


def test_the_convex_part_is_left_as_it_is():
    X, y = correlated(200, 10)
    forward, path = (
        ncvpath(X, y, gamma=8.0, nlambda=30, search=search)
        for search in ("forward", "thorough")
    )
    edge = forward.convex_min
    assert edge is None or edge > 3
    size = None if edge is None else edge + 1
    assert (forward.beta[:, :size] != path.beta[:, :size]).nnz == 0


@every_search
def test_screening_tells_which_walk_and_what_it_took(search):
    X, y = correlated()
    forward, path = ncvpath(X, y, **DEEP), ncvpath(X, y, search=search, **DEEP)
    table = path.screening
    assert "walk" not in forward.screening and path.search == search
    assert forward.search == "forward"
    same = path.objective >= forward.objective * (1 - 1e-9)
    assert (table["walk"][same] == "forward").all()
    assert set(table["walk"][~same]) <= {"back", "swap", "again"}
    assert (table["epochs"] >= forward.screening["epochs"]).all()
    if search == "thorough":
        assert (table["swaps_kept"] <= table["swaps_tried"]).all()
        assert table["swaps_kept"].sum() > 0
    else:
        assert "swaps_tried" not in table


@every_search
def test_threads_and_records_change_no_bit(search):
    X, y = correlated(80, 200)
    path = ncvpath(X, y, search=search, n_threads=1, **DEEP)
    for other in (dict(n_threads=2), dict(record=True)):
        again = ncvpath(X, y, search=search, **{"n_threads": 1} | other, **DEEP)
        assert bits(again) == bits(path)


def test_every_kind_has_the_same_path():
    X, y = correlated()
    X[np.abs(X) < 0.3] = 0.0
    path = ncvpath(X, y, search="thorough", **DEEP)
    again = fit(sparse.csc_array(X), y, search="thorough", **DEEP)
    np.testing.assert_allclose(again.objective, path.objective, rtol=1e-6)


@every_search
def test_a_fold_is_the_path_on_its_rows(search):
    X, y = correlated()
    labels = np.arange(y.size) % 3
    cv = cross_validate(
        X, y, folds=labels, keep=True, search=search, convex=False, **DEEP
    )
    assert cv.fit.search == search
    for k in range(3):
        train = labels != k
        own = ncvpath(
            X[train], y[train], lambdas=cv.fit.lambdas, search=search, tol=1e-6
        )
        found = own.predict(X[~train])
        np.testing.assert_allclose(cv.predictions[~train], found, rtol=1e-3, atol=1e-3)
    again = cv.fit.cross_validate(folds=labels)
    assert again.fit.search == search
    np.testing.assert_array_equal(again.cve, cv.cve)


@pytest.mark.parametrize("family", ["binomial", "poisson", "cox"])
def test_families_with_a_fixed_objective(family):
    X, y = correlated(120, 40)
    if family == "binomial":
        y = y > np.median(y)
    elif family == "poisson":
        y = np.random.default_rng(1).poisson(np.exp(np.clip(y / y.std(), -2, 2)))
    else:
        y = np.column_stack([np.exp(-y / y.std()), np.arange(y.size) % 3 > 0])
    settings = dict(family=family, rescale=False, nlambda=15, lambda_min_ratio=0.1)
    forward = ncvpath(X, y, gamma=4.0, **settings)
    for search in SEARCHES:
        path = ncvpath(X, y, gamma=4.0, search=search, **settings)
        assert path.converged.all()
        assert (path.objective <= forward.objective + 1e-8).all()


@every_search
def test_what_has_no_minima_to_compare_is_refused(search):
    X, y = correlated()
    with pytest.raises(ValueError, match="search must be forward with penalty='lasso'"):
        ncvpath(X, y, penalty="lasso", search=search)
    with pytest.raises(ValueError, match="search must be forward with rescale=True"):
        ncvpath(X, y > 0, family="binomial", search=search)
    with pytest.raises(ValueError, match="search must be one of forward, both, thor"):
        ncvpath(X, y, search="back")


@every_search
def test_dfmax_holds_for_all_walks(search):
    X, y = correlated()
    path = ncvpath(X, y, search=search, dfmax=9, **DEEP)
    assert path.stopped and path.df.max() <= 9


def test_one_lambda_and_lambda_zero():
    X, y = correlated()
    top = ncvpath(X, y, nlambda=1).lambdas[0]
    low, lower = (
        ncvpath(X, y, lambdas=0.05 * top, search=search).objective[0]
        for search in ("forward", "both")
    )
    assert lower <= low
    path = ncvpath(X[:, :8], y, lambda_min_ratio=0, nlambda=20, search="thorough")
    assert path.lambdas[-1] == 0 and path.converged.all()


@pytest.mark.parametrize(
    "system", [dict(solver="bcd"), dict(solver="mm-cd"), dict(working_set="full")]
)
def test_systems_of_the_paper_search_too(system):
    X, y = correlated(60, 30)
    few = dict(nlambda=12, lambda_min_ratio=0.1)
    forward = ncvpath(X, y, **system, **few)
    for search in SEARCHES:
        path = ncvpath(X, y, search=search, **system, **few)
        assert path.converged.all()
        assert (path.objective <= forward.objective * (1 + 1e-9)).all()


def test_files_and_pickles_keep_it():
    X, y = correlated()
    path, stream = ncvpath(X, y, search="thorough", **DEEP), io.BytesIO()
    path.save(stream)
    stream.seek(0)
    for again in (NcvPath.load(stream), pickle.loads(pickle.dumps(path))):
        assert again.search == "thorough"
        assert list(again.screening["walk"]) == list(path.screening["walk"])


def test_pictures_mark_where_walks_change():
    X, y = correlated()
    for search in ("forward", "both"):
        path = ncvpath(X, y, search=search, **DEEP)
        changes = 0
        if search == "both":
            walk = path.screening["walk"].to_numpy()
            changes = np.count_nonzero(walk[1:] != walk[:-1])
            assert changes > 0
        marks = [
            line for line in path.plot().lines if line.get_label() == "another walk"
        ]
        assert sum(line.get_xdata().size for line in marks) == changes


def test_what_a_tick_raises_ends_a_search(monkeypatch):
    """A cancelled cross-validation waited for the searches of its folds."""
    steps = []

    def tick(self, n=1):
        steps.append(n)
        if n == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr("ncvpath.runtime.progress.Bar.tick", tick)
    with pytest.raises(KeyboardInterrupt):
        ncvpath(*correlated(), search="thorough", **DEEP)
    assert sum(steps) == DEEP["nlambda"] and steps.count(0) == 1


def test_residuals_of_solutions_that_were_returned_to_are_not_kept(monkeypatch):
    kept = []
    monkeypatch.setattr(
        "ncvpath.solver.follow.joined",
        lambda problem, parts, stopped: kept.append(parts) or joined(
            problem, parts, stopped
        ),
    )
    ncvpath(*correlated(), search="thorough", **DEEP)
    for part in kept[-1]:
        assert not {"eta", "residual"} & set(vars(part.solutions))
