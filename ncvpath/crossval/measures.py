"""How linear predictors of held-out rows are judged.

`errors` is all a measure has to know. Measures of single observations, and the AUC,
can judge each fold where it was fitted: `judge` and `collect` are the halves of it.
Those of survival need all rows together, and a user's own function stays in the
process it comes from.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..families.response import Response
from ..runtime.messages import brief
from .concordance import Pairs, auc

CELLS = 1 << 20  # linear predictors judged at a time
OWN = "a function (y, eta, weights) -> loss of each observation"


class HeldOut(NamedTuple):
    """The observations to judge, fold by fold; those of weight zero are not there."""

    response: Response
    weights: np.ndarray  # n, sum 1
    rows: list[np.ndarray]  # row numbers, by fold

    @property
    def n_distinct(self):
        """Observations: held out again, one is not another."""
        return np.unique(np.concatenate(self.rows)).size


class Judged(NamedTuple):
    """What the linear predictors of one fold are worth, at L lambdas."""

    weight: float  # of the observations, pairs or events judged
    error: np.ndarray  # L, mean over them
    spread: np.ndarray  # L, root of the weighted sum of squares about it


class Errors(NamedTuple):
    """What all linear predictors are worth, at L lambdas."""

    cve: np.ndarray  # L
    cvse: np.ndarray  # L
    fold_errors: np.ndarray  # folds x L; NaN where there is nothing to judge


class ByRow:
    """A loss of each observation; the error is its mean."""

    by_fold, together, maximised = True, False, False

    def __init__(self, name, loss):
        self.name, self.loss = name, loss

    def judge(self, response, weights, rows, eta):
        """Of the linear predictors (L x rows) of a fold."""
        return mean_of_rows(
            weights[rows], len(eta), lambda part: self.loss(response.y[rows], eta[part])
        )

    def collect(self, held_out, judged):
        """The errors of all folds."""
        return combined(judged, held_out.n_distinct)

    def errors(self, held_out, etas):
        """Both in one go."""
        return self.collect(held_out, judged_folds(self, held_out, etas))


class Area:
    """The area under the ROC curve: its mean over folds, weighted by their pairs."""

    name, by_fold, together, maximised = "auc", True, False, True

    def judge(self, response, weights, rows, eta):
        """Of the linear predictors (L x rows) of a fold."""
        areas, pairs = auc(response.y[rows], eta, weights[rows])
        return Judged(pairs, np.where(pairs > 0, areas, 0.0), np.zeros(areas.size))

    def collect(self, held_out, judged):
        """The mean area, and its standard error over folds."""
        with_pairs = sum(each.weight > 0 for each in judged)
        if with_pairs == 0:
            raise ValueError(
                "measure='auc' must have a fold that holds out both classes; got one "
                "class in each"
            )
        return combined(judged, with_pairs)

    errors = ByRow.errors


class Own:
    """A function of the user's, by observation."""

    by_fold, together, maximised = False, False, False

    def __init__(self, function):
        name = getattr(function, "__name__", type(function).__name__)
        self.name, self.function = f"{name}()", function

    def errors(self, held_out, etas):
        """The function sees a fold at one lambda at a time."""
        response, weights, _ = held_out
        judged = []
        for rows, eta in zip(held_out.rows, etas):
            y, scaled = columns(response, rows), weights[rows] * weights.size
            losses = np.array([self._losses(y, each, scaled) for each in eta])
            judged.append(mean_of_rows(weights[rows], len(eta), losses.__getitem__))
        return combined(judged, held_out.n_distinct)

    def _losses(self, y, eta, weights):
        """What the function says, if it is a loss of each observation."""
        try:
            found = np.asarray(self.function(y, eta, weights))
        except TypeError as error:  # of a function of other arguments, most likely
            raise TypeError(f"measure must be {OWN}; {error}") from error
        if found.shape != eta.shape or found.dtype.kind not in "biuf":
            raise ValueError(
                f"measure must be {OWN}; got {brief(found)} for {eta.size} rows"
            )
        return found.astype(float)


class PartialDeviance:
    """-2 log partial likelihood of all rows together, per event, as ncvreg."""

    name, by_fold, together, maximised = "deviance", False, True, False

    def __init__(self, family):
        self.family = family

    def errors(self, held_out, etas):
        """The standard error, too, is that of a mean over events."""
        response = replace(held_out.response, offset=None)  # it is in eta
        likelihood = self.family.bind(response, held_out.weights, False)
        eta = together(held_out, etas)
        events = [rows[response.y[rows] > 0] for rows in held_out.rows]
        judged = [[] for _ in events]
        for part in blocks(len(eta), response.y.size):
            losses = 2 * likelihood.event_loss(eta[part])
            for fold, rows in zip(judged, events):
                fold.append(mean_and_spread(held_out.weights[rows], losses[:, rows]))
        folds = [
            Judged(held_out.weights[rows].sum(), *map(np.concatenate, zip(*fold)))
            for rows, fold in zip(events, judged)
        ]
        return combined(folds, sum(rows.size for rows in events))


