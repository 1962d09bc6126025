"""The paper's smaller experiments: grid search, n_added and support."""

import numpy as np
import pandas as pd

from .paper_problems import PROBLEMS
from .paper_runs import LEVELS, Setting, cells, compete, save, say
from .paper_systems import SYSTEMS, arguments, measure
from .paper_tables import finished, markdown, plain, row_text, seconds_text

GRID = np.geomspace(0.6, 0.01, 10)
GRID_TOLS = (1e-3, 1e-5)
SIZES = (1, 5, 10, 20, 30, 50, 100, 300)
SIZE_ROWS = {"leukemia": Setting(1e-3, 0.01), "toy-large": Setting(1e-3, 0.07)}
WORKING_SET = ["fireworks-bcd", "maxvc-bcd", "fireworks-gist", "maxvc-gist"]
TOYS = ["toy-small", "toy-large"]
SUPPORT_TOL = 1e-5
# Okabe and Ito's blue and vermilion, apart for every eye.
LOOKS = {
    "fireworks-bcd": dict(color="#0072B2", linestyle="-", marker="o"),
    "fireworks-gist": dict(color="#0072B2", linestyle="--", marker="s"),
    "maxvc-bcd": dict(color="#D55E00", linestyle="-", marker="^"),
    "maxvc-gist": dict(color="#D55E00", linestyle="--", marker="D"),
}


def grid_search(session, name="leukemia", K=GRID, tols=GRID_TOLS):
    """One warm-started path for each system and tol; the cap holds for each lambda."""
    one = PROBLEMS[name].make(0)
    if one is None:
        say(f"grid search: skipped, {PROBLEMS[name].label} is not here")
        return None
    session.worker.pose(one.X, one.y)
    records, past = [], set()
    for repeat in range(session.repeats):
        for tol in tols:
            for system in session.systems:
                if (tol, system) in past:
                    continue
                record = one_grid(session, one, K, tol, system, PROBLEMS[name].n_added)
                records.append({"repeat": repeat} | record)
                if np.isnan(record["seconds"]):
                    past.add((tol, system))
                say(f"grid, tol {tol:g}, {system}: {record['seconds']:.3f} s")
    table = pd.DataFrame(records)
    table.to_csv(session.out / "grid.csv", index=False)
    return grid_table(table, session.systems, tols)


def one_grid(session, one, K, tol, system, n_added):
    """Total seconds of a path, and its largest violation."""
    settings = arguments(one.X, one.y, K, tol, system, n_added)
    answer = session.worker.fit(session.cap * len(K), **settings)
    record = {"tol": tol, "system": system, "seconds": np.nan, "violation": np.nan}
    if answer is None:
        return record
    met = [measure(one.X, one.y, k, w)["violation"] for k, w in zip(K, answer.beta.T)]
    return record | {"seconds": answer.seconds, "violation": max(met)}


def grid_table(table, systems, tols):
    """A line for each system, and seconds and violation for each tol."""
    found = table.groupby(["system", "tol"]).agg(
        seconds=("seconds", lambda s: s.mean(skipna=False)),
        sd=("seconds", lambda s: s.std(skipna=False)),
        violation=("violation", "max"),
    )
    header = ["system"]
    for tol in tols:
        header += [f"seconds, tol {tol:g}", "largest violation"]
    rows = []
    for system in systems:
        row = [SYSTEMS[system].label]
        for tol in tols:
            cell = found.loc[(system, tol)]
            met = f"{cell.violation:.1e}" if finished(cell) else "-"
            row += [seconds_text(cell), met]
        rows.append(row)
    return markdown(header, rows)


def n_added_study(session, rows=None, sizes=SIZES):
    """Seconds by the number of features added in a round: CSV, figure and table."""
    systems, records = session.among(WORKING_SET), []
    entrants = [(system, size) for system in systems for size in sizes]
    rows = SIZE_ROWS if rows is None else rows
    for name, setting in rows.items():
        if name in session.problems and entrants:
            records += compete(session, name, [setting], entrants)
    if not records:
        return None
    save(session, records, "n_added.csv")
    table = cells(records)
    n_added_figure(table).savefig(session.out / "n_added.png", dpi=150)
    return n_added_table(table)


def n_added_table(table):
    """A line for each problem and system, a column for each n_added."""
    sizes = list(table["n_added"].unique())
    rows = []
    for (name, system), line in table.groupby(["problem", "system"], sort=False):
        spent = line.set_index("n_added")["seconds"]
        labels = [PROBLEMS[name].label, SYSTEMS[system].label]
        rows.append([*labels, *(plain(spent[size]) for size in sizes)])
    return markdown(["data", "seconds by n_added", *map(str, sizes)], rows)


def n_added_figure(table):
    """Seconds against n_added, a panel for each problem."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    panels = list(table.groupby(["problem", "tol", "K"], sort=False))
    figure = Figure(figsize=(4.6 * len(panels), 4.3), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (row, part) in zip(axes, panels):
        for system, line in part.groupby("system", sort=False):
            ax.plot(
                line["n_added"], line["seconds"], label=SYSTEMS[system].label,
                markersize=5, **LOOKS[system],
            )
        ax.set(xscale="log", yscale="log", xlabel="features added in a round")
        ax.set_title(row_text(*row), loc="left", fontsize="medium")
        ax.set_xticks(part["n_added"].unique())
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_minor_locator(NullLocator())
        ax.grid(color="0.9")
    figure.axes[0].set_ylabel("seconds")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2, frameon=False
    )
    return figure


def support_study(session, records=()):
    """F-measure and objective on the toys, from runs that were done already if any."""
    wanted = [record for record in records if record["tol"] == SUPPORT_TOL
              and record["problem"] in TOYS]
    if not wanted:
        for name in TOYS:
            if name in session.problems:
                settings = [Setting(SUPPORT_TOL, K) for K in LEVELS]
                entrants = [(s, PROBLEMS[name].n_added) for s in session.systems]
                wanted += compete(session, name, settings, entrants)
    if not wanted:
        return None
    table = cells(wanted)
    columns = ["problem", "K", "system", "f_measure", "nonzeros", "objective"]
    table[columns].to_csv(session.out / "support.csv", index=False)
    return support_table(table)


def support_table(table):
    """A line for each system, two columns for each problem and K."""
    groups = list(table.groupby(["problem", "K"], sort=False))
    header = ["system"]
    for (name, K), _ in groups:
        header += [f"{PROBLEMS[name].label}, K {K:g}: F", "objective"]
    rows = []
    for system in table["system"].unique():
        row = [SYSTEMS[system].label]
        for _, part in groups:
            cell = part[part["system"] == system].iloc[0]
            texts = [f"{cell.f_measure:.3f}", f"{cell.objective:.6g}"]
            row += texts if finished(cell) else ["-", "-"]
        rows.append(row)
    return markdown(header, rows)
