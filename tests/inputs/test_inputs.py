"""The door: what is refused, in which words, and what is let in unchanged."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from fitting import clean
from scipy import sparse

from ncvpath import lambda_max, ncvpath, simulate
from ncvpath.penalties import ROWS

N, P = 24, 4
NAMES = ["height", "weight", "age", "dose"]
RNG = np.random.default_rng(11)
# Zeros and ones, so that every dtype from bool to float64 holds exactly the same.
BITS = np.asfortranarray(RNG.integers(0, 2, (N, P)).astype(float))
Y = np.round(BITS @ [3.0, -2.0, 1.0, 0.0] + RNG.standard_normal(N), 2)
SHAPED = [row for row in ROWS if row.gamma is not None]


@pytest.fixture(name="X")
def design():
    return BITS.copy(order="F")


@pytest.fixture(name="y")
def response():
    return Y.copy()


@pytest.fixture
def no_work(monkeypatch):
    """Bad input must be found before the threads is called in."""

    def fail(*_):
        raise AssertionError("work has begun on input that should have been refused")

    monkeypatch.setattr("ncvpath.path.working", fail)


def table(cases, names):
    return pytest.mark.parametrize(names, cases.values(), ids=cases.keys())


def changed(place, value):
    """A change of one entry."""

    def change(values):
        values[place] = value
        return values

    return change


def frame(X, **columns):
    return pd.DataFrame(X, columns=NAMES).assign(**columns)


def snapshot(*values):
    """What the values hold; pickles of frames would show pandas' caches too."""
    return [
        value.to_csv() + str(value.dtypes) if hasattr(value, "to_csv")
        else pickle.dumps(value)
        for value in values
    ]


def refusal(call, *arguments, error=ValueError, **keywords):
    """What the call says when it refuses; it must leave its arguments as they were."""
    before = snapshot(*arguments, *keywords.values())
    with pytest.raises(error) as caught:
        call(*arguments, **keywords)
    assert snapshot(*arguments, *keywords.values()) == before
    return str(caught.value)


def assert_says(message, words):
    for word in words:
        assert word in message


def assert_same_path(path, other):
    for name in ("lambdas", "intercept", "loss", "objective", "violation"):
        np.testing.assert_array_equal(getattr(path, name), getattr(other, name))
    np.testing.assert_array_equal(path.beta.toarray(), other.beta.toarray())


# ---- X, y and weights --------------------------------------------------------------

