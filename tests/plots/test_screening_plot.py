"""The picture of the work: what is drawn, and where."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from ncvpath import load_diabetes, ncvpath, simulate

LINES = {
    "checked": "checked", "certified": "certified", "working_set": "working set",
    "strong": "strong",
}


@pytest.fixture(scope="module")
def path():
    X, y, _ = simulate(60, 2500, random_state=2)
    return ncvpath(X, y, nlambda=40)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def plot(path):
    ax = Figure(figsize=(8, 5), layout="constrained").subplots()
    ax = path.plot_screening(ax=ax)
    ax.figure.draw_without_rendering()
    return ax


def test_each_count_has_its_line(path):
    lines = {line.get_label(): line for line in plot(path).lines}
    for column, label in LINES.items():
        x, y = lines[label].get_data()
        np.testing.assert_array_equal(x, path.lambdas)
        np.testing.assert_array_equal(y, path.screening[column])


def test_lambda_decreases_to_the_right_and_none_has_its_place(path):
    ax = plot(path)
    assert ax.xaxis_inverted() and ax.get_xscale() == "log"
    assert ax.get_xlabel() == "lambda (log scale)"
    assert ax.get_yscale() == "symlog" and ax.get_ylabel() == "features"
    low, high = ax.get_ylim()
    assert low < 0 and high > max(path.p, path.screening["checked"].max())
    (top,) = ax.child_axes
    assert top.get_xlabel() == "nonzero coefficients"


def test_lines_are_named_at_their_ends_in_their_colours(path):
    ax = plot(path)
    names = {text.get_text(): text.get_color() for text in ax.texts}
    assert list(names) == [*LINES.values(), "all 2,500"]
    for line in ax.lines[:4]:
        assert names[line.get_label()] == line.get_color()
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(box.x0 >= ax.get_window_extent().x1 for box in boxes)


def test_all_features_are_a_line_across(path):
    across = [line for line in plot(path).lines if line.get_linestyle() == ":"]
    assert [set(line.get_ydata()) for line in across] == [{path.p}]


def test_lambda_zero_is_left_out():
    path = ncvpath(*load_diabetes(), nlambda=10, lambda_min_ratio=0)
    assert plot(path).lines[0].get_xdata().size == 9


def test_a_path_without_a_course_is_refused():
    path = ncvpath(*load_diabetes(), lambdas=[10.0, 0.0])
    with pytest.raises(ValueError, match="at least 2 positive lambdas; got 1"):
        path.plot_screening()
    assert not plt.get_fignums()


def test_without_axes_one_figure_is_opened(path):
    ax = path.plot_screening()
    assert plt.get_fignums() == [ax.figure.number]
    assert plt.gca() is ax
