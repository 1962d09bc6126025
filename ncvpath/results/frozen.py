"""Arrays of results can be read, not written: a result that was changed by accident
would answer all later questions wrongly."""

from dataclasses import fields, is_dataclass

import numpy as np

NOT_OURS = ("X", "y")  # the user's own


def freeze(result):
    """Give a frozen record views of its arrays that cannot be written through.

    The arrays themselves stay as they are: kernels are compiled for such.
    """
    for field in fields(result):
        if field.name not in NOT_OURS:
            value = getattr(result, field.name)
            # A frozen record has no other way in.
            result.__dict__[field.name] = sealed(value)


def sealed(value):
    """The same, read-only if it is or holds arrays."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, dict):
        return {name: sealed(part) for name, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        freeze(value)
    if hasattr(value, "indptr"):
        return sealed_columns(value)
    return value


def sealed_columns(beta):
    """A sparse matrix of views; in order, as nobody can sort it later."""
    beta.sort_indices()
    parts = beta.data, beta.indices, beta.indptr
    return type(beta)(tuple(map(sealed, parts)), shape=beta.shape)
