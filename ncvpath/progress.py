"""Progress over lambdas: tqdm's bar if it is installed, else a plain line."""

import sys


def each(steps, total, show):
    """The steps one after another, with a bar on stderr when asked to show it."""
    if not show:
        return steps
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _plain(steps, total)
    return tqdm(steps, desc="ncvpath", unit="lambda", total=total)


def _plain(steps, total):
    try:
        for k, step in enumerate(steps):
            sys.stderr.write(f"\rncvpath: lambda {k + 1} of {total}")
            yield step
    finally:  # also when the path stops early
        sys.stderr.write("\n")
