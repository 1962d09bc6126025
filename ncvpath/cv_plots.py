"""Pictures of a cross-validation. Axes in, Axes out; nothing global is touched.

matplotlib comes with `plots`: this room, too, is entered late.
"""

import numpy as np

from .plots import COLOURS, LINE_HEIGHT, QUIET, count_on_top, set_horizontal

KINDS = ("cve", "r2", "scale", "grid")
ERRORS = {"mse": "Mean squared error (CV)", "mae": "Mean absolute error (CV)"}
EXPLAINED = {
    "mse": "R squared (CV)", "mae": "Fraction of absolute error explained (CV)",
}
ACCENT = COLOURS[1]
MARGIN = 0.02  # left and right of the dots, as a fraction of their range
SMALL = 0.85  # font size of labels within the picture
WIDTH = 0.62  # of a letter, in font sizes
DECADE = 120  # points that ticks at 1, 2 and 5 need on a log axis


def plot_cv(cv, ax=None, kind="cve", log_lambda=True):
    """Draw what cross-validation found.

    Parameters
    ----------
    cv : the result of a cross-validation
    ax : matplotlib Axes, optional
    kind : {"cve", "r2", "scale", "grid"}
        The error along the path; the fraction of the null model's error that is
        explained; the estimated standard deviation of the noise, the root of the
        mean squared error; or the smallest error for each gamma and alpha.
    log_lambda : bool
        Logarithmic lambda axis; it leaves out lambda=0.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(kind, str) or kind not in KINDS:
        words = ", ".join(map(repr, KINDS))
        raise ValueError(f"kind must be one of {words}; got {kind!r}")
    if kind == "grid":
        return plot_grid(cv, ax)
    return plot_curve(cv, ax, *curve(cv, kind), log_lambda)


# ---- along the path ----------------------------------------------------------------


def curve(cv, kind):
    """Heights, half lengths of their bars, and words for the vertical axis."""
    if kind == "cve":
        return cv.cve, cv.cvse, ERRORS[cv.measure]
    if kind == "r2":
        return cv.r2, cv.cvse / cv.null_error, EXPLAINED[cv.measure]
    if cv.measure != "mse":
        raise ValueError(
            'kind="scale" is the root of the mean squared error and needs '
            f'measure="mse"; got measure={cv.measure!r}'
        )
    sigma = np.sqrt(cv.cve)
    return sigma, cv.cvse / (2 * sigma), "Estimated sigma (CV)"


def plot_curve(cv, ax, y, bars, words, log):
    """Dots with bars of one standard error; complexity grows to the right."""
    if cv.lambdas.size < 2:
        raise ValueError("a plot needs a path of at least 2 lambdas; got 1")
    if ax is None:
        ax = new_axes(8, 5.2)
    shown = np.flatnonzero(cv.lambdas > 0) if log else np.arange(cv.lambdas.size)
    x, df = cv.lambdas[shown], np.asarray(cv.fit.df)[shown]
    ax.errorbar(
        x, y[shown], yerr=bars[shown], fmt="o", color=ACCENT, ecolor=QUIET,
        markersize=3.5, elinewidth=1, capsize=1.5, zorder=3,
    )
    ax.set_ylabel(words)
    set_horizontal(ax, x, "lambda", log)
    widen(ax, log)
    if log:
        thin_out_ticks(ax)
    mark_choices(ax, choices(cv), log)
    count_on_top(ax, x, df, log)
    ax.child_axes[-1].set_xlabel("Nonzero coefficients")
    return ax


def new_axes(width, height):
    """Axes in a figure of their own, in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def widen(ax, log):
    """Room for the first and the last dot."""
    left, right = ax.get_xlim()
    if log:
        factor = (left / right) ** MARGIN
        ax.set_xlim(left * factor, right / factor)
    else:
        margin = MARGIN * (left - right)
        ax.set_xlim(left + margin, right - margin)


def thin_out_ticks(ax):
    """Ticks at powers of ten alone where there is no room for more."""
    from matplotlib.ticker import LogLocator

    left, right = ax.get_xlim()
    if points(ax)[0] < DECADE * np.log10(left / right):
        ax.xaxis.set_major_locator(LogLocator())


def choices(cv):
    """(lambda, label, side of its line) for each line; one line if they agree."""
    if cv.index_min == cv.index_1se:
        return [(cv.lambda_min, f"min = 1se: {cv.lambda_min:.3g}", "right")]
    return [
        (cv.lambda_1se, f"1se: {cv.lambda_1se:.3g}", "left"),
        (cv.lambda_min, f"min: {cv.lambda_min:.3g}", "right"),
    ]


