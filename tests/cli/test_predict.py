"""`ncvpath predict`: stored models and new rows."""

import gzip
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ncvpath import CvNcvPath, NcvPath, load_diabetes, load_heart, load_veteran, ncvpath
from ncvpath.__main__ import main

FAST = ["--nlambda", "12", "--lambda-min-ratio", "0.05"]
X, Y = load_diabetes()
HEART, CHD = load_heart()
VETERAN, TIMES = load_veteran()
MODEL = "ncvpath-results/model.npz"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(y=Y).to_csv("data.csv", index=False)
    sick = CHD.map({0: "no", 1: "yes"})
    site = np.resize(["a", "b", "c"], len(HEART))
    history = HEART["famhist"].map({0: "Absent", 1: "Present"})
    HEART.assign(famhist=history, site=site, sick=sick).to_csv("heart.csv", index=False)
    centre = np.where(np.arange(137) % 2, "north", "south")
    trial = VETERAN.join(TIMES).assign(centre=centre, begin=0.0)
    trial.to_csv("trial.csv", index=False)
    return tmp_path


def run(*arguments, code=0):
    assert main([*map(str, arguments)]) == code


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def predicted(file="predictions.csv"):
    return pd.read_csv(file, index_col="row")


# ---- what is said ------------------------------------------------------------------


def test_gaps_in_text_are_counted_once(capsys):
    table = pd.read_csv("heart.csv")
    run("fit", "heart.csv", "--response", "sick", "--family", "binomial", "--encode",
        *FAST)
    table.loc[3:6, "site"] = None
    table.to_csv("gaps.csv", index=False)
    error = refused(capsys, "predict", MODEL, "gaps.csv")
    assert "missing values: 'site' has 4; fill" in error


def test_a_folder_stands_for_its_model(capsys):
    run("fit", "data.csv", "--response", "y", "--nlambda", "20")
    assert "12 of 20 lambdas; path.csv has all." in capsys.readouterr().out
    run("predict", "ncvpath-results", "data.csv")
    assert capsys.readouterr().out == "442 rows, prediction: predictions.csv\n"
    assert "a folder" in refused(capsys, "predict", ".", "data.csv")


def test_survival_is_told_by_the_number_of_its_times(capsys):
    run("fit", "trial.csv", "--time", "time", "--status", "status", "--family", "cox",
        "--drop", "centre", *FAST)
    capsys.readouterr()
    run("predict", MODEL, "trial.csv", "--type", "survival", "--id", "centre")
    times = predicted().shape[1] - 1
    said = f"137 rows, survival at {times} times: predictions.csv\n"
    assert capsys.readouterr().out == said


def test_survival_of_what_has_none_is_refused(capsys):
    run("fit", "data.csv", "--response", "y", *FAST)
    error = refused(capsys, "predict", MODEL, "data.csv", "--type", "survival")
    assert "--type must be one of response, link" in error


# ---- predictions -------------------------------------------------------------------


def test_predictions_are_those_of_python(capsys):
    run("fit", "data.csv", "--response", "y", "--cv", "4", *FAST)
    table = X.iloc[::-1, ::-1].head(20).assign(other="text")
    table.to_csv("new.csv", index=False)
    run("predict", MODEL, "new.csv")
    cv = CvNcvPath.load(MODEL)
    expected = cv.predict(table)
    np.testing.assert_allclose(predicted()["prediction"], expected, rtol=1e-9)
    assert list(predicted().index) == list(range(1, 21))
    assert "20 rows, prediction: predictions.csv" in capsys.readouterr().out
    run("predict", MODEL, "new.csv", "--rule", "1se", "--out", "p.csv", "--id", "other")
    np.testing.assert_allclose(
        predicted("p.csv")["prediction"], cv.predict(table, rule="1se"), rtol=1e-9
    )
    assert set(predicted("p.csv")["other"]) == {"text"}
    run("predict", MODEL, "new.csv", "--lambda", "10", "--type", "link")
    np.testing.assert_allclose(predicted()["link"], cv.predict(table, lam=10))


def test_without_cross_validation_bic_chooses():
    run("fit", "data.csv", "--response", "y", *FAST)
    run("predict", MODEL, "data.csv")
    path = NcvPath.load(MODEL)
    expected = path.predict(X, lam=path.select("bic"))
    np.testing.assert_allclose(predicted()["prediction"], expected, rtol=1e-9)


