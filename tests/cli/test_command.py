"""`python -m ncvpath fit`: from files to results, and what is refused."""

import base64
import gzip
import io
import os
import re
import signal
import subprocess
import sys
import time
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from ncvpath import cv_ncvpath, load_diabetes, ncvpath
from ncvpath.__main__ import main
from ncvpath.cli.report import MOST_ROWS
from ncvpath.version import __version__

X, Y = load_diabetes()
DATA = pd.concat([X, Y], axis=1).iloc[:80]
FILES = [
    "coefficients.csv", "model.npz", "path.csv", "path.png", "report.html",
    "selected.csv",
]
FILES_CV = sorted([*FILES, "cv.csv", "cv.png", "held_out.png"])
FAST = ["--nlambda", "20"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DATA.to_csv("data.csv", index=False)
    return tmp_path


def fit(*arguments, response="progression", file="data.csv", code=0):
    assert main(["fit", file, "--response", response, *FAST, *arguments]) == code


def names_in(folder):
    return sorted(file.name for file in folder.iterdir())


def report(folder="ncvpath-results"):
    with open(f"{folder}/report.html", encoding="utf-8") as stream:
        return stream.read()


def code_in(html):
    return unescape(re.search(r"<pre>(.*?)</pre>", html, flags=re.DOTALL)[1])


def stored(folder="ncvpath-results"):
    return pd.read_csv(f"{folder}/coefficients.csv", index_col=0).to_numpy()


# ---- what is written ---------------------------------------------------------------


def test_results_are_those_of_the_same_call_in_python(folder, capsys):
    fit("--cv", "5", "--seed", "3", "--penalty", "scad", "--gamma", "4")
    assert names_in(folder / "ncvpath-results") == FILES_CV
    cv = cv_ncvpath(
        DATA[X.columns], DATA["progression"], penalty="SCAD", gamma=4, nlambda=20,
        nfolds=5, random_state=3,
    )
    np.testing.assert_allclose(stored(), cv.fit.coef(), rtol=1e-12)
    errors = pd.read_csv("ncvpath-results/cv.csv", index_col=0)
    np.testing.assert_allclose(errors, cv.to_frame(), rtol=1e-12)
    table = pd.read_csv("ncvpath-results/path.csv")
    np.testing.assert_allclose(table["df"], cv.fit.df)
    chosen = pd.read_csv("ncvpath-results/selected.csv", index_col=0)
    for rule in ("min", "1se"):
        own = chosen[f"lambda_{rule}"]
        own = own[own != 0]
        expected = cv.coef(rule)
        expected = expected[expected != 0]
        assert set(own.index) == set(expected.index)
        np.testing.assert_allclose(own, expected[own.index], rtol=1e-12)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert repr(cv) in printed.out
    for name in FILES_CV:
        assert os.path.join("ncvpath-results", name) in printed.out


def test_without_cross_validation_bic_chooses(folder):
    fit("--out", "deep/er", "--penalty", "lasso")
    assert names_in(folder / "deep" / "er") == FILES
    path = ncvpath(DATA[X.columns], DATA["progression"], penalty="lasso", nlambda=20)
    chosen = pd.read_csv("deep/er/selected.csv", index_col=0)["bic"]
    expected = path.coef(lam=path.select("bic"))
    np.testing.assert_allclose(chosen, expected[chosen.index], rtol=1e-12)
    assert len(chosen) == (expected != 0).sum()
    assert "<td class=\"number\">" in report("deep/er")


def test_selected_features_come_in_the_order_of_their_effect():
    fit("--penalty", "lasso", "--unpenalized", "age", "--unpenalized", "sex")
    table = pd.read_csv("ncvpath-results/selected.csv", index_col=0)
    effects = (table["bic"] * table["sd"]).abs()[1:]
    assert effects.is_monotonic_decreasing and effects.nunique() > 2
    np.testing.assert_allclose(table["sd"][1:], DATA[effects.index].std(ddof=0))


MIXED = DATA.assign(
    region=np.resize(["north", "south", "west"], len(DATA)),
    sex=np.resize(["f", "m"], len(DATA)),
    site=np.resize(["here"], len(DATA)),
    w=np.linspace(1, 2, len(DATA)),
    ward=np.resize(np.arange(20), len(DATA)),
    id=[f"p{k}" for k in range(len(DATA))],
)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--cv", "4"],
        ["--cv", "4", "--seed", "9", "--groups", "ward", "--weights", "w"],
        ["--alpha", ".5", "--no-intercept", "--no-standardize", "--dfmax", "4"],
        ["--unpenalized", "age", "--unpenalized", "region", "--tol", "1e-4"],
        ["--lambda-min-ratio", "0.2", "--max-epochs", "5000"],
    ],
    ids=lambda words: " ".join(words) or "plain",
)
def test_the_python_in_the_report_gives_the_same_coefficients(arguments):
    MIXED.to_csv("mixed.csv", index=False)
    fit("--encode", "--drop", "id", *arguments, file="mixed.csv")
    space = {}
    exec(code_in(report()), space)
    np.testing.assert_allclose(stored(), space["path"].coef(), rtol=1e-12)
    names = set(space["path"].feature_names)
    assert {"region=north", "region=south", "region=west", "sex=m"} <= names
    assert "sex=f" not in names and "site=here" not in names
    html = report()
    assert "sex (2 levels), region (3 levels)<" in html
    assert "encoded: sex, region</p>" in html
    assert "Constant, so without effect: site." in html
    if "--unpenalized" in arguments:
        free = space["path"].beta[:, [0]].toarray()[:, 0] != 0
        assert free.sum() >= 3


