"""The table of penalties: names, limits of gamma, and their mathematics in NumPy.

One row per penalty drives lookup, error messages, tests and documentation. The
coordinate-wise minimisers are compiled: kernels/penalty.py, under the same codes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .kernels.records import Penalty
from .runtime.loading import package


@dataclass(frozen=True)
class Row:
    """What there is to know about one penalty; a = |beta_j| and g is the shape."""

    name: str
    kind: int
    formula: str
    gamma: float | None  # default
    above: float | None  # gamma must be greater than this
    value: Callable  # r(a; l1, g)
    slope: Callable  # r'(a; l1, g) for a > 0
    growth: Callable  # largest d|beta|/dlambda of the one-variable solution
    concavity: Callable | None  # largest -r'' for convex_min; None: not defined
    tied_to_y: bool = False  # the shape is gamma sd(y), not gamma

    @property
    def is_flat(self):
        """Whether large coefficients are not penalised any more."""
        return self.slope(np.float64(1e6), 1.0, self.gamma or 1.0) == 0

    def __reduce__(self):
        return by_name, (self.name,)  # its functions do not travel between processes


def _scad_value(a, l1, g):
    middle = (2 * g * l1 * a - a**2 - l1**2) / (2 * (g - 1))
    flat = l1**2 * (g + 1) / 2
    return np.where(a <= l1, l1 * a, np.where(a <= g * l1, middle, flat))


ROWS = (
    Row(
        "lasso", 0, "l1 a", None, None,
        value=lambda a, l1, g: l1 * a,
        slope=lambda a, l1, g: l1 + 0 * a,
        growth=lambda g: 1.0,
        concavity=None,
    ),
    Row(
        "MCP", 1, "l1 a - a^2 / (2 gamma) up to gamma l1, then constant", 3.0, 1.0,
        value=lambda a, l1, g: np.where(
            a <= g * l1, l1 * a - a**2 / (2 * g), g * l1**2 / 2
        ),
        slope=lambda a, l1, g: np.maximum(l1 - a / g, 0),
        growth=lambda g: g / (g - 1),
        concavity=lambda l1, g: 1 / g + 0 * l1,
    ),
    Row(
        "SCAD", 2, "l1 a up to l1, quadratic up to gamma l1, then constant", 3.7, 2.0,
        value=_scad_value,
        slope=lambda a, l1, g: np.where(
            a <= l1, l1, np.maximum(g * l1 - a, 0) / (g - 1)
        ),
        growth=lambda g: g / (g - 2),
        concavity=lambda l1, g: 1 / (g - 1) + 0 * l1,
    ),
    Row(
        "logsum", 3, "l1 theta log(1 + a / theta), theta = gamma sd(y)", 1.0, 0.0,
        value=lambda a, l1, g: l1 * g * np.log1p(a / g),
        slope=lambda a, l1, g: l1 * g / (g + a),
        growth=lambda g: np.inf,
        concavity=lambda l1, g: l1 / g,
        tied_to_y=True,
    ),
    Row(
        "capped", 4, "l1 min(a, gamma l1)", 2.0, 0.5,
        value=lambda a, l1, g: l1 * np.minimum(a, g * l1),
        slope=lambda a, l1, g: np.where(a < g * l1, l1, 0.0),
        growth=lambda g: np.inf,
        concavity=None,
    ),
)

PENALTIES = {row.name.lower(): row for row in ROWS}
BY_KIND = {row.kind: row for row in ROWS}

# The strong rule's slope is unbounded for some penalties; beyond this it lets in
# too much to be a screening rule.
MAX_GROWTH = 3.0


def by_name(name):
    """The row of a penalty."""
    return PENALTIES[name.lower()]


def knows_units(kind, alpha):
    """Whether it matters in which units coefficients are penalised: not to the lasso
    alone, without a ridge."""
    return kind != by_name("lasso").kind or alpha < 1


def shaped(row, gamma, response_sd):
    """The penalty as the kernels take it."""
    if gamma is None:
        return Penalty(row.kind, 0.0)
    return Penalty(row.kind, gamma * response_sd if row.tied_to_y else gamma)


def penalties():
    """The penalties and their gamma, as a pandas DataFrame.

    Examples
    --------
    >>> from ncvpath import penalties
    >>> float(penalties()["gamma"]["MCP"])
    3.0
    """
    pd = package("pandas")

    return pd.DataFrame(
        {
            "gamma": [row.gamma for row in ROWS],
            "gamma must exceed": [row.above for row in ROWS],
            "r(a), a = |beta|": [row.formula for row in ROWS],
        },
        index=pd.Index([row.name for row in ROWS], name="penalty"),
    ).astype({"gamma": float, "gamma must exceed": float})
