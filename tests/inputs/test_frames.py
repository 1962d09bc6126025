"""Tables at the door: pandas in all its kinds, polars, pyarrow, and their names."""

import datetime
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from ncvpath import NcvPath, cv_ncvpath, ncvpath
from ncvpath.inputs.checks import matrix
from ncvpath.inputs.data import match_columns

N, NAMES = 24, list("abcd")
RNG = np.random.default_rng(8)
# Zeros and ones, which every type holds exactly.
BITS = np.asfortranarray(RNG.integers(0, 2, (N, 4)).astype(float))
Y = BITS @ [3.0, -2.0, 1.0, 0.0] + RNG.standard_normal(N)
BARE = ncvpath(BITS, Y, nlambda=6)
DAYS = [datetime.date(2001, 1, day + 1) for day in range(N)]


def frame(**columns):
    return pd.DataFrame(BITS, columns=NAMES).assign(**columns)


def polars(**columns):
    library = pytest.importorskip("polars", reason="polars is not installed")
    return library.DataFrame(BITS, schema=NAMES).with_columns(
        **{name: library.Series(values) for name, values in columns.items()}
    )


def arrow(**columns):
    library = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    plain = {name: BITS[:, j].copy() for j, name in enumerate(NAMES)}
    return library.table(plain | columns)


def arrow_backed(**types):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return frame().astype(types or "float64[pyarrow]")


def labelled(names):
    return lambda: frame().set_axis(names, axis=1)


def xarray():
    library = pytest.importorskip("xarray", reason="xarray is not installed")
    return library.DataArray(BITS, dims=("row", "column"))


def table(cases, names):
    return pytest.mark.parametrize(names, cases.values(), ids=cases.keys())


# ---- what is let in, and under which names -------------------------------------------

PAIRS = pd.MultiIndex.from_product([["u", "v"], [1, 2]])
LEGAL = {
    "whole names": (labelled([3, 1, 2, 0]), ("3", "1", "2", "0")),
    "names of all kinds": (
        labelled([None, 1.5, "1", ("a", 2)]), ("None", "1.5", "1", "('a', 2)")
    ),
    "dates for names": (
        labelled(pd.date_range("2001-01-01", periods=4)),
        tuple(f"2001-01-0{day} 00:00:00" for day in range(1, 5)),
    ),
    "names we look for in other things": (
        labelled(["dask", "tocsc", "column_names", "select"]),
        ("dask", "tocsc", "column_names", "select"),
    ),
    "two levels": (
        labelled(PAIRS), ("('u', 1)", "('u', 2)", "('v', 1)", "('v', 2)")
    ),
    "float32": (lambda: frame().astype("float32"), tuple(NAMES)),
    "int8": (lambda: frame().astype("int8"), tuple(NAMES)),
    "short types": (
        lambda: frame().astype({"a": "int8", "b": "float32", "c": bool}), tuple(NAMES)
    ),
    "big-endian": (lambda: pd.DataFrame(BITS.astype(">f4")), tuple("0123")),
    "arrow-backed": (arrow_backed, tuple(NAMES)),
    "arrow-backed in part": (
        lambda: arrow_backed(a="int8[pyarrow]", c="bool[pyarrow]"), tuple(NAMES)
    ),
    "polars": (polars, tuple(NAMES)),
    "polars of several types": (
        lambda: polars(a=BITS[:, 0] > 0, b=BITS[:, 1].astype(np.int8)), tuple(NAMES)
    ),
    "pyarrow": (arrow, tuple(NAMES)),
    "pyarrow of several types": (
        lambda: arrow(a=BITS[:, 0] > 0, d=BITS[:, 3].astype(np.int16)), tuple(NAMES)
    ),
    "xarray": (xarray, ("x1", "x2", "x3", "x4")),
}


@table(LEGAL, "make, names")
def test_every_kind_of_table_gives_the_same_path_and_predictions(make, names):
    given = make()
    path = ncvpath(given, Y, nlambda=6)
    np.testing.assert_array_equal(path.beta.toarray(), BARE.beta.toarray())
    assert path.feature_names == names
    assert path.coef().index.tolist() == ["(Intercept)", *names]
    np.testing.assert_allclose(path.predict(given), BARE.predict(BITS), rtol=1e-12)


