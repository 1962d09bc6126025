"""Folds: drawn at random, or read from labels, pairs and splitters."""

import numpy as np
import pandas as pd
import pytest

from ncvpath.crossval.folds import assign_folds, read_folds

N = 12
LABELS = np.array([2, 0, 1, 1, 0, 2, 2, 0, 1, 1, 0, 2])
ROWS = np.arange(N)


def read(folds, groups=None, n=N, nfolds=4, random_state=1):
    X, y = np.arange(3.0 * n).reshape(n, 3), np.arange(float(n))
    return read_folds(folds, nfolds, groups, random_state, X, y)


def as_indices(labels=LABELS):
    return [
        (np.flatnonzero(labels != k), np.flatnonzero(labels == k))
        for k in np.unique(labels)
    ]


def as_masks(labels=LABELS):
    return [(labels != k, labels == k) for k in np.unique(labels)]


def check_partition(splits, labels=LABELS):
    """The splits are those that the labels describe."""
    np.testing.assert_array_equal(splits.labels, labels)
    assert splits.labels.dtype.kind == "i"
    assert len(splits.train) == len(splits.test) == max(labels) + 1
    for k, (train, test) in enumerate(zip(splits.train, splits.test)):
        np.testing.assert_array_equal(train, np.asarray(labels) != k)
        np.testing.assert_array_equal(test, np.flatnonzero(np.asarray(labels) == k))
        assert train.dtype == bool and test.dtype.kind == "i"


class Splitter:
    """As much of scikit-learn as it takes."""

    def __init__(self, pairs):
        self.pairs = pairs

    def split(self, X, y, groups):
        self.seen = X, y, groups
        yield from self.pairs


# Drawn at random


@pytest.mark.parametrize("n, nfolds", [(2, 2), (10, 10), (11, 3), (103, 10), (50, 7)])
def test_sizes_differ_by_one_at_most(n, nfolds):
    labels = assign_folds(n, nfolds, random_state=1)
    assert labels.shape == (n,) and labels.dtype.kind == "i"
    sizes = np.bincount(labels)
    assert sizes.size == nfolds and np.ptp(sizes) <= 1 and sizes.min() >= 1


def test_ten_folds_unless_told_otherwise():
    assert max(assign_folds(40)) == 9


def test_leave_one_out():
    labels = assign_folds(30, nfolds=30, random_state=2)
    np.testing.assert_array_equal(np.sort(labels), np.arange(30))
    assert (labels != np.arange(30)).any()


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
def test_the_same_seed_gives_the_same_folds(groups):
    one, same, other = (assign_folds(60, 5, s, groups) for s in (7, np.int64(7), 8))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    unseeded = [assign_folds(60, 5, groups=groups) for _ in range(2)]
    assert (unseeded[0] != unseeded[1]).any()


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
def test_a_generator_is_used_and_the_global_one_is_not(groups):
    before = np.random.get_state()
    rng = np.random.default_rng(5)
    first, second = (assign_folds(60, 5, rng, groups) for _ in range(2))
    np.testing.assert_array_equal(first, assign_folds(60, 5, 5, groups))
    assert (first != second).any()
    assign_folds(60, 5, None, groups)
    read(None, n=60, groups=groups, random_state=None)
    after = np.random.get_state()
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