BAD_X = {
    "nan": (
        changed((3, 2), np.nan), ["X must be finite", "column number 2", "nan"]
    ),
    "inf": (
        changed((0, 0), np.inf), ["X must be finite", "column number 0", "inf"]
    ),
    "minus inf": (changed((-1, 3), -np.inf), ["column number 3", "-inf"]),
    "nan in a frame": (
        lambda X: frame(changed((3, 2), np.nan)(X)),
        ["X must be finite", "column 'age'", "nan"],
    ),
    "the first of two bad columns": (
        lambda X: frame(changed((0, 3), np.nan)(changed((9, 1), -np.inf)(X))),
        ["column 'weight'", "-inf"],
    ),
    "missing in a nullable column": (
        lambda X: frame(X, age=pd.array([None] + [1] * (N - 1), dtype="Int64")),
        ["X must be finite", "column 'age'", "nan"],
    ),
    "a vector": (lambda X: X[:, 0], ["X must be a 2-D", "1 dimension"]),
    "three dimensions": (lambda X: X[None], ["X must be a 2-D", "3 dimension"]),
    "no rows": (lambda X: X[:0], ["X must have a row", "(0, 4)"]),
    "no columns": (lambda X: X[:, :0], ["X must have a row", "(24, 0)"]),
    "an empty frame": (lambda X: pd.DataFrame(), ["X must have a row", "(0, 0)"]),
    "None": (lambda X: None, ["X must be", "NoneType"]),
    "a word": (lambda X: "data.csv", ["X must be", "str"]),
    "strings": (lambda X: X.astype(str), ["X must be real", "dtype <U"]),
    "objects": (lambda X: X.astype(object), ["X must be real", "dtype object"]),
    "complex": (lambda X: X + 0j, ["X must be real", "complex128"]),
    "dates": (lambda X: X.astype("datetime64[s]"), ["X must be real", "datetime64"]),
    "ragged rows": (lambda X: [[1, 2], [3]], ["X must be numeric", "inhomogeneous"]),
    "a text column": (
        lambda X: frame(X, sex="f"), ["X must be numeric", "column 'sex'", "dtype"]
    ),
    "an object column": (
        lambda X: frame(X, age=X[:, 2].astype(object)),
        ["X must be numeric", "column 'age'", "object"],
    ),
    "a categorical column": (
        lambda X: frame(X, sex=pd.Categorical(["f"] * N)), ["column 'sex'", "category"]
    ),
    "a date column": (
        lambda X: frame(X, born=pd.Timestamp("2001")), ["column 'born'", "datetime64"]
    ),
    "a complex column": (
        lambda X: frame(X, age=1j), ["X must be numeric", "column 'age'", "complex128"]
    ),
    "a masked array": (
        lambda X: np.ma.masked_array(X, X > 0), ["X must not be a masked array"]
    ),
    "rows that are masked": (
        lambda X: [np.ma.masked_array(row, row > 0) for row in X],
        ["X must not be a masked array", "fill or drop"],
    ),
    "a number": (lambda X: np.array(1.0), ["X must be a 2-D", "0 dimension"]),
    "no array at all": (lambda X: np.array(None), ["X must be a 2-D", "None"]),
    "a generator": (
        lambda X: iter(X.tolist()), ["X must be a 2-D", "list_iterator (make a list"]
    ),
    "columns by name": (
        lambda X: dict(zip(NAMES, X.T)), ["X must be a 2-D", "dict (make a DataFrame"]
    ),
    "a set": (lambda X: {1.0, 2.0}, ["X must be a 2-D", "set, which has no order"]),
    "None among the rows": (
        lambda X: [[1.0, None]] * N, ["X must be real", "object", "None at [0, 1]"]
    ),
    "whole numbers beyond 64 bits": (
        lambda X: [[2**70, 1]] * N, ["X must be real", "dtype object", "float"]
    ),
    "long doubles beyond float64": (
        lambda X: (1 + X) * np.longdouble("1e400"), ["X must be finite", "inf"]
    ),
    "columns with names of their types": (
        lambda X: np.zeros(N, [("a", float)]), ["X must be real", "'a'"]
    ),
    "repeated column names": (
        lambda X: frame(X).rename(columns={"age": "dose"}),
        ["column names of X must be distinct", "'dose' twice"],
    ),
    "fewer rows than y": (lambda X: X[:-1], ["y must have one value per row", "24"]),
}

