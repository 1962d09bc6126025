"""Random problems with the troubles that real ones have, each from a short recipe.

A recipe is a dict of small values: it prints on a few lines, and a failure found once
becomes a test by writing its recipe down.
"""

import numpy as np
from hypothesis import strategies as st

TROUBLES = (
    "none", "factor", "duplicates", "rank", "ties", "sparse", "nearly", "powers",
)
# Gamma from barely legal to barely nonconvex.
GAMMAS = {
    "lasso": [None],
    "MCP": [None, 1 + 1e-6, 1.5, 30.0],
    "SCAD": [None, 2 + 1e-6, 2.5, 30.0],
    "logsum": [None, 1e-3, 0.1, 10.0],
    "capped": [None, 0.5 + 1e-6, 1.0, 20.0],
}

designs = st.fixed_dictionaries(
    dict(
        n=st.integers(2, 30), p=st.integers(1, 40), seed=st.integers(0, 2**32 - 1),
        trouble=st.sampled_from(TROUBLES),
        closeness=st.integers(-12, -1),  # of nearly equal columns, decimal exponent
        shift=st.sampled_from([None, -2, 0, 2, 4, 6, 8]),  # of all columns, likewise
        scaled=st.booleans(),  # columns from 1e-12 to 1e12
        noise=st.sampled_from([-8, -3, 0, 1]), unit=st.integers(-12, 12),  # of y
    )
)


@st.composite
def models(draw):
    """What is minimised; "weights" and "factors" are drawn when the problem is."""
    penalty = draw(st.sampled_from(list(GAMMAS)))
    return dict(
        penalty=penalty, gamma=draw(st.sampled_from(GAMMAS[penalty])),
        alpha=draw(st.sampled_from([1.0, 0.9, 0.3, 0.01])),
        intercept=draw(st.booleans()), standardize=draw(st.booleans()),
        weights=draw(st.booleans()), penalty_factor=draw(st.booleans()),
    )


def matrix(n, p, trouble, closeness, rng):
    """A matrix with one trouble."""
    X = rng.standard_normal((n, p))
    if trouble == "factor":
        return 0.3 * X + rng.standard_normal((n, 1))
    if trouble == "duplicates":
        return X[:, rng.integers(0, p, p)] * rng.choice([-1.0, 1.0, 2.0], p)
    if trouble == "rank":
        return X[:, : max(p // 3, 1)] @ rng.standard_normal((max(p // 3, 1), p))
    if trouble == "ties":
        return np.round(X)
    if trouble == "sparse":
        return X * (rng.random((n, p)) < 0.2)
    if trouble == "nearly":
        return X[:, :1] + 10.0**closeness * X
    if trouble == "powers":
        return X[:, :1] ** np.arange(1, p + 1)
    return X


def problem(design, model):
    """X, y and the arguments of `ncvpath`."""
    n, p = design["n"], design["p"]
    rng = np.random.default_rng(design["seed"])
    X = matrix(n, p, design["trouble"], design["closeness"], rng)
    if design["shift"] is not None:
        X = X + 10.0 ** design["shift"]
    if design["scaled"]:
        X = X * 10.0 ** rng.uniform(-12, 12, p)
    signal = X / np.maximum(np.abs(X).max(axis=0), 1e-300)
    y = signal @ (rng.standard_normal(p) * (rng.random(p) < 0.3))
    y = y + 10.0 ** design["noise"] * rng.standard_normal(n)
    arguments = dict(model)
    weights = rng.random(n) * (rng.random(n) < 0.8)
    factors = rng.choice([0.0, 0.2, 1.0, 1.0, 5.0, np.inf], p)
    arguments["weights"] = weights if model["weights"] else None
    arguments["penalty_factor"] = factors if model["penalty_factor"] else None
    return X, y * 10.0 ** design["unit"], arguments
