"""Labels of any kind, one per row: classes and strata as codes."""

import numpy as np

from ..runtime.messages import brief, described
from .checks import refuse_masks
from .frames import is_frame, is_series


def is_categorical(values):
    """Whether pandas knows the categories and their order."""
    return hasattr(getattr(values, "dtype", None), "categories") and (
        is_series(values) or hasattr(values, "codes")
    )


def one_column(values):
    """The column of a frame that has no other, or the values as they are."""
    if is_frame(values) and values.shape[1] == 1:
        return values.iloc[:, 0]
    return values


def label_codes(name, values, n):
    """Each row's place among the labels that occur, and these: in the order of their
    categories, or sorted."""
    values = one_column(values)
    codes, labels = _categories(values) if is_categorical(values) else (None, None)
    if labels is None:
        values = label_array(name, values)
        codes, labels = _sorted(name, values)
    if codes.size != n:
        raise ValueError(
            f"{name} must have one label per row of X; got {codes.size} for {n}"
        )
    if codes.min() < 0:
        refuse_missing(name, int(codes.argmin()))
    return codes, labels


def refuse_missing(name, position):
    """The error for a label that is not there."""
    raise ValueError(f"{name} must not have missing values; got one at row {position}")


def as_array(name, values, dtype=None):
    """The array that numpy makes of it, if it can."""
    try:
        return np.asarray(values, dtype)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} must be an array; {error}") from None


def label_array(name, values):
    """A vector of labels, none of which is missing."""
    refuse_masks(name, values)
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(f"{name} must have one label per row; got {described(values)}")
    given = values
    if isinstance(values, (list, tuple)):
        # numpy would make text of numbers beside text.
        alike = len({isinstance(value, str) for value in values}) < 2
        values = as_array(name, values, None if alike else object)
    values = as_array(name, values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.names:
        raise ValueError(
            f"{name} must have one label per row; got {type(given).__name__} of shape "
            f"{values.shape}"
        )
    if values.dtype.kind in "mM":
        # To Python nanoseconds are numbers, and a missing one is no exception.
        values = values.astype(f"{values.dtype.kind}8[us]")
    # NaN, NaT and the like are not equal to themselves; pandas' NA is not comparable.
    missing = [
        i for i, value in enumerate(values.tolist())
        if value is None or type(value).__name__ in ("NAType", "NaTType")
        or value != value
    ]
    if missing:
        refuse_missing(name, missing[0])
    return values


def _categories(values):
    """Codes and labels of the categories that occur."""
    categorical = values.cat if is_series(values) else values
    codes = np.asarray(categorical.codes).astype(int)
    used = np.unique(codes[codes >= 0])
    labels = tuple(categorical.categories[used].tolist())
    place = np.full(len(categorical.categories) + 1, -1)  # the last for missing ones
    place[used] = np.arange(used.size)
    return place[codes], labels


def _sorted(name, values):
    try:
        labels, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise ValueError(
            f"{name} must have labels that can be sorted; got {', '.join(kinds)}"
        ) from error
    return codes.reshape(-1), tuple(labels.tolist())


def listed(labels, most=8):
    """The labels, as a message names them."""
    text = ", ".join(brief(label) for label in labels[:most])
    return text if len(labels) <= most else f"{text}, ..."