BAD_Y = {
    "nan": (changed(5, np.nan), ["y must be finite", "nan at position 5"]),
    "inf": (changed(0, np.inf), ["y must be finite", "inf at position 0"]),
    "missing": (
        lambda y: pd.Series(y, dtype="Float64").where(y != y[7]),
        ["y must be finite", "nan at position 7"],
    ),
    "too short": (lambda y: y[:-1], ["y must have one value per row", "23", "24"]),
    "too long": (lambda y: np.append(y, 1), ["y must have one value per row", "25"]),
    "empty": (lambda y: [], ["y must have one value per row", "0", "24"]),
    "two columns": (
        lambda y: np.stack([y, y], axis=1), ["y must be one-dimensional", "(24, 2)"]
    ),
    "a row": (lambda y: y[None], ["y must be one-dimensional", "(1, 24)"]),
    "a number": (lambda y: 1.0, ["y must be one-dimensional", "()"]),
    "None": (lambda y: None, ["y must be", "NoneType"]),
    "strings": (lambda y: y.astype(str), ["y must be real", "dtype <U"]),
    "objects": (lambda y: pd.Series(y).astype(object), ["y must be real", "object"]),
    "a text frame": (lambda y: pd.DataFrame({"y": ["a"] * N}), ["y must", "'y'"]),
    "complex": (lambda y: y + 1j, ["y must be real", "complex128"]),
    "masked": (lambda y: np.ma.masked_array(y), ["y must not be a masked array"]),
    "an entry masked": (
        lambda y: [np.ma.masked, *y[1:]], ["y must not be a masked array"]
    ),
    "a generator": (lambda y: map(float, y.tolist()), ["y must be", "map (make a l"]),
    "a category": (lambda y: pd.Series(pd.Categorical(y)), ["y must be real", "categ"]),
    "times with a zone": (
        lambda y: pd.Series(pd.date_range("2001", periods=N, tz="UTC")),
        ["y must be real", "2001-01-01", "at [0]"],
    ),
    "sparse": (lambda y: sparse.csr_array(y[:, None]), ["y must be", "csr_array"]),
    "constant": (lambda y: np.full(N, 2.5), ["y must vary", "intercept", "y=2.5"]),
}

BAD_WEIGHTS = {
    "nan": ([np.nan] + [1] * (N - 1), ["weights must be finite", "nan", "0"]),
    "inf": ([1] * (N - 1) + [np.inf], ["weights must be finite", "inf", "23"]),
    "negative": ([1, -0.5] + [1] * (N - 2), ["weights must be >= 0", "-0.5", "n 1"]),
    "all zero": (np.zeros(N), ["weights must not all be zero; got 24 zeros"]),
    "too short": (np.ones(N - 1), ["weights must have one value per row", "23", "24"]),
    "one number": (2.0, ["weights must be one-dimensional", "()"]),
    "text": (["a"] * N, ["weights must be real", "<U1"]),
    "on one value of y": (np.arange(N) == 3, ["y must vary", f"y={Y[3]:g}"]),
}

BAD_FACTORS = {
    "negative": ([1, 1, -2, 1], ["penalty_factor must be >= 0", "-2", "'x3'"]),
    "nan": ([1, np.nan, 1, 1], ["penalty_factor must be >= 0", "nan", "'x2'"]),
    "too short": (np.ones(3), ["penalty_factor must have a value", "4 columns", "3"]),
    "one number": (2.0, ["penalty_factor must be one-dimensional", "()"]),
    "text": (list("abcd"), ["penalty_factor must be real", "<U1"]),
    "an unknown name": ({"dose": 1}, ["penalty_factor", "features", "'dose'"]),
    "an unknown name in a Series": (
        pd.Series([1.0], index=["dose"]), ["penalty_factor", "features", "'dose'"]
    ),
    "negative by name": ({"x2": -1}, ["penalty_factor['x2']", "at least 0", "-1"]),
    "nan by name": ({"x2": np.nan}, ["penalty_factor['x2']", "at least 0", "nan"]),
    "text by name": ({"x2": "a"}, ["penalty_factor['x2']", "number", "'a'"]),
    "a name twice": (
        pd.Series([0.0, 2.0], index=["x1", "x1"]), ["penalty_factor", "'x1'", "twice"]
    ),
}

both_calls = pytest.mark.parametrize("call", [ncvpath, lambda_max])


@both_calls
@table(BAD_X, "change, words")
def test_a_bad_design_is_refused_in_clear_words(call, change, words, X, y, no_work):
    assert_says(refusal(call, change(X), y), words)


@both_calls
@table(BAD_Y, "change, words")
def test_a_bad_response_is_refused_in_clear_words(call, change, words, X, y, no_work):
    assert_says(refusal(call, X, change(y)), words)


@both_calls
@table(BAD_WEIGHTS, "weights, words")
def test_bad_weights_are_refused_in_clear_words(call, weights, words, X, y, no_work):
    assert_says(refusal(call, X, y, weights=weights), words)


