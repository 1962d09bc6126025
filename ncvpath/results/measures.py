"""What the measures of cross-validation are called, and what they explain."""

from typing import NamedTuple

import numpy as np


class Words(NamedTuple):
    """A measure, in words."""

    title: str  # of an axis
    short: str  # as in "error (squared)"
    explained: str | None = None  # what R squared is called, if there is one
    maximised: bool = False


MEASURES = {
    "mse": Words("Mean squared error", "squared", "R squared"),
    "mae": Words(
        "Mean absolute error", "absolute", "Fraction of absolute error explained"
    ),
    "deviance": Words("Deviance per observation", "deviance", "R squared"),
    "class": Words("Misclassification", "misclassification"),
    "brier": Words("Brier score", "Brier score"),
    "auc": Words("AUC", "AUC", maximised=True),
    "concordance": Words("Concordance", "concordance", maximised=True),
}


def words_of(measure, family="gaussian"):
    """The words of a measure; a function of the user's own is called by its name."""
    if measure == "deviance" and family == "cox":
        return MEASURES[measure]._replace(title="Partial deviance per event")
    return MEASURES.get(measure) or Words(measure, measure)


def explained(measure, cve, null_error):
    """R squared as ncvreg has it, which may be negative; NaN where there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if measure in ("mse", "mae"):
            return 1 - cve / null_error
        if measure == "deviance":
            return 1 - np.exp(cve - null_error)
    return np.full(cve.shape, np.nan)
