"""The pieces of a page: its looks, headings, tables and pictures."""

from html import escape

import numpy as np

from ..results.printing import inline

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
tbody th { font-weight: normal; overflow-wrap: anywhere; min-width: 8em; }
tr, .row, li, .whole { break-inside: avoid; }
.row { display: flex; flex-wrap: wrap; gap: 0 1.2rem; }
figure { margin: .8rem 0; flex: 1 1 18rem; }
ul { margin: .5rem 0; padding-left: 1.1rem; }
img { width: 100%; height: auto; display: block; }
pre { background: #f5f5f2; padding: .7rem .9rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font: .8rem/1.4 Menlo, Consolas, monospace; }
code { font: .88em Menlo, Consolas, monospace; overflow-wrap: anywhere; }
footer { border-top: 1px solid #ccc; margin-top: 2rem; padding-top: .5rem; }
@media print {
  html { font-size: 8.5pt; }
  body { margin: 0; padding: 0; max-width: none; }
  h2 { margin-top: .5rem; padding-top: .25rem; }
  td, th { line-height: 1.25; }
  .row { flex-wrap: nowrap; }
  figure { margin: .4rem 0; }
  pre { font-size: .75rem; line-height: 1.15; margin: .4rem 0; padding: .4rem .7rem; }
  footer { margin-top: .5rem; line-height: 1.2; }
  p { margin: .25rem 0; }
}
"""


def number(value):
    """A number as it is read."""
    if np.isnan(value):
        return ""
    whole = float(value).is_integer() and abs(value) < 1e6
    return f"{value:.0f}" if whole else f"{value:.4g}"


def section(title, *parts, whole=False):
    """A heading and what belongs to it; on paper all on one page, if it is `whole`."""
    kind = ' class="whole"' if whole else ""
    inner = "\n".join([f"<h2>{escape(title)}</h2>", *parts])
    return f"<section{kind}>{inner}</section>"


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


def row(pictures, captions):
    """Pictures beside each other, on a narrow screen below each other."""
    shown = [
        figure(pictures[name], words) for name, words in captions.items()
        if name in pictures
    ]
    if not shown:
        return "<p>A path of one lambda has no picture.</p>"
    return f'<div class="row">{"".join(shown)}</div>'


def figure(content, caption):
    """A picture, inline."""
    words = escape(caption)
    image = inline(content, words)
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"
