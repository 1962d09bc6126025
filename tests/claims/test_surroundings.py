"""Surroundings that a fit must not need: a network, a home, UTF-8, short paths."""

import os
import subprocess
import sys

from conftest import ROOT

EVERYTHING = """
import sys
import matplotlib
matplotlib.use("Agg")
from ncvpath import NcvPath, cv_ncvpath, load_diabetes, ncvpath, show_versions
from ncvpath.__main__ import main

X, y = load_diabetes()
path = ncvpath(X, y, nlambda=10)
path.plot().figure.savefig("path.png")
path.save("path.npz")
NcvPath.load("path.npz").predict(X)
cv_ncvpath(X, y, nlambda=10, nfolds=3, random_state=0).plot()
show_versions()
X.assign(y=y).to_csv("data.csv", index=False)
for arguments in (["--out", "demo"], ["fit", "data.csv", "--response=y", "--cv=3"]):
    assert main(arguments) == 0
print("all done")
"""

NO_NETWORK = """
import sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(f"{event}{arguments}: no network here")

sys.addaudithook(refuse)
"""


def run(code, folder, **variables):
    kept = {k: v for k, v in os.environ.items() if k.startswith(("PATH", "NUMBA_"))}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, timeout=300,
        env=kept | {"PYTHONPATH": str(ROOT), "HOME": str(folder)} | variables,
        capture_output=True, text=True, encoding="utf-8",
    )


def test_nothing_asks_for_a_network(tmp_path):
    done = run(NO_NETWORK + EVERYTHING, tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("all done\n"), done.stderr


def test_the_guard_would_notice(tmp_path):
    done = run(NO_NETWORK + "import socket\nsocket.create_server(('', 0))", tmp_path)
    assert done.returncode == 1 and "no network here" in done.stderr


def test_odd_surroundings(tmp_path):
    folder = tmp_path / "a folder, with blanks & 'quotes' \u00fc"
    folder.mkdir()
    ascii_only = dict(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    done = run(EVERYTHING, folder, **ascii_only, TZ="Asia/Kathmandu")
    assert done.returncode == 0 and done.stdout.endswith("all done\n"), done.stderr


# Names that Windows lacks, or macOS; what else is used is in both.
ELSEWHERE = """
import os, mmap, sys
import numba, pandas, matplotlib.pyplot, scipy.sparse, scipy.linalg, scipy.special
for name in (
    "sched_getaffinity", "sched_setaffinity", "register_at_fork", "fork", "mkfifo",
    "geteuid", "getuid", "statvfs", "posix_fadvise", "sysconf", "killpg",
):
    if hasattr(os, name):
        delattr(os, name)
for name in ("MAP_PRIVATE", "MAP_ANONYMOUS", "MAP_SHARED", "PROT_READ"):
    if hasattr(mmap, name):
        delattr(mmap, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
import numpy as np
import ncvpath
from ncvpath.__main__ import main
X, y = ncvpath.load_diabetes()
large = np.asfortranarray(np.random.default_rng(0).standard_normal((1500, 1500)))
ncvpath.ncvpath(large, large[:, 0], nlambda=3, n_threads=2)
cv = ncvpath.cv_ncvpath(X, y, nlambda=8, nfolds=3, random_state=1)
cv.save("cv.npz")
assert ncvpath.CvNcvPath.load("cv.npz").lambda_min == cv.lambda_min
np.save("X.npy", large[:, :20])
mapped = np.load("X.npy", mmap_mode="r")
ncvpath.ncvpath(mapped, large[:, 0], nlambda=3).predict(mapped)
X.assign(y=y).to_csv("data.csv", index=False)
assert main(["fit", "data.csv", "--response", "y", "--nlambda", "5", "--cv", "3"]) == 0
assert main(["predict", "ncvpath-results/model.npz", "data.csv"]) == 0
print("all well")
"""


def test_fits_need_nothing_that_only_some_systems_have(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=tmp_path, capture_output=True, text=True,
        timeout=240, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all well\n")
