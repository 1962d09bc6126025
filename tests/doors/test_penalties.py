"""The table of penalties against itself: value, slope, curvature, kernels."""

import numpy as np
import pytest
from conftest import compiled

from ncvpath import kernels, penalties
from ncvpath.penalties import ROWS, Penalty, shaped

pytestmark = pytest.mark.plain

GRID = np.linspace(1e-3, 6, 4001)
L1 = 0.7
# Where the pieces of a penalty meet, in multiples of l1.
EDGES = {"MCP": (3.0,), "SCAD": (1.0, 3.7), "capped": (2.0,)}
every_penalty = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def shape_of(row):
    return row.gamma or 0.0


def away_from_edges(row, step):
    """Points of the grid at which the penalty has derivatives."""
    edges = [edge * L1 for edge in EDGES.get(row.name, ())]
    return np.array([a for a in GRID if all(abs(a - e) > 2 * step for e in edges)])


@every_penalty
def test_slope_is_the_derivative_of_value(row):
    g, h = shape_of(row), 1e-5
    a = away_from_edges(row, h)
    numeric = (row.value(a + h, L1, g) - row.value(a - h, L1, g)) / (2 * h)
    np.testing.assert_allclose(row.slope(a, L1, g), numeric, atol=1e-8)


@every_penalty
def test_curvature_is_the_derivative_of_slope(row):
    g, h = shape_of(row), 1e-5
    a = away_from_edges(row, h)
    numeric = (row.slope(a + h, L1, g) - row.slope(a - h, L1, g)) / (2 * h)
    curvature, penalty = compiled(kernels.curvature), Penalty(row.kind, g)
    ours = [curvature(penalty, each, L1) for each in a]
    np.testing.assert_allclose(ours, numeric, atol=1e-8)


@every_penalty
def test_l1_is_the_slope_at_zero_and_value_starts_there(row):
    g = shape_of(row)
    assert row.value(np.zeros(1), L1, g)[0] == 0
    np.testing.assert_allclose(row.slope(np.array([1e-12]), L1, g), L1, rtol=1e-10)


@pytest.mark.parametrize("row", [row for row in ROWS if row.concavity])
def test_concavity_bounds_the_curvature(row):
    g = shape_of(row)
    bound = row.concavity(L1, g)
    for a in GRID[::10]:
        curvature = compiled(kernels.curvature)(Penalty(row.kind, g), a, L1)
        assert -curvature <= bound + 1e-12


@every_penalty
def test_steps_are_cut_where_pieces_meet(row):
    penalty = Penalty(row.kind, shape_of(row))
    for a in GRID[::100]:
        for step in (-7.0, -0.5, 0.5, 7.0):
            marks = np.array([0.0, *(edge * L1 for edge in EDGES.get(row.name, ()))])
            shares = (marks - a) / step
            expected = min([1.0, *shares[shares > 0]])
            share = compiled(kernels.share_to_edge)(penalty, a, step, L1)
            assert share == pytest.approx(expected)


@every_penalty
def test_compiled_formulas_agree_with_the_table(row):
    penalty = Penalty(row.kind, shape_of(row))
    value, slope = compiled(kernels.value), compiled(kernels.slope)
    for a in GRID[::40]:
        for l1 in (0.0, L1):
            expected = row.value(np.array([a]), np.array([l1]), penalty.shape)[0]
            assert value(penalty, a, l1) == pytest.approx(expected, abs=1e-15)
            expected = row.slope(np.array([a]), np.array([l1]), penalty.shape)[0]
            assert slope(penalty, a, l1) == pytest.approx(expected, abs=1e-15)


def test_codes_of_table_and_kernels_are_the_same():
    for row in ROWS:
        assert getattr(kernels, row.name.upper()) == row.kind


def test_logsum_alone_is_tied_to_the_spread_of_y():
    for row in ROWS:
        if row.gamma is not None:
            expected = 5 * row.gamma if row.name == "logsum" else row.gamma
            assert shaped(row, row.gamma, 5.0).shape == expected


def test_public_table_lists_every_penalty():
    table = penalties()
    assert list(table.index) == [row.name for row in ROWS]
    assert table.loc["SCAD", "gamma must exceed"] == 2
