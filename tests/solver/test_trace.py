"""The record of rounds: what is in it, and that keeping it changes no answer."""

import dataclasses
import pickle

import numpy as np
import pytest
from conftest import draw
from oracle import Problem

from ncvpath import NcvPath, cv_ncvpath, ncvpath
from ncvpath.solver.trace import Round

COLUMNS = ["seconds", "objective", "violation", "step", "working_set", "distance"]


@pytest.fixture
def recorded():
    X, y = draw(50, 150, seed=4, nonzero=10)
    path = ncvpath(
        X, y, lambdas=[0.5, 0.05], warm_up=False, solver="bcd", n_added=5, record=True
    )
    return X, y, path


def test_one_row_per_lambda_and_round(recorded):
    _, _, path = recorded
    trace = path.trace
    assert trace.columns.tolist() == COLUMNS == list(Round._fields)
    assert trace.index.names == ["lambda", "round"]
    rounds = path.screening["rounds"]
    for lam in path.lambdas:
        assert trace.loc[lam].index.tolist() == list(range(rounds[lam]))
    assert len(trace.loc[0.05]) > 3


def test_the_last_round_is_what_the_path_reports(recorded):
    X, y, path = recorded
    judge = Problem(X, y, penalty="MCP")
    for k, lam in enumerate(path.lambdas):
        last = path.trace.loc[lam].iloc[-1]
        assert last["objective"] == pytest.approx(path.objective[k], rel=1e-12)
        assert last["violation"] == pytest.approx(path.violation[k], rel=1e-6)
        measured = judge.violation(judge.standardized(path, k), lam)
        assert last["violation"] * judge.null_gradient() == pytest.approx(
            measured, rel=1e-4, abs=1e-12
        )
        assert last["step"] == 1 and last["distance"] <= path.tol * 10


def test_time_goes_forward_within_the_time_of_the_lambda(recorded):
    _, _, path = recorded
    for lam in path.lambdas:
        seconds = path.trace.loc[lam]["seconds"].to_numpy()
        assert (np.diff(seconds, prepend=0) > 0).all()
        assert seconds[-1] <= path.screening["seconds"][lam]


def test_without_record_there_is_none():
    X, y = draw(40, 12, seed=2)
    path = ncvpath(X, y, nlambda=5)
    assert path.trace is None
    with pytest.raises(ValueError, match="record=True"):
        path.plot_trace()


def test_a_path_from_lambda_max_is_recorded_throughout():
    X, y = draw(40, 120, seed=2)
    plain = ncvpath(X, y, nlambda=20)
    path = ncvpath(X, y, nlambda=20, record=True)
    assert path.trace.index.get_level_values(0).unique().tolist() == list(path.lambdas)
    np.testing.assert_array_equal(path.beta.toarray(), plain.beta.toarray())
    first = path.trace.loc[path.lambdas[0]]
    assert len(first) == 1 and first["violation"].iloc[0] <= 1e-6


def test_majorization_is_measured_on_the_nonconvex_problem():
    X, y = draw(40, 120, seed=2)
    path = ncvpath(
        X, y, penalty="logsum", lambdas=0.2, warm_up=False, solver="mm-cd", record=True
    )
    last = path.trace.iloc[-1]
    assert last["objective"] == pytest.approx(path.objective[0], rel=1e-12)
    assert last["violation"] == pytest.approx(path.violation[0], rel=1e-6)
    assert len(path.trace) >= path.screening["majorizations"].iloc[0] > 1
    # From the first lasso to the last it falls; a round of one lowers the lasso.
    assert last["objective"] < path.trace["objective"].iloc[0]


def test_it_survives_files_and_pickles(recorded, tmp_path):
    _, _, path = recorded
    path.save(tmp_path / "path.npz")
    loaded = NcvPath.load(tmp_path / "path.npz")
    for other in (loaded, pickle.loads(pickle.dumps(path))):
        assert other.trace.equals(path.trace)


SPOILT = {
    "rounds of step are not": lambda rounds: rounds | {"step": np.zeros(1)},
    "round_violation must have shape .* and kind i or f": lambda rounds: (
        rounds | {"violation": rounds["violation"].astype(str)}
    ),
    "rounds belong to other lambdas": lambda rounds: (
        rounds | {"which": rounds["which"] + 1}
    ),
    "rounds lack distance": lambda rounds: {
        name: rounds[name] for name in rounds if name != "distance"
    },
}


@pytest.mark.parametrize("message", SPOILT)
def test_files_with_foreign_rounds_are_refused(recorded, tmp_path, message):
    _, _, path = recorded
    spoilt = dataclasses.replace(path, rounds=SPOILT[message](path.rounds))
    spoilt.save(tmp_path / "path.npz")
    with pytest.raises(ValueError, match=message):
        NcvPath.load(tmp_path / "path.npz")


def test_cross_validation_records_the_full_fit():
    X, y = draw(60, 12, seed=2)
    cv = cv_ncvpath(X, y, nlambda=10, random_state=1, record=True)
    assert len(cv.fit.trace) >= 10


def test_the_picture_shows_every_round(recorded):
    _, _, path = recorded
    ax = path.plot_trace()
    drawn = {line.get_label(): line for line in ax.get_lines()}
    rows = len(path.trace)
    assert drawn["largest violation"].get_xdata().size == rows
    np.testing.assert_allclose(
        drawn["largest violation"].get_ydata(), path.trace["violation"]
    )
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel() == "round"
    below = path.plot_trace(xvar="seconds")
    assert below.get_xlabel() == "seconds"
    assert (np.diff(below.get_lines()[0].get_xdata()) > 0).all()


def test_a_path_that_converges_at_once_is_not_drawn_upside_down():
    X, y = draw(60, 12, seed=2)
    ax = ncvpath(X, y, nlambda=10, record=True).plot_trace()
    low, high = ax.get_ylim()
    assert 1e-9 < low < 1e-6 <= high
    assert all(place == round(place) for place in ax.get_xticks())


def test_the_picture_says_what_it_can_show(recorded):
    _, _, path = recorded
    with pytest.raises(ValueError, match="xvar must be one of"):
        path.plot_trace(xvar="epochs")
