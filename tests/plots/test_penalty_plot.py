"""The picture of the penalties: lines that are right, and names for them."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from ncvpath import plot_penalties
from ncvpath.kernels import threshold
from ncvpath.penalties import ROWS, shaped

KINDS = ("value", "slope", "threshold")
named = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def axes(width=8, height=5):
    return Figure(figsize=(width, height), layout="constrained").subplots()


def line(ax, row):
    """The points of one penalty, without gaps."""
    (found,) = [x for x in ax.lines if str(x.get_label()).split(",")[0] == row.name]
    x, y = found.get_data()
    return x[~np.isnan(x)], y[~np.isnan(x)]


@named
@pytest.mark.parametrize("what", ["value", "slope"])
def test_value_and_slope_are_those_of_the_table(what, row):
    x, y = line(plot_penalties(ax=axes(), what=what), row)
    np.testing.assert_allclose(y, getattr(row, what)(np.abs(x), 1.0, row.gamma or 0.0))
    assert x.min() == (0 if what == "slope" else -x.max())


@named
def test_the_solution_is_that_of_the_solver(row):
    z, b = line(plot_penalties(ax=axes(), what="threshold"), row)
    penalty = shaped(row, row.gamma, 1.0)
    exact = np.array([threshold(penalty, value, 1.0, 1.0, 1.0) for value in z])
    away = np.abs(b - exact) > 0.011  # two steps of the grid
    assert away.sum() <= 2  # at a jump both ends are as good


def test_lines_break_where_they_jump():
    ax = plot_penalties(ax=axes(), what="slope")
    gaps = {x.get_label(): np.isnan(x.get_ydata()).sum() for x in ax.lines}
    assert {name.split(",")[0] for name, count in gaps.items() if count} == {"capped"}
    ax = plot_penalties(ax=axes(), what="threshold", gamma={"logsum": 0.3})
    (logsum,) = [x for x in ax.lines if str(x.get_label()).startswith("logsum")]
    assert np.isnan(logsum.get_ydata()).sum() == 2


def test_all_three_share_the_axes_that_are_given():
    ax = axes(12, 4)
    assert plot_penalties(ax=ax) is ax
    assert [panel.get_xlabel() for panel in ax.child_axes] == ["b", "|b|", "z"]
    assert all(len(panel.lines) >= len(ROWS) for panel in ax.child_axes)
    assert not ax.axison and not ax.lines


@pytest.mark.parametrize("size", [(12, 4.4), (6.4, 4.8)])
def test_names_titles_and_panels_do_not_overlap(size):
    ax = plot_penalties(ax=axes(*size))
    ax.figure.draw_without_rendering()
    found = [ax.get_legend(), *(panel.title for panel in ax.child_axes)]
    found += [panel.xaxis.label for panel in ax.child_axes]
    boxes = [artist.get_window_extent() for artist in found]
    boxes += [panel.get_window_extent() for panel in ax.child_axes]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("what", ["all", *KINDS])
def test_every_penalty_is_named_with_its_gamma(what):
    ax = plot_penalties(ax=axes(), what=what, gamma={"mcp": 2, "SCAD": 2.5})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "lasso", "MCP, gamma = 2", "SCAD, gamma = 2.5", "logsum, gamma = 1",
        "capped, gamma = 2",
    ]


def test_penalties_are_drawn_in_different_colours():
    ax = plot_penalties(ax=axes(), what="value")
    assert len({x.get_color() for x in ax.lines[: len(ROWS)]}) == len(ROWS)


def test_without_axes_one_figure_is_opened():
    ax = plot_penalties()
    assert plt.get_fignums() == [ax.figure.number]
    assert len(ax.child_axes) == 3


@pytest.mark.parametrize(
    "keywords, message",
    [
        (dict(what="shape"), "what must be one of all, value, slope, threshold; got"),
        (dict(gamma=3), "gamma must be a mapping of penalty to gamma; got gamma=3"),
        (dict(gamma={"lasso": 3}), "gamma must be given for any of MCP, .*; got 'las"),
        (dict(gamma={"ridge": 3}), "gamma must be given for any of MCP, .*; got 'rid"),
        (dict(gamma={"MCP": 1}), "gamma must be greater than 1.0 for MCP; got gamma=1"),
    ],
)
def test_what_is_no_penalty_is_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        plot_penalties(**keywords)
    assert not plt.get_fignums()
