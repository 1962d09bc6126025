"""Pictures of a cross-validation: what is drawn, where, and what is refused."""

from itertools import combinations
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ncvpath import cv_ncvpath, load_diabetes
from ncvpath.plots.cv import plot_cv, shades
from ncvpath.plots.palette import LUMA
from ncvpath.results.measures import explained, words_of

CURVES = ("cve", "r2", "scale")
SIZE = 20


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def result(
    index_min=12, index_1se=6, zero=False, measure="mse", gammas=(2.0, 3.0, 5.0),
    alphas=(0.5, 1.0), size=SIZE, ratio=1e-2,
):
    """A cross-validation that nobody did; the best gamma and alpha come last."""
    lambdas = 4 * np.geomspace(1, ratio, size)
    if zero:
        lambdas[-1] = 0
    cve = 2 + (np.arange(size) - index_min) ** 2 / 50
    cvse = np.linspace(0.2, 0.4, size)
    return SimpleNamespace(
        lambdas=lambdas, cve=cve, cvse=cvse, r2=1 - cve / 5, null_error=5.0,
        measure=measure, words=words_of(measure), index_min=index_min,
        index_1se=index_1se,
        lambda_min=lambdas[index_min], lambda_1se=lambdas[index_1se],
        fit=SimpleNamespace(df=np.arange(size + 3)), gamma=gammas[-1], alpha=alphas[-1],
        grid=grid(lambdas, cve, cvse, gammas, alphas),
    )


def grid(lambdas, cve, cvse, gammas, alphas):
    """One row per gamma, alpha and lambda; errors fall from pair to pair."""
    pairs = [(gamma, alpha) for gamma in gammas for alpha in alphas]
    columns = {"lambda": lambdas, "cvse": cvse, "df": np.arange(lambdas.size)}
    return pd.concat(
        pd.DataFrame(columns | {"gamma": gamma, "alpha": alpha, "cve": cve - 0.1 * k})
        for k, (gamma, alpha) in enumerate(pairs)
    )


def plot(cv, **keywords):
    """The picture on axes without pyplot, laid out."""
    ax = Figure(figsize=(8, 5.2), layout="constrained").subplots()
    ax = plot_cv(cv, **{"ax": ax} | keywords)
    ax.figure.draw_without_rendering()
    return ax


def dots(ax):
    return ax.containers[0].lines[0].get_xydata()


def bars(ax):
    """Lower and upper end of each error bar."""
    segments = ax.containers[0].lines[2][0].get_segments()
    return np.array([segment[:, 1] for segment in segments])


def dashed(ax):
    """Where the dashed lines are."""
    return [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]


def words(ax):
    return [text.get_text() for text in ax.texts]


def assert_apart(ax):
    """No label on another, and none outside the picture."""
    boxes = [text.get_window_extent() for text in ax.texts]
    frame = ax.get_window_extent()
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


def top_axis(ax):
    (top,) = ax.child_axes
    return top.xaxis


# ---- along the path ----------------------------------------------------------------


def expected(cv, kind):
    return {
        "cve": (cv.cve, cv.cvse),
        "r2": (1 - cv.cve / 5, cv.cvse / 5),
        "scale": (np.sqrt(cv.cve), cv.cvse / (2 * np.sqrt(cv.cve))),
    }[kind]


@pytest.mark.parametrize("kind", CURVES)
def test_dots_have_bars_of_one_standard_error(kind):
    cv = result()
    ax = plot(cv, kind=kind)
    y, half = expected(cv, kind)
    np.testing.assert_allclose(dots(ax), np.column_stack([cv.lambdas, y]))
    np.testing.assert_allclose(bars(ax), np.column_stack([y - half, y + half]))


def test_the_error_is_drawn_unless_told():
    ax = plot(result())
    np.testing.assert_array_equal(dots(ax)[:, 1], result().cve)


def test_the_bar_of_scale_is_the_derivative_of_the_root():
    cv = result()
    low, high = bars(plot(cv, kind="scale")).T
    step = 1e-6 * cv.cvse
    slope = (np.sqrt(cv.cve + step) - np.sqrt(cv.cve - step)) / 2e-6
    np.testing.assert_allclose((high - low) / 2, slope, rtol=1e-5)


