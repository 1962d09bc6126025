"""CONTRIBUTING's recipe for a new penalty, followed to the letter on a copy.

The recipe's edits are blocks of `diff` without line numbers: `---` names a file, `@@`
begins another place, and the lines that are there before must be there exactly once.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SAME_PATH = """
import numpy as np, ncvpath
from ncvpath import ncvpath as fit, cv_ncvpath, penalties

rng = np.random.default_rng(3)
assert penalties().loc["firm", "gamma"] == 1.5
for n, p, scale in ((30, 6, 1.0), (12, 25, 1.0), (20, 8, 0.2)):
    X = scale * rng.standard_normal((n, p))
    y = X[:, 0] - 2 * X[:, 1] + 0.2 * rng.standard_normal(n)
    settings = dict(nlambda=12, standardize=scale == 1)
    new = fit(X, y, penalty="firm", **settings)
    old = fit(X, y, penalty="MCP", gamma=3.0, **settings)
    assert new.converged.all() and new.penalty == "firm" and old.df.max() > 1
    np.testing.assert_allclose(new.lambdas, old.lambdas, rtol=1e-12)
    np.testing.assert_allclose(new.coef(), old.coef(), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(new.objective, old.objective, rtol=1e-9)
    assert new.convex_min == old.convex_min
print(ncvpath.__file__)
"""


def edits():
    """(file, lines before, lines after) of each place that the recipe changes."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text[text.index("## A new penalty") :]
    for block in re.findall(r"^```diff\n(.*?)^```$", recipe, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^--- ", block, flags=re.MULTILINE)[1:]:
            file, _, body = part.partition("\n")
            for place in re.split(r"^@@.*\n", body, flags=re.MULTILINE):
                lines = place.splitlines(keepends=True)
                before = "".join(line[1:] for line in lines if line[0] in " -")
                after = "".join(line[1:] for line in lines if line[0] in " +")
                yield file, before, after


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package and its tests, with the recipe's penalty."""
    folder = tmp_path_factory.mktemp("recipe")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name in ("ncvpath", "tests"):
        leave = shutil.ignore_patterns("__pycache__", "reference")
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    for file, before, after in edits():
        text = (folder / file).read_text()
        assert text.count(before) == 1, f"{file} must have this once:\n{before}"
        (folder / file).write_text(text.replace(before, after))
    return folder


def run(folder, *arguments):
    """What Python prints in that folder; kernels are interpreted, not compiled."""
    own = {
        "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=os.environ | own, text=True,
        capture_output=True, timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_recipe_names_every_place(copy):
    assert {file for file, _, _ in edits()} == {
        "ncvpath/penalties.py", "ncvpath/kernels/penalty.py", "ncvpath/path.py",
        "tests/oracle.py", "tests/doors/test_penalties.py",
    }


def test_the_new_penalty_has_the_path_of_its_twin(copy):
    printed = run(copy, "-W", "error", "-c", SAME_PATH)
    assert Path(printed.strip()).parents[1] == copy


def test_the_copy_passes_the_tests_of_the_new_penalty(copy):
    files = ["tests/doors/test_penalties.py", "tests/kernels/test_kernels.py"]
    printed = run(
        copy, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider",
        "-k", "firm or codes", *files,
    )
    assert int(re.search(r"(\d+) passed", printed)[1]) >= 10


def test_the_copy_meets_fermats_conditions(copy):
    wanted = "firm and (tall or scaled) and not nearly"
    printed = run(
        copy, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-k", wanted,
        "tests/claims/test_fermat.py",
    )
    assert int(re.search(r"(\d+) passed", printed)[1]) >= 2
