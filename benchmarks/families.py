"""Race families against peers: `python -m benchmarks.families`.

Columns are those of the other races, with classes or survival times drawn from their
response; or sparse text with its own. All fit the same lambdas down to 0.05 lambda_max
(`--ratio`), or to where our path ends.
Peers' tolerances are tightened until the *measured* violation of Fermat's conditions is
at most 1e-6 lambda_max, or none of theirs gets there: then the best is taken, and said.
Printed are seconds of ours, and of the others as multiples, medians of interleaved
runs. Nonconvex penalties: skglm has no adaptive rescaling, so both fit the plain
penalty with gamma=12. Peers are stopped after a minute: they then are "more than" as
slow. Beside it stands our own default call over glmnet's lasso.
"""

import argparse
import subprocess
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.sparse import csc_matrix, issparse

from ncvpath import cv_ncvpath, ncvpath

from .contestants import N_CORES, clocked, glmnet_is_there
from .problems import PROBLEMS, chain, loaded, unit_columns

GOAL, CAP = 1e-6, 60.0
GAMMA = 12.0  # of the plain penalty: convex in one coordinate where curvature is 1/4


def classes(name):
    """The columns of a problem, and classes by its response."""
    X, y = PROBLEMS[name]()
    rng = np.random.default_rng(5)
    return X, (rng.random(y.size) < 1 / (1 + np.exp(-2 * y / y.std()))).astype(float)


def news(counts):
    """Words of three newsgroups, sparse, and whether a text is of the first: counts, or
    columns of mean square 1."""
    X, y = loaded("news20_3cat")
    return X if counts else unit_columns(X), (y == 0).astype(float)


def times(n=2000, p=5000):
    """Exponential times with a risk by columns in a chain, half of them censored."""
    X, y = chain(n, p, 20)
    rng = np.random.default_rng(6)
    event = rng.exponential(np.exp(-y / y.std()))
    censored = rng.exponential(np.exp(-y / y.std()))
    return X, np.column_stack([np.minimum(event, censored), event <= censored])


def residual(y, eta):
    """Score residuals of classes, or of times (which have no ties)."""
    if y.ndim == 1:
        return y[:, None] - 1 / (1 + np.exp(-eta))
    order = np.argsort(-y[:, 0])
    risk = np.exp(eta[order] - eta.max(axis=0))
    hazard = y[order, 1][:, None] / np.cumsum(risk, axis=0)
    expected = risk * np.cumsum(hazard[::-1], axis=0)[::-1]
    found = np.empty_like(eta)
    found[order] = y[order, 1][:, None] - expected
    return found


def violation(X, y, lambdas, fit, penalty, gamma):
    """The largest violation of Fermat's conditions, relative to lambda_max."""
    intercept, beta = fit
    r = residual(y, X @ beta + intercept)
    q, size = X.T @ r / len(y), np.abs(beta)
    slope = lambdas + 0 * beta
    if penalty != "lasso":
        slope = np.maximum(lambdas - size / gamma, 0)
    if penalty == "SCAD":
        slope = np.maximum(gamma * lambdas - size, 0) / (gamma - 1)
        slope = np.where(size <= lambdas, lambdas, slope)
    off = np.where(beta != 0, np.abs(q - np.sign(beta) * slope), np.abs(q) - lambdas)
    pull = np.abs(r.mean(axis=0)).max() if y.ndim == 1 else 0.0
    return max(off.max(), pull) / lambdas[0]


def run_ours(X, y, lambdas, penalty, tol):
    """Our own, the plain penalty."""
    gamma = None if penalty == "lasso" else GAMMA
    seconds, path = clocked(
        lambda: ncvpath(
            X, y, family=family_of(y), penalty=penalty, gamma=gamma, lambdas=lambdas,
            rescale=False, standardize=False, convex=False, tol=GOAL,
        )
    )
    return seconds, (path.intercept, path.beta.toarray())


def run_skglm(X, y, lambdas, penalty, tol):
    """Proximal Newton (survival, the lasso) or coordinate descent (classes)."""
    from skglm.solvers import AndersonCD, ProxNewton

    datafit, term = skglm_parts(penalty, y.ndim == 1)
    if y.ndim == 1:
        solver = AndersonCD(tol=tol * lambdas[0], fit_intercept=True, max_iter=200)
        response = 2 * y - 1
    else:
        solver = ProxNewton(tol=tol * lambdas[0], fit_intercept=False, max_iter=200)
        response = np.asfortranarray(y)
    found, begun = np.zeros((X.shape[1] + 1, lambdas.size)), perf_counter()

    def fit():
        if issparse(X):
            datafit.initialize_sparse(X.data, X.indptr, X.indices, response)
        else:
            datafit.initialize(X, response)
        w, Xw = np.zeros(X.shape[1] + (y.ndim == 1)), np.zeros(len(y))
        for k, lam in enumerate(lambdas):
            term.alpha = lam
            w, *_ = solver.solve(X, response, datafit, term, w.copy(), Xw.copy())
            Xw = X @ w[: X.shape[1]] + (w[-1] if y.ndim == 1 else 0.0)
            found[: w.size, k] = w
            if perf_counter() - begun > CAP:
                return found[:, : k + 1]
        return found

    seconds, found = clocked(fit)
    return seconds, (found[-1], found[:-1])


