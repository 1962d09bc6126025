"""Which lines of a path are named."""

import numpy as np

from ..inputs.checks import count, entries
from ..runtime.messages import brief, similar

RULE = "how many, names of features, True (all) or False"


def read_label(label, names):
    """How many to name (None: all), or the positions of those asked for by name."""
    if isinstance(label, (bool, np.bool_)):
        return (None if label else 0), None
    if isinstance(label, str):
        return None, positions([label], names)
    if hasattr(label, "__iter__"):
        return None, positions(entries("label", label, RULE), names)
    try:
        return count("label", label, 0), None
    except ValueError:
        raise ValueError(f"label must be {RULE}; got label={brief(label)}") from None


def positions(wanted, names):
    """Where features are, by name."""
    place = {name: j for j, name in enumerate(names)}
    for name in wanted:
        if str(name) not in place:
            near = similar(str(name), names)
            raise ValueError(
                f"label must be {RULE}; there is no feature {brief(name)}{near}"
            )
    return np.array([place[str(name)] for name in wanted], dtype=int)


def drawn_features(beta, wanted):
    """The features that are ever nonzero, or asked for, and their rows."""
    enters = np.zeros(beta.shape[0], dtype=bool)
    enters[beta.indices] = True
    if wanted is not None:
        enters[wanted] = True
    return np.flatnonzero(enters), beta if enters.all() else beta[enters]


def named_rows(heights, last, features, most, wanted):
    """Rows to name: those asked for, or the largest at the end, ties by their peak."""
    if wanted is not None:
        return np.searchsorted(features, wanted)
    peak = np.zeros(last.size)
    np.maximum.at(peak, heights.indices, np.abs(heights.data))
    order = np.lexsort((-peak, -np.abs(last)))
    return order if most is None else order[:most][np.abs(last[order[:most]]) > 0]


def largest(rows, last, room):
    """Of the rows to name, those of the largest coefficients, if there is no room for
    all; one place is then for saying so."""
    if rows.size <= room:
        return rows
    order = np.argsort(-np.abs(last[rows]), kind="stable")
    return rows[np.sort(order[: max(room - 1, 1)])]
