"""Pictures of a path. Axes in, Axes out; nothing global is touched."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    LogLocator,
    NullFormatter,
    NullLocator,
)

from .checks import count, one_of

# Okabe and Ito's colours, distinguishable with any kind of colour vision.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)
QUIET = "#B3B3B3"  # lines without a name, when there are many
REGION = "#E6E6E6"
WORDS = {
    "lambda": "lambda",
    "norm": "l1 norm of the coefficients",
    "dev": "fraction of deviance explained",
}
LINE_HEIGHT = 1.5  # of a label, in font sizes


def plot_path(path, ax, xvar, log, label, shade, lines):
    """Coefficient paths; complexity grows to the right. See NcvPath.plot."""
    one_of("xvar", xvar, tuple(WORDS))
    count("label", label, 0)
    if path.lambdas.size < 2:
        raise ValueError("a plot needs a path of at least 2 lambdas; got 1")
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 5.2), layout="constrained")
    x, shown = horizontal(path, xvar, log)
    features = drawn_features(path, shown)
    y = path.beta[features][:, shown].toarray()
    x, df = x[shown], path.df[shown]
    named = largest(y, label)
    draw_lines(ax, x, y, named, lines)
    set_horizontal(ax, x, xvar, log)
    ax.set_ylabel("coefficient")
    ax.axhline(0, color="0.4", linewidth=0.8, zorder=1)
    if shade and path.convex_min is not None and path.convex_min in shown:
        shade_region(ax, x[np.flatnonzero(shown == path.convex_min)[0]], x[-1])
    names = [path.feature_names[features[k]] for k in named]
    write_names(ax, y[named, -1] if named.size else [], names, line_colours(named.size))
    count_on_top(ax, x, df, xvar == "lambda" and log)
    return ax


def horizontal(path, xvar, log):
    """What the horizontal axis shows, and which lambdas it can show."""
    every = np.arange(path.lambdas.size)
    if xvar == "norm":
        return np.asarray(abs(path.beta).sum(axis=0)).ravel(), every
    if xvar == "dev":
        return path.dev_ratio, every
    return path.lambdas, every[path.lambdas > 0] if log else every


def drawn_features(path, shown):
    """Features that are ever nonzero."""
    return np.unique(path.beta[:, shown].indices)


def largest(y, label):
    """Rows to name: the largest at the end of the path, ties by their peak."""
    order = np.lexsort((-np.abs(y).max(axis=1, initial=0), -np.abs(y[:, -1])))
    order = order[:label]
    return order[np.abs(y[order, -1]) > 0]


def line_colours(count):
    """One colour per named line."""
    return [COLOURS[k % len(COLOURS)] for k in range(count)]


def draw_lines(ax, x, y, named, options):
    """All lines as two collections: quiet ones below, named ones above."""
    many = y.shape[0] > 50
    width = options.pop("linewidth", options.pop("lw", None))
    thin, thick = (0.6 if many else 1.6, 1.4 if many else 1.6) if width is None else (
        width, width
    )
    quiet = np.setdiff1d(np.arange(y.shape[0]), named)
    style = dict(rasterized=y.shape[0] > 1000, capstyle="round")
    # Neighbours in the legend of colours stay apart only while there are few lines.
    colours = QUIET if many else line_colours(y.shape[0])[named.size :]
    below = dict(linewidths=thin, colors=colours, alpha=0.7, zorder=2)
    above = dict(linewidths=thick, colors=line_colours(named.size), zorder=3)
    for rows, own in ((quiet, below), (named, above)):
        if rows.size:
            paths = np.stack([np.broadcast_to(x, (rows.size, x.size)), y[rows]], axis=2)
            ax.add_collection(LineCollection(paths, **(style | own | options)))
    ax.autoscale_view()
    low, high = min(y.min(initial=0), 0), max(y.max(initial=0), 0)
    margin = 0.05 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)


def set_horizontal(ax, x, xvar, log):
    """Limits, direction and words of the horizontal axis."""
    if xvar == "lambda":
        if log:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(WORDS[xvar] + (" (log scale)" if log else ""))
    else:
        ax.set_xlabel(WORDS[xvar])
    left, right = x.min(), x.max()
    if xvar == "lambda":
        left, right = right, left
    if left == right:  # one lambda on a log axis, or nothing but zeros
        left, right = (1.1 * left, 0.9 * left) if xvar == "lambda" else (-0.1, 1.0)
    ax.set_xlim(left, right)


def shade_region(ax, left, right):
    """The part of the path where the objective is no longer locally convex."""
    ax.axvspan(left, right, color=REGION, zorder=0, lw=0, label="nonconvex region")
    ax.legend(loc="upper left", frameon=False, fontsize="small", handlelength=1.2)


def write_names(ax, heights, names, colours):
    """Names at the right end of the lines, moved apart where they would overlap."""
    if not names:
        return
    size = plt.rcParams["font.size"] * 0.85
    low, high = ax.get_ylim()
    points = ax.get_window_extent().height * 72 / ax.figure.dpi
    gap = size * LINE_HEIGHT / points * (high - low)
    places = spread_out(np.asarray(heights), gap, low, high)
    for height, place, name, colour in zip(heights, places, names, colours):
        ax.annotate(
            name, xy=(1, height), parse_math=False, xycoords=ax.get_yaxis_transform(),
            xytext=(1.025, place), textcoords=ax.get_yaxis_transform(),
            fontsize=size, color=colour, va="center", annotation_clip=False,
            arrowprops=dict(
                arrowstyle="-", color=colour, lw=0.5, shrinkA=0, shrinkB=0,
                relpos=(0, 0.5),  # from the left end of the name, not its middle
            ),
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


def count_on_top(ax, x, df, log):
    """The number of nonzero coefficients, along the top."""
    top = ax.secondary_xaxis("top")
    where = np.log(x) if log else x
    apart = 0.09 * abs(where[-1] - where[0])
    nearest = []
    for k in np.flatnonzero(np.diff(df, prepend=-1)):  # where the count changes
        if not nearest or abs(where[k] - where[nearest[-1]]) >= apart:
            nearest.append(k)
    top.xaxis.set_major_locator(FixedLocator(x[nearest]))
    top.xaxis.set_major_formatter(FixedFormatter([str(df[k]) for k in nearest]))
    top.xaxis.set_minor_locator(NullLocator())
    top.set_xlabel("nonzero coefficients")
    top.tick_params(length=3)

