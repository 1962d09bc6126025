"""Messages of `ncvpath()`, in the words of those who called an estimator."""

import re
from contextlib import contextmanager

# What ncvpath() and cv_ncvpath() call it, at the beginning of a message and where a
# value is shown, and what estimators do.
ARGUMENTS = {
    "weights": "sample_weight", "nfolds": "cv", "folds": "cv", "n_threads": "n_jobs",
}
ARGUMENT = re.compile(rf"^({'|'.join(ARGUMENTS)})\b|\b({'|'.join(ARGUMENTS)})(?==)")
PHRASES = {
    "family='binomial'": "NcvClassifier",
    "family='cox'": "NcvSurvival",
    "contains nan": "contains NaN",
}


@contextmanager
def in_their_words():
    """Let a ValueError speak of the estimator's arguments."""
    try:
        yield
    except ValueError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (translated(error.args[0]), *error.args[1:])
        raise


def translated(message):
    """The message, with the names that estimators have for things."""
    for phrase, ours in PHRASES.items():
        message = message.replace(phrase, ours)
    if "contains NaN" in message:
        message += "; sklearn.impute fills missing values in"
    return ARGUMENT.sub(lambda found: ARGUMENTS[found[0]], message)
