"""`python -m ncvpath fit`: from a data file to tables, pictures and a report."""

import shlex
import sys
import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from ..cv import cv_ncvpath
from ..families import FAMILIES
from ..path import ConvergenceWarning, ncvpath
from ..results import cv_storage, storage
from .as_python import as_python
from .data_files import Roles, hint, make_study, read_table
from .delivery import MODEL, REPORT, delivery, refuse_source
from .options import check_options, fit_parser
from .parsing import ANSWERED, program
from .report import HALF, HELD, HELD_OUT, WIDE, as_html, picture, plot_held_out
from .run import Run
from .words import in_options, translated

FEW_CELLS = 10_000_000  # of coefficients.csv; above, it leaves out features at zero


def fit_command(arguments):
    """Run `fit`; returns the exit code."""
    parser = fit_parser()
    options = parser.parse_args(arguments)
    check_options(parser, options)
    try:
        refuse_source(options.out, expected_files(options), options.file)
        with delivery(options.out, expected_files(options)) as folder:
            run = fitted(options, [*shlex.split(parser.prog), *arguments])
            write(run, folder, options.plot)
    except ANSWERED as error:
        parser.fail(error)
    tell(run, options.out, expected_files(options))
    return 1 if run.unconverged() else 0


def expected_files(options):
    """Names of what will be written."""
    names = ["coefficients.csv", "path.csv", "selected.csv", MODEL]
    names.append(f"path.{options.plot}")
    if options.cv is not None:
        names += ["cv.csv", f"cv.{options.plot}"]
        names += [f"{HELD}.{options.plot}"] * (options.family in HELD_OUT)
    return [*names, REPORT]


def fitted(options, command):
    """Read, fit, and keep what there is to tell."""
    reading = dict(sep=options.sep, decimal=options.decimal, charset=options.charset)
    own = {name: getattr(options, name) for name in Roles._fields}
    roles = Roles(**own | {"drop": tuple(options.drop)})
    table = read_table(options.file, **reading)
    classes = FAMILIES[options.family].form == "class"
    study = make_study(
        table, roles, options.encode, options.omit_missing, classes, options.event
    )
    arguments = fit_arguments(options, study)
    code = as_python(options.file, reading, roles, study, arguments)
    shown = sys.stderr.isatty()
    data = dict(X=study.X, y=study.y, progress=shown, **study.of_rows)
    with warnings.catch_warnings(record=True) as caught, in_options():
        warnings.simplefilter("always")
        if options.cv is None:
            path, cv = ncvpath(**data, **arguments), None
        else:
            cv = cv_ncvpath(**data, keep=True, **arguments)
            path = cv.fit
    missed = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    remarks = [translated(str(w.message)) for w in caught if w not in missed]
    reasons = tuple(reason for w in missed for reason in w.message.reasons)
    return Run(
        options.file, roles, study, path, cv, remarks, code, shlex.join(command),
        reasons,
    )


def fit_arguments(options, study):
    """What differs from the defaults, as arguments of ncvpath() or cv_ncvpath()."""
    given = {
        name: getattr(options, name)
        for name in (
            "ties", "penalty", "gamma", "alpha", "rescale", "nlambda",
            "lambda_min_ratio", "dfmax", "intercept", "standardize", "search", "tol",
            "max_epochs",
        )
    }
    if options.family != "gaussian":
        given = {"family": options.family} | given
    if options.unpenalized:
        given["penalty_factor"] = free_features(options.unpenalized, study)
    if options.cv is not None:
        seed = 1 if options.seed is None else options.seed
        given |= {"nfolds": options.cv, "random_state": seed}
        given["measure"] = options.measure
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
    levels = run.study.encoded
    if cv is None:
        storage.save(path, folder / MODEL, levels=levels)
    else:
        cv_storage.save(cv, folder / MODEL, levels=levels)
        cv.to_frame().to_csv(folder / "cv.csv")
    pictures = {}
    for name, draw in drawings(run).items():
        size = WIDE if name == "path" else HALF
        pictures[name] = picture(draw, "png", size)
        own = pictures[name] if form == "png" else picture(draw, form, size)
        (folder / f"{name}.{form}").write_bytes(own)
    names = [*(file.name for file in folder.iterdir()), REPORT]
    report = as_html(run, pictures, names)
    (folder / REPORT).write_text(report, encoding="utf-8")


def drawings(run):
    """Functions that draw on Axes, by the name of the picture."""
    path, cv, found = run.path, run.cv, {}
    if path.lambdas.size > 1:
        found["path"] = partial(path.plot, mark="bic" if cv is None else cv)
    if cv is not None:
        if cv.lambdas.size > 1:
            found["cv"] = cv.plot
        if path.family in HELD_OUT:
            found[HELD] = partial(plot_held_out, cv, run.study.y)
    return found


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
            print(f"{program()} fit: {remark}", file=sys.stderr)
    print(f"{run.file}: {run.header()}\n")
    print(str(run.path).replace("summary()", "path.csv") if run.cv is None else run.cv)
    table = run.selected()
    table = table.mask(table == 0)  # a dot, as R prints what is not in the model
    lambdas = [f"{k} = {run.path.lambdas[v]:.4g}" for k, v in run.choices().items()]
    best = "" if run.cv is not None else "the lambda of the best "
    print(f"\nCoefficients at {best}{' and '.join(lambdas)}\n")
    print(table.head(20).to_string(float_format="{:.4g}".format, na_rep="."))
    if len(table) > 20:
        print(f"and {len(table) - 20} more in selected.csv")
    print("\nWritten:")
    for name in names:
        if (folder / name).exists():
            print(f"  {folder / name}")
