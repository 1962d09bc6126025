"""The problems of the races: seeded draws, and real data when they are at hand.

Every problem is a pair X (columns with mean square 1; dense ones Fortran-ordered, with
mean 0) and y (mean 0), so that no contestant has anything left to standardize.
"""

import sys
from pathlib import Path

import numpy as np

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def standardized(X, y):
    """Centre X and y, and scale the columns of X that vary."""
    X = np.asfortranarray(X, dtype=float)
    X -= X.mean(axis=0)
    scale = np.sqrt((X**2).mean(axis=0))
    X /= np.where(scale > 1e-12, scale, 1.0)
    return X, y - y.mean()


def with_noise(rng, signal, snr):
    """The signal plus noise of the stated signal-to-noise ratio."""
    return signal + rng.standard_normal(signal.size) * np.sqrt(signal.var() / snr)


def chance(n=1000, p=5000, nonzero=500, seed=0):
    """Independent columns; coefficients N(0, 1) pushed away from 0 by 0.1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    beta = np.zeros(p)
    size = rng.standard_normal(nonzero)
    beta[rng.permutation(p)[:nonzero]] = size + 0.1 * np.sign(size)
    return standardized(X, X @ beta + 0.01 * rng.standard_normal(n))


def blocks(n=500, p=17_000, nonzero=20, seed=0):
    """100 latent factors; columns of the same factor have correlation 0.7."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((n, 100))[:, np.arange(p) % 100]
    X = np.sqrt(0.7) * factor + np.sqrt(0.3) * rng.standard_normal((n, p))
    return standardized(X, with_noise(rng, X @ signs(rng, p, nonzero), 3))


def chain(n, p, nonzero, seed=0):
    """Neighbouring columns with correlation 0.5: AR(1)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((p, n))
    for j in range(1, p):
        X[j] = 0.5 * X[j - 1] + np.sqrt(0.75) * X[j]
    X = X.T
    return standardized(X, with_noise(rng, X @ signs(rng, p, nonzero), 3))


def signs(rng, p, nonzero):
    """Coefficients +1 and -1 at random places."""
    beta = np.zeros(p)
    beta[rng.permutation(p)[:nonzero]] = rng.choice([-1.0, 1.0], nonzero)
    return beta


def real(name):
    """A real data set, its class labels taken as numbers; None when it is absent."""
    if not (SHARED / "load.py").exists():
        return None
    return standardized(*loaded(name))


def loaded(name, drop_constant=True):
    """X and a numeric y."""
    sys.path.insert(0, str(SHARED))
    try:
        from load import load
    finally:
        sys.path.pop(0)
    X, y, _ = load(name, drop_constant=drop_constant)
    return X, np.asarray(y, dtype=float)


def sparse(name):
    """A real sparse set, nonempty columns scaled to mean square 1; None if absent."""
    if not (SHARED / "load.py").exists():
        return None
    X, y = loaded(name)
    return unit_columns(X), y - y.mean()


def unit_columns(X):
    """The nonempty columns of a sparse X, scaled to mean square 1."""
    from scipy.sparse import csc_array, diags_array

    X = csc_array(X, dtype=float)
    X = X[:, np.diff(X.indptr) > 0]
    scale = np.sqrt(X.power(2).sum(axis=0) / X.shape[0])
    return csc_array(X @ diags_array(1 / scale))


PROBLEMS = {
    "chance": chance,
    "chance-small": lambda: chance(100, 1000, 30),
    "blocks": blocks,
    "wide": lambda: chain(1000, 20_000, 20),
    "wider": lambda: chain(1000, 100_000, 20),
    "tall": lambda: chain(20_000, 500, 50),
    "leukemia_golub": lambda: real("leukemia_golub"),
    "riboflavin": lambda: real("riboflavin"),
    "prostate_singh": lambda: real("prostate_singh"),
    "gwas_mice_bglr": lambda: real("gwas_mice_bglr"),
    "news20_3cat": lambda: sparse("news20_3cat"),
    "news20_comp5": lambda: sparse("news20_comp5"),
}