@pytest.mark.parametrize(
    "measure, kind, label",
    [
        ("mse", "cve", "Mean squared error (CV)"),
        ("mae", "cve", "Mean absolute error (CV)"),
        ("mse", "r2", "R squared (CV)"),
        ("mae", "r2", "Fraction of absolute error explained (CV)"),
        ("mse", "scale", "Estimated sigma (CV)"),
        ("deviance", "cve", "Deviance per observation (CV)"),
        ("deviance", "r2", "R squared (CV)"),
        ("class", "cve", "Misclassification (CV)"),
        ("brier", "cve", "Brier score (CV)"),
        ("auc", "cve", "AUC (CV)"),
        ("concordance", "cve", "Concordance (CV)"),
        ("pinball()", "cve", "pinball() (CV)"),
    ],
)
def test_the_vertical_axis_says_what_it_shows(measure, kind, label):
    assert plot(result(measure=measure), kind=kind).get_ylabel() == label


@pytest.mark.parametrize("log", [True, False])
def test_lambda_decreases_to_the_right_with_room_for_all_dots(log):
    cv = result()
    ax = plot(cv, log_lambda=log)
    left, right = ax.get_xlim()
    assert left > cv.lambdas[0] and right < cv.lambdas[-1]
    assert ax.get_xscale() == ("log" if log else "linear")
    assert ax.get_xlabel() == ("lambda (log scale)" if log else "lambda")


@pytest.mark.parametrize("width", [3, 4, 8])
@pytest.mark.parametrize("ratio", [0.05, 1e-2, 1e-5])
def test_ticks_do_not_overlap(width, ratio):
    ax = Figure(figsize=(width, 3), layout="constrained").subplots()
    plot(result(ratio=ratio), ax=ax)
    left, right = ax.get_xlim()
    shown = [t for t in ax.xaxis.get_major_ticks() if right <= t.get_loc() <= left]
    boxes = [tick.label1.get_window_extent() for tick in shown]
    assert boxes
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_top_axis_counts_nonzero_coefficients():
    cv = result()
    axis = top_axis(plot(cv))
    assert axis.get_label_text() == "nonzero coefficients"
    counts = [int(label.get_text()) for label in axis.get_ticklabels()]
    assert len(counts) >= 10
    np.testing.assert_allclose(axis.get_ticklocs(), cv.lambdas[counts])
    assert np.ptp(np.diff(np.log(axis.get_ticklocs()))) < 1.1 * np.log(100) / 19


@pytest.mark.parametrize("width", [3, 5, 12])
def test_counts_of_large_models_do_not_overlap(width):
    cv = result(size=100)
    cv.fit.df = 1000 + np.arange(103)
    ax = Figure(figsize=(width, 4), layout="constrained").subplots()
    plot_cv(cv, ax=ax)
    ax.figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in top_axis(ax).get_ticklabels()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert len(boxes) >= 3


# ---- the chosen lambdas ------------------------------------------------------------


def test_min_and_1se_are_marked():
    cv = result()
    ax = plot(cv)
    assert dashed(ax) == [cv.lambda_1se, cv.lambda_min]
    assert words(ax) == [f"1se: {cv.lambda_1se:.3g}", f"min: {cv.lambda_min:.3g}"]


@pytest.mark.parametrize("index", [0, 9, SIZE - 1])
def test_one_line_with_one_label_when_they_agree(index):
    ax = plot(result(index, index))
    assert dashed(ax) == [result().lambdas[index]]
    assert words(ax) == [f"min = 1se: {result().lambdas[index]:.3g}"]
    assert_apart(ax)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("width", [3, 8])
@pytest.mark.parametrize(
    "pair", [(1, 0), (10, 9), (SIZE - 1, SIZE - 2), (SIZE - 1, 0), (12, 6)]
)
def test_labels_do_not_overlap(pair, width, log):
    ax = Figure(figsize=(width, 3), layout="constrained").subplots()
    assert_apart(plot(result(*pair), ax=ax, log_lambda=log))


@pytest.mark.parametrize("kind", CURVES)
def test_labels_are_above_the_bars(kind):
    ax = plot(result(), kind=kind)
    highest = ax.transData.transform((1, bars(ax).max()))[1]
    assert all(text.get_window_extent().y0 > highest for text in ax.texts)


