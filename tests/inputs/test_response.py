"""Every form of y that people have, and what is refused, in which words."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ncvpath.families import FAMILIES
from ncvpath.families.family import Family
from ncvpath.inputs.response import check_family, check_response

RECORD = [("event", "?"), ("time", "f8")]


def read(family, y, offset=None, strata=None, ties="breslow", n=4, weights=None):
    return check_response(FAMILIES[family], y, offset, strata, ties, n, weights)


def table(cases, names):
    return pytest.mark.parametrize(names, cases.values(), ids=cases.keys())


def says(words, *arguments, **keywords):
    with pytest.raises(ValueError) as caught:
        read(*arguments, **keywords)
    for word in words:
        assert word in str(caught.value)


# ---- the family itself -------------------------------------------------------------


def test_a_family_goes_by_name_or_is_ones_own():
    class Own(Family):
        name = "own"
        loss = residual = curvature = lambda self, y, eta: eta
        mean = lambda self, eta: eta

    own = Own()
    assert check_family(own) is own
    assert check_family("Binomial") is FAMILIES["binomial"]
    for wrong in ("gamma", None, 3, Own):
        with pytest.raises(ValueError, match="must be one of gaussian, bin.*got"):
            check_family(wrong)
    with pytest.raises(ValueError, match="make an object of it"):
        check_family(Own)
    read_own = check_response(own, [1, 2, 2], None, None, "breslow", 3)
    np.testing.assert_array_equal(read_own.y, [1, 2, 2])  # and no word of classes


def test_a_family_without_its_functions_is_refused_at_the_door():
    class Half(Family):
        loss = mean = lambda self, *arguments: 0.0

    with pytest.raises(ValueError, match="Half has no residual, curvature$"):
        check_family(Half())

    class Bound(Half):
        bind = lambda self, response, weights, intercept: None

    assert isinstance(check_family(Bound()), Bound)  # a likelihood needs none of them


# ---- numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("y", [
    [1, 2.5, 3, 4], np.array([[1], [2.5], [3], [4]]), pd.Series([1, 2.5, 3, 4]),
    pd.DataFrame({"y": [1, 2.5, 3, 4]}), pl.Series([1.0, 2.5, 3.0, 4.0]),
])
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_numbers(family, y):
    response = read(family, y)
    np.testing.assert_array_equal(response.y, [1, 2.5, 3, 4])
    assert response.y.dtype == float and response.classes is None
    assert response.offset is None and response.total(np.ones(4)) == 4


@table({
    "zeros and ones": ([0, 1, 1, 0], "0 and 1"),
    "booleans": ([True, False, True, True], "0 and 1"),
    "other values": ([-1.0, -1.0, 2.5, 2.5], "-1 and 2.5"),
}, "y, values")
def test_two_classes_as_numbers_are_fitted_with_a_warning(y, values):
    with pytest.warns(UserWarning, match="family='binomial'") as caught:
        response = read("gaussian", y)
    assert len(caught) == 1 and values in str(caught[0].message)
    np.testing.assert_array_equal(response.y, y)
    assert read("poisson", np.abs(y)).y.size == 4  # counts may well be these


def test_counts_and_constants_are_no_classes():
    for y in ([0, 1, 2, 0], [3, 3, 3, 3]):
        read("gaussian", y)
    read("gaussian", [1, 2], n=2)


SURVIVAL = {
    "an array": np.array([[3.0, 1], [2, 0], [5, 1], [1, 1]]),
    "three columns": [[0, 3.0, 1], [0, 2, 0], [1, 5, 1], [0, 1, 1]],
    "a record": np.array([(True, 3.0), (False, 2.0)] * 2, RECORD),
    "a frame": pd.DataFrame({"Time": [3.0, 2, 5, 1], "STATUS": [1, 0, 1, 1]}),
}


@table(SURVIVAL, "y")
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_survival_is_refused_with_the_family_to_use(family, y):
    says(["y must be", f"family={family!r}", "family='cox'"], family, y)


@table({
    "a record": (SURVIVAL["a record"], ["survival", "family='cox'"]),
    "a frame": (SURVIVAL["a frame"], ["survival", "family='cox'"]),
}, "y, words")
def test_survival_is_not_two_classes(y, words):
    says(words, "binomial", y)


@table({
    "text": (["a", "b", "a", "b"], ["y must be real numbers", "family='binomial'"]),
    "categories": (pd.Categorical(["a", "b", "a", "b"]), ["family='binomial'"]),
    "three words": (["a", "b", "c", "a"], ["y must be real numbers", "dtype"]),
    "too short": ([1, 2, 3], ["one value per row of X", "3 for 4"]),
    "NaN": ([1, np.nan, 3, 4], ["finite", "nan at position 1"]),
    "four columns": (np.ones((4, 4)), ["one-dimensional", "(4, 4)"]),
    "rows of different lengths": ([[1], [1, 2], [1], [1]], ["y must be numeric"]),
}, "y, words")
def test_numbers_that_are_none(y, words):
    says(words, "gaussian", y)


def test_counts_that_cannot_be():
    says(["counts >= 0", "-2 at position 1"], "poisson", [1, -2, 3, 4])
    says(["positive count", "zeros"], "poisson", [0, 0, 0, 0])


# ---- two classes -------------------------------------------------------------------

YES = ["yes", "no", "no", "yes"]
CLASSES = {
    "text": (YES, ("no", "yes"), [1, 0, 0, 1]),
    "an array of text": (np.array(YES), ("no", "yes"), [1, 0, 0, 1]),
    "objects": (np.array(YES, object), ("no", "yes"), [1, 0, 0, 1]),
    "a series": (pd.Series(YES), ("no", "yes"), [1, 0, 0, 1]),
    "a frame": (pd.DataFrame({"y": YES}), ("no", "yes"), [1, 0, 0, 1]),
    "one column": (np.array(YES)[:, None], ("no", "yes"), [1, 0, 0, 1]),
    "polars": (pl.Series(YES), ("no", "yes"), [1, 0, 0, 1]),
    "categories": (
        pd.Categorical(YES, ["yes", "perhaps", "no"]), ("yes", "no"), [0, 1, 1, 0]
    ),
    "a series of categories": (
        pd.Series(pd.Categorical(YES, ["yes", "no"], ordered=True)), ("yes", "no"),
        [0, 1, 1, 0],
    ),
    "a frame of categories": (
        pd.DataFrame({"y": pd.Categorical(YES, ["yes", "no"])}), ("yes", "no"),
        [0, 1, 1, 0],
    ),
    "booleans": ([True, False, False, True], (False, True), [1, 0, 0, 1]),
    "nullable booleans": (
        pd.Series([True, False, False, True], dtype="boolean"), (False, True),
        [1, 0, 0, 1],
    ),
    "0 and 1": ([0, 1, 1, 0], (0, 1), [0, 1, 1, 0]),
    "floats": (np.array([0.0, 1, 1, 0]), (0.0, 1.0), [0, 1, 1, 0]),
    "1 and 2": (pd.Series([1, 2, 2, 1], dtype="Int64"), (1, 2), [0, 1, 1, 0]),
    "-1 and 1": (np.array([-1, 1, 1, -1], np.int8), (-1, 1), [0, 1, 1, 0]),
}


@table(CLASSES, "y, classes, codes")
def test_classes_of_any_kind(y, classes, codes):
    response = read("binomial", y)
    assert response.classes == classes
    assert [type(label) for label in response.classes] == [type(c) for c in classes]
    np.testing.assert_array_equal(response.y, codes)
    assert response.y.dtype == float and response.trials is None


@pytest.mark.parametrize("y", [
    [0.1, 0.5, 0, 1], np.array([0.25, 0.75, 0.25, 0.75]), pd.Series([0.5, 0, 0, 0.5]),
    np.array([0.5, 0.25, 1, 1], np.float32),
])
def test_proportions(y):
    response = read("binomial", y)
    np.testing.assert_array_equal(response.y, y)
    assert response.classes is None and response.trials is None


PAIRS = [[1, 3], [0, 2], [5, 0], [2, 2]]


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_days_are_classes_whatever_their_unit(unit):
    days = np.array(["2021-01-01", "2020-01-01"] * 2, dtype=f"datetime64[{unit}]")
    response = read("binomial", days)
    assert [day.year for day in response.classes] == [2020, 2021]
    assert response.y.tolist() == [1, 0, 1, 0]
    days[3] = "NaT"
    says(["missing", "row 3"], "binomial", days)



@table({
    "an array": (np.array(PAIRS), None), "a list": (PAIRS, None),
    "floats": (np.array(PAIRS, float), None),
    "a frame": (pd.DataFrame(PAIRS, columns=["died", "lived"]), ("died", "lived")),
    "polars": (pl.DataFrame({"died": [1, 0, 5, 2], "lived": [3, 2, 0, 2]}),
               ("died", "lived")),
}, "y, classes")
def test_counts_of_failures_and_successes(y, classes):
    response = read("binomial", y)
    np.testing.assert_array_equal(response.y, [0.75, 1, 0, 0.5])
    np.testing.assert_array_equal(response.trials, [4, 2, 5, 4])
    assert response.classes == classes
    assert response.total(np.ones(response.y.size)) == 15
    np.testing.assert_allclose(
        response.weighted(np.array([0.5, 0.5, 0, 0])), [2 / 3, 1 / 3, 0, 0]
    )


@table({
    "one class": ([1, 1, 1, 1], ["two classes", "only 1"]),
    "one word": (["no"] * 4, ["two classes", "only 'no'"]),
    "three": (["b", "a", "c", "a"], ["two classes", "got 3: 'a', 'b', 'c'"]),
    "beyond one": ([0.5, 1.5, 0, 1], ["proportions in [0, 1]", "1.5 at position 1"]),
    "missing": (["a", None, "b", "a"], ["missing", "row 1"]),
    "NaN": ([0, 1, np.nan, 1], ["missing", "row 2"]),
    "infinite": ([0, 1, np.inf, 1], ["finite", "inf at position 2"]),
    "a missing category": (pd.Categorical(["a", None, "b", "a"]), ["missing", "row 1"]),
    "NA": (pd.Series([1, None, 0, 1], dtype="Int64"), ["missing", "row 1"]),
    "no boolean": (
        pd.Series([True, None, False, True], dtype="boolean"), ["missing", "row 1"]
    ),
    "text beside numbers": (["a", 1, "a", 1], ["can be sorted", "int, str"]),
    "too short": (["a", "b"], ["one label per row of X", "2 for 4"]),
    "short categories": (pd.Categorical(["a", "b"]), ["2 for 4"]),
    "short proportions": ([0.5, 0.2], ["one value per row", "2 for 4"]),
    "a word": ("abba", ["one label per row", "str"]),
    "nothing": (None, ["one label per row", "NoneType"]),
    "three columns": (np.zeros((4, 3)), ["one label per row", "(4, 3)"]),
    "different lengths": ([[1], [1, 2], [1], [1]], ["y must be an array"]),
    "a mask": (np.ma.array([0, 1, 1, 0]), ["masked"]),
    "negative counts": ([[1, 2], [3, -1], [1, 1], [2, 2]],
                        ["counts >= 0", "3 and -1 at row 1"]),
    "no trials": ([[1, 2], [0, 0], [1, 1], [2, 2]], ["not both zero", "row 1"]),
    "NaN counts": ([[1, 2], [np.nan, 0], [1, 1], [2, 2]], ["counts >= 0", "nan"]),
    "short counts": ([[1, 2], [2, 2]], ["one row per row of X", "2 for 4"]),
    "no failures": ([[0, 2], [0, 1], [0, 1], [0, 2]], ["failures and", "only succ"]),
    "no successes": ([[2, 0]] * 4, ["failures and successes", "only failures"]),
    "text in counts": ([["a", "b"]] * 4, ["y must be real numbers"]),
}, "y, words")
def test_classes_that_are_none(y, words):
    says(words, "binomial", y)


def test_a_long_list_of_classes_is_cut_short():
    says(["got 20: 0, 1, 2, 3, 4, 5, 6, 7, ..."], "binomial", list(range(20)), n=20)


def test_a_class_must_be_in_a_row_that_counts():
    weights = np.array([0, 1, 1, 1.0])
    words = ["two classes", "only 1 in rows of positive weight"]
    says(words, "binomial", [0, 1, 1, 1], weights=weights)
    says(["only successes"], "binomial", [[1, 0], [0, 1], [0, 1], [0, 1]],
         weights=weights)
    assert read("binomial", [1, 0, 1, 1], weights=weights).classes == (0, 1)


# ---- survival ----------------------------------------------------------------------

TIMES, STATUS = [3.0, 2, 5, 1], [1, 0, 1, 1]
COX = {
    "columns": np.c_[TIMES, STATUS],
    "a list": [list(pair) for pair in zip(TIMES, STATUS)],
    "names": pd.DataFrame({"Status": STATUS, "TIME": TIMES}),
    "names among others": pd.DataFrame(
        {"id": list("abcd"), "status": STATUS, "time": TIMES}
    ),
    "by position": pd.DataFrame({"days": TIMES, "died": np.array(STATUS, bool)}),
    "a record": np.array(list(zip(np.array(STATUS, bool), TIMES)), RECORD),
    "a record, time first": np.array(
        list(zip(TIMES, np.array(STATUS, bool))), [("t", "f4"), ("d", "?")]
    ),
    "polars": pl.DataFrame({"status": STATUS, "time": list(map(float, TIMES))}),
}


@table(COX, "y")
def test_times_and_status(y):
    response = read("cox", y, ties="efron")
    np.testing.assert_array_equal(response.stop, TIMES)
    np.testing.assert_array_equal(response.y, STATUS)
    assert response.start is None and response.ties == "efron"
    assert response.stop.dtype == response.y.dtype == float


START = [0.0, 1, 2, 0.5]


@pytest.mark.parametrize("y", [
    np.c_[START, TIMES, STATUS],
    pd.DataFrame({"STATUS": STATUS, "Start": START, "Stop": TIMES}),
    pd.DataFrame({"from": START, "to": TIMES, "died": STATUS}),
])
def test_late_entries(y):
    response = read("cox", y)
    np.testing.assert_array_equal(response.start, START)
    np.testing.assert_array_equal(response.stop, TIMES)
    np.testing.assert_array_equal(response.y, STATUS)


def cell(row, column, value):
    """Starts, stops and status with one entry changed."""
    y = np.c_[START, TIMES, STATUS]
    y[row, column] = value
    return y


@table({
    "status 2": (cell(1, 2, 2), ["status of 1", "or 0", "2 at row 1"]),
    "R's status": (np.c_[TIMES, np.add(STATUS, 1)], ["2 at row", "subtract 1"]),
    "no status": (cell(1, 2, np.nan), ["status of 1", "nan at row 1"]),
    "status first": (np.c_[STATUS, TIMES], ["status of 1", "after its times"]),
    "a negative time": (cell(3, 1, -1), ["finite times >= 0", "stop -1 at row 3"]),
    "NaN": (cell(0, 0, np.nan), ["finite times >= 0", "start nan at row 0"]),
    "infinite": (np.c_[[1, 2, np.inf, 3], STATUS], ["time inf at row 2"]),
    "no duration": (cell(1, 0, 2), ["start < stop", "start 2 and stop 2 at row 1"]),
    "no event": (np.c_[TIMES, np.zeros(4)], ["an event", "4 censored rows"]),
    "times alone": (TIMES, ["(time, status)", "family='cox'", "(4,)"]),
    "four columns": (np.ones((4, 4)), ["(time, status)", "(4, 4)"]),
    "a pair": ((TIMES, STATUS), ["shape (2, 4)", "column_stack"]),
    "too short": ([[1, 1], [2, 0]], ["one row per row of X", "2 for 4"]),
    "text": (
        pd.DataFrame({"status": ["alive", "dead"] * 2, "time": TIMES}),
        ["status of 1", "'alive' in column 'status'", "compare it with the word"],
    ),
    "floats only": (
        np.array([(1.0, 1.0)] * 4, [("t", "f8"), ("d", "f8")]), ["structured array"]
    ),
    "nothing": (None, ["y must be n x 2", "NoneType"]),
}, "y, words")
def test_survival_that_is_none(y, words):
    says(words, "cox", y)


def test_an_event_must_be_in_a_row_that_counts():
    y = np.c_[TIMES, [1, 0, 0, 0]]
    says(["event", "positive weight", "3 censored"], "cox", y,
         weights=np.array([0, 1, 1, 1.0]))


@table({
    "text": (list("baba"), ("a", "b"), [1, 0, 1, 0]),
    "numbers": (np.array([7, 7, 3, 7]), (3, 7), [1, 1, 0, 1]),
    "categories": (pd.Categorical(list("abab"), list("ba")), ("b", "a"), [1, 0, 1, 0]),
    "a series": (pd.Series([True, True, False, True]), (False, True), [1, 1, 0, 1]),
}, "strata, labels, codes")
def test_strata_of_any_kind(strata, labels, codes):
    response = read("cox", COX["columns"], strata=strata)
    assert response.strata_labels == labels
    np.testing.assert_array_equal(response.strata, codes)


def test_strata_without_an_event_are_named():
    with pytest.warns(UserWarning, match="without an event .*: 'b'$"):
        response = read("cox", COX["columns"], strata=list("abaa"))
    np.testing.assert_array_equal(response.strata, [0, 1, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read("cox", COX["columns"], strata=list("aaaa"))


@table({
    "missing": (["a", None, "a", "b"], ["strata must not have missing", "row 1"]),
    "too few": (["a", "b"], ["strata must have one label per row of X", "2 for 4"]),
    "columns": (np.ones((4, 2)), ["strata must have one label per row", "(4, 2)"]),
}, "strata, words")
def test_strata_that_are_none(strata, words):
    says(words, "cox", COX["columns"], strata=strata)


# ---- what goes with y --------------------------------------------------------------

RESPONSES = {
    "gaussian": [1.0, 2, 3, 4], "binomial": YES, "poisson": [1, 0, 2, 3],
    "cox": COX["columns"],
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("offset", [[1, 2, 3, 4], pd.Series([1.0, 2, 3, 4])])
def test_offsets(family, offset):
    response = read(family, RESPONSES[family], offset=offset)
    np.testing.assert_array_equal(response.offset, [1, 2, 3, 4])


@pytest.mark.parametrize("family", FAMILIES)
@table({
    "too short": ([1, 2, 3], ["offset must have one value per row", "3 for 4 rows"]),
    "NaN": ([1, 2, np.nan, 4], ["offset must be finite", "nan at position 2"]),
    "text": (list("abcd"), ["offset must be real numbers"]),
}, "offset, words")
def test_offsets_that_are_none(family, offset, words):
    says(words, family, RESPONSES[family], offset=offset)


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
def test_ties_and_strata_belong_to_cox(family):
    y = RESPONSES[family]
    says(["strata must not be given", "'cox'", family], family, y, strata=[1, 1, 2, 2])
    says(["ties must not be given", "'cox'", family], family, y, ties="efron")
    says(["ties must be one of breslow, efron", "'exact'"], "cox", COX["columns"],
         ties="exact")


def test_what_users_give_is_not_written_to():
    for family, y in RESPONSES.items():
        y = np.array(y)
        before, offset = y.copy(), np.zeros(4)
        response = read(family, y, offset=offset)
        response.y[:] = response.offset[:] = 9
        np.testing.assert_array_equal(y, before)
        assert not offset.any()


@pytest.mark.parametrize("parent", [Family, type(FAMILIES["gaussian"])])
def test_a_loss_of_ones_own_is_not_solved_as_least_squares(parent):
    class Huber(parent):
        name, is_quadratic = "huber", True

        def loss(self, y, eta):
            return np.abs(y - eta)

        def residual(self, y, eta):
            return np.sign(y - eta)

        def curvature(self, y, eta):
            return np.ones(np.shape(y - eta))

        def mean(self, eta):
            return eta

    with pytest.raises(ValueError, match="is_quadratic False, where its loss is its"):
        check_family(Huber())


@pytest.mark.parametrize("family", ["binomial", "poisson", "cox"])
@pytest.mark.parametrize("size", [1e16, -1e308])
def test_an_offset_that_leaves_no_digits_is_refused(family, size):
    y = [[1, 1], [2, 1], [3, 0]] if family == "cox" else [0, 1, 1]
    with pytest.raises(ValueError, match=r"offset must be at most 1e\+10 in size"):
        check_response(
            check_family(family), y, np.full(3, size), None, "breslow", 3
        )
