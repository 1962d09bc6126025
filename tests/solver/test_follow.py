"""A path from the loop's blocks: warm-up, dfmax, ticks, overflow, joined supports."""

import numpy as np
import pytest
from conftest import draw

from ncvpath import lambda_max, ncvpath
from ncvpath.solver import follow as following
from ncvpath.solver import loop, mm
from ncvpath.solver.finished import WORK, Finished, Status
from ncvpath.solver.follow import Path, follow, joined, within_dfmax


class Some:
    """As much of solutions as a path is made of."""

    def __init__(self, lambdas, features, beta, loss, objective):
        self.lambdas, self.features, self.beta = lambdas, features, beta
        self.loss, self.objective, self.intercept = loss, objective, -loss

    def __len__(self):
        return self.lambdas.size

    def part(self, first, last):
        some = slice(first, last)
        return Some(
            self.lambdas[some], self.features, self.beta[some], self.loss[some],
            self.objective[some],
        )


def part(lambdas, features, beta, violation=0.0):
    """A finished block whose other figures can be told apart."""
    n, lambdas = len(lambdas), np.array(lambdas, dtype=float)
    solutions = Some(
        lambdas, np.array(features, dtype=int), np.array(beta, dtype=float),
        10 + lambdas, 20 + lambdas,
    )
    return Finished(
        solutions, np.full(n, violation), [Status.CONVERGED] * n,
        {name: 100 * k + lambdas for k, name in enumerate(WORK)},
        [[lam] for lam in lambdas],
    )


BLOCKS = [
    part([9], [], np.empty((1, 0))),
    part([8, 7, 6], [1, 4, 5], [[2, 0, 0], [2, 0, 3], [2, 0, -3]]),
    part([5, 4], [1, 2, 5], [[0, 1, -3], [7, 1, 0]]),
]


class Example:
    """As much of a problem and its settings as following a path needs."""

    g0, watches = 4.0, False
    design = type("Design", (), {"p": 6})()
    tol, max_epochs, working_set, solver, n_added = 1e-6, 100, "fireworks", "cd", None
    prune = inexact = record = False
    certify_from, dfmax, search = 0, None, "forward"


@pytest.fixture
def walked(monkeypatch):
    """What follow makes of some blocks; which of them it asked for."""

    def run(blocks, n_hidden=0, dfmax=None, solver="cd"):
        asked, ticks, seen = [], [], {}

        def walk(problem, state, lambdas, limits, rounds):
            seen.update(lambdas=lambdas, limits=limits, rounds=rounds)
            for k, block in enumerate(blocks):
                asked.append(k)
                yield block

        monkeypatch.setattr("ncvpath.solver.follow.walk", walk)
        settings = Example()
        settings.dfmax, settings.solver = dfmax, solver
        lambdas = np.concatenate([block.solutions.lambdas for block in blocks])
        path = follow(
            Example, None, lambdas[n_hidden:], lambdas[:n_hidden], settings,
            ticks.append,
        )
        return path, asked, ticks, seen

    return run


@pytest.mark.parametrize("solver", ["cd", "mm-cd"])
def test_blocks_are_joined(walked, solver):
    path, asked, ticks, seen = walked(BLOCKS, solver=solver)
    assert path.lambdas.tolist() == [9, 8, 7, 6, 5, 4] == seen["lambdas"].tolist()
    assert seen["rounds"] is (mm.rounds if solver == "mm-cd" else loop.rounds)
    assert path.ends.tolist() == [0, 0, 1, 3, 5, 7, 9]
    assert path.features.tolist() == [1, 1, 5, 1, 5, 2, 5, 1, 2]
    assert path.values.tolist() == [2, 2, 3, 2, -3, 1, -3, 7, 1]
    assert [path.support(k).tolist() for k in (0, 3, 5)] == [[], [1, 5], [1, 2]]
    assert path.in_use(2, 4).tolist() == [1, 5]
    assert path.in_use(3, 6).tolist() == [1, 2, 5]
    assert (path.loss == 10 + path.lambdas).all()
    assert (path.objective == 20 + path.lambdas).all()
    assert (path.intercept == -path.loss).all()
    assert [rounds for [rounds] in path.trace] == path.lambdas.tolist()
    for k, name in enumerate(WORK):
        assert (path.work[name] == 100 * k + path.lambdas).all()
    assert asked == [0, 1, 2] and ticks == [1, 3, 2] and path.stopped is None
    assert path.converged.all()


def test_violations_are_relative_to_the_null_gradient(walked):
    path, *_ = walked([part([3, 2], [0], [[1], [2]], violation=2.0)])
    assert path.violation.tolist() == [0.5, 0.5]


def test_limits_are_those_of_the_settings(walked):
    *_, seen = walked(BLOCKS)
    limits = seen["limits"]
    assert limits.tol == 4e-6 and limits.max_epochs == 100
    assert limits.n_added == 10 and limits.growing  # by default
    assert limits.certify_from == 0 and not limits.record


@pytest.mark.parametrize("n_hidden", range(6))
def test_hidden_lambdas_lead_to_the_first_and_are_not_reported(walked, n_hidden):
    path, asked, ticks, seen = walked(BLOCKS, n_hidden)
    whole, *_ = walked(BLOCKS)
    assert seen["lambdas"].tolist() == [9, 8, 7, 6, 5, 4]
    assert path.lambdas.tolist() == [9, 8, 7, 6, 5, 4][n_hidden:]
    assert sum(ticks) == 6 - n_hidden == len(path.status) == len(path.trace)
    first = whole.ends[n_hidden]
    assert path.features.tolist() == whole.features[first:].tolist()
    assert path.values.tolist() == whole.values[first:].tolist()
    assert path.ends.tolist() == (whole.ends[n_hidden:] - first).tolist()
    for name in WORK:
        assert path.work[name].tolist() == whole.work[name][n_hidden:].tolist()


