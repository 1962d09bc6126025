"""Pictures of a cross-validation. Axes in, Axes out; nothing global is touched.

matplotlib comes with `axes`: this room, too, is entered late.
"""

from typing import NamedTuple

import numpy as np

from ..inputs.checks import flag, one_of
from .axes import (
    WIDTH,
    axes_or_new,
    count_row,
    legend,
    mark_places,
    points,
    set_horizontal,
    small,
)
from .palette import HUES, QUIET, REGION, background, colours, is_dark, tone

KINDS = ("cve", "r2", "scale", "grid")
REACH = 4  # standard errors from the best that have colours of their own
MARGIN = 0.02  # left and right of the dots, as a fraction of their range


def plot_cv(cv, ax=None, kind="cve", log_lambda=True):
    """Draw what cross-validation found. See CvNcvPath.plot."""
    if isinstance(kind, str) and kind == "rsq":  # as ncvreg has it
        raise ValueError("kind must be r2 where R has rsq; got kind='rsq'")
    one_of("kind", kind, KINDS)
    if kind == "grid":
        return plot_grid(cv, ax)
    return plot_curve(cv, ax, *curve(cv, kind), flag("log_lambda", log_lambda))


# ---- along the path ----------------------------------------------------------------


def curve(cv, kind):
    """Heights, half lengths of their bars, and words for the vertical axis."""
    if kind == "cve":
        return cv.cve, cv.cvse, errors_in_words(cv)
    if kind == "r2":
        words = cv.words.explained
        if words is None:
            raise ValueError(
                'kind="r2" is a share of the null error and needs measure="mse", "mae" '
                f'or "deviance"; got measure={cv.measure!r}'
            )
        slope = np.exp(cv.cve - cv.null_error) if cv.measure == "deviance" else (
            1 / cv.null_error
        )
        return cv.r2, slope * cv.cvse, f"{words} (CV)"
    if cv.measure != "mse":
        raise ValueError(
            'kind="scale" is the root of the mean squared error and needs '
            f'measure="mse"; got measure={cv.measure!r}'
        )
    sigma = np.sqrt(cv.cve)
    return sigma, cv.cvse / (2 * sigma), "Estimated sigma (CV)"


def errors_in_words(cv):
    """What the errors are."""
    return f"{cv.words.title} (CV)"


def plot_curve(cv, ax, y, bars, words, log):
    """Dots with bars of one standard error; complexity grows to the right."""
    if cv.lambdas.size < 2:
        raise ValueError("a plot needs a path of at least 2 lambdas; got 1")
    ax = axes_or_new(ax)
    shown = np.flatnonzero(cv.lambdas > 0) if log else np.arange(cv.lambdas.size)
    x, df = cv.lambdas[shown], np.asarray(cv.fit.df)[shown]
    ax.errorbar(
        x, y[shown], yerr=bars[shown], fmt="o", color=accent(ax),
        ecolor=tone(ax, QUIET), markersize=3.5, elinewidth=1, capsize=1.5, zorder=3,
    )
    ax.set_ylabel(words)
    set_horizontal(ax, x, "lambda", log)
    widen(ax)
    mark_places(ax, choices(cv, log))
    marked = [k for k in (cv.index_min, cv.index_1se) if k is not None and k < x.size]
    count_row(ax, x, df, log, marked)
    return ax


def accent(ax):
    """The colour of what matters most."""
    return colours(ax, [1])[0]


def widen(ax):
    """Room for the first and the last dot."""
    scale = ax.xaxis.get_transform()
    left, right = scale.transform(np.array(ax.get_xlim()))
    margin = MARGIN * (left - right)
    ax.set_xlim(scale.inverted().transform(np.array([left + margin, right - margin])))


