"""Progress: on stderr, when asked for, with or without tqdm."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

from ncvpath import cv_ncvpath, load_diabetes, ncvpath
from ncvpath.runtime import progress
from ncvpath.runtime.progress import Bar
from ncvpath.solver.inner import INNER

X, Y = load_diabetes()


@pytest.fixture(params=["tqdm", "plain"])
def kind(request, monkeypatch):
    """With tqdm, and as if it were not installed."""
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    else:
        pytest.importorskip("tqdm")
    return request.param


COUNT = {"tqdm": r"(\d+)/(\d+)", "plain": r"ncvpath: lambda (\d+) of (\d+)"}


def counts(kind, text):
    """(done, of) of every state of the line."""
    return [(int(k), int(n)) for k, n in re.findall(COUNT[kind], text)]


def test_fits_are_silent_unless_asked_for_progress(capsys):
    ncvpath(X, Y, nlambda=5)
    assert capsys.readouterr() == ("", "")


def test_progress_counts_lambdas_on_stderr_only(kind, capsys):
    ncvpath(X, Y, nlambda=7, progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "ncvpath" in printed.err
    states = counts(kind, printed.err)
    assert states[-1] == (7, 7)
    assert states == sorted(states)


def test_the_plain_line_shows_every_lambda(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    ncvpath(X, Y, nlambda=4, solver="bcd", progress=True)  # one at a time
    states = counts("plain", capsys.readouterr().err)
    assert states == [(1, 4), (2, 4), (3, 4), (4, 4), (4, 4)]


def test_the_plain_line_shows_every_block_of_lambdas(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    ncvpath(X, Y, nlambda=100, progress=True)
    states = counts("plain", capsys.readouterr().err)
    done = [k for k, _ in states[:-1]]
    assert done[0] == 1 and done[-1] == 100 and states[-1] == (100, 100)
    longest = INNER["cd"].max_block
    assert all(0 < later - k <= longest for k, later in zip(done, done[1:]))


def test_a_file_gets_few_plain_lines(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "monotonic", lambda: 5.0)
    # One thread: the path begins, with lambda_max alone; a fold might with more.
    cv_ncvpath(X, Y, nlambda=10, nfolds=5, progress=True, n_threads=1)
    assert counts("plain", capsys.readouterr().err) == [(1, 60), (60, 60)]


@pytest.mark.parametrize("threads", [False, True], ids=["here", "executor"])
def test_one_bar_over_all_combinations(kind, threads, capsys):
    with ThreadPoolExecutor(1) as executor:
        cv_ncvpath(
            X, Y, gamma=[2, 3], alpha=[0.5, 1], nlambda=5, nfolds=3, progress=True,
            executor=executor if threads else None,
        )
    states = counts(kind, capsys.readouterr().err)
    assert {total for _, total in states} == {2 * 2 * 5 * (3 + 1)}
    assert states[-1] == (80, 80)


def test_a_path_that_dfmax_ends_is_done(kind, capsys):
    cv_ncvpath(X, Y, nlambda=30, dfmax=4, nfolds=3, random_state=1, progress=True)
    done, total = counts(kind, capsys.readouterr().err)[-1]
    assert done == total < 120


@pytest.mark.parametrize("keywords", [dict(), dict(dfmax=2)], ids=["done", "stopped"])
def test_the_line_is_ended_when_the_path_ends(kind, keywords, capsys):
    ncvpath(X, Y, nlambda=7, progress=True, **keywords)
    assert capsys.readouterr().err.endswith("\n")


def test_a_task_that_ends_after_the_bar_is_not_shown(kind, capsys):
    with suppress(KeyError), Bar(True) as bar:
        bar.expect(3)
        bar.tick()
        raise KeyError
    shown = capsys.readouterr().err
    bar.tick()
    assert counts(kind, shown)[-1] == (1, 3) and capsys.readouterr().err == ""


def test_progress_does_not_change_the_path(kind, capsys):
    path = ncvpath(X, Y, nlambda=7, progress=True)
    np.testing.assert_array_equal(path.coef(), ncvpath(X, Y, nlambda=7).coef())


def test_progress_counts_to_the_end_of_own_lambdas(kind, capsys):
    path = ncvpath(X, Y, lambdas=[20.0, 5.0], nlambda=10, progress=True)
    assert path.lambdas.size == 2
    done, total = counts(kind, capsys.readouterr().err)[-1]
    assert done == total
