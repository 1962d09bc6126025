"""The paper's experiments, scaled down: what their tables say must be true."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array

from benchmarks import paper, paper_studies, paper_svm
from benchmarks.paper_problems import PROBLEMS, Draw, Problem, centre_and_length, toy
from benchmarks.paper_runs import Session, Setting, cells, compete
from benchmarks.paper_systems import SYSTEMS, arguments, f_measure, measure
from benchmarks.paper_tables import main_table, pruning_table, summary
from benchmarks.paper_worker import Worker, timed
from ncvpath import ncvpath

TINY = Problem("Toy small", partial(toy, 40, 80, 5), True, 10)


@pytest.fixture(scope="module")
def worker():
    with Worker() as one:
        yield one


@pytest.fixture
def session(worker, tmp_path, monkeypatch):
    monkeypatch.setitem(PROBLEMS, "toy-small", TINY)
    return Session(worker, tmp_path, ["toy-small"], [*SYSTEMS], 2, 30.0)


def lines(text):
    """The cells of the first Markdown table in the text, line by line."""
    table = [line for line in text.split("\n\n") if line.startswith("|")][0]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in
            table.splitlines()]


def test_the_table_has_the_papers_layout_and_every_cell_meets_its_tol(session):
    records = []
    text = paper.table(session, records)
    assert len(records) == 2 * 4 * len(SYSTEMS)
    for record in records:
        assert record["violation"] <= record["tol"]
    header, _, *rows = lines(text)
    assert header == [
        "data", "tol", "K", "", "MM prox", "GIST", "MaxVC GIST", "FireWorks GIST",
        "MM BCD", "BCD", "MaxVC BCD", "FireWorks BCD", "default",
    ]
    assert [row[:3] for row in rows[::4]] == [
        ["Toy small", tol, K] for tol in ("0.001", "1e-05") for K in ("0.07", "0.01")
    ]
    figures = ["seconds", "nonzeros", "objective", "violation"]
    assert [row[3] for row in rows] == 4 * figures
    assert all(" ± " in cell for cell in rows[0][4:])
    assert "**" not in text
    kept = pd.read_csv(session.out / "table.csv")
    assert list(kept["system"].unique()) == list(SYSTEMS)
    assert kept["n_added"].isna().sum() == 2 * 4  # of the default


def test_a_violation_above_tol_is_seen():
    X, y, _ = toy(40, 80, 5)
    w = timed(X, y, arguments(X, y, 0.05, 1e-6, "default", 10)).beta[:, 0]
    level = 0.05 * np.abs(X.T @ y).max()
    assert measure(X, y, 0.05, w)["violation"] <= 1e-6
    some = np.flatnonzero(w)[0]
    w[some] += 0.01
    u = X[:, some] @ (y - X @ w)
    expected = abs(u - level * np.sign(w[some]) / (1 + abs(w[some])))
    assert measure(X, y, 0.05, w)["violation"] >= expected > 0.005
    cell = dict(problem="toy-small", tol=1e-3, K=0.05, system="default", n_added=10)
    found = cells([cell | {"seconds": 1.0, "violation": expected}])
    assert f"**{expected:.1e}**" in main_table(found, ["default"])


def test_the_objective_is_n_times_that_of_the_path():
    X, y, _ = toy(40, 80, 5)
    settings = arguments(X, y, 0.05, 1e-6, "default", 10)
    path = ncvpath(X, y, **settings)
    ours = measure(X, y, 0.05, path.beta.toarray()[:, 0])
    assert ours["objective"] == pytest.approx(40 * path.objective[0], rel=1e-12)
    top = np.abs(X.T @ y).max()
    assert ours["violation"] == pytest.approx(top * path.violation[0], abs=1e-12)
    assert ours["nonzeros"] == path.df[0]


@pytest.mark.parametrize("kind", [np.asfortranarray, csc_array])
def test_all_systems_agree_on_the_lasso(kind):
    X, y, _ = toy(60, 90, 5)
    X = kind(np.where(np.abs(X) > 0.05, X, 0))
    answers = []
    for system in SYSTEMS:
        settings = arguments(X, y, 0.02, 1e-9, system, 5)
        settings |= {"penalty": "lasso", "gamma": None}
        answers.append(timed(X, y, settings).beta[:, 0])
    assert np.count_nonzero(answers[0]) > 5
    np.testing.assert_allclose(answers, [answers[0]] * len(answers), atol=1e-7)


def test_a_run_past_the_cap_is_ended_and_others_go_on(worker, session, monkeypatch):
    slow = Problem("Toy small", partial(toy, 200, 3000, 100), True, 10)
    monkeypatch.setitem(PROBLEMS, "toy-small", slow)
    short, entrants = session._replace(cap=0.2), [("gist", 10)]
    first = compete(short, "toy-small", [Setting(1e-9, 0.001)], entrants)
    assert len(first) == 1 and np.isnan(first[0]["seconds"])  # and no second try
    assert worker.process is None
    then = compete(session, "toy-small", [Setting(0.1, 0.5)], entrants)
    assert len(then) == 2 and all(record["violation"] <= 0.1 for record in then)
    found = cells(first)
    *_, seconds, nonzeros, objective, violation = lines(main_table(found, ["gist"]))
    for line in (seconds, nonzeros, objective, violation):
        assert line[-1] == "-"


def test_an_error_in_the_worker_is_raised_here(worker):
    X, y, _ = toy(20, 30, 3)
    worker.pose(X, y)
    with pytest.raises(ValueError, match="gamma"):
        worker.fit(10.0, penalty="logsum", gamma=-1.0)


def test_summary_ratios():
    """Geometric means of 1 and 4, 1 and 9; a run past the cap counts as the cap."""
    spent = {"fireworks-bcd": (1.0, 1.0), "maxvc-bcd": (1.0, 4.0),
             "bcd": (1.0, np.nan), "default": (0.1, 0.107)}
    found = cells([
        dict(problem="toy-small", tol=1e-5, K=K, system=system, n_added=30,
             seconds=times[k], call=times[k] + 0.1)
        for k, K in enumerate((0.07, 0.01)) for system, times in spent.items()
    ])
    text = summary(found, cap=9.0)
    assert "- FireWorks BCD / MaxVC BCD: 0.5 (geometric mean of 2 of 2 rows" in text
    assert "- Toy small, BCD / FireWorks BCD: 3 (geometric mean of 2 of 2" in text
    assert "1 to 9; BCD at the cap in 1)" in text
    assert "0.207 s / 10.7 s = 1 / 51.7" in text
    assert "pruned" not in text and "GIST" not in text
    header, _, *rows = lines(pruning_table(found))
    assert header[3:] == ["FireWorks BCD", "MaxVC BCD"]
    assert [row[3:] for row in rows] == [["1", "1"], ["1", "4"]]


def test_grid_search_times_whole_paths(session):
    K = np.geomspace(0.6, 0.05, 3)
    few = session._replace(systems=["fireworks-bcd", "default"])
    text = paper_studies.grid_search(few, "toy-small", K, (1e-3, 1e-5))
    assert [row[0] for row in lines(text)[2:]] == ["FireWorks BCD", "default"]
    kept = pd.read_csv(session.out / "grid.csv")
    assert len(kept) == 2 * 2 * 2 and (kept["violation"] <= kept["tol"]).all()


def test_n_added_study_draws_a_line_for_each_system(session):
    rows = {"toy-small": Setting(1e-3, 0.07)}
    text = paper_studies.n_added_study(session, rows, sizes=(1, 5, 20))
    assert lines(text)[0] == ["data", "seconds by n_added", "1", "5", "20"]
    assert (session.out / "n_added.png").stat().st_size > 10_000
    kept = pd.read_csv(session.out / "n_added.csv")
    assert len(kept) == 2 * 4 * 3
    figure = paper_studies.n_added_figure(cells(kept))
    (ax,), (legend,) = figure.axes, figure.legends
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in legend.get_texts()] == [
        SYSTEMS[system].label for system in paper_studies.WORKING_SET
    ]
    assert all(list(line.get_xdata()) == [1, 5, 20] for line in ax.get_lines())
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.get_lines()]
    assert len(set(looks)) == 4


def test_support_study_takes_the_runs_of_the_table(session):
    few = session._replace(systems=["bcd", "default"])
    text = paper_studies.support_study(few)
    records = compete(
        few, "toy-small", [Setting(1e-5, 0.07), Setting(1e-5, 0.01)],
        [("bcd", 10), ("default", 10)],
    )
    nobody = SimpleNamespace(out=session.out)  # nothing is left to run
    assert paper_studies.support_study(nobody, records) == text
    assert len(lines(text)) == 4


def test_f_measure():
    w = np.array([0.0, 1.0, -2.0, 0.0, 3.0])
    assert f_measure(w, np.array([1, 2, 3])) == pytest.approx(2 / 3)
    assert f_measure(w, np.array([1, 2, 4])) == 1
    assert f_measure(0 * w, np.array([1])) == 0


def test_svm_on_selected_features_tells_apart_what_can_be_told(session):
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(60) % 2, 1.0, -1.0)
    X = rng.standard_normal((60, 100))
    X[:, 7] = 5 * labels + 0.1 * X[:, 7]
    text = paper_svm.svm_study(session, (X, labels))
    kept = pd.read_csv(session.out / "svm.csv")
    chosen = kept[kept["system"] != "all features"]
    assert len(chosen) == 2 * 2 * 5 and (chosen["accuracy"] == 1).all()
    assert (chosen["features"] < 30).all()
    assert lines(text)[2][1] == "all features" and lines(text)[2][3] == "100"


def test_columns_of_length_one():
    X, y, truth = toy(50, 70, 6, seed=3)
    np.testing.assert_allclose(np.linalg.norm(X, axis=0), 1, rtol=1e-12)
    assert truth.size == 6 and y.shape == (50,)
    raw = np.column_stack([np.arange(5.0), np.ones(5)])
    centre, length = centre_and_length(raw)
    np.testing.assert_allclose(centre, [2, 1])
    np.testing.assert_allclose(length, [np.sqrt(10), 1])


def test_absent_data_are_skipped_with_a_message(session, monkeypatch, capsys):
    absent = Problem("Leukemia", lambda draw: None, False)
    monkeypatch.setitem(PROBLEMS, "leukemia", absent)
    here = session._replace(problems=["leukemia"])
    assert paper.table(here, []) is None
    assert paper_studies.grid_search(here) is None
    printed = capsys.readouterr().err
    assert "Leukemia: skipped, the data are not here" in printed
    assert "grid search: skipped, Leukemia is not here" in printed


def test_the_command_writes_and_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(PROBLEMS, "toy-small", TINY)
    paper.main([
        "--only", "table", "support", "--problems", "toy-small", "--systems", "default",
        "bcd", "--repeats", "1", "--out", str(tmp_path / "new"),
    ])
    printed = capsys.readouterr()
    for part in ("table", "support"):
        assert (tmp_path / "new" / f"{part}.md").read_text("utf-8") in printed.out
    assert lines(printed.out)[0][4:] == ["BCD", "default"]
    assert printed.err.count("Toy small 0, tol") == 8  # the support needs no more runs


def test_repeats_of_real_data_are_the_same_problem(session, monkeypatch):
    made = []

    def make(draw):
        made.append(draw)
        return Draw(*toy(30, 40, 3)[:2])

    monkeypatch.setitem(PROBLEMS, "leukemia", Problem("Leukemia", make, False))
    records = compete(session, "leukemia", [Setting(1e-3, 0.1)], [("default", 5)])
    assert made == [0] and len(records) == session.repeats
    assert "f_measure" not in records[0]
