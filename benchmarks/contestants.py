"""Who races: ncvpath and every peer that is installed.

A contestant fits one path of a problem without intercept on standardized columns,
    1/(2n) |y - X b|^2 + penalty,
at given lambdas, and returns seconds and coefficients (p x L).
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np

from ncvpath import ncvpath
from ncvpath.penalties import PENALTIES

LASSO = ("lasso",)
ALL = ("lasso", "MCP", "SCAD", "logsum")


@dataclass(frozen=True)
class Contestant:
    """A name, the penalties it knows, and how to run it."""

    name: str
    package: str
    penalties: tuple[str, ...]
    tolerances: Callable  # g0 -> tolerances to try, loosest first
    run: Callable  # (X, y, penalty, lambdas, tol) -> seconds, coefficients


# As the process was given them; a peer's OpenMP pins the main thread to one of them.
CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
N_CORES = len(CORES) if CORES else os.cpu_count()


def clocked(fit):
    """Seconds and result of one call, warnings of peers left out, on all cores."""
    if CORES is not None:
        os.sched_setaffinity(0, CORES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        result = fit()
        return perf_counter() - start, result


def run_ours(X, y, penalty, lambdas, tol):
    """Our own, on the columns as they are."""
    seconds, path = clocked(
        lambda: ncvpath(
            X, y, penalty=penalty, lambdas=lambdas, tol=tol, standardize=False,
            intercept=False, convex=False,
        )
    )
    return seconds, path.beta


def run_ours_default(X, y, penalty, lambdas, tol):
    """Our own as one calls it, standardizing once more and with an intercept."""
    seconds, path = clocked(
        lambda: ncvpath(X, y, penalty=penalty, lambdas=lambdas, tol=tol)
    )
    return seconds, path.beta


def run_skglm(X, y, penalty, lambdas, tol):
    """Anderson-accelerated coordinate descent with working sets."""
    from skglm.solvers import AndersonCD

    datafit, term, unit = skglm_parts(penalty, float(np.sqrt((y**2).mean())))
    solver = AndersonCD(tol=tol, fit_intercept=False, max_iter=200)
    seconds, fit = clocked(
        lambda: solver.path(X, y, datafit, term, alphas=lambdas * unit)
    )
    return seconds, fit[1]


@cache
def skglm_parts(penalty, spread):
    """Compiled once, as a warm process has them."""
    from skglm import penalties
    from skglm.datafits import Quadratic
    from skglm.utils.jit_compilation import compiled_clone

    gamma = PENALTIES[penalty.lower()].gamma
    theta = gamma * spread if penalty == "logsum" else None
    term = {
        "lasso": lambda: penalties.L1(1.0),
        "MCP": lambda: penalties.MCPenalty(1.0, gamma),
        "SCAD": lambda: penalties.SCAD(1.0, gamma),
        "logsum": lambda: penalties.LogSumPenalty(1.0, theta),
    }[penalty]()
    return compiled_clone(Quadratic()), compiled_clone(term), theta or 1.0


def run_celer(X, y, penalty, lambdas, tol):
    """Dual extrapolation and working sets."""
    from celer import celer_path

    seconds, fit = clocked(lambda: celer_path(X, y, "lasso", alphas=lambdas, tol=tol))
    return seconds, fit[1]


def run_sklearn(X, y, penalty, lambdas, tol):
    """Plain coordinate descent with gap-safe screening."""
    from sklearn.linear_model import lasso_path

    seconds, fit = clocked(
        lambda: lasso_path(X, y, alphas=lambdas, tol=tol, max_iter=100_000)
    )
    return seconds, fit[1]


def run_adelie(n_threads):
    """Group elastic net with groups of one; returns the runner for n_threads."""

    def run(X, y, penalty, lambdas, tol):
        import adelie

        seconds, state = clocked(
            lambda: adelie.grpnet(
                X, adelie.glm.gaussian(y), lmda_path=lambdas, intercept=False,
                early_exit=False, tol=tol, progress_bar=False, n_threads=n_threads,
                max_iters=10**7,
            )
        )
        return seconds, state.betas.T

    return run


GLMNET = """
a <- commandArgs(TRUE); d <- scan(paste0(a[1], ".dim"), quiet = TRUE)
X <- matrix(readBin(paste0(a[1], ".X"), "double", prod(d)), d[1], d[2])
y <- readBin(paste0(a[1], ".y"), "double", d[1])
l <- readBin(paste0(a[1], ".l"), "double", d[3])
suppressMessages(library(glmnet))
s <- system.time(f <- glmnet(X, y, lambda = l, standardize = FALSE, intercept = FALSE,
                             thresh = as.numeric(a[2]), maxit = 1e7))
writeBin(as.double(as.matrix(f$beta)), paste0(a[1], ".b"))
cat(s[["elapsed"]], ncol(f$beta))
"""


def run_glmnet(X, y, penalty, lambdas, tol):
    """R's glmnet in a process of its own, timed inside R."""
    with tempfile.TemporaryDirectory() as folder:
        stem = str(Path(folder) / "problem")
        Path(stem + ".dim").write_text(f"{X.shape[0]} {X.shape[1]} {lambdas.size}")
        for suffix, values in ((".X", X.ravel(order="F")), (".y", y), (".l", lambdas)):
            values.tofile(stem + suffix)
        command = ["Rscript", "-e", GLMNET, stem, str(tol)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, count = run.stdout.split()[-2:]
        beta = np.fromfile(stem + ".b").reshape(-1, int(count), order="F")
    return float(seconds), beta


def glmnet_is_there():
    """Whether Rscript and the package glmnet are installed."""
    if shutil.which("Rscript") is None:
        return False
    test = "quit(status = !requireNamespace('glmnet', quietly = TRUE))"
    return subprocess.run(["Rscript", "-e", test], capture_output=True).returncode == 0


def glmnet_version():
    """The version of R's glmnet."""
    ask = "cat(format(packageVersion('glmnet')))"
    return subprocess.run(["Rscript", "-e", ask], capture_output=True, text=True).stdout


def relative(g0):
    """A tolerance that is the violation, in units of the null gradient."""
    return (1e-6,)


def absolute(g0):
    """A tolerance that is the violation itself."""
    return (1e-6 * g0,)


def powers(first, last):
    """Tolerances of another kind: tried until the measured violation is small."""
    return lambda g0: tuple(10.0**-k for k in range(first, last + 1))


EVERY = (
    Contestant("ncvpath", "ncvpath", ALL, relative, run_ours),
    Contestant("ncvpath (default call)", "ncvpath", ALL, relative, run_ours_default),
    Contestant("skglm", "skglm", ALL, absolute, run_skglm),
    Contestant("celer", "celer", LASSO, powers(6, 12), run_celer),
    Contestant("adelie, 1 thread", "adelie", LASSO, powers(10, 15), run_adelie(1)),
    Contestant("adelie, 2 threads", "adelie", LASSO, powers(10, 15), run_adelie(2)),
    Contestant("scikit-learn", "sklearn", LASSO, powers(6, 12), run_sklearn),
    Contestant("glmnet", "glmnet", LASSO, powers(9, 16), run_glmnet),
)


def installed():
    """The contestants that can run here, and the names of those that cannot."""
    here, absent = [], []
    for one in EVERY:
        there = (
            glmnet_is_there() if one.package == "glmnet"
            else importlib.util.find_spec(one.package) is not None
        )
        (here if there else absent).append(one)
    return here, [one.name for one in absent]