def choices(cv, log):
    """(place, label, side of its line) for each line; one line if they agree."""
    found = [(cv.lambda_min, "min", "right")]
    if cv.index_1se is not None:
        found.insert(0, (cv.lambda_1se, "1se", "left"))
    if cv.index_min == cv.index_1se:
        found = [(cv.lambda_min, "min = 1se", "right")]
    return [
        (None if log and lam == 0 else lam, f"{name}: {lam:.3g}", side)
        for lam, name, side in found
    ]


# ---- gamma and alpha ---------------------------------------------------------------


def plot_grid(cv, ax):
    """Errors over gamma and alpha, or over lambda and the one that varies."""
    gammas = cv.grid["gamma"].nunique(dropna=False)
    alphas = cv.grid["alpha"].nunique()
    if gammas * alphas < 2:
        raise ValueError(
            'kind="grid" needs several values of gamma or alpha; got '
            f"gamma={cv.gamma}, alpha={cv.alpha:g}"
        )
    if gammas > 1 and alphas > 1:
        return plot_pairs(cv, ax)
    return plot_rows(cv, ax, "gamma" if alphas == 1 else "alpha")


def plot_rows(cv, ax, name):
    """The error along the path, one row for each value of gamma or alpha."""
    positive = cv.grid[cv.grid["lambda"] > 0]
    if positive.empty:
        raise ValueError('kind="grid" needs a lambda above 0; got lambda=0')
    rows = list(positive.groupby(name, sort=True))
    wholes = cv.grid.groupby(name, sort=True)
    ax = axes_or_new(ax, height=min(2.2 + 0.45 * len(rows), 9))
    maximised = cv.words.maximised
    scale = error_colours(cv)
    for k, ((value, row), (_, whole)) in enumerate(zip(rows, wholes)):
        image = ax.pcolormesh(
            edges(row["lambda"].to_numpy()), [k - 0.5, k + 0.5],
            row["cve"].to_numpy()[None], cmap=shades(ax, maximised), norm=scale.norm,
            rasterized=True,
        )
        best = whole["lambda"].iloc[int((np.argmax if maximised else np.argmin)(
            whole["cve"]
        ))]
        chosen = value == getattr(cv, name)
        words = f"chosen: {name}={value:g}" if chosen else f"best of its {name}"
        mark_best(ax, best, k, words, chosen)
    every = np.concatenate([edges(row["lambda"].to_numpy()) for _, row in rows])
    set_horizontal(ax, every, "lambda", log=True)
    name_cells(ax.yaxis, name, [value for value, _ in rows])
    ax.set_ylim(-0.5, len(rows) - 0.5)
    explain_colours(ax, image, errors_in_words(cv), scale)
    explain_dots(ax)
    return ax


def mark_best(ax, lam, k, words, chosen):
    """A dot at the best lambda of row k; at lambda=0, which is not shown, words."""
    ax.plot(
        [lam] if lam > 0 else [], [k] if lam > 0 else [], "o", color=accent(ax),
        markersize=9 if chosen else 5, zorder=3, linestyle="none",
        markerfacecolor=accent(ax) if chosen else "none",
        label=words if lam > 0 else f"{words}, lambda=0 (not shown)",
    )


def shades(ax, maximised):
    """The best is the darkest; on dark axes, where the rest would glare, the bluest."""
    if not is_dark(background(ax)):
        return "Blues" if maximised else "Blues_r"
    from matplotlib.colors import LinearSegmentedColormap

    ends = [tone(ax, REGION), HUES[0]]
    return LinearSegmentedColormap.from_list("dark", ends if maximised else ends[::-1])


class Scale(NamedTuple):
    """Colours of errors: from the best to so many standard errors from it."""

    norm: object
    ticks: dict[float, str]  # of the bar of colours
    extend: str