def test_text_is_encoded_as_in_the_fit(capsys):
    run("fit", "heart.csv", "--response", "sick", "--family", "binomial", "--encode",
        *FAST)
    table = pd.read_csv("heart.csv")
    table[table["site"] == "c"].head(5).to_csv("new.csv", index=False)  # one level
    run("predict", MODEL, "new.csv")
    run("predict", MODEL, "heart.csv", "--out", "all.csv")
    rows = np.flatnonzero(table["site"] == "c")[:5] + 1
    some, everyone = predicted(), predicted("all.csv").loc[rows]
    np.testing.assert_array_equal(some, everyone)
    assert list(some) == ["probability", "class"]
    assert set(some["class"]) <= {"no", "yes"}
    table.assign(site="elsewhere").to_csv("new.csv", index=False)
    error = refused(capsys, "predict", MODEL, "new.csv")
    assert "column 'site' has 'elsewhere', a level that the fit did not have" in error
    table["famhist"] = np.resize(["Present", "Absent", "Unknown"], len(table))
    table.to_csv("new.csv", index=False)
    assert "'famhist' has 'Unknown'" in refused(capsys, "predict", MODEL, "new.csv")


def test_a_level_that_the_fit_did_not_have_is_no_baseline(capsys):
    """One unknown level of two was taken for the first, without a word."""
    run("fit", "heart.csv", "--response", "sick", "--family", "binomial", "--encode",
        *FAST)
    table = pd.read_csv("heart.csv")
    table["famhist"] = np.resize(["Present", "Unknown"], len(table))
    table.to_csv("new.csv", index=False)
    assert "column 'famhist' has 'Unknown', a level that the fit did not have " in (
        error := refused(capsys, "predict", MODEL, "new.csv")
    )
    assert "(Absent, Present)" in error
    # Files that do not say what the first of two levels was are read as before.
    NcvPath.load(MODEL).save("old.npz")
    run("predict", "old.npz", "new.csv")
    table["famhist"] = np.resize(["Present", "Unknown", "Absent"], len(table))
    table.to_csv("new.csv", index=False)
    assert "famhist" in refused(capsys, "predict", "old.npz", "new.csv")


def test_a_column_named_as_a_level_of_another_is_told_apart():
    """Where the file says what the levels were, names are not taken apart."""
    table = pd.DataFrame({
        "a": np.arange(30.0) % 7, "a=b": np.resize(["c", "d", "e"], 30),
        "y": np.arange(30.0) ** 2 % 11,
    })
    table.to_csv("odd.csv", index=False)
    run("fit", "odd.csv", "--response", "y", "--encode", "--penalty", "lasso", *FAST)
    run("predict", MODEL, "odd.csv", "--lambda", NcvPath.load(MODEL).lambdas[-1])
    assert predicted()["prediction"].nunique() > 7


def test_truth_values_with_gaps_are_predicted_as_they_were_fitted():
    smoker = np.resize([True, False, False], 442).astype(object)
    smoker[[3, 5]] = None
    X.assign(smoker=smoker, y=Y).to_csv("gaps.csv", index=False)
    run("fit", "gaps.csv", "--response", "y", "--omit-missing", *FAST)
    run("predict", MODEL, "gaps.csv", "--omit-missing")
    assert np.flatnonzero(predicted()["prediction"].isna()).tolist() == [3, 5]
    path, rows = NcvPath.load(MODEL), X.assign(smoker=smoker.astype(bool))
    expected = path.predict(rows, lam=path.select("bic"))
    there = predicted()["prediction"].notna().to_numpy()
    np.testing.assert_allclose(predicted()["prediction"][there], expected[there])


def test_rows_with_gaps_are_an_error_or_empty(capsys):
    run("fit", "data.csv", "--response", "y", *FAST)
    table = X.head(4).astype(float)
    table.loc[2, "bmi"] = np.nan
    table.to_csv("new.csv", index=False)
    error = refused(capsys, "predict", MODEL, "new.csv")
    assert "missing values: 'bmi' has 1; fill them in" in error
    run("predict", MODEL, "new.csv", "--omit-missing")
    assert predicted()["prediction"].isna().tolist() == [False, False, True, False]


