"""The house: who may import whom, and what a bare import costs."""

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from mutants import MUTANTS

import ncvpath

FOLDER = Path(ncvpath.__file__).parent
SOURCES = {file.stem: file for file in sorted(FOLDER.glob("*.py"))}
LATE = {"numba", "pandas", "matplotlib", "scipy", "dask"}  # imported when first needed
# The rooms that may import one of these at once, because they are entered late.
EXCEPTIONS = {
    ("kernels", "numba"), ("axes", "matplotlib"), ("plots", "matplotlib"),
    ("cv_summary", "pandas"),
}
# The one import that leads up, when it is needed: a path is asked to cross-validate
# itself, and should not know how that is done.
UPWARDS = ("results", "cv")


def is_type_checking(node):
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


def imports(module, inside_functions=False):
    """(outside packages, own modules) that a module imports."""
    outside, own = set(), set()
    tree = ast.parse(SOURCES[module].read_text())
    for statement in statements(tree, inside_functions):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif statement.level == 0:
            names = [statement.module]
        else:
            inside = statement.module
            own |= {inside} if inside else {alias.name for alias in statement.names}
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "ncvpath":
                own.add(rest or "__init__")
            else:
                outside.add(first)
    return outside, own


every_module = pytest.mark.parametrize("module", SOURCES)


@every_module
def test_heavy_packages_are_imported_when_needed(module):
    heavy = {name for name in imports(module)[0] if name in LATE}
    assert {(module, name) for name in heavy} <= EXCEPTIONS


@every_module
def test_numba_lives_in_one_room(module):
    everywhere, _ = imports(module, inside_functions=True)
    assert ("numba" in everywhere) == (module == "kernels")


@every_module
def test_only_declared_dependencies_are_imported(module):
    declared = LATE | {"numpy", "threadpoolctl", "tqdm"} | sys.stdlib_module_names
    assert imports(module, inside_functions=True)[0] <= declared


def test_rooms_with_heavy_furniture_are_entered_late():
    entered, waiting = set(), {"__init__"}
    while waiting:
        module = waiting.pop()
        entered.add(module)
        waiting |= imports(module)[1] - entered
    assert entered >= {"path", "results", "inputs"}
    assert not entered & {module for module, _ in EXCEPTIONS}


@pytest.mark.parametrize("inside_functions", [False, True], ids=["at once", "ever"])
def test_there_are_no_cycles(inside_functions):
    graph = {module: imports(module, inside_functions)[1] for module in SOURCES}
    assert set().union(*graph.values()) <= set(SOURCES)
    below, above = UPWARDS
    assert (above in graph[below]) == inside_functions
    graph[below].discard(above)
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError
    assert order.index("checks") < order.index("inputs") < order.index("path")


def test_the_reader_of_imports_sees_them():
    assert imports("kernels")[0] >= {"numba", "numpy"}
    assert "plots" in imports("results", inside_functions=True)[1]
    assert "scipy" in imports("results", inside_functions=True)[0]
    assert imports("__init__")[1] >= {"path", "results", "datasets"}


@every_module
def test_nothing_is_left_to_do(module):
    text = SOURCES[module].read_text().upper()
    assert not [word for word in ("TODO", "FIXME", "XXX") if word in text]


@every_module
def test_every_module_says_what_it_is(module):
    assert ast.get_docstring(ast.parse(SOURCES[module].read_text()))


def loaded_by(code):
    """Names of the modules that a fresh interpreter has after running the code."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True,
        timeout=60, check=True,
    )
    return set(json.loads(done.stdout))


def test_a_bare_import_is_light():
    loaded = loaded_by("import ncvpath")
    assert "ncvpath.path" in loaded
    heavy = {"numba", "pandas", "matplotlib", "scipy.sparse", "scipy.linalg", "tqdm"}
    assert not loaded & heavy


def test_a_fit_on_arrays_needs_neither_pandas_nor_matplotlib():
    code = (
        "import numpy as np, ncvpath\n"
        "X = np.random.default_rng(1).standard_normal((20, 3))\n"
        "path = ncvpath.ncvpath(X, X[:, 0], nlambda=3)\n"
        "repr(path), path.predict(X), path.selected(which=2)"
    )
    loaded = loaded_by(code)
    assert "numba" in loaded
    assert not loaded & {"pandas", "matplotlib"}


def test_public_names_exist_and_are_documented():
    assert sorted(ncvpath.__all__) == list(ncvpath.__all__)
    for name in ncvpath.__all__:
        assert getattr(ncvpath, name).__doc__


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_table_of_mutants_is_up_to_date(mutant):
    """Who changes a line that a mutant breaks changes the mutant."""
    source = (FOLDER / mutant.file).read_text(encoding="utf-8")
    assert source.count(mutant.old) == 1
