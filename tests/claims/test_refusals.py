"""Every public argument meets a zoo of wrong values.

Whatever comes, the answer is a result without NaN, or a ValueError or TypeError that
names the argument and is short enough to read.
"""

import inspect
import re
import signal
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import draw
from scipy import sparse

import ncvpath as package
from ncvpath import ConvergenceWarning, NcvPath, ncvpath

N, P = 24, 4
X, Y = draw(N, P, seed=3, nonzero=3)
LONG = 500  # letters that a message may have

ZOO = {
    "None": None,
    "a word": "a",
    "no word": "",
    "a long word": "x" * 100_000,
    "bytes": b"a",
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "-1": -1,
    "0": 0,
    "0.5": 0.5,
    "3.0": 3.0,
    "2**63": 2**63,
    "10**400": 10**400,
    "10**5000": 10**5000,  # too long to be printed
    "1j": 1j,
    "a decimal": Decimal(1),
    "a fraction": Fraction(1, 2),
    "an enumeration": signal.SIGINT,
    "True": True,
    "a flag of numpy": np.True_,
    "no entries": [],
    "no columns": [[]],
    "an empty dict": {},
    "a dict": {"a": 1},
    "a dict of dicts": {"a": {}},
    "a set": {1},
    "an object": object(),
    "a type": int,
    "a function": len,
    "a slice": slice(2),
    "a range": range(3),
    "a generator": lambda: (k for k in range(3)),
    "0-d nan": np.array(np.nan),
    "0-d 3": np.array(3),
    "[1]": [1],
    "[-1]": [-1],
    "[True]": [True],
    "[None]": [None],
    "['a']": ["a"],
    "[nan]": [np.nan],
    "[10**400]": [10**400],
    "ragged": [[1], [2, 3]],
    "seven": np.ones(7),
    "n zeros": np.zeros(N),
    "n numbers": np.arange(N),
    "n nan": np.full(N, np.nan),
    "n objects": np.array([object()] * N),
    "n words": np.array(["a"] * N),
    "n dates": np.arange(N).astype("M8[D]"),
    "n complex": np.ones(N) + 1j,
    "n, one masked": np.ma.masked_equal(np.arange(N), 3),
    "p numbers": np.arange(P) + 1.0,
    "3 x 5": np.ones((3, 5)),
    "three dimensions": np.ones((2, 2, 2)),
    "a Series": pd.Series([1.0, 2.0]),
    "a frame": pd.DataFrame({"a": [1.0, 2.0]}),
    "a sparse column": sparse.csr_array(np.arange(N)[:, None]),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "a time": pd.Timestamp("2001"),
}
# Legal, and as large as they say.
TOO_MUCH = {("n", "2**63"), ("p", "2**63")}


@pytest.fixture(scope="module")
def results():
    path = ncvpath(X, Y, nlambda=6, record=True)
    cv = package.cv_ncvpath(X, Y, nlambda=6, gamma=[2, 3], nfolds=3, random_state=1)
    return {"path": path, "cv": cv}


# What is called with which other arguments; "path." and "cv." are methods of results.
SETTINGS = [name for name in inspect.signature(ncvpath).parameters if name not in "Xy"]
DATA = dict(X=X, y=Y)
CALLS = {
    "ncvpath": DATA | dict(nlambda=4),
    "cv_ncvpath": DATA | dict(nlambda=4, nfolds=3, random_state=0),
    "lambda_max": DATA,
    "simulate": dict(n=8, p=3, nonzero=2),
    "assign_folds": dict(n=N, nfolds=2),
    "compare": dict(paths=None),
    "penalties": {},
    "plot_penalties": {},
    "families": {},
    "load_diabetes": {},
    "load_heart": {},
    "load_veteran": {},
    "show_versions": {},
    "path.predict": dict(X=X),
    "path.cross_validate": dict(nfolds=3),
    "cv.predict": dict(X=X),
    "NcvPath.load": dict(file="nowhere.npz"),
    "CvNcvPath.load": dict(file="nowhere.npz"),
} | {
    f"path.{name}": {} for name in (
        "coef", "selected", "to_frame", "residuals", "loglik", "aic", "bic", "ebic",
        "select", "summary", "plot", "plot_screening", "plot_trace", "save",
    )
} | {
    f"cv.{name}": {} for name in (
        "coef", "selected", "summary", "to_frame", "plot", "save",
    )
}