def write_csv(name):
    DATA.to_csv(name, index=False)


def write_tabs(name):
    DATA.to_csv(name, sep="\t", index=False)


def write_packed(name):
    with gzip.open(name, "wt") as stream:
        DATA.to_csv(stream, index=False)


def write_bom(name):
    DATA[["progression", *X.columns]].to_csv(name, index=False, encoding="utf-8-sig")


def write_german(name):
    DATA.to_csv(name, sep=";", decimal=",", index=False)


def write_surplus(name):
    lines = DATA.to_csv(index=False).splitlines()
    with open(name, "w") as stream:
        stream.write("\n".join([lines[0], *(line + "," for line in lines[1:])]))


@pytest.mark.parametrize(
    ("file", "write", "options"),
    [
        ("DATA.CSV", write_csv, []),
        ("d.tsv", write_tabs, []),
        ("d.tab", write_tabs, []),
        ("d.dat", write_tabs, ["--sep", "tab"]),
        ("d.dat", write_tabs, ["--sep", r"\t"]),
        ("d.csv.gz", write_packed, []),
        ("d.csv", write_bom, []),
        ("d.csv", write_german, ["--sep", ";", "--decimal", ","]),
        ("d.csv", write_surplus, []),
        ("with space.csv", write_csv, []),
    ],
)
def test_text_files_of_many_kinds_are_read(file, write, options):
    fit("--out", "expected")
    write(file)
    fit(*options, file=file)
    np.testing.assert_allclose(np.sort(stored(), axis=0),
                               np.sort(stored("expected"), axis=0), rtol=1e-10)
    space = {}
    exec(code_in(report()), space)
    np.testing.assert_allclose(stored(), space["path"].coef(), rtol=1e-12)


def test_the_python_in_the_report_knows_the_charset():
    named = DATA.rename(columns={"age": "\xe4lter"})
    named.to_csv("named.csv", index=False, encoding="latin-1")
    fit("--charset", "latin-1", file="named.csv")
    space = {}
    exec(code_in(report()), space)
    np.testing.assert_allclose(stored(), space["path"].coef(), rtol=1e-12)
    assert "\xe4lter" in space["path"].feature_names


def test_long_lists_are_cut_and_say_so(capsys):
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(rng.standard_normal((90, 60))).add_prefix("x")
    wide["y"], wide["same"] = wide.sum(axis=1), 1.0
    wide.to_csv("wide.csv", index=False)
    fit("--penalty", "lasso", "--lambda-min-ratio", "1e-4", response="y",
        file="wide.csv")
    size = len(pd.read_csv("ncvpath-results/selected.csv"))
    assert size == 61
    assert f"and {size - 20} more in selected.csv" in capsys.readouterr().out
    html = report()
    assert f"{size - 1 - MOST_ROWS} more are in selected.csv" in html
    assert "Constant, so without effect: same." in html


