"""A data file becomes X and y, or a ValueError that says what to do about it."""

import bz2
import gzip
import lzma
import re
import warnings
import zipfile
import zlib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from ..results.printing import some
from ..runtime.loading import package

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
PACKED = (".gz", ".bz2", ".xz", ".zip")
BROKEN = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


class Roles(NamedTuple):
    """Which column is what; the others are features."""

    response: str | None = None
    failures: str | None = None  # counts of both, instead of a response
    successes: str | None = None
    start: str | None = None  # of survival, too
    time: str | None = None
    status: str | None = None
    weights: str | None = None
    offset: str | None = None
    strata: str | None = None
    groups: str | None = None
    drop: tuple[str, ...] = ()

    def named(self):
        """(option, column) of each column that is no feature."""
        own = zip(self._fields, self[:-1])
        return [(f"--{option}", name) for option, name in own if name is not None] + [
            ("--drop", name) for name in self.drop
        ]

    @property
    def outcome(self):
        """The column that tells what is explained."""
        return self.response or self.time or self.successes

    @property
    def outcomes(self):
        """The columns of a response that has several, by what they are called."""
        if self.failures is not None:
            return {self.failures: self.failures, self.successes: self.successes}
        if self.time is None:
            return {}
        if self.start is None:
            return {self.time: "time", self.status: "status"}
        return {self.start: "start", self.time: "stop", self.status: "status"}


class Study(NamedTuple):
    """The data of a fit, and what was done to a table to get them."""

    X: "pd.DataFrame"
    y: "pd.Series | pd.DataFrame"
    of_rows: dict[str, "pd.Series"]  # weights, offset, strata, groups, as far as given
    omitted: int  # rows with missing values
    levels: dict[str, list[str]]  # of text columns
    event: Any = None  # the entry that is one, if the user has said it

    @property
    def encoded(self):
        """Text columns that became features, and their levels."""
        return {name: own for name, own in self.levels.items() if len(own) > 1}

    @property
    def constant(self):
        """Text columns of one level, of which nothing is left."""
        return tuple(name for name, own in self.levels.items() if len(own) == 1)


# ---- files -------------------------------------------------------------------------


