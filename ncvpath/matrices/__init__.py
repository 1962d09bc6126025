"""The kinds of X, and who takes care of each."""

import numpy as np

from ..runtime.threads import ThreadPool
from .columns import Columns
from .dense import dense_matrix
from .distributed import DaskColumns
from .out_of_core import OutOfCoreMatrix
from .sparse import SparseColumns, sparse_matrix

# Numbers in X that are sooner converted to float64 than kernels compiled for their
# type.
SMALL = 2_000_000


def open_matrix(X, threads):
    """The matrix for what the door has let in (`inputs`)."""
    if isinstance(X, SparseColumns):
        return sparse_matrix(X, threads)
    if isinstance(X, DaskColumns):
        return OutOfCoreMatrix(X, threads)
    on_disk = isinstance(X, Columns)
    if X.size < SMALL:
        X = X.fetch(np.arange(X.shape[1]), threads) if on_disk else X
        return dense_matrix(np.asarray(X, dtype=np.float64, order="F"), threads)
    if on_disk:
        return OutOfCoreMatrix(X, threads)
    return dense_matrix(X, threads)


def product(X, beta):
    """X @ beta for sparse coefficients; only columns in use are copied or read."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        return X @ beta
    used = np.unique(beta.indices)
    rows = np.arange(X.shape[0])
    return open_matrix(X, ThreadPool(1)).predict(rows, used, beta[used].toarray())
