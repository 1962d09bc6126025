"""The picture of a path. Axes in, Axes out; nothing global is touched."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import is_color_like

from ..inputs.checks import flag, number, one_of
from .axes import (
    SAYS,
    axes_or_new,
    count_on_top,
    mark_places,
    room_for_names,
    set_horizontal,
    write_names,
)
from .density import draw_density
from .naming import drawn_features, largest, named_rows, read_label
from .palette import LINE, QUIET, colours, tone
from .shading import explain, shade_nonconvex

MANY = 50  # lines, beyond which those without a name are thin and grey,
RASTER = 1000  # are pixels in a PDF,
CROWD = 2000  # and are counted instead of drawn
# What a coefficient is a difference of.
SCALES = {"binomial": "log odds", "poisson": "log mean", "cox": "log hazard"}


class Wishes(NamedTuple):
    """What is to be drawn, as the user says it. See NcvPath.plot."""

    xvar: str
    log: bool
    label: object
    shade: bool
    mark: object


def plot_path(path, ax, wishes, coefficients, options):
    """Coefficient paths; complexity grows to the right. See NcvPath.plot.

    `coefficients` are those to draw (p x L, sparse), and what they are per, in words.
    """
    xvar, log, label, shade, mark = wishes
    one_of("xvar", xvar, tuple(SAYS))
    most, wanted = read_label(label, path.feature_names)
    log, shade = flag("log", log), flag("shade", shade)
    if path.lambdas.size < 2:
        raise ValueError("a plot needs a path of at least 2 lambdas; got 1")
    marks = marked_lambdas(path, mark)
    ax = axes_or_new(ax)
    log = log and xvar == "lambda"
    beta, unit = coefficients
    x, shown = horizontal(path, beta, xvar, log)
    places = [place_of(lam, path.lambdas, x, log) for lam in marks]
    features, heights = drawn_features(beta[:, :shown], wanted)
    x, df = x[:shown], path.df[:shown]
    last = heights[:, [-1]].toarray().ravel()
    asked = named_rows(heights, last, features, most, wanted)
    named = largest(asked, last, room_for_names(ax))
    set_horizontal(ax, x, xvar, log)
    set_vertical(ax, heights, path, unit)
    draw_or_blame(ax, x, heights, features, named, options)
    ax.axhline(0, color=tone(ax, LINE), linewidth=0.8, zorder=1)
    rows = 0
    if shade and path.convex_min is not None and path.convex_min < shown:
        rows = shade_nonconvex(ax, x, path.convex_min)
    rows += mark_walks(ax, path, x)
    if marks or rows:  # what the legend says has room above the lines
        words = zip(places, marks.values())
        mark_places(ax, [(place, word, "right") for place, word in words], rows)
    names = [path.feature_names[j] for j in features[named]]
    inks = name_colours(ax, features[named], options)
    write_names(ax, last[named], names, inks, asked.size - named.size)
    seen = [lam for lam, place in zip(marks, places) if place is not None]
    marked = [np.abs(path.lambdas[:shown] - lam).argmin() for lam in seen]
    count_on_top(ax, x, df, log, marked)
    return ax


def horizontal(path, beta, xvar, log):
    """What the horizontal axis shows, and for how many of the first lambdas."""
    size = path.lambdas.size
    if xvar == "norm":
        return np.asarray(abs(beta).sum(axis=0)).ravel(), size
    if xvar == "dev":
        return path.dev_ratio, size
    return path.lambdas, np.count_nonzero(path.lambdas) if log else size


# ---- lines -------------------------------------------------------------------------


def set_vertical(ax, heights, path, unit):
    """All coefficients and zero are within view."""
    low, high = height_range(heights)
    margin = 0.05 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)
    scale = SCALES.get(path.family) if isinstance(path.family, str) else None
    words = f"coefficient per {unit}" if unit else "coefficient"
    ax.set_ylabel(f"{words} ({scale})" if scale else words)


def height_range(heights):
    """The smallest and the largest coefficient, or zero."""
    values = heights.data
    return min(values.min(initial=0), 0), max(values.max(initial=0), 0)


def draw_or_blame(ax, x, heights, features, named, options):
    """The lines; what matplotlib says of the user's options is said to be of them."""
    try:
        draw_lines(ax, x, heights, features, named, options)
    except (AttributeError, TypeError, ValueError) as error:
        if not options:
            raise
        raise TypeError(
            f"plot() passes {', '.join(options)} on to matplotlib's LineCollection, "
            f"which must take them; {error}"
        ) from error


