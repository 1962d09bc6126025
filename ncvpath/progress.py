"""Progress over lambdas: tqdm's bar if it is installed, else a plain line."""

import sys


def each(lambdas, show):
    """The lambdas one after another, with a bar on stderr when asked to show it."""
    if not show:
        return iter(lambdas)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _plain(lambdas)
    return tqdm(lambdas, desc="ncvpath", unit="lambda")


def _plain(lambdas):
    try:
        for k, lam in enumerate(lambdas):
            yield lam
            sys.stderr.write(f"\rncvpath: lambda {k + 1} of {len(lambdas)}")
    finally:  # also when the path stops early
        sys.stderr.write("\n")
