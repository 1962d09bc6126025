"""The lines of Python that do what a command did."""

from .data_files import SEPARATORS, by_levels, separator_of


def as_python(file, options, roles, study, arguments):
    """A script from the file to the fit; `options` are those of reading."""
    cross_validated = "nfolds" in arguments
    name = "cv_ncvpath" if cross_validated else "ncvpath"
    lines = ["import pandas as pd", f"from ncvpath import {name}", ""]
    lines.append(f"data = {reading(file, **options)}")
    if roles.drop:
        lines.append(f"data = data.drop(columns={list(roles.drop)!r})")
    if study.omitted:
        lines.append("data = data.dropna().infer_objects()")
    columns = [*roles.outcomes]
    if study.event is not None and columns:
        status = f"data[{roles.status!r}]"
        lines.append(f"{status} = ({status} == {study.event!r}).astype(int)")
    if columns:
        lines.append(f"y = data[{columns!r}].to_numpy()")
        lines.append(f"data = data.drop(columns={columns!r})")
    else:
        lines.append(f"y = data.pop({roles.response!r})")
        if study.event is not None:
            order = study.y.cat.categories.tolist()
            lines.append(f"y = y.astype(pd.CategoricalDtype({order!r}))")
    given = dict(arguments)
    for role in study.of_rows:
        lines.append(f"{role} = data.pop({getattr(roles, role)!r})")
        given[role] = Name(role)
    lines += encoding(study.levels)
    result = "cv" if cross_validated else "path"
    lines += called(f"{result} = {name}", {"": Name("data, y"), **given})
    if cross_validated:
        lines.append("path = cv.fit")
    return "\n".join(lines)


class Name(str):
    """Code that stands for itself, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def reading(file, sep, decimal, charset):
    """The call that reads the file."""
    found = separator_of(file, sep)
    if found is None:
        return f"pd.read_parquet({str(file)!r})"
    usual = {"sep": SEPARATORS[".csv"], "decimal": ".", "encoding": "utf-8"}
    given = {"": str(file), "sep": found, "decimal": decimal, "encoding": charset}
    options = {key: value for key, value in given.items() if value != usual.get(key)}
    options["index_col"] = False  # or surplus separators would shift the columns
    return "\n".join(called("pd.read_csv", options))


def encoding(levels):
    """The lines that make columns of text columns."""
    lines = []
    for names, drop_first in by_levels(levels):
        first = {"drop_first": True} if drop_first else {}
        style = {"prefix_sep": "=", "dtype": Name("float")}
        own = {"": Name("data"), "columns": names, **first, **style}
        lines += called("data = pd.get_dummies", own)
    return lines


def called(name, arguments, width=80):
    """The lines of a call; the argument without a name comes first."""
    words = [f"{key}={value!r}" if key else repr(value)
             for key, value in arguments.items()]
    line = f"{name}({', '.join(words)})"
    if len(line) <= width:
        return [line]
    return [f"{name}(", *(f"    {word}," for word in words), ")"]
