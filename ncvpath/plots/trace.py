"""A picture of the rounds of a fit. Axes in, Axes out; nothing global is touched.

matplotlib comes with `axes`: this room, too, is entered late.
"""

import numpy as np

from ..inputs.checks import one_of
from .axes import MaxNLocator, axes_or_new, far_apart, legend, ticks_on_top
from .palette import LINE, REGION, colours, tone

AXES = ("round", "seconds")
MOST_TICKS = 10
FLOOR = 0.01  # lowest violation shown, in units of tol


def plot_trace(path, ax, xvar):
    """How the rounds converged. See NcvPath.plot_trace."""
    one_of("xvar", xvar, AXES)
    if path.rounds is None:
        raise ValueError(
            "a picture of rounds needs a fit with record=True; got record=False"
        )
    ax = axes_or_new(ax)
    rounds, starts = path.rounds, np.flatnonzero(path.rounds["round"] == 0)
    x = horizontal(rounds, starts, xvar)
    draw_series(ax, x, rounds, starts)
    low, high = ax.get_ylim()
    # What is far below tol is of no interest, and would squeeze the rest.
    ax.set_ylim(max(low, FLOOR * path.tol), max(high, path.tol))
    for k in starts[1:]:
        ax.axvline(x[k], color=tone(ax, 2 * REGION), linewidth=0.6, zorder=0)
    ax.set_xlabel(xvar)
    ax.set_ylabel("violation, distance, objective (log scale)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=xvar == "round"))
    draw_step(ax, x, rounds["step"])
    sizes_on_top(ax, x, rounds["working_set"])
    return ax


def horizontal(rounds, starts, xvar):
    """Rounds one after another, or seconds at all lambdas before and at this one."""
    if xvar == "round":
        return np.arange(rounds["round"].size)
    spent = np.add.accumulate(rounds["seconds"][np.append(starts[1:], 0) - 1])
    before = np.append(0.0, spent[:-1])
    lengths = np.diff(np.append(starts, rounds["round"].size))
    return rounds["seconds"] + np.repeat(before, lengths)


def draw_series(ax, x, rounds, starts):
    """What should go to zero, on a log scale; what is zero is left out there."""
    lengths = np.diff(np.append(starts, x.size))
    lowest = np.repeat(np.minimum.reduceat(rounds["objective"], starts), lengths)
    series = {
        "largest violation": rounds["violation"],
        "largest distance to a slab": rounds["distance"],
        "objective above its lowest": rounds["objective"] - lowest,
    }
    for (label, y), colour, marker in zip(series.items(), colours(ax, range(3)), "os^"):
        style = dict(color=colour, marker=marker, markersize=3.5, linewidth=1.4)
        ax.plot(x, y, label=label, **style)
    ax.set_yscale("log", nonpositive="mask")
    legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)


def draw_step(ax, x, step):
    """FireWorks' step, on an axis of its own to the right."""
    right, grey = ax.twinx(), tone(ax, LINE)
    right.plot(x, step, ":", color=grey, marker=".", markersize=4, linewidth=1)
    right.set_ylim(0, 1.03)
    right.set_ylabel("step alpha", color=grey)
    right.tick_params(axis="y", colors=grey)
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)


def sizes_on_top(ax, x, sizes):
    """Features in the working set, along the top."""
    shown = np.unique(np.linspace(0, x.size - 1, min(MOST_TICKS, x.size)).astype(int))
    # Rounds of later lambdas may be too close in time to be read.
    gap = 0.06 * (x[-1] - x[0])
    kept = far_apart(x, np.full(x.size, gap), shown)
    ticks_on_top(ax, x[kept], sizes[kept], "features in the working set")
