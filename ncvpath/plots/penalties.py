"""The picture of the penalties: their shape, slope and threshold function."""

from collections.abc import Mapping

import numpy as np

from ..inputs.checks import number, one_of
from ..penalties import PENALTIES, ROWS, shaped
from ..runtime.messages import brief
from .palette import LINE, REGION, WORDS, colours, tone

TITLES = {
    "value": "penalty r(|b|)", "slope": "slope r'(|b|)", "threshold": "solution b(z)",
}
LETTERS = {"value": "b", "slope": "|b|", "threshold": "z"}
REACH = 5.0  # in units of lambda, far enough for every default gamma
STEPS = 1001  # on each side of zero
JUMP = 0.1  # from one step to the next, where a line breaks
GAP = 34  # points between panels, for the numbers of the next
NAME = 125  # points for a name in the legend


def plot_penalties(ax=None, what="all", gamma=None):
    """Draw the penalties side by side, at lambda = 1.

    Against a coefficient b: the penalty `r(|b|)` and its slope. Against z, the
    least-squares coefficient of a single standardized feature: the solution b that
    minimises ``(z - b)^2 / 2 + r(|b|)``; on the dotted line b = z there is no bias.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.
    what : {"all", "value", "slope", "threshold"}
        One of the three, or all: the Axes are then divided into three panels, in
        this order in its `child_axes`.
    gamma : mapping of penalty to gamma, optional
        In place of the defaults in `penalties()`. The scale of logsum is gamma sd(y),
        and drawn for sd(y) = lambda.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from ncvpath import plot_penalties
    >>> ax = plot_penalties(gamma={"MCP": 2})
    >>> [panel.get_title() for panel in ax.child_axes]
    ['penalty r(|b|)', "slope r'(|b|)", 'solution b(z)']
    """
    one_of("what", what, ("all", *TITLES))
    shapes = chosen_shapes(gamma)

    from .axes import axes_or_new

    ax = axes_or_new(ax, *((12, 4.4) if what == "all" else ()))
    panels = {what: ax} if what != "all" else three_panels(ax)
    for kind, panel in panels.items():
        draw_panel(panel, kind, shapes)
    explain(ax, panel, what)
    return ax


def chosen_shapes(gamma):
    """The gamma of each penalty, by its row."""
    given = {} if gamma is None else gamma
    if not isinstance(given, Mapping):
        raise ValueError(
            f"gamma must be a mapping of penalty to gamma; got gamma={brief(gamma)}"
        )
    given = {str(name).lower(): value for name, value in given.items()}
    shapes = {name: row.gamma for name, row in PENALTIES.items()}
    for name, value in given.items():
        if shapes.get(name) is None:
            words = ", ".join(row.name for row in ROWS if row.gamma is not None)
            raise ValueError(
                f"gamma must be given for any of {words}; got {brief(name)}"
            )
        row = PENALTIES[name]
        shapes[name] = number("gamma", value, above=row.above, where=f" for {row.name}")
    return shapes


def three_panels(ax):
    """Three Axes side by side in one, below the names."""
    from .axes import LINE_HEIGHT, points, small

    ax.set_axis_off()
    width, height = points(ax)
    rows = -(-len(ROWS) // names_beside(ax))
    taken = LINE_HEIGHT * small() * (rows + 2.5)  # names, and titles of the panels
    tall = max(1 - taken / height, 0.4)
    gap = min(GAP / width, 0.1)
    wide = (1 - 2 * gap) / 3
    return {
        kind: ax.inset_axes((k * (wide + gap), 0, wide, tall))
        for k, kind in enumerate(TITLES)
    }


def names_beside(ax):
    """How many names there is room for in a row."""
    from .axes import points

    return min(max(int(points(ax)[0] / NAME), 1), len(ROWS))


def explain(ax, panel, what):
    """The names of the lines: above the panels, or where one panel is free."""
    from .axes import legend, small

    # Between the branches, below the lasso, above the diagonal.
    free = dict(value="upper center", slope="center right", threshold="upper left")
    legend(
        ax, *panel.get_legend_handles_labels(), loc=free.get(what, "upper center"),
        ncols=names_beside(ax) if what == "all" else 1, fontsize=small(),
        labelcolor=tone(ax, WORDS), borderaxespad=0.3,
    )


def draw_panel(ax, what, shapes):
    """One line per penalty; earlier ones are wider, to be seen behind later ones."""
    ink = colours(ax, range(len(ROWS)))
    for k, (row, colour) in enumerate(zip(ROWS, ink)):
        gamma = shapes[row.name.lower()]
        name = row.name if gamma is None else f"{row.name}, gamma = {gamma:g}"
        ax.plot(
            *curve(row, what, shaped(row, gamma, 1.0).shape), color=colour,
            linewidth=1.4 + 0.7 * (len(ROWS) - 1 - k), label=name,
            solid_capstyle="butt",
        )
    left = 0 if what == "slope" else -REACH
    ax.set(xlim=(left, REACH), title=TITLES[what], xlabel=LETTERS[what])
    if what == "threshold":
        ax.plot([left, REACH], [left, REACH], ":", color=tone(ax, LINE), linewidth=1)
        ax.set_ylim(left, REACH)
    ax.axhline(0, color=tone(ax, LINE), linewidth=0.8, zorder=0)
    ax.grid(color=tone(ax, REGION), linewidth=0.8)
    ax.set_axisbelow(True)


def curve(row, what, shape):
    """Points of one line, with a gap at each jump."""
    a = np.linspace(0, REACH, STEPS)
    if what == "slope":
        return broken(a, row.slope(a, 1.0, shape))
    if what == "value":
        values, sign = row.value(a, 1.0, shape), 1
    else:
        values, sign = threshold(row, a, shape), -1
    return broken(np.append(-a[:0:-1], a), np.append(sign * values[:0:-1], values))


def threshold(row, z, shape):
    """The best b for each z, by trying all: right for every penalty of the table."""
    price = row.value(z, 1.0, shape)
    return z[[np.argmin((target - z) ** 2 / 2 + price) for target in z]]


def broken(x, y):
    """The line with a gap wherever it jumps."""
    jumps = np.flatnonzero(np.abs(np.diff(y)) > JUMP) + 1
    return np.insert(x, jumps, np.nan), np.insert(y, jumps, np.nan)
