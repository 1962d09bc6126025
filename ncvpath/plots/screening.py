"""The picture of the work along a path: who was looked at, and who worked."""

import numpy as np

from .axes import axes_or_new, count_on_top, set_horizontal, write_names
from .palette import LINE, colours, tone

SHOWN = ("checked", "certified", "working_set", "strong")  # columns of `screening`


def plot_screening(path, ax):
    """Features by what was done with them. See NcvPath.plot_screening."""
    shown = np.count_nonzero(path.lambdas)
    if shown < 2:
        raise ValueError(f"a plot needs at least 2 positive lambdas; got {shown}")
    ax = axes_or_new(ax)
    x = path.lambdas[:shown]
    work = {name.replace("_", " "): path.work[name][:shown] for name in SHOWN}
    set_horizontal(ax, x, "lambda", True)
    set_counts(ax, max(path.p, *(counts.max() for counts in work.values())))
    ink = colours(ax, range(len(work)))
    for (name, counts), colour in zip(work.items(), ink):
        # Looks come and go from lambda to lambda: dots, where steps would be a fence.
        looks = name in ("checked", "certified")
        style = dict(linestyle="none", marker="o", markersize=3.5) if looks else {}
        ax.plot(x, counts, color=colour, drawstyle="steps-mid", label=name, **style)
    ax.axhline(path.p, color=tone(ax, LINE), linestyle=":", linewidth=1, zorder=1)
    ends = [*(counts[-1] for counts in work.values()), path.p]
    write_names(ax, ends, [*work, f"all {path.p:,}"], [*ink, tone(ax, LINE)])
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
