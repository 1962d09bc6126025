"""The kinds of X, and who takes care of each."""

from .dense import dense_matrix
from .sparse import sparse_matrix
from .sparse_inputs import Columns


def open_matrix(X, crew):
    """The matrix for what the door has let in (inputs.py)."""
    if isinstance(X, Columns):
        return sparse_matrix(X, crew)
    return dense_matrix(X, crew)
