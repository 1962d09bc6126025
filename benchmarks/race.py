"""Race ncvpath against its peers: `python -m benchmarks.race`.

Every contestant fits the same 100 lambdas down to 0.05 lambda_max on the same
standardized columns. Peers' tolerances are tightened, where theirs is not the violation
itself, until the *measured* violation of Fermat's conditions, over all features and
lambdas, is at most 1e-6 lambda_max; runs are interleaved and the median of the repeats
is reported. `--work` prints counts that do not depend on the machine instead.
"""

import argparse
import platform
import sys
from datetime import date
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from ncvpath import ncvpath
from ncvpath.penalties import PENALTIES
from ncvpath.version import __version__

from .contestants import N_CORES, glmnet_is_there, glmnet_version, installed
from .problems import PROBLEMS

GOAL = 1e-6
US = "ncvpath"


def main(arguments=None):
    """Run the race and write table and chart."""
    options = parse(arguments)
    if options.work:
        print(work_table(options.problems, options.penalties).to_string())
        return
    contestants, absent = installed()
    if options.contestants:
        wanted = {US, *options.contestants}
        contestants = [one for one in contestants if one.name in wanted]
    if absent:
        print(f"not installed: {', '.join(absent)}", file=sys.stderr)
    rows = []
    for name, X, y in drawn(options.problems):
        for penalty in options.penalties:
            rows += race(name, X, y, penalty, contestants, options.repeats)
            print(f"{name}, {penalty}: done", file=sys.stderr)
    report(pd.DataFrame(rows), options.out)


def drawn(names):
    """The problems one after another, but for data that are not here."""
    for name in names:
        problem = PROBLEMS[name]()
        if problem is None:
            print(f"{name}: skipped, the data are not here", file=sys.stderr)
        else:
            yield name, *problem


def parse(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.race")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=[*PROBLEMS])
    parser.add_argument(
        "--penalties", nargs="+", default=["lasso", "MCP", "SCAD", "logsum"],
        choices=["lasso", "MCP", "SCAD", "logsum"],
    )
    parser.add_argument("--contestants", nargs="+", help="these peers only")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--work", action="store_true", help="counts, not seconds")
    parser.add_argument("--out", type=Path, default=Path("race"), metavar="DIR")
    return parser.parse_args(arguments)


def race(name, X, y, penalty, contestants, repeats):
    """Rows of one problem and penalty."""
    g0 = np.abs(X.T @ y).max() / X.shape[0]
    lambdas = g0 * np.geomspace(1, 0.05, 100)
    running = []
    for one in contestants:
        if penalty in one.penalties:
            tol, violation = calibrate(one, X, y, penalty, lambdas, g0)
            running.append((one, tol, violation, []))
    for _ in range(repeats):
        for one, tol, _, seconds in running:
            seconds.append(one.run(X, y, penalty, lambdas, tol)[0])
    ours = np.median(next(s for one, _, _, s in running if one.name == US))
    return [
        {
            "problem": name, "penalty": penalty, "contestant": one.name,
            "seconds": np.median(seconds), "ratio": np.median(seconds) / ours,
            "violation": violation, "tol": tol,
        }
        for one, tol, violation, seconds in running
    ]


def calibrate(one, X, y, penalty, lambdas, g0):
    """The loosest tolerance that meets the goal, or the tightest there is."""
    for tol in one.tolerances(g0):
        _, beta = one.run(X, y, penalty, lambdas, tol)
        violation = largest_violation(X, y, penalty, lambdas, beta) / g0
        if violation <= GOAL:
            break
    return tol, violation


def largest_violation(X, y, penalty, lambdas, beta):
    """Fermat's conditions over all features and lambdas, in plain NumPy."""
    row = PENALTIES[penalty.lower()]
    shape = row.gamma or 0.0
    if penalty == "logsum":
        shape *= np.sqrt((y**2).mean())
    worst = 0.0 if beta.shape[1] == lambdas.size else np.inf  # some stop early
    for k in range(beta.shape[1]):
        b = beta[:, [k]]
        b = np.asarray(b.toarray() if hasattr(b, "toarray") else b).ravel()
        u = X.T @ (y - X @ b) / y.size
        slope = np.sign(b) * row.slope(np.abs(b), lambdas[k], shape)
        at_zero = np.maximum(np.abs(u) - lambdas[k], 0)
        worst = max(worst, np.where(b == 0, at_zero, np.abs(u - slope)).max())
    return worst


def work_table(problems, penalties):
    """Columns correlated (in passes over X), rounds, sweeps and Newton steps."""
    rows = {}
    for name, X, y in drawn(problems):
        for penalty in penalties:
            path = ncvpath(X, y, penalty=penalty, standardize=False, intercept=False,
                           convex=False, lambda_min_ratio=0.05)
            total = path.screening.sum()
            rows[name, penalty] = {
                "passes": round(total["checked"] / X.shape[1], 1),
                "rounds": int(total["rounds"]),
                "epochs": int(total["epochs"]),
                "newton_steps": int(total["newton_steps"]),
                "largest_set": int(path.screening["working_set"].max()),
                "violation": path.violation.max(),
            }
    return pd.DataFrame(rows).T


def report(table, folder):
    """Print the table of ratios; write CSV and chart."""
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "race.csv", index=False)
    shown = table.assign(
        text=[
            f"{row.seconds:.3f} s" if row.contestant == US
            else f"{row.ratio:.1f}x"
            + ("" if row.violation <= GOAL else f" ({row.violation:.0e})")
            for row in table.itertuples()
        ]
    ).pivot(index=["problem", "penalty"], columns="contestant", values="text")
    print(shown.reindex([p for p in PROBLEMS if p in set(table["problem"])], level=0)
          .fillna("").to_string())
    print("\nseconds for ncvpath, times as long for the others;")
    print(f"in parentheses the measured violation where above {GOAL:g} lambda_max")
    print(stamp())
    chart(table).savefig(folder / "race.png", dpi=150)
    print(f"\nwritten: {folder / 'race.csv'}, {folder / 'race.png'}")