@pytest.mark.parametrize("dfmax, left", [(0, 1), (1, 2), (2, 6), (3, 6)])
def test_the_path_stops_before_the_first_model_that_is_too_large(walked, dfmax, left):
    path, asked, ticks, _ = walked(BLOCKS, dfmax=dfmax)
    assert path.lambdas.tolist() == [9, 8, 7, 6, 5, 4][:left]
    assert sum(ticks) == left == path.ends.size - 1
    assert path.features.size == path.ends[-1]
    if left == 6:
        assert path.stopped is None
    else:
        too_many, lam = (1, 8) if dfmax == 0 else (2, 7)
        assert path.stopped == f"dfmax={dfmax}, but {too_many} nonzero at lambda={lam}"
        assert asked == [0, 1]  # and no further block is asked for


def test_a_first_model_that_is_too_large_is_an_error(walked):
    with pytest.raises(ValueError, match="dfmax must be at least 1.* got dfmax=0"):
        walked(BLOCKS[1:], dfmax=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_overflows_is_an_error_that_names_the_lambda(walked, bad):
    block = part([3, 2, 1], [0], [[1], [2], [3]])
    block.violation[1:] = bad
    with pytest.raises(FloatingPointError, match="overflowed at lambda=2; rescale"):
        walked([BLOCKS[0], block])


def test_what_a_tick_raises_ends_the_walk(monkeypatch):
    asked = []

    def walk(*_):
        for block in BLOCKS:
            asked.append(block)
            yield block

    def stop(count):
        if len(asked) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("ncvpath.solver.follow.walk", walk)
    with pytest.raises(KeyboardInterrupt):
        follow(Example, None, np.arange(9.0, 3, -1), np.empty(0), Example(), stop)
    assert len(asked) == 2


@pytest.mark.plain
def test_a_cut_has_part_of_everything():
    block = BLOCKS[1]
    assert block.part(0, 3) is block and len(block) == 3
    some = block.part(1, 2)
    solutions = some.solutions
    assert solutions.lambdas.tolist() == [7] and solutions.beta.tolist() == [[2, 0, 3]]
    assert solutions.features is block.solutions.features and some.trace == [[7]]
    assert len(some.status) == 1
    assert all(len(some.work[name]) == 1 for name in WORK)
    assert (solutions.loss, solutions.objective, some.violation) == (17, 27, 0)
    assert len(block.part(3, 3)) == 0
    assert within_dfmax(block, None, False) == (block, None)


@pytest.mark.plain
def test_part_of_a_block_is_a_path():
    path = joined(Example, [BLOCKS[2].part(1, 2)], None)
    assert isinstance(path, Path) and path.lambdas.tolist() == [4]
    assert path.ends.tolist() == [0, 2]


def test_counts_of_work_are_whole_numbers(walked):
    path, *_ = walked(BLOCKS)
    kinds = {name: path.work[name].dtype.kind for name in WORK}
    assert {name for name in WORK if kinds[name] == "f"} == {"step", "seconds"}
    assert set(kinds.values()) == {"f", "i"}


# ---- the same on data ----------------------------------------------------------------


def test_dfmax_stops_inside_a_block_and_changes_no_bits(monkeypatch):
    X, y = draw(60, 90, seed=5)
    options = dict(penalty="lasso", nlambda=50)
    whole = ncvpath(X, y, **options)
    sizes, within = [], following.within_dfmax

    def watched(block, dfmax, begun):
        left, stopped = within(block, dfmax, begun)
        sizes.append((len(block), len(left)))
        return left, stopped

    monkeypatch.setattr(following, "within_dfmax", watched)
    path = ncvpath(X, y, dfmax=10, **options)
    n = path.lambdas.size
    assert whole.df[n] > 10 >= whole.df[:n].max() and path.df.max() > 5
    assert sum(left for _, left in sizes) == n
    assert 0 < sizes[-1][1] < sizes[-1][0]  # inside a block
    np.testing.assert_array_equal(path.beta.toarray(), whole.beta.toarray()[:, :n])
    np.testing.assert_array_equal(path.objective, whole.objective[:n])
    assert path.status == whole.status[:n]
    assert f"{whole.df[n]} nonzero" in path.stopped


def test_progress_is_told_of_every_lambda(monkeypatch):
    X, y = draw(60, 90, seed=5)
    ticks = []
    monkeypatch.setattr(
        "ncvpath.runtime.progress.Bar.tick", lambda self, n=1: ticks.append(n)
    )
    for options in (dict(nlambda=50), dict(lambdas=[0.5, 0.2, 0.1])):
        ticks.clear()
        path = ncvpath(X, y, **options)
        assert sum(ticks) == path.lambdas.size


def test_a_hidden_path_leads_to_the_solution_that_the_whole_path_has():
    X, y = draw(60, 90, seed=5)
    top = lambda_max(X, y)
    grid = top * 0.05 ** np.linspace(0, 1, 100)
    options = dict(penalty="MCP", tol=1e-10)
    whole = ncvpath(X, y, lambdas=grid, **options)
    edge = min(whole.convex_min or 40, 40)
    assert edge > 10
    hidden = ncvpath(X, y, lambdas=grid[edge:edge + 2], **options)
    np.testing.assert_allclose(
        hidden.beta.toarray()[:, 0], whole.beta.toarray()[:, edge], atol=1e-7
    )