def called(name, results):
    """The function, and its other arguments."""
    owner, _, method = name.rpartition(".")
    arguments = CALLS[name]
    if "paths" in arguments:
        arguments = {"paths": [results["path"]]}
    owners = results | {"NcvPath": NcvPath, "CvNcvPath": package.CvNcvPath}
    owners[""] = package
    return getattr(owners[owner], method), arguments


def public_methods(kind):
    return {
        name for name, value in vars(kind).items()
        if not name.startswith("_") and callable(getattr(kind, name))
        and not isinstance(value, property)
    }


def test_every_public_function_and_method_is_called():
    functions = {name for name in package.__all__ if name[0].islower()}
    methods = {f"path.{name}" for name in public_methods(NcvPath) - {"load"}}
    methods |= {f"cv.{name}" for name in public_methods(package.CvNcvPath) - {"load"}}
    loaders = {"NcvPath.load", "CvNcvPath.load"}
    assert set(CALLS) == functions | methods | loaders


def arguments_of(name, call):
    parameters = inspect.signature(call).parameters.values()
    named = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return named + (SETTINGS if name == "cv_ncvpath" else [])


def has_nan(result):
    if isinstance(result, NcvPath):
        return has_nan(result.beta.data) or has_nan(result.lambdas)
    if isinstance(result, package.CvNcvPath):
        return has_nan(result.fit) or has_nan(result.cve)
    is_array = isinstance(result, np.ndarray) and result.dtype.kind == "f"
    return is_array and not np.isfinite(result).all()


def complaint(call, arguments, name, value):
    """What is wrong with the answer, or None."""
    if inspect.isfunction(value):
        value = value()
        assert isinstance(value, Iterator)
    try:
        return "it has NaN" if has_nan(call(**arguments | {name: value})) else None
    except (ValueError, TypeError) as error:
        message = str(error)
    except OSError as error:  # of a file that cannot be, or is not there
        return None if "file" in {name, *arguments} else repr(error)
    except Exception as error:
        return repr(error)[:LONG]
    if len(message) > LONG or not re.search(rf"\b{name}\b", message):
        return message[:LONG]
    return None


@pytest.mark.parametrize("name", CALLS)
def test_wrong_values_are_refused_by_the_name_of_their_argument(
    name, results, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    call, others = called(name, results)
    wrong = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # max_epochs=2 may not do
        for argument in arguments_of(name, call):
            for kind, value in ZOO.items():
                if (argument, kind) not in TOO_MUCH:
                    found = complaint(call, others, argument, value)
                    if found:
                        wrong[f"{argument}: {kind}"] = found
            plt.close("all")
    assert not wrong


@pytest.mark.parametrize(
    "word, meant",
    [
        ("nfold", "nfolds"), ("lambda.min", "lambda_min_ratio"), ("lambda", "lambdas"),
        ("penalty.factor", "penalty_factor"), ("max_epoch", "max_epochs"),
        ("clusters", None),
    ],
)
def test_unknown_arguments_of_cross_validation_come_with_a_guess(word, meant):
    with pytest.raises(TypeError, match=re.escape(f"argument '{word}'")) as caught:
        package.cv_ncvpath(X, Y, **{word: 1})
    guess = f"(did you mean {meant}?)"
    assert (guess in str(caught.value)) == (meant is not None)


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(flavour=1), ["flavour"]),
        (dict(color=3), ["color", "LineCollection"]),
        (dict(lw=[object()]), ["lw", "LineCollection"]),
    ],
)
def test_what_lines_cannot_be_is_refused_by_name(options, words, results):
    with pytest.raises(TypeError) as caught:
        results["path"].plot(**options)
    plt.close("all")
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("width", [0, 2.5, np.array([1.0, 2.0])])
def test_lines_may_have_any_width(width, results):
    ax = results["path"].plot(linewidth=width)
    drawn = np.concatenate([lines.get_linewidths() for lines in ax.collections])
    assert set(np.ravel(width)) <= set(drawn)
    plt.close("all")


def test_several_axes_are_refused_with_advice(results):
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match=r"ax must be .* got ndarray .*ax=axes\[0\]"):
        results["path"].plot(ax=axes)
    plt.close("all")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
def test_positions_may_be_whole_numbers_of_any_type(dtype):
    path = ncvpath(X, Y, nlambda=300)
    expected = path.coef(which=[3, 120])
    pd.testing.assert_frame_equal(path.coef(which=np.array([3, 120], dtype)), expected)


def test_a_number_is_not_taken_for_an_open_file(results):
    with pytest.raises(ValueError, match="file must be a file name.*got int 1"):
        results["path"].save(1)
