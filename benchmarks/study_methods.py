"""The methods of the study: each fits, and chooses lambda by both rules.

A method returns by rule the coefficients of its choice, and seconds if it knows better
than the clock how long that took.
"""

import shutil
import subprocess
import tempfile
import warnings
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln

from ncvpath import cv_ncvpath

SETTINGS = dict(nlambda=60, n_threads=1, convex=False)
MOST = 30  # features of best subsets, and of refits


class Drawn(NamedTuple):
    """One draw, with its truth."""

    family: str
    X: np.ndarray
    y: np.ndarray
    beta: np.ndarray
    labels: np.ndarray  # of the folds

    def oracle(self):
        """Unpenalised coefficients of the features that are in the truth."""
        return self.refit(np.flatnonzero(self.beta))[0]

    def refit(self, used):
        """Unpenalised coefficients of some features, and the log-likelihood."""
        n, p = self.X.shape
        A, full = np.column_stack([np.ones(n), self.X[:, used]]), np.zeros(p)
        if self.family == "gaussian":
            b = np.linalg.lstsq(A, self.y)[0]
            loglik = -0.5 * n * np.log(((self.y - A @ b) ** 2).mean())
        else:
            b = logistic(A, self.y)
            eta = A @ b
            loglik = self.y @ eta - np.logaddexp(0, eta).sum()
        full[used] = b[1:]
        return full, loglik

    def ebic(self, loglik, size):
        """The extended BIC of a model."""
        n, p = self.X.shape
        ways = gammaln(p + 1) - gammaln(size + 1) - gammaln(p - size + 1)
        return -2 * loglik + size * np.log(n) + 2 * ways


def logistic(A, y, ridge=1e-3):
    """Logistic regression by Newton's method, with a ridge that keeps it finite."""
    b = np.zeros(A.shape[1])
    for _ in range(50):
        mu = expit(A @ b)
        h = A.T @ (A * (mu * (1 - mu))[:, None]) + ridge * np.eye(b.size)
        step = np.linalg.solve(h, A.T @ (y - mu) - ridge * b)
        b += step * min(1.0, 5.0 / max(np.abs(step).max(), 1e-300))
        if np.abs(step).max() < 1e-9:
            break
    return b


def ours(data, **settings):
    """A path of this package and its cross-validation."""
    cv = fitted(data, **settings)
    path = cv.fit
    best = int(np.argmin(path.ebic().to_numpy()))
    return {
        "cv": (column(path, cv.index_min), None), "ebic": (column(path, best), None)
    }


def fitted(data, **settings):
    """A cross-validated path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cv_ncvpath(
            data.X, data.y, family=data.family, folds=data.labels,
            **SETTINGS | settings,
        )


def column(path, k):
    """The coefficients at one lambda."""
    return path.beta[:, [k]].toarray().ravel()


def searched(data, search, **settings):
    """A path whose search needs a fixed objective."""
    rescale = None if data.family == "gaussian" else False
    return ours(data, search=search, rescale=rescale, **settings)


def adaptive(data):
    """The lasso again, with penalties that are the less the larger it was."""
    first = fitted(data, penalty="lasso")
    b = np.abs(column(first.fit, first.index_min)) * data.X.std(axis=0)
    if not b.any():
        return {rule: (b, None) for rule in ("cv", "ebic")}
    factor = np.full(b.size, np.inf)
    factor[b > 0] = b.max() / b[b > 0]
    return ours(data, penalty="lasso", penalty_factor=factor)


def abess(data):
    """Best subsets by splicing."""
    from abess import LinearRegression, LogisticRegression

    found = {}
    kind = LinearRegression if data.family == "gaussian" else LogisticRegression
    sizes = range(min(MOST, data.X.shape[1], data.X.shape[0] // 3) + 1)
    for rule, how in (("cv", dict(cv=10)), ("ebic", dict(ic_type="ebic"))):
        fit = kind(support_size=sizes, thread=1, **how)
        given = {"cv_fold_id": data.labels} if rule == "cv" else {}
        fit.fit(data.X, data.y, **given)
        found[rule] = (np.asarray(fit.coef_, dtype=float).ravel(), None)
    return found


RELAXED = """
suppressMessages(library(glmnet))
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  a <- strsplit(line, " ")[[1]]; n <- as.integer(a[2]); p <- as.integer(a[3])
  v <- readBin(a[1], "double", n * (p + 2)); m <- matrix(v, n)
  x <- m[, 1:p]; y <- m[, p + 1]; id <- as.integer(m[, p + 2]) + 1
  start <- proc.time()[3]
  fit <- suppressWarnings(cv.glmnet(x, y, family = a[4], relax = TRUE, foldid = id,
                                    nlambda = 60))
  b <- as.numeric(coef(fit, s = "lambda.min", gamma = "gamma.min"))[-1]
  took <- proc.time()[3] - start
  beta <- as.matrix(fit$glmnet.fit$beta)
  used <- apply(beta != 0, 2, function(j) paste(which(j), collapse = ","))
  cat(paste(b, collapse = ","), "\\n", sep = "")
  cat(took, "\\n", sep = ""); cat(paste(unique(used), collapse = ";"), "\\n", sep = "")
  flush(stdout())
}
"""


@cache
def r_process():
    """R, which waits for data."""
    return subprocess.Popen(
        ["Rscript", "-e", RELAXED], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )


def relaxed(data):
    """Glmnet's relaxed lasso; by EBIC the refits of the lasso's supports."""
    R, (n, p) = r_process(), data.X.shape
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data"
        np.column_stack([data.X, data.y, data.labels]).ravel(order="F").tofile(file)
        R.stdin.write(f"{file} {n} {p} {data.family}\n")
        R.stdin.flush()
        b = np.array([float(v) for v in R.stdout.readline().split(",")])
        took, supports = float(R.stdout.readline()), R.stdout.readline().strip()
    fits = []
    for text in supports.split(";"):
        used = np.array([int(v) - 1 for v in text.split(",") if v], dtype=int)
        if used.size <= min(MOST, n // 3):
            fit, loglik = data.refit(used)
            fits.append((data.ebic(loglik, used.size), fit))
    best = min(fits, key=lambda fit: fit[0])[1]
    return {"cv": (b, took), "ebic": (best, took)}


METHODS = {
    "lasso": partial(ours, penalty="lasso"),
    "relaxed lasso": relaxed,
    "adaptive lasso": adaptive,
    "abess": abess,
    "MCP": partial(ours, penalty="MCP"),
    "MCP both": partial(searched, penalty="MCP", search="both"),
    "MCP thorough": partial(searched, penalty="MCP", search="thorough"),
    "MCP gamma 1.5": partial(ours, penalty="MCP", gamma=1.5),
    "MCP gamma 6": partial(ours, penalty="MCP", gamma=6.0),
    "SCAD": partial(ours, penalty="SCAD"),
    "logsum": partial(ours, penalty="logsum"),
    "capped": partial(ours, penalty="capped"),
}


def installed(name):
    """Whether a method can be run here."""
    if name == "relaxed lasso":
        return shutil.which("Rscript") is not None
    return name != "abess" or find_spec("abess") is not None
