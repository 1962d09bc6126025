"""`python -m ncvpath predict`: a stored model and a data file become predictions."""

import argparse
from pathlib import Path

import numpy as np

from ..results import CvNcvPath, NcvPath
from ..results.cv import rule_name
from ..results.cv_storage import holds_cv
from ..results.printing import counted, some
from ..results.storage import read_levels, replaced
from ..runtime.loading import package
from .data_files import example, hint, is_numeric, read_table
from .delivery import MODEL
from .options import reading_options
from .parsing import ANSWERED, Parser, program
from .words import in_options

# Columns of the predictions unless a type is asked for: their names and types.
USUAL = {
    "gaussian": {"prediction": "response"},
    "binomial": {"probability": "response", "class": "class"},
    "poisson": {"mean": "response"},
    "cox": {"relative_risk": "response", "median": "median"},
}
WITH_STRATA = ("median", "survival")
EXAMPLES = """\
example:
  {0} fit data.csv --response y --cv 10 --out results
  {0} predict results/model.npz new.csv --out predictions.csv

One row per row of FILE. Columns of FILE are found by name; those that the model does
not have are left alone, and text is encoded as it was in the fit.
"""


def predict_parser():
    """The options of `predict`."""
    parser = Parser(
        prog=f"{program()} predict", allow_abbrev=False,
        epilog=EXAMPLES.format(program()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Predict new rows by a model that `fit` has written.",
    )
    add = parser.add_argument
    add("model", type=model_file, metavar="MODEL",
        help="model.npz of a fit, or its folder, or a file that save() wrote in Python")
    add("file", type=Path, metavar="FILE", help="the new rows, in any format of fit")
    add("--out", type=Path, default=Path("predictions.csv"), metavar="CSV",
        help="where to write (default: %(default)s); replaced if it is there")
    add("--rule", choices=("min", "1se"), type=rule_name,
        help="of a cross-validated model: which lambda (default: min)")
    add("--lambda", dest="lam", type=float, metavar="NUMBER",
        help="a lambda within the path (default without --cv: that of the best BIC)")
    add("--type", metavar="NAME",
        help="response, link; class; survival, median (default: by the family)")
    add("--offset", metavar="COLUMN", help="needed where the fit had one")
    add("--strata", metavar="COLUMN",
        help="needed for survival and medians where the fit had them")
    add("--id", metavar="COLUMN", help="a column to copy beside the predictions")
    add("--omit-missing", action="store_true",
        help="leave predictions of rows with missing values empty (otherwise they are "
        "an error)")
    reading_options(add)
    return parser


def model_file(text):
    """The model that is meant, if need be within the folder of a fit."""
    file = Path(text)
    return file / MODEL if (file / MODEL).is_file() else file


def predict_command(arguments):
    """Run `predict`; returns the exit code."""
    parser = predict_parser()
    options = parser.parse_args(arguments)
    try:
        refuse_inputs(options)
        model = load(options.model)
        table = read_table(options.file, options.sep, options.decimal, options.charset)
        found = predictions(options, *model, table)
        with replaced(options.out) as stream:
            found.to_csv(stream)
    except ANSWERED as error:
        parser.fail(error)
    print(f"{counted(len(found), 'row')}, {contents(found, options)}: {options.out}")
    return 0


def contents(found, options):
    """What the columns are, in words."""
    if options.type != "survival":
        return ", ".join(found.columns)
    times = found.shape[1] - (options.id is not None)
    return f"survival at {counted(times, 'time')}"


def refuse_inputs(options):
    """An error where predictions would replace what they come from."""
    for file in (options.model, options.file):
        if options.out.exists() and file.exists() and options.out.samefile(file):
            raise ValueError(f"--out {options.out} would replace {file}, an input")


def load(file):
    """A path, its cross-validation or None, and the levels of text columns."""
    if holds_cv(file):
        cv = CvNcvPath.load(file)
        return cv.fit, cv, read_levels(file)
    return NcvPath.load(file), None, read_levels(file)


def chosen_lambda(options, path, cv):
    """The lambda at which to predict."""
    if options.lam is not None and options.rule is not None:
        raise ValueError("give --rule or --lambda, not both")
    if options.lam is not None:
        return options.lam
    if cv is None:
        if options.rule is not None:
            raise ValueError(
                "--rule is for a model fitted with --cv; this one was not: leave it "
                "out for the best BIC, or give --lambda"
            )
        return path.select("bic")
    return cv.lambda_1se if options.rule == "1se" else cv.lambda_min


def predictions(options, path, cv, levels, table):
    """The table to write."""
    pd = package("pandas")

    name = path.family if isinstance(path.family, str) else path.family.name
    usual = USUAL.get(name, {"prediction": "response"})
    if path.classes is None or path.trials is not None:  # no labels to predict
        usual = {column: type for column, type in usual.items() if type != "class"}
    types = {options.type: options.type} if options.type else usual
    lam, more = chosen_lambda(options, path, cv), of_rows(options, path, types, table)
    refuse_name(options.id, path, types)
    X = features(table, path, levels)
    needed = pd.DataFrame({"X": X.notna().all(axis=1)} | {
        role: values.notna() for role, values in more.items()
    }).all(axis=1)
    if not needed.all() and not options.omit_missing:
        raise ValueError(missing(X, more, sources_of(X, table, levels)))
    rows = np.flatnonzero(needed)
    found = pd.DataFrame(index=pd.RangeIndex(1, len(table) + 1, name="row"))
    if options.id is not None:
        found[options.id] = column(table, "--id", options.id).to_numpy()
    for title, type in types.items():
        if rows.size == 0:
            break
        own = {role: values.iloc[rows] for role, values in more.items()}
        own["strata"] = own.get("strata") if type in WITH_STRATA else None
        with in_options():
            told = path.predict(X.iloc[rows], lam=lam, type=type, **own)
        told = told.T if type == "survival" else pd.DataFrame({title: told})
        told.index = found.index[rows]
        found = found.join(told.rename(columns=str))
    return found


def refuse_name(name, path, types):
    """An error where the column to copy is called as one of ours."""
    taken = ["row", *types]
    if "survival" in types and path.baseline is not None:
        taken += map(str, [0.0, *path.baseline.times.tolist()])
    if name in taken:
        raise ValueError(
            f"--id must be a column of another name than the predictions have, "
            f"{', '.join(taken[:8])}; got {name!r} (rename it in FILE)"
        )


def of_rows(options, path, types, table):
    """Offset and strata, as far as they are needed."""
    needed = {
        "offset": path.offset is not None,
        "strata": path.strata is not None and bool({*types.values()} & {*WITH_STRATA}),
    }
    found = {}
    for role, is_needed in needed.items():
        name = getattr(options, role)
        if is_needed and name is None:
            raise ValueError(
                f"--{role} COLUMN must be given, as this model was fitted with "
                f"{'one' if role == 'offset' else 'them'}"
            )
        if name is not None:
            found[role] = column(table, f"--{role}", name)
    if "offset" in found and not is_numeric(found["offset"]):
        raise ValueError(
            f"--offset must be a column of numbers; {options.offset!r} has "
            f"{example(found['offset'])}"
        )
    return found


def column(table, option, name):
    """A column that an option names."""
    if name not in table:
        near = hint(name, list(table.columns))
        raise ValueError(f"{option}: there is no column {name!r}{near}")
    return table[name]


def missing(X, more, sources):
    """What is missing, in words; the levels of a text miss the same."""
    counts = X.isna().sum()
    gaps = {sources[name]: count for name, count in counts[counts > 0].items()}
    told = [f"{name!r} has {count}" for name, count in gaps.items()]
    told += [f"--{role} has {n}" for role, values in more.items()
             if (n := values.isna().sum())]
    return (
        f"missing values: {some(told)}; fill them in, or leave predictions of "
        "those rows empty with --omit-missing"
    )


# ---- columns -----------------------------------------------------------------------


def features(table, path, levels):
    """The columns of the fit, those of encoded text among them."""
    pd = package("pandas")

    used, found, lost = {}, {}, []
    for name, source in sources_of(path.feature_names, table, levels).items():
        if name in table:
            found[name] = numeric(table, name)
        elif source in table:
            used.setdefault(source, []).append(name.removeprefix(f"{source}="))
        else:
            lost.append(name)
    if lost:
        near = hint(lost[0], list(table.columns))
        raise ValueError(
            f"FILE must have the columns of the fit; {len(lost)} of {path.p} are not "
            f"there, {lost[0]!r} among them{near}"
        )
    for source, own in used.items():
        found |= encoded(table[source], source, own, levels.get(source))
    return pd.DataFrame({name: found[name] for name in path.feature_names})


def sources_of(names, table, levels):
    """The column of FILE that each feature comes from."""
    encoded = {f"{source}={level}": source for source in levels
               for level in levels[source]}
    return {
        name: name if name in table else encoded.get(name, encoded_from(name, table))
        for name in names
    }


def numeric(table, name):
    """A column of numbers."""
    # Without its gaps a column of true and false is one again.
    there = table[name].dropna().infer_objects()
    if not is_numeric(there) and there.size:
        raise ValueError(
            f"column {name!r} must be numbers, as in the fit; it has "
            f"{example(table[name])}"
        )
    return table[name].astype(float)


def encoded_from(name, table):
    """The column of text whose level a feature is, or None."""
    places = [k for k, letter in enumerate(name) if letter == "="]
    return next((name[:k] for k in places if name[:k] in table), None)


def encoded(values, source, own, levels):
    """Zeros and ones for each level that has a feature of its own.

    Two levels were told apart by the second's; what the first was, files do not always
    say.
    """
    text = values.astype(str).where(values.notna())
    others = sorted({*text.dropna()} - {*(levels or own)})
    if len(others) > (levels is None and len(own) == 1):
        raise ValueError(
            f"column {source!r} has {others[-1]!r}, a level that the fit did not have "
            f"({', '.join((levels or own)[:8])})"
        )
    return {
        f"{source}={level}": (text == level).astype(float).where(values.notna())
        for level in own
    }
