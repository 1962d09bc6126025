"""Tables with named columns: pandas' frames and series, and the tables of others.

They are recognised without importing their library. What is no number is refused by
the name of its column; so is what is wrong with any X, however it is stored.
"""

import sys

import numpy as np

from ..matrices.columns import SHORT

MOST_SHOWN = 5  # columns that a message names


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


def rows_of(X):
    """How many rows there are, of anything that has some."""
    shape = getattr(X, "shape", None)
    return shape[0] if shape else len(X)


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
    for position, (column, dtype) in enumerate(types):
        if getattr(dtype, "kind", "O") not in "biuf":
            values = table.iloc[:, position] if is_frame(table) else None
            raise ValueError(
                f"{name} must be numeric; column {str(column)!r} has dtype {dtype} "
                f"({remedy(name, column, values)})"
            )


def remedy(name, column, values):
    """What to do about a column that is no numbers: they may be there as text."""
    encode = "encode it, e.g. with pandas.get_dummies, or drop it"
    if values is None:
        return encode
    own = f"{name}[{str(column)!r}]"
    if getattr(values.dtype, "kind", "O") in "mM":
        since = f"({own} - {own}.min())" if values.dtype.kind == "M" else own
        return f"make a number of it, e.g. days: {since}.dt.days, or drop it"
    try:
        numbers = sys.modules["pandas"].to_numeric(values, errors="coerce")
    except (TypeError, ValueError):  # entries that are lists, or other objects
        return encode
    there = values.notna()
    missed = there & numbers.isna()
    if numbers.dtype.kind not in "biuf" or 2 * missed.sum() >= there.sum():
        return encode
    if not missed.any():
        return (
            f"its entries are numbers stored as {stored_as(values)}: {own} = "
            f"pandas.to_numeric({own}), or all columns by {name} = "
            f"{name}.apply(pandas.to_numeric)"
        )
    odd, row = str(values[missed].iloc[0]), int(missed.to_numpy().argmax())
    return (
        f"{odd!r} in row {row} (from 0) is no number, most others are: "
        f"pandas.to_numeric({own}, errors='coerce') makes it missing"
    )


def stored_as(values):
    """Text, or objects of any kind."""
    return "text" if isinstance(values.dropna().iloc[0], str) else "objects"


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


def refuse_columns(name, wrong, n, names=None):
    """The error for columns with values that are not finite, {column: (count, one)}."""
    shown = []
    for j in list(wrong)[:MOST_SHOWN]:
        label = repr(names[j]) if names else f"number {j} (from 0)"
        count, value = wrong[j]
        shown.append(f"column {label} contains {value} in {count} of {n} rows")
    more = len(wrong) - len(shown)
    told = ", ".join(shown) + (f", and {more} more columns have such" if more else "")
    keep = f"{name}.notna().all(axis=1)" if names else f"isfinite({name}).all(axis=1)"
    raise ValueError(
        f"{name} must be finite; {told}: fill them in, or leave those columns out, or "
        f"those rows, of y as well ({keep} has those to keep)"
    )
