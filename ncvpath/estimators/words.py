"""Messages of `ncvpath()`, in the words of those who called an estimator."""

import re
from contextlib import contextmanager

from sklearn import exceptions

from .. import path
from ..inputs import words
from ..runtime.messages import REWORD

# What ncvpath() and cv_ncvpath() call it, at the beginning of a message and where a
# value is shown, and what estimators do.
ARGUMENTS = {
    "weights": "sample_weight", "nfolds": "cv", "folds": "cv", "n_threads": "n_jobs",
}
# What was meant by arguments that estimators do not have.
LAMBDA = "select, the lambda itself"
ELSEWHERE = words.ELSEWHERE | ARGUMENTS | {
    "weights": "sample_weight of fit()", "sample_weight": "sample_weight of fit()",
    "offset": "offset of fit()", "strata": "strata of NcvSurvival's fit()",
    "groups": "groups of fit()", "rule": "select",
    "lambda": LAMBDA, "lam": LAMBDA, "s": LAMBDA, "nfold": "cv", "fold": "cv",
    "foldid": "cv", "ncores": "n_jobs",
}
ARGUMENT = re.compile(rf"^({'|'.join(ARGUMENTS)})\b|\b({'|'.join(ARGUMENTS)})(?==)")
PHRASES = {
    "family='binomial'": "NcvClassifier",
    "family='cox'": "NcvSurvival",
    "by cv_ncvpath()": "with select='cv'",
    "contains nan": "contains NaN",
    "and weights have": "and sample_weight have",
}


class ConvergenceWarning(path.ConvergenceWarning, exceptions.ConvergenceWarning):
    """That of `ncvpath()`, which filters for scikit-learn's know, too."""


@contextmanager
def in_their_words():
    """Let ValueErrors and warnings speak of the estimator's arguments."""
    before = REWORD.set(reworded)
    try:
        yield
    except ValueError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (translated(error.args[0]), *error.args[1:])
        raise
    finally:
        REWORD.reset(before)


def reworded(message, category):
    """A warning's text and category."""
    unconverged = issubclass(category, path.ConvergenceWarning)
    return translated(message), ConvergenceWarning if unconverged else category


def translated(message):
    """The message, with the names that estimators have for things."""
    for phrase, ours in PHRASES.items():
        message = message.replace(phrase, ours)
    if "contains NaN" in message:
        message += "; sklearn.impute fills missing values in"
    return ARGUMENT.sub(lambda found: ARGUMENTS[found[0]], message)
