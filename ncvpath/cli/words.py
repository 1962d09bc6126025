"""Messages of `ncvpath()`, in the words of the command line."""

import re
from contextlib import contextmanager

from ..crossval.measures import OWN

# What options are called otherwise, and what they are called alike, but for hyphens.
OPTIONS = {"nfolds": "--cv", "random_state": "--seed", "lam": "--lambda"} | {
    name: "--" + name.replace("_", "-")
    for name in (
        "family", "ties", "penalty", "gamma", "alpha", "nlambda", "lambda_min_ratio",
        "dfmax", "search", "tol", "max_epochs", "measure", "weights", "offset",
        "strata", "groups", "type",
    )
}
# Of these no message speaks in another sense.
UNMISTAKABLE = (
    "nfolds", "random_state", "nlambda", "lambda_min_ratio", "dfmax", "max_epochs",
)
PHRASES = {
    "with rescale=True": "without --no-rescale",
    "rescale=False": "--no-rescale",
    "when intercept=True": "without --no-intercept",
    "raise lambda,": "raise --lambda-min-ratio,",
    f", or {OWN}": "",
}
ANY = "|".join(OPTIONS)
BEFORE = r"(?<![\w'\"-])"  # names of columns are in quotes
VALUE = re.compile(rf"{BEFORE}({ANY})=(?:'([^']*)'|(?=[^\s']))")
NAME = re.compile(
    rf"{BEFORE}(?:({'|'.join(UNMISTAKABLE)})\b|({ANY})(?= must\b)"
    rf"|(?<=raise |lower )({ANY})\b|(?<=or )({ANY})\b)"
)


@contextmanager
def in_options():
    """Let errors speak of options."""
    try:
        yield
    except (ValueError, MemoryError, FloatingPointError) as error:
        error.args = tuple(
            translated(part) if isinstance(part, str) else part for part in error.args
        )
        raise


def translated(message):
    """The message, with options in place of arguments."""
    for phrase, ours in PHRASES.items():
        message = message.replace(phrase, ours)
    message = VALUE.sub(lambda found: f"{OPTIONS[found[1]]} {found[2] or ''}", message)
    return NAME.sub(lambda found: OPTIONS[found[0]], message)