def test_parquet_is_read():
    pytest.importorskip("pyarrow")
    MIXED.drop(columns=["id"]).assign(
        region=MIXED["region"].astype("category")
    ).to_parquet("d.parquet")
    fit("--encode", file="d.parquet")
    space = {}
    exec(code_in(report()), space)
    np.testing.assert_allclose(stored(), space["path"].coef(), rtol=1e-12)


def test_a_response_that_is_neither_numbers_nor_text_is_named_by_type(capsys):
    pytest.importorskip("pyarrow", reason="needs the extra [parquet]")
    dated = DATA.assign(day=pd.Timestamp("2020-01-01"))
    dated.to_parquet("dated.parquet")
    said = refused(capsys, ["dated.parquet", "--response", "day"])
    assert "must be a column of numbers; 'day' has type datetime64" in said
    DATA.assign(pair=[[1, 2]] * len(DATA)).to_parquet("lists.parquet")
    said = refused(capsys, ["lists.parquet", "--response", "pair"])
    assert "must be a column of numbers; 'pair' has" in said


def test_missing_rows_are_left_out_on_request():
    holes = DATA.copy()
    holes.iloc[[3, 5], 1] = np.nan
    holes["id"] = np.nan
    holes.to_csv("holes.csv", index=False)
    fit("--omit-missing", "--drop", "id", file="holes.csv")
    path = ncvpath(holes.dropna(subset="sex")[X.columns],
                   holes.dropna(subset="sex")["progression"], nlambda=20)
    np.testing.assert_allclose(stored(), path.coef(), rtol=1e-12)
    assert "2 with missing values left out" in report()


def test_the_python_in_the_report_knows_truth_values_with_gaps():
    smoker = np.resize([True, False, False], len(DATA)).astype(object)
    smoker[3] = None
    DATA.assign(smoker=smoker).to_csv("gaps.csv", index=False)
    fit("--omit-missing", file="gaps.csv")
    space = {}
    exec(code_in(report()), space)
    np.testing.assert_allclose(stored(), space["path"].coef(), rtol=1e-12)
    assert "smoker" in space["path"].feature_names


def test_a_huge_table_leaves_out_features_that_never_enter(monkeypatch):
    monkeypatch.setattr("ncvpath.cli.command.FEW_CELLS", 10)
    fit("--dfmax", "3")
    table = pd.read_csv("ncvpath-results/coefficients.csv", index_col=0)
    path = ncvpath(DATA[X.columns], DATA["progression"], nlambda=20, dfmax=3)
    assert 0 < len(table) - 1 < path.p
    np.testing.assert_allclose(table, path.coef().loc[table.index], rtol=1e-12)
    assert set(table.index[1:]) == {n for s in path.selected().values() for n in s}


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_pictures_come_in_the_format_asked_for(form, start, folder):
    fit("--plot", form, "--cv", "3")
    for name in ("path", "cv", "held_out"):
        file = folder / "ncvpath-results" / f"{name}.{form}"
        assert file.read_bytes().startswith(start)
    assert report().count("data:image/png;base64,") == 3


def test_a_path_of_one_lambda_has_tables_but_no_pictures(folder):
    fit("--nlambda", "1", "--cv", "3")
    assert names_in(folder / "ncvpath-results") == [
        name for name in FILES_CV if name not in ("path.png", "cv.png")
    ]
    assert "one lambda has no picture" in report()


# ---- the report --------------------------------------------------------------------


class Page(HTMLParser):
    """The elements of a page, with a check that they are closed in order."""

    EMPTY = ("meta", "img")

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.words = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_report_is_a_page_of_its_own():
    fit("--cv", "5")
    html = report()
    page = Page(html)
    assert not {"script", "link", "iframe"} & {tag for tag, _ in page.found}
    sources = [attrs["src"] for tag, attrs in page.found if tag == "img"]
    assert len(sources) == 3
    for source in sources:
        picture = base64.b64decode(source.removeprefix("data:image/png;base64,"))
        assert picture.startswith(b"\x89PNG\r\n")
    assert "http" not in html and "url(" not in html and "@import" not in html
    assert all(attrs.get("alt") for tag, attrs in page.found if tag == "img")


