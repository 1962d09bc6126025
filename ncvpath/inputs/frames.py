"""Tables with named columns: pandas' frames and series, and the tables of others.

They are recognised without importing their library. What is no number is refused by
the name of its column; so is what is wrong with any X, however it is stored.
"""

import sys

import numpy as np

from ..matrices.columns import SHORT


def is_frame(X):
    """A pandas DataFrame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_series(x):
    """A pandas Series."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(x, pandas.Series)


def index_of(x):
    """The labels that pandas gives to rows, or None."""
    return x.index if is_frame(x) or is_series(x) else None


def raw_names(X):
    """The column names of a table as it has them, or None for what is no table."""
    if is_frame(X):
        return X.columns
    if not hasattr(X, "__array__"):
        return None
    columns = getattr(X, "column_names", None)  # pyarrow's word
    return getattr(X, "columns", None) if columns is None else columns


def column_names(X):
    """The column names a table brings along, as text, or None."""
    columns = raw_names(X)
    return None if columns is None else [str(c) for c in columns]


def chosen_columns(X, positions):
    """A table with the columns at these positions, in this order."""
    if is_frame(X):
        return X.iloc[:, positions]
    names = raw_names(X)
    wanted = [names[j] for j in positions]
    return X.select(wanted) if hasattr(X, "select") else X[wanted]


def refuse_other_columns(name, table):
    """Columns that are not numbers are refused by name.

    Other libraries would turn dates to numbers without a word.
    """
    if is_frame(table):
        types = zip(table.columns, table.dtypes)
    else:
        types = ((column, type_of(table[column])) for column in raw_names(table))
    for column, dtype in types:
        if getattr(dtype, "kind", "O") not in "biuf":
            raise ValueError(
                f"{name} must be numeric; column {str(column)!r} has dtype {dtype} "
                "(encode it, e.g. with pandas.get_dummies, or drop it)"
            )


def type_of(column):
    """The type of a column's entries, of which missing ones are not asked."""
    if not hasattr(column, "__array__"):
        return None
    found = np.asarray(column[:0]).dtype
    own = getattr(column, "dtype", getattr(column, "type", found))
    return found if found.kind in "biuf" else own


def numeric_frame(name, frame):
    """The values of a pandas frame; not copied if they are one block."""
    refuse_other_columns(name, frame)
    if not all(isinstance(dtype, np.dtype) for dtype in frame.dtypes):
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)
    common = np.result_type(*frame.dtypes) if frame.shape[1] else np.dtype(float)
    short = common in SHORT or common == np.bool_
    return frame.to_numpy(dtype=common if short else np.float64)


def refuse_other_types(name, X):
    """An error where the entries are no real numbers."""
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be real numbers; got dtype {X.dtype} from {type(X).__name__}"
        )


def refuse_empty(name, X):
    """An error where there are no rows, or no columns."""
    if len(X.shape) != 2 or 0 in X.shape:
        raise ValueError(
            f"{name} must have a row and a column at least; got shape {X.shape}"
        )


def refuse_column(name, j, value, names=None):
    """The error for column j, which contains a value that is not finite."""
    label = repr(names[j]) if names else f"number {j} (from 0)"
    raise ValueError(f"{name} must be finite; column {label} contains {value}")