# ---- lambda 0 ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", CURVES)
def test_lambda_zero_is_left_out_of_a_log_axis(kind):
    cv = result(zero=True)
    ax = plot(cv, kind=kind)
    np.testing.assert_array_equal(dots(ax)[:, 0], cv.lambdas[:-1])
    assert ax.get_xlim()[1] > 0
    ax = plot(cv, kind=kind, log_lambda=False)
    np.testing.assert_array_equal(dots(ax)[:, 0], cv.lambdas)


def test_a_chosen_lambda_of_zero_is_named_without_a_line():
    cv = result(index_min=SIZE - 1, zero=True)
    ax = plot(cv)
    assert dashed(ax) == [cv.lambda_1se]
    assert words(ax)[1] == "min: 0 (not shown)"
    assert_apart(ax)
    ax = plot(cv, log_lambda=False)
    assert dashed(ax) == [cv.lambda_1se, 0]
    assert words(ax)[1] == "min: 0"


def test_one_positive_lambda_is_enough():
    assert len(dots(plot(result(0, 0, zero=True, size=2)))) == 1


# ---- gamma and alpha ---------------------------------------------------------------


def picture(ax):
    (image,) = ax.images
    return np.ma.filled(image.get_array(), np.nan)


def frame(ax):
    (found,) = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    return found


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_the_map_shows_the_smallest_error_of_each_pair():
    ax = plot(result(), kind="grid")
    expected = 2 - 0.1 * np.arange(6).reshape(3, 2)
    np.testing.assert_allclose(picture(ax), expected)
    assert words(ax) == [f"{value:.3f}" for value in expected.ravel()]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("alpha", "gamma")
    assert ticks(ax.xaxis) == ["0.5", "1"]
    assert ticks(ax.yaxis) == ["2", "3", "5"]


def test_the_winner_is_outlined():
    ax = plot(result(), kind="grid")
    assert frame(ax).get_xy() == (0.5, 1.5)
    cv = result()
    cv.gamma, cv.alpha = 3.0, 0.5
    assert frame(plot(cv, kind="grid")).get_xy() == (-0.5, 0.5)


@pytest.mark.parametrize("maximised", [False, True])
def test_colours_fit_the_background(maximised):
    """The best stands out, and nothing glares."""
    best = 1.0 if maximised else 0.0
    with plt.style.context("dark_background"):
        colours = shades(plt.figure().subplots(), maximised)
    light = colours(np.linspace(0, 1, 20))[:, :3] @ LUMA
    assert light.max() < 0.6 and colours(best)[:3] @ np.array(LUMA) == light.max()
    with plt.style.context("default"):
        name = shades(plt.figure().subplots(), maximised)
    assert plt.get_cmap(name)(best)[:3] @ np.array(LUMA) < 0.3


@pytest.mark.parametrize("measure, name", [("mse", "squared"), ("mae", "absolute")])
def test_the_colours_are_explained(measure, name):
    ax = plot(result(measure=measure), kind="grid")
    _, bar = ax.figure.axes
    assert bar.get_ylabel() == f"Mean {name} error (CV),\nsmallest over lambda"


ONE_VARIES = {
    "gamma": dict(gammas=(2.0, 3.0, 5.0), alphas=(1.0,)),
    "alpha": dict(gammas=(3.0,), alphas=(0.2, 0.5, 1.0)),
    "alpha of the lasso": dict(gammas=(np.nan,), alphas=(0.2, 0.5, 1.0)),
}


@pytest.mark.parametrize("values", ONE_VARIES.values(), ids=ONE_VARIES.keys())
def test_one_that_varies_is_mapped_against_lambda(values):
    cv = result(**values)
    ax = plot(cv, kind="grid", ax=None)
    name = "gamma" if len(values["gammas"]) > 1 else "alpha"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lambda (log scale)", name)
    assert ticks(ax.yaxis) == [f"{value:g}" for value in values[f"{name}s"]]
    assert ax.xaxis_inverted() and ax.get_ylim() == (-0.5, 2.5)
    meshes = [c for c in ax.collections if isinstance(c, QuadMesh)]
    for k, mesh in enumerate(meshes):
        np.testing.assert_allclose(np.ravel(mesh.get_array()), cv.cve - 0.1 * k)
        across = np.asarray(mesh.get_coordinates())[0, :, 0]
        assert (across[:-1] > cv.lambdas).all() and (across[1:] < cv.lambdas).all()
    assert len(meshes) == 3


