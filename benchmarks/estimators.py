"""Estimators beside estimators: `python -m benchmarks.estimators`.

Seconds of `fit` with five-fold cross-validation over the same 100 lambdas down to
0.05 lambda_max (`--ratio`), on the same folds, with the tolerance that each has by
default (ours is the tightest): NcvRegressor and NcvClassifier; scikit-learn's LassoCV
and LogisticRegressionCV (saga, l1); skglm's GeneralizedLinearEstimatorCV, its solver
warm-started; celer's LassoCV, and its estimators in a GridSearchCV. Classes are drawn
from the response. Each contestant fits in a process of its own, once on a small problem
that compiles what it has to compile, then `--repeats` times, on `--jobs` threads; who
takes more than `--cap` seconds per fit is stopped. Printed are our median and the
others' as multiples of it, with the chosen lambda over lambda_max, which nearly agrees
where accuracies do: scikit-learn and skglm judge classes by the share of right ones, we
by deviance.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from .families import classes
from .problems import PROBLEMS

ROOT = Path(__file__).resolve().parents[1]
FOLDS, SEED = 5, 0


# ---- contestants: from lambdas, folds and threads to an estimator, and how it says
# ---- which lambda it chose


def ours(kind, penalty):
    """NcvRegressor or NcvClassifier, as one calls it."""

    def make(lambdas, folds, jobs, rows):
        from ncvpath import estimators

        cls = getattr(estimators, kind)
        estimator = cls(penalty=penalty, lambdas=lambdas, cv=folds, n_jobs=jobs)
        return estimator, lambda: estimator.lambda_

    return make


def lasso_cv(package):
    """LassoCV of scikit-learn, or of celer, which follows it."""

    def make(lambdas, folds, jobs, rows):
        from importlib import import_module

        cls = import_module(package).LassoCV
        estimator = cls(alphas=lambdas, cv=folds, n_jobs=jobs)
        return estimator, lambda: estimator.alpha_

    return make


def logistic_cv(lambdas, folds, jobs, rows):
    """LogisticRegressionCV, whose C is 1 / (n lambda)."""
    from sklearn.linear_model import LogisticRegressionCV

    estimator = LogisticRegressionCV(
        Cs=1 / (rows * lambdas), cv=folds, n_jobs=jobs, solver="saga", max_iter=1000,
        penalty="l1", random_state=SEED,
    )
    return estimator, lambda: 1 / (rows * np.ravel(estimator.C_)[0])


def skglm_cv(family, penalty):
    """That of skglm, which draws these folds itself."""

    def make(lambdas, folds, jobs, rows):
        from skglm.cv import GeneralizedLinearEstimatorCV
        from skglm.datafits import Logistic, Quadratic
        from skglm.penalties import L1, MCPenalty
        from skglm.solvers import AndersonCD, ProxNewton

        datafit = Logistic() if family == "binomial" else Quadratic()
        term = L1(1.0) if penalty == "lasso" else MCPenalty(1.0, 3.0)
        solver = ProxNewton if family == "binomial" else AndersonCD
        estimator = GeneralizedLinearEstimatorCV(
            datafit, term, solver(warm_start=True), alphas=lambdas, cv=FOLDS,
            n_jobs=jobs, random_state=SEED,
        )
        return estimator, lambda: estimator.alpha_

    return make


def celer_grid(name):
    """Those of celer, which have one lambda each, and begin from nothing."""

    def make(lambdas, folds, jobs, rows):
        import celer
        from sklearn.model_selection import GridSearchCV

        wanted = {"alpha": lambdas} if name == "Lasso" else {"C": 1 / (rows * lambdas)}
        search = GridSearchCV(getattr(celer, name)(), wanted, cv=folds, n_jobs=jobs)

        def chosen():
            best, = search.best_params_.values()
            return best if name == "Lasso" else 1 / (rows * best)

        return search, chosen

    return make


# By family and penalty; the first is ours.
CONTESTANTS = {
    ("gaussian", "lasso"): {
        "NcvRegressor": ours("NcvRegressor", "lasso"),
        "LassoCV": lasso_cv("sklearn.linear_model"),
        "skglm": skglm_cv("gaussian", "lasso"),
        "celer LassoCV": lasso_cv("celer"),
        "celer, grid": celer_grid("Lasso"),
    },
    ("gaussian", "MCP"): {
        "NcvRegressor": ours("NcvRegressor", "MCP"),
        "skglm": skglm_cv("gaussian", "MCP"),
    },
    ("binomial", "lasso"): {
        "NcvClassifier": ours("NcvClassifier", "lasso"),
        "LogisticRegressionCV": logistic_cv,
        "skglm": skglm_cv("binomial", "lasso"),
        "celer, grid": celer_grid("LogisticRegression"),
    },
}


# ---- one contestant, in a process of its own ---------------------------------------


def fit_and_print(name, family, penalty, contestant, jobs, ratio, repeats, cpu):
    """Seconds of each fit and the lambda chosen over lambda_max, line by line."""
    import warnings

    warnings.simplefilter("ignore")
    make = CONTESTANTS[family, penalty][contestant]
    clock = process_time if cpu else perf_counter
    small = np.random.default_rng(SEED).standard_normal((60, 20))
    fit(make, np.asfortranarray(small), small[:, 0] > 0, family, jobs, ratio, clock)
    X, y = classes(name) if family == "binomial" else PROBLEMS[name]()
    print("ready", flush=True)
    for _ in range(repeats):
        print(*fit(make, X, y, family, jobs, ratio, clock), flush=True)


def fit(make, X, y, family, jobs, ratio, clock):
    """Seconds of a fit, and the lambda it chose over lambda_max."""
    from sklearn.model_selection import KFold, StratifiedKFold

    y, n = y.astype(float), y.size
    top = np.abs(X.T @ (y - y.mean())).max() / n
    lambdas = top * np.geomspace(1, ratio, 100)
    split = StratifiedKFold if family == "binomial" else KFold
    folds = split(FOLDS, shuffle=True, random_state=SEED)
    estimator, chosen = make(lambdas, folds, jobs, n * (FOLDS - 1) / FOLDS)
    start = clock()
    estimator.fit(X, y)
    return clock() - start, chosen() / top


def run(job, options):
    """Median seconds and the lambda, or why there are none."""
    job = (*job, options.jobs, options.ratio, options.repeats, options.cpu)
    code = f"from benchmarks.estimators import fit_and_print as f; f(*{job!r})"
    single = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
        str(options.jobs),
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | single, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()  # ready, or dead
        try:
            out, errors = process.communicate(timeout=options.cap * options.repeats)
        except subprocess.TimeoutExpired:
            process.kill()
            out, errors = process.communicate()
            return read(out.splitlines()) if out else f"> {options.cap:g} s"
    if process.returncode:
        return f"fails: {errors.strip().splitlines()[-1]}"
    return read(out.splitlines())


def read(lines):
    """The median of the seconds, and the lambda."""
    figures = np.array([line.split() for line in lines], dtype=float)
    return np.median(figures[:, 0]), figures[-1, 1]


def main():
    """A line for each contestant on each problem."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.estimators")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS,
                        default=["chance-small", "blocks", "wide", "tall"])
    parser.add_argument("--cap", type=float, default=60.0, help="seconds per fit")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ratio", type=float, default=0.05)
    parser.add_argument(
        "--cpu", action="store_true",
        help="processor time, where others work as well (and --jobs is 1)",
    )
    options = parser.parse_args()
    for name in options.problems:
        for (family, penalty), contestants in CONTESTANTS.items():
            seconds = None
            for contestant in contestants:
                found = run((name, family, penalty, contestant), options)
                if isinstance(found, str):
                    shown = found
                elif seconds is None:
                    seconds = found[0]
                    shown = f"{found[0]:.3f} s, lambda {found[1]:.3f}"
                else:
                    shown = f"{found[0] / seconds:.1f} x, lambda {found[1]:.3f}"
                print(f"{name:12} {family} {penalty:5} {contestant:20} {shown}",
                      flush=True)


if __name__ == "__main__":
    main()