def test_each_row_is_as_likely_in_each_fold():
    rng = np.random.default_rng(3)
    draws = np.array([assign_folds(6, 3, rng) for _ in range(3000)])
    shares = [(draws == k).mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(shares, 1 / 3, atol=0.04)


# Groups


@pytest.mark.parametrize("seed", range(20))
def test_groups_stay_together_and_folds_are_balanced(seed):
    groups = np.random.default_rng(seed).integers(0, 40, 300)
    labels = assign_folds(300, 6, seed, groups)
    for group in np.unique(groups):
        assert np.ptp(labels[groups == group]) == 0
    sizes = np.bincount(labels, minlength=6)
    # Without its last and smallest group, each fold was the smallest at its time.
    for k in range(6):
        last = np.unique(groups[labels == k], return_counts=True)[1].min()
        assert sizes[k] - last <= sizes.min()


def test_groups_of_one_row_are_balanced_as_rows_are():
    labels = assign_folds(23, 5, 1, np.arange(23))
    assert sorted(np.bincount(labels)) == [4, 4, 5, 5, 5]


def test_a_huge_group_has_a_fold_of_its_own():
    groups = ["huge"] * 50 + list("abcdefgh")
    labels = assign_folds(58, 3, 1, groups)
    assert sorted(np.bincount(labels)) == [4, 4, 50]


def test_as_many_groups_as_folds_leave_no_fold_empty():
    labels = assign_folds(20, 4, 1, [0] * 17 + [1, 2, 3])
    assert np.bincount(labels).tolist().count(1) == 3


NAMES = np.array(["u", "v", "w", "x"])[np.arange(20) % 4]


@pytest.mark.parametrize(
    "groups",
    [
        list(NAMES),
        NAMES.astype(object),
        pd.Series(NAMES, index=np.arange(20) + 100),
        pd.Series(NAMES, dtype="category"),
        np.arange(20) % 4,
        np.arange(20) % 4 + 0.5,
        [(i % 4, "tuple") for i in range(20)],
        [(1, "two", 3.5, (4,))[i % 4] for i in range(20)],
        np.array(["2001", "2002", "2003", "2004"], "M8[Y]")[np.arange(20) % 4],
        pd.Series(np.arange(20) % 4, dtype="Int64"),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_groups_may_be_of_any_kind(groups):
    expected = assign_folds(20, 2, 3, np.arange(20) % 4)
    np.testing.assert_array_equal(assign_folds(20, 2, 3, groups), expected)


@pytest.mark.parametrize(
    "missing",
    [
        ["a", None, "b"],
        [1.0, np.nan, 2.0],
        np.array([1.0, np.nan, 2.0]),
        np.array(["2001-01-01", "NaT", "2001-01-02"], "M8[ns]"),
        pd.Series(["a", None, "b"]),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series(["a", None, "b"], dtype="category"),
    ],
    ids=lambda groups: str(getattr(groups, "dtype", "list")),
)
def test_missing_groups_are_refused(missing):
    with pytest.raises(ValueError, match="groups must not be missing; .* position 1"):
        assign_folds(3, 2, groups=missing)


# What assign_folds refuses


@pytest.mark.parametrize("nfolds", [1, 0, -3, 2.0, 2.5, "5", None, True])
def test_nfolds_is_an_integer_of_two_at_least(nfolds):
    with pytest.raises(ValueError, match="nfolds must be an integer of at least 2"):
        assign_folds(20, nfolds)


def test_there_are_not_more_folds_than_rows():
    with pytest.raises(ValueError, match="at most the number of rows, n=9; got nfolds"):
        assign_folds(9)


@pytest.mark.parametrize("n", [0, -1, 5.0, "5"])
def test_n_is_a_positive_integer(n):
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        assign_folds(n)


@pytest.mark.parametrize("state", ["seed", -1, 1.5])
def test_random_state_is_a_seed_or_a_generator(state):
    with pytest.raises(ValueError, match="random_state must be"):
        assign_folds(20, random_state=state)


@pytest.mark.parametrize(
    "groups, message",
    [
        ([1, 2, 3], "groups must have one label per row; got 3 for 4 rows"),
        ([1, 1, 2, 2], "at least as many as folds, nfolds=3; got 2 distinct"),
        ([[1], [2], [3], [4]], "groups must be one plain label per row"),
        (np.zeros((4, 1)), "groups must be one plain label per row"),
        (5, "groups must be one label per row; got int"),
        ("abcd", "groups must be one label per row; got str"),
        ({1, 2, 3, 4}, "groups must be one label per row; got set"),
        (np.array(5), "groups must be one label per row; got ndarray"),
        (np.ma.masked_array(ROWS[:4]), "groups must be one label per row; got Masked"),
        (pd.DataFrame(np.eye(4)), "groups must be one label per row; got DataFrame"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        assign_folds(4, 3, groups=groups)


# Reading: nothing given


@pytest.mark.parametrize("groups", [None, np.arange(N) // 2])
def test_without_folds_they_are_drawn(groups):
    check_partition(read(None, groups), assign_folds(N, 4, 1, groups))


def test_leave_one_out_is_read():
    splits = read(None, nfolds=N)
    assert [test.size for test in splits.test] == [1] * N
    assert [train.sum() for train in splits.train] == [N - 1] * N


def test_drawing_has_the_same_errors():
    with pytest.raises(ValueError, match="number of rows, n=12; got nfolds=13"):
        read(None, nfolds=13)
    with pytest.raises(ValueError, match="groups must have one label per row; got 2"):
        read(None, groups=[1, 2])


@pytest.mark.parametrize("folds", [LABELS, as_indices(), Splitter(as_masks())])
def test_nfolds_and_random_state_are_ignored_when_folds_are_given(folds):
    check_partition(read(folds, nfolds="ignored", random_state="ignored"))


# Reading: labels


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        list(LABELS),
        LABELS.tolist(),
        tuple(LABELS),
        LABELS + 1,
        LABELS - 5,
        10 * LABELS + 7,
        LABELS.astype(np.uint8),
        LABELS + 1.0,
        LABELS.astype(object),
        LABELS.astype(np.int64) + 2**60,
        pd.Series(LABELS + 1, index=ROWS[::-1]),
        pd.Series(LABELS, dtype="Int64"),
        (label for label in LABELS),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')}",
)
def test_labels_are_ranked(labels):
    check_partition(read(labels))


def test_the_users_labels_are_not_changed():
    given = LABELS + 1
    read(given)
    np.testing.assert_array_equal(given, LABELS + 1)


def test_two_rows_may_have_labels():
    check_partition(read([2, 1], n=2), [1, 0])


def with_value(value, at=3):
    labels = [int(label) for label in LABELS]
    labels[at] = value
    return labels


@pytest.mark.parametrize(
    "labels, message",
    [
        (LABELS[:-1], "folds must have one label per row; got 11 for 12 rows"),
        (np.r_[LABELS, 1], "folds must have one label per row; got 13 for 12 rows"),
        (with_value(np.nan), "folds must be finite; got nan at position 3"),
        (with_value(np.inf), "folds must be finite; got inf at position 3"),
        (with_value(0.5), "folds must be integer labels; got 0.5"),
        (with_value("a"), "folds must be integer labels; got"),
        (with_value(None), "folds must be real numbers"),
        (with_value([1, 2]), "folds must be numeric"),
        (with_value("a", at=0), "folds must be integer labels; got"),
        (pd.Series(with_value(None), dtype="Int64"), "folds must be real numbers"),
        (list("abcabcabcabc"), "folds must be integer labels; got"),
        (LABELS == 1, "folds must be one integer label per row.*; got one mask"),
        ([3] * N, "folds must have two distinct labels at least; got only 3"),
        (LABELS + (LABELS > 1), "be empty; got no row with label 2 but some with 3"),
        (1 + LABELS + (LABELS > 0), "got no row with label 2 but some with 4"),
        (1 + LABELS + (LABELS > 1), "got no row with label 3 but some with 4"),
    ],
)
def test_labels_that_make_no_sense_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        read(labels)


def test_labels_that_start_elsewhere_may_leave_numbers_out():
    check_partition(read(LABELS + (LABELS > 1) + 2))


def test_labels_may_agree_with_groups():
    check_partition(read(LABELS, groups=LABELS * 10))
    check_partition(read(LABELS, groups=ROWS))


@pytest.mark.parametrize("kind", [lambda labels: labels, as_indices, as_masks])
def test_groups_must_not_be_torn(kind):
    groups = [f"patient {label}" for label in LABELS]
    groups[4] = "patient 2"  # in fold 0
    with pytest.raises(ValueError, match="keep each group .*'patient 2'.*fold 0"):
        read(kind(LABELS), groups)


@pytest.mark.parametrize("kind", [lambda labels: labels, as_indices])
def test_groups_are_checked_even_when_folds_are_given(kind):
    with pytest.raises(ValueError, match="groups must have one label per row; got 2"):
        read(kind(LABELS), groups=[1, 2])


# Reading: pairs


@pytest.mark.parametrize("make", [as_indices, as_masks])
@pytest.mark.parametrize("kind", [list, tuple, iter, Splitter])
def test_pairs_that_partition_have_labels(make, kind):
    check_partition(read(kind(make())))


@pytest.mark.parametrize(
    "pairs",
    [
        [(train[::-1], test[::-1]) for train, test in as_indices()],
        [[list(train), list(test)] for train, test in as_indices()],
        [(train, np.flatnonzero(test)) for train, test in as_masks()],
        [(pd.Series(train), pd.Index(test)) for train, test in as_indices()],
        np.array(as_masks()),
        (pair for pair in as_indices()),
    ],
    ids=["any order", "lists", "mixed", "pandas", "one array", "generator"],
)
def test_pairs_come_in_many_kinds(pairs):
    check_partition(read(pairs))


def test_the_users_masks_are_copied():
    pairs = as_masks()
    splits = read(pairs)
    pairs[0][0][:] = False
    check_partition(splits)


def test_rows_may_stay_out_of_train():
    pairs = [(train[:2], test) for train, test in as_indices()]
    splits = read(pairs)
    np.testing.assert_array_equal(splits.labels, LABELS)
    assert [train.sum() for train in splits.train] == [2, 2, 2]


@pytest.mark.parametrize(
    "tests",
    [
        ([0, 1], [2, 3]),
        ([0, 1], [1, 2]),
        (range(8), range(4, 12)),
        (range(6), range(5, 11)),  # as many as rows, but one twice and one never
        (range(8),),
    ],
)
def test_pairs_that_do_not_partition_have_no_labels(tests):
    splits = read([(np.setdiff1d(ROWS, test), list(test)) for test in tests])
    assert splits.labels is None
    for train, test, rows in zip(splits.train, splits.test, tests, strict=True):
        np.testing.assert_array_equal(test, rows)
        np.testing.assert_array_equal(train, ~np.isin(ROWS, test))


def test_two_rows_may_have_pairs():
    check_partition(read([([0], [1]), ([1], [0])], n=2), [1, 0])


GOOD = ([0, 1], [2, 3])
MASK = ROWS < 5


@pytest.mark.parametrize(
    "pair, message",
    [
        (([0, 12], [1]), r"train of pair 1 .* from 0 to 11; got 12"),
        (([0], [-1]), r"test of pair 1 .* from 0 to 11; got -1"),
        (([0, 0, 1], [2]), r"train of pair 1 .* not repeat rows; got row 0 twice"),
        (([0], [2, 3, 3]), r"test of pair 1 .* not repeat rows; got row 3 twice"),
        (([], [2]), r"train of pair 1 .* must have a row at least; got none"),
        (([2], np.array([], int)), r"test of pair 1 .* must have a row at least"),
        ((MASK, MASK & False), r"test of pair 1 .* must have a row at least"),
        (([0, 5], [4, 5]), r"train and test of pair 1 .* not overlap; got row 5"),
        ((MASK, ROWS > 3), r"train and test of pair 1 .* not overlap; got row 4"),
        ((MASK[:-1], ~MASK), r"train of pair 1 .* one entry per row; got 11 for 12"),
        (([0.0, 1.0], [2]), r"train of pair 1 .* integers or a mask; got dtype float"),
        (([0], ["a"]), r"test of pair 1 .* must be real numbers"),
        (([0], [[1], [2]]), r"test of pair 1 .* one-dimensional; got shape \(2, 1\)"),
        ((0, 1), r"train of pair 1 .* one-dimensional; got shape \(\)"),
        (([0],), r"pair 1 \(from 0\) of folds must be \(train, test\); got tuple"),
        (([0], [1], [2]), r"pair 1 .* must be \(train, test\); got tuple"),
        (7, r"pair 1 .* must be \(train, test\); got int"),
    ],
)
@pytest.mark.parametrize("kind", [list, iter, Splitter])
def test_pairs_that_make_no_sense_are_refused_by_number(pair, message, kind):
    with pytest.raises(ValueError, match=message):
        read(kind([GOOD, pair]))


def test_a_bare_pair_is_not_a_list_of_pairs():
    with pytest.raises(ValueError, match=r"pair 0 .* must be \(train, test\)"):
        read((np.arange(8), np.arange(8, 12)))


@pytest.mark.parametrize("folds", [[], iter([]), np.array([]), Splitter([])])
def test_no_folds_at_all_are_refused(folds):
    with pytest.raises(ValueError, match="got nothing .a generator can be used"):
        read(folds)


@pytest.mark.parametrize(
    "folds, kind",
    [
        (5, "int"),
        ("010101010101", "str"),
        ({0: 1}, "dict"),
        (set(range(N)), "set"),
        (Splitter, "type"),
        (np.array(3), "ndarray"),
        (np.ma.masked_array(LABELS), "MaskedArray"),
        (pd.DataFrame({"split": LABELS}), "DataFrame"),
    ],
)
def test_other_things_are_not_folds(folds, kind):
    message = f"folds must be one integer label per row.*; got {kind}"
    with pytest.raises(ValueError, match=message):
        read(folds)


# Reading: splitters


def test_a_splitter_receives_what_the_user_gave():
    X, y, groups = pd.DataFrame({"a": ROWS}), pd.Series(ROWS), ROWS // 2
    splitter = Splitter(as_indices(ROWS // 4))
    read_folds(splitter, 10, groups, None, X, y)
    assert splitter.seen[0] is X and splitter.seen[1] is y
    assert splitter.seen[2] is groups


def test_a_splitter_that_parts_groups_is_refused():
    with pytest.raises(ValueError, match="keep each group together; got group '0.0'"):
        read(Splitter(as_indices()), groups=np.zeros(N))


def test_splitters_of_scikit_learn():
    model_selection = pytest.importorskip("sklearn.model_selection")
    splitter = model_selection.KFold(3, shuffle=True, random_state=1)
    splits = read(splitter)
    check_partition(splits, splits.labels)
    for (train, test), mask, rows in zip(
        splitter.split(np.zeros((N, 1))), splits.train, splits.test, strict=True
    ):
        np.testing.assert_array_equal(np.flatnonzero(mask), train)
        np.testing.assert_array_equal(rows, test)
    groups = ROWS // 3
    grouped = read(model_selection.GroupKFold(2), groups)
    assert all(np.ptp(grouped.labels[groups == g]) == 0 for g in range(4))
    shuffled = model_selection.ShuffleSplit(4, test_size=0.5, random_state=1)
    assert read(shuffled).labels is None
    assert read(model_selection.TimeSeriesSplit(3)).labels is None


def test_a_table_is_neither_labels_nor_pairs():
    y = np.arange(6.0)
    X = y[:, None]
    with pytest.raises(ValueError, match=r"folds must be one .* shape \(6, 2\)"):
        read_folds(np.zeros((6, 2), dtype=int), 3, None, None, X, y)
    pairs = np.empty((2, 2), dtype=object)
    pairs[0, 0] = pairs[1, 1] = [0, 1, 2]
    pairs[0, 1] = pairs[1, 0] = [3, 4, 5]
    assert read_folds(pairs, 3, None, None, X, y).labels.tolist() == [1] * 3 + [0] * 3


# Shares of classes and events


def survival(status, entry=False):
    """(time, status) or (start, stop, status), as columns."""
    time = 1.0 + np.arange(len(status))
    columns = [time - 0.5, time, status] if entry else [time, status]
    return np.column_stack(columns)


CLASSES = np.repeat([0, 1], [40, 9])
STRATIFIED = {
    "numbers": CLASSES,
    "truth": CLASSES == 1,
    "text": np.array(["ill", "well"])[1 - CLASSES],
    "objects": np.array(["y", "x"], dtype=object)[CLASSES],
    "Series": pd.Series(CLASSES).map({0: "a", 1: "b"}).astype("category"),
    "one column": CLASSES[:, None],
    "survival": survival(CLASSES),
    "delayed entry": survival(CLASSES, entry=True),
    "frame": pd.DataFrame({"time": 1.0 + np.arange(49), "died": CLASSES == 1}),
    "structured": np.array(
        [(bool(d), 2.0) for d in CLASSES], dtype=[("event", "?"), ("time", "f8")]
    ),
}


@pytest.mark.parametrize("y", STRATIFIED.values(), ids=STRATIFIED.keys())
@pytest.mark.parametrize("nfolds", [2, 4, 10])
def test_each_fold_has_its_share_of_both_classes(y, nfolds):
    labels = assign_folds(49, nfolds, random_state=2, y=y)
    for rows in (labels, labels[CLASSES == 1], labels[CLASSES == 0]):
        assert np.ptp(np.bincount(rows, minlength=nfolds)) <= 1
    other = assign_folds(49, nfolds, random_state=3, y=y)
    assert not np.array_equal(labels, other)


@pytest.mark.parametrize("y", [
    np.arange(49), CLASSES + 2.0 * (np.arange(49) == 3), np.zeros(49),
    np.column_stack([CLASSES + 2, CLASSES]) + 1, survival(np.ones(49)),
])
def test_other_responses_change_nothing(y):
    plain = assign_folds(49, 5, random_state=2)
    assert np.array_equal(assign_folds(49, 5, random_state=2, y=y), plain)


def test_groups_with_events_are_spread_over_folds():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 30, 200)
    y = np.isin(groups, [3, 8, 11, 20])  # in four groups only
    labels = assign_folds(200, 4, random_state=1, groups=groups, y=y)
    assert (np.bincount(labels, y) > 0).all() and np.bincount(labels).size == 4
    for group in np.unique(groups):
        assert np.unique(labels[groups == group]).size == 1


def test_y_must_have_a_value_per_row():
    for y in (CLASSES[1:], survival(CLASSES[1:]), np.ones((48, 2)) + 1):
        with pytest.raises(ValueError, match="y must have one .* per row.*48 for 49"):
            assign_folds(49, 4, y=y)
    with pytest.raises(ValueError, match="y must have one label per row; got float"):
        assign_folds(49, 4, y=1.0)
