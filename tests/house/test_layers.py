"""The house: who may import whom, and what a bare import costs."""

import ast
import json
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from conftest import ROOT
from mutants import MUTANTS
from PIL import Image

import ncvpath
from vignettes.layers import (
    FOLDER,
    PARTS,
    SOURCES,
    UPWARDS,
    graph_of_modules,
    graph_of_parts,
    imports,
    in_words,
    levels,
    part_of,
)

LATE = {"numba", "pandas", "matplotlib", "scipy", "dask"}  # imported when first needed
SCIKIT_LEARN = {"sklearn", "joblib"}  # of an extra, for the estimators alone
# The modules that may import one of these at once, because they are entered late.
EXCEPTIONS = {
    ("kernels.options", "numba"), ("plots.axes", "matplotlib"),
    ("plots.path", "matplotlib"),
    ("results.cv_summary", "pandas"),
}
OPERATIONS = ("matrices.design", "matrices.least_squares")
# Where X comes in, and where it is sent away, it is one of these.
RECORDS = ("Columns", "DaskColumns", "SparseColumns")
RECORDERS = ("cv", "crossval.engines")
SOURCES_OF_X = ("matrices.columns", "matrices.distributed", "matrices.sparse")
# Who moves the state along the path: the loop, by itself or by the state's own method.
# A block is chosen with its working set; Newton's method renews the Hessian
# of which the Gram cache keeps products; rescaling keeps its derivatives, and counts
# how often in a row it came to nothing.
MOVERS = {
    "solver.loop": None, "solver.state": None, "solver.working_set": {"member"},
    "solver.newton": {"gram"},
    "solver.rescaling": {"jacobian", "unsettled"},
}
STATE = ("state", "self.state")


every_module = pytest.mark.parametrize("module", SOURCES)


@every_module
def test_heavy_packages_are_imported_when_needed(module):
    heavy = {name for name in imports(module)[0] if name in LATE}
    assert {(module, name) for name in heavy} <= EXCEPTIONS


@every_module
def test_numba_lives_in_one_part(module):
    everywhere, _ = imports(module, inside_functions=True)
    assert "numba" not in everywhere or module == "kernels.options"


@every_module
def test_scikit_learn_lives_in_one_part(module):
    """Which nobody imports but users, as it is not always there."""
    outside, own = imports(module, inside_functions=True)
    if part_of(module) != "estimators":
        assert not outside & SCIKIT_LEARN
        assert "estimators" not in {part_of(source) for source, _ in own}


@every_module
def test_kernels_are_entered_by_the_front_door(module):
    """Which prepares their caches; records are plain Python."""
    for source, _ in imports(module, inside_functions=True)[1]:
        if part_of(source) == "kernels" and part_of(module) != "kernels":
            assert source in ("kernels", "kernels.records")


@every_module
def test_the_solver_asks_a_family(module):
    """By its name; what users bring is read at the door; results answer by it."""
    known = {
        "inputs": {"FAMILIES", "Family", "Response"},
        "path": {"FAMILIES", "make_baseline"}, "crossval": {"Response"},
        "results": {"FAMILIES", "Response", "Baseline"},
        "__init__": {"Family", "families"}, "cli": {"FAMILIES"},
        "estimators": {"FAMILIES"},
    }
    for source, name in imports(module, inside_functions=True)[1]:
        if part_of(source) == "families" and part_of(module) != "families":
            assert name in known.get(part_of(module), ())


@every_module
def test_only_declared_dependencies_are_imported(module):
    declared = LATE | {"numpy", "threadpoolctl", "tqdm"} | sys.stdlib_module_names
    declared |= SCIKIT_LEARN
    assert imports(module, inside_functions=True)[0] <= declared


def reached_from(module, graph):
    """All modules that are there once this one is imported, with their folders."""
    entered, waiting = set(), {module}
    while waiting:
        module = waiting.pop()
        entered.add(module)
        waiting |= (graph[module] | {part_of(module)}) - entered
    return entered


def test_parts_with_heavy_furniture_are_entered_late():
    entered = reached_from("__init__", graph_of_modules(inside_functions=False))
    assert entered >= {"path", "cv", "results", "inputs", "solver"}
    assert not entered & {module for module, _ in EXCEPTIONS}


@pytest.mark.parametrize("inside_functions", [False, True], ids=["at once", "ever"])
def test_there_are_no_cycles(inside_functions):
    """Neither among modules nor among parts, but for the one import upwards."""
    graph = graph_of_modules(inside_functions)
    below, above = UPWARDS
    led_up = {module for module in SOURCES if part_of(module) == below}
    found = {module for module in led_up if above in graph[module]}
    assert len(found) == inside_functions
    for module in found:
        graph[module].discard(above)
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError
    assert set(order) == set(SOURCES)
    assert order.index("penalties") < order.index("path") < order.index("cv")
    parts = graph_of_parts(inside_functions)
    assert parts["kernels"] <= {"runtime"} and parts["families"] <= {"runtime"}
    assert parts["runtime"] <= {"version"}
    height = levels(parts)
    assert height["kernels"] < height["matrices"] < height["solver"] < height["inputs"]
    assert height["families"] < height["solver"]