@pytest.mark.parametrize("make", [frame, polars, arrow])
def test_columns_of_every_table_are_matched_by_name(make):
    path = ncvpath(frame(), Y, nlambda=6)
    more = make(z=np.full(N, np.nan))
    order = ["z", "d", "b", "a", "c"]
    turned = more.select(order) if hasattr(more, "select") else more[order]
    np.testing.assert_allclose(path.predict(turned), BARE.predict(BITS), rtol=1e-12)


def test_a_frame_with_a_name_twice_is_matched_in_one_pass():
    """The names were counted once for each: two minutes for 100,000 columns."""
    names = tuple(f"x{j}" for j in range(100_000))
    X = pd.DataFrame(np.zeros((1, 100_002)), columns=[*names[::-1], "spare", "spare"])
    begin = time.process_time()
    found = match_columns(X, names)
    assert time.process_time() - begin < 5
    assert tuple(found.columns) == names
    X.columns = [*names[::-1], "x3", "spare"]
    with pytest.raises(ValueError, match="X must have column 'x3' once; got it twice"):
        match_columns(X, names)


def test_a_frame_in_order_is_not_copied_for_predictions():
    X = frame()
    assert match_columns(X, tuple(NAMES)) is X


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_a_frame_of_short_numbers_is_not_expanded(dtype):
    X = frame().astype(dtype)
    values = matrix("X", X)
    assert values.dtype == dtype
    assert np.shares_memory(values, X.to_numpy())


def test_a_frame_of_mixed_types_takes_the_shortest_that_holds_them_all():
    assert matrix("X", frame().astype({"a": "int16"}).astype(
        {"b": "float32", "c": "float32", "d": bool}
    )).dtype == np.float32
    assert matrix("X", frame().astype("float32").astype({"a": int})).dtype == float


def test_factors_go_by_names_that_are_no_strings():
    X = labelled(PAIRS)()
    factor = pd.Series([2.0, 0.0], index=PAIRS[[2, 0]])
    path = ncvpath(X, Y, nlambda=4, penalty_factor=factor)
    assert path.penalty_factor.tolist() == [0.0, 1.0, 2.0, 1.0]
    by_number = ncvpath(pd.DataFrame(BITS), Y, nlambda=4, penalty_factor={0: 0, 2: 2})
    np.testing.assert_array_equal(path.beta.toarray(), by_number.beta.toarray())


def test_names_that_were_no_strings_survive_a_file(tmp_path):
    path = ncvpath(labelled(PAIRS)(), Y, nlambda=4)
    path.save(tmp_path / "path.npz")
    assert NcvPath.load(tmp_path / "path.npz").feature_names == path.feature_names


# ---- what is refused -----------------------------------------------------------------

