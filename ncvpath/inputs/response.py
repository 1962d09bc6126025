"""The response as people have it, and what belongs to it, becomes a clean `Response`,
or a ValueError that names argument, rule and value."""

from dataclasses import replace

import numpy as np

from ..families import FAMILIES
from ..families.family import Family
from ..families.response import Response
from ..runtime.messages import brief, warn_user
from .checks import finite, one_of, one_per_row, real_array, refuse_masks, vector
from .frames import column_names, is_series
from .labels import (
    as_array,
    is_categorical,
    label_array,
    label_codes,
    listed,
    one_column,
)
from .survival import is_survival, looks_like_survival, survival_times

# What families are called by the model or the response.
MEANT = {
    "logistic": "binomial", "logit": "binomial", "bernoulli": "binomial",
    "binary": "binomial", "linear": "gaussian", "normal": "gaussian",
    "count": "poisson", "coxph": "cox", "survival": "cox",
}
TIES = ("breslow", "efron")
# Of a linear predictor this large, six digits are left behind the point.
LARGEST_OFFSET = 1e10


def check_family(family):
    """The family of that name, or the user's own."""
    if isinstance(family, Family):
        _check_methods(family)
        return family
    known = FAMILIES.get(family.lower()) if isinstance(family, str) else None
    if known is None:
        is_class = isinstance(family, type) and issubclass(family, Family)
        meant = MEANT.get(family.lower()) if isinstance(family, str) else None
        advice = f" (did you mean {meant!r}?)" if meant else ""
        advice = " (a class: make an object of it)" if is_class else advice
        raise ValueError(
            f"family must be one of {', '.join(FAMILIES)} (families() says for which y)"
            ", or an object of a class derived from ncvpath.Family; got "
            f"family={brief(family)}{advice}"
        )
    return known


def _check_methods(family):
    """A family whose loss is a sum over rows has the four functions of one; least
    squares are solved as such, whatever other functions a class derived from it has."""
    names = ("loss", "residual", "curvature", "mean")

    def has_those_of(parent):
        return [
            name for name in names
            if getattr(getattr(family, name), "__func__", None) is getattr(parent, name)
        ]

    if family.is_quadratic and len(has_those_of(type(FAMILIES["gaussian"]))) < 4:
        raise ValueError(
            "family must be derived from ncvpath.Family itself, with is_quadratic "
            "False, where its loss is its own; got an object of "
            f"{type(family).__name__}, which would be solved as least squares"
        )
    if type(family).bind is not Family.bind:
        return
    missing = has_those_of(Family)
    if missing:
        raise ValueError(
            "family must define loss, residual, curvature and mean; "
            f"{type(family).__name__} has no {', '.join(missing)}"
        )


def check_response(family, y, offset, strata, ties, n, weights=None):
    """A clean response of n rows.

    With weights, rows of weight zero do not count where two classes or an event must
    be there.
    """
    counted = np.ones(n, bool) if weights is None else weights > 0
    one_of("ties", ties, TIES)
    response = READERS[family.form](family, y, n, counted)
    if offset is not None:
        response = replace(response, offset=_offset(offset, n, family.is_quadratic))
    if family.form == "survival":
        return _with_strata(response, strata, ties, counted)
    given = {"strata": strata is not None, "ties": ties != "breslow"}
    for name, is_given in given.items():
        if is_given:
            raise ValueError(
                f"{name} must not be given unless family='cox'; got "
                f"family={family.name!r}"
            )
    return response


def _offset(offset, n, quadratic):
    offset = vector("offset", offset)
    one_per_row("offset", "value per row of X", offset.size, n)
    finite("offset", offset)
    largest = np.abs(offset).max()
    if not quadratic and largest > LARGEST_OFFSET:
        raise ValueError(
            f"offset must be at most {LARGEST_OFFSET:g} in size, or X has no say "
            f"in the digits of the linear predictor; got one of {largest:g}"
        )
    return offset


# ---- numbers -----------------------------------------------------------------------


def check_numbers(y, n):
    """A finite real vector of length n."""
    values = vector("y", y)
    _one_per_row(values.size, n)
    finite("y", values, "; leave such rows out of X and y")
    return values


def _numbers(family, y, n, counted):
    """Real numbers that the family can have."""
    refuse_masks("y", y)
    _refuse_survival(family, looks_like_survival(y))
    try:
        values = check_numbers(y, n)
    except ValueError as error:
        if _is_two_classes(y, n):
            message = f"{error}; two classes need family='binomial'"
            raise ValueError(message) from None
        raise
    family.check(values)
    if family.is_quadratic and n > 2:
        _warn_of_classes(values)
    return Response(values)


