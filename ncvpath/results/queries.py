"""Which lambdas a question is about, and what a path has there."""

import numpy as np

from ..inputs.checks import matrix, one_or_more
from ..inputs.data import match_columns
from ..inputs.response import check_family
from ..matrices import product
from ..penalties import PENALTIES
from ..runtime.messages import brief
from .predictions import check_offset, family_of

# Fields that are arguments of ncvpath() under the same name.
ARGUMENTS = (
    "penalty", "gamma", "alpha", "lambdas", "weights", "tol", "penalty_factor",
    "feature_names", "family", "offset", "rescale", "ties", "strata",
)


# ---- lambdas -----------------------------------------------------------------------


def positions(path, which):
    """Positions on the path, counted from 0, or from the end when negative."""
    found, single = one_or_more("which", which, "iu", "integers")
    size = path.lambdas.size
    outside = found[(found < -size) | (found >= size)]
    if outside.size:
        raise ValueError(f"which must be from 0 to {size - 1}; got which={outside[0]}")
    return found.astype(np.int64) % size, single


def lambda_values(path, lam):
    """Lambdas within the path, and whether it is one number."""
    values, single = one_or_more("lam", lam, "iuf", "a finite number or numbers")
    if not np.isfinite(values).all():
        raise ValueError(f"lam must be finite; got lam={brief(lam)}")
    values, (high, low) = values.astype(float), path.lambdas[[0, -1]]
    outside = values[(values > high) | (values < low)]
    if outside.size:
        raise ValueError(
            f"lam must be within the path, {low:g} to {high:g}; got lam={outside[0]:g}"
        )
    return values, single


def mixture(path, lam, which):
    """Weights (L x K, sparse) that mix the path's columns into the answer's, the
    lambdas, and whether one was asked for."""
    from scipy.sparse import csc_array

    size = path.lambdas.size
    if lam is not None and which is not None:
        raise ValueError(
            f"give lam or which, not both; got lam={brief(lam)}, which={brief(which)}"
        )
    if lam is None:
        left, single = positions(path, np.arange(size) if which is None else which)
        lambdas, right, share = path.lambdas[left], left, np.zeros(left.size)
    else:
        lambdas, single = lambda_values(path, lam)
        right = np.minimum(np.searchsorted(-path.lambdas, -lambdas), size - 1)
        left = np.maximum(right - 1, 0)
        gap = path.lambdas[left] - path.lambdas[right]
        share = (path.lambdas[left] - lambdas) / np.where(gap > 0, gap, 1.0)
        share[gap == 0] = 1.0
    k = np.arange(left.size)
    mix = csc_array(
        (np.append(1 - share, share), (np.append(left, right), np.append(k, k))),
        shape=(size, left.size),
    )
    mix.eliminate_zeros()
    return mix, lambdas, single


def nearest(path, lam):
    """The position whose lambda is nearest in its logarithm."""
    if lam == 0:
        return path.lambdas.size - 1
    with np.errstate(divide="ignore"):
        return int(np.argmin(np.abs(np.log(path.lambdas) - np.log(lam))))


# ---- answers -----------------------------------------------------------------------


def names_at(path, k):
    """Names of the nonzero features at a position."""
    low, high = path.beta.indptr[k : k + 2]
    return [path.feature_names[j] for j in np.sort(path.beta.indices[low:high])]


def selected(path, lam, which):
    """Names by lambda, or of one. See NcvPath.selected."""
    if lam is None and which is None:
        return {float(v): names_at(path, k) for k, v in enumerate(path.lambdas)}
    if lam is not None:
        _, wanted, single = mixture(path, lam, which)
        places = [nearest(path, value) for value in wanted]
    else:
        places, single = positions(path, which)
    names = [names_at(path, k) for k in places]
    if single:
        return names[0]
    keys = path.lambdas[places] if lam is None else wanted
    return {float(key): found for key, found in zip(keys, names)}


def linear_predictors(path, X, mix, single, offset):
    """Those of X, which has the columns of the fit: rows, or rows x K."""
    beta = path.beta @ mix
    X = matrix("X", X, np.unique(beta.indices))
    if X.shape[1] != path.p:
        raise ValueError(f"X must have {path.p} columns; got {X.shape[1]}")
    link = product(X, beta) + path.intercept @ mix
    link = link[:, 0] if single else link
    offset = check_offset(path, offset, len(link))
    return link + (offset if single or np.ndim(offset) == 0 else offset[:, None])


def once_more(path, X, y, arguments):
    """Arguments of a cross-validation of the path; those given go first."""
    X = path.X if X is None else match_columns(X, path.feature_names)
    y = path.y if y is None else y
    if X is None or y is None:
        raise ValueError("X and y must be given; this path was stored without them")
    shape = (len(y),) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
    if shape and shape[0] != path.n:
        raise ValueError(f"y must have the path's {path.n} rows; got {shape[0]}")
    own = path.settings | {name: getattr(path, name) for name in ARGUMENTS}
    own["intercept"] = path.has_intercept
    left_out = out_of_place(path, arguments)
    own = {name: value for name, value in own.items() if name not in left_out}
    return own | arguments | {"X": X, "y": y}


def out_of_place(path, arguments):
    """What belongs to the path's own arguments, and not to others given instead."""
    left_out = set()
    penalty = str(arguments.get("penalty", path.penalty)).lower()
    if penalty != path.penalty.lower():
        left_out.add("gamma")
        if penalty in PENALTIES and PENALTIES[penalty].gamma is None:
            left_out.add("search")  # there is one minimum
    if arguments.get("rescale") is True:
        left_out.add("search")  # there is no fixed objective
    if check_family(arguments.get("family", path.family)) != family_of(path):
        left_out |= {"lambdas", "rescale", "ties", "strata", "search"}
    if arguments.keys() & {"nlambda", "lambda_min_ratio"}:
        left_out.add("lambdas")
    return left_out