@both_calls
@table(BAD_FACTORS, "factor, words")
def test_bad_factors_are_refused_in_clear_words(call, factor, words, X, y, no_work):
    assert_says(refusal(call, X, y, penalty_factor=factor), words)


def test_the_advice_for_a_sparse_response_is_not_to_make_it_two_dimensional(X, y):
    assert "2-D" not in refusal(ncvpath, X, sparse.csr_array(y[:, None]))


NO_SIGNAL = {
    "every factor 0": dict(penalty_factor=np.zeros(P)),
    "every factor inf": dict(penalty_factor=np.full(P, np.inf)),
    "every factor 0 or inf": dict(penalty_factor=[0, np.inf, 0, np.inf]),
    "every column constant": dict(X=np.ones((N, P))),
    "y orthogonal to X": dict(
        X=np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]] * 2),
        y=[1.0, -1, -1, 1, 2, -2, -2, 2],
    ),
    "y a combination of unpenalised features": dict(
        y=BITS[:, 0] - 0.3 * BITS[:, 1], penalty_factor=[0, 0, 1, 1]
    ),
    "y zero without intercept": dict(y=np.zeros(N), intercept=False),
}


@both_calls
@pytest.mark.parametrize("case", NO_SIGNAL.values(), ids=NO_SIGNAL.keys())
def test_a_problem_without_lambda_max_is_refused(call, case, X, y):
    data = dict(X=X, y=y) | case
    assert_says(refusal(call, **data), ["lambda_max must be positive", "got 0"])


@pytest.mark.parametrize("value", [4.0, -1.0])
def test_a_constant_response_is_legal_without_intercept(value, X):
    path = ncvpath(X, np.full(N, value), intercept=False, nlambda=5)
    assert path.df[-1] > 0
    assert not path.intercept.any()


# ---- everything else ---------------------------------------------------------------

