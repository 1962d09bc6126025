"""The README and the vignettes run as they are printed."""

import configparser
import re
import shlex
import subprocess
import sys

import matplotlib.pyplot as plt
import pytest
from conftest import ROOT

import ncvpath

VIGNETTES = sorted((ROOT / "vignettes").glob("*.md"))


def blocks(file, fence):
    """The contents of the file's code blocks that open with `fence`."""
    pattern = rf"^```{re.escape(fence)}\n(.*?)^```$"
    return re.findall(pattern, file.read_text(), flags=re.MULTILINE | re.DOTALL)


def run(cells, name):
    namespace = {"__name__": name}
    for cell in cells:
        exec(compile(cell, name, "exec"), namespace)
    plt.close("all")
    return namespace


@pytest.mark.parametrize("file", VIGNETTES, ids=lambda file: file.stem)
def test_vignette_runs(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # vignettes write files
    cells = blocks(file, "{code-cell} python")
    assert cells
    run(cells, file.name)


def test_every_call_beside_an_r_call_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = ROOT / "vignettes" / "from-R.md"
    namespace = run(blocks(file, "{code-cell} python"), file.name)
    rows = re.findall(r"^\| `.+ \| (.+) \|$", file.read_text(), flags=re.MULTILINE)
    ours = [row for row in rows if not row.startswith("not here")]
    assert len(ours) > 50
    for call in re.findall(r"`([^`]+)`", "\n".join(ours)):
        eval(compile(call, call, "eval"), namespace)
        plt.close("all")


def test_readme_prints_what_it_says(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = ROOT / "README.md"
    examples = blocks(readme, "python"), blocks(readme, "text")
    for code, printed in zip(*examples, strict=True):
        run([code], readme.name)
        assert capsys.readouterr().out == printed


def test_readme_goes_from_a_file_to_a_report(tmp_path):
    (session,) = blocks(ROOT / "README.md", "console")
    for line in session.splitlines():
        assert line.startswith("$ python ")
        command = [sys.executable, *shlex.split(line.removeprefix("$ python "))]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    written = {file.name for file in (tmp_path / "results").iterdir()}
    assert {"coefficients.csv", "path.csv", "cv.csv", "report.html"} <= written
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 443


def test_every_block_of_the_readme_is_run_here():
    fences = re.findall(r"^```(.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert sorted(fences) == ["console", *["python"] * 5, "sh", "sh", *["text"] * 5]


def test_readme_has_exactly_the_two_commands():
    commands = blocks(ROOT / "README.md", "sh")
    assert len(commands) == 2 and all(c.count("\n") == 1 for c in commands)
    assert commands[0].endswith("python -m ncvpath\n")
    assert commands[1].endswith("python -m pytest\n")


def test_the_docs_extra_has_what_vignettes_import():
    """A build failed for want of h5py and dask."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"]
    wanted = " ".join([config["options"]["install_requires"], extras["docs"]])
    for name in re.search(r"ncvpath\[(.+)\]", extras["docs"])[1].split(","):
        wanted += "\n" + extras[name]
    there = set(re.findall(r"^[\w-]+", wanted.replace(" ", "\n"), re.MULTILINE))
    code = "\n".join(cell for file in VIGNETTES
                     for cell in blocks(file, "{code-cell} python"))
    used = set(re.findall(r"^\s*(?:import|from) (\w+)", code, re.MULTILINE))
    called = {"sklearn": "scikit-learn", "joblib": "scikit-learn"}  # which brings it
    used = {called.get(name, name) for name in used - sys.stdlib_module_names}
    assert "h5py" in used and used <= there | {"ncvpath"}
    # Rendering them takes these.
    assert {"sphinx", "myst-nb", "jupytext"} <= there


def estimators():
    """The public names of ncvpath.estimators, which needs scikit-learn."""
    source = (ROOT / "ncvpath" / "estimators" / "__init__.py").read_text()
    return re.findall(r'"(\w+)"', source[source.index("__all__") :])


def test_the_reference_has_every_public_name():
    text = (ROOT / "vignettes" / "api.rst").read_text()
    named = re.findall(r"^\.\. auto\w+:: (\w+)$", text, re.MULTILINE)
    assert sorted(named) == sorted([*ncvpath.__all__, *estimators()])
    index = (ROOT / "vignettes" / "index.rst").read_text()
    for file in VIGNETTES:
        assert f"   {file.stem}\n" in index


def test_every_step_of_ci_is_run():
    run = (ROOT / ".ci" / "run").read_text()
    steps = re.search(r"for step in (.+); do", run)[1].split()
    scripts = {file.name for file in (ROOT / ".ci").iterdir() if not file.suffix}
    assert {*steps, "run", "coverage"} == scripts - {"__pycache__"}


def test_links_and_pictures_exist():
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *VIGNETTES):
        for target in re.findall(r"\]\(([^)#:]+)\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name}: {target}"