REFUSED = {
    "equal names": (labelled(list("abca")), "column names of X must be .*'a' twice"),
    "names equal as text": (labelled([1, "1", 2, 3]), "distinct as text; got '1' twi"),
    "times with a zone": (
        lambda: frame(b=pd.date_range("2001", periods=N, tz="Europe/Berlin")),
        "column 'b' has dtype datetime64.*Europe/Berlin",
    ),
    "spans of time": (
        lambda: frame(b=pd.to_timedelta(range(N), "s")), "column 'b' has .*timedelta64"
    ),
    "periods": (
        lambda: frame(b=pd.period_range("2001", periods=N, freq="D")),
        "column 'b' has dtype period",
    ),
    "missing in a nullable column": (
        lambda: frame(c=pd.array([None] + [True] * (N - 1), dtype="boolean")),
        "X must be finite; column 'c' contains nan",
    ),
    "missing in arrow": (
        lambda: arrow_backed().assign(
            c=pd.array([1, None] * (N // 2), dtype="int64[pyarrow]")
        ),
        "X must be finite; column 'c' contains nan",
    ),
    "text in arrow": (
        lambda: arrow_backed().assign(c=pd.array(["m"] * N, dtype="string[pyarrow]")),
        "X must be numeric; column 'c' has dtype string",
    ),
    "times in arrow": (
        lambda: arrow_backed().assign(
            c=pd.array(pd.date_range("2001", periods=N, tz="UTC")).astype(
                "timestamp[ns, UTC][pyarrow]"
            )
        ),
        "X must be numeric; column 'c' has dtype timestamp",
    ),
    "days in polars, which it would count": (
        lambda: polars(c=DAYS), "X must be numeric; column 'c' has dtype Date"
    ),
    "text in polars": (
        lambda: polars(c=["m"] * N), "column 'c' has dtype (String|Utf8)"
    ),
    "missing in polars": (
        lambda: polars(c=[None] + [1] * (N - 1)), "column 'c' contains nan"
    ),
    "polars not yet computed": (lambda: polars().lazy(), "LazyFrame .call its collect"),
    "days in pyarrow": (lambda: arrow(c=DAYS), "column 'c' has dtype date32"),
    "text in pyarrow": (lambda: arrow(c=["m"] * N), "column 'c' has dtype string"),
    "missing in pyarrow": (
        lambda: arrow(c=[None] + [1] * (N - 1)), "column 'c' contains nan"
    ),
}


@table(REFUSED, "make, message")
def test_columns_that_are_no_numbers_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        ncvpath(make(), Y)


class Stubborn:
    """An array of another library, which will not become one of numpy's."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach() first")


def test_what_another_library_says_against_it_is_passed_on():
    with pytest.raises(ValueError, match=r"X must be numeric; call detach\(\) first"):
        ncvpath(Stubborn(), Y)


def test_equal_names_are_let_in_under_others():
    X = labelled(list("aabb"))()
    path = ncvpath(X, Y, nlambda=6, feature_names=NAMES)
    assert path.feature_names == tuple(NAMES)
    np.testing.assert_array_equal(path.predict(X.to_numpy()), BARE.predict(BITS))
    with pytest.raises(ValueError, match="X must have the columns of the fit.*array"):
        path.predict(X)


# ---- rows go by position -------------------------------------------------------------

SHUFFLED = RNG.permutation(N)
UNLIKE = {
    "y": dict(y=pd.Series(Y, index=SHUFFLED)),
    "y in a frame": dict(y=pd.DataFrame({"y": Y}, index=SHUFFLED)),
    "weights": dict(weights=pd.Series(np.ones(N), index=SHUFFLED)),
}


@table(UNLIKE, "given")
def test_different_indexes_are_told_where_the_user_called(given):
    (name,) = given
    with pytest.warns(UserWarning, match=f"X and {name} have different") as seen:
        path = ncvpath(frame(), **dict(y=Y, nlambda=6) | given)
    assert seen[0].filename == __file__
    np.testing.assert_allclose(path.beta.toarray(), BARE.beta.toarray(), atol=1e-12)


def test_indexes_of_y_and_weights_are_compared_where_x_has_none():
    y, weights = pd.Series(Y), pd.Series(np.ones(N), index=SHUFFLED)
    with pytest.warns(UserWarning, match="y and weights have different indexes"):
        ncvpath(BITS, y, weights=weights, nlambda=3)


@pytest.mark.parametrize("name", ["folds", "groups"])
def test_indexes_of_folds_and_groups_are_compared(name):
    labels = pd.Series(np.arange(N) % 3, index=SHUFFLED)
    with pytest.warns(UserWarning, match=f"X and {name} have different") as seen:
        cv_ncvpath(frame(), Y, nlambda=3, nfolds=3, **{name: labels})
    assert seen[0].filename == __file__


def test_indexes_are_compared_for_residuals_of_other_data():
    path = ncvpath(frame(), Y, nlambda=3)
    with pytest.warns(UserWarning, match="X and y have different indexes"):
        path.residuals(X=frame(), y=pd.Series(Y, index=SHUFFLED))


def test_an_index_out_of_order_is_no_reason_to_warn_if_all_have_it():
    X, y = frame().set_axis(SHUFFLED), pd.Series(Y, index=SHUFFLED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = ncvpath(X, y, weights=pd.Series(np.ones(N), index=SHUFFLED), nlambda=6)
        path.residuals(X=X, y=y)
    np.testing.assert_allclose(path.beta.toarray(), BARE.beta.toarray(), atol=1e-12)


def test_predictions_are_arrays_whatever_came():
    path = ncvpath(frame(), pd.Series(Y), nlambda=6)
    for answer in (path.predict(frame(), which=2), path.residuals(which=2)):
        assert type(answer) is np.ndarray
        assert answer.shape == (N,)