BAD_ARGUMENTS = {
    "penalty": (
        dict(penalty="ridge"), ["penalty must be one of", "'ridge'"] +
        [row.name for row in ROWS],
    ),
    "penalty None": (dict(penalty=None), ["penalty must be one of", "None"]),
    "solver": (
        dict(solver="newton"),
        ["solver must be one of cd, bcd, gist, mm-cd, mm-prox;", "'newton'"],
    ),
    "working_set": (
        dict(working_set="greedy"),
        ["working_set must be one of fireworks, maxvc, full;", "'greedy'"],
    ),
    "a feature called (Intercept)": (
        dict(feature_names=["(Intercept)", "a", "b", "c"]),
        ["feature_names must not be '(Intercept)'", "drop or rename"],
    ),
    "majorization with maxvc": (
        dict(working_set="maxvc", solver="mm-cd"),
        [
            "working_set must be fireworks with solver='mm-cd'",
            "fireworks, maxvc, full with solver one of cd, bcd, gist", "'maxvc'",
        ],
    ),
    "record": (dict(record="yes"), ["record must be", "'yes'"]),
    "several gammas": (
        dict(gamma=[2, 3]), ["gamma must be a number for MCP", "tuned by cv_ncvpath()"]
    ),
    "several alphas": (
        dict(alpha=np.array([0.5, 1])), ["alpha must be a number", "by cv_ncvpath()"]
    ),
    "gamma with lasso": (
        dict(penalty="lasso", gamma=3), ["gamma must not be given for lasso", "gamma=3"]
    ),
    "alpha 0": (dict(alpha=0), ["alpha must be greater than 0", "alpha=0"]),
    "alpha negative": (dict(alpha=-0.5), ["alpha must be greater than 0", "-0.5"]),
    "alpha above 1": (dict(alpha=1.01), ["alpha must be at most 1", "alpha=1.01"]),
    "alpha nan": (dict(alpha=np.nan), ["alpha must be", "alpha=nan"]),
    "alpha text": (dict(alpha="1"), ["alpha must be a number", "alpha='1'"]),
    "alpha a flag": (dict(alpha=True), ["alpha must be a number", "alpha=True"]),
    "alpha a list": (dict(alpha=[0.5]), ["alpha must be a number", "alpha=[0.5]"]),
    "nlambda 0": (dict(nlambda=0), ["nlambda must be an integer", "nlambda=0"]),
    "nlambda -3": (dict(nlambda=-3), ["nlambda", "at least 1", "nlambda=-3"]),
    "nlambda 10.0": (dict(nlambda=10.0), ["nlambda must be an integer", "=10.0"]),
    "nlambda True": (dict(nlambda=True), ["nlambda must be an integer", "=True"]),
    "nlambda None": (dict(nlambda=None), ["nlambda must be an integer", "=None"]),
    "ratio 1": (dict(lambda_min_ratio=1), ["lambda_min_ratio must be less", "=1"]),
    "ratio -1": (dict(lambda_min_ratio=-1), ["lambda_min_ratio must be at le", "=-1"]),
    "ratio nan": (dict(lambda_min_ratio=np.nan), ["lambda_min_ratio must", "=nan"]),
    "lambdas negative": (dict(lambdas=[1, -0.5]), ["lambdas must be >= 0", "-0.5"]),
    "lambdas twice": (
        dict(lambdas=[2, 1, 2]), ["lambdas must be distinct", "2 twice"]
    ),
    "lambdas nan": (
        dict(lambdas=[1, np.nan, 0.5]), ["lambdas must be finite", "nan at position 1"]
    ),
    "lambdas inf": (
        dict(lambdas=[1, 2, np.inf]), ["lambdas must be finite", "inf at position 2"]
    ),
    "lambdas empty": (dict(lambdas=[]), ["lambdas must be", "nonempty", "(0,)"]),
    "lambdas a table": (dict(lambdas=[[1, 2]]), ["lambdas must be", "(1, 2)"]),
    "lambdas flags": (dict(lambdas=[True]), ["lambdas must be numbers", "[True]"]),
    "lambdas from a generator": (
        dict(lambdas=range(3).__iter__()), ["lambdas must be", "make a list of it"]
    ),
    "lambdas text": (dict(lambdas=["a"]), ["lambdas must be real", "<U1"]),
    "n_added": (dict(n_added=0), ["n_added", "at least 1", "n_added=0"]),
    "tol 0": (dict(tol=0), ["tol must be greater than 0", "tol=0"]),
    "tol inf": (dict(tol=np.inf), ["tol must be finite", "tol=inf"]),
    "tol too large for a float": (dict(tol=10**400), ["tol must be finite"]),
    "max_epochs": (dict(max_epochs=0), ["max_epochs", "at least 1", "max_epochs=0"]),
    "dfmax": (dict(dfmax=-1), ["dfmax", "at least 0", "dfmax=-1"]),
    "n_threads": (dict(n_threads=0), ["n_threads", "at least 1", "n_threads=0"]),
    "too few names": (
        dict(feature_names=["a", "b"]), ["feature_names must name each of the 4", "2"]
    ),
    "equal names": (
        dict(feature_names=["a", "b", "c", "b"]), ["names must be distinct", "'b'"]
    ),
    "a number for names": (dict(feature_names=5), ["feature_names", "5"]),
    "a word for names": (dict(feature_names="abcd"), ["feature_names", "'abcd'"]),
} | {
    name: ({name: 1}, [f"{name} must be True or False", f"{name}=1"])
    for name in (
        "warm_up", "intercept", "standardize", "prune", "inexact", "convex",
        "progress", "record",
    )
}


@table(BAD_ARGUMENTS, "keywords, words")
def test_a_bad_argument_is_refused_in_clear_words(keywords, words, X, y, no_work):
    assert_says(refusal(ncvpath, X, y, **keywords), words)


@pytest.mark.parametrize("row", SHAPED, ids=lambda row: row.name)
@pytest.mark.parametrize("beyond", [0.0, 1.0, np.inf])
def test_gamma_must_exceed_its_limit(row, beyond, X, y, no_work):
    gamma = row.above - beyond
    message = refusal(ncvpath, X, y, penalty=row.name, gamma=gamma)
    rule = f"gamma must be greater than {row.above} for {row.name}"
    assert_says(message, [rule, f"gamma={gamma!r}"])


