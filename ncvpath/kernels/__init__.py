"""All numba code, by purpose; nothing else imports numba.

Kernels take plain arrays and records of them (records.py), change the arrays their
docstring names, and return counts. They never allocate per sweep, raise or print.
`kernels.descend_block` and the others are attributes of this package; numba is loaded
when the first of them is asked for.

    penalty.py     the penalties, one coordinate at a time
    descent.py     coordinate descent on a Gram matrix, for a block of lambdas
    newton.py      Newton steps and their Cholesky factor
    screening.py   Fermat's conditions over a block of lambdas
    dense.py, sparse.py, shared.py   columns of X: products, measures, descent on them
    proximal.py    proximal gradient steps
    exchange.py    features that change places
    options.py, records.py           how kernels are compiled; what they take
"""

from pathlib import Path

MODULES = (
    "penalty", "newton", "descent", "screening", "dense", "sparse", "proximal",
    "exchange",
)


def __getattr__(name):
    """A kernel, after loading all of them."""
    if name.startswith("__") or name in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ..runtime.code_cache import load_kernels

    for module in load_kernels(Path(__file__).parent, __name__, MODULES):
        for key, found in vars(module).items():
            if key not in MODULES and not key.startswith("_"):
                globals().setdefault(key, found)
    if name not in globals():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]