def error_colours(cv):
    """What matters is how far an error is from the best, in standard errors of that:
    smaller differences are noise, and should not look like anything else."""
    from matplotlib.colors import Normalize

    errors, maximised = cv.grid["cve"].to_numpy(), cv.words.maximised
    k = int(np.argmax(errors) if maximised else np.argmin(errors))
    best, unit = errors[k], cv.grid["cvse"].to_numpy()[k]
    if not (np.isfinite(unit) and unit > 0):
        return Scale(Normalize(errors.min(), errors.max()), {}, "neither")
    worse = -1 if maximised else 1
    steps = range(0, worse * (REACH + 1), worse)
    ticks = {best + step * unit: f"{step:+d}" for step in steps}
    ticks |= {best: f"{best:.4g}", best + worse * unit: f"{worse:+d} se"}
    limits = sorted((best, best + worse * REACH * unit))
    return Scale(Normalize(*limits, clip=True), ticks, "min" if maximised else "max")


def explain_dots(ax):
    """What full and empty dots are, above the map."""
    dots, words = ax.get_legend_handles_labels()
    once = dict(zip(words, dots))
    above = dict(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2)
    legend(ax, once.values(), once.keys(), ncols=2, **above)


def edges(lambdas):
    """Where cells around decreasing lambdas meet, halfway on the log scale."""
    if lambdas.size == 1:
        return lambdas[0] * np.array([1.1, 0.9])
    inner = np.sqrt(lambdas[1:] * lambdas[:-1])
    first, last = lambdas[0] ** 2 / inner[0], lambdas[-1] ** 2 / inner[-1]
    return np.concatenate([[first], inner, [last]])


def plot_pairs(cv, ax):
    """The smallest error over lambda, rows gamma and columns alpha."""
    best = "max" if cv.words.maximised else "min"
    table = cv.grid.groupby(["gamma", "alpha"])["cve"].agg(best).unstack("alpha")
    rows, columns = table.shape
    ax = axes_or_new(ax, min(2.4 + 0.9 * columns, 12), min(2 + 0.55 * rows, 9))
    scale = error_colours(cv)
    image = ax.imshow(
        table, cmap=shades(ax, cv.words.maximised), aspect="auto", origin="lower",
        norm=scale.norm,
    )
    size = "largest" if cv.words.maximised else "smallest"
    explain_colours(ax, image, f"{errors_in_words(cv)},\n{size} over lambda", scale)
    write_values(ax, image, table.to_numpy())
    name_cells(ax.xaxis, "alpha", table.columns)
    name_cells(ax.yaxis, "gamma", table.index)
    outline(ax, table.index.get_loc(cv.gamma), table.columns.get_loc(cv.alpha))
    return ax


def explain_colours(ax, image, words, scale):
    """A bar of colours with its words, and a quiet frame."""
    bar = ax.figure.colorbar(image, ax=ax, extend=scale.extend)
    if scale.ticks:
        bar.set_ticks([*scale.ticks], labels=[*scale.ticks.values()])
    bar.set_label(words)
    bar.outline.set_edgecolor(tone(ax, QUIET))
    ax.spines[:].set_color(tone(ax, QUIET))


def write_values(ax, image, values):
    """Each cell's value, in a colour and size that can be read."""
    cell = points(ax)[0] / values.shape[1]
    size = min(small(), cell / (WIDTH * 8))
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            dark = is_dark(image.cmap(image.norm(value))[:3])
            ax.text(
                column, row, f"{value:#.4g}".rstrip("."), fontsize=size,
                color="white" if dark else "black", ha="center", va="center",
            )


def name_cells(axis, name, values):
    """A tick in the middle of each row or column."""
    axis.set_ticks(range(len(values)), [f"{value:g}" for value in values])
    axis.set_tick_params(length=0)
    axis.set_label_text(name)


def outline(ax, row, column):
    """A frame around one cell."""
    from matplotlib.patches import Rectangle

    corner = (column - 0.5, row - 0.5)
    frame = dict(fill=False, ec=accent(ax), lw=2.5, clip_on=False, zorder=3)
    ax.add_patch(Rectangle(corner, 1, 1, **frame))
