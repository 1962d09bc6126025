"""Who is held out when: folds drawn at random, or read from what the user brings."""

import heapq
from typing import NamedTuple

import numpy as np

from ..inputs.checks import count, dimensions, entries, finite, one_per_row, real_array
from ..inputs.labels import label_codes
from ..inputs.settings import check_random_state
from ..inputs.survival import looks_like_survival, survival_times
from ..runtime.messages import brief

KINDS_OF_FOLDS = (
    "one integer label per row, pairs (train, test) or a scikit-learn splitter"
)


class Splits(NamedTuple):
    """Who is fitted and who is held out, fold by fold."""

    labels: np.ndarray | None  # fold of each row, 0..K-1; None: not each row once
    train: list[np.ndarray]  # K masks of length n
    test: list[np.ndarray]  # K sorted arrays of row numbers


def assign_folds(
    n, nfolds=10, random_state=None, groups=None, y=None
) -> np.ndarray:
    """Deal rows out to folds at random.

    Parameters
    ----------
    n : int
        Rows.
    nfolds : int
        Folds, between 2 and n; nfolds=n leaves one row out at a time.
    random_state : int or numpy Generator, optional
        The global random state is never touched.
    groups : array-like of length n, optional
        Rows of the same group share a fold. The largest groups are dealt out first,
        each to the fold with the fewest rows so far; groups of equal size come in
        random order.
    y : array-like of length n, optional
        The response: every fold gets its share of each of two classes, or of events if
        y is survival data (status in the last column, or in the boolean field of a
        structured array). Any other y changes nothing. With groups, those with events
        (or rows of the second class) are dealt out first, each to the fold with the
        fewest of these.

    Returns
    -------
    labels : ndarray
        The fold of each row, 0 to nfolds - 1. No fold is empty; without groups, fold
        sizes differ by one at most, and so do the rows of a class.

    Examples
    --------
    >>> import numpy as np
    >>> from ncvpath import assign_folds
    >>> labels = assign_folds(11, nfolds=3, random_state=1)
    >>> np.bincount(labels)
    array([4, 4, 3])
    >>> assign_folds(6, nfolds=2, groups=["a", "a", "a", "b", "b", "c"])
    array([0, 0, 0, 1, 1, 1])
    >>> y = np.repeat(["well", "ill"], [18, 3])
    >>> np.bincount(assign_folds(21, nfolds=3, y=y)[y == "ill"])
    array([1, 1, 1])
    """
    n, nfolds = count("n", n, 1), count("nfolds", nfolds, 2)
    rng = check_random_state(random_state)
    if nfolds > n:
        raise ValueError(
            f"nfolds must be at most the number of rows, n={n}; got nfolds={nfolds}"
        )
    events = None if y is None else _events(y, n)
    if groups is None:
        return _deal_rows(n, nfolds, rng, events)
    names, codes = _number_groups(groups, n)
    if len(names) < nfolds:
        raise ValueError(
            f"groups must be at least as many as folds, nfolds={nfolds}; got "
            f"{len(names)} distinct group(s)"
        )
    sizes = np.bincount(codes)
    of_events = codes[:0] if events is None else codes[events]
    in_groups = np.bincount(of_events, minlength=sizes.size)
    return _deal_groups(sizes, in_groups, nfolds, rng)[codes]


def _events(y, n):
    """Which rows have the event, or are of the second of two classes; else None."""
    if looks_like_survival(y):
        status = survival_times(y, n)[2]
        return status > 0 if 0 < status.sum() < n else None
    if dimensions("y", y) == 2 and np.shape(y)[1] > 1:
        one_per_row("y", "row per row", len(y), n)
        return None  # counts of both classes
    codes, labels = label_codes("y", y, n)
    return codes == 1 if len(labels) == 2 else None


def _deal_rows(n, nfolds, rng, events):
    """Folds in turn, in random order; class by class, where one leaves off."""
    turns = np.arange(n) % nfolds
    if events is None:
        return rng.permutation(turns)
    labels, first = np.empty(n, dtype=np.int64), np.count_nonzero(events)
    labels[events] = rng.permutation(turns[:first])
    labels[~events] = rng.permutation(turns[first:])
    return labels


