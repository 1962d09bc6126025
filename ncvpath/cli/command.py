"""`python -m ncvpath fit`: from a data file to tables, pictures and a report."""

import argparse
import shlex
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..cv import cv_ncvpath
from ..families import FAMILIES
from ..path import ConvergenceWarning, ncvpath
from ..penalties import PENALTIES, ROWS
from ..solver.search import SEARCHES
from .as_python import as_python
from .data_files import Roles, hint, make_study, read_table
from .delivery import REPORT, delivery, refuse_source
from .report import Run, as_html, picture

PROGRAM = "python -m ncvpath"
NAMES = ", ".join(row.name for row in ROWS)
FEW_CELLS = 10_000_000  # of coefficients.csv; above, it leaves out features at zero
EXAMPLES = f"""\
examples:
  {PROGRAM} fit data.csv --response y --cv 10
  {PROGRAM} fit data.csv --response y --penalty SCAD --gamma 4 --drop id --out scad
  {PROGRAM} fit survey.tsv --response income --weights w --encode --omit-missing
  {PROGRAM} fit genes.parquet --response bmi --unpenalized age --cv 10 --plot pdf
  {PROGRAM} fit heart.csv --response chd --family binomial --cv 10
  {PROGRAM} fit trial.csv --time days --status died --family cox --strata centre

Written into the folder: report.html (open this first), coefficients.csv (one row per
feature, one column per lambda), selected.csv (the chosen models), path.csv (one row per
lambda), cv.csv and pictures. All of it appears at the end, or nothing does. Results of
an earlier fit in that folder are replaced; a file of another origin never is.

exit codes: 0 all well; 1 some lambda did not converge, results are written all the
same; 2 something is wrong with data or options, nothing is written; 130 interrupted.
"""


class Parser(argparse.ArgumentParser):
    """Errors take one line and end with code 2."""

    def error(self, message):
        """End, saying what was wrong."""
        self.exit(2, f"{self.prog}: {message} (usage: {self.prog} --help)\n")


def fit_parser():
    """The options of `fit`."""
    parser = Parser(
        prog=f"{PROGRAM} fit", epilog=EXAMPLES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s FILE --response COLUMN [options]\n       %(prog)s FILE --time "
        "COLUMN --status COLUMN --family cox [options]",
        description="Fit a sparse regression to a data file, along a whole path of "
        "lambdas.\nEvery column without another use is a feature.",
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE",
        help=".csv, .tsv or .tab (also .gz, .bz2, .xz, .zip), .parquet or .pq",
    )
    data_options(parser.add_argument_group("columns and rows"))
    model_options(parser.add_argument_group("model"))
    cv_options(parser.add_argument_group("cross-validation"))
    file_options(parser.add_argument_group("files"))
    return parser


def data_options(group):
    """Which columns and rows are used."""
    add = group.add_argument
    add("--response", metavar="COLUMN", help="what is to be explained")
    add("--time", metavar="COLUMN", help="with --family cox: time of event or end")
    add("--status", metavar="COLUMN",
        help="with --family cox: 1 where the event happened then, else 0")
    add("--weights", metavar="COLUMN", help="observation weights")
    add("--offset", metavar="COLUMN", help="a known part of the linear predictor")
    add("--strata", metavar="COLUMN",
        help="with --family cox: rows with the same value share a baseline")
    add("--drop", action="append", default=[], metavar="COLUMN",
        help="leave this column out; may be repeated")
    add("--encode", action="store_true",
        help="turn text columns into a column of zeros and ones per level")
    add("--omit-missing", action="store_true",
        help="leave out rows with missing values (otherwise they are an error)")


