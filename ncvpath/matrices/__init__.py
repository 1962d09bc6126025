"""The kinds of X, and who takes care of each."""

import numpy as np

from ..runtime.threads import Crew
from .blocks import BlockedMatrix
from .columns import Columns
from .dense import dense_matrix
from .distributed import DaskColumns
from .sparse import SparseColumns, sparse_matrix

# Numbers in X that are sooner converted to float64 than kernels compiled for their
# type; compiled code takes small float64 problems in its stride (solver/walk.py).
SMALL = 2_000_000


def open_matrix(X, crew):
    """The matrix for what the door has let in (`inputs`)."""
    if isinstance(X, SparseColumns):
        return sparse_matrix(X, crew)
    if isinstance(X, DaskColumns):
        return BlockedMatrix(X, crew)
    on_disk = isinstance(X, Columns)
    if X.size < SMALL:
        X = X.fetch(np.arange(X.shape[1]), crew) if on_disk else X
        return dense_matrix(np.asarray(X, dtype=np.float64, order="F"), crew)
    if on_disk:
        return BlockedMatrix(X, crew)
    return dense_matrix(X, crew)


def product(X, beta):
    """X @ beta for sparse coefficients; only columns in use are copied or read."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        return X @ beta
    used = np.unique(beta.indices)
    rows = np.arange(X.shape[0])
    return open_matrix(X, Crew(1)).predict(rows, used, beta[used].toarray())
