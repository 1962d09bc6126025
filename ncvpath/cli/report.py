"""report.html: one page that tells what was fitted and what came out.

Everything is in the file: pictures as data, no scripts, no fonts from elsewhere.
"""

import warnings
from dataclasses import dataclass
from datetime import datetime
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ..results import CvNcvPath, NcvPath
from ..results.printing import MODELS, counted, drawn, inline, some, unconverged
from ..runtime.loading import package
from ..version import __version__
from .data_files import Roles, Study
from .delivery import manifest

MOST_ROWS = 30  # of the table of coefficients
MOST_NAMES = 20  # of a list of columns
STYLE = """
@page { size: A4; margin: 16mm 18mm; }
html { font-size: 16px; }
body { font: 1rem/1.45 Georgia, "Times New Roman", serif; color: #1a1a1a;
  background: #fff; max-width: 46rem; margin: 2.5rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.75rem; font-weight: normal; line-height: 1.2; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; padding-top: .5rem;
  border-top: 1px solid #ccc; break-after: avoid; }
p { margin: .5rem 0; }
.lead { font-size: 1.1rem; margin: 1rem 0; }
.quiet, figcaption, caption, footer { color: #555; font-size: .85rem; }
table { border-collapse: collapse; margin: .7rem 0; font-size: .92rem; }
caption { caption-side: bottom; text-align: left; padding-top: .35rem; }
th, td { padding: .14rem 1.1rem .14rem 0; text-align: left; vertical-align: baseline; }
thead th { border-bottom: 1px solid #888; font-weight: normal; color: #555; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
tbody th { font-weight: normal; overflow-wrap: anywhere; }
tr, figure, pre, li { break-inside: avoid; }
figure { margin: .8rem 0; }
ul { margin: .5rem 0; padding-left: 1.1rem; }
img { width: 100%; max-width: 40rem; height: auto; display: block; }
pre { background: #f5f5f2; padding: .7rem .9rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font: .8rem/1.4 Menlo, Consolas, monospace; }
code { font: .88em Menlo, Consolas, monospace; overflow-wrap: anywhere; }
footer { border-top: 1px solid #ccc; margin-top: 2rem; padding-top: .5rem; }
@media print {
  html { font-size: 9.5pt; }
  body { margin: 0; padding: 0; max-width: none; }
  h2 { margin-top: 1.1rem; }
  img { max-width: 34rem; }
}
"""


