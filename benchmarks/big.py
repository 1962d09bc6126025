"""A path at the scale of Criteo's click logs: `python -m benchmarks.big`.

A seeded stand-in for the largest experiment of the FireWorks paper: 2,000,000 rows, 39
categorical fields hashed into 1,000,000 columns, levels drawn by a Zipf law, 78 million
ones. y is made of 500 features among those seen often, plus noise as strong as they
are; `--family binomial` draws a click with those odds instead. The log-sum path has 30
lambdas down to 0.05 lambda_max. `--rows` and `--cols` scale it down.
"""

import argparse
import resource
import sys
from time import perf_counter

import numpy as np
from scipy.sparse import csc_array

from ncvpath import ncvpath

FIELDS = 39
ZIPF = 1.1
SMALLEST, LARGEST = 50, 300_000  # levels of a field, at full size
TRUE, SEEN = 500, 1000  # features behind y, and how often each is seen, at full size
FULL_ROWS, FULL_COLS = 2_000_000, 1_000_000


def main(arguments=None):
    """Make the data, fit the path, print what it took."""
    options = parse(arguments)
    start = perf_counter()
    X, y = click_logs(options.rows, options.cols, options.seed)
    if options.family == "binomial":
        y = clicks(y, options.seed)
    took = perf_counter() - start
    print(
        f"data: {X.shape[0]} x {X.shape[1]}, {X.nnz} nonzeros, made in {took:.1f} s, "
        f"peak memory {peak_memory():.2f} GB",
        flush=True,
    )
    start = perf_counter()
    path = fit(
        X, y, options.family, rescale=False if options.plain else None,
        n_threads=options.threads, progress=options.progress,
    )
    print(f"path: {perf_counter() - start:.1f} s, peak memory {peak_memory():.2f} GB")
    print(path.summary().to_string())
    print(path.screening.to_string())
    print(
        f"converged: {path.converged.sum()} of {path.lambdas.size}, largest violation "
        f"{path.violation.max():.2e}, passes over X "
        f"{path.screening['checked'].sum() / X.shape[1]:.1f}"
    )


def parse(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.big", description=__doc__)
    parser.add_argument("--rows", type=int, default=FULL_ROWS)
    parser.add_argument("--cols", type=int, default=FULL_COLS)
    parser.add_argument("--seed", type=int, default=2022)
    parser.add_argument("--family", default="gaussian", help="or binomial: a click")
    parser.add_argument("--plain", action="store_true", help="rescale=False")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--progress", action="store_true")
    return parser.parse_args(arguments)


def fit(X, y, family="gaussian", **settings):
    """The path of the benchmark."""
    return ncvpath(
        X, y, family=family, penalty="logsum", standardize=False, intercept=True,
        nlambda=30, lambda_min_ratio=0.05, tol=1e-4, **settings,
    )


def click_logs(rows, cols, seed):
    """X, a CSC array of ones, and y."""
    rng = np.random.default_rng(seed)
    sizes = field_sizes(cols)
    starts = np.append(0, np.cumsum(sizes))
    indptr, indices = [np.zeros(1, dtype=np.int64)], []
    for size in sizes:
        levels = zipf_levels(rng, rows, size)
        # Rows sorted by level, and within a level as they come: CSC of this field.
        indices.append(np.argsort(levels, kind="stable").astype(np.int32))
        ends = np.cumsum(np.bincount(levels, minlength=size))
        indptr.append(indptr[-1][-1] + ends)
    indptr, indices = np.concatenate(indptr), np.concatenate(indices)
    X = csc_array((np.ones(indices.size), indices, indptr), shape=(rows, starts[-1]))
    return X, response(rng, X)


def field_sizes(cols):
    """Levels of each field: from few to many in equal ratios, `cols` together."""
    largest = max(LARGEST * cols // FULL_COLS, 2)
    smallest = min(SMALLEST, max(largest // 4, 2))
    low, high = 0.05, 20.0  # the exponent that makes them add up, by bisection
    share = np.linspace(0, 1, FIELDS)
    for _ in range(60):
        middle = 0.5 * (low + high)
        total = (smallest * (largest / smallest) ** (share**middle)).sum()
        low, high = (middle, high) if total > cols else (low, middle)
    sizes = np.floor(smallest * (largest / smallest) ** (share**low)).astype(int)
    sizes[-2] += cols - sizes.sum()  # what rounding left
    return np.maximum(sizes, 1)


def zipf_levels(rng, rows, size):
    """One level for every row, level k with probability proportional to k^-1.1."""
    chances = np.cumsum(np.arange(1, size + 1, dtype=float) ** -ZIPF)
    chances /= chances[-1]
    levels = np.searchsorted(chances, rng.random(rows))
    hashed = rng.permutation(size).astype(np.int32)
    return hashed[np.minimum(levels, size - 1)]


def response(rng, X):
    """The sum of some features that are seen often, and noise of the same variance."""
    seen = np.diff(X.indptr)
    often = np.flatnonzero(seen >= min(SEEN, max(SEEN * X.shape[0] // FULL_ROWS, 5)))
    true = rng.choice(often, min(TRUE, often.size // 2), replace=False)
    signal = np.zeros(X.shape[0])
    for j, effect in zip(true, rng.standard_normal(true.size)):
        signal[X.indices[X.indptr[j] : X.indptr[j + 1]]] += effect
    return signal + signal.std() * rng.standard_normal(X.shape[0])


def clicks(y, seed):
    """Zeros and ones, ones with the odds e^y."""
    rng = np.random.default_rng([seed, 1])
    return (rng.random(y.size) < 1 / (1 + np.exp(-y))).astype(float)


def peak_memory():
    """The most memory this process has had, in GB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


if __name__ == "__main__":
    main()
