"""The options of `fit`."""

import argparse
from pathlib import Path

from ..families import FAMILIES
from ..solver.search import SEARCHES
from .parsing import NAMES, Parser, numbers, penalty_name, program, separator, whole

EXAMPLES = """\
examples:
  {0} fit data.csv --response y --cv 10
  {0} fit data.csv --response y --penalty SCAD --gamma 2.5,3.7,5 --cv 10 --out scad
  {0} fit survey.tsv --response income --weights w --encode --omit-missing
  {0} fit genes.parquet --response bmi --unpenalized age --cv 10 --plot pdf
  {0} fit heart.csv --response chd --family binomial --cv 10 --measure auc
  {0} fit doses.csv --failures alive --successes dead --family binomial
  {0} fit trial.csv --time days --status died --family cox --strata centre
  {0} fit trial.csv --time days --status state --event dead --family cox

Written into the folder: report.html (open this first), coefficients.csv (one row per
feature, one column per lambda), selected.csv (the chosen models), path.csv (one row per
lambda), model.npz (for {0} predict, or for Python), cv.csv and pictures. All
of it appears at the end, or nothing does. Results of an earlier fit in that folder are
replaced; a file of another origin never is.

exit codes: 0 all well; 1 some lambda did not converge, results are written all the
same; 2 something is wrong with data or options, nothing is written; 130 interrupted.
"""


def fit_parser():
    """The options of `fit`."""
    parser = Parser(
        prog=f"{program()} fit", epilog=EXAMPLES.format(program()), allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s FILE --response COLUMN [options]\n"
        "       %(prog)s FILE --time COLUMN --status COLUMN --family cox [options]",
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
    add("--failures", metavar="COLUMN",
        help="with --family binomial, in place of a response: how many failed")
    add("--successes", metavar="COLUMN", help="and how many did not")
    add("--time", metavar="COLUMN", help="with --family cox: time of event or end")
    add("--status", metavar="COLUMN",
        help="with --family cox: 1 = event, 0 = censored; other words with --event")
    add("--event", metavar="LEVEL",
        help="which entry of --status is an event (all others are censored), or which "
        "class of a binomial --response (default: the last in order)")
    add("--start", metavar="COLUMN",
        help="with --family cox: time from which the row was observed (late entry)")
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
    add("--gamma", type=numbers, metavar="NUMBERS",
        help="concavity of the penalty; each has a default. Several, as in 2,3,5, are "
        "compared with --cv")
    add("--alpha", type=numbers, metavar="NUMBERS",
        help="share of the sparse penalty, the rest is ridge (default: 1); or several")
    add("--no-rescale", dest="rescale", action="store_false", default=None,
        help="with another family than gaussian: a penalty that is not rescaled to the "
        "curvature of the loss")
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
    add("--measure", metavar="NAME",
        help="what predictions are judged by: mse, mae; deviance, class, brier, auc; "
        "concordance (default: mse, else deviance)")
    add("--groups", metavar="COLUMN", help="rows with the same value stay in one fold")


def file_options(group):
    """How the file is read and where results go."""
    add = group.add_argument
    reading_options(add)
    add("--out", type=Path, default=Path("ncvpath-results"), metavar="DIR",
        help="folder for the results (default: %(default)s)")
    add("--plot", choices=("png", "pdf", "svg"), default="png",
        help="format of the pictures (default: %(default)s)")


def reading_options(add):
    """How text becomes a table."""
    add("--sep", type=separator, metavar="CHARACTER",
        help="field separator, or the word tab or blanks (default: by FILE's name)")
    add("--decimal", choices=(".", ","), default=".", help="decimal mark (default: .)")
    add("--charset", default="utf-8", metavar="NAME",
        help="encoding of the text (default: %(default)s)")


# The options that name an outcome, by the form of the family; any of them will do.
OUTCOMES = {
    "number": (("response",),),
    "class": (("response",), ("failures", "successes")),
    "survival": (("time", "status"),),
}
# What only some forms have besides.
OWN = {"survival": ("start", "strata", "ties", "event"), "class": ("event",)}
HINTS = {"survival": "survival times need --family cox",
         "class": "counts of both need --family binomial",
         "event": "two classes need --family binomial, survival times --family cox"}


def check_options(parser, options):
    """What belongs together is there, and what does not is not."""
    if options.cv is None:
        for name in ("seed", "groups", "measure"):
            if getattr(options, name) is not None:
                parser.error(f"--{name} is for cross-validation; add --cv K")
        for name in ("gamma", "alpha"):
            if isinstance(getattr(options, name), list):
                parser.error(
                    f"several values of --{name} are compared by cross-validation; add "
                    "--cv K"
                )
    check_outcome(parser, options)
    if options.event is not None and options.response is None and options.time is None:
        parser.error("--event is for two classes or a status; counts have neither")


def check_outcome(parser, options):
    """Survival has two columns of its own, counts of both kinds have two, and any other
    response has one."""
    form = FAMILIES[options.family].form
    ways = OUTCOMES[form]
    told = " or ".join(map(listed, ways))
    mine = {*(name for way in ways for name in way), *OWN.get(form, ())}
    for other in OUTCOMES:
        foreign = (*(n for way in OUTCOMES[other] for n in way), *OWN.get(other, ()))
        for name in foreign:
            if name not in mine and getattr(options, name) is not None:
                hint = HINTS.get(name, HINTS.get(other))
                hint = f"; {hint}" if hint else ""
                parser.error(
                    f"--{name} is not for --family {options.family}, whose outcome is "
                    f"{told}{hint}"
                )
    given = {name for name in mine if getattr(options, name) is not None}
    complete = [way for way in ways if given >= {*way}]
    if not complete:
        parser.error(f"{told} must be given with --family {options.family}")
    named = {name for way in ways for name in way} & given
    if named - {*complete[0]}:
        parser.error(f"the outcome is either {told}, not both")


def listed(names):
    """Options as they are written."""
    return " and ".join(f"--{name}" for name in names)
