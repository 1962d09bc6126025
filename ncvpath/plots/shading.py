"""The part of a path where the objective is no longer locally convex.

Against lambda that is an interval. The norm, or the deviance explained, may turn back:
the same place on the axis then belongs to models before that part and within it.
"""

import numpy as np

from .axes import legend
from .palette import QUIET, REGION, WORDS, tone

INSIDE, BOTH = "nonconvex region", "nonconvex and convex"


def shade_nonconvex(ax, x, first):
    """Shade the segments of the path from position `first` on; behind all lines.

    Returns how many kinds of shade there are.
    """
    found = bands(x, first)
    for (left, right), kind in found:
        share = REGION if kind == INSIDE else REGION / 2
        known = {patch.get_label() for patch in ax.patches}
        ax.axvspan(
            left, right, color=tone(ax, share), zorder=0, lw=0,
            label="_" + kind if kind in known else kind,
        )
    if found:
        explain(ax)
    return len({kind for _, kind in found})


def explain(ax):
    """The legend, before lines of marks: these run on behind it."""
    legend(
        ax, loc="upper left", handlelength=1.2, labelcolor=tone(ax, WORDS),
        frameon=True, facecolor=tone(ax, 0), edgecolor="none", framealpha=1,
        borderpad=0.2,
    )
    for swatch in ax.get_legend().get_patches():
        swatch.set(edgecolor=tone(ax, QUIET), linewidth=0.6)


def bands(x, first):
    """(ends, kind) of stretches of the axis, by the segments that cover them."""
    places = np.unique(x)
    if places.size < 2:
        return []
    inside = covered(places, x[first:])
    before = covered(places, x[: first + 1])
    kind = np.where(inside & before, 2, inside)
    starts = np.flatnonzero(np.diff(kind, prepend=-1))
    ends = np.append(starts[1:], kind.size)
    words = {1: INSIDE, 2: BOTH}
    found = [
        ((places[a], places[b]), words[kind[a]])
        for a, b in zip(starts, ends) if kind[a] in words
    ]
    return sorted(found, key=lambda band: band[1] != INSIDE)


def covered(places, x):
    """Which stretches between neighbouring places the segments of x pass through."""
    middle = (places[1:] + places[:-1]) / 2
    return (x.min() < middle) & (middle < x.max())
