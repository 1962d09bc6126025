"""Cross-validation beside the path: `python -m benchmarks.cv`.

For each problem the time of a 10-fold cross-validation over that of one path (medians
of interleaved runs), the peak of anonymous memory above X's own, and, with `--peers`,
what skglm takes fold by fold (three folds, times 10 / 3) over our cross-validation.
"""

import argparse
import subprocess
import sys
from time import perf_counter

import numpy as np

from ncvpath import assign_folds, cv_ncvpath, ncvpath

from .contestants import installed
from .problems import PROBLEMS, standardized

SETTINGS = dict(lambda_min_ratio=0.05)
FOLDS = dict(nfolds=10, random_state=1)


def main():
    """Print a line for each problem and penalty."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=["blocks", "wide", "tall"])
    parser.add_argument("--penalties", nargs="+", default=["lasso", "MCP"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    for name in options.problems:
        X, y = PROBLEMS[name]()
        for penalty in options.penalties:
            path, cv = times(X, y, penalty, options.repeats)
            line = f"{name}, {penalty}: CV / path {cv / path:.1f}, peak memory above X "
            line += f"{memory(name, penalty):.2f} x X"
            if options.peers:
                line += f", skglm fold by fold / CV {peer(X, y, penalty) / cv:.1f}"
            print(line, flush=True)


def times(X, y, penalty, repeats):
    """Medians of path and cross-validation, run in turns."""
    calls = (
        lambda: ncvpath(X, y, penalty=penalty, **SETTINGS),
        lambda: cv_ncvpath(X, y, penalty=penalty, **FOLDS, **SETTINGS),
    )
    spent = [[clocked(call) for call in calls] for _ in range(repeats + 1)]
    return np.median(spent[1:], axis=0)  # the first one warms up


def clocked(call):
    """Seconds of a call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def peer(X, y, penalty):
    """Seconds that skglm takes for the paths of ten folds, from those of three."""
    skglm = next(c for c in installed()[0] if c.name == "skglm")
    lambdas = ncvpath(X, y, penalty=penalty, **SETTINGS).lambdas
    labels, seconds = assign_folds(y.size, 10, random_state=1), 0.0
    for k in range(4):
        Z, z = standardized(X[labels != max(k - 1, 0)], y[labels != max(k - 1, 0)])
        tol = skglm.tolerances(np.abs(Z.T @ z).max() / z.size)[0]
        spent, _ = skglm.run(Z, z, penalty, lambdas, tol)
        seconds += spent if k else 0.0  # the first one compiles
    return seconds * 10 / 3


MEMORY = """
import numpy as np
from benchmarks.cv import FOLDS, SETTINGS
from benchmarks.memory import Watch
from benchmarks.problems import PROBLEMS
from ncvpath import cv_ncvpath

X, y = PROBLEMS[{name!r}]()
few = np.asfortranarray(np.random.default_rng(0).standard_normal((60, 40_000)))
cv_ncvpath(few, few[:, 0] + few[:, 1], penalty={penalty!r}, nlambda=20, nfolds=3)
del few
with Watch() as memory:
    cv_ncvpath(X, y, penalty={penalty!r}, **FOLDS, **SETTINGS)
print(memory.peak / X.nbytes)
"""


def memory(name, penalty):
    """Peak memory above that of X, as a share of X."""
    if sys.platform != "linux":
        return np.nan
    run = subprocess.run(
        [sys.executable, "-c", MEMORY.format(name=name, penalty=penalty)], text=True,
        capture_output=True, check=True,
    )
    return float(run.stdout)


if __name__ == "__main__":
    main()
