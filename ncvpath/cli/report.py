"""report.html: one page that tells what was fitted and what came out.

Everything is in the file: pictures as data, no scripts, no fonts from elsewhere.
"""

import warnings
from datetime import datetime
from html import escape
from importlib.metadata import version

import numpy as np

from ..results.predictions import family_of
from ..results.printing import counted, saved, some
from ..results.tables import spread_in_words
from ..version import __version__
from .delivery import manifest
from .page import STYLE, bullets, html_table, number, row, section
from .run import outcome

MOST_ROWS = 15  # of the table of coefficients
MOST_NAMES = 20  # of a list of columns
# Width and height of pictures in inches, so that ten points are about ten on a page:
# that of the path is as wide as the text, others half as wide.
WIDE, HALF = (8, 4), (4.6, 3.4)
HELD = "held_out"  # the picture of predictions for rows held out, and who has one
HELD_OUT = ("gaussian", "binomial", "poisson")


def as_html(run, pictures, files):
    """The report; `pictures` are PNG by name, `files` all that was written."""
    title = f"Sparse regression of {run.roles.outcome}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="quiet">{escape(run.file.name)}: {escape(run.header())}</p>',
        f'<p class="lead">{escape(lead(run))}</p>',
        section("Selected coefficients", coefficient_table(run)),
    ]
    if run.cv is not None:
        parts.append(
            section("Cross-validation", cv_table(run.cv), bullets(column_words(run.cv)),
                    row(pictures, {"cv": cv_caption(run), HELD: held_out_caption(run)}))
        )
    else:
        parts.append(section("Choice of lambda", criteria_table(run.path)))
    parts += [  # on paper the picture of the path may need a new page; remarks do not
        section("Remarks", bullets(remarks(run)), whole=True),
        section("Path", row(pictures, {"path": path_caption(run)}), whole=True),
        section("Data and model", facts(run), whole=True),
        section("The same in Python", f"<pre>{escape(run.code)}</pre>"),
        footer(run, files),
    ]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{manifest(files)}\n<title>{escape(title)}</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


# ---- words -------------------------------------------------------------------------


def lead(run):
    """The result in two sentences."""
    path, p = run.path, run.path.p
    if run.cv is None:
        k = run.choices()["bic"]
        spread = "variance" if path.family == "gaussian" else "deviance"
        return (
            f"The {path.penalty} model with the best BIC, at "
            f"lambda = {path.lambdas[k]:.4g}, "
            f"uses {path.df[k]} of {counted(p, 'feature')} and explains "
            f"{path.dev_ratio[k]:.1%} of the {spread} of the rows it was fitted to."
        )
    told = []
    best = "largest" if run.cv.words.maximised else "smallest"
    judged = run.cv.words.short if run.cv.words.maximised else "error"
    rules = {"lambda_min": best, "lambda_1se": "within one standard error of that"}
    for name, k in run.choices().items():
        share = f" (R squared {run.cv.r2[k]:.3f})" if run.cv.words.explained else ""
        told.append(
            f"{name} = {path.lambdas[k]:.4g}, where the {judged} is {rules[name]}, "
            f"uses {path.df[k]} of {counted(p, 'feature')}{share}"
        )
    return (
        f"By {len(run.cv.fold_errors)}-fold cross-validation, {path.penalty} at "
        f"{'; at '.join(told)}."
    )


def cv_caption(run):
    """What the picture of errors shows."""
    best = "best" if run.cv.words.maximised else "smallest"
    return (
        f"{run.cv.words.title} of predictions for held-out rows, with one standard "
        f"error. Dashed: the {best} (min), and the largest lambda within one "
        "standard error of it (1se)."
    )


def held_out_caption(run):
    """What the picture of predictions shows."""
    return (
        "Observed against predicted, each row by a model that has not seen it, at "
        "lambda_min." if run.path.classes is None or run.path.trials is not None else
        f"Probability of {run.path.classes[1]} predicted for each row by a model that "
        "has not seen it, at lambda_min: the further apart the classes, the better."
    )


def column_words(cv):
    """One sentence for each column of figures that needs one."""
    words = cv.words
    said = [
        f"cve: {words.title[0].lower()}{words.title[1:]}, cross-validated: of each "
        "row, as predicted by the model fitted without it."
    ]
    if words.title == "AUC":
        said = ["cve: AUC, cross-validated: how often, of a row of each class, the "
                "event is predicted to be the likelier."]
    known = {
        "snr": "snr: signal-to-noise ratio, how many times as much of the response "
        "is explained as is left unexplained, R squared / (1 - R squared).",
        "sigma": "sigma: by how much a prediction is typically wrong, in units of the "
        "response (the root of cve).",
        "pe": "pe: prediction error, the share of rows predicted to be of the wrong "
        "class.",
    }
    return said + [known[name] for name in known if name in cv.summary()]


def path_caption(run):
    """What the picture of coefficients shows."""
    shaded = run.path.convex_min is not None
    unit = spread_in_words(run.path)
    return f"Coefficients per {unit} against lambda; models grow to the right." + (
        " Grey: the objective is no longer locally convex." if shaded else ""
    )