def test_the_report_tells_the_story():
    MIXED.to_csv("mixed.csv", index=False)
    fit("--encode", "--drop", "id", "--weights", "w", "--cv", "5", file="mixed.csv")
    words = " ".join(Page(report()).words)
    space = {}
    exec(code_in(report()), space)
    cv = space["cv"]
    for expected in (
        "80 rows", "response progression", "id", "region (3 levels)", "w",
        "MCP, gamma 3", f"lambda_min = {cv.lambda_min:.4g}", "All 20 lambdas converged",
        f"lambda_1se = {cv.lambda_1se:.4g}", f"{cv.summary()['cve'].iloc[0]:.4g}",
        f"ncvpath {__version__}", time.strftime("%Y-"),
        "fit mixed.csv --response progression",
        *cv.selected("min"), *cv.selected("1se"),
    ):
        assert expected in words
    for value in cv.coef("1se").loc[lambda b: b != 0]:
        assert f"{value:.4g}" in words


def test_remarks_say_where_solutions_may_not_be_unique():
    fit("--cv", "5", "--gamma", "1.1")
    path = ncvpath(DATA[X.columns], DATA["progression"], gamma=1.1, nlambda=20)
    edge = f"{path.lambdas[path.convex_min]:.4g}"
    assert f"Below lambda = {edge} the objective is not locally convex" in report()
    fit("--cv", "5", "--penalty", "lasso")
    assert "locally convex" not in report()


def test_names_are_text_in_the_report():
    odd = DATA.rename(columns={"bmi": "<b>&\"x'", "progression": "y</title><script>"})
    odd.to_csv("odd.csv", index=False)
    fit("--cv", "3", response="y</title><script>", file="odd.csv")
    page = Page(report())
    assert "script" not in {tag for tag, _ in page.found}
    assert any("<b>&\"x'" == word for word in page.words)


def test_names_in_any_script_are_drawn_without_complaint(capsys):
    DATA.rename(columns={"bmi": "体重", "bp": "$x_1$"}).to_csv("k.csv", index=False)
    fit("--unpenalized", "体重", "--unpenalized", "$x_1$", file="k.csv")
    assert capsys.readouterr().err == ""
    assert "体重" in report()


# ---- exit codes and folders --------------------------------------------------------


def test_a_fit_that_does_not_converge_is_code_1_and_written(folder, capsys):
    fit("--max-epochs", "1", "--tol", "1e-14", "--cv", "3", code=1)
    assert names_in(folder / "ncvpath-results") == FILES_CV
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "did not reach tol=1e-14" in error
    assert "did not reach tol=1e-14" in report()


def test_advice_is_about_why_folds_did_not_converge(capsys):
    """Not about every word that is in the text of a warning: tol said converged."""
    fit("--cv", "3", "--max-epochs", "1", "--tol", "1e-14", code=1)
    error = capsys.readouterr().err
    assert error.endswith(
        ": --max-epochs reached before tol; raise --max-epochs or --tol.\n"
    )


def test_what_the_fit_warns_of_is_said_in_one_line(capsys):
    fit("--cv", "3", "--dfmax", "3")
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("python -m ncvpath fit: the curve has the first")
    assert "the curve has the first" in report()


def test_a_second_fit_replaces_the_first_and_nothing_else(folder):
    out = folder / "ncvpath-results"
    fit("--cv", "3")
    (out / "notes.txt").write_text("mine")
    (out / "cv.pdf").write_text("mine too")
    fit("--plot", "svg")
    assert names_in(out) == sorted(
        ["coefficients.csv", "cv.pdf", "model.npz", "notes.txt", "path.csv",
         "path.svg", "report.html", "selected.csv"]
    )
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "cv.pdf").read_text() == "mine too"


def refused(capsys, arguments):
    """The one line with which bad input ends."""
    with pytest.raises(SystemExit) as caught:
        main(["fit", *arguments])
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1 and printed.err.endswith("\n")
    assert printed.err.startswith("python -m ncvpath fit: ")
    return printed.err