def mark_choices(ax, marks, log):
    """Dashed lines with labels above the dots, each label in a row of its own.

    A lambda of 0 has no place on a log axis: its label stands at the right end.
    """
    row = small() * LINE_HEIGHT
    low, high = ax.get_ylim()
    taken = min(row * (len(marks) + 0.4) / points(ax)[1], 0.5)
    ax.set_ylim(low, low + (high - low) / (1 - taken))
    for k, (lam, label, side) in enumerate(marks):
        if log and lam == 0:
            lam, label, side = ax.get_xlim()[1], f"{label} (not shown)", "left"
        else:
            ax.axvline(lam, color="0.4", linestyle="--", linewidth=1, zorder=2)
            side = side_with_room(ax, lam, label, side)
        write_beside(ax, lam, label, side, -row * (k + 0.7))


def points(ax):
    """Width and height of the axes, in points."""
    box = ax.get_window_extent()
    return 72 / ax.figure.dpi * box.width, 72 / ax.figure.dpi * box.height


def small():
    """Font size of what is written into the picture, in points."""
    from matplotlib import rcParams

    return SMALL * rcParams["font.size"]


def side_with_room(ax, lam, label, side):
    """The wanted side of a line, or the other one if a label does not fit there."""
    place = (ax.transScale + ax.transLimits).transform((lam, ax.get_ylim()[0]))[0]
    room = {"left": place, "right": 1 - place}
    needed = WIDTH * small() * (len(label) + 1) / points(ax)[0]
    return side if room[side] >= needed else max(room, key=room.get)


def write_beside(ax, lam, label, side, down):
    """A label left or right of lambda, some points below the top."""
    ax.annotate(
        label, xy=(lam, 1), xycoords=ax.get_xaxis_transform(),
        xytext=(-5 if side == "left" else 5, down), textcoords="offset points",
        ha="right" if side == "left" else "left", va="center", fontsize=small(),
        color="0.2", zorder=4, bbox=dict(fc=ax.get_facecolor(), ec="none", pad=1),
    )


# ---- gamma and alpha ---------------------------------------------------------------


def plot_grid(cv, ax):
    """The smallest error over lambda, rows gamma and columns alpha."""
    table = smallest_errors(cv.grid)
    if table.size < 2:
        raise ValueError('plot(kind="grid") needs several values of gamma or alpha')
    rows, columns = table.shape
    if ax is None:
        ax = new_axes(min(2.4 + 0.9 * columns, 12), min(2 + 0.55 * rows, 9))
    image = ax.imshow(table, cmap="Blues_r", aspect="auto", origin="lower")
    bar = ax.figure.colorbar(image, ax=ax, location="right" if rows > 1 else "top")
    bar.set_label(f"{ERRORS[cv.measure]},\nsmallest over lambda")
    bar.outline.set_edgecolor(QUIET)
    write_values(ax, image, table.to_numpy())
    name_cells(ax.xaxis, "alpha", table.columns)
    name_cells(ax.yaxis, "gamma", table.index)
    ax.spines[:].set_color(QUIET)
    outline(ax, position(table.index, cv.gamma), position(table.columns, cv.alpha))
    return ax


def smallest_errors(grid):
    """A table of the smallest error for each gamma (NaN: none) and alpha."""
    smallest = grid.groupby(["gamma", "alpha"], dropna=False)["cve"].min()
    return smallest.unstack("alpha")


def write_values(ax, image, values):
    """Each cell's value, in a colour and size that can be read."""
    cell = points(ax)[0] / values.shape[1]
    size = min(small(), cell / (WIDTH * 7))
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            shade = image.cmap(image.norm(value))[:3]
            colour = "white" if np.dot(shade, (0.299, 0.587, 0.114)) < 0.55 else "black"
            ax.text(
                column, row, f"{value:#.4g}".rstrip("."), color=colour, fontsize=size,
                ha="center", va="center",
            )


def name_cells(axis, name, values):
    """A tick in the middle of each row or column; none without a parameter."""
    if np.isnan(values).all():
        axis.set_ticks([])
        return
    axis.set_ticks(range(len(values)), [f"{value:g}" for value in values])
    axis.set_tick_params(length=0)
    axis.set_label_text(name)


def position(values, chosen):
    """Where a chosen value is; the lasso has no gamma, and one row."""
    return 0 if len(values) == 1 else int(np.argmin(np.abs(values - chosen)))


def outline(ax, row, column):
    """A frame around one cell."""
    from matplotlib.patches import Rectangle

    corner = (column - 0.5, row - 0.5)
    ax.add_patch(
        Rectangle(corner, 1, 1, fill=False, ec=ACCENT, lw=2.5, clip_on=False, zorder=3)
    )
