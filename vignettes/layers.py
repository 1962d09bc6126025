"""Draw who stands on whom: `python vignettes/layers.py` makes figures/layers.png.

A room is a folder of the package, or a module beside the folders. What the imports say
is read from the sources, here as in the test of layers.
"""

import ast
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


def room_of(module):
    """The folder of a module, or itself."""
    return module.partition(".")[0]


ROOMS = tuple(dict.fromkeys(map(room_of, SOURCES)))


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


def graph_of_rooms(inside_functions=True, upwards=False):
    """The rooms that each room needs; the one import upwards only if asked for."""
    graph = {room: set() for room in ROOMS}
    for module, needed in graph_of_modules(inside_functions).items():
        graph[room_of(module)] |= {room_of(each) for each in needed}
    for room, needed in graph.items():
        needed.discard(room)
    if not upwards:
        graph[UPWARDS[0]].discard(UPWARDS[1])
    return graph


def levels(graph):
    """How high each room stands: one above the highest that it needs."""
    found = {}
    for room in TopologicalSorter(graph).static_order():  # raises CycleError
        found[room] = 1 + max((found[each] for each in graph[room]), default=-1)
    return found
