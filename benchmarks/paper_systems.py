"""The paper's systems as arguments of `ncvpath`, and what their answers are worth.

The paper minimises 1/2 RSS + K top sum_j log(1 + |w_j|), with top = max |x_j'y|. That
is n times our objective with theta = gamma rms(y) = 1 and lambda = K top / n; its
violations are top times ours, which are relative to the null gradient.
"""

from typing import NamedTuple

import numpy as np


class System(NamedTuple):
    """A column of the table."""

    label: str
    arguments: dict


SYSTEMS = {
    "mm-prox": System("MM prox", dict(solver="mm-prox")),
    "gist": System("GIST", dict(working_set="full", solver="gist")),
    "maxvc-gist": System(
        "MaxVC GIST", dict(working_set="maxvc", solver="gist", prune=False)
    ),
    "fireworks-gist": System("FireWorks GIST", dict(solver="gist")),
    "mm-bcd": System("MM BCD", dict(solver="mm-cd")),
    "bcd": System("BCD", dict(working_set="full", solver="bcd")),
    "maxvc-bcd": System(
        "MaxVC BCD", dict(working_set="maxvc", solver="bcd", prune=False)
    ),
    "fireworks-bcd": System("FireWorks BCD", dict(solver="bcd")),
    "default": System("default", dict(n_added=None)),
    # Not in the paper, whose MaxVC never prunes while its FireWorks always does.
    "maxvc-pruned-gist": System(
        "MaxVC pruned GIST", dict(working_set="maxvc", solver="gist")
    ),
    "maxvc-pruned-bcd": System(
        "MaxVC pruned BCD", dict(working_set="maxvc", solver="bcd")
    ),
}
MAIN = [name for name in SYSTEMS if "pruned" not in name]


def null_gradient(X, y):
    """The largest |x_j'y|, the paper's lambda_max."""
    return np.abs(X.T @ y).max()


def arguments(X, y, K, tol, system, n_added):
    """What `ncvpath` is called with for the paper's K (or several) and tol."""
    top = null_gradient(X, y)
    return dict(
        penalty="logsum", gamma=1 / np.sqrt((y**2).mean()),
        lambdas=np.atleast_1d(K) * top / y.size, tol=tol / top, n_added=n_added,
        standardize=False, intercept=False, warm_up=False, convex=False,
        max_epochs=10**9,  # a run is ended by the cap on its time only
    ) | SYSTEMS[system].arguments


def measure(X, y, K, w):
    """Nonzeros, objective and largest violation on the paper's scale.

    Written from the paper's definitions, on nothing of the package. Fermat's condition:
    x_j'r = level sign(w_j) / (1 + |w_j|), or |x_j'r| <= level where w_j = 0.
    """
    level = K * null_gradient(X, y)
    residual = y - X @ w
    u, size = X.T @ residual, np.abs(w)
    slope = level * np.sign(w) / (1 + size)
    at_zero = np.maximum(np.abs(u) - level, 0)
    violation = np.where(w == 0, at_zero, np.abs(u - slope))
    return {
        "nonzeros": np.count_nonzero(w),
        "objective": 0.5 * residual @ residual + level * np.log1p(size).sum(),
        "violation": violation.max(),
    }


def f_measure(w, truth):
    """Harmonic mean of precision and recall of the support."""
    found = np.flatnonzero(w)
    return 2 * np.intersect1d(found, truth).size / (found.size + truth.size)
