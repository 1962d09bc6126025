"""Small problems that many tests share."""

import os
import signal
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


def pytest_configure(config):
    """Tests need interrupts, which a shell lets its background jobs ignore.

    And interpreted kernels warn where compiled ones have inf or NaN without a word.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if INTERPRETED:
        quiet = "ignore:.* encountered in scalar:RuntimeWarning"
        config.addinivalue_line("filterwarnings", quiet)


def draw(n, p, seed=0, nonzero=4, noise=1.0):
    """A standard normal design and a response from its first few columns."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    used = min(nonzero, p)
    y = 3 + X[:, :used] @ rng.choice([-2.0, -1.0, 1.0, 2.0], used)
    return X, y + noise * rng.standard_normal(n)


@cache
def compiled(helper):
    """A helper as kernels call it: what Python calls is interpreted."""
    from numba import njit

    return njit(lambda *arguments: helper(*arguments))


@pytest.fixture
def tall():
    """More rows than columns."""
    return draw(80, 12, seed=1)


@pytest.fixture
def wide():
    """More columns than rows."""
    return draw(40, 120, seed=2)
