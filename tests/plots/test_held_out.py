"""Observed against out-of-fold predictions."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from ncvpath.plots.held_out import MOST, plot_classes, plot_numbers

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [30, 5 * MOST])
def test_numbers_are_dots_about_a_diagonal(n):
    predicted = RNG.standard_normal(n)
    observed = predicted + RNG.standard_normal(n)
    ax = plot_numbers(Figure().subplots(), predicted, observed)
    dots, diagonal = ax.lines
    np.testing.assert_array_equal(dots.get_xydata(), np.c_[predicted, observed])
    np.testing.assert_array_equal(*diagonal.get_xydata().T)
    assert (dots.get_alpha() < 0.2) == (n > MOST)
    assert "held out" in ax.get_xlabel() and ax.get_ylabel() == "observed"


@pytest.mark.parametrize("face", ["white", "black"])
def test_classes_are_shares_of_their_rows(face):
    event = RNG.uniform(size=200) < 0.3
    predicted = np.where(event, 0.72, 0.11)
    ax = Figure().subplots(subplot_kw=dict(facecolor=face))
    plot_classes(ax, predicted, event, ("no", "yes"))
    heights = [patch.get_xy()[:, 1].max() for patch in ax.patches]
    np.testing.assert_allclose(heights, 1.0)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["no", "yes"]
    assert "probability of yes" in ax.get_xlabel() and ax.get_xlim() == (0, 1)