def remarks(run):
    """What the reader should know before trusting the figures."""
    path = run.path
    worst = f"largest violation of Fermat's conditions {path.violation.max():.1e}"
    said = [run.unconverged() or f"All {path.lambdas.size} lambdas converged: {worst}."]
    said += convexity(run)
    if run.cv is not None and run.cv.index_min == run.cv.lambdas.size - 1:
        better = "larger --dfmax" if path.stopped else "smaller --lambda-min-ratio"
        said.append(
            f"The error is smallest at the last lambda: a {better} may find a better "
            "model."
        )
    if run.cv is None:
        said.append("BIC judges the rows of the fit" + (
            ", and too kindly where features outnumber rows" if path.p >= path.n else ""
        ) + "; --cv 10 judges by held-out rows.")
    if path.stopped:
        said.append(f"The path stopped early: {path.stopped}.")
    constant = (*path.constant, *run.study.constant)
    if constant:
        said.append(f"Constant, so without effect: {some(constant)}.")
    said.append(
        "Intervals and p-values are not given: those of ordinary regression do not "
        "hold for features chosen with the same data."
    )
    return said + run.remarks


def convexity(run):
    """Where solutions are known to be unique, and where the chosen ones lie."""
    path = run.path
    if path.convex_min is None:
        return []
    edge = path.lambdas[path.convex_min]
    below = [name for name, k in run.choices().items() if k > path.convex_min]
    where = f"{' and '.join(below)} lie{'' if len(below) > 1 else 's'} there" if (
        below
    ) else "the chosen models lie above it"
    return [
        f"Below lambda = {edge:.4g} the objective is not locally convex, and solutions "
        f"may be one of several local minima; {where}."
    ]


# ---- tables ------------------------------------------------------------------------


def coefficient_table(run):
    """The chosen models side by side; an empty cell is a zero."""
    table, names = run.selected(), list(run.choices())
    shown = table.head(MOST_ROWS + 1).assign(effect=table[names[0]] * table["sd"])
    sd = "sd" if spread_in_words(run.path) == "standard deviation" else "rms"
    head = ["feature", *names, f"{sd} of feature", f"{names[0]} \u00d7 {sd}"]
    cells = shown.mask(shown == 0).itertuples()
    rows = [[feature, *map(number, values)] for feature, *values in cells]
    left = len(table) - len(shown)
    unit = spread_in_words(run.path)
    caption = f"Largest effect of one {unit} ({sd}) first; empty: not in the model."
    if left:
        caption += f" {left} more are in selected.csv."
    return html_table(head, rows, caption)


def cv_table(cv):
    """Both rules, as summary() has them."""
    frame = cv.summary().drop(columns="index")
    rows = [[f"lambda_{rule}", *map(number, row)] for rule, *row in frame.itertuples()]
    return html_table(["", *frame.columns], rows)


def criteria_table(path):
    """The models that information criteria prefer."""
    table, rows = path.summary()[["lambda", "df", "dev_ratio"]], []
    for name in ("aic", "bic", "ebic"):
        k = int(np.argmin(getattr(path, name)()))
        rows.append([name.upper(), *map(number, table.iloc[k])])
    return html_table(["criterion", "lambda", "nonzero", "deviance explained"], rows)


def facts(run):
    """What went in."""
    study, path, roles = run.study, run.path, run.roles
    encoded = [f"{name} ({len(own)} levels)" for name, own in study.encoded.items()]
    fitted = [path.penalty]
    fitted += [] if path.gamma is None else [f"gamma {path.gamma:g}"]
    fitted += [f"alpha {path.alpha:g}", f"{path.lambdas.size} lambdas from "
               f"{path.lambdas[0]:.4g} to {path.lambdas[-1]:.4g}"]
    free = np.array(path.feature_names)[path.penalty_factor == 0]
    rows = [
        ("file", str(run.file)),
        ("rows", f"{path.n}" + (
            f" ({study.omitted} with missing values left out)" if study.omitted else ""
        )),
        ("response", f"{roles.outcome}, {outcome(run)}"),
        ("family", "" if path.family == "gaussian" else path.family),
        ("features", str(path.p)),
        ("columns left out", some(roles.drop, MOST_NAMES)),
        ("encoded", some(encoded, MOST_NAMES)),
        ("weights", roles.weights),
        ("offset", roles.offset),
        ("strata", roles.strata),
        ("ties", path.ties if path.family == "cox" else ""),
        ("groups kept together", roles.groups),
        ("model", ", ".join(fitted)),
        ("unpenalised", some(free, MOST_NAMES)),
        ("intercept", "" if path.has_intercept or path.family == "cox" else "none"),
        ("standardized", "" if path.settings["standardize"] else "no"),
    ]
    cells = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in rows if value
    )
    return f"<table><tbody>{cells}</tbody></table>"


def footer(run, files):
    """Command, version and date."""
    others = (f"{name} {version(name)}" for name in ("numpy", "numba"))
    packages = ", ".join([f"ncvpath {__version__}", *others])
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    listed = ", ".join(f"<code>{escape(name)}</code>" for name in sorted(files))
    return (
        f"<footer><p><code>{escape(run.command)}</code></p><p>Written: {listed}</p>"
        f"<p>{escape(packages)}; {now}</p></footer>"
    )


# ---- pictures ----------------------------------------------------------------------


def picture(draw, form, size):
    """What a function draws on Axes, in some format."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    with warnings.catch_warnings():
        # Names may be written in letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        draw(ax=figure.subplots())
        return saved(figure, form, dpi=180)


def plot_held_out(cv, y, ax):
    """What was observed against out-of-fold predictions at lambda_min."""
    from ..plots.held_out import plot_classes, plot_numbers

    at = cv.index_min
    predicted, classes = family_of(cv.fit).mean(cv.predictions[:, at]), cv.fit.classes
    if classes is None or cv.fit.trials is not None:
        seen = y if y.ndim == 1 else y.iloc[:, 1] / y.sum(axis=1)
        return plot_numbers(ax, predicted, seen.to_numpy(float))
    return plot_classes(ax, predicted, (y == classes[1]).to_numpy(), classes)