def _deal_groups(sizes, events, nfolds, rng):
    """A fold for each group, none empty as long as there are groups enough."""
    shuffled = rng.permutation(sizes.size)
    order = shuffled[np.lexsort((-sizes[shuffled], -events[shuffled]))]
    fold = np.empty(sizes.size, dtype=np.int64)
    so_far = [(0, 0, k) for k in range(nfolds)]  # a heap: events, rows, fold
    for group in order[events[order] > 0]:
        had, rows, k = so_far[0]
        fold[group] = k
        added = had + int(events[group]), rows + int(sizes[group]), k
        heapq.heapreplace(so_far, added)
    by_rows = [(rows, k) for _, rows, k in so_far]
    heapq.heapify(by_rows)
    for group in order[events[order] == 0]:
        rows, k = by_rows[0]
        fold[group] = k
        heapq.heapreplace(by_rows, (rows + int(sizes[group]), k))
    return fold


def read_folds(folds, nfolds, groups, random_state, X, y, events=None) -> Splits:
    """Splits of the rows of X and y, from whatever describes them.

    Parameters
    ----------
    folds : None, array-like of labels, splitter or iterable of pairs
        None: `assign_folds`. Labels: one integer per row; distinct labels, in
        ascending order, are the folds, and labels that start at 0 or 1 must not
        leave a number out. Splitter: an object with `split(X, y, groups)`, as in
        scikit-learn. Pairs: (train, test), each as row numbers from 0 or as a mask;
        rows may be tested never or more than once.
    nfolds, random_state
        For `assign_folds`; ignored when folds are given.
    groups : array-like of length n or None
        No group may be in train and test of the same fold; a splitter receives them.
    X, y
        n rows each; only a splitter looks at more than their number.
    events : array of length n or None
        Whose share every fold should have that is drawn here.
    """
    n = len(y)
    if folds is None:
        return _split_by_label(assign_folds(n, nfolds, random_state, groups, events))
    # Text can be split too, and a class is not yet a splitter.
    can_split = callable(getattr(folds, "split", None))
    if can_split and not isinstance(folds, (str, bytes, type)):
        splits = _read_pairs(folds.split(X, y, groups), n)
    else:
        splits = _read_labels_or_pairs(folds, n)
    if groups is not None:
        _keep_together(splits, *_number_groups(groups, n))
    return splits


def _read_labels_or_pairs(folds, n):
    if isinstance(folds, np.ndarray) and folds.ndim == 2 and folds.dtype != object:
        raise ValueError(
            f"folds must be {KINDS_OF_FOLDS}; got an array of shape {folds.shape}"
        )
    given = entries("folds", folds, KINDS_OF_FOLDS)
    first = given[0] if given else ()
    if isinstance(first, (str, bytes)) or not hasattr(first, "__len__"):
        return _split_by_label(_rank_labels(given, n))
    return _read_pairs(given, n)


def _rank_labels(given, n):
    """Labels 0..K-1 in the order of the user's labels."""
    words = [label for label in given if isinstance(label, (str, bytes))]
    if words:
        raise ValueError(f"folds must be integer labels; got {brief(words[0])}")
    labels = real_array("folds", given)
    if labels.dtype.kind == "b":
        raise ValueError(f"folds must be {KINDS_OF_FOLDS}; got one mask")
    one_per_row("folds", "label per row", labels.size, n)
    finite("folds", labels)
    # Whole floats are welcome: columns of a table often turn integers into them.
    broken = np.flatnonzero(labels % 1)
    if broken.size:
        raise ValueError(f"folds must be integer labels; got {labels[broken[0]]:g}")
    distinct, ranks = np.unique(labels, return_inverse=True)
    if distinct.size < 2:
        raise ValueError(
            f"folds must have two distinct labels at least; got only {int(distinct[0])}"
        )
    if distinct[0] in (0, 1):
        expected = int(distinct[0]) + np.arange(distinct.size)
        gap = np.flatnonzero(distinct != expected)
        if gap.size:
            raise ValueError(
                "folds must not be empty; got no row with label "
                f"{expected[gap[0]]} but some with {int(distinct[-1])}"
            )
    return ranks


