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
    ROOMS,
    SOURCES,
    UPWARDS,
    graph_of_modules,
    graph_of_rooms,
    imports,
    in_words,
    levels,
    room_of,
)

LATE = {"numba", "pandas", "matplotlib", "scipy", "dask"}  # imported when first needed
# The modules that may import one of these at once, because they are entered late.
EXCEPTIONS = {
    ("kernels", "numba"), ("plots.axes", "matplotlib"),
    ("plots.path", "matplotlib"),
    ("results.cv_summary", "pandas"),
}
OPERATIONS = ("matrices.design",)
# Where X comes in, and where it is sent away, it is one of these.
RECORDS = ("Columns", "DaskColumns", "SparseColumns")
RECORDERS = ("cv", "crossval.engines")
SOURCES_OF_X = ("matrices.columns", "matrices.distributed", "matrices.sparse")
# Compiled walks read a dense X as it lies in memory; any other goes by the operations.
SHORT_CUTS = {
    ("solver.certificates", "as_stored"), ("solver.walk", "as_stored"),
    ("solver.stretches", "as_stored"), ("solver.stretches", "DenseMatrix"),
    ("solver.stretches", "SomeColumns"),
}


every_module = pytest.mark.parametrize("module", SOURCES)


@every_module
def test_heavy_packages_are_imported_when_needed(module):
    heavy = {name for name in imports(module)[0] if name in LATE}
    assert {(module, name) for name in heavy} <= EXCEPTIONS


@every_module
def test_numba_lives_in_one_room(module):
    everywhere, _ = imports(module, inside_functions=True)
    assert "numba" not in everywhere or room_of(module) == "kernels"


@every_module
def test_only_declared_dependencies_are_imported(module):
    declared = LATE | {"numpy", "threadpoolctl", "tqdm"} | sys.stdlib_module_names
    assert imports(module, inside_functions=True)[0] <= declared


def reached_from(module, graph):
    """All modules that are there once this one is imported, with their folders."""
    entered, waiting = set(), {module}
    while waiting:
        module = waiting.pop()
        entered.add(module)
        waiting |= (graph[module] | {room_of(module)}) - entered
    return entered


def test_rooms_with_heavy_furniture_are_entered_late():
    entered = reached_from("__init__", graph_of_modules(inside_functions=False))
    assert entered >= {"path", "cv", "results", "inputs", "solver"}
    assert not entered & {module for module, _ in EXCEPTIONS}


@pytest.mark.parametrize("inside_functions", [False, True], ids=["at once", "ever"])
def test_there_are_no_cycles(inside_functions):
    """Neither among modules nor among rooms, but for the one import upwards."""
    graph = graph_of_modules(inside_functions)
    below, above = UPWARDS
    led_up = {module for module in SOURCES if room_of(module) == below}
    found = {module for module in led_up if above in graph[module]}
    assert len(found) == inside_functions
    for module in found:
        graph[module].discard(above)
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError
    assert set(order) == set(SOURCES)
    assert order.index("penalties") < order.index("path") < order.index("cv")
    height = levels(graph_of_rooms(inside_functions))
    assert height["kernels"] == 0 < height["matrices"] < height["inputs"]


def test_results_and_their_pictures_stand_apart_from_the_solver():
    graph = graph_of_modules(inside_functions=False)
    for module in SOURCES:
        if room_of(module) in ("results", "plots"):
            rooms = {room_of(each) for each in reached_from(module, graph)}
            assert not rooms & {"solver", "kernels", "path", "crossval", "cv"}, module
    late = graph_of_rooms()
    assert not (late["results"] | late["plots"]) & {"solver", "kernels"}


def test_who_knows_how_x_is_stored():
    """Above the matrices X is a design, or some matrix, behind its operations."""
    for module in SOURCES:
        if room_of(module) == "matrices":
            continue
        for source, name in imports(module, inside_functions=True)[1]:
            if room_of(source) != "matrices" or source in ("matrices", *OPERATIONS):
                continue
            if module in RECORDERS and name in RECORDS:
                continue
            record = source in SOURCES_OF_X and not name.lower().endswith("matrix")
            if room_of(module) == "inputs" and record:
                continue
            assert (module, name) in SHORT_CUTS, (module, source, name)


def test_the_map_names_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = text[text.index("| room |") : text.index("numba, pandas,")]
    rooms = set(re.findall(r"`(\w+)(?:/|\.py)`", rows))
    assert rooms == set(ROOMS) - {"__init__", "version"}


def test_the_picture_is_up_to_date():
    """If not: python vignettes/layers.py"""
    with Image.open(ROOT / "vignettes" / "figures" / "layers.png") as picture:
        assert picture.text["Description"] == in_words()


def test_the_reader_of_imports_sees_them():
    assert imports("kernels")[0] >= {"numba", "numpy"}
    outside, own = imports("results.path", inside_functions=True)
    assert "scipy" in outside and ("plots.path", "plot_path") in own
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