@cache
def skglm_parts(penalty, binary):
    """Compiled once, as a warm process has them."""
    from skglm import penalties
    from skglm.datafits import Cox, Logistic
    from skglm.utils.jit_compilation import compiled_clone

    term = {
        "lasso": lambda: penalties.L1(1.0),
        "MCP": lambda: penalties.MCPenalty(1.0, GAMMA),
        "SCAD": lambda: penalties.SCAD(1.0, GAMMA),
    }[penalty]()
    return compiled_clone(Logistic() if binary else Cox()), compiled_clone(term)


def run_adelie(X, y, lambdas, penalty, tol):
    """On all cores; one that is slower here would be no news."""
    import adelie

    if issparse(X):
        X = adelie.matrix.sparse(csc_matrix(X), method="naive", n_threads=N_CORES)
    glm = adelie.glm.binomial(y) if y.ndim == 1 else adelie.glm.cox(
        np.zeros(len(y)), y[:, 0], y[:, 1], tie_method="breslow"
    )
    seconds, state = clocked(
        lambda: adelie.grpnet(
            X, glm, lmda_path=lambdas, intercept=y.ndim == 1, early_exit=False,
            tol=tol, irls_tol=tol, progress_bar=False, n_threads=N_CORES, max_iters=10**7,
        )
    )
    intercepts = np.asarray(state.intercepts)
    return seconds, (intercepts, np.asarray(state.betas.T.todense()))


GLMNET = """
a <- commandArgs(TRUE); d <- scan(paste0(a[1], ".dim"), quiet = TRUE)
X <- readBin(paste0(a[1], ".X"), "double", if (d[5] == 0) d[1] * d[2] else d[5])
X <- if (d[5] == 0) matrix(X, d[1], d[2]) else Matrix::sparseMatrix(
  i = readBin(paste0(a[1], ".i"), "integer", d[5]), x = X, dims = d[1:2],
  p = readBin(paste0(a[1], ".p"), "integer", d[2] + 1), index1 = FALSE)
y <- matrix(readBin(paste0(a[1], ".y"), "double", d[1] * d[4]), d[1], d[4])
l <- readBin(paste0(a[1], ".l"), "double", d[3])
suppressMessages(library(glmnet))
family <- if (d[4] == 1) "binomial" else "cox"
if (d[4] == 2) y <- survival::Surv(y[, 1], y[, 2])
s <- system.time(f <- glmnet(X, y, family = family, lambda = l, standardize = FALSE,
                             thresh = as.numeric(a[2]), maxit = 1e7))
b <- as.matrix(f$beta)
b <- rbind(if (d[4] == 1) f$a0 else rep(0, ncol(b)), b)
writeBin(as.double(b), paste0(a[1], ".b"))
cat(s[["elapsed"]], ncol(b))
"""


