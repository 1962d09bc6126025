"""What pictures along the path share: axes, their words, and marks at lambdas."""

from os.path import commonprefix

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import (
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from ..runtime.messages import brief
from .palette import LINE, WORDS, tone

SAYS = {
    "lambda": "lambda",
    "norm": "l1 norm of the coefficients",
    "dev": "fraction of deviance explained",
}
LINE_HEIGHT = 1.5  # of a label, in font sizes
LEAST = 6  # font size of a name that can be read, in points
LONGEST = 28  # letters of a name, so that lines keep room beside it
SMALL = 0.85  # font size of labels within the picture
WIDTH = 0.62  # of a letter, in font sizes
DECADE = 120  # points that ticks at 1, 2 and 5 need on a log axis
MOST_DENSE = 0.05  # from one count to the next, as a share of the axis
SHORT = 0.7  # decades, below which powers of ten leave a log axis nearly bare


def axes_or_new(ax, width=8.0, height=5.2):
    """Matplotlib Axes as given, or new ones in a figure of this size in inches."""
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        several = isinstance(ax, np.ndarray) and ax.ndim > 0
        advice = " (give one of them, as in ax=axes[0])" if several else ""
        raise ValueError(
            f"ax must be matplotlib Axes; got {type(ax).__name__} {brief(ax)}{advice}"
        )
    return ax


def points(ax):
    """Width and height of the axes, in points."""
    box = ax.get_window_extent()
    return 72 / ax.figure.dpi * box.width, 72 / ax.figure.dpi * box.height


def small():
    """Font size of what is written into the picture, in points."""
    return SMALL * plt.rcParams["font.size"]


def legend(ax, *entries, **options):
    """Names of what is drawn, without a frame."""
    ax.legend(*entries, **{"frameon": False, "fontsize": "small"} | options)


# ---- the horizontal axis -----------------------------------------------------------


def set_horizontal(ax, x, xvar, log):
    """Limits, direction and words of the horizontal axis."""
    log = log and xvar == "lambda"
    if log:
        ax.set_xscale("log")
    ax.set_xlabel(SAYS[xvar] + (" (log scale)" if log else ""))
    left, right = x.min(), x.max()
    if xvar == "lambda":
        left, right = right, left
    if left == right:  # one lambda on a log axis, or nothing but zeros
        left, right = (1.1 * left, 0.9 * left) if xvar == "lambda" else (-0.1, 1.0)
    ax.set_xlim(left, right)
    if log:
        set_log_ticks(ax, np.log10(left / right))


def set_log_ticks(ax, decades):
    """Plain numbers: as many as there is room for, and some on a short axis."""
    if decades < SHORT:
        locator = MaxNLocator(6)
    elif points(ax)[0] < DECADE * decades:
        locator = LogLocator()
    else:
        locator = LogLocator(subs=(1, 2, 5))
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def count_on_top(ax, x, df, log, marked=()):
    """The number of nonzero coefficients, along the top, where it changes; first of all
    at the positions `marked`, and at the last."""
    where = np.log(x) if log else x
    letter = WIDTH * plt.rcParams["font.size"] / points(ax)[0]
    place = np.abs(where - where[0]) / (abs(where[-1] - where[0]) or 1.0)
    changes = np.flatnonzero(np.diff(df, prepend=-1))
    gaps = np.array([max(0.08, letter * (len(str(count)) + 2)) for count in df])
    shown = far_apart(place, gaps, [*marked, x.size - 1, *changes])
    ticks_on_top(ax, x[shown], df[shown], "nonzero coefficients")


def count_row(ax, x, df, log, marked):
    """The same as a row of counts at even distances, each at its own lambda; those
    `marked` and the last one take the place of their neighbours."""
    where = np.log(x) if log else x
    letter = WIDTH * plt.rcParams["font.size"] / points(ax)[0]
    gap = max(MOST_DENSE, letter * (len(str(df.max())) + 1.5))
    targets = np.linspace(where[0], where[-1], max(int(1 / gap), 1) + 1)
    shown = [int(np.argmin(np.abs(where - place))) for place in targets]
    # Lambdas are not quite where they were wanted.
    gaps = np.full(x.size, 0.8 * gap * abs(where[-1] - where[0]))
    shown = far_apart(where, gaps, [*marked, x.size - 1, *shown])
    ticks_on_top(ax, x[shown], df[shown], "nonzero coefficients")


def far_apart(places, gaps, order):
    """Which places to keep, tried in this order: each at least its gap from others."""
    kept = []
    for k in order:
        if all(abs(places[k] - places[j]) >= max(gaps[j], gaps[k]) for j in kept):
            kept.append(k)
    return np.unique(kept)


def ticks_on_top(ax, places, numbers, words):
    """Numbers that belong to some places, along the top."""
    top = ax.secondary_xaxis("top")
    top.set_xticks(places, [str(k) for k in numbers])
    top.xaxis.set_minor_locator(NullLocator())
    top.set_xlabel(words)
    top.tick_params(length=3)


# ---- marks -------------------------------------------------------------------------


def mark_places(ax, marks, first=0):
    """Dashed lines with labels above all else, each label in a row of its own.

    Marks are (place, label, side). Those without a place on the axis, as lambda 0 on a
    log axis, are named at the right end. The first rows may be for others.
    """
    row = small() * LINE_HEIGHT
    low, high = ax.get_ylim()
    taken = min(row * (first + len(marks) + 0.4) / points(ax)[1], 0.5)
    ax.set_ylim(low, low + (high - low) / (1 - taken))
    for k, (place, label, side) in enumerate(marks, first):
        if place is None:
            place, label, side = ax.get_xlim()[1], f"{label} (not shown)", "left"
        else:
            colour = tone(ax, LINE)
            ax.axvline(place, color=colour, linestyle="--", linewidth=1, zorder=3.5)
            side = side_with_room(ax, place, label, side)
        write_beside(ax, place, label, side, -row * (k + 0.7))


def side_with_room(ax, place, label, side):
    """The wanted side of a line, or the other one if a label does not fit there."""
    place = (ax.transScale + ax.transLimits).transform((place, ax.get_ylim()[0]))[0]
    room = {"left": place, "right": 1 - place}
    needed = WIDTH * small() * (len(label) + 1) / points(ax)[0]
    return side if room[side] >= needed else max(room, key=room.get)


def write_beside(ax, place, label, side, down):
    """A label left or right of a line, some points below the top."""
    ax.annotate(
        label, xy=(place, 1), xycoords=ax.get_xaxis_transform(), parse_math=False,
        xytext=(-5 if side == "left" else 5, down), textcoords="offset points",
        ha="right" if side == "left" else "left", va="center", fontsize=small(),
        color=tone(ax, WORDS), zorder=4,
        bbox=dict(fc=tone(ax, 0), ec="none", pad=1),
    )


# ---- names at the ends of lines ----------------------------------------------------


def room_for_names(ax):
    """How many names can be read beside each other."""
    return max(int(points(ax)[1] / (LINE_HEIGHT * LEAST)), 1)


def write_names(ax, heights, names, colours, left_out=0):
    """Names at the right end of the lines, moved apart where they would overlap; below
    them, how many are left out."""
    if not names:
        return
    transform, names = ax.get_yaxis_transform(), shortened(names)
    heights = np.asarray(heights, dtype=float)
    below = [ax.get_ylim()[0]] * (left_out > 0)
    places = places_apart(ax, np.append(heights, below))
    # As large as there is room for, when all are to be named.
    size = min(small(), points(ax)[1] / (LINE_HEIGHT * places.size))
    for height, place, name, colour in zip(heights, places, names, colours):
        ax.annotate(
            name, xy=(1, height), parse_math=False, xycoords=transform,
            xytext=(1.025, place), textcoords=transform,
            fontsize=size, color=colour, va="center", annotation_clip=False,
            arrowprops=dict(
                arrowstyle="-", color=colour, lw=0.5, shrinkA=0, shrinkB=0,
                relpos=(0, 0.5),  # from the left end of the name, not its middle
            ),
        )


    if below:
        ax.annotate(
            f"({left_out} more without a name)", xy=(1.025, places[-1]), fontsize=size,
            xycoords=transform, color=tone(ax, WORDS), va="center",
            annotation_clip=False,
        )


def shortened(names, most=LONGEST):
    """Long names without their middle or, where that leaves the same of several,
    without what they have in common."""
    alike = {}
    for name in names:
        alike.setdefault(without_middle(name, most), set()).add(name)
    found = {}
    for label, own in alike.items():
        several = sorted(own)
        labels = [label] if len(own) == 1 else told_apart(several, most)
        found |= dict(zip(several, labels))
    return [found[name] for name in names]


def without_middle(name, most):
    """The beginning and the end of a long name."""
    half = (most - 3) // 2
    return name if len(name) <= most else f"{name[:half]}...{name[-half:]}"


def told_apart(names, most):
    """What differs among names that begin and end alike, with some of what does not."""
    start = len(commonprefix(names))
    end = len(commonprefix([name[start:][::-1] for name in names]))
    room = most - 6  # beside the dots
    parts = [name[start : len(name) - end] for name in names]
    spare = room - max(map(len, parts))
    if spare < 0:
        return [f"...{part}..." for part in shortened(parts, max(room, 10))]
    left, right = max(start - (spare + 1) // 2, 0), max(end - spare // 2, 0)
    parts = [name[left : len(name) - right] for name in names]
    dots = "..." if left else "", "..." if right else ""
    return [f"{dots[0]}{part}{dots[1]}" for part in parts]


def places_apart(ax, heights):
    """Where to write beside `heights`, in data, on an axis of any scale."""
    scale = ax.yaxis.get_transform()
    low, high = scale.transform(np.array(ax.get_ylim()))
    gap = small() * LINE_HEIGHT / points(ax)[1] * (high - low)
    return scale.inverted().transform(
        spread_out(scale.transform(heights), gap, low, high)
    )


def spread_out(heights, gap, low, high):
    """Places at least `gap` apart, in the same order, as near as can be.

    Neighbours that overlap form a group with even spacing around their mean;
    groups merge until none overlap (isotonic regression by pooling).
    """
    count = heights.size
    gap = min(gap, (high - low) / max(count, 1))
    order = np.argsort(heights, kind="stable")
    ranks = gap * np.arange(count)
    groups = []  # wanted places less their rank, in groups of one common value
    for wanted in heights[order] - ranks:
        groups.append([wanted])
        while len(groups) > 1 and np.mean(groups[-2]) >= np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    common = np.concatenate([np.full(len(g), np.mean(g)) for g in groups])
    places = np.empty(count)
    places[order] = np.clip(common, low, max(high - ranks[-1], low)) + ranks
    return places
