"""The kernels' sources: small, and never run from machine code of older ones."""

import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

FOLDER = ROOT / "ncvpath" / "kernels"
FILES = sorted(FOLDER.glob("*.py"))
MAX_LINES, MAX_PARAMETERS = 400, 10
# The largest violation of one coordinate of MCP at l1 = beta = 1, which calls helpers
# in another file: |0 - slope|. And how often its machine code came from disk.
ONE_NUMBER = """
import json
import numpy as np
from ncvpath import kernels
from ncvpath.kernels.records import Penalty

one, penalty = np.ones(1), Penalty(1, 4.0)
found = kernels.largest_violation(penalty, one, one, np.zeros(1))
hits = sum(kernels.largest_violation.stats.cache_hits.values())
print(json.dumps([kernels.__file__, found, hits]))
"""


def functions_of(file):
    """The functions that a module defines, as they were before compilation."""
    stem = "" if file.stem == "__init__" else f".{file.stem}"
    module = importlib.import_module(f"ncvpath.kernels{stem}")
    for found in vars(module).values():
        function = getattr(found, "py_func", found)
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            yield function


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_file_of_kernels_is_long(file):
    assert len(file.read_text().splitlines()) <= MAX_LINES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_kernel_has_many_parameters(file):
    """What travels together is a record."""
    counts = {
        function.__name__: len(inspect.signature(function).parameters)
        for function in functions_of(file)
    }
    assert not {name: n for name, n in counts.items() if n > MAX_PARAMETERS}


def test_all_kernels_are_counted():
    counted = sum(len(list(functions_of(file))) for file in FILES)
    written = sum(file.read_text().count("\ndef ") for file in FILES)
    assert counted == written > 50


def one_number(folder):
    """What a fresh process finds, and whether its code came from disk."""
    own = {
        "NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0",
        # Bytecode is stale, too, where time and size of a file say nothing.
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "",
    }
    done = subprocess.run(
        [sys.executable, "-c", ONE_NUMBER], cwd=folder, env=os.environ | own,
        text=True, capture_output=True, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    file, found, hits = json.loads(done.stdout)
    assert os.path.dirname(file) == str(folder / "ncvpath" / "kernels")
    return found, hits


def test_an_edited_helper_in_another_file_is_compiled_anew(tmp_path):
    """Though neither the kernel's own file nor time or size of the helper's say so."""
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ncvpath", tmp_path / "ncvpath", ignore=leave)
    file = tmp_path / "ncvpath" / "kernels" / "penalty.py"
    text, before = file.read_text(), file.stat()
    old, new = "return max(l1 - a / g, 0.0)", "return max(l1 - a * g, 0.0)"
    assert text.count(old) == 1 and "largest_violation" not in text
    assert one_number(tmp_path) == (0.75, 0)
    assert one_number(tmp_path) == (0.75, 1)  # there is a cache to be fooled by
    for changed, found in ((text.replace(old, new), 0.0), (text, 0.75)):
        file.write_text(changed)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert file.stat().st_size == before.st_size
        assert file.stat().st_mtime_ns == before.st_mtime_ns
        assert one_number(tmp_path) == (found, 0)
        assert one_number(tmp_path) == (found, 1)
