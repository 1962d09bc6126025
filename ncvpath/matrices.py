"""The kinds of X, and who takes care of each."""

from .dense import dense_matrix


def open_matrix(X, crew):
    """The matrix for what the door has let in (inputs.py)."""
    return dense_matrix(X, crew)
