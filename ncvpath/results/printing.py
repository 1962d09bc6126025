"""How a path looks on a terminal and in a notebook."""

import numpy as np

ROWS_SHOWN = 12


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
    from html import escape

    cells = "".join(
        f"<tr><td>{k}</td><td>{path.df[k]}</td><td>{100 * path.dev_ratio[k]:.2f}</td>"
        f"<td>{path.lambdas[k]:.4g}</td><td>{escape(path.status[k])}</td></tr>"
        for k in rows_to_show(path.lambdas.size)
    )
    table = (
        "<table><thead><tr><th></th><th>Df</th><th>%Dev</th><th>Lambda</th>"
        f"<th>Status</th></tr></thead><tbody>{cells}</tbody></table>"
    )
    remarks = "".join(f"<p>{escape(note)}</p>" for note in notes(path))
    image = picture(path, "coefficient paths") if path.lambdas.size > 1 else ""
    return f"<p>{escape(header(path))}</p>{table}{remarks}{image}"


def header(path):
    """One line that says what was fitted."""
    gamma = "" if path.gamma is None else f", gamma={path.gamma:g}"
    alpha = "" if path.alpha == 1 else f", alpha={path.alpha:g}"
    return (
        f"{path.penalty} path: n={path.n}, p={path.p}{gamma}{alpha}, "
        f"{counted(path.lambdas.size, 'lambda')}"
    )


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
    missed = int((~path.converged).sum())
    if missed:
        found.append(f"{missed} of {path.lambdas.size} lambdas did not reach tol.")
    return found


def some(names, most=5):
    """A few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def rows_to_show(size):
    """All positions of a short path, an even selection of a long one."""
    if size <= ROWS_SHOWN:
        return list(range(size))
    return np.unique(np.linspace(0, size - 1, ROWS_SHOWN).round().astype(int)).tolist()


def picture(result, words):
    """What a result plots, as an image within HTML."""
    import base64
    import io

    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    result.plot(ax=figure.subplots())
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=90)
    encoded = base64.b64encode(stream.getvalue()).decode()
    return f'<img alt="{words}" src="data:image/png;base64,{encoded}">'