def run_glmnet(X, y, lambdas, penalty, tol):
    """R's glmnet in a process of its own, timed inside R."""
    y = y.reshape(len(y), -1)
    with tempfile.TemporaryDirectory() as folder:
        stem = str(Path(folder) / "problem")
        entries, files = 0, {".X": X, ".y": y, ".l": lambdas}
        if issparse(X):
            entries, files[".X"] = X.nnz, X.data
            files |= {".i": X.indices.astype("i4"), ".p": X.indptr.astype("i4")}
        sizes = f"{X.shape[0]} {X.shape[1]} {lambdas.size} {y.shape[1]} {entries}"
        Path(stem + ".dim").write_text(sizes)
        for suffix, values in files.items():
            values.ravel(order="F").tofile(stem + suffix)
        command = ["Rscript", "-e", GLMNET, stem, str(tol)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, count = run.stdout.split()[-2:]
        found = np.fromfile(stem + ".b").reshape(-1, int(count), order="F")
    return float(seconds), (found[0], found[1:])


def family_of(y):
    """By the shape of y."""
    return "binomial" if y.ndim == 1 else "cox"


# Tolerances to try, loosest first.
PEERS = {
    "skglm": (run_skglm, (1e-6,)),
    "adelie": (run_adelie, tuple(10.0**-k for k in range(7, 14))),
    "glmnet": (run_glmnet, tuple(10.0**-k for k in range(7, 15))),
}


def tuned(run, tolerances, X, y, lambdas, penalty):
    """The loosest tolerance that meets the goal, or else the best one tried."""
    best = np.inf, None, None
    for tol in tolerances:
        seconds, fit = run(X, y, lambdas, penalty, tol)
        n = fit[1].shape[1]
        found = violation(X, y, lambdas[:n], fit, penalty, GAMMA)
        if found < best[0]:
            best = found, tol, seconds
        if found <= GOAL or n < lambdas.size or seconds > CAP:
            break  # there, or each further one would take longer still
    return best


def path_lambdas(X, y, penalty, ratio, **settings):
    """The lambdas that our path has, up to the first that did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = ncvpath(
            X, y, family=family_of(y), penalty=penalty, lambda_min_ratio=ratio,
            standardize=False, **settings,
        )
    return path.lambdas[: np.argmin(np.append(path.converged, False))]


def race(name, X, y, penalty, repeats, ratio):
    """Print a line for one problem and penalty."""
    convex = penalty == "lasso"
    settings = {} if convex else {"gamma": GAMMA}
    lambdas = path_lambdas(X, y, penalty, ratio, rescale=False, **settings)
    runs, words = {"ours": partial(run_ours, X, y, lambdas, penalty, None)}, []
    rivals = ["adelie", "glmnet"] if convex else ["skglm", "glmnet"]
    for rival in rivals + ["skglm"] * (convex and issparse(X)):
        if rival == "glmnet" and not glmnet_is_there():
            continue
        run, tolerances = PEERS[rival]
        given = X, y, lambdas, penalty
        if rival == "glmnet" and not convex:
            given = X, y, path_lambdas(X, y, "lasso", ratio), "lasso"
        found, tol, seconds = tuned(run, tolerances, *given)
        words.append(f"{rival} at {found:.0e} (tol {tol:.0e})")
        if seconds < CAP:
            runs[rival] = partial(run, *given, tol)
        else:
            words[-1] += f" after {seconds:.0f} s, not finished"
    if not convex:
        runs["default"] = partial(run_default, X, y, penalty, ratio)
    spent = {who: [] for who in runs}
    for _ in range(repeats):
        for who, run in runs.items():
            spent[who].append(run()[0])
    seconds = {who: float(np.median(values)) for who, values in spent.items()}
    ours, default = seconds.pop("ours"), seconds.pop("default", None)
    if not convex and "glmnet" in seconds:
        over = default / seconds.pop("glmnet")
        words.append(f"default call over glmnet's lasso {over:.2f}")
    shown = ", ".join(f"{who} {value / ours:.2f}x" for who, value in seconds.items())
    print(
        f"{name:8} {penalty:6} {lambdas.size:3} lambdas, ours {ours:.3f} s: {shown} "
        f"[{'; '.join(words)}]", flush=True,
    )


def run_default(X, y, penalty, ratio):
    """Our call as it is typed, with adaptive rescaling, all 100 lambdas or its end."""
    return clocked(
        lambda: ncvpath(
            X, y, family=family_of(y), penalty=penalty, lambda_min_ratio=ratio
        )
    )


def ratios(name, X, y, penalty, repeats, ratio):
    """Print a path of classes over one of numbers, and cross-validation over it."""
    settings = dict(penalty=penalty, lambda_min_ratio=ratio)
    number = PROBLEMS[name]()[1]
    fits = {
        "numbers": lambda: ncvpath(X, number, **settings),
        "classes": lambda: ncvpath(X, y, family="binomial", **settings),
        "folds": lambda: cv_ncvpath(
            X, y, family="binomial", random_state=1, **settings
        ),
    }
    spent = {
        who: np.median([clocked(fit)[0] for _ in range(repeats + 1)][1:])
        for who, fit in fits.items()
    }
    print(
        f"{name:8} {penalty:6} classes / numbers "
        f"{spent['classes'] / spent['numbers']:.2f}, folds / path "
        f"{spent['folds'] / spent['classes']:.2f}", flush=True,
    )


# Problems with a response of their own.
OTHERS = {
    "cox": times,
    "news20": partial(news, counts=False),
    "news20-counts": partial(news, counts=True),
}


def main(arguments=None):
    """Race, and print a line for each problem and penalty."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=["blocks", "wide", "tall"])
    parser.add_argument("--penalties", nargs="+", default=["lasso", "MCP", "SCAD"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ratio", type=float, default=0.05, help="of the last lambda")
    parser.add_argument(
        "--ratios", action="store_true", help="of our own paths and folds instead"
    )
    options = parser.parse_args(arguments)
    for name in options.problems:
        X, y = OTHERS[name]() if name in OTHERS else classes(name)
        for penalty in options.penalties:
            contest = ratios if options.ratios else race
            contest(name, X, y, penalty, options.repeats, options.ratio)


if __name__ == "__main__":
    main()
