"""Which minimum: beyond the convex part of a path the objective may not be higher than
plain cyclic descent's, on the whole, and a search ends lower."""

import numpy as np
import pytest

from ncvpath import ncvpath

# The mean of log objectives over all lambdas but the first ten, as
# `benchmarks.cyclic` ends them with tol 1e-8.
CYCLIC = (
    0.9471, -3.0563, 0.4784, 0.5831, -2.4102, 1.6678, 1.2435, 0.3619, -1.9422, 0.2919,
    0.7334, 0.7229, -1.803, 2.2188, 1.7022, 0.8137, 2.0636, 1.8342, 0.2646, -0.0942,
    3.0928, 0.3008, 0.2684, 0.1762, -0.0321, -3.4458, 0.252, 0.4389, -2.1986, -4.4561,
    0.3648, 0.2689,
)


def draw(seed):
    """Columns that have a factor in common, or neighbours in a chain."""
    rng = np.random.default_rng(seed)
    n, p = [(60, 30), (50, 100)][seed % 2]
    X = rng.standard_normal((n, p))
    if seed % 4 < 2:
        X = np.sqrt(0.95) * rng.standard_normal((n, 1)) + np.sqrt(0.05) * X
    else:
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    signal = X[:, rng.permutation(p)[:8]] @ rng.choice([-1.0, 1.0], 8)
    return X, signal + signal.std() * rng.standard_normal(n)


def heights(seed, **options):
    """Logs of objectives, but for the first ten."""
    X, y = draw(seed)
    penalty = ["MCP", "SCAD"][seed // 4 % 2]
    path = ncvpath(
        X, y, penalty=penalty, nlambda=40, lambda_min_ratio=0.02, tol=1e-8, **options
    )
    assert path.converged.all()
    return np.log(path.objective[10:])


@pytest.fixture(scope="module")
def forward():
    return np.array([heights(seed) for seed in range(len(CYCLIC))])


def test_a_path_ends_as_low_as_plain_cyclic_descent(forward):
    above = forward.mean(axis=1) - CYCLIC
    assert above.mean() < 0


def test_a_walk_back_ends_lower_and_swaps_lower_still(forward):
    both, thorough = (
        np.array([heights(seed, search=search) for seed in range(12)])
        for search in ("both", "thorough")
    )
    forward = forward[:12]
    assert (both <= forward + 1e-6).all() and (thorough <= both + 1e-6).all()
    assert (both - forward).mean() < -0.12
    assert (thorough - forward).mean() < -0.19