def model_options(group):
    """What is fitted."""
    add = group.add_argument
    add("--family", type=str.lower, choices=tuple(FAMILIES), default="gaussian",
        help="what the response is: numbers, two classes, counts or survival "
        "(default: %(default)s)")
    add("--ties", choices=("breslow", "efron"),
        help="with --family cox: events at the same time (default: breslow)")
    add("--penalty", type=penalty_name, default="MCP", metavar="NAME",
        help=f"{NAMES} (default: %(default)s)")
    add("--gamma", type=float, help="concavity of the penalty; each has a default")
    add("--alpha", type=float, help="share of the sparse penalty, the rest is ridge "
        "(default: 1)")
    add("--nlambda", type=whole(1), metavar="N",
        help="number of lambdas (default: 100)")
    add("--lambda-min-ratio", type=float, metavar="RATIO",
        help="smallest lambda over largest (default: 0.001 if rows outnumber features, "
        "else 0.05)")
    add("--dfmax", type=whole(0), metavar="N",
        help="stop before a model with more nonzero coefficients")
    add("--unpenalized", action="append", default=[], metavar="COLUMN",
        help="a feature that is always in the model; may be repeated")
    add("--no-intercept", dest="intercept", action="store_false", default=None,
        help="a model through the origin")
    add("--no-standardize", dest="standardize", action="store_false", default=None,
        help="penalise features on the scale of the data")
    add("--search", choices=SEARCHES, metavar="NAME",
        help=f"{', '.join(SEARCHES)}: look for lower minima (default: forward)")
    add("--tol", type=float, help="accuracy asked for (default: 1e-6)")
    add("--max-epochs", type=whole(1), metavar="N",
        help="sweeps allowed per lambda (default: 100000)")


def cv_options(group):
    """How lambda is chosen."""
    add = group.add_argument
    add("--cv", type=whole(2), metavar="K", help="cross-validate with K folds")
    add("--seed", type=whole(0), metavar="N", help="for drawing the folds (default: 1)")
    add("--groups", metavar="COLUMN", help="rows with the same value stay in one fold")


def file_options(group):
    """How the file is read and where results go."""
    add = group.add_argument
    add("--sep", type=separator, metavar="CHARACTER",
        help="field separator, or the word tab or blanks (default: by FILE's name)")
    add("--decimal", choices=(".", ","), default=".", help="decimal mark (default: .)")
    add("--charset", default="utf-8", metavar="NAME",
        help="encoding of the text (default: %(default)s)")
    add("--out", type=Path, default=Path("ncvpath-results"), metavar="DIR",
        help="folder for the results (default: %(default)s)")
    add("--plot", choices=("png", "pdf", "svg"), default="png",
        help="format of the pictures (default: %(default)s)")


def penalty_name(text):
    """A penalty as the table spells it."""
    if text.lower() not in PENALTIES:
        raise argparse.ArgumentTypeError(f"must be one of {NAMES}; got {text!r}")
    return PENALTIES[text.lower()].name


def whole(least):
    """A reader of whole numbers."""

    def read(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of {least} at least; got {text!r}"
            )
        return value

    return read


def separator(text):
    """One character, or what a word stands for."""
    text = {"tab": "\t", "\\t": "\t", "blanks": r"\s+"}.get(text, text)
    if len(text) != 1 and text != r"\s+":
        raise argparse.ArgumentTypeError(
            f"must be one character, tab or blanks; got {text!r}"
        )
    return text


