"""Records as Markdown, in the paper's layout."""

import numpy as np

from .paper_problems import PROBLEMS
from .paper_systems import SYSTEMS

# Seconds of the authors' released FireWorks-BCD on two cores.
RELEASED = {
    ("toy-small", 1e-5, 0.01): 10.7,
    ("toy-large", 1e-5, 0.07): 87.8,
    ("leukemia", 1e-5, 0.01): 17.6,
}
FAIR = ["fireworks", "maxvc", "maxvc-pruned"]
INNER = ["gist", "bcd"]
KEY = (
    "Repeats: {repeats}; of the toys each is another seeded draw, of real data the "
    "same fit again. Seconds: mean ± standard deviation, from the first working set to "
    "the last look; what all systems share before and after is {shared}. "
    "Nonzeros and objective: mean. "
    "Violation: the largest, measured over all features from the returned "
    "coefficients; bold where above tol. Objective, violation and tol are on the "
    "paper's scale, 1/2 RSS. \"-\": a run took more than {cap:g} s. Products with all "
    "columns run on all cores, sweeps of BCD on one; the weighted lassos of MM are "
    "solved to 1e-5 at least."
)


def markdown(header, rows):
    """A table, padded so that it can be read as it is."""
    lines = [header, *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines
    )


def main_table(cells, systems):
    """Four lines for each problem, tol and K; a column for each system."""
    rows = []
    for (name, tol, K), row in settings_of(cells):
        found = row.set_index("system").loc[systems]
        label = [PROBLEMS[name].label, f"{tol:g}", f"{K:g}"]
        for figure, text in FIGURES.items():
            texts = [text(c) if finished(c) else "-" for _, c in found.iterrows()]
            rows.append([*label, figure, *texts])
            label = ["", "", ""]
    labels = [SYSTEMS[system].label for system in systems]
    return markdown(["data", "tol", "K", "", *labels], rows)


def settings_of(cells):
    """The rows of the table one after another."""
    return cells.groupby(["problem", "tol", "K"], sort=False)


def finished(cell):
    """Whether every run stayed below the cap."""
    return bool(np.isfinite(cell.seconds))


def plain(value):
    """Three digits, and no exponent."""
    if not np.isfinite(value):
        return "-"
    return np.format_float_positional(value, 3, fractional=False, trim="-")


def seconds_text(cell):
    """Mean and standard deviation, as far as there is one."""
    if not np.isfinite(cell.sd):
        return plain(cell.seconds)
    return f"{plain(cell.seconds)} ± {plain(float(f'{cell.sd:.1g}'))}"


def violation_text(cell):
    """Bold when it is above what was asked for."""
    text = f"{cell.violation:.1e}"
    return text if cell.violation <= cell.tol else f"**{text}**"


FIGURES = {
    "seconds": seconds_text,
    "nonzeros": lambda cell: f"{cell.nonzeros:g}",
    "objective": lambda cell: f"{cell.objective:.6g}",
    "violation": violation_text,
}


def pruning_table(cells):
    """Seconds of FireWorks and MaxVC when both prune, and as the authors have it."""
    systems = [f"{choice}-{inner}" for inner in INNER for choice in FAIR]
    systems = [system for system in systems if system in set(cells["system"])]
    rows = []
    for (name, tol, K), row in settings_of(cells):
        found = row.set_index("system").loc[systems]
        texts = [seconds_text(cell) for _, cell in found.iterrows()]
        rows.append([PROBLEMS[name].label, f"{tol:g}", f"{K:g}", *texts])
    labels = [SYSTEMS[system].label for system in systems]
    return markdown(["data", "tol", "K", *labels], rows)


def summary(cells, cap):
    """The figures the claims are about, as lines of a list."""
    wide, calls = by_system(cells, "seconds"), by_system(cells, "call")
    lines = []
    for inner in INNER:
        for rival in ("maxvc", "maxvc-pruned"):
            lines += ratio_line(wide, f"fireworks-{inner}", f"{rival}-{inner}", cap)
    for name in wide.index.unique("problem"):
        for inner in INNER:
            here = wide.loc[[name]]
            lines += ratio_line(here, inner, f"fireworks-{inner}", cap, name)
    for row, released in RELEASED.items():
        if "default" in wide and row in wide.index:
            ours = calls.loc[row, "default"]
            lines.append(
                f"- default, whole call / the authors' released FireWorks-BCD, "
                f"{row_text(*row)}: "
                f"{plain(ours)} s / {released} s = 1 / {plain(released / ours)}"
            )
    return "\n".join(lines)


def by_system(cells, figure):
    """One row per setting, one column per system."""
    row = ["problem", "tol", "K"]
    wide = cells.pivot(index=row, columns="system", values=figure)
    return wide.reindex(dict.fromkeys(zip(*(cells[name] for name in row))))


def shared_text(cells):
    """Seconds of a call that do not depend on the system, problem by problem."""
    rest = (cells["call"] - cells["seconds"]).groupby(cells["problem"], sort=False)
    return ", ".join(
        f"{plain(float(f'{value:.1g}'))} s for {PROBLEMS[name].label}"
        for name, value in rest.median().items()
    )


def ratio_line(wide, above, below, cap, name=None):
    """Geometric mean over the rows of the time of one system over that of another.

    A run past the cap counts as that long; rows where both passed it say nothing.
    """
    if above not in wide or below not in wide:
        return []
    pair = wide[[above, below]].dropna(how="all")
    if pair.empty:
        return []
    capped = [int(pair[system].isna().sum()) for system in pair]
    pair = pair.fillna(cap)
    logs = np.log(pair[above] / pair[below])
    where = "" if name is None else f"{PROBLEMS[name].label}, "
    notes = [
        f"{SYSTEMS[system].label} at the cap in {count}"
        for system, count in zip(pair, capped) if count
    ]
    return [
        f"- {where}{SYSTEMS[above].label} / {SYSTEMS[below].label}: "
        f"{plain(np.exp(logs.mean()))} ("
        + "; ".join([
            f"geometric mean of {logs.size} of {len(wide)} rows, "
            f"{plain(np.exp(logs.min()))} to {plain(np.exp(logs.max()))}",
            *notes,
        ])
        + ")"
    ]


def row_text(name, tol, K):
    """A row of the table in words."""
    return f"{PROBLEMS[name].label}, tol {tol:g}, K {K:g}"