class Concordance:
    """The share of pairs, of all rows together, that are in the right order."""

    name, by_fold, together, maximised = "concordance", False, True, True

    def errors(self, held_out, etas):
        """The standard error is the jackknife's over folds."""
        response, weights, folds = held_out
        pairs = Pairs(response, weights)
        right, possible = pairs_of(pairs, folds, together(held_out, etas))
        inner = [
            pairs_of(Pairs(some(response, rows), weights[rows]), [slice(None)], eta)
            for rows, eta in zip(folds, etas)
        ]
        # Those of two rows of one fold have been counted for both.
        inner_right, inner_possible = (np.concatenate(each) / 2 for each in zip(*inner))
        all_right, all_possible = right.sum(axis=0) / 2, possible.sum() / 2
        if not all_possible > 0:
            raise ValueError(
                "measure='concordance' must have an event before another row's time "
                "ends; got none"
            )
        with np.errstate(divide="ignore", invalid="ignore"):  # where no pair is left
            fold_errors = inner_right / inner_possible[:, None]
            others = all_possible - possible + inner_possible
            without = (all_right - right + inner_right) / others[:, None]
        without = without[others > 0]
        share = np.sqrt(1 - 1 / len(without)) if len(without) > 1 else np.nan
        cvse = lengths(without - without.mean(axis=0)) * share
        return Errors(all_right / all_possible, cvse, fold_errors)


def pairs_of(pairs, folds, eta):
    """Right (folds x L) and possible pairs of each fold's rows."""
    possible, right = pairs.possible(), []
    for part in blocks(len(eta), pairs.keys.size):
        credit = pairs.credits(eta[part])
        right.append([credit[:, rows].sum(axis=1) for rows in folds])
    return np.concatenate(right, axis=1), np.array(
        [possible[rows].sum() for rows in folds]
    )


def find_measure(family, measure):
    """What a user asks to be judged by: a name, a function, or None."""
    names = family.measure_names
    if measure is None:
        measure = names[0]
    if callable(measure) and not isinstance(measure, type):
        return Own(measure)
    if not isinstance(measure, str) or measure not in names:
        raise ValueError(
            f"measure must be one of {', '.join(names)} with family={family.name!r}, "
            f"or {OWN}; got measure={brief(measure)}"
        )
    if measure in family.measures:
        return ByRow(measure, family.measures[measure])
    joint = {"auc": Area, "concordance": Concordance}
    return joint[measure]() if measure in joint else PartialDeviance(family)


# ---- means over observations and folds ---------------------------------------------


def judged_folds(measure, held_out, etas):
    """Each fold, judged by itself."""
    return [
        measure.judge(held_out.response, held_out.weights, rows, eta)
        for rows, eta in zip(held_out.rows, etas)
    ]


def blocks(size, width):
    """Slices of so many rows of a given width, of which a few are looked at at once."""
    step = max(CELLS // max(width, 1), 1)
    return [slice(first, first + step) for first in range(0, size, step)]


def mean_of_rows(weights, size, losses):
    """What `losses` of a slice of lambdas, lambdas x rows, are on average."""
    with np.errstate(over="ignore", invalid="ignore"):  # it ends the curve
        parts = [
            mean_and_spread(weights, losses(part))
            for part in blocks(size, weights.size)
        ]
    return Judged(weights.sum(), *map(np.concatenate, zip(*parts)))


def mean_and_spread(weights, losses):
    """The weighted mean of each row, and the root of its squares about that."""
    mean = losses @ weights / (weights.sum() or 1.0)
    deviations = (losses - mean[:, None]) * np.sqrt(weights)
    return mean, lengths(deviations.T)


def combined(judged, counted):
    """The mean over folds, and its standard error for so many that were judged.

    Deviations are those within folds, and those between their means.
    """
    weight = np.array([each.weight for each in judged])
    share = weight / weight.sum()
    fold_errors = np.array([each.error for each in judged])
    with np.errstate(over="ignore", invalid="ignore"):
        cve = share @ fold_errors
        within = np.array([each.spread for each in judged]) / np.sqrt(weight.sum())
        between = np.sqrt(share)[:, None] * (fold_errors - cve)
        deviation = lengths(np.concatenate([within, between]))
    fold_errors[share == 0] = np.nan
    # What was judged once has no standard error.
    cvse = deviation / (np.sqrt(counted - 1) if counted > 1 else np.nan)
    return Errors(cve, cvse, fold_errors)


def lengths(columns):
    """The root of each column's sum of squares, which need not be a number itself."""
    largest = np.abs(columns).max(axis=0, initial=0.0)
    scaled = columns / np.where(largest > 0, largest, 1.0)
    return largest * np.sqrt(np.square(scaled, out=scaled).sum(axis=0))


# ---- rows --------------------------------------------------------------------------


def together(held_out, etas):
    """Linear predictors of all rows (L x n); zero in those without weight."""
    eta = np.zeros((len(etas[0]), held_out.weights.size))
    for rows, each in zip(held_out.rows, etas):
        eta[:, rows] = each
    return eta


def some(response, rows):
    """The response of some rows."""
    own = {
        name: getattr(response, name)[rows]
        for name in ("y", "start", "stop", "strata")
        if getattr(response, name) is not None
    }
    return replace(response, offset=None, **own)


def columns(response, rows):
    """The y of some rows for a user's function: times and status side by side."""
    parts = (response.start, response.stop, response.y)
    if response.stop is None:
        return response.y[rows]
    return np.column_stack([part[rows] for part in parts if part is not None])
