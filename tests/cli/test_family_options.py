"""`python -m ncvpath fit --family`: classes, counts and survival from files."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from ncvpath import cv_ncvpath, load_heart, load_veteran, ncvpath
from ncvpath.__main__ import main

HEART, CHD = load_heart()
VETERAN, TIMES = load_veteran()
FAST = ["--nlambda", "12", "--lambda-min-ratio", "0.05"]
SAME = dict(nlambda=12, lambda_min_ratio=0.05)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sick = CHD.map({0: "no", 1: "yes"})
    visits = np.random.default_rng(1).poisson(1 + HEART["age"] / 20)
    table = HEART.assign(sick=sick, visits=visits, log_years=np.log(HEART["age"]))
    table.to_csv("heart.csv", index=False)
    centre = np.where(np.arange(137) % 2, "north", "south")
    VETERAN.join(TIMES).assign(centre=centre).to_csv("trial.csv", index=False)
    return tmp_path


def fit(*arguments, code=0):
    assert main(["fit", *arguments, *FAST]) == code


def report():
    with open("ncvpath-results/report.html", encoding="utf-8") as stream:
        return unescape(stream.read())


def stored():
    return pd.read_csv("ncvpath-results/coefficients.csv", index_col=0)


def run_code(nlambda=12):
    """The Python of the report, as it stands."""
    code = re.search(r"<pre>(.*?)</pre>", report(), flags=re.DOTALL)[1]
    found: dict = {}
    exec(code, found)
    return found["path"]


def test_words_are_classes(capsys):
    drop = ["--drop", "visits", "--drop", "log_years"]
    fit("heart.csv", "--response", "sick", "--family", "binomial", "--cv", "4", *drop)
    cv = cv_ncvpath(HEART, CHD.map({0: "no", 1: "yes"}), family="binomial", nfolds=4,
                    random_state=1, **SAME)
    np.testing.assert_allclose(stored(), cv.fit.coef(), rtol=1e-10)
    errors = pd.read_csv("ncvpath-results/cv.csv", index_col=0)
    np.testing.assert_allclose(errors, cv.to_frame(), rtol=1e-10)
    page = report()
    assert "302 rows no and 160 rows yes" in page
    assert "Deviance per observation of predictions" in page
    assert "<td>binomial</td>" in page and "logistic regression of sick=yes" in page
    np.testing.assert_allclose(run_code().coef(), stored(), rtol=1e-10)
    assert "cross-validated binomial MCP path" in capsys.readouterr().out


def test_counts_with_an_offset():
    fit("heart.csv", "--response", "visits", "--family", "poisson", "--offset",
        "log_years", "--drop", "sick")
    table = pd.read_csv("heart.csv")
    path = ncvpath(table[HEART.columns], table["visits"], family="poisson",
                   offset=table["log_years"], **SAME)
    np.testing.assert_allclose(stored(), path.coef(), rtol=1e-10)
    page = report()
    assert "of the deviance of the rows" in page and "<td>log_years</td>" in page
    np.testing.assert_allclose(run_code().coef(), stored(), rtol=1e-10)


def test_survival_with_strata():
    fit("trial.csv", "--time", "time", "--status", "status", "--family", "cox",
        "--strata", "centre", "--ties", "efron", "--cv", "3")
    table = pd.read_csv("trial.csv")
    path = ncvpath(table[VETERAN.columns], TIMES, family="cox", ties="efron",
                   strata=table["centre"], **SAME)
    np.testing.assert_allclose(stored(), path.coef(), rtol=1e-8)
    assert list(stored().index) == list(VETERAN)
    chosen = pd.read_csv("ncvpath-results/selected.csv", index_col=0)
    assert "(Intercept)" not in chosen.index and len(chosen)
    page = report()
    assert "128 events (status), times 1 to 999" in page
    assert "<td>efron</td>" in page and "<td>centre</td>" in page
    assert "Partial deviance per event" in page
    assert "Cox regression with 128 events" in page
    np.testing.assert_allclose(run_code().coef(), stored(), rtol=1e-8)


REFUSED = {
    "no response": (["heart.csv"], "--response must be given with --family gaussian"),
    "no status": (["trial.csv", "--time", "time", "--family", "cox"],
                  "--time and --status must be given with --family cox"),
    "a response of survival": (
        ["trial.csv", "--response", "time", "--family", "cox"],
        "--response is not for --family cox, whose outcome is --time and --status",
    ),
    "times without cox": (
        ["trial.csv", "--time", "time", "--status", "status"],
        "whose outcome is --response; survival times need --family cox",
    ),
    "strata without cox": (
        ["heart.csv", "--response", "age", "--strata", "sick"],
        "--strata is not for --family gaussian",
    ),
    "an unknown family": (["heart.csv", "--response", "age", "--family", "cauchy"],
                          "invalid choice: 'cauchy'"),
    "words as numbers": (
        ["heart.csv", "--response", "sick"],
        "'sick' has 'yes' in row 1; two classes need --family binomial",
    ),
    "words as an offset": (
        ["heart.csv", "--response", "visits", "--family", "poisson",
         "--offset", "sick"],
        "--offset must be a column of numbers",
    ),
    "many classes": (
        ["heart.csv", "--response", "visits", "--family", "binomial", "--drop", "sick"],
        "y must have two classes",
    ),
    "a status of two": (
        ["trial.csv", "--time", "status", "--status", "time", "--family", "cox",
         "--drop", "centre"],
        "y must have a status of 1 (event) or 0",
    ),
    "one column twice": (
        ["trial.csv", "--time", "time", "--status", "time", "--family", "cox"],
        "column 'time' can have one use only; got --time and --status",
    ),
}


@pytest.mark.parametrize("arguments, message", REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_go_together_is_refused(arguments, message, capsys, folder):
    with pytest.raises(SystemExit) as end:
        main(["fit", *arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not (folder / "ncvpath-results").exists()


# ---- which entry is an event -------------------------------------------------------


@pytest.mark.parametrize("response, event, labels", [
    ("sick", "no", {0: "no", 1: "yes"}), ("chd", "0", {0: 0, 1: 1}),
    ("half", "0", {0: 0.0, 1: 0.5}),
])
def test_the_event_of_two_classes_can_be_named(response, event, labels, capsys):
    HEART.assign(**{response: CHD.map(labels)}).to_csv("two.csv", index=False)
    fit("two.csv", "--response", response, "--event", event, "--family", "binomial")
    path = ncvpath(HEART, 1 - CHD, family="binomial", **SAME)
    np.testing.assert_allclose(stored(), path.coef(), rtol=1e-10)
    assert f"logistic regression of {response}={labels[0]}" in capsys.readouterr().out
    assert (run_code().beta != path.beta).nnz == 0


@pytest.mark.parametrize("words", [{0: "alive", 1: "dead"}, {0: 1, 1: 2}])
def test_the_event_of_a_status_can_be_named(words):
    status = TIMES["status"].map(words)
    VETERAN.join(TIMES).assign(status=status).to_csv("words.csv", index=False)
    fit("words.csv", "--time", "time", "--status", "status", "--family", "cox",
        "--event", str(words[1]))
    path = ncvpath(VETERAN, TIMES, family="cox", **SAME)
    np.testing.assert_allclose(stored(), path.coef(), rtol=1e-10)
    assert (run_code().beta != path.beta).nnz == 0


@pytest.mark.parametrize("options, words", [
    (["--response", "sick", "--event", "dead", "--family", "binomial"],
     "--event: 'sick' has no 'dead'; it has 'yes', 'no'"),
    (["--response", "age", "--event", "40"], "two classes need --family binomial"),
    (["--failures", "age", "--successes", "sbp", "--family", "binomial", "--event",
      "age"], "counts have neither"),
    (["--time", "age", "--status", "sick", "--family", "cox"],
     "'sick' has 'yes' in row 1; --event says which entry is an event"),
])
def test_events_that_are_none(options, words, capsys):
    with pytest.raises(SystemExit) as end:
        fit("heart.csv", *options)
    assert end.value.code == 2
    assert words in capsys.readouterr().err
