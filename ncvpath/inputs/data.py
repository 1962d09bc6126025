"""What to fit: X, y and what belongs to them become clean arrays, or a ValueError that
names argument, rule and value. Nothing behind the door checks them again."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..families.response import Response
from ..matrices.columns import Columns
from ..matrices.distributed import DaskColumns
from ..matrices.sparse import SparseColumns
from ..runtime.memory import advised
from ..runtime.messages import brief, similar, warn_user
from .checks import entries, finite, matrix, number, one_per_row, vector
from .frames import chosen_columns, column_names, index_of, is_series
from .response import check_response
from .sparse import completed

# What helps where there is no memory for X in the form the kernels read.
KEPT_AS_IT_IS = (
    "a Fortran-ordered X of float64, float32 or int8, or one in a file "
    "(numpy.memmap), is not copied, and a sparse one only stores its entries"
)


class OfRows(NamedTuple):
    """What else users may give for each row of X, as they gave it."""

    weights: Any = None
    offset: Any = None
    strata: Any = None
    ties: str = "breslow"


@dataclass(frozen=True)
class Data:
    """X and y as the fit needs them."""

    X: np.ndarray | SparseColumns | Columns | DaskColumns  # n x p, the user's if it can
    response: Response
    weights: np.ndarray  # n, sum 1; of trials, where y counts them
    weighted: bool  # whether they were given
    penalty_factor: np.ndarray  # p
    names: tuple[str, ...]

    @property
    def y(self):
        """The response as numbers."""
        return self.response.y


def check_data(X, y, of_rows, penalty_factor, settings, feature_names=None):
    """Clean data; the user's arrays are never written to."""
    weights, *of_response = of_rows
    names, weighted = column_names(X), weights is not None
    given = dict(X=X, y=y, weights=weights, offset=of_rows.offset)
    with advised("X as the fit needs it", KEPT_AS_IT_IS):
        X = matrix("X", X)
    n, p = X.shape
    weights = row_weights(weights, n)
    response = check_response(settings.family, y, *of_response, n, weights)
    weights = response.weighted(weights)
    if isinstance(X, SparseColumns):
        X = completed(X, weights > 0)
    if settings.intercept and settings.family.has_intercept:
        check_varies(settings.family, response, weights > 0)
    compare_indexes(**given)
    named = names is not None or feature_names is not None
    names = _feature_names(feature_names, names, p)
    factor = _factors(penalty_factor, names, named)
    return Data(X, response, weights, weighted, factor, names)


def compare_indexes(**given):
    """Rows are matched by position; say so where pandas would do otherwise."""
    indexes = {name: index_of(values) for name, values in given.items()}
    first, *others = [name for name in indexes if indexes[name] is not None] or [None]
    for name in others:
        if not indexes[first].equals(indexes[name]):
            warn_user(
                f"{first} and {name} have different indexes; their rows are matched "
                "by position"
            )


def check_varies(family, response, rows):
    """An intercept needs something to differ from."""
    level = constant_level(family, response, rows)
    if level is not None:
        beyond = "" if response.offset is None else " beyond its offset"
        raise ValueError(
            f"y must vary{beyond} when intercept=True; got the constant y={level:g}"
        )


def constant_level(family, response, rows):
    """What a response is in all these rows, None if it is not one number: beside an
    offset that varies, a constant y needs explaining, too."""
    y, offset, noise = response.y[rows], response.offset, 0.0
    if offset is not None and family.is_quadratic:
        noise = 4 * np.finfo(float).eps * np.abs(y).max()  # that of the difference
        y = y - offset[rows]
    elif offset is not None and np.ptp(offset[rows]) > 0:
        return None
    return y[0] if np.ptp(y) <= noise else None


def match_columns(X, names):
    """X with the columns of the fit, in its order, found by name in a frame."""
    own = column_names(X)
    if own is None or own == list(names):
        return X  # and no copy of a frame that is in order
    position = {name: j for j, name in enumerate(own)}
    missing = [name for name in names if name not in position]
    if len(missing) == len(names) == len(own) and names == _numbered(len(names)):
        return X  # the fit had no names of its own: by position
    if missing:
        raise ValueError(
            f"X must have the columns of the fit; missing {', '.join(missing[:5])} "
            "(rename its columns, or give an array, whose columns go by position)"
        )
    if len(position) < len(own):
        counts = Counter(own)
        for name in names:
            if counts[name] > 1:
                raise ValueError(f"X must have column {name!r} once; got it twice")
    return chosen_columns(X, [position[name] for name in names])


def _numbered(p):
    return tuple([f"x{j}" for j in range(1, p + 1)])


def _feature_names(given, own, p):
    if given is None and own is None:
        return _numbered(p)
    source, names = "column names of X", own
    if given is not None:
        source = "feature_names"
        names = [str(name) for name in entries(source, given, "names")]
    if len(names) != p:
        raise ValueError(
            f"feature_names must name each of the {p} columns of X; got {len(names)}"
        )
    if "(Intercept)" in names:
        raise ValueError(
            f"{source} must not be '(Intercept)', which is what tables call the "
            "intercept; drop or rename that column"
        )
    if len(set(names)) < p:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        raise ValueError(
            f"{source} must be distinct as text; got {brief(twice)} twice (rename "
            "one, or give feature_names)"
        )
    return tuple(names)


def row_weights(weights, n):
    """Weights of n rows, that sum to one."""
    if weights is None:
        return np.full(n, 1 / n)
    weights = vector("weights", weights)
    one_per_row("weights", "value per row of X", weights.size, n)
    finite("weights", weights)
    if (weights < 0).any():
        lowest = int(np.argmin(weights))
        raise ValueError(
            f"weights must be >= 0; got {weights[lowest]:g} at position {lowest}"
        )
    if not weights.any():
        raise ValueError(f"weights must not all be zero; got {n} zeros")
    weights = weights / weights.max()
    return weights / weights.sum()


def _factors(given, names, named):
    """One factor per feature, from a vector in order or a mapping by name."""
    p = len(names)
    if given is None:
        return np.ones(p)
    if is_series(given) and (named or list(given.index) != list(range(p))):
        twice = given.index[given.index.duplicated()]
        if len(twice):
            raise ValueError(
                f"penalty_factor must name a feature once; got {str(twice[0])!r} twice"
            )
        given = dict(given.items())
    if isinstance(given, dict):
        factor = np.ones(p)
        position = {name: j for j, name in enumerate(names)}
        for name, value in given.items():
            if str(name) not in position:
                raise ValueError(
                    f"penalty_factor names must be features; got {str(name)!r}"
                    f"{similar(str(name), names)}"
                )
            label = f"penalty_factor[{str(name)!r}]"
            factor[position[str(name)]] = number(label, value, atleast=0, finite=False)
        return factor
    factor = vector("penalty_factor", given)
    if factor.size != p:
        raise ValueError(
            f"penalty_factor must have a value for each of the {p} columns of X; "
            f"got {factor.size}"
        )
    wrong = np.flatnonzero(~(factor >= 0))
    if wrong.size:
        raise ValueError(
            "penalty_factor must be >= 0 (inf allowed); got "
            f"{factor[wrong[0]]:g} for {names[wrong[0]]!r}"
        )
    return factor