def _split_by_label(labels):
    sizes = np.bincount(labels)
    by_fold = np.argsort(labels, kind="stable")  # stable: rows ascend within a fold
    test = np.split(by_fold, np.cumsum(sizes)[:-1])
    return Splits(labels, [labels != k for k in range(sizes.size)], test)


def _read_pairs(pairs, n):
    train, test = [], []
    for number, pair in enumerate(pairs):
        which = f"pair {number} (from 0) of folds"
        try:
            fitted, held_out = pair
        except (TypeError, ValueError):
            raise ValueError(
                f"{which} must be (train, test); got {type(pair).__name__} "
                f"(folds must be {KINDS_OF_FOLDS})"
            ) from None
        fitted = _mask(f"train of {which}", fitted, n)
        held_out = _mask(f"test of {which}", held_out, n)
        both = np.flatnonzero(fitted & held_out)
        if both.size:
            raise ValueError(
                f"train and test of {which} must not overlap; got row {both[0]} in both"
            )
        train.append(fitted)
        test.append(np.flatnonzero(held_out))
    if not test:
        raise ValueError(
            f"folds must be {KINDS_OF_FOLDS}; got nothing "
            "(a generator can be used only once)"
        )
    return Splits(_labels_of_partition(test, n), train, test)


def _mask(name, rows, n):
    """A mask of length n, from a mask or from row numbers."""
    rows = real_array(name, rows)
    if rows.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {rows.shape}")
    if rows.dtype.kind == "b":
        one_per_row(name, "entry per row", rows.size, n)
        mask = rows.copy()
    else:
        mask = _mask_of_numbers(name, rows, n)
    if not mask.any():
        raise ValueError(f"{name} must have a row at least; got none")
    return mask


def _mask_of_numbers(name, rows, n):
    mask = np.zeros(n, dtype=bool)
    if rows.size == 0:
        return mask  # an empty list has dtype float64
    if rows.dtype.kind == "f":
        raise ValueError(f"{name} must be integers or a mask; got dtype {rows.dtype}")
    outside = rows[(rows < 0) | (rows >= n)]
    if outside.size:
        raise ValueError(
            f"{name} must be row numbers from 0 to {n - 1}; got {outside[0]}"
        )
    twice = np.flatnonzero(np.bincount(rows.astype(np.int64), minlength=n) > 1)
    if twice.size:
        raise ValueError(f"{name} must not repeat rows; got row {twice[0]} twice")
    mask[rows] = True
    return mask


def _labels_of_partition(test, n):
    """The fold of each row if each is tested exactly once, or None."""
    rows = np.concatenate(test)
    if rows.size != n or np.unique(rows).size != n:
        return None
    labels = np.empty(n, dtype=np.int64)
    labels[rows] = np.repeat(np.arange(len(test)), [part.size for part in test])
    return labels


def _number_groups(groups, n):
    """The distinct groups in order of appearance, and the number of each row's."""
    given = entries("groups", groups, "one label per row")
    one_per_row("groups", "label per row", len(given), n)
    numbers: dict = {}
    try:
        codes = np.array([numbers.setdefault(e, len(numbers)) for e in given])
    except TypeError as error:
        raise ValueError(f"groups must be one plain label per row; {error}") from None
    names = list(numbers)
    for code, name in enumerate(names):
        if _is_missing(name):
            position = np.flatnonzero(codes == code)[0]
            raise ValueError(
                f"groups must not be missing; got {name} at position {position}"
            )
    return names, codes


def _is_missing(name):
    try:
        return name is None or bool(name != name)  # NaN and NaT differ from themselves
    except TypeError:
        return True  # pandas.NA will not say whether it does


def _keep_together(splits, names, codes):
    """An error that names the first group on both sides of a split."""
    for k, (train, test) in enumerate(zip(splits.train, splits.test)):
        torn = codes[test][np.isin(codes[test], codes[train])]
        if torn.size:
            raise ValueError(
                "folds must keep each group together; got group "
                f"{str(names[torn[0]])!r} in train and test of fold {k} (from 0)"
            )