def separator_of(file, sep=None):
    """What separates the fields of a text file; None for Parquet."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in PARQUET:
        if sep is not None:
            raise ValueError("--sep is for text files; a Parquet file needs none")
        return None
    if sep is not None:
        return sep
    if last in SEPARATORS:
        return SEPARATORS[last]
    raise ValueError(
        f"{file} must end in .csv, .tsv, .tab, .parquet or .pq (text also packed: .gz, "
        ".bz2, .xz, .zip); for other text give its separator, e.g. --sep ';'"
    )


def read_table(file, sep=None, decimal=".", charset="utf-8"):
    """The file as a DataFrame; a text file has its column names in the first line."""
    if file.is_dir():
        raise ValueError(f"{file} is a folder; a data file is needed")
    if not file.exists():
        raise ValueError(f"{file}: no such file")
    if not file.is_file():
        raise ValueError(f"{file} is a pipe or a device; a file on disk is needed")
    sep = separator_of(file, sep)
    if sep is None:
        table = read_parquet(file)
    else:
        table = read_text(file, dict(sep=sep, encoding=charset), decimal)
    table.columns = [str(name) for name in table.columns]
    check_unique(file, table.columns)
    return table


def read_parquet(file):
    """A Parquet file."""
    pd = package("pandas")

    try:
        return pd.read_parquet(file)
    except ImportError:
        raise ValueError(
            "Parquet files are read by pyarrow, which is not installed: "
            "python -m pip install pyarrow"
        ) from None
    except (ValueError, TypeError, KeyError, OSError, NotImplementedError) as error:
        raise ValueError(
            f"{file} cannot be read as Parquet: {first_line(error)}"
        ) from None


def read_text(file, options, decimal):
    """A text file of fields with a separator."""
    pd = package("pandas")

    try:
        if not wide_letters(options["encoding"]):
            refuse_null_bytes(file)
        names = pd.read_csv(file, header=None, nrows=1, dtype=str, na_filter=False,
                            **options).iloc[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(file, decimal=decimal, index_col=False,
                                low_memory=False, **options)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{file} is empty") from None
    except pd.errors.ParserWarning:
        if names.size == 1 and ";" in names[0]:
            raise ValueError(
                f"{file} has semicolons between its names; add --sep ';' (and "
                "--decimal , if it has decimal commas)"
            ) from None
        raise ValueError(
            f"{file} has more fields in its rows than names in its first line (written "
            "with row names? R's write.csv(..., row.names = FALSE) leaves them out)"
        ) from None
    except UnicodeError:
        raise ValueError(
            f"{file} is not {options['encoding']} text; name its encoding, e.g. "
            "--charset latin-1"
        ) from None
    except LookupError:
        raise ValueError(f"--charset {options['encoding']}: no such encoding") from None
    except (ValueError, OSError, *BROKEN) as error:
        raise ValueError(f"{file} cannot be read: {first_line(error)}") from None
    # In the table pandas has renamed the second column of a name.
    check_unique(file, [name for name in names if name])
    return table


def wide_letters(charset):
    """Whether a letter has zeros among its bytes, which are damage elsewhere."""
    return b"\0" in "a".encode(charset)


def refuse_null_bytes(file):
    """An error where a text has what no text has: pandas would end the field there."""
    openers = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    if file.suffix.lower() == ".zip":
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                with archive.open(name) as stream:
                    look_for_null_bytes(stream)
        return
    with openers.get(file.suffix.lower(), open)(file, "rb") as stream:
        look_for_null_bytes(stream)


def look_for_null_bytes(stream):
    """The same of an open file."""
    lines = 1
    while block := stream.read(1 << 20):
        place = block.find(b"\0")
        if place >= 0:
            lines += block.count(b"\n", 0, place)
            raise ValueError(
                f"there is a null byte in line {lines}; the file is damaged, or "
                "no text (UTF-16 needs --charset utf-16)"
            )
        lines += block.count(b"\n")


def first_line(error):
    """The message of an error of another package, shortened to one line."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


def check_unique(file, names):
    """An error where two columns have the same name."""
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{file} has column {name!r} twice; rename one of them")
        seen.add(name)


# ---- columns -----------------------------------------------------------------------


# Columns that must be numbers, and those that belong to rows beside X and y.
NUMBERS = (
    "response", "failures", "successes", "start", "time", "status", "weights", "offset",
)
OF_ROWS = ("weights", "offset", "strata", "groups")
MOSTLY = 0.9  # share of numbers, from which a column of text is taken for one of them
# A text is names, and no levels, if it has more than this share of the rows; of few
# rows these are fine.
MOST_LEVELS, FEW_LEVELS = 0.2, 10


def make_study(
    table, roles, encode=False, omit_missing=False, classes=False, event=None
):
    """Response, what belongs to rows, and features of a table.

    Two `classes` may be words, and so may a status of which the `event` is named; any
    other response is numbers.
    """
    check_roles(list(table.columns), roles)
    table = table.drop(columns=list(roles.drop))
    rows = len(table)
    used = [name for _, name in roles.named() if name not in roles.drop]
    refuse_empty(table.drop(columns=used))
    if omit_missing:
        # Without its gaps a column of true and false is one again.
        table = table.dropna().infer_objects()
    refuse_missing(table)
    if len(table) < 2:
        raise ValueError(
            f"a fit needs 2 rows at least; got {len(table)}"
            + (f" of {rows} without missing values" if omit_missing else "")
        )
    if event is not None:
        event = level_called(table[roles.status or roles.response], event)
        table = with_event(table, roles, event)
    for role in NUMBERS[1:] if classes else NUMBERS:
        name = getattr(roles, role)
        if name is not None and not is_numeric(table[name]):
            two = role == "response" and table[name].astype(str).nunique() == 2
            advice = "; two classes need --family binomial" if two else ""
            if role == "status":
                advice = "; --event says which entry is an event"
            raise ValueError(
                f"--{role} must be a column of numbers; {name!r} has "
                f"{example(table[name])}{advice}"
            )
    y = table[roles.outcome]
    if roles.outcomes:
        y = table[[*roles.outcomes]].set_axis([*roles.outcomes.values()], axis=1)
    of_rows = {
        role: table[getattr(roles, role)] for role in OF_ROWS
        if getattr(roles, role) is not None
    }
    X, levels = encode_text(table.drop(columns=used), encode)
    if X.shape[1] == 0:
        raise ValueError("no column is left as a feature")
    return Study(X, y, of_rows, rows - len(table), levels, event)