@pytest.mark.parametrize("name", ["cv.png", "coefficients.csv", "report.html"])
def test_a_file_that_is_not_ours_is_never_replaced(name, folder, capsys):
    out = folder / "out"
    out.mkdir()
    (out / name).write_text("mine")
    error = refused(capsys, ["data.csv", "--response", "progression", "--cv", "3",
                             "--out", "out"])
    assert name in error and "another folder" in error
    assert names_in(out) == [name] and (out / name).read_text() == "mine"


def test_a_folder_in_the_way_is_left_alone(folder, capsys):
    (folder / "out" / "path.csv").mkdir(parents=True)
    error = refused(capsys, ["data.csv", "--response", "progression", "--out", "out"])
    assert "path.csv" in error and names_in(folder / "out") == ["path.csv"]


@pytest.mark.parametrize("out", ["data.csv", "data.csv/deep"])
def test_a_file_is_no_folder(out, folder, capsys):
    error = refused(capsys, ["data.csv", "--response", "progression", "--out", out])
    assert "data.csv is not a folder" in error
    assert names_in(folder) == ["data.csv"]


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write all")
def test_a_folder_without_permission_is_refused_before_the_fit(folder, capsys):
    (folder / "closed").mkdir(mode=0o500)
    error = refused(
        capsys, ["data.csv", "--response", "progression", "--out", "closed/results"]
    )
    assert "Permission denied" in error and "closed" in error


