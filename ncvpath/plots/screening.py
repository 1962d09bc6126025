"""The picture of the work along a path: who was looked at, and who worked."""

import numpy as np

from .axes import check_axes, count_on_top, new_axes, set_horizontal, write_names
from .palette import LINE, colours, tone

# Columns of `screening`, and what a line says at its end.
SHOWN = {
    "checked": "checked",
    "certified": "certified",
    "working_set": "working set",
    "strong": "strong",
}


def plot_screening(path, ax):
    """Features by what was done with them. See NcvPath.plot_screening."""
    shown = np.count_nonzero(path.lambdas)
    if shown < 2:
        raise ValueError(f"a plot needs at least 2 positive lambdas; got {shown}")
    ax = check_axes(ax) or new_axes()
    x, work = path.lambdas[:shown], {name: path.work[name][:shown] for name in SHOWN}
    set_horizontal(ax, x, "lambda", True)
    set_counts(ax, max(path.p, *(counts.max() for counts in work.values())))
    ink = colours(ax, range(len(work)))
    for (name, counts), colour in zip(work.items(), ink):
        # Looks come and go from lambda to lambda: dots, where steps would be a fence.
        looks = name in ("checked", "certified")
        style = dict(linestyle="none", marker="o", markersize=3.5) if looks else {}
        ax.plot(
            x, counts, color=colour, drawstyle="steps-mid", label=SHOWN[name], **style
        )
    ax.axhline(path.p, color=tone(ax, LINE), linestyle=":", linewidth=1, zorder=1)
    ends = [counts[-1] for counts in work.values()]
    write_names(
        ax, [*ends, path.p], [*SHOWN.values(), f"all {path.p:,}"],
        [*ink, tone(ax, LINE)],
    )
    count_on_top(ax, x, path.df[:shown], True)
    return ax


def set_counts(ax, most):
    """A log axis of counts that has a place for none."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    ax.set_yscale("symlog", linthresh=1, linscale=0.4)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(-0.15, 1.6 * most)
    ax.set_ylabel("features")
