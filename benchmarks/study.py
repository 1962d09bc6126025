"""What a lower minimum is worth, with the truth known: `python -m benchmarks.study`.

In every cell (family, n x p, correlation rho^|i-j|, signal-to-noise ratio) data are
drawn from 8 features, fitted by every method, lambda chosen by 10-fold cross-validation
and by EBIC, and measured: model error (b - b*)'S(b - b*), that of the oracle, who
knows the features, F1 of the support, false discoveries, seconds. Rows are appended
to a file per shard (`--shard 0/2`); what is there is not done again. `--tables` prints
those of a folder.
"""

import argparse
from itertools import product
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from .study_methods import METHODS, Drawn, installed

NONZERO = 8
SHAPES = {
    "gaussian": [(60, 30), (100, 500), (200, 50), (1000, 30), (1000, 5000)],
    "binomial": [(100, 30), (200, 50), (200, 500), (1000, 30), (1000, 5000)],
}
RHOS, SNRS = (0.0, 0.5, 0.9), (0.5, 2.0, 8.0)
CELL = ["family", "n", "p", "rho", "snr"]


def main(arguments=None):
    """Run a shard until its time is up, or print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study")
    parser.add_argument("--out", type=Path, default=Path("study"), metavar="DIR")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--cost", type=int, default=50_000, help="n p, at most")
    parser.add_argument("--family", nargs="+", choices=SHAPES, default=[*SHAPES])
    parser.add_argument("--rho", nargs="+", type=float, choices=RHOS, default=RHOS)
    parser.add_argument("--snr", nargs="+", type=float, choices=SNRS, default=SNRS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--shard", default="0/1", metavar="K/N")
    parser.add_argument("--budget", type=float, default=np.inf, metavar="SECONDS")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="the tables' figures")
    options = parser.parse_args(arguments)
    if options.tables:
        found = summary(rows_of(options.out))
        print(found.to_string(index=False))
        if options.csv:
            found.to_csv(options.csv, index=False, float_format="%.3g")
    else:
        run(options)


def run(options):
    """Every cell's first draw, then every cell's second, and so on."""
    options.out.mkdir(parents=True, exist_ok=True)
    shard, shards = map(int, options.shard.split("/"))
    known = rows_of(options.out)
    done = set(map(tuple, known[[*CELL, "draw", "method"]].to_numpy().tolist()))
    file, end = options.out / f"rows-{shard}.csv", perf_counter() + options.budget
    methods = [name for name in options.methods if installed(name)]
    jobs = product(range(options.draws), cells(options))
    for number, (draw, cell) in enumerate(jobs):
        if number % shards != shard:
            continue
        wanted = [name for name in methods if (*cell, draw, name) not in done]
        if wanted and perf_counter() < end:
            rows = pd.DataFrame(measured(cell, draw, wanted))
            rows.to_csv(file, mode="a", header=not file.exists(), index=False)


def cells(options):
    """The cells of the grid that are not too large."""
    return [
        (family, n, p, rho, snr)
        for family in options.family
        for (n, p), rho, snr in product(SHAPES[family], options.rho, options.snr)
        if n * p <= options.cost
    ]


def rows_of(folder):
    """All rows in a folder."""
    parts = [pd.read_csv(file) for file in sorted(folder.glob("*.csv"))]
    if not parts:
        return pd.DataFrame(columns=[*CELL, "draw", "method"])
    return pd.concat(parts, ignore_index=True)


def drawn(cell, draw):
    """The data of one draw; its seed is that of the cell and the number."""
    family, n, p, rho, snr = cell
    seed = [20, n, p, int(100 * rho), int(10 * snr), draw, family == "binomial"]
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(p)
    used = rng.permutation(p)[:NONZERO]
    beta[used] = rng.choice([-1.0, 1.0], NONZERO) * rng.uniform(0.5, 1.5, NONZERO)
    signal = beta[used] @ rho ** np.abs(used[:, None] - used) @ beta[used]
    if family == "gaussian":
        y = X @ beta + np.sqrt(signal / snr) * rng.standard_normal(n)
    else:
        # The logistic noise has variance pi^2 / 3.
        beta *= np.sqrt(snr * np.pi**2 / 3 / signal)
        y = (X @ beta + rng.logistic(size=n) > 0).astype(float)
    labels = rng.permutation(np.arange(n) % 10)
    return Drawn(family, np.asfortranarray(X), y, beta, labels)


def measured(cell, draw, names):
    """Rows of all methods at one draw."""
    data, rho = drawn(cell, draw), cell[3]
    rows, oracle = [], model_error(data.oracle(), data.beta, rho)
    for name in names:
        start = process_time()
        found = METHODS[name](data)
        seconds = process_time() - start
        for rule, (b, took) in found.items():
            hits = np.count_nonzero((b != 0) & (data.beta != 0))
            size = np.count_nonzero(b)
            rows.append(dict(zip(CELL, cell)) | {
                "draw": draw, "method": name, "rule": rule, "oracle": oracle,
                "error": model_error(b, data.beta, rho), "size": size,
                "false": size - hits, "f1": 2 * hits / (size + NONZERO),
                "seconds": took or seconds,
            })
    return rows


def model_error(b, beta, rho):
    """(b - b*)'S(b - b*), S_ij = rho^|i-j|."""
    used = np.flatnonzero(b - beta)
    d = (b - beta)[used]
    return d @ rho ** np.abs(used[:, None] - used).astype(float) @ d


def summary(rows):
    """By cell, rule and method: model error over the oracle's and over that of the
    forward path of MCP at the same draws, F1, false discoveries, seconds; and standard
    errors."""
    out = []
    for key, part in rows.groupby([*CELL, "rule"], sort=False):
        forward = part[part["method"] == "MCP"].set_index("draw")["error"]
        for name, own in part.groupby("method", sort=False):
            same = forward.reindex(own["draw"]).to_numpy()
            there = np.isfinite(same)
            to_oracle = ratio(own["error"], own["oracle"])
            to_forward = ratio(own["error"][there], same[there])
            out.append(dict(zip([*CELL, "rule", "method"], (*key, name))) | {
                "draws": len(own), "error / oracle": to_oracle[0], "se": to_oracle[1],
                "error / MCP": to_forward[0], "its se": to_forward[1],
                "F1": own["f1"].mean(), "F1 se": own["f1"].sem(),
                "false": own["false"].mean(), "false se": own["false"].sem(),
                "seconds": own["seconds"].mean(),
            })
    return pd.DataFrame(out)


def ratio(over, under):
    """The ratio of means of two figures of the same draws, and its standard error."""
    over, under = np.asarray(over), np.asarray(under)
    if under.size < 2:
        return np.nan, np.nan
    found = over.sum() / under.sum()
    left = over - found * under
    return found, np.sqrt((left**2).sum()) / under.sum()


if __name__ == "__main__":
    main()