def test_a_folder_that_refuses_files_is_one_line(folder, capsys, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ncvpath.cli.delivery.mkdtemp", refuse)
    error = refused(capsys, ["data.csv", "--response", "progression", "--out", "o/p"])
    assert "--out o/p" in error.replace("\\", "/") and "Permission denied" in error
    assert names_in(folder) == ["data.csv"]


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("earlier", [False, True])
def test_a_failure_at_the_last_step_leaves_all_as_it_was(
    error, earlier, folder, capsys, monkeypatch
):
    if earlier:
        fit("--cv", "3")
    before = {f: f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    capsys.readouterr()
    replace = os.replace

    def fail(old, new):
        if str(new).endswith("report.html") and ".ncvpath-" not in str(new):
            monkeypatch.setattr("os.replace", replace)
            raise error
        replace(old, new)

    monkeypatch.setattr("os.replace", fail)
    arguments = ["data.csv", "--response", "progression", "--nlambda", "5"]
    if isinstance(error, OSError):
        assert "No space left" in refused(capsys, arguments)
    else:
        assert main(["fit", *arguments]) == 130
        assert capsys.readouterr().err.count("\n") <= 2
    after = {f: f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    assert after == before
    assert (folder / "ncvpath-results").exists() == earlier


# ---- bad input ---------------------------------------------------------------------

SMALL = "a,b,y\n1,2,3\n2,5,4\n3,1,6\n"
BAD = {
    "missing file": (None, [], "bad.csv: no such file"),
    "empty file": ("", [], "bad.csv is empty"),
    "blank lines": ("\n\n", [], "bad.csv is empty"),
    "no rows": ("a,b,y\n", [], "needs 2 rows at least; got 0"),
    "one row": ("a,b,y\n1,2,3\n", [], "needs 2 rows at least; got 1"),
    "duplicate names": ("a,a,y\n1,2,3\n2,3,4\n", [], "column 'a' twice"),
    "near name": ("a,Y1\n1,2\n2,3\n", ["--response", "y_1"], "did you mean 'Y1'?"),
    "far name": (SMALL, ["--response", "income"], "'income'; there are 'a', 'b', 'y'"),
    "separator": ("a;y\n1;2\n2;3\n", [], "is the separator another (--sep)?"),
    "text": ("a,b,y\n1,u,3\n2,v,4\n3,u,5\n", [], "'b' has 'u' in row 1: add --encode"),
    "one cell": ("a,y\n1,3\n?,4\n3,5\n", [], "'a' has '?' in row 2"),
    "text response": ("a,y\n1,u\n2,v\n", [], "--response must be a column of numbers"),
    "text weights": ("a,y,w\n1,2,u\n2,3,v\n", ["--weights", "w"], "'w' has 'u' in row"),
    "identifiers": ("i,y\nu,3\nv,4\nw,5\n", ["--encode"], "'i' is different in every"),
    "decimal commas": ('a,y\n"1,5",3\n"2,5",4\n3,5\n', ["--encode"],
                       "'a' is numbers with decimal commas, as '1,5' in row 1 and 1 "
                       "more: add --decimal ,"),
    "both marks": ('a,y\n"1,5",3\n2.5,4\n3,5\n', ["--encode"], "all with points, or"),
    "dirty cells": ("a,y\n" + "1.5,3\n2,4\n3,5\n" * 6 + "n/d,2\n<0,2\n", ["--encode"],
                    "'a' is numbers but for 'n/d' in row 19 and 1 more: correct"),
    "dirty, no levels": ("a,y\n" + "1.5,3\n2.5,4\n3,5\n" * 6 + "n/d,2\n", [],
                         "'a' is numbers but for 'n/d' in row 19: correct"),
    "names": ("a,y\n" + "".join(f"n{i % 20},{i}\n" for i in range(60)), ["--encode"],
              "'a' has 20 levels in 60 rows, too few of each"),
    "empty column": ("a,b,y\n1,,3\n2,,4\n3,,6\n", ["--omit-missing"],
                     "column 'b' has no value; leave it out with --drop"),
    "empty columns": ("a,b,c,y\n1,,,3\n2,,,4\n3,,,6\n", [],
                      "columns 'b', 'c' have no value; leave them out with --drop"),
    "missing values": ("a,b,y\n1,,3\n,,4\n3,1,6\n", [], "'a' has 1, 'b' has 2; fill"),
    "missing response": ("a,y\n1,\n2,4\n3,6\n", [], "'y' has 1"),
    "all missing": ("a,y\n1,\n2,\n", ["--omit-missing"], "got 0 of 2 without missing"),
    "response dropped": (SMALL, ["--drop", "y"], "got --response and --drop"),
    "weights dropped": (SMALL, ["--weights", "b", "--drop", "b"], "--weights and"),
    "drop unknown": (SMALL, ["--drop", "zz"], "--drop: there is no column 'zz'"),
    "nothing left": (SMALL, ["--drop", "a", "--drop", "b"], "no column is left"),
    "negative weights": ("a,w,y\n1,1,3\n2,-2,4\n3,1,5\n", ["--weights", "w"],
                         "weights must be >= 0; got -2"),
    "infinite": ("a,y\n1,2\ninf,3\n2,2\n", [], "column 'a' contains inf"),
    "constant response": ("a,y\n1,2\n2,2\n", [], "y must vary"),
    "ragged": ("a,y\n1,2\n1,2,3\n", [], "Expected 2 fields in line 3, saw 3"),
    "row names": ("a,y\n1,2,3\n2,4,4\n", [], "more fields in its rows than names"),
    "nameless": (",a,y\n1,2,3\n2,4,4\n", [], "--drop 'Unnamed: 0'"),
    "not UTF-8": (SMALL.replace("a", "\xe4").encode("latin-1"), [], "--charset latin"),
    "charset": (SMALL, ["--charset", "klingon"], "klingon: no such encoding"),
    "penalty": (SMALL, ["--penalty", "MPC"], "one of lasso, MCP, SCAD, logsum, capped"),
    "gamma for lasso": (SMALL, ["--penalty", "lasso", "--gamma", "3"], "--gamma must"),
    "small gamma": (SMALL, ["--gamma", "0.5"], "--gamma must be greater than 1"),
    "alpha": (SMALL, ["--alpha", "2"], "--alpha must be at most 1; got --alpha 2"),
    "one fold": (SMALL, ["--cv", "1"], "--cv: must be a whole number of 2 at least"),
    "half a fold": (SMALL, ["--cv", "2.5"], "--cv: must be a whole number of 2"),
    "many folds": (SMALL, ["--cv", "9"], "--cv must be at most the number of rows"),
    "seed": (SMALL, ["--seed", "1"], "--seed is for cross-validation; add --cv K"),
    "groups": (SMALL, ["--groups", "b"], "--groups is for cross-validation"),
    "ratio": (SMALL, ["--lambda-min-ratio", "2"], "--lambda-min-ratio must be less"),
    "search": (SMALL, ["--search", "both", "--penalty", "lasso"],
               "--search must be forward with --penalty lasso"),
    "rescaled": (SMALL, ["--search", "both", "--family", "poisson"], "--no-rescale"),
    "measure": (SMALL, ["--cv", "2", "--measure", "auc"],
                "mse, mae with --family gaussian; got --measure auc"),
    "unpenalized": (SMALL, ["--unpenalized", "q"], "there is no feature 'q'"),
    "plot": (SMALL, ["--plot", "gif"], "invalid choice: 'gif'"),
    "long separator": (SMALL, ["--sep", ",,"], "--sep: must be one character"),
    "option": (SMALL, ["--colour", "red"], "unrecognized arguments: --colour red"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(case, folder, capsys):
    text, arguments, expected = BAD[case]
    os.remove("data.csv")
    if text is not None:
        content = text if isinstance(text, bytes) else text.encode()
        (folder / "bad.csv").write_bytes(content)
    before = names_in(folder)
    response = [] if "--response" in arguments else ["--response", "y"]
    assert expected in refused(capsys, ["bad.csv", *response, *arguments])
    assert names_in(folder) == before


CUT = gzip.compress(SMALL.encode() * 50, mtime=0)[:30]


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("bad.csv.gz", b"plain", "bad.csv.gz cannot be read"),
        ("bad.csv.xz", b"plain", "bad.csv.xz cannot be read"),
        ("bad.csv.zip", b"plain", "bad.csv.zip cannot be read"),
        ("cut.csv.gz", CUT, "cut.csv.gz cannot be"),
        ("bad.xlsx", b"plain", "bad.xlsx must end in .csv"),
        ("noise.csv", bytes(range(256)), "noise.csv cannot be read"),
    ],
)
def test_files_that_cannot_be_read(file, content, expected, folder, capsys):
    (folder / file).write_bytes(content)
    before = names_in(folder)
    assert expected in refused(capsys, [file, "--response", "y"])
    assert names_in(folder) == before


def test_a_folder_is_no_data(folder, capsys):
    (folder / "in.csv").mkdir()
    assert "in.csv is a folder" in refused(capsys, ["in.csv", "--response", "y"])


def test_parquet_that_is_none(folder, capsys):
    pytest.importorskip("pyarrow")
    (folder / "bad.parquet").write_bytes(b"plain")
    error = refused(capsys, ["bad.parquet", "--response", "y"])
    assert "bad.parquet cannot be read as Parquet" in error


def test_parquet_columns_of_other_types(folder, capsys):
    pytest.importorskip("pyarrow")
    frame = DATA.assign(when=pd.Timestamp("2026-01-01"))
    frame.to_parquet("d.parquet")
    arguments = ["d.parquet", "--response", "progression", "--encode"]
    assert "column 'when' must be numbers or text; got type datetime64" in refused(
        capsys, arguments
    )
    assert "--sep is for text" in refused(capsys, [*arguments, "--sep", ";"])


def test_parquet_without_its_reader_says_what_to_install(folder, capsys, monkeypatch):
    def missing(*_, **__):
        raise ImportError("Unable to find a usable engine;\ntried using: ...")

    monkeypatch.setattr(pd, "read_parquet", missing)
    (folder / "d.parquet").write_bytes(b"")
    error = refused(capsys, ["d.parquet", "--response", "y"])
    assert "python -m pip install pyarrow" in error


# ---- as a process ------------------------------------------------------------------

PROGRAM = [sys.executable, "-W", "error", "-m", "ncvpath"]


def test_the_program_reports_its_code_and_shows_no_traceback(folder):
    done = subprocess.run(
        [*PROGRAM, "fit", "data.csv", "--response", "bmmi"], capture_output=True,
        text=True, timeout=120,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "python -m ncvpath fit: --response: there is no column 'bmmi'; did you mean "
        "'bmi'?\n"
    )
    assert done.stdout == "" and names_in(folder) == ["data.csv"]


def test_the_program_writes_and_is_quiet_where_stderr_is_no_terminal(folder):
    done = subprocess.run(
        [*PROGRAM, "fit", "data.csv", "--response", "bmi", *FAST],
        capture_output=True, text=True, timeout=120,
    )
    said = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert (done.returncode, said) == (0, [])  # with a new cache, that it compiles
    assert names_in(folder / "ncvpath-results") == FILES


def test_a_terminal_shows_progress(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    fit()
    assert "20/20" in sys.stderr.getvalue()


def interrupt(running):
    """Ctrl-C, as a user does it: again, if nothing happens.

    Python loses an interrupt that comes while kernels are loaded: the callback of
    llvmlite in which it is raised has no caller to tell.
    """
    try:
        for _ in range(16):
            running.send_signal(signal.SIGINT)
            try:
                return running.communicate(timeout=5)[1]
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError("it cannot be interrupted")
    finally:
        running.kill()
        running.wait()


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_an_interrupted_fit_leaves_nothing(folder):
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(rng.standard_normal((300, 3000))).add_prefix("x")
    wide.insert(0, "y", wide.to_numpy()[:, :100] @ rng.standard_normal(100))
    wide.to_csv("wide.csv", index=False, float_format="%.4f")
    before = names_in(folder)
    running = subprocess.Popen(
        [*PROGRAM, "fit", "wide.csv", "--response", "y", "--cv", "300", "--nlambda",
         "1000", "--tol", "1e-10"],
        stderr=subprocess.PIPE, text=True,
    )
    deadline = time.monotonic() + 60
    while names_in(folder) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)  # into reading or fitting
    error = interrupt(running)
    # Python ends by the signal itself if it came within exec(); shells show 130, too.
    assert running.returncode in (130, -signal.SIGINT)
    assert error.endswith("\npython -m ncvpath: interrupted\n")
    assert names_in(folder) == before


@pytest.mark.skipif(os.name == "nt", reason="pipes are those of POSIX")
def test_a_reader_who_has_seen_enough_is_no_error(folder):
    done = subprocess.run(
        f"'{sys.executable}' -m ncvpath fit data.csv --response bmi --nlambda 5 | true"
        '; exit "${PIPESTATUS[0]}"',
        shell=True, executable="/bin/bash", capture_output=True, text=True, timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert names_in(folder / "ncvpath-results") == FILES


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"]])
def test_help_has_examples(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    assert "fit data.csv --response y" in " ".join(capsys.readouterr().out.split())


def test_examples_of_the_help_can_be_parsed(capsys):
    from ncvpath.cli.options import EXAMPLES, check_outcome, fit_parser

    lines = re.findall(r"\{0\} fit (.*)", EXAMPLES)
    assert len(lines) >= 3
    for line in lines:
        parser = fit_parser()
        check_outcome(parser, parser.parse_args(line.split()))  # ends if it is wrong


def test_the_data_are_never_replaced_by_their_results(folder):
    fit("--out", ".")
    before = (folder / "path.csv").read_bytes()
    with pytest.raises(SystemExit) as end:
        main(["fit", "path.csv", "--response", "df", "--out", "."])
    assert end.value.code == 2
    assert (folder / "path.csv").read_bytes() == before


def test_semicolons_and_decimal_commas_are_recognised(folder, capsys):
    (folder / "data.csv").write_text("a;y\n1,5;2,5\n2,5;3,5\n3,5;1,5\n")
    with pytest.raises(SystemExit):
        main(["fit", "data.csv", "--response", "y"])
    assert "--sep ';' (and --decimal ," in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_refused(folder, capsys):
    os.mkfifo(folder / "pipe.csv")
    with pytest.raises(SystemExit):
        main(["fit", "pipe.csv", "--response", "y"])
    assert "is a pipe" in capsys.readouterr().err


def test_true_and_false_with_a_gap_are_numbers_once_it_is_left_out(folder):
    table = DATA.assign(smoker=np.where(DATA["age"] > 50, "True", "False"))
    table.loc[3, "smoker"] = ""
    table.to_csv("data.csv", index=False)
    fit("--omit-missing")
    assert "smoker" in pd.read_csv("ncvpath-results/coefficients.csv").iloc[:, 0].values


def test_numbers_whose_squares_overflow_make_no_noise(folder, capsys):
    table = DATA.assign(huge=DATA["progression"] * 1e300)
    table.to_csv("data.csv", index=False)
    fit()
    printed = capsys.readouterr()
    assert "huge" in printed.out and printed.err == ""
