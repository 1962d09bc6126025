"""How a path looks on a terminal and in a notebook."""

import base64
import io
from html import escape

import numpy as np

from .predictions import family_name

ROWS_SHOWN = 12
# What the regression of a family is called; others by the family's name.
MODELS = {
    "gaussian": "linear", "binomial": "logistic", "poisson": "Poisson", "cox": "Cox",
}


def as_text(path):
    """Header, short table of Df, %Dev and Lambda, and what deserves attention."""
    lines = [header(path), "", f"{'':>5} {'Df':>6} {'%Dev':>7} {'Lambda':>11}  Status"]
    for k in rows_to_show(path.lambdas.size):
        lines.append(
            f"{k:>5} {path.df[k]:>6} {100 * path.dev_ratio[k]:>7.2f} "
            f"{path.lambdas[k]:>11.4g}  {path.status[k]}"
        )
    remarks = notes(path)
    return "\n".join([*lines, "", *remarks] if remarks else lines)


def as_html(path):
    """The same for notebooks, with the picture."""
    cells = "".join(
        f"<tr><td>{k}</td><td>{path.df[k]}</td><td>{100 * path.dev_ratio[k]:.2f}</td>"
        f"<td>{path.lambdas[k]:.4g}</td><td>{escape(path.status[k])}</td></tr>"
        for k in rows_to_show(path.lambdas.size)
    )
    table = (
        "<table><thead><tr><th></th><th>Df</th><th>%Dev</th><th>Lambda</th>"
        f"<th>Status</th></tr></thead><tbody>{cells}</tbody></table>"
    )
    return in_notebook(path, header(path), table, notes(path), "coefficient paths")


def in_notebook(result, head, table, remarks, words):
    """A header, a table, remarks, and what the result plots, if it has a picture."""
    said = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    image = inline(drawn(result), words) if result.lambdas.size > 1 else ""
    return f"<p>{escape(head)}</p>{table}{said}{image}"


def header(path):
    """One line that says what was fitted."""
    return (
        f"{kind_of(path)}{path.penalty} path: n={path.n}, p={path.p}"
        f"{shape(path.gamma, path.alpha)}, {counted(path.lambdas.size, 'lambda')}"
    )


def kind_of(path):
    """The family, where it is not the usual one."""
    name = family_name(path)
    return "" if name == "gaussian" else f"{name} "


def shape(gamma, alpha, searched=False):
    """Gamma and alpha, where there is a choice of them."""
    words = "" if gamma is None else f", gamma={gamma:g}"
    return words + ("" if alpha == 1 and not searched else f", alpha={alpha:g}")


def counted(number, word):
    """So many of them, in words."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def notes(path):
    """What the user should know: early stop, constant columns, convexity."""
    found = []
    if path.lambdas.size > ROWS_SHOWN:
        found.append(f"{ROWS_SHOWN} of {path.lambdas.size} lambdas; summary() has all.")
    if path.stopped:
        found.append(f"Stopped early: {path.stopped}.")
    if path.constant:
        found.append(f"Constant, coefficient 0: {some(path.constant)}.")
    if path.convex_min is not None:
        lam = path.lambdas[path.convex_min]
        found.append(
            f"Not locally convex below lambda={lam:.4g} (index {path.convex_min})."
        )
    missed = unconverged(path.converged, "lambdas")
    return found + [f"{words} did not reach tol." for words in missed]


def unconverged(converged, what):
    """How many of them did not converge, in words; an empty list if all did."""
    missed = np.count_nonzero(~converged)
    return [f"{missed} of {converged.size} {what}"] if missed else []


def some(names, most=5):
    """A few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def rows_to_show(size):
    """All positions of a short path, an even selection of a long one."""
    if size <= ROWS_SHOWN:
        return list(range(size))
    return np.unique(np.linspace(0, size - 1, ROWS_SHOWN).round().astype(int)).tolist()


def drawn(result):
    """What a result plots, as the content of a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    result.plot(ax=figure.subplots())
    return saved(figure, "png", dpi=90)


def saved(figure, form, dpi):
    """A figure as the content of a file."""
    stream = io.BytesIO()
    figure.savefig(stream, format=form, dpi=dpi)
    return stream.getvalue()


def inline(png, words):
    """A picture within HTML."""
    encoded = base64.b64encode(png).decode()
    return f'<img alt="{words}" src="data:image/png;base64,{encoded}">'