def _refuse_survival(family, found):
    if found:
        raise ValueError(
            f"y must be {family.response} with family={family.name!r}; got what looks "
            "like survival times with a status, which need family='cox'"
        )


def _is_two_classes(y, n):
    try:
        return len(label_codes("y", y, n)[1]) == 2
    except ValueError:
        return False


def _warn_of_classes(y):
    """A fit as asked, but perhaps not as meant."""
    low, high = y.min(), y.max()
    if low < high and np.isin(y, (low, high)).all():
        warn_user(
            f"y has two values, {low:g} and {high:g}, and is fitted as numbers; for "
            "two classes say family='binomial'"
        )


def _one_per_row(size, n):
    if size != n:
        raise ValueError(f"y must have one value per row of X; got {size} for {n}")


# ---- classes -----------------------------------------------------------------------


def _classes(family, y, n, counted):
    """Two labels, proportions, or counts of failures and successes."""
    _refuse_survival(family, is_survival(y))
    y = one_column(y)
    if not is_categorical(y):
        if as_array("y", y).shape[1:] == (2,):
            return _counts(y, n, counted)
        y = _label_values(y)
        if y.dtype.kind == "f" and ((y > 0) & (y < 1)).any():
            return _proportions(family, y, n)
    codes, labels = label_codes("y", y, n)
    if len(labels) > 2:
        raise ValueError(
            f"y must have two classes with family={family.name!r}; got "
            f"{len(labels)}: {listed(labels)}"
        )
    seen = np.unique(codes[counted])
    if seen.size < 2:
        where = "" if counted.all() else " in rows of positive weight"
        raise ValueError(
            f"y must have two classes with family={family.name!r}; got only "
            f"{brief(labels[seen[0]])}{where}"
        )
    return Response(codes.astype(float), classes=labels)


def _label_values(y):
    """Numbers where they are numbers, which must be finite; else labels."""
    if is_series(y) and getattr(y.dtype, "kind", "O") in "iuf":
        y = vector("y", y) if y.isna().any() else y.to_numpy()
    values = label_array("y", y)
    if values.dtype.kind == "f":
        finite("y", values, "; leave such rows out of X and y")
    return values


def _proportions(family, y, n):
    _one_per_row(y.size, n)
    y = y.astype(float)
    family.check(y)
    return Response(y)


def _counts(y, n, counted):
    """Shares of successes, and totals."""
    names = column_names(y)
    values = real_array("y", y).astype(float)
    if values.shape[0] != n:
        raise ValueError(
            f"y must have one row per row of X; got {values.shape[0]} for {n}"
        )
    totals = values.sum(axis=1)
    wrong = ~(np.isfinite(values) & (values >= 0)).all(axis=1) | ~(totals > 0)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            "y of two columns must be counts >= 0 (failures, successes), not both "
            f"zero; got {values[row, 0]:g} and {values[row, 1]:g} at row {row}"
        )
    sums = values[counted].sum(axis=0)
    if not sums.all():
        one = ("failures", "successes")[int(sums.argmax())]
        raise ValueError(f"y must have failures and successes; got only {one}")
    classes = None if names is None else tuple(names)
    return Response(values[:, 1] / totals, classes=classes, trials=totals)


# ---- survival ----------------------------------------------------------------------


def _survival(family, y, n, counted):
    start, stop, status = survival_times(y, n)
    if not status[counted].any():
        where = "" if counted.all() else " in a row of positive weight"
        raise ValueError(
            f"y must have an event (status 1){where}; got {counted.sum()} censored rows"
        )
    return Response(status, start=start, stop=stop)


def _with_strata(response, strata, ties, counted):
    """Strata by code; those without an event are named, as they do not matter."""
    if strata is None:
        return replace(response, ties=ties)
    codes, labels = label_codes("strata", strata, response.y.size)
    events = np.bincount(codes[counted], response.y[counted], minlength=len(labels))
    idle = [label for label, found in zip(labels, events) if not found]
    if idle:
        warn_user(f"strata without an event do not matter to the fit: {listed(idle)}")
    return replace(response, ties=ties, strata=codes, strata_labels=labels)


READERS = {"number": _numbers, "class": _classes, "survival": _survival}