def level_called(column, word):
    """The entry of a column that a word on the command line means."""
    levels = column.drop_duplicates().tolist()
    for level in levels:
        if str(level) == word or (is_numeric(column) and str(level) == f"{word}.0"):
            return level
    shown = some([repr(str(level)) for level in levels])
    raise ValueError(f"--event: {column.name!r} has no {word!r}; it has {shown}")


def with_event(table, roles, event):
    """The table with a status of ones and zeros, or with the event as last class."""
    name = roles.status or roles.response
    if roles.status is not None:
        return table.assign(**{name: (table[name] == event).astype(int)})
    return table.assign(**{name: table[name].astype(in_order(table[name], event))})


def in_order(column, event):
    """The type of a column of classes, of which the event is the last."""
    pd = package("pandas")

    others = [level for level in column.drop_duplicates().tolist() if level != event]
    return pd.CategoricalDtype([*others, event])


def check_roles(columns, roles):
    """Every column that is named exists, and is named once."""
    options = {}
    for option, name in roles.named():
        if name not in columns:
            near = hint(name, columns)
            raise ValueError(f"{option}: there is no column {name!r}{near}")
        if name in options:
            raise ValueError(
                f"column {name!r} can have one use only; got {options[name]} and "
                f"{option}"
            )
        options[name] = option
    nameless = [
        name for name in columns
        if re.fullmatch(r"Unnamed: \d+|\s*", name) and name not in options
    ]
    if nameless:
        raise ValueError(
            f"column {columns.index(nameless[0]) + 1} has no name; if it holds row "
            f"names or numbers, leave it out: --drop {nameless[0]!r}"
        )


def hint(name, columns):
    """The nearest name, or those there are."""
    lower = {column.lower(): column for column in columns}
    near = get_close_matches(name.lower(), lower, n=1)
    if near:
        return f"; did you mean {lower[near[0]]!r}?"
    if len(columns) == 1:
        return f"; the only one is {columns[0]!r}: is the separator another (--sep)?"
    return f"; there are {some(list(map(repr, columns)))}"


def refuse_empty(table):
    """An error that names columns without any value, for which all rows would go."""
    empty = [repr(name) for name in table.columns if table[name].isna().all()]
    if empty and len(table):
        has = "columns {} have" if len(empty) > 1 else "column {} has"
        leave = "them" if len(empty) > 1 else "it"
        raise ValueError(
            f"{has.format(some(empty))} no value; leave {leave} out with --drop"
        )


def refuse_missing(table):
    """An error that counts missing values by column."""
    counts = table.isna().sum()
    counts = counts[counts > 0]
    if len(counts):
        listed = some([f"{name!r} has {count}" for name, count in counts.items()])
        more = " columns" if len(counts) > 5 else ""
        raise ValueError(
            f"missing values: {listed}{more}; fill them in, leave out the "
            "rows with --omit-missing, or columns with --drop"
        )