def draw_lines(ax, x, heights, features, named, options):
    """Quiet lines below, named ones above, each a collection; a crowd is an image."""
    lines = heights.shape[0]
    many = lines > MANY
    options = dict(options)
    width = options.pop("linewidth", options.pop("lw", None))
    quiet = np.setdiff1d(np.arange(lines), named)
    above = dict(
        linewidths=(1.4 if many else 1.6) if width is None else width, zorder=3,
        colors=colours(ax, features[named]),
    )
    grey = many or named.size > 0  # colours belong to names, if there are any
    below = dict(
        linewidths=(0.6 if many else 1.2) if width is None else width, zorder=2,
        alpha=0.7, colors=tone(ax, QUIET) if grey else colours(ax, features[quiet]),
    )
    if lines > CROWD:
        draw_crowd(ax, x, heights, below["colors"], options)
        quiet = quiet[:0]
    style = dict(rasterized=lines > RASTER, capstyle="round")
    for rows, own in ((quiet, below), (named, above)):
        if rows.size:
            y = heights[rows].toarray()
            corners = np.stack([np.broadcast_to(x, y.shape), y], axis=2)
            given = LineCollection(corners, **(style | own | options))
            ax.add_collection(given, autolim=False)


def draw_crowd(ax, x, heights, colour, options):
    """The density of lines; a collection checks and holds the user's options."""
    given = LineCollection([], **(dict(colors=[colour], zorder=2) | options))
    opacity = 1.0 if given.get_alpha() is None else given.get_alpha()
    draw_density(
        ax, x, heights, *height_range(heights), given.get_colors()[0][:3], opacity,
        given.get_zorder(),
    )


def name_colours(ax, features, options):
    """Each name has the colour of its line."""
    given = options.get("color", options.get("colors"))
    return [given] * features.size if is_color_like(given) else colours(ax, features)


# ---- marks -------------------------------------------------------------------------


def mark_walks(ax, path, x):
    """Triangles between neighbours that come from different walks of a search.

    Returns how many rows of the legend they take.
    """
    if "walk" not in path.work:
        return 0
    walk = path.work["walk"][: x.size]
    k = np.flatnonzero(np.diff(walk))
    between = np.sqrt(x[k] * x[k + 1]) if ax.get_xscale() == "log" else 0.5 * (
        x[k] + x[k + 1]
    )
    if k.size:
        ax.plot(
            between, np.zeros(k.size), "^", color=tone(ax, LINE), markersize=4,
            transform=ax.get_xaxis_transform(), zorder=4, clip_on=False,
            label="another walk",
        )
        explain(ax)
    return int(k.size > 0)


def marked_lambdas(path, mark):
    """Lambdas to mark and their words; several names for one lambda share a line."""
    found = {}
    for name, lam in named_marks(path, mark):
        found.setdefault(lam, []).append(name)
    return {lam: f"{' = '.join(names)}: {lam:.3g}" for lam, names in found.items()}


def named_marks(path, mark):
    """(name, lambda) of each mark, from all the ways to say it."""
    if mark is None:
        return []
    if hasattr(mark, "index_1se"):  # a cross-validation
        one_se = {} if mark.index_1se is None else {"1se": mark.lambda_1se}
        mark = one_se | {"min": mark.lambda_min}
    if isinstance(mark, Mapping):
        return [(str(name), lambda_of(path, lam)) for name, lam in mark.items()]
    if isinstance(mark, np.ndarray):
        mark = mark.tolist()
    several = mark if isinstance(mark, (list, tuple)) else [mark]
    return [
        (lam.upper() if isinstance(lam, str) else "lambda", lambda_of(path, lam))
        for lam in several
    ]


def lambda_of(path, lam):
    """The lambda a criterion chooses, or a number within the path."""
    if isinstance(lam, str):
        return path.select(one_of("mark", lam.lower(), ("aic", "bic", "ebic")))
    low, high = path.lambdas[-1], path.lambdas[0]
    return number("mark", lam, atleast=low, upto=high, where=", a lambda of the path")


def place_of(lam, lambdas, x, log):
    """Where a lambda is on the axis, on the drawn lines; None if it is not there."""
    if log and lam == 0:
        return None
    return float(np.interp(lam, lambdas[::-1], x[::-1]))