@dataclass(frozen=True)
class Run:
    """A fit from the command line: where it came from and what it found."""

    file: Path
    roles: Roles
    study: Study
    path: NcvPath
    cv: CvNcvPath | None
    remarks: list[str]  # warnings of the fit, those of convergence apart
    code: str  # the Python that does the same
    command: str

    def header(self):
        """Size and response."""
        words = (
            f"{self.path.n} rows, {counted(self.path.p, 'feature')}, "
            f"response {self.roles.outcome}"
        )
        if self.path.family != "gaussian":
            words += f", {MODELS[self.path.family]} regression{event(self)}"
        if self.study.omitted:
            left_out = counted(self.study.omitted, "row")
            words += f"; {left_out} with missing values left out"
        if self.study.encoded:
            words += f"; encoded: {some(tuple(self.study.encoded))}"
        return words

    def choices(self):
        """Names of the lambdas that were chosen, and their positions."""
        if self.cv is None:
            return {"bic": int(np.argmin(self.path.bic()))}
        return {"lambda_min": self.cv.index_min, "lambda_1se": self.cv.index_1se}

    def selected(self):
        """Coefficients of the chosen models, those of most effect first."""
        pd = package("pandas")

        positions = self.choices()
        beta = self.path.beta[:, list(positions.values())]
        used = np.unique(beta.indices)
        values = beta[used].toarray()
        with np.errstate(over="ignore"):  # of numbers whose squares are too large
            spread = self.study.X.iloc[:, used].std(ddof=0).to_numpy(float)
        effect = np.abs(values).max(axis=1, initial=0) * spread
        order = np.argsort(-effect, kind="stable")
        names = [self.path.feature_names[j] for j in used[order]]
        table = pd.DataFrame(
            np.vstack([self.path.intercept[list(positions.values())], values[order]]),
            index=pd.Index(["(Intercept)", *names], name="feature"),
            columns=list(positions),
        )
        table["sd"] = [np.nan, *spread[order]]
        return table.iloc[1:] if self.path.family == "cox" else table

    def unconverged(self):
        """Which lambdas did not converge, in words, or None."""
        missed = unconverged(self.path.converged, "lambdas")
        if self.cv is not None:
            missed += unconverged(self.cv.converged, "fits in folds")
        if not missed:
            return None
        return (
            f"{' and '.join(missed)} did not reach tol={self.path.tol:g} (column "
            "converged of path.csv); a larger --max-epochs, a larger "
            "--lambda-min-ratio or an --alpha below 1 may help."
        )


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
            section("Cross-validation", figure(pictures, "cv", cv_caption(run)),
                    cv_table(run.cv))
        )
    parts.append(section("Path", figure(pictures, "path", path_caption(run))))
    if run.cv is None:
        parts.append(section("Choice of lambda", criteria_table(run.path)))
    parts += [
        section("Remarks", bullets(remarks(run))),
        section("Data and model", facts(run)),
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
    rules = {"min": "smallest", "1se": "within one standard error of that"}
    told = []
    for rule, words in rules.items():
        k = run.choices()[f"lambda_{rule}"]
        told.append(
            f"lambda_{rule} = {path.lambdas[k]:.4g}, where the error is {words}, uses "
            f"{path.df[k]} of {counted(p, 'feature')} (R squared {run.cv.r2[k]:.3f})"
        )
    return (
        f"By {len(run.cv.fold_errors)}-fold cross-validation, {path.penalty} at "
        f"{told[0]}; at {told[1]}."
    )


def cv_caption(run):
    """What the picture of errors shows."""
    return (
        f"{run.cv.words.title} of predictions for held-out rows, with one standard "
        "error. Dashed: the smallest error (min), and the largest lambda within one "
        "standard error of it (1se)."
    )


def path_caption(run):
    """What the picture of coefficients shows."""
    shaded = run.path.convex_min is not None
    return "Coefficients against lambda; models grow to the right." + (
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
    if path.constant:
        said.append(f"Constant, so without effect: {some(path.constant)}.")
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
    head = ["feature", *names, "sd of feature", f"{names[0]} \u00d7 sd"]
    cells = shown.mask(shown == 0).itertuples()
    rows = [[feature, *map(number, values)] for feature, *values in cells]
    left = len(table) - len(shown)
    caption = "Largest effect of one standard deviation first; empty: not in the model."
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
    encoded = [f"{name} ({n} levels)" for name, n in study.encoded.items()]
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


def event(run):
    """What is explained of two classes or of survival times, in words."""
    if run.path.family == "cox":
        return f" with {counted(events(run), 'event')}"
    if run.path.classes is not None:
        return f" of {run.roles.outcome}={run.path.classes[1]}"
    return ""


def events(run):
    """How many events there are among survival times."""
    return int(run.study.y["status"].sum())


def outcome(run):
    """The response in a few figures."""
    y, path = run.study.y, run.path
    if path.family == "cox":
        low, high = y["time"].min(), y["time"].max()
        found = counted(events(run), "event")
        return f"{found} ({run.roles.status}), times {low:g} to {high:g}"
    if path.classes is not None:
        return " and ".join(f"{(y == name).sum()} rows {name}" for name in path.classes)
    return f"mean {y.mean():.4g}, standard deviation {y.std():.4g}"


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


# ---- pieces ------------------------------------------------------------------------


def number(value):
    """A number as it is read."""
    if np.isnan(value):
        return ""
    whole = float(value).is_integer() and abs(value) < 1e6
    return f"{value:.0f}" if whole else f"{value:.4g}"


def section(title, *parts):
    """A heading and what belongs to it."""
    return f"<section><h2>{escape(title)}</h2>\n" + "\n".join(parts) + "</section>"


def bullets(sentences):
    """A list."""
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in sentences) + "</ul>"


def html_table(head, rows, caption=None):
    """A table whose first column is words, the others numbers."""
    first, *others = head
    top = f"<th>{escape(first)}</th>" + "".join(
        f'<th class="number">{escape(name)}</th>' for name in others
    )
    body = "".join(
        f"<tr><th>{escape(name)}</th>"
        + "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
        + "</tr>\n"
        for name, *cells in rows
    )
    below = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f"<table>{below}<thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table>"
    )


def figure(pictures, name, caption):
    """A picture, inline."""
    if name not in pictures:
        return "<p>A path of one lambda has no picture.</p>"
    words = escape(caption)
    image = inline(pictures[name], words)
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def picture(result, form, **options):
    """A path or a cross-validation, drawn in some format."""
    with warnings.catch_warnings():
        # Names may be written in letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        return drawn(result, form, size=(8, 5.2), dpi=180, **options)