@pytest.mark.parametrize("name", ["probability", "class", "row"])
def test_a_column_to_copy_that_is_called_as_ours_is_refused(name, capsys, folder):
    run("fit", "heart.csv", "--response", "sick", "--family", "binomial", "--encode",
        *FAST)
    table = pd.read_csv("heart.csv").rename(columns={"site": name})
    table.assign(site="a").to_csv("new.csv", index=False)
    error = refused(capsys, "predict", MODEL, "new.csv", "--id", name)
    assert "--id must be a column of another name than the predictions have" in error
    assert f"got '{name}'" in error and not (folder / "predictions.csv").exists()


def test_survival_medians_and_strata(capsys):
    run("fit", "trial.csv", "--time", "time", "--status", "status", "--family", "cox",
        "--strata", "centre", "--drop", "begin", *FAST)
    assert "--strata COLUMN must be given" in refused(
        capsys, "predict", MODEL, "trial.csv"
    )
    run("predict", MODEL, "trial.csv", "--strata", "centre")
    assert list(predicted()) == ["relative_risk", "median"]
    run("predict", MODEL, "trial.csv", "--strata", "centre", "--type", "survival")
    curves = predicted()
    assert curves.shape[0] == 137 and float(curves.columns[0]) == 0.0
    time = curves.columns[3]
    pd.read_csv("trial.csv").assign(**{time: "text"}).to_csv("new.csv", index=False)
    assert "--id must be a column of another name" in refused(
        capsys, "predict", MODEL, "new.csv", "--strata", "centre", "--type", "survival",
        "--id", time,
    )
    run("predict", MODEL, "trial.csv", "--type", "response")  # needs no strata


def test_an_offset_is_needed_again(capsys):
    table = X.assign(y=np.arange(442) % 5, log_n=0.1)
    table.to_csv("counts.csv", index=False)
    run("fit", "counts.csv", "--response", "y", "--family", "poisson", "--offset",
        "log_n", *FAST)
    assert "--offset COLUMN must be given" in refused(
        capsys, "predict", MODEL, "counts.csv"
    )
    run("predict", MODEL, "counts.csv", "--offset", "log_n")
    path = NcvPath.load(MODEL)
    expected = path.predict(X, lam=path.select("bic"), offset=0.1)
    np.testing.assert_allclose(predicted()["mean"], expected, rtol=1e-9)


BAD = {
    "columns that are not there": (
        ["predict", MODEL, "heart.csv"],
        "FILE must have the columns of the fit; 8 of 10 are not there, 'sex'",
    ),
    "a lambda outside": (
        ["predict", MODEL, "data.csv", "--lambda", "1e9"],
        "--lambda must be within the path",
    ),
    "a rule without cv": (
        ["predict", MODEL, "data.csv", "--rule", "min"],
        "--rule is for a model fitted with --cv",
    ),
    "no model": (["predict", "data.csv", "data.csv"], "written by NcvPath.save"),
    "no file": (["predict", MODEL, "nothing.csv"], "nothing.csv: no such file"),
    "its own model": (
        ["predict", MODEL, "data.csv", "--out", MODEL], f"would replace {MODEL}"
    ),
    "an unknown type": (
        ["predict", MODEL, "data.csv", "--type", "class"],
        "type must be one of response, link",
    ),
}


def test_what_cannot_be_predicted_is_one_line(capsys, folder):
    run("fit", "data.csv", "--response", "y", *FAST)
    capsys.readouterr()
    for arguments, words in BAD.values():
        assert words in refused(capsys, *arguments)
    assert not (folder / "predictions.csv").exists()


# ---- options of fit ----------------------------------------------------------------


def test_gamma_and_alpha_may_be_several():
    run("fit", "data.csv", "--response", "y", "--cv", "3", "--gamma", "2,3,5",
        "--alpha", "0.5,1", *FAST)
    cv = CvNcvPath.load(MODEL)
    assert cv.grid.groupby(["gamma", "alpha"]).ngroups == 6
    assert cv.gamma in (2, 3, 5) and cv.alpha in (0.5, 1)