def best_dots(ax):
    """Place of each dot, and whether it is filled."""
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    places = [tuple(np.ravel(line.get_data())) for line in dots]
    return places, [line.get_markerfacecolor() != "none" for line in dots]


def test_each_row_has_a_dot_at_its_best_and_the_winner_a_full_one():
    cv = result(**ONE_VARIES["gamma"])
    places, filled = best_dots(plot(cv, kind="grid"))
    assert places == [(cv.lambda_min, k) for k in range(3)]
    assert filled == [False, False, True]


@pytest.mark.parametrize("alphas", [(1.0,), (0.5, 1.0)])
def test_colours_are_standard_errors_from_the_best(alphas):
    """A map of noise looked like one of differences."""
    cv = result(zero=True, gammas=(2.0, 3.0, 5.0), alphas=alphas)
    ax = plot(cv, kind="grid")
    k = cv.grid["cve"].to_numpy().argmin()
    best, unit = cv.grid["cve"].iloc[k], cv.grid["cvse"].iloc[k]
    (drawn, *_) = [*ax.collections, *ax.images]
    assert (drawn.norm.vmin, drawn.norm.vmax) == pytest.approx((best, best + 4 * unit))
    _, bar = ax.figure.axes
    assert ticks(bar.yaxis) == [f"{best:.4g}", "+1 se", "+2", "+3", "+4"]
    if len(alphas) == 1:
        assert ax.get_xlim()[1] > 0


@pytest.mark.parametrize("unit", [0.0, np.nan])
def test_without_a_standard_error_colours_span_all_errors(unit):
    cv = result(gammas=(2.0, 3.0), alphas=(1.0,))
    cv.grid["cvse"] = unit
    norm = plot(cv, kind="grid").collections[0].norm
    assert (norm.vmin, norm.vmax) == (cv.grid["cve"].min(), cv.grid["cve"].max())


def test_a_map_of_a_single_lambda_has_a_cell_around_it():
    cv = result(**ONE_VARIES["gamma"])
    only = cv.grid["lambda"].max()
    cv.grid = cv.grid[cv.grid["lambda"] == only]
    left, right = sorted(plot(cv, kind="grid").get_xlim())
    assert left < only < right


def test_a_map_against_lambda_needs_one_above_zero():
    cv = result(**ONE_VARIES["gamma"])
    cv.grid["lambda"] = 0.0
    with pytest.raises(ValueError, match="needs a lambda above 0"):
        plot_cv(cv, kind="grid")
    assert not plt.get_fignums()


@pytest.mark.parametrize("kind", [*CURVES, "grid"])
def test_everything_can_be_seen_on_dark_axes(kind):
    ax = Figure(facecolor="black").subplots(subplot_kw=dict(facecolor="black"))
    plot(result(**ONE_VARIES["gamma"]), ax=ax, kind=kind)
    drawn = [text.get_color() for text in ax.texts]
    drawn += [line.get_color() for line in ax.lines]
    if kind != "grid":
        drawn += list(ax.containers[0].lines[2][0].get_colors())
    assert drawn and min(np.dot(to_rgba(c)[:3], LUMA) for c in drawn) > 0.35


def test_a_pair_that_was_not_tried_stays_empty():
    cv = result()
    cv.grid = cv.grid[(cv.grid.gamma != 2) | (cv.grid.alpha != 1)]
    ax = plot(cv, kind="grid")
    assert np.argwhere(np.isnan(picture(ax))).tolist() == [[0, 1]]
    assert len(ax.texts) == 5


@pytest.mark.parametrize("width", [4, 8])
def test_values_can_be_read_in_large_maps(width):
    cv = result(gammas=tuple(range(2, 9)), alphas=tuple(np.arange(1, 11) / 10))
    ax = Figure(figsize=(width, 4), layout="constrained").subplots()
    assert_apart(plot(cv, kind="grid", ax=ax))
    assert {text.get_color() for text in ax.texts} == {"white", "black"}
    darkest = ax.texts[np.argmin(picture(ax))]
    assert to_rgba(darkest.get_color()) == to_rgba("white")


