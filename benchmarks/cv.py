"""Cross-validation beside the path and peers: `python -m benchmarks.cv`.

For each problem the time of a 10-fold cross-validation over that of one path (medians
of interleaved runs), the peak of anonymous memory above X's own, and, with `--peers`,
how many times as long others take for ten folds of the same columns and lambdas, each
with the loosest tolerance at which its path of all rows has a measured violation of at
most 1e-6 lambda_max. glmnet and scikit-learn are given our folds, adelie draws ten of
the same sizes, and skglm, which has no cross-validation, fits fold by fold (three
folds, times 10 / 3).
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ncvpath import assign_folds, cv_ncvpath, ncvpath

from .contestants import N_CORES, clocked, installed
from .problems import PROBLEMS, standardized
from .race import calibrate

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
            print(line, flush=True)
            for peer, ratio in peers(X, y, penalty, cv) if options.peers else ():
                print(f"    {peer} / CV {ratio:.1f}", flush=True)


def times(X, y, penalty, repeats):
    """Medians of path and cross-validation, run in turns."""
    calls = (
        lambda: ncvpath(X, y, penalty=penalty, **SETTINGS),
        lambda: cv_ncvpath(X, y, penalty=penalty, **FOLDS, **SETTINGS),
    )
    spent = [[clocked(call)[0] for call in calls] for _ in range(repeats + 1)]
    return np.median(spent[1:], axis=0)  # the first one warms up


def peers(X, y, penalty, ours):
    """What those that are installed take over our cross-validation."""
    lambdas = ncvpath(X, y, penalty=penalty, **SETTINGS).lambdas
    labels, g0 = assign_folds(y.size, **FOLDS), np.abs(X.T @ y).max() / y.size
    here = {one.name: one for one in installed()[0]}
    for name, fit in PEERS.items():
        one = here.get(name)
        if one is not None and penalty in one.penalties:
            tol, _ = calibrate(one, X, y, penalty, lambdas, g0)
            yield name, fit(X, y, penalty, lambdas, labels, tol) / ours


def fold_by_fold(X, y, penalty, lambdas, labels, tol):
    """Seconds that skglm takes for the paths of ten folds, from those of three."""
    skglm, seconds = next(c for c in installed()[0] if c.name == "skglm"), 0.0
    for k in range(4):
        kept = labels != max(k - 1, 0)
        Z, z = standardized(X[kept], y[kept])
        spent, _ = skglm.run(Z, z, penalty, lambdas, tol)
        seconds += spent if k else 0.0  # the first one compiles
    return seconds * 10 / 3


def by_adelie(X, y, penalty, lambdas, labels, tol):
    """Its cross-validation, on all cores; the second of two runs."""
    import adelie

    def fit():
        adelie.cv_grpnet(
            X, adelie.glm.gaussian(y), n_threads=N_CORES, n_folds=10, seed=1,
            min_ratio=lambdas[-1] / lambdas[0], lmda_path_size=lambdas.size, tol=tol,
            max_iters=10**7, progress_bar=False,
        )

    return min(clocked(fit)[0] for _ in range(2))


def by_sklearn(X, y, penalty, lambdas, labels, tol):
    """LassoCV, on all cores."""
    from sklearn.linear_model import LassoCV

    rows = [(np.flatnonzero(labels != k), np.flatnonzero(labels == k))
            for k in np.unique(labels)]
    model = LassoCV(
        alphas=lambdas, cv=rows, tol=tol, max_iter=100_000, n_jobs=N_CORES
    )
    return clocked(lambda: model.fit(X, y))[0]


CV_GLMNET = """
a <- commandArgs(TRUE); d <- as.integer(strsplit(a[3], ",")[[1]])
v <- readBin(a[1], "double", d[1] * (d[2] + 2) + d[3])
m <- matrix(v[1:(d[1] * (d[2] + 2))], d[1]); l <- tail(v, d[3])
x <- m[, 1:d[2]]; y <- m[, d[2] + 1]; id <- as.integer(m[, d[2] + 2]) + 1
suppressMessages(library(glmnet))
cat(system.time(cv.glmnet(x, y, foldid = id, lambda = l, standardize = FALSE,
                          thresh = as.numeric(a[2]), maxit = 1e7))[["elapsed"]])
"""


def by_glmnet(X, y, penalty, lambdas, labels, tol):
    """R's cv.glmnet, timed inside R."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem"
        columns = np.column_stack([X, y, labels]).ravel(order="F")
        np.append(columns, lambdas).tofile(file)
        sizes = f"{y.size},{X.shape[1]},{lambdas.size}"
        command = ["Rscript", "-e", CV_GLMNET, str(file), str(tol), sizes]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(run.stdout.split()[-1])


PEERS = {
    "skglm": fold_by_fold, "adelie, 2 threads": by_adelie, "glmnet": by_glmnet,
    "scikit-learn": by_sklearn,
}


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