@pytest.mark.parametrize("arguments, words", [
    (["--gamma", "2,3"], "several values of --gamma are compared by cross-validation"),
    (["--gamma", "2;3"], "must be a number, or numbers as in 2,3,5; got '2;3'"),
    (["--measure", "mae"], "--measure is for cross-validation"),
    (["--cv", "3", "--measure", "auc"], "measure must be one of mse, mae"),
    (["--start", "begin"], "--start is not for --family gaussian"),
    (["--failures", "y"], "counts of both need --family binomial"),
])
def test_options_that_do_not_go_together(arguments, words, capsys):
    assert words in refused(capsys, "fit", "data.csv", "--response", "y", *arguments)


def test_counts_of_failures_and_successes(capsys):
    rng = np.random.default_rng(1)
    table = X.assign(alive=rng.integers(1, 9, 442), dead=rng.integers(1, 9, 442))
    table.to_csv("doses.csv", index=False)
    run("fit", "doses.csv", "--failures", "alive", "--successes", "dead", "--family",
        "binomial", "--cv", "3", *FAST)
    path = ncvpath(X, table[["alive", "dead"]], family="binomial", nlambda=12,
                   lambda_min_ratio=0.05)
    np.testing.assert_allclose(NcvPath.load(MODEL).coef(), path.coef(), rtol=1e-8)
    assert "logistic regression of dead among" in capsys.readouterr().out
    run("predict", MODEL, "doses.csv")
    assert list(predicted()) == ["probability"]
    error = refused(capsys, "fit", "doses.csv", "--failures", "alive", "--family",
                    "binomial")
    assert "--response or --failures and --successes must be given" in error


def test_late_entry_a_measure_and_no_rescaling():
    run("fit", "trial.csv", "--start", "begin", "--time", "time", "--status", "status",
        "--family", "cox", "--cv", "3", "--measure", "concordance", "--no-rescale",
        "--drop", "centre", *FAST)
    cv = CvNcvPath.load(MODEL)
    assert cv.measure == "concordance" and not cv.fit.rescale
    page = Path("ncvpath-results/report.html").read_text()
    assert "the concordance is largest" in page


# ---- the program -------------------------------------------------------------------


@pytest.mark.parametrize("called", ["/usr/bin/ncvpath", "ncvpath.exe"])
def test_messages_name_the_program_as_it_was_called(called, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [called])
    error = refused(capsys, "predict", "nothing.npz", "data.csv")
    assert error.startswith("ncvpath predict: ") and "nothing.npz" in error
    assert "usage: ncvpath fit" in refused(capsys, "fit", "data.csv")


def test_sizes_that_overflow_are_one_line(capsys):
    X.assign(bmi=1e-310 * X["bmi"], y=Y).to_csv("data.csv", index=False)
    error = refused(capsys, "fit", "data.csv", "--response", "y", "--penalty", "lasso")
    assert "X and y" in error and "overflowed" in error


@pytest.mark.parametrize("name", ["bad.csv", "bad.csv.gz", "bad.csv.zip"])
def test_null_bytes_are_refused(name, capsys):
    text = "a,b,y\n1,2,3\n2,5,4\n3,\x001,6\n"
    kind = name.rpartition(".")[2]
    if kind == "zip":
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr("bad.csv", text)
    else:
        packed = gzip.compress(text.encode()) if kind == "gz" else text.encode()
        Path(name).write_bytes(packed)
    error = refused(capsys, "fit", name, "--response", "y")
    assert f"{name} cannot be read: there is a null byte in line 4" in error


def test_utf_16_is_no_damage():
    X.assign(y=Y).to_csv("data16.csv", index=False, encoding="utf-16")
    run("fit", "data16.csv", "--response", "y", "--charset", "utf-16", *FAST)


def test_the_advice_is_that_of_the_status(capsys):
    run("fit", "data.csv", "--response", "y", "--tol", "1e-18", *FAST, code=1)
    error = capsys.readouterr().err
    assert "rounding allows on these data; raise --tol" in error
    assert "--max-epochs" not in error
    run("fit", "data.csv", "--response", "y", "--max-epochs", "1", "--tol", "1e-14",
        "--cv", "3", *FAST, code=1)
    assert "raise --max-epochs or --tol" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["1se", "lambda_1se", "lambda.1se"])
def test_a_rule_has_the_names_that_it_has_in_python(name):
    from ncvpath.cli.predict import predict_parser

    options = predict_parser().parse_args(["model.npz", "new.csv", "--rule", name])
    assert options.rule == "1se"