# ---- refusals and manners ----------------------------------------------------------


@pytest.mark.parametrize("kind", ["error", None, 3, ["cve"]])
def test_an_unknown_kind_is_refused(kind):
    message = "kind must be one of cve, r2, scale, grid; got kind="
    with pytest.raises(ValueError) as caught:
        plot_cv(result(), kind=kind)
    assert str(caught.value) == message + repr(kind)
    assert not plt.get_fignums()


@pytest.mark.parametrize("measure", ["class", "auc", "pinball()"])
def test_r2_needs_a_share_of_something(measure):
    with pytest.raises(ValueError, match='needs measure="mse", "mae" or "deviance"'):
        plot_cv(result(measure=measure), kind="r2")
    assert not plt.get_fignums()


def test_bars_of_explained_deviance_follow_the_curve():
    cv = result(measure="deviance")
    cv.r2 = explained("deviance", cv.cve, cv.null_error)
    low, high = bars(plot(cv, kind="r2")).T
    step = 1e-6 * cv.cvse
    ends = (explained("deviance", cv.cve + sign * step, 5.0) for sign in (-1, 1))
    slope = np.subtract(*ends) / 2e-6
    np.testing.assert_allclose((high - low) / 2, slope, rtol=1e-5)


@pytest.mark.parametrize("alphas", [(1.0,), (0.5, 1.0)])
def test_of_what_is_maximised_the_largest_is_the_darkest(alphas):
    cv = result(measure="auc", alphas=alphas)
    cv.cve, cv.grid["cve"], cv.null_error = 1 - cv.cve / 8, 1 - cv.grid["cve"] / 8, 0.5
    ax = plot(cv, kind="grid")
    picture, bar = ax.figure.axes
    assert bar.get_ylabel().startswith("AUC (CV)")
    assert "Blues" in {image.cmap.name for image in (*ax.collections, *ax.images)}
    if len(alphas) == 1:
        best = cv.grid[cv.grid["gamma"] == 5.0]
        dots = [line for line in ax.lines if line.get_label().startswith("chosen")]
        assert dots[0].get_xdata()[0] == best["lambda"].iloc[best["cve"].argmax()]
    else:
        assert bar.get_ylabel().endswith("largest over lambda")


def test_scale_needs_squared_errors():
    with pytest.raises(ValueError, match="needs measure=\"mse\"; got measure='mae'"):
        plot_cv(result(measure="mae"), kind="scale")
    assert not plt.get_fignums()


@pytest.mark.parametrize("gamma", [3.0, np.nan])
def test_a_map_of_one_pair_is_refused(gamma):
    cv = result(gammas=(gamma,), alphas=(1.0,))
    with pytest.raises(ValueError, match="needs several values of gamma or alpha"):
        plot_cv(cv, kind="grid")
    assert not plt.get_fignums()


def test_one_lambda_is_refused():
    with pytest.raises(ValueError, match="at least 2 lambdas; got 1"):
        plot_cv(result(0, 0, size=1))
    assert not plt.get_fignums()


@pytest.mark.parametrize("kind", [*CURVES, "grid"])
def test_axes_that_are_given_are_used_and_stay_as_current_as_they_were(kind):
    figure, axes = plt.subplots(1, 2)
    plt.sca(axes[0])
    assert plot_cv(result(), ax=axes[1], kind=kind) is axes[1]
    assert axes[1].has_data() and not axes[0].has_data()
    assert plt.gca() is axes[0]
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("kind", [*CURVES, "grid"])
def test_without_axes_one_figure_is_opened_and_its_axes_are_current(kind):
    ax = plot_cv(result(), kind=kind)
    assert plt.get_fignums() == [ax.figure.number]
    assert plt.gca() is ax


def test_a_best_lambda_of_zero_is_told_and_not_shown():
    X, y = load_diabetes()
    cv = cv_ncvpath(X, y, alpha=[0.5, 1], lambdas=[20, 10, 5, 1, 0], random_state=1)
    assert cv.lambda_min == 0
    ax = cv.plot(kind="grid")
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"chosen: alpha={cv.alpha:g}, lambda=0 (not shown)" in words
    assert all(line.get_xdata().size == 0 for line in ax.lines)
