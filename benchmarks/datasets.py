"""Does every lambda keep its word on real data? `python -m benchmarks.datasets`.

Fits the path of every data set that is at hand, survival data aside, with every penalty
and default arguments, y taken as a number. What comes back is then judged by plain
NumPy: the residual in long double from the coefficients on the user's scale, Fermat's
conditions over all features from that. A fit is *silent* where a lambda

- is said to have converged and violates them by more than tol and rounding explain,
- is missing, or holds a number that is not finite,
- has not converged, and no warning or no status says so.

A fit that takes longer than `--cap` seconds is tried again with a path three quarters
as deep on the log scale, and its line says so.
"""

import argparse
import signal
import sys
import warnings
from contextlib import contextmanager
from time import perf_counter

import numpy as np
from scipy.sparse import issparse

from ncvpath import ncvpath
from ncvpath.path import ConvergenceWarning
from ncvpath.penalties import ROWS, by_name

from .problems import SHARED, loaded

NAMES = [row.name for row in ROWS]
# Two ways of computing one number differ by rounding: of the sums, which the judge
# bounds, and of this share of the number itself.
SHARE = 0.01
EPS = np.finfo(float).eps


def main(arguments=None):
    """Fit, judge, print a line per fit, and count what was silent."""
    options = parse(arguments)
    print("data penalty ratio seconds converged df reported found bound silent status")
    silent = 0
    for name in options.data or at_hand():
        X, y = loaded(name, drop_constant=False)
        judge = Judge(X, y)
        for penalty in options.penalties:
            silent += examine(name, X, y, penalty, judge, options.cap)
    print(f"silent: {silent}")
    return silent > 0


def parse(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.datasets", description=__doc__)
    parser.add_argument("--data", nargs="*", default=[], help="names; default: all")
    parser.add_argument("--penalties", nargs="*", default=NAMES)
    parser.add_argument("--cap", type=int, default=300, help="seconds for one fit")
    return parser.parse_args(arguments)


def at_hand():
    """Names of the data sets, small ones first."""
    files = [*SHARED.glob("dense/*.npz"), *SHARED.glob("sparse/*.npz")]
    files = [file for file in files if not file.stem.endswith(".extra")]
    return [file.stem for file in sorted(files, key=lambda file: file.stat().st_size)]


def examine(name, X, y, penalty, judge, cap):
    """Fit one path and judge it; returns how many lambdas were silent."""
    n, p = X.shape
    ratio = 0.001 if n > p else 0.05  # the default
    while True:
        try:
            seconds, path, warned = fitted(X, y, penalty, ratio, cap)
            break
        except TimeoutError:
            print(name, penalty, f"{ratio:.3g}", f"over {cap} s", flush=True)
            ratio **= 0.75
    found, bound = judge.violations(path)
    bad = judge.silent(path, found, bound, warned)
    reasons = sorted({s for s, ok in zip(path.status, path.converged) if not ok})
    print(
        name, penalty, f"{ratio:.3g}", f"{seconds:.1f}",
        f"{path.converged.sum()}/{path.lambdas.size}", path.df.max(),
        f"{path.violation.max():.1e}", f"{found.max():.1e}", f"{bound.max():.0e}",
        bad, reasons or "converged", flush=True,
    )
    return bad


def fitted(X, y, penalty, ratio, cap):
    """Seconds, the path of 100 lambdas, and whether it came with a warning."""
    with warnings.catch_warnings(record=True) as heard, alarm(cap):
        warnings.simplefilter("always")
        start = perf_counter()
        path = ncvpath(X, y, penalty=penalty, lambda_min_ratio=ratio)
        seconds = perf_counter() - start
    warned = any(issubclass(w.category, ConvergenceWarning) for w in heard)
    return seconds, path, warned


@contextmanager
def alarm(seconds):
    """A TimeoutError after so many seconds."""

    def ring(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Judge:
    """Fermat's conditions of one data set, with intercept and standardized columns."""

    def __init__(self, X, y):
        self.X, self.y, self.n = X, np.asarray(y, dtype=np.longdouble), X.shape[0]
        self.center = np.asarray(X.mean(axis=0), dtype=float).ravel()
        square = X.power(2) if issparse(X) else X**2
        self.length = np.sqrt(np.asarray(square.sum(axis=0), dtype=float).ravel())
        spread = spreads(X, self.center)
        self.live = spread > 8 * EPS * np.abs(self.center)
        self.scale = np.where(self.live, spread, 1.0)
        r0 = self.y - self.y.mean()
        self.sd = float(np.sqrt((r0**2).mean()))
        self.g0 = np.abs(self.correlate(r0[:, None])[self.live]).max()

    def correlate(self, residuals):
        """<x_j, r> of all features and several centred residuals."""
        products = np.asarray(self.X.T @ residuals.astype(float), dtype=float)
        products -= np.outer(self.center, residuals.sum(axis=0).astype(float))
        return products / (self.n * self.scale[:, None])

    def residuals(self, path):
        """Of every lambda, in long double, about their own mean."""
        out = np.empty((self.n, path.lambdas.size), dtype=np.longdouble)
        for k in range(path.lambdas.size):
            first, last = path.beta.indptr[k : k + 2]
            columns = self.X[:, path.beta.indices[first:last]].astype(np.longdouble)
            b = path.beta.data[first:last].astype(np.longdouble)
            out[:, k] = self.y - columns @ b
        return out - out.mean(axis=0)

    def violations(self, path):
        """By lambda, relative to the null gradient, and how far off each may be."""
        residuals = self.residuals(path)
        u = self.correlate(residuals)
        b = path.beta.toarray() * self.scale[:, None]
        row = by_name(path.penalty)
        shape = (path.gamma or 0.0) * (self.sd if row.tied_to_y else 1.0)
        pull = np.sign(b) * row.slope(np.abs(b), path.lambdas, shape)
        beyond = np.maximum(np.abs(u) - path.lambdas, 0)
        off = np.where(b == 0, beyond, np.abs(u - pull))
        # Rounding of a sum: at most n eps times the lengths of what is multiplied.
        longest = (self.length / self.scale)[self.live].max()
        sizes = np.sqrt((residuals**2).sum(axis=0)).astype(float)
        return off[self.live].max(axis=0) / self.g0, EPS * longest * sizes / self.g0

    def silent(self, path, found, bound, warned):
        """How many lambdas are missing, not finite, or not what they claim to be."""
        false = path.converged & (found > path.tol * (1 + SHARE) + bound)
        unsaid = ~path.converged
        if warned:
            unsaid &= np.array([status == "converged" for status in path.status])
        numbers = (path.intercept, path.loss, path.objective, path.violation, found)
        broken = ~np.isfinite(np.array(numbers)).all(axis=0)
        broken |= ~np.isfinite(path.beta.sum(axis=0))
        missing = 0 if path.stopped else 100 - path.lambdas.size
        return int((false | unsaid | broken).sum()) + missing


def spreads(X, center):
    """Standard deviations (1/n) of columns, about their known means."""
    if not issparse(X):
        return np.sqrt(((X - center) ** 2).mean(axis=0))
    about = X.copy()
    counts = np.diff(X.indptr)
    about.data = X.data - np.repeat(center, counts)
    zeros = (X.shape[0] - counts) * center**2
    total = np.asarray(about.power(2).sum(axis=0), dtype=float).ravel()
    return np.sqrt((total + zeros) / X.shape[0])


if __name__ == "__main__":
    sys.exit(main())
