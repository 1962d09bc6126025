"""Counting lines per pixel, against drawing them one by one."""

import numpy as np
import pytest
from scipy.sparse import csc_array

from ncvpath.plots import density


def counts_one_by_one(share, y, low, high):
    """Lines through each pixel: fine points along each, its pixels counted once."""
    rows, columns = density.SHAPE
    total = np.zeros((rows, columns), dtype=int)
    for line in y:
        seen = np.zeros((rows, columns), dtype=bool)
        for k in range(share.size - 1):
            if line[k] == line[k + 1] == 0:
                continue
            t = np.linspace(0, 1, 4001)
            x = columns * (share[k] + t * (share[k + 1] - share[k]))
            r = rows * (line[k] + t * (line[k + 1] - line[k]) - low) / (high - low)
            seen[np.minimum(r.astype(int), rows - 1),
                 np.minimum(x.astype(int), columns - 1)] = True
        total += seen
    return total


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(density, "SHAPE", (12, 16))


SHARES = {
    "onwards": [0, 0.25, 0.5, 1],
    "turning back": [0, 0.73, 0.46, 1],
    "staying": [0, 0.3, 0.3, 1],
    "staying at the end": [0, 0.3, 1, 1],
}


@pytest.mark.parametrize("share", SHARES.values(), ids=SHARES.keys())
def test_counts_are_those_of_lines_drawn_one_by_one(share, small):
    rng = np.random.default_rng(3)
    y = rng.normal(size=(6, 4)) * (rng.random((6, 4)) < 0.8)
    y[0] = 0
    low, high = y.min() - 0.1, y.max() + 0.1
    counts = density.line_counts(np.array(share), csc_array(y), low, high)
    expected = counts_one_by_one(np.array(share), y, low, high)
    if np.all(np.diff(share) > 0):
        np.testing.assert_array_equal(counts, expected)
    else:  # a line that comes by again is counted again
        assert ((counts > 0) == (expected > 0)).all()


def test_a_steep_line_has_no_gaps(small):
    y = csc_array(np.array([[0.0, 1.0]]))
    counts = density.line_counts(np.array([0.0, 0.1]), y, 0.0, 1.0)
    assert (counts.sum(axis=1) >= 1).all()


def test_one_line_can_be_seen_and_more_are_darker():
    opacity = density.opacities(np.array([0, 1, 2, 1000]))
    assert opacity[0] == 0
    assert opacity[1] == pytest.approx(density.FAINTEST)
    assert (np.diff(opacity) > 0).all() and opacity[-1] == pytest.approx(1)
    assert density.opacities(np.array([0, 1]))[1] == pytest.approx(density.FAINTEST)