@pytest.mark.parametrize("row", SHAPED, ids=lambda row: row.name)
@pytest.mark.parametrize("gamma", [np.inf, np.nan, "3", True, [3.0]])
def test_gamma_must_be_one_finite_number(row, gamma, X, y, no_work):
    message = refusal(ncvpath, X, y, penalty=row.name, gamma=gamma)
    assert_says(message, ["gamma must be", f"for {row.name}", f"gamma={gamma!r}"])


@pytest.mark.parametrize("row", SHAPED, ids=lambda row: row.name)
def test_gamma_a_little_above_its_limit_is_legal(row, X, y):
    gamma = row.above + 0.01
    path = ncvpath(X, y, penalty=row.name, gamma=gamma, nlambda=4)
    assert path.gamma == gamma
    assert path.converged.all()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("spelling", [str, str.upper, str.lower])
def test_penalties_go_by_name_in_any_case(row, spelling, X, y):
    path = ncvpath(X, y, penalty=spelling(row.name), nlambda=2)
    assert (path.penalty, path.gamma) == (row.name, row.gamma)


@pytest.mark.parametrize("alpha", [Fraction(1, 2), np.float32(0.5), np.float64(0.5)])
def test_any_kind_of_real_number_is_a_number(alpha, X, y):
    path = ncvpath(X, y, alpha=alpha, nlambda=np.int64(4))
    assert_same_path(path, ncvpath(X, y, alpha=0.5, nlambda=4))


@pytest.mark.parametrize("call", [ncvpath, lambda_max, simulate])
def test_unknown_keywords_are_a_type_error(call, X, y):
    message = refusal(call, 5, 20, error=TypeError, lambda_=0.1)
    assert "lambda_" in message


@both_calls
def test_settings_are_keyword_only(call, X, y):
    refusal(call, X, y, "MCP", error=TypeError)


BAD_SIMULATIONS = {
    "n": ((0, 5), {}, ["n must be an integer of at least 1", "n=0"]),
    "n a float": ((10.0, 5), {}, ["n must be an integer", "n=10.0"]),
    "p": ((10, -1), {}, ["p must be an integer of at least 1", "p=-1"]),
    "nonzero": ((10, 5), dict(nonzero=6), ["nonzero must be at most p=5", "=6"]),
    "nonzero -1": ((10, 5), dict(nonzero=-1), ["nonzero", "at least 0", "=-1"]),
    "correlation": (
        (10, 20), dict(correlation="toeplitz"),
        ["correlation must be one of ar1, block, none", "'toeplitz'"],
    ),
    "rho 1": ((10, 20), dict(rho=1), ["rho must be less than 1", "rho=1"]),
    "rho -0.1": ((10, 20), dict(rho=-0.1), ["rho must be at least 0", "rho=-0.1"]),
    "snr": ((10, 20), dict(snr=0), ["snr must be greater than 0", "snr=0"]),
    "random_state": (
        (10, 20), dict(random_state="seed"), ["random_state", "'seed'"]
    ),
    "random_state -1": ((10, 20), dict(random_state=-1), ["random_state", "-1"]),
}


@table(BAD_SIMULATIONS, "arguments, keywords, words")
def test_a_bad_simulation_is_refused_in_clear_words(arguments, keywords, words):
    assert_says(refusal(simulate, *arguments, **keywords), words)


# ---- what is let in ----------------------------------------------------------------


def scattered(X):
    """The same numbers, every second row and column of a larger array, reversed."""
    wide = np.full((2 * N, 2 * P), np.nan)
    wide[::2, ::2] = X[::-1, ::-1]
    return wide[::2, ::2][::-1, ::-1]


def read_only(values):
    values.flags.writeable = False
    return values