def is_numeric(column):
    """Whether a column holds real numbers, or truth values."""
    return getattr(column.dtype, "kind", "O") in "biuf"


def example(column):
    """The first entry that is no number, with its place, or the type."""
    pd = package("pandas")

    if not is_text(column):
        return f"type {column.dtype}"
    wrong = pd.to_numeric(column.astype(str), errors="coerce").isna() & column.notna()
    k = int(wrong.to_numpy().argmax())
    return f"{str(column.iloc[k])!r} in row {k + 1}"


def is_text(column):
    """Whether a column holds words."""
    pd = package("pandas")

    kinds = ("string", "categorical", "boolean", "mixed-integer")
    return pd.api.types.infer_dtype(column) in kinds


def encode_text(X, encode):
    """X with a column of zeros and ones for each level of its text columns.

    Two levels are told apart by one column, the second's.
    """
    pd = package("pandas")

    other = [name for name in X.columns if not is_numeric(X[name])]
    for name in other:
        refuse_numerals(name, X[name])
        if not encode or not is_text(X[name]):
            raise ValueError(advice(X, other, name))
    levels = {name: levels_of(X[name]) for name in other}
    for name, own in levels.items():
        refuse_names(name, len(own), len(X))
    style = dict(prefix_sep="=", dtype=float)
    for names, drop_first in by_levels(levels):
        X = pd.get_dummies(X, columns=names, drop_first=drop_first, **style)
    return X, levels


def refuse_numerals(name, column):
    """An error where most of a text are numbers, of which none is a level."""
    text = column.astype(str)
    plain, found = is_numeral(text), is_numeral(text.str.replace(",", "."))
    # Where all are plain, somebody has made text of them on purpose.
    if plain.all() or found.mean() < MOSTLY:
        return
    if found.all():
        wrong, said = ~plain, "with decimal commas, as"
        mixed = text.str.contains(".", regex=False).any()
        remedy = "write all with points" if mixed else "add --decimal ,"
    else:
        wrong, said = ~found, "but for"
        remedy = "correct that or empty the cell (and see --omit-missing)"
    k, count = int(wrong.to_numpy().argmax()), wrong.sum()
    more = f" and {count - 1} more" if count > 1 else ""
    raise ValueError(
        f"column {name!r} is numbers {said} {str(column.iloc[k])!r} in row {k + 1}"
        f"{more}: {remedy}, or leave the column out with --drop {name!r}"
    )


def is_numeral(text):
    """Which entries of a text say a number."""
    pd = package("pandas")

    return pd.to_numeric(text, errors="coerce").notna()


def refuse_names(name, levels, rows):
    """An error where a text tells rows apart, and no groups of them."""
    if levels == rows:
        said = "is different in every row"
    elif levels > max(rows * MOST_LEVELS, FEW_LEVELS):
        said = f"has {levels} levels in {rows} rows, too few of each to learn from"
    else:
        return
    raise ValueError(
        f"--encode: column {name!r} {said}; leave it out with --drop {name!r}"
    )


def levels_of(column):
    """What a column of text says, as names of features have it."""
    return [str(level) for level in column.astype("category").cat.categories]


def by_levels(levels):
    """(columns, whether to leave out their first level) of what there is to encode."""
    many = [name for name, own in levels.items() if len(own) > 2]
    few = [name for name, own in levels.items() if len(own) <= 2]
    return [(names, names is few) for names in (many, few) if names]


def advice(X, other, name):
    """What to do about columns that are not numbers."""
    if not is_text(X[name]):
        return (
            f"column {name!r} must be numbers or text; got type {X[name].dtype} (leave "
            f"it out with --drop {name!r})"
        )
    are = "columns are" if len(other) > 1 else "column is"
    return (
        f"{len(other)} {are} not numeric: {some(list(map(repr, other)))}; {name!r} has "
        f"{example(X[name])}: add --encode for a column of zeros and ones per level, "
        "or leave columns out with --drop"
    )
