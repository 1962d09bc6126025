"""Coefficients of several paths side by side: a table, and its picture."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..inputs.checks import flag
from ..runtime.loading import package
from ..runtime.messages import brief
from .path import NcvPath
from .printing import shape
from .tables import spread_in_words

MOST = 30  # features in a picture
MARKERS = "osD^vP*X"


def compare(paths, lam=None, ax=None, zeros=True):
    """Coefficients of several paths at the same lambda, and a picture if you like.

    Parameters
    ----------
    paths : mapping of label to NcvPath, or sequence of NcvPath
        Those of a sequence are labelled by their penalty, and by gamma, alpha or number
        where that is not enough.
    lam : float or sequence, optional
        Within all paths; interpolated as `NcvPath.coef` does. By default the one that
        BIC chooses in the first path, or the nearest that all paths have.
    ax : matplotlib Axes, optional
        Draw coefficients per standard deviation of their columns, at one lambda: the 30
        largest features from top to bottom, one kind of dots per path.
    zeros : bool
        Whether to keep features that are zero in all paths.

    Returns
    -------
    DataFrame
        Rows "(Intercept)" and features, one column per path (per path and lambda, if
        several were given); NaN where a path does not have the feature. The lambda is
        in `.attrs["lambda"]`.

    Examples
    --------
    >>> from ncvpath import compare, load_diabetes, ncvpath
    >>> X, y = load_diabetes()
    >>> paths = [ncvpath(X, y, penalty=name) for name in ("lasso", "MCP", "SCAD")]
    >>> compare(paths, lam=10, zeros=False).round(1)
                 lasso    MCP   SCAD
    (Intercept) -191.8 -296.7 -262.2
    bmi            5.1    7.3    7.3
    bp             0.5    0.0    0.2
    hdl           -0.2    0.0    0.0
    ltg           37.5   54.9   44.9
    """
    pd = package("pandas")

    labelled, zeros = labelled_paths(paths), flag("zeros", zeros)
    lam = common_lambda(list(labelled.values())) if lam is None else lam
    columns = {label: path.coef(lam=lam) for label, path in labelled.items()}
    if ax is not None:
        from ..plots.axes import axes_or_new

        ax = axes_or_new(ax)
        if np.ndim(lam) > 0:
            raise ValueError(
                f"lam must be one number for a picture; got lam={brief(lam)}"
            )
    table = pd.concat(columns, axis=1)
    if not zeros:
        used = table.fillna(0).ne(0).any(axis=1)
        table = table[used | (table.index == "(Intercept)")]
    table.attrs = {"lambda": np.asarray(lam, dtype=float).tolist()}
    if ax is not None:
        draw(ax, *sizes(labelled, lam), table.attrs["lambda"])
    return table


def sizes(paths, lam):
    """Coefficients to draw, and what they are called: units should decide nothing."""
    pd = package("pandas")

    paths_know = all(path.spread is not None for path in paths.values())
    columns = {
        label: path.coef(lam=lam, standardized=paths_know)
        for label, path in paths.items()
    }
    words = f"coefficient per {spread_in_words(next(iter(paths.values())))}"
    return pd.concat(columns, axis=1), words if paths_know else "coefficient"


def labelled_paths(paths):
    """Paths by label."""
    if not isinstance(paths, (Mapping, Sequence)) or not paths:
        raise ValueError(
            "paths must be a mapping or a sequence of paths, as in compare([a, b]); "
            f"got {type(paths).__name__} {brief(paths)}"
        )
    named = isinstance(paths, Mapping)
    several = list(paths.values() if named else paths)
    for path in several:
        if not isinstance(path, NcvPath):
            raise ValueError(
                f"paths must be results of ncvpath(); got {type(path).__name__}"
            )
    return dict(zip(map(str, paths) if named else labels(several), several))


def labels(paths):
    """The shortest description that tells the paths apart."""
    short = [path.penalty for path in paths]
    longer = [path.penalty + shape(path.gamma, alpha=1) for path in paths]
    longest = [
        path.penalty + shape(path.gamma, path.alpha, searched=True) for path in paths
    ]
    for words in (short, longer, longest):
        if len(set(words)) == len(paths):
            return words
    return [f"{words} ({k})" for k, words in enumerate(short, 1)]


def common_lambda(paths):
    """What BIC chooses in the first path, moved into the range of all."""
    low = max(path.lambdas[-1] for path in paths)
    high = min(path.lambdas[0] for path in paths)
    if low > high:
        raise ValueError(
            "paths must have lambdas in common; one begins at "
            f"{high:g}, below {low:g} where another ends"
        )
    return float(np.clip(paths[0].select("bic"), low, high))


# ---- the picture -------------------------------------------------------------------


def draw(ax, table, words, lam):
    """Dots of all paths, one row per feature, the largest on top."""
    from ..plots.axes import legend, shortened
    from ..plots.palette import LINE, REGION, colours, tone

    features = table.drop(index="(Intercept)", errors="ignore")  # Cox has none
    size = features.abs().max(axis=1)
    order = size[size > 0].sort_values(ascending=False, kind="stable").index
    shown = features.loc[order[:MOST]]
    rows = np.arange(len(shown))
    spread = 0.5 * (np.arange(table.shape[1]) / max(table.shape[1] - 1, 1) - 0.5)
    ax.axvline(0, color=tone(ax, LINE), linewidth=0.8, zorder=1)
    for row in rows[::2]:
        ax.axhspan(row - 0.5, row + 0.5, color=tone(ax, REGION / 2), lw=0, zorder=0)
    ink = colours(ax, range(table.shape[1]))
    for k, (label, values) in enumerate(shown.items()):
        ax.plot(
            values, rows + spread[k], MARKERS[k % len(MARKERS)], color=ink[k],
            markersize=5, linestyle="none", label=label, zorder=3,
        )
    names = shortened(shown.index)
    ax.set_yticks(rows, names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    more = f"; the {MOST} largest of {order.size}" if order.size > MOST else ""
    ax.set_xlabel(f"{words} at lambda = {lam:.4g}{more}")
    above = dict(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    legend(ax, ncols=min(table.shape[1], 6), labelcolor=tone(ax, 0.8), **above)
