"""The command line, as a new user starts it, and the report on versions."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

import ncvpath as package
from ncvpath import load_diabetes, ncvpath, show_versions
from ncvpath.__main__ import main

FILES = ["coefficients.csv", "cv.csv", "cv.png", "path.csv", "path.png"]


@pytest.fixture(scope="module")
def path():
    return ncvpath(*load_diabetes(), penalty="MCP")


def check_results(folder, path):
    assert sorted(file.name for file in folder.iterdir()) == FILES
    table = pd.read_csv(folder / "coefficients.csv", index_col=0)
    assert list(table.index) == ["(Intercept)", *path.feature_names]
    np.testing.assert_allclose(table, path.coef(), rtol=1e-12)
    np.testing.assert_allclose(table.columns.astype(float), path.lambdas)
    summary = pd.read_csv(folder / "path.csv")
    pd.testing.assert_frame_equal(summary, path.summary())
    picture = (folder / "path.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n") and len(picture) > 10_000


def check_report(text, folder, path):
    assert repr(path) in text
    chosen = path.select("bic")
    assert f"lambda={chosen:.4g}" in text
    for name, value in path.coef(lam=chosen).items():
        row = [line for line in text.splitlines() if line.startswith(name)]
        assert len(row) == (value != 0)
        if value != 0:
            assert float(row[0].removeprefix(name)) == pytest.approx(value, abs=1e-4)
    for name in FILES:
        assert str(folder / name) in text


def test_the_demo_runs_in_a_fresh_process_without_a_display(tmp_path, path):
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "ncvpath"], cwd=tmp_path,
        env=environment, capture_output=True, text=True, timeout=300,
    )
    compiling = r"(ncvpath: compiling, once on this machine: about \d+ s\n)?"
    assert done.returncode == 0 and re.fullmatch(compiling, done.stderr)
    assert [file.name for file in tmp_path.iterdir()] == ["ncvpath-demo"]
    check_results(tmp_path / "ncvpath-demo", path)
    check_report(done.stdout, Path("ncvpath-demo"), path)


def test_the_demo_writes_into_the_folder_it_is_given(tmp_path, capsys, path):
    folder = tmp_path / "deep" / "results"
    assert main(["--out", str(folder)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    check_results(folder, path)
    check_report(printed.out, folder, path)


def test_the_demo_may_be_repeated(tmp_path, capsys, path):
    for _ in range(2):
        assert main(["--out", str(tmp_path)]) == 0
    check_results(tmp_path, path)


def below_a_file(folder):
    (folder / "file").write_text("")
    return folder / "file" / "results"


def on_a_file(folder):
    (folder / "file").write_text("")
    return folder / "file"


def behind_a_folder(folder):
    (folder / "coefficients.csv").mkdir()
    return folder


@pytest.mark.parametrize("place", [below_a_file, on_a_file, behind_a_folder])
def test_a_folder_that_cannot_be_written_is_one_line_and_code_2(
    place, tmp_path, capsys
):
    out = place(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["--out", str(out)])
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("python -m ncvpath: ")
    assert error.count("\n") == 1 and str(out) in error


@pytest.mark.parametrize("arguments", [["--bogus"], ["surprise"], ["--out"]])
def test_arguments_it_does_not_know_are_code_2(arguments, capsys, tmp_path):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m ncvpath" in capsys.readouterr().err


def test_help_says_what_will_happen(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    assert "--out" in printed and "ncvpath-demo" in printed


def test_versions_of_everything_that_is_used_are_shown(capsys):
    show_versions()
    rows = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert rows["numpy"] == np.__version__
    assert rows["pandas"] == pd.__version__
    assert rows["python"] == ".".join(map(str, sys.version_info[:3]))
    assert rows["ncvpath"] == package.__version__
    assert int(rows["cores"]) >= 1
    assert {"scipy", "numba", "matplotlib", "threadpoolctl", "tqdm"} <= set(rows)


def test_a_checkout_that_nobody_has_installed_knows_its_version(tmp_path):
    """The report died of it after the fit, with nothing written."""
    load_diabetes()[0].assign(y=1.0 * load_diabetes()[1]).to_csv(tmp_path / "d.csv")
    script = (
        "import importlib.metadata as metadata\n"
        "found = metadata.version\n"
        "def version(name):\n"
        "    if name == 'ncvpath':\n"
        "        raise metadata.PackageNotFoundError(name)\n"
        "    return found(name)\n"
        "metadata.version = version\n"
        "from ncvpath import show_versions\n"
        "from ncvpath.__main__ import main\n"
        "from benchmarks.race import stamp\n"
        "show_versions(), main(['--version']), print(stamp())\n"
        "main(['fit', 'd.csv', '--response', 'y', '--nlambda', '5', '--drop', "
        "'Unnamed: 0'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True,
        timeout=120, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(package.__version__) >= 3
    page = (tmp_path / "ncvpath-results" / "report.html").read_text()
    assert f"ncvpath {package.__version__}, numpy" in page


def test_a_package_that_is_missing_is_said_to_be_missing(capsys, monkeypatch):
    packages = ("ncvpath", "no-such-thing")
    monkeypatch.setattr("ncvpath.runtime.environment.PACKAGES", packages)
    show_versions()
    assert "no-such-thing  not installed" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ncvpath {package.__version__}\n"


def test_output_may_go_to_a_stream_that_is_no_file():
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["--version"]) == 0
    assert printed.getvalue() == f"ncvpath {package.__version__}\n"
