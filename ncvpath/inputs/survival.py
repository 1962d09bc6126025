"""Survival times as people have them: arrays, frames, scikit-survival's records."""

import numpy as np

from ..runtime.messages import brief, described
from .checks import real_array
from .frames import chosen_columns, column_names, is_frame

FORMS = (
    "n x 2 (time, status), n x 3 (start, stop, status) or a structured array (a bool "
    "and a float field)"
)
STATUS = "y must have a status of 1 (event) or 0 (censored), after its times; got"
NAMED = (("start", "stop", "status"), ("time", "status"))


def is_survival(y):
    """Whether y can only be survival times: by its fields, or by names of columns."""
    if getattr(getattr(y, "dtype", None), "names", None):
        return True
    return _named_columns(y) is not None


def looks_like_survival(y):
    """Whether y has two or three columns, of which the last is a status."""
    if is_survival(y):
        return True
    try:
        values = np.asarray(y)
    except (TypeError, ValueError):
        return False
    if values.ndim != 2 or values.shape[1] not in (2, 3):
        return False
    status = np.array(values[:, -1].tolist())  # of a frame with numbers beside truth
    return status.dtype.kind in "biuf" and bool(np.isin(status, (0, 1)).all())


def survival_times(y, n):
    """(start or None, stop, status) of n rows, checked."""
    columns = _columns(y)
    for column in columns:
        if column.size != n:
            raise ValueError(
                f"y must have one row per row of X; got {column.size} for {n}"
            )
    *times, status = columns
    names = ("start", "stop") if len(times) == 2 else ("time",)
    for name, values in zip(names, times):
        _check_time(name, values)
    if len(times) == 2:
        _check_order(*times)
    _check_status(status)
    return (None, *times, status)[-3:]


def _columns(y):
    """Two or three real vectors."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names:
        return _fields(y, names)
    positions = _named_columns(y)
    if positions is not None:
        y = chosen_columns(y, positions)
    _refuse_words(y)
    values = real_array("y", y, FORMS)
    if values.ndim != 2 or values.shape[1] not in (2, 3):
        hint = ""
        if values.ndim == 2 and isinstance(y, (list, tuple)) and len(y) in (2, 3):
            hint = " (put its parts side by side, with numpy.column_stack)"
        raise ValueError(
            f"y must be {FORMS} with family='cox'; got shape {values.shape}{hint}"
        )
    return list(values.T.astype(float))


def _fields(y, names):
    """Time and status of scikit-survival's records."""
    kinds = [y.dtype[name].kind for name in names]
    if sorted(kinds) not in (["b", "f"], ["b", "i"], ["b", "u"]) or y.ndim != 1:
        raise ValueError(
            f"y must be {FORMS} with family='cox'; got "
            f"{described(y.dtype)} of shape {y.shape}"
        )
    status = kinds.index("b")
    return [y[names[1 - status]].astype(float), y[names[status]].astype(float)]


def _named_columns(y):
    """Where a table has columns of the agreed names, in any case, or None."""
    names = column_names(y)
    if names is None:
        return None
    names = [name.lower() for name in names]
    for wanted in NAMED:
        if all(names.count(name) == 1 for name in wanted):
            return [names.index(name) for name in wanted]
    return None


def _refuse_words(y):
    """Which word is the event, only the user knows."""
    if not is_frame(y) or not y.shape[1]:
        return
    status = y.iloc[:, -1]
    words = [value for value in status.tolist() if isinstance(value, str)]
    if words:
        raise ValueError(
            f"{STATUS} {brief(words[0])} in column {brief(status.name)} (compare it "
            "with the word for an event)"
        )


def _check_status(status):
    """One or zero, of which R also has two and one."""
    wrong = np.flatnonzero(~np.isin(status, (0, 1)))
    if wrong.size:
        coded = np.isin(status, (1, 2)).all()
        advice = " (if 2 is the event, subtract 1)" if coded else ""
        raise ValueError(f"{STATUS} {status[wrong[0]]:g} at row {wrong[0]}{advice}")


def _check_time(name, values):
    """Finite, and not negative."""
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        raise ValueError(
            f"y must have finite times >= 0; got {name} {values[wrong[0]]:g} at row "
            f"{wrong[0]}"
        )


def _check_order(start, stop):
    """Rows enter before they leave."""
    wrong = np.flatnonzero(start >= stop)
    if wrong.size:
        i = wrong[0]
        raise ValueError(
            f"y must have start < stop; got start {start[i]:g} and stop {stop[i]:g} at "
            f"row {i}"
        )