def fit_command(arguments):
    """Run `fit`; returns the exit code."""
    parser = fit_parser()
    options = parser.parse_args(arguments)
    if options.cv is None:
        for name in ("seed", "groups"):
            if getattr(options, name) is not None:
                parser.error(f"--{name} is for cross-validation; add --cv K")
    check_outcome(parser, options)
    try:
        refuse_source(options.out, expected_files(options), options.file)
        with delivery(options.out, expected_files(options)) as folder:
            run = fitted(options, [*shlex.split(parser.prog), *arguments])
            write(run, folder, options.plot)
    except (ValueError, OSError, MemoryError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        parser.exit(2, f"{parser.prog}: {message}\n")
    tell(run, options.out, expected_files(options))
    return 1 if run.unconverged() else 0


def check_outcome(parser, options):
    """Survival has two columns of its own, and any other response has one."""
    own, others = ("response",), ("time", "status", "strata", "ties")
    advice = "; survival times need --family cox"
    if FAMILIES[options.family].form == "survival":
        own, others, advice = ("time", "status"), ("response",), ""
    outcome = " and ".join(f"--{name}" for name in own)
    for name in others:
        if getattr(options, name) is not None:
            parser.error(
                f"--{name} is not for --family {options.family}, whose outcome is "
                f"{outcome}{advice}"
            )
    if any(getattr(options, name) is None for name in own):
        parser.error(f"{outcome} must be given with --family {options.family}")


def expected_files(options):
    """Names of what will be written."""
    names = ["coefficients.csv", "path.csv", "selected.csv", f"path.{options.plot}"]
    if options.cv is not None:
        names += ["cv.csv", f"cv.{options.plot}"]
    return [*names, REPORT]


def fitted(options, command):
    """Read, fit, and keep what there is to tell."""
    reading = dict(sep=options.sep, decimal=options.decimal, charset=options.charset)
    own = {name: getattr(options, name) for name in Roles._fields}
    roles = Roles(**own | {"drop": tuple(options.drop)})
    table = read_table(options.file, **reading)
    classes = FAMILIES[options.family].form == "class"
    study = make_study(table, roles, options.encode, options.omit_missing, classes)
    arguments = fit_arguments(options, study)
    code = as_python(options.file, reading, roles, study, arguments)
    shown = sys.stderr.isatty()
    data = dict(X=study.X, y=study.y, progress=shown, **study.of_rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if options.cv is None:
            path, cv = ncvpath(**data, **arguments), None
        else:
            cv = cv_ncvpath(**data, **arguments)
            path = cv.fit
    remarks = [
        str(warning.message) for warning in caught
        if not issubclass(warning.category, ConvergenceWarning)  # told in our words
    ]
    return Run(
        options.file, roles, study, path, cv, remarks, code, shlex.join(command)
    )


def fit_arguments(options, study):
    """What differs from the defaults, as arguments of ncvpath() or cv_ncvpath()."""
    given = {
        name: getattr(options, name)
        for name in (
            "ties", "penalty", "gamma", "alpha", "nlambda", "lambda_min_ratio",
            "dfmax", "intercept", "standardize", "search", "tol", "max_epochs",
        )
    }
    if options.family != "gaussian":
        given = {"family": options.family} | given
    if options.unpenalized:
        given["penalty_factor"] = free_features(options.unpenalized, study)
    if options.cv is not None:
        seed = 1 if options.seed is None else options.seed
        given |= {"nfolds": options.cv, "random_state": seed}
    return {name: value for name, value in given.items() if value is not None}


def free_features(names, study):
    """Penalty factors of features named by the user; of all levels, if encoded."""
    factors = {}
    for name in names:
        own = [
            feature for feature in study.X.columns
            if feature == name
            or (name in study.encoded and feature.startswith(f"{name}="))
        ]
        if not own:
            near = hint(name, list(study.X.columns))
            raise ValueError(f"--unpenalized: there is no feature {name!r}{near}")
        factors |= dict.fromkeys(own, 0)
    return factors


def write(run, folder, form):
    """All files into a folder."""
    path, cv = run.path, run.cv
    coefficients(path).to_csv(folder / "coefficients.csv")
    path.summary().to_csv(folder / "path.csv", index=False)
    run.selected().to_csv(folder / "selected.csv")
    if cv is not None:
        cv.to_frame().to_csv(folder / "cv.csv")
    pictures = {}
    for name, result in (("path", path), ("cv", cv)):
        if result is not None and result.lambdas.size > 1:
            options = {"mark": "bic" if cv is None else cv} if result is path else {}
            pictures[name] = picture(result, "png", **options)
            own = pictures[name] if form == "png" else picture(result, form, **options)
            (folder / f"{name}.{form}").write_bytes(own)
    names = [*(file.name for file in folder.iterdir()), REPORT]
    report = as_html(run, pictures, names)
    (folder / REPORT).write_text(report, encoding="utf-8")


def coefficients(path):
    """The table of coefficients; a very large one without features at zero."""
    if path.p * path.lambdas.size > FEW_CELLS:
        used = np.unique(path.beta.indices)
        names = tuple(path.feature_names[j] for j in used)
        path = replace(path, beta=path.beta[used], feature_names=names)
    return path.to_frame("wide")


def tell(run, folder, names):
    """What was found, on the terminal."""
    for remark in (*run.remarks, run.unconverged()):
        if remark:
            print(f"{PROGRAM} fit: {remark}", file=sys.stderr)
    print(f"{run.file}: {run.header()}\n")
    print(run.path if run.cv is None else run.cv)
    table = run.selected()
    table = table.mask(table == 0)  # a dot, as R prints what is not in the model
    lambdas = [f"{k}: {run.path.lambdas[v]:.4g}" for k, v in run.choices().items()]
    print(f"\nCoefficients at the lambda of {', '.join(lambdas)}\n")
    print(table.head(20).to_string(float_format="{:.4g}".format, na_rep="."))
    if len(table) > 20:
        print(f"and {len(table) - 20} more in selected.csv")
    print("\nWritten:")
    for name in names:
        if (folder / name).exists():
            print(f"  {folder / name}")
