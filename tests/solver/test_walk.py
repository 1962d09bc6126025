"""The short cut through easy stretches takes the steps the solver would take."""

import numpy as np
import pytest
from conftest import draw

from ncvpath import ncvpath
from ncvpath.penalties import ROWS
from ncvpath.solver import walk


def singly(monkeypatch, *arguments, **options):
    """The path with every lambda solved on its own."""
    with monkeypatch.context() as patch:
        patch.setattr(walk, "may_be_easy", lambda state, limits: False)
        return ncvpath(*arguments, **options)


def watched(monkeypatch):
    """A list that will hold the number of steps of each stretch."""
    sizes, stretch = [], walk.easy_stretch

    def counted(*arguments):
        steps, spent = stretch(*arguments)
        sizes.append(len(steps))
        return steps, spent

    monkeypatch.setattr(walk, "easy_stretch", counted)
    return sizes


def alike(stretched, one_by_one):
    """Same path up to the tolerance, same counts of work."""
    for name in ("beta", "intercept", "objective", "loss"):
        left, right = (getattr(path, name) for path in (stretched, one_by_one))
        left, right = (a.toarray() if name == "beta" else a for a in (left, right))
        np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-8)
    assert (stretched.df == one_by_one.df).all()
    assert stretched.status == one_by_one.status


@pytest.mark.parametrize("penalty", [row.name for row in ROWS])
@pytest.mark.parametrize("alpha", [1.0, 0.6])
@pytest.mark.parametrize("shape", [(80, 12), (60, 90)])
def test_stretches_and_single_steps_agree(monkeypatch, penalty, alpha, shape):
    X, y = draw(*shape, seed=5)
    rng = np.random.default_rng(6)
    X += 10 * rng.standard_normal(shape[1])
    weights = rng.uniform(0.5, 2, shape[0]) * (rng.random(shape[0]) > 0.1)
    factor = np.r_[0.0, np.inf, rng.uniform(0.5, 2, shape[1] - 2)]
    options = dict(penalty=penalty, alpha=alpha, weights=weights, tol=1e-11,
                   penalty_factor=factor, nlambda=40, lambda_min_ratio=0.2)
    stretched = ncvpath(X, y, **options)
    one_by_one = singly(monkeypatch, X, y, **options)
    alike(stretched, one_by_one)
    assert (stretched.screening["rounds"].iloc[1:] > 0).all()


def test_an_easy_path_takes_few_calls(monkeypatch):
    X, y = draw(60, 90, seed=5)
    sizes = watched(monkeypatch)
    ncvpath(X, y, penalty="lasso", nlambda=50)
    assert sizes == [25, 24]


@pytest.mark.parametrize("name, room", [("ROOM", 100), ("MORE_FEATURES", 1)])
def test_a_stretch_ends_where_its_room_ends(monkeypatch, name, room):
    X, y = draw(60, 90, seed=5)
    options = dict(penalty="lasso", nlambda=50, tol=1e-11)
    whole = ncvpath(X, y, **options)
    monkeypatch.setattr(walk, name, room)
    alike(ncvpath(X, y, **options), whole)


def test_coarse_grids_and_hard_lambdas_are_left_to_the_solver():
    X, y = draw(60, 300, seed=7, nonzero=30)
    X += 3 * X[:, :1]  # correlated columns: several rounds, Newton steps
    for options in (dict(nlambda=4), dict(nlambda=100, lambda_min_ratio=0.001)):
        path = ncvpath(X, y, penalty="MCP", **options)
        assert path.converged.all()
        assert path.screening["rounds"].max() > 1
        assert (path.screening["checked"] % 300 == 0).all()


def test_the_path_stops_inside_a_stretch(monkeypatch):
    X, y = draw(60, 90, seed=5)
    options = dict(penalty="lasso", nlambda=50, dfmax=10)
    alike(ncvpath(X, y, **options), singly(monkeypatch, X, y, **options))
    sizes = watched(monkeypatch)
    path = ncvpath(X, y, **options)
    assert sum(sizes) == path.lambdas.size  # the first that is too large, not the null


def test_what_has_run_away_in_a_stretch_is_taken_back(monkeypatch):
    X, y = draw(60, 90, seed=5)
    options = dict(penalty="lasso", nlambda=50, tol=1e-11)
    expected = ncvpath(X, y, **options)
    easy_steps, easy_stretch, found = walk.easy_steps, walk.easy_stretch, []

    def fewer(*arguments):
        # As if the last ten had run away.
        steps, _ = easy_steps(*arguments)
        return (steps[:-10], 7) if len(steps) > 10 and not found else (steps, 0)

    def looked_at(problem, state, lambdas, limits):
        steps, spent = easy_stretch(problem, state, lambdas, limits)
        if spent:
            last, design = steps[-1], problem.design
            np.testing.assert_array_equal(state.beta[last.support], last.beta)
            assert np.count_nonzero(state.beta) == last.support.size
            residual = design.residual(problem.response, last.support, last.beta)
            np.testing.assert_allclose(
                state.correlation, design.correlate(residual), atol=1e-12
            )
            found.append((state.lam, last.lam, spent))
        return steps, spent

    monkeypatch.setattr(walk, "easy_steps", fewer)
    monkeypatch.setattr(walk, "easy_stretch", looked_at)
    path = ncvpath(X, y, **options)
    assert len(found) == 1 and found[0][0] == found[0][1] and found[0][2] >= 7
    alike(path, expected)