class Duck:
    """A table of another library, known by __array__ alone."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


LEGAL_X = {
    "C order": np.ascontiguousarray,
    "read-only": read_only,
    "scattered": scattered,
    "int64": lambda X: X.astype(int),
    "int8": lambda X: X.astype(np.int8),
    "uint16": lambda X: X.astype(np.uint16),
    "bool": lambda X: X.astype(bool),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "big-endian": lambda X: X.astype(">f8"),
    "short and big-endian": lambda X: X.astype(">i2"),
    "long doubles": lambda X: X.astype(np.longdouble),
    "list of lists": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "duck": Duck,
    "frame": frame,
    "frame of integers": lambda X: frame(X).astype(int),
    "frame of booleans": lambda X: frame(X).astype(bool),
    "mixed frame": lambda X: frame(X).astype({"age": int, "dose": "float32"}),
    "nullable frame": lambda X: frame(X).astype("Int64"),
    "mixed nullable frame": lambda X: frame(X).astype(
        {"age": "boolean", "dose": "Float32", "height": int}
    ),
    "frame with numbered columns": pd.DataFrame,
}

LEGAL_Y = {
    "list": list,
    "read-only": read_only,
    "big-endian": lambda y: y.astype(">f8"),
    "every second": lambda y: np.repeat(y, 2)[::2],
    "column": lambda y: y[:, None],
    "Series": pd.Series,
    "Series with another index": lambda y: pd.Series(y, index=range(N, 0, -1)),
    "nullable Series": lambda y: pd.Series(y, dtype="Float64"),
    "one-column frame": lambda y: pd.DataFrame({"response": y}),
    "nullable frame": lambda y: pd.DataFrame({"response": y}, dtype="Float64"),
}

WHOLE = np.arange(N) % 3
LEGAL_WEIGHTS = {
    "list": WHOLE.tolist(),
    "float": WHOLE.astype(float),
    "Series": pd.Series(WHOLE, index=range(N, 0, -1)),
    "nullable Series": pd.Series(WHOLE, dtype="Int64"),
    "one-column frame": pd.DataFrame({"w": WHOLE}),
    "twice as large": 2 * WHOLE,
    "almost nothing": WHOLE * 2.0**-1000,
    "huge": WHOLE * 2.0**1000,
}

FACTORS = [0.0, 1.0, 2.0, np.inf]
LEGAL_FACTORS = {
    "tuple": tuple(FACTORS),
    "array": np.array(FACTORS),
    "Series by name": pd.Series(FACTORS, index=NAMES)[::-1],
    "some by name": pd.Series({"age": 2.0, "dose": np.inf, "height": 0.0}),
    "dict": dict(zip(NAMES, FACTORS)),
    "partial dict": {"dose": np.inf, "age": 2, "height": 0},
}

NOT_COPIED = {
    "an F-ordered array": lambda X: X,
    "a read-only array": read_only,
    "a frame around an F-ordered array": lambda X: pd.DataFrame(X, copy=False),
}


@table(LEGAL_X, "form")
def test_the_form_of_the_design_does_not_matter(form, X, y):
    given = form(X.copy(order="F"))
    before = snapshot(given)
    path = ncvpath(given, y, nlambda=8)
    assert_same_path(path, ncvpath(X, y, nlambda=8))
    assert snapshot(given) == before
    assert path.X is given


@table(LEGAL_Y, "form")
def test_the_form_of_the_response_does_not_matter(form, X, y):
    given = form(y.copy())
    before = snapshot(given)
    assert_same_path(ncvpath(X, given, nlambda=8), ncvpath(X, y, nlambda=8))
    assert snapshot(given) == before


@pytest.mark.parametrize("dtype", [int, bool, "Int64", "boolean"])
def test_a_whole_valued_response_may_have_any_dtype(dtype, X, y):
    given = pd.Series(y > 0.5).astype(dtype)
    plain = (y > 0.5).astype(float)
    with pytest.warns(UserWarning, match="two values, 0 and 1.*family='binomial'"):
        paths = [ncvpath(X, response, nlambda=8) for response in (given, plain)]
    assert_same_path(*paths)


@table(LEGAL_WEIGHTS, "weights")
def test_the_form_and_the_sum_of_weights_do_not_matter(weights, X, y):
    path = ncvpath(X, y, weights=weights, nlambda=8)
    assert_same_path(path, ncvpath(X, y, weights=WHOLE, nlambda=8))


@table(LEGAL_FACTORS, "factor")
def test_factors_go_by_position_or_by_name(factor, X, y):
    path = ncvpath(frame(X), y, penalty_factor=factor, nlambda=8)
    np.testing.assert_array_equal(path.penalty_factor, FACTORS)
    assert_same_path(path, ncvpath(X, y, penalty_factor=FACTORS, nlambda=8))


@pytest.mark.parametrize(
    "factor",
    [{"x1": 0, "x3": 2, "x4": np.inf}, pd.Series(FACTORS)],
    ids=["dict with the names given to an array", "Series without names"],
)
def test_factors_for_an_array_go_by_its_own_names_or_by_position(factor, X, y):
    path = ncvpath(X, y, penalty_factor=factor, nlambda=3)
    np.testing.assert_array_equal(path.penalty_factor, FACTORS)


def test_an_array_gets_numbered_names_and_a_frame_keeps_its_own(X, y):
    assert ncvpath(X, y, nlambda=2).feature_names == ("x1", "x2", "x3", "x4")
    assert ncvpath(frame(X), y, nlambda=2).feature_names == tuple(NAMES)
    named = ncvpath(X, y, nlambda=2, feature_names=pd.Index(NAMES))
    assert named.feature_names == tuple(NAMES)
    assert ncvpath(pd.DataFrame(X), y, nlambda=2).feature_names == tuple("0123")


@table(NOT_COPIED, "form")
def test_a_design_that_is_already_right_is_not_copied(form, X, y):
    given = form(X)
    checked = clean(given, y).X
    assert np.shares_memory(checked, X)
    assert checked.flags.f_contiguous


def test_a_memory_mapped_design_is_not_copied_and_gives_the_same(tmp_path, X, y):
    X.T.tofile(tmp_path / "X.bin")
    mapped = np.memmap(tmp_path / "X.bin", float, "r", shape=(N, P), order="F")
    assert np.shares_memory(clean(mapped, y).X, mapped)
    assert_same_path(ncvpath(mapped, y, nlambda=8), ncvpath(X, y, nlambda=8))


@pytest.mark.parametrize("order", ["C", "F"])
def test_success_leaves_all_inputs_and_their_flags_alone(order, X, y):
    inputs = dict(
        X=np.array(X, order=order), y=y, weights=WHOLE.copy(),
        penalty_factor=np.array(FACTORS), lambdas=np.array([0.01, 0.3, 0.1]),
        feature_names=list(NAMES),
    )
    before = snapshot(*inputs.values())
    ncvpath(**inputs)
    assert snapshot(*inputs.values()) == before
    assert all(
        value.flags.writeable
        for value in inputs.values() if isinstance(value, np.ndarray)
    )


def test_the_path_does_not_change_when_the_factors_given_to_it_do(X, y):
    factor, lambdas = np.array(FACTORS), np.array([0.3, 0.1])
    path = ncvpath(X, y, penalty_factor=factor, lambdas=lambdas)
    factor[:], lambdas[:] = 9, 9
    np.testing.assert_array_equal(path.penalty_factor, FACTORS)
    np.testing.assert_array_equal(path.lambdas, [0.3, 0.1])


def test_different_indexes_are_matched_by_position_with_a_warning():
    X, y, _ = simulate(40, 12, random_state=1)
    with pytest.warns(UserWarning, match="matched by position"):
        path = ncvpath(X, y.set_axis(y.index[::-1]))
    np.testing.assert_array_equal(path.coef(), ncvpath(X, y).coef())
