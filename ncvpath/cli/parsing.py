"""The shapes of options, and errors of one line."""

import argparse
import sys
from pathlib import Path

from ..penalties import PENALTIES, ROWS

NAMES = ", ".join(row.name for row in ROWS)


def program():
    """How this program was called."""
    called = Path(sys.argv[0]).stem if sys.argv else ""
    return "ncvpath" if called == "ncvpath" else "python -m ncvpath"


class Parser(argparse.ArgumentParser):
    """Errors take one line and end with code 2."""

    def error(self, message):
        """End, saying what was wrong."""
        self.exit(2, f"{self.prog}: {message} (usage: {self.prog} --help)\n")

    def fail(self, error):
        """End because of an error, in one line."""
        message = " ".join(str(error).split()) or type(error).__name__
        self.exit(2, f"{self.prog}: {message}\n")


# What a command answers with one line and code 2.
ANSWERED = (ValueError, OSError, MemoryError, FloatingPointError)


def penalty_name(text):
    """A penalty as the table spells it."""
    if text.lower() not in PENALTIES:
        raise argparse.ArgumentTypeError(f"must be one of {NAMES}; got {text!r}")
    return PENALTIES[text.lower()].name


def numbers(text):
    """One number, or several with commas between them."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a number, or numbers as in 2,3,5; got {text!r}"
        ) from None
    return values[0] if len(values) == 1 else values


def whole(least):
    """A reader of whole numbers."""

    def read(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of {least} at least; got {text!r}"
            )
        return value

    return read


def separator(text):
    """One character, or what a word stands for."""
    text = {"tab": "\t", "\\t": "\t", "blanks": r"\s+"}.get(text, text)
    if len(text) != 1 and text != r"\s+":
        raise argparse.ArgumentTypeError(
            f"must be one character, tab or blanks; got {text!r}"
        )
    return text
