"""How low paths end beyond their convex part: `python -m benchmarks.quality`.

Objectives of ours, with every search, of our other systems (`--systems`) and of skglm
(`--skglm`), over reference figures: ncvreg's on the problems in ../shared/reference,
where they are at hand, and those of plain cyclic descent on problems drawn here, with
correlations, shapes and noise that vary. Printed are the mean of the logs of ratios,
the shares of lambdas at which ours is higher and lower by more than 1e-6, and seconds
of the processor and counted work over the forward path's.
"""

import argparse
import json
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd

from ncvpath import ncvpath

from .cyclic import objectives
from .problems import with_noise

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference"
TOL, SAME = 1e-8, 1e-6
SEARCHES = {name: dict(search=name) for name in ("forward", "both", "thorough")}
SYSTEMS = {
    "full set": dict(working_set="full"),
    "bcd": dict(solver="bcd"),
    "bcd, full set": dict(solver="bcd", working_set="full"),
}
GAMMA = {"MCP": 3.0, "SCAD": 3.7}
SIZES = (
    (60, 30), (100, 60), (200, 50), (50, 100), (80, 200), (100, 500), (150, 300)
)


class Case(NamedTuple):
    """A problem, and reference objectives beyond its convex part."""

    X: np.ndarray
    y: np.ndarray
    settings: dict
    first: int
    reference: np.ndarray


def main(arguments=None):
    """Print a table for each kind of reference."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--every", type=int, default=1, help="of ncvreg's problems")
    parser.add_argument("--systems", action="store_true", help="takes minutes")
    parser.add_argument("--skglm", action="store_true")
    options = parser.parse_args(arguments)
    entrants = SEARCHES | (SYSTEMS if options.systems else {})
    for title, cases in (
        ("over ncvreg's", list(references())[:: options.every]),
        ("over plain cyclic descent's", list(drawn_cases(options.draws))),
    ):
        if cases:
            print(f"{title}, {len(cases)} problems")
            print(table(cases, entrants, options.skglm).to_string(), "\n")


def references():
    """Ncvreg's objectives."""
    if not (REFERENCE / "quality.json").exists():
        return
    data = np.load(REFERENCE / "quality.npz")
    for one in json.loads((REFERENCE / "quality.json").read_text()):
        first, values = one["convex_min"], data[one["data"]].astype(float)
        if first is not None:
            settings = {name: one[name] for name in ("penalty", "gamma", "alpha")}
            settings["lambdas"] = one["lambda"]
            yield Case(
                values[:, 1:], values[:, 0], settings, first,
                np.array(one["objective"])[first:],
            )


def drawn_cases(count):
    """Problems of our own with the objectives of plain cyclic descent."""
    for number in range(count):
        X, y = drawn(number)
        penalty, alpha = ("MCP", "SCAD")[number % 2], (1.0, 0.8)[number // 2 % 2]
        path = ncvpath(
            X, y, penalty=penalty, alpha=alpha, nlambda=50, lambda_min_ratio=0.02
        )
        if path.convex_min is not None:
            first, gamma = path.convex_min + 1, GAMMA[penalty]
            found = objectives(X, y, path.lambdas, penalty, gamma, alpha)
            settings = dict(penalty=penalty, alpha=alpha, lambdas=path.lambdas)
            yield Case(X, y, settings, first, found[first:])


def drawn(number):
    """Columns with one factor in common, in blocks, or in a chain."""
    rng = np.random.default_rng([20, number])
    n, p = SIZES[rng.integers(len(SIZES))]
    rho, shape = rng.choice([0.3, 0.5, 0.7, 0.9, 0.95]), rng.integers(3)
    X = rng.standard_normal((n, p))
    if shape < 2:
        factors = rng.standard_normal((n, (1, 10)[shape]))
        X = np.sqrt(1 - rho) * X
        X += np.sqrt(rho) * factors[:, np.arange(p) % factors.shape[1]]
    else:
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    used = rng.permutation(p)[: rng.choice([3, 8, 15])]
    beta = rng.choice([-1.0, 1.0], used.size) * rng.uniform(0.5, 2, used.size)
    return X, with_noise(rng, X[:, used] @ beta, rng.choice([0.5, 1, 2, 4, 8]))


def table(cases, entrants, skglm):
    """A row for each entrant."""
    rows = {name: row(cases, own) for name, own in entrants.items()}
    if skglm:
        rows["skglm (alpha 1)"] = peer_row(cases)
    found = pd.DataFrame(rows).T
    for name in ("seconds", "epochs", "rounds"):
        found[name] = (found[name] / found.loc["forward", name]).round(2)
    return found


def row(cases, own):
    """Figures of one way to fit."""
    ncvpath(cases[0].X, cases[0].y, **cases[0].settings | own)  # compiled
    logs, epochs, rounds, start = [], 0, 0, process_time()
    for case in cases:
        path = ncvpath(
            case.X, case.y, tol=TOL, n_threads=1, **case.settings | own
        )
        logs.append(np.log(path.objective[case.first :] / case.reference))
        epochs += path.work["epochs"].sum()
        rounds += path.work["rounds"].sum()
    seconds = process_time() - start
    return shares(logs) | {"seconds": seconds, "epochs": epochs, "rounds": rounds}


def shares(logs):
    """How ratios are spread."""
    logs = np.concatenate(logs)
    return {
        "mean log": logs.mean().round(4),
        "higher %": round(100 * (logs > SAME).mean(), 1),
        "lower %": round(100 * (logs < -SAME).mean(), 1),
    }


def peer_row(cases):
    """Figures of skglm, which has no ridge part beside these penalties."""
    from ncvpath.penalties import PENALTIES

    from .contestants import run_skglm

    logs, start = [], process_time()
    for case in cases:
        if case.settings["alpha"] < 1:
            continue
        Z = np.asfortranarray((case.X - case.X.mean(axis=0)) / case.X.std(axis=0))
        y, lambdas = case.y - case.y.mean(), np.array(case.settings["lambdas"])
        penalty = case.settings["penalty"]
        beta = run_skglm(Z, y, penalty, lambdas, 1e-8)[1]
        term, heights = PENALTIES[penalty.lower()], []
        for b, lam in zip(beta.T, lambdas):
            size = term.value(np.abs(b), lam, GAMMA[penalty]).sum()
            heights.append(0.5 * ((y - Z @ b) ** 2).mean() + size)
        logs.append(np.log(np.array(heights)[case.first :] / case.reference))
    seconds = process_time() - start
    return shares(logs) | {"seconds": seconds, "epochs": np.nan, "rounds": np.nan}


if __name__ == "__main__":
    main()
