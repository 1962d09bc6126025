"""Draw who stands on whom: `python vignettes/layers.py` makes figures/layers.png.

A part is a folder of the package, or a module beside the folders. What the imports say
is read from the sources, here as in the test of layers.
"""

import ast
import textwrap
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "ncvpath"
# The one import that leads up, when it is needed: a path is asked to cross-validate
# itself, and should not know how that is done.
UPWARDS = ("results", "cv")


def name_of(file):
    """A module's dotted name below the package, a folder's for its __init__.py."""
    *folders, last = file.relative_to(FOLDER).with_suffix("").parts
    return ".".join(folders if folders and last == "__init__" else [*folders, last])


SOURCES = {name_of(file): file for file in sorted(FOLDER.rglob("*.py"))}


def part_of(module):
    """The folder of a module, or itself."""
    return module.partition(".")[0]


PARTS = tuple(dict.fromkeys(map(part_of, SOURCES)))


def is_type_checking(node):
    """A branch that only type checkers enter."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(node, inside_functions):
    """Import statements below a node; those for type checkers do not count."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if not inside_functions:
                continue
        if not is_type_checking(child):
            yield from statements(child, inside_functions)


@cache
def imports(module, inside_functions=False):
    """(outside packages, own names) that a module imports.

    An own name is (module, what is imported from it); that is None for the module.
    """
    outside, own = set(), set()
    tree = ast.parse(SOURCES[module].read_text(encoding="utf-8"))
    for statement in statements(tree, inside_functions):
        if isinstance(statement, ast.Import):
            wanted = [(alias.name, None) for alias in statement.names]
        else:
            source = absolute(module, statement)
            wanted = [(source, alias.name) for alias in statement.names]
        for source, name in wanted:
            first, _, rest = source.partition(".")
            if first != FOLDER.name:
                outside.add(first)
            elif f"{rest}.{name}".lstrip(".") in SOURCES:
                own.add((f"{rest}.{name}".lstrip("."), None))
            else:
                own.add((rest or "__init__", name))
    return outside, own


def absolute(module, statement):
    """The dotted name of the module that a from-import reads."""
    if statement.level == 0:
        return statement.module
    file = SOURCES[module]
    package = [FOLDER.name, *file.relative_to(FOLDER).parent.parts]
    package = package[: len(package) - statement.level + 1]
    return ".".join([*package, *filter(None, [statement.module])])


def graph_of_modules(inside_functions=True):
    """The modules that each module imports."""
    return {
        module: {source for source, _ in imports(module, inside_functions)[1]}
        for module in SOURCES
    }


def graph_of_parts(inside_functions=True, upwards=False):
    """The parts that each part needs; the one import upwards only if asked for."""
    graph = {part: set() for part in PARTS}
    for module, needed in graph_of_modules(inside_functions).items():
        graph[part_of(module)] |= {part_of(each) for each in needed}
    for part, needed in graph.items():
        needed.discard(part)
    if not upwards:
        graph[UPWARDS[0]].discard(UPWARDS[1])
    return graph


def levels(graph):
    """How high each part stands: one above the highest that it needs."""
    found = {}
    for part in TopologicalSorter(graph).static_order():  # raises CycleError
        found[part] = 1 + max((found[each] for each in graph[part]), default=-1)
    return found


# ---- the picture -------------------------------------------------------------------

# Columns of the picture: parts stand in the middle, unless there is company.
PLACES = {
    "__init__": 1, "cv_results": -1, "datasets": 1, "estimators": -1, "families": 1,
    "penalties": 1, "version": -1,
}
# Arrows that go around others, by the column in which they do.
LANES = {
    ("__main__", "datasets"): 1.5, ("results", "version"): -1,
    ("solver", "penalties"): 1, ("inputs", "families"): 1.5, UPWARDS: -0.5,
}
LEVEL = 1.5  # inches from one level of boxes to the next
HALF = 0.44  # the width of a box, and its height
TALL = 0.39
CAPTION = (
    "An arrow leads to what is imported; where other arrows lead there, too, it is "
    "named in grey instead.\nDashed: the one import upwards, made when a path is asked "
    "to cross-validate itself."
)
INK, PAPER, QUIET, RED = "#1b1f24", "#eef2f7", "#68707a", "#c0392b"