def stamp():
    """Date, machine and versions."""
    versions = [
        f"{name} {metadata.version(name)}"
        for name in ("numpy", "numba", "skglm", "celer", "adelie", "scikit-learn")
        if find_spec(name.replace("scikit-learn", "sklearn"))
    ]
    versions.insert(0, f"ncvpath {__version__}")  # of a checkout, too
    if glmnet_is_there():
        versions.append(f"glmnet {glmnet_version()}")
    machine = f"{N_CORES} cores, {processor()}"
    return f"{date.today()}; {machine}; Python {sys.version.split()[0]}, " + ", ".join(
        versions
    )


def processor():
    """What the machine calls its processor."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def chart(table):
    """Bars: how many times as long each peer takes."""
    from matplotlib.figure import Figure

    peers = table[~table["contestant"].str.startswith(US)]
    lasso = peers[peers["penalty"] == "lasso"]
    rest = peers[peers["penalty"] != "lasso"]
    panels = [
        (title, rows, key)
        for title, rows, key in (
            ("lasso: peers", lasso, "contestant"),
            ("nonconvex penalties: skglm", rest, "penalty"),
        )
        if len(rows)
    ]
    figure = Figure(figsize=(9, 0.4 + 3.2 * len(panels)), layout="constrained")
    for ax, panel in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels):
        bars(ax, *panel)
    return figure


def bars(ax, title, rows, key):
    """One panel: problems, and a bar for each value of `key`."""
    from matplotlib.ticker import NullLocator, ScalarFormatter

    wide = rows.pivot(index="problem", columns=key, values="ratio")
    wide = wide.loc[[problem for problem in PROBLEMS if problem in wide.index]]
    wide.plot.bar(ax=ax, width=0.8, rot=0, logy=True, zorder=2)
    ax.set_title(title, loc="left")
    ax.set(xlabel="", ylabel="times as long as ncvpath")
    ax.tick_params(axis="x", labelsize="small")
    ax.set_yticks([1, 2, 5, 10, 20, 50])
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(axis="y", color="0.9", zorder=0)
    ax.axhline(1, color="black", linewidth=0.8)
    ax.legend(
        frameon=False, fontsize="small", ncols=wide.shape[1], loc="lower right",
        bbox_to_anchor=(1, 1), borderaxespad=0.2,
    )


if __name__ == "__main__":
    main()
