"""Figures beside the races: `python -m benchmarks.bars`.

Path time in passes over X, a tiny path, start-up, memory, and growth when p or n
doubles. Ratios and counts where possible; seconds only where nothing else says it.
"""

import os
import subprocess
import sys
import tempfile
from functools import partial
from time import perf_counter

import numpy as np

from ncvpath import load_diabetes, ncvpath

from .problems import chain

RACE = dict(standardize=False, intercept=False, convex=False, lambda_min_ratio=0.05)


def median_seconds(call, repeats=5):
    """Median over repeats, after one call to warm up."""
    call()
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    return float(np.median(seconds))


def passes():
    """Path time over the time of one BLAS pass, and columns looked at."""
    X, y = chain(1000, 20_000, 20)
    one = median_seconds(lambda: X.T @ y, 15)
    for penalty in ("lasso", "MCP"):
        path = ncvpath(X, y, penalty=penalty, **RACE)
        spent = median_seconds(partial(ncvpath, X, y, penalty=penalty, **RACE))
        looked = path.screening["checked"].sum() / X.shape[1]
        print(f"wide, {penalty}: path / BLAS pass {spent / one:.0f}, "
              f"columns looked at {looked:.1f} passes")


def tiny():
    """A path of a few columns, where overhead is everything."""
    X, y = load_diabetes()
    X, y = np.asfortranarray(X.to_numpy()[:97, :8]), y.to_numpy()[:97]
    print(f"97 x 8 path: {1e3 * median_seconds(lambda: ncvpath(X, y), 30):.1f} ms")


FIRST_FIT = """
from time import perf_counter
start = perf_counter()
from ncvpath import ncvpath
imported = perf_counter()
import numpy as np
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((200, 2000)))
y = X[:, :5].sum(axis=1) + rng.standard_normal(200)
begun = perf_counter()
ncvpath(X, y)
print(imported - start, perf_counter() - begun)
"""


def start_up():
    """Import, first fit without and with numba's cache, each in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        for label in ("empty cache", "warm cache"):
            run = subprocess.run(
                [sys.executable, "-c", FIRST_FIT], env=environment, text=True,
                capture_output=True, check=True,
            )
            imported, fitted = map(float, run.stdout.split())
            print(f"{label}: import {imported:.2f} s, first fit {fitted:.2f} s")


MEMORY = """
import resource
import numpy as np
from benchmarks.problems import chain
from ncvpath import ncvpath
ncvpath(*chain(50, 60, 5))
X, y = chain(1000, 20_000, 20)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
# Fill up to the high-water mark of making X, so that the fit shows above it.
from pathlib import Path
now = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
ballast = np.ones((peak() - now) // 8)
before = peak()
ncvpath(X, y, penalty={penalty!r})
print((peak() - before) / X.nbytes)
"""


def memory():
    """Peak memory above that of X, as a share of X, default call."""
    if sys.platform != "linux":
        return
    for penalty in ("lasso", "MCP"):
        run = subprocess.run(
            [sys.executable, "-c", MEMORY.format(penalty=penalty)], text=True,
            capture_output=True, check=True,
        )
        print(f"wide, {penalty}: peak memory above X {float(run.stdout):.2f} x X")


def doubling():
    """Time when p or n doubles."""
    for penalty in ("lasso", "MCP"):
        spent = {}
        for shape in ((1000, 20_000), (1000, 40_000), (2000, 20_000)):
            X, y = chain(*shape, 20)
            fit = partial(ncvpath, X, y, penalty=penalty, **RACE)
            spent[shape] = median_seconds(fit, 3)
        base = spent[1000, 20_000]
        print(f"{penalty}: p doubled {spent[1000, 40_000] / base:.2f}x, "
              f"n doubled {spent[2000, 20_000] / base:.2f}x")


if __name__ == "__main__":
    for figure in (start_up, tiny, passes, memory, doubling):
        figure()