def reduced(graph):
    """The arrows that do not follow from others."""
    below = {}
    for part in TopologicalSorter(graph).static_order():
        below[part] = graph[part].union(*(below[each] for each in graph[part]))
    return {
        part: {
            each for each in needed
            if not any(each in below[other] for other in needed)
        }
        for part, needed in graph.items()
    }


def contents(part):
    """The names of the modules in a folder, on few lines."""
    inside = [name.partition(".")[2] for name in SOURCES if part_of(name) == part]
    return textwrap.fill(", ".join(filter(None, inside)), 54)


def in_words():
    """What the picture shows, kept in it: a test sees whether it is out of date."""
    graph = graph_of_parts()
    return "\n".join(
        f"{part} ({contents(part)}): {', '.join(sorted(graph[part]))}" for part in PARTS
    )


def draw(file):
    """One box for each part, by level, and arrows to the parts that it needs."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    graph = graph_of_parts()
    arrows, height = reduced(graph), levels(graph)
    figure = Figure(figsize=(11, LEVEL * (2 + max(height.values()))))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(-1.55, 1.6), ylim=(-0.9, max(height.values()) + 0.6))
    ax.set_axis_off()
    spots = {part: (PLACES.get(part, 0), level) for part, level in height.items()}
    for part, (x, y) in spots.items():
        ax.add_patch(
            FancyBboxPatch(
                (x - HALF, y - TALL), 2 * HALF, 2 * TALL, zorder=2, facecolor=PAPER,
                boxstyle="round,pad=0,rounding_size=0.05", edgecolor=INK,
            )
        )
        write(ax, x, y, part, sorted(graph[part] - arrows[part]))
        for other in sorted(arrows[part]):
            connect(ax, (part, other), spots, INK)
    connect(ax, UPWARDS, spots, RED)
    ax.text(-1.5, -0.62, CAPTION, color=QUIET, fontsize=9, va="center")
    figure.savefig(file, dpi=110, metadata={"Description": in_words()})


def write(ax, x, y, part, also):
    """What is in a box: a name, the modules, and needs without an arrow."""
    folder = SOURCES[part].parent != FOLDER
    lines = [(f"{part}/" if folder else f"{part}.py", 12, INK, "bold")]
    if contents(part):
        lines.append((contents(part), 7.5, INK, "normal"))
    if also:
        words = textwrap.fill(f"also {', '.join(also)}", 54)
        lines.append((words, 7.5, QUIET, "normal"))
    point = 0.0182 / LEVEL  # of a line of text, with what is above and below it
    sizes = [point * size * (1 + text.count("\n")) for text, size, _, _ in lines]
    y += sum(sizes) / 2
    for (text, size, colour, weight), taken in zip(lines, sizes):
        ax.text(
            x, y - taken / 2, text, ha="center", va="center", fontsize=size,
            color=colour, weight=weight, zorder=3, linespacing=1.15,
        )
        y -= taken


def connect(ax, pair, spots, colour):
    """An arrow from one box to another, straight or around others."""
    (x0, y0), (x1, y1) = (spots[part] for part in pair)
    style = dict(color=colour, linewidth=1.4, zorder=1, shrinkA=0, shrinkB=0)
    style |= dict(arrowstyle="-|>", mutation_scale=14)
    if pair == UPWARDS:
        style |= dict(linestyle="--")
    lane = LANES.get(pair)
    if lane is None:
        ends = (x0, y0 - TALL), (x1 + 0.2 * (x0 - x1), y1 + TALL)
        ax.annotate("", ends[1], ends[0], arrowprops=style)
        return
    side = 1 if lane > x0 else -1
    y0 += 0.15 if y1 > y0 else -0.15
    corners = [(x0 + side * HALF, y0), (lane, y0)]
    if lane == x1:
        end = (x1, y1 + TALL)
    else:
        corners.append((lane, y1))
        end = (x1 + (1 if lane > x1 else -1) * HALF, y1)
    line = {key: style[key] for key in ("color", "linewidth", "zorder")}
    ax.plot(*zip(*corners), linestyle=style.get("linestyle", "-"), **line)
    ax.annotate("", end, corners[-1], arrowprops=style)


if __name__ == "__main__":
    draw(HERE / "figures" / "layers.png")