def moves(tree):
    """(attribute, line) of each place that changes `state` or `self.state`: those it
    sets or deletes, wholly or in part, and "move" or "stand" where it is asked to."""
    for node in ast.walk(tree):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if called.removeprefix("self.") in ("state.move", "state.stand"):
            yield node.func.attr, node.lineno
        if called == "setattr":
            if ast.unparse(node.args[0]) in STATE:
                yield ast.unparse(node.args[1]), node.lineno
        if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            continue
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            inner = node.value
            named = ast.unparse(inner) in STATE
            if named and isinstance(node, ast.Attribute):
                yield node.attr, node.lineno
            node = inner


def moves_of(module):
    return set(moves(ast.parse(SOURCES[module].read_text(encoding="utf-8"))))


@every_module
def test_only_the_loop_moves_the_state(module):
    allowed = MOVERS.get(module, set())
    if allowed is not None:
        assert not {move for move in moves_of(module) if move[0] not in allowed}


def test_moves_of_the_state_are_seen():
    found = {name for name, _ in moves_of("solver.loop")}
    assert found == {"lam", "member", "certificates", "move", "stand"}
    assert {name for name, _ in moves_of("solver.newton")} == {"gram"}
    assert {name for name, _ in moves_of("solver.working_set")} == {"member"}
    code = (
        "state.lam, other = 1, 2\nstate.beta[:3] += 1\nwith a as state.gram: pass\n"
        "del state.anchor\nsetattr(state, 'lam', 1)\nfor state.x in y: pass\n"
        "state.gram.known = 0\nself.state.beta[0] = 1\nstate.stand(1)\n"
        "self.state.move(1)"
    )
    assert sorted(line for _, line in moves(ast.parse(code))) == list(range(1, 11))
    still = "x = state.lam\nstate = State()\nstate[0] = 1\nother.lam = 1\ndel state"
    assert not set(moves(ast.parse(still)))


def test_results_and_their_pictures_stand_apart_from_the_solver():
    graph = graph_of_modules(inside_functions=False)
    for module in SOURCES:
        if part_of(module) in ("results", "plots"):
            reached = reached_from(module, graph)
            parts = {part_of(each) for each in reached - {"kernels", "kernels.records"}}
            apart = {"solver", "kernels", "path", "crossval", "cv"}
            assert not parts & apart, module
    late = graph_of_parts()
    assert not (late["results"] | late["plots"]) & {"solver", "kernels"}
    assert "families" not in late["plots"]


def test_who_knows_how_x_is_stored():
    """Above the matrices X is a design, or some matrix, behind its operations."""
    for module in SOURCES:
        if part_of(module) == "matrices":
            continue
        for source, name in imports(module, inside_functions=True)[1]:
            if part_of(source) != "matrices" or source in ("matrices", *OPERATIONS):
                continue
            if module in RECORDERS and name in RECORDS:
                continue
            record = source in SOURCES_OF_X and not name.lower().endswith("matrix")
            assert part_of(module) == "inputs" and record, (module, source, name)


def test_the_map_names_every_part():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = text[text.index("| part |") : text.index("numba, pandas,")].splitlines()
    assert len(rows) < 20  # half a page
    parts, modules = set(), []
    for row in rows:
        _, first, second, *_ = row.split("|") if row else [""] * 3
        here = re.findall(r"`(\w+)(?:/|\.py)`", first)
        parts |= set(here)
        modules += [f"{here[0]}.{name}" for name in re.findall(r"`(\w+)\.py`", second)]
    assert parts == set(PARTS) - {"__init__", "version"}
    assert "solver.loop" in modules and set(modules) <= set(SOURCES)


def test_the_picture_is_up_to_date():
    """If not: python vignettes/layers.py"""
    with Image.open(ROOT / "vignettes" / "figures" / "layers.png") as picture:
        assert picture.text["Description"] == in_words()


def test_the_reader_of_imports_sees_them():
    assert imports("kernels.options")[0] == {"numba"}
    assert imports("kernels.dense")[1] >= {("kernels.penalty", "larger")}
    assert "scipy" in imports("results.queries", inside_functions=True)[0]
    own = imports("results.path", inside_functions=True)[1]
    assert ("plots.path", "plot_path") in own
    assert imports("__init__")[1] >= {("path", "ncvpath"), ("cv", "cv_ncvpath")}


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
    heavy |= SCIKIT_LEARN
    assert not loaded & heavy


def test_records_of_kernels_need_no_compiler():
    code = (
        "sys.modules['numba'] = None  # any import of it fails\n"
        "import ncvpath.kernels, ncvpath.penalties\n"
        "from ncvpath.kernels.records import Penalty\n"
        "assert Penalty(1, 3.0).shape == 3"
    )
    assert "ncvpath.kernels.records" in loaded_by(code)


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
