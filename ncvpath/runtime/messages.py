"""What messages to the user share: values in short, and the line that is to blame."""

import sys
import warnings
from collections.abc import Iterator, Mapping, Set
from contextvars import ContextVar
from difflib import get_close_matches
from itertools import islice
from numbers import Real

import numpy as np

LONGEST = 150  # letters of a value
SEARCHED = 1 << 20  # entries among which the one to blame is looked for
# Of a warning's text and category: what those say of it who call us for the user.
REWORD = ContextVar("REWORD", default=lambda *warning: warning)


def brief(value):
    """The value as a message shows it."""
    if isinstance(value, (np.str_, np.number, np.bool_)):
        value = value.item()  # which numpy shows with its type
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of too many digits
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def warn_user(message, category=UserWarning, **more):
    """A warning that points at the line which called this package; categories of our
    own may take more than a message."""
    frame, level = sys._getframe(), 1
    while frame is not None and is_ours(frame.f_globals.get("__package__")):
        frame, level = frame.f_back, level + 1
    message, category = REWORD.get()(message, category)
    warnings.warn(category(message, **more), stacklevel=level)


def is_ours(package):
    """Whether a package is this one, or a folder of it."""
    return str(package).partition(".")[0] == __package__.partition(".")[0]


def similar(word, known):
    """The known word that was meant, as a question, if there is one nearly the same."""
    lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), lower, n=1)
    return f" (did you mean {lower[near[0]]!r}?)" if near else ""


def described(x):
    """What came in place of an array, and what to do with it."""
    if isinstance(x, Iterator):
        return f"{type(x).__name__} (make a list of it first)"
    if isinstance(x, Mapping):
        return f"{type(x).__name__} (make a DataFrame or an array of it first)"
    if isinstance(x, Set):
        return f"{type(x).__name__}, which has no order"
    if hasattr(x, "collect"):  # polars' LazyFrame
        return f"{type(x).__name__} (call its collect() first)"
    return f"{type(x).__name__} {brief(x)}"


def first_of_no_number(name, values):
    """The first entry that is no number and its place; or how they become numbers."""
    if values.dtype.kind not in "OU":
        return ""
    for place, entry in enumerate(islice(values.flat, SEARCHED)):
        if not (isinstance(entry, Real) or is_numeral(entry)):
            where = ", ".join(map(str, np.unravel_index(place, values.shape)))
            return f", with {brief(entry)} at [{where}]"
    return (
        f" (its entries are numbers stored as text or objects: {name}.astype(float), "
        f"or pandas.to_numeric({name}))"
    )


def is_numeral(entry):
    """Whether it is text that says a number."""
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return isinstance(entry, str)
