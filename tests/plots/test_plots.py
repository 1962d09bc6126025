"""Pictures: what is drawn, where, and that nothing else is touched."""

from dataclasses import replace
from itertools import combinations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from ncvpath import cv_ncvpath, load_diabetes, ncvpath, simulate
from ncvpath.plots.axes import shortened
from ncvpath.plots.palette import BRIGHT, HUES

FRAME, RESPONSE = load_diabetes()
XVARS = ("lambda", "norm", "dev")


@pytest.fixture(scope="module")
def path():
    return ncvpath(FRAME, RESPONSE, nlambda=40)


@pytest.fixture(scope="module")
def wide():
    """More features than observations, and more than fifty lines."""
    X, y, _ = simulate(80, 300, nonzero=30, random_state=5)
    return ncvpath(X, y, penalty="lasso", nlambda=40)


@pytest.fixture(scope="module")
def to_zero():
    return ncvpath(FRAME, RESPONSE, nlambda=20, lambda_min_ratio=0)


@pytest.fixture(autouse=True)
def close_figures(monkeypatch):
    def show(*_, **__):
        raise AssertionError("a library never shows")

    monkeypatch.setattr(plt, "show", show)
    yield
    plt.close("all")


def heights(path):
    """What is drawn unless told: coefficients per standard deviation, p x L."""
    return np.asarray(path.beta.toarray() * path.spread[:, None])


def plot(path, **keywords):
    """The picture on axes without pyplot, as a notebook gets it."""
    figure = Figure(figsize=(8, 5.2), layout="constrained")
    return path.plot(**{"ax": figure.subplots()} | keywords)


def drawn(ax):
    """All lines of the picture, each an array of points."""
    found = [c for c in ax.collections if isinstance(c, LineCollection)]
    return [line for collection in found for line in collection.get_segments()]


def end_labels(ax):
    """The names at the right end, in the order they were written."""
    return [text.get_text() for text in ax.texts]


def boxes(texts):
    """Where texts are, in pixels, without the lines that lead to them."""
    return [Text.get_window_extent(text) for text in texts]


def assert_apart(texts):
    for one, other in combinations(boxes(texts), 2):
        assert not one.overlaps(other)


def region(ax):
    """Left and right end of the shaded region, in data, or None."""
    spans = [p for p in ax.patches if p.get_label() == "nonconvex region"]
    if not spans:
        return None
    corners = spans[0].get_path().transformed(spans[0].get_patch_transform()).vertices
    return corners[:, 0].min(), corners[:, 0].max()


def top_axis(ax):
    """The axis along the top, twin or secondary, by what it says."""
    others = [*ax.figure.axes, *ax.child_axes]
    return next(a for a in others if a.get_xlabel() == "nonzero coefficients").xaxis


def top_ticks(ax):
    """Position in pixels and text of the ticks along the top."""
    ax.figure.draw_without_rendering()
    axis = top_axis(ax)
    places = axis.axes.transData.transform([(x, 0) for x in axis.get_ticklocs()])[:, 0]
    return places, [label.get_text() for label in axis.get_ticklabels()]


def pixels(ax, x):
    return ax.transData.transform(np.column_stack([x, np.zeros_like(x)]))[:, 0]


def horizontal(path, xvar):
    return {
        "lambda": path.lambdas,
        "norm": np.abs(heights(path)).sum(axis=0),
        "dev": path.dev_ratio,
    }[xvar]


# ---- lines and axes ----------------------------------------------------------------


@pytest.mark.parametrize("xvar", XVARS)
def test_every_feature_that_enters_has_its_line(xvar, path):
    lines = drawn(plot(path, xvar=xvar))
    expected = [b for b in heights(path) if b.any()]
    found = sorted((line[:, 1] for line in lines), key=tuple)
    np.testing.assert_allclose(found, sorted(expected, key=tuple), rtol=1e-12)
    for line in lines:
        np.testing.assert_allclose(line[:, 0], horizontal(path, xvar))


def test_lines_beyond_fifty_are_all_drawn(wide):
    assert len(drawn(plot(wide))) == np.count_nonzero(wide.beta.toarray().any(axis=1))


@pytest.mark.parametrize("log", [True, False])
def test_lambda_decreases_to_the_right(log, path):
    ax = plot(path, log=log)
    assert ax.xaxis_inverted()
    assert ax.get_xscale() == ("log" if log else "linear")
    assert ax.get_xlim() == pytest.approx((path.lambdas[0], path.lambdas[-1]))
    assert "lambda" in ax.get_xlabel()
    assert ("log" in ax.get_xlabel()) == log
    assert ax.get_ylabel() == "coefficient per standard deviation"


@pytest.mark.parametrize("xvar, words", [("norm", "norm"), ("dev", "deviance")])
def test_norm_and_deviance_increase_to_the_right(xvar, words, path):
    ax = plot(path, xvar=xvar)
    x = horizontal(path, xvar)
    assert not ax.xaxis_inverted()
    assert ax.get_xscale() == "linear"
    assert ax.get_xlim() == pytest.approx((x.min(), x.max()))
    assert words in ax.get_xlabel()


def test_all_coefficients_and_zero_are_within_view(path):
    low, high = plot(path).get_ylim()
    beta = heights(path)
    assert low < min(beta.min(), 0) and high > max(beta.max(), 0)


def test_lambda_zero_is_left_out_of_a_log_axis(to_zero):
    ax = plot(to_zero)
    assert all(line.shape[0] == 19 for line in drawn(ax))
    assert ax.get_xlim()[1] == pytest.approx(to_zero.lambdas[-2])
    ax = plot(to_zero, log=False)
    assert all(line.shape[0] == 20 for line in drawn(ax))
    assert ax.get_xlim()[1] == 0


@pytest.mark.parametrize("xvar", XVARS)
@pytest.mark.parametrize("lambdas", [[90.0, 80.0], [10.0, 0.0]])
def test_paths_with_little_to_show_are_drawn_without_a_warning(xvar, lambdas):
    ax = plot(ncvpath(FRAME, RESPONSE, lambdas=lambdas), xvar=xvar)
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("xvar", ["loglambda", None, 3])
def test_an_unknown_xvar_is_refused(xvar, path):
    with pytest.raises(ValueError, match="xvar must be one of lambda, norm, dev"):
        path.plot(xvar=xvar)
    assert not plt.get_fignums()


def test_a_path_of_one_lambda_is_refused():
    with pytest.raises(ValueError, match="at least 2 lambdas; got 1"):
        ncvpath(FRAME, RESPONSE, nlambda=1).plot()
    assert not plt.get_fignums()


# ---- names -------------------------------------------------------------------------


def largest(path, count, k=-1):
    beta = np.abs(heights(path)[:, k])
    order = np.argsort(-beta, kind="stable")[:count]
    return {path.feature_names[j] for j in order if beta[j] > 0}


@pytest.mark.parametrize("label", [0, 1, 3, 10, 25])
def test_the_largest_at_the_right_end_are_named(label, path, wide):
    for fitted in (path, wide):
        names = end_labels(plot(fitted, label=label))
        assert len(names) == len(set(names))
        assert set(names) == largest(fitted, label)


def test_ten_are_named_unless_told(wide):
    assert len(end_labels(plot(wide))) == 10


def test_the_right_end_is_the_last_lambda_that_is_shown(to_zero):
    assert set(end_labels(plot(to_zero, label=4))) == largest(to_zero, 4, k=-2)
    assert set(end_labels(plot(to_zero, label=4, log=False))) == largest(to_zero, 4)


@pytest.mark.parametrize("label", ["all", 2.5, None])
def test_a_label_that_is_no_count_is_refused(label, path):
    with pytest.raises(ValueError, match="label must be"):
        plot(path, label=label)


FIGURES = {
    "own figure": lambda: None,
    "notebook": lambda: Figure(figsize=(7, 4.5), layout="constrained").subplots(),
    "default axes": lambda: plt.subplots()[1],
    "constrained": lambda: plt.subplots(layout="constrained")[1],
    "with a title": lambda: titled(plt.subplots(layout="constrained")[1]),
    "the upper of two": lambda: plt.subplots(2, 1, figsize=(7, 9))[1][0],
}


def titled(ax):
    ax.set_title("Paths\nof\ncoefficients", fontsize=20)
    return ax


@pytest.mark.parametrize("axes", FIGURES.values(), ids=FIGURES.keys())
def test_names_do_not_overlap(axes, path, wide):
    for fitted in (path, wide):
        ax = plot(fitted, ax=axes())
        ax.figure.draw_without_rendering()
        assert len(ax.texts) > 5
        assert_apart(ax.texts)


def test_names_are_in_the_order_of_their_lines_right_of_the_picture(path):
    ax = plot(path)
    ax.figure.draw_without_rendering()
    right = ax.get_window_extent().x1
    places = boxes(ax.texts)
    height = {name: place.y0 for name, place in zip(end_labels(ax), places)}
    ends = dict(zip(path.feature_names, heights(path)[:, -1]))
    names = sorted(height, key=height.get)
    assert names == sorted(height, key=ends.get)
    assert all(place.x0 >= right for place in places)


def test_each_name_has_the_colour_of_its_line(path):
    ax = plot(path, label=5)
    ends = dict(zip(path.feature_names, heights(path)[:, -1]))
    colours = {
        line[-1, 1]: tuple(colour)
        for collection in ax.collections
        for line, colour in zip(collection.get_segments(), collection.get_colors())
    }
    for text in ax.texts:
        expected = matplotlib.colors.to_rgb(text.get_color())
        assert colours[ends[text.get_text()]][:3] == pytest.approx(expected)


def test_names_with_dollars_are_written_as_they_are():
    names = ["$_$", "cost$", "a$b$", *"defghij"]
    path = ncvpath(FRAME.to_numpy(), RESPONSE, nlambda=10, feature_names=names)
    ax = plot(path)
    ax.figure.draw_without_rendering()
    assert not any(text.get_parse_math() for text in ax.texts if "$" in text.get_text())


# ---- the top axis ------------------------------------------------------------------


@pytest.mark.parametrize(
    "keywords",
    [dict(), dict(log=False), dict(xvar="norm"), dict(xvar="dev")],
    ids=["log lambda", "lambda", "norm", "dev"],
)
def test_the_top_axis_counts_nonzero_coefficients(keywords, path):
    ax = plot(path, **keywords)
    places, texts = top_ticks(ax)
    assert len(texts) >= 4
    grid = pixels(ax, horizontal(path, keywords.get("xvar", "lambda")))
    for place, text in zip(places, texts):
        near = np.abs(grid - place) < 1e-6 * max(abs(place), 1)
        assert int(text) in path.df[near]


def test_ticks_on_the_top_axis_do_not_overlap(path, wide):
    for fitted in (path, wide):
        ax = plot(fitted)
        ax.figure.draw_without_rendering()
        assert_apart(top_axis(ax).get_ticklabels())


def test_the_top_axis_follows_when_the_limits_change(path):
    ax = plot(path)
    ax.set_xlim(20, 1)
    places, texts = top_ticks(ax)
    grid = pixels(ax, path.lambdas)
    for place, text in zip(places, texts):
        k = int(np.argmin(np.abs(grid - place)))
        assert grid[k] == pytest.approx(place, abs=0.01)
        assert int(text) == path.df[k]


# ---- the shaded region -------------------------------------------------------------


@pytest.mark.parametrize("xvar", XVARS)
def test_the_region_runs_from_convex_min_to_the_end(xvar, path):
    assert path.convex_min is not None
    x = horizontal(path, xvar)
    edge = x[path.convex_min]
    expected = (x[-1], edge)
    if xvar != "lambda":  # beyond every model before, though the norm may fall again
        expected = (x[: path.convex_min + 1].max(), x.max())
    assert region(plot(path, xvar=xvar)) == pytest.approx(expected)


def test_the_region_ends_at_the_smallest_lambda_that_is_shown(to_zero):
    edge = to_zero.lambdas[to_zero.convex_min]
    assert region(plot(to_zero)) == pytest.approx((to_zero.lambdas[-2], edge))
    assert region(plot(to_zero, log=False)) == pytest.approx((0, edge))


def test_the_region_is_explained_and_behind_the_lines(path):
    ax = plot(path)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["nonconvex region"]
    span = next(p for p in ax.patches if p.get_label() == "nonconvex region")
    assert all(span.get_zorder() < c.get_zorder() for c in ax.collections)


@pytest.mark.parametrize(
    "fit, keywords",
    [
        (dict(), dict(shade=False)),
        (dict(convex=False), dict()),
        (dict(penalty="lasso"), dict()),
    ],
    ids=["shade=False", "convex=False", "lasso"],
)
def test_nothing_is_shaded_unless_there_is_a_region_to_shade(fit, keywords):
    ax = plot(ncvpath(FRAME, RESPONSE, nlambda=20, **fit), **keywords)
    assert region(ax) is None
    assert ax.get_legend() is None


# ---- marks -------------------------------------------------------------------------


def dashed(ax):
    """Where the dashed lines are."""
    return [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]


def mark_words(ax):
    return [text.get_text() for text in ax.texts if ": " in text.get_text()]


def test_nothing_is_marked_unless_told(path):
    assert dashed(plot(path)) == [] == mark_words(plot(path))


MARKS = {
    "a lambda": (lambda path: 5, lambda path: [(5, "lambda")]),
    "a criterion": (lambda path: "bic", lambda path: [(path.select("bic"), "BIC")]),
    "several": (
        lambda path: ["ebic", 2.5], lambda path: [(path.select("ebic"), "EBIC"),
                                                  (2.5, "lambda")],
    ),
    "by name": (
        lambda path: {"mine": 7.0, "theirs": "aic"},
        lambda path: [(7.0, "mine"), (path.select("aic"), "theirs")],
    ),
    "the first": (
        lambda path: path.lambdas[0], lambda path: [(path.lambdas[0], "lambda")],
    ),
}


@pytest.mark.parametrize("mark, expected", MARKS.values(), ids=MARKS.keys())
def test_marks_are_lines_with_labels(mark, expected, path):
    ax = plot(path, mark=mark(path))
    found = expected(path)
    assert dashed(ax) == pytest.approx([lam for lam, _ in found])
    assert mark_words(ax) == [f"{name}: {lam:.3g}" for lam, name in found]


def test_a_cross_validation_marks_its_two_lambdas():
    cv = cv_ncvpath(FRAME, RESPONSE, nlambda=40, nfolds=5, random_state=1)
    assert cv.index_1se < cv.index_min
    ax = plot(cv.fit, mark=cv)
    assert dashed(ax) == pytest.approx([cv.lambda_1se, cv.lambda_min])
    assert [words.split(":")[0] for words in mark_words(ax)] == ["1se", "min"]


def test_marks_that_agree_share_a_line(path):
    ax = plot(path, mark={"one": 4.0, "two": 4.0, "other": 3.0})
    assert dashed(ax) == [4.0, 3.0]
    assert mark_words(ax) == ["one = two: 4", "other: 3"]


@pytest.mark.parametrize("xvar", ["norm", "dev"])
def test_marks_lie_on_the_lines_on_every_axis(xvar, path):
    k, x = 17, horizontal(path, xvar)
    between = (path.lambdas[k] + path.lambdas[k + 1]) / 2
    ax = plot(path, xvar=xvar, mark=[path.lambdas[k], between])
    assert dashed(ax) == pytest.approx([x[k], (x[k] + x[k + 1]) / 2])


@pytest.mark.parametrize("shade", [True, False])
@pytest.mark.parametrize("mark", [None, "bic"])
def test_all_rows_of_the_legend_have_room_above_the_lines(shade, mark, path):
    """That of another walk was written over them."""
    walk = np.arange(path.lambdas.size) % 2
    searched = replace(path, work=path.work | {"walk": walk})
    ax = plot(searched, shade=shade, mark=mark)
    ax.figure.draw_without_rendering()
    rows = ax.get_legend().get_texts()
    wanted = ["nonconvex region"] * shade + ["another walk"]
    assert [text.get_text() for text in rows] == wanted
    highest = ax.transData.transform((1, heights(path).max()))[1]
    assert min(box.y0 for box in boxes(rows)) > highest
    assert_apart([*ax.texts, *rows])


def test_a_mark_at_zero_has_no_line_on_a_log_axis(to_zero):
    ax = plot(to_zero, mark={"least squares": 0.0})
    assert dashed(ax) == []
    assert mark_words(ax) == ["least squares: 0 (not shown)"]
    assert dashed(plot(to_zero, mark=0.0, log=False)) == [0.0]


@pytest.mark.parametrize("width", [4, 8])
def test_labels_of_marks_touch_neither_lines_nor_names_nor_the_legend(width, path):
    ax = Figure(figsize=(width, 5), layout="constrained").subplots()
    plot(path, ax=ax, mark=["aic", "bic", 20, path.lambdas[-1]])
    ax.figure.draw_without_rendering()
    assert_apart([*ax.texts, *ax.get_legend().get_texts()])
    marked = [text for text in ax.texts if ": " in text.get_text()]
    highest = ax.transData.transform((1, heights(path).max()))[1]
    assert all(box.y0 > highest for box in boxes(marked))
    assert len(marked) >= 3


@pytest.mark.parametrize(
    "mark, message",
    [
        ("cp", "mark must be one of aic, bic, ebic; got mark='cp'"),
        (1e6, "mark must be at most .* a lambda of the path; got mark=1000000.0"),
        (1e-9, "mark must be at least .* a lambda of the path; got mark=1e-09"),
        ({"x": None}, "mark must be a number, a lambda of the path; got mark=None"),
    ],
)
def test_marks_that_are_no_lambda_of_the_path_are_refused(mark, message, path):
    with pytest.raises(ValueError, match=message):
        path.plot(mark=mark)
    assert not plt.get_fignums()


# ---- colours -----------------------------------------------------------------------


def colour_of(ax):
    return {text.get_text(): text.get_color() for text in ax.texts}


def test_a_feature_keeps_its_colour_from_picture_to_picture(path):
    other = ncvpath(FRAME, RESPONSE, penalty="lasso", nlambda=30)
    first = colour_of(plot(path))
    assert colour_of(plot(path, xvar="dev")) == first
    assert colour_of(plot(other)) == first
    assert len(set(first.values())) == len(first) == 10


@pytest.mark.parametrize("label", [4, len(HUES)])
def test_named_lines_differ_in_colour(label, wide):
    assert len(set(colour_of(plot(wide, label=label)).values())) == label


def test_names_follow_a_colour_of_the_user(path):
    assert set(colour_of(plot(path, color="red")).values()) == {"red"}


def luminance(colour):
    return np.dot(matplotlib.colors.to_rgb(colour), (0.299, 0.587, 0.114))


def dark_axes(how):
    if how == "style":
        with plt.style.context("dark_background"):
            return plt.subplots()[1]
    if how == "axes":
        return Figure().subplots(subplot_kw=dict(facecolor="#101020"))
    return Figure(facecolor="black").subplots(subplot_kw=dict(facecolor="none"))


@pytest.mark.parametrize("how", ["style", "axes", "figure"])
def test_everything_can_be_seen_on_dark_axes(how, path, wide):
    for fitted in (path, wide):
        ax = plot(fitted, ax=dark_axes(how), mark="bic")
        texts = [*ax.texts, *(ax.get_legend().get_texts() if ax.get_legend() else ())]
        drawn = [text.get_color() for text in texts]
        drawn += [line.get_color() for line in ax.lines]
        drawn += [c for lines in ax.collections for c in lines.get_colors()]
        assert min(map(luminance, drawn)) > 0.3
        assert {text.get_color() for text in ax.texts if text.arrow_patch} <= {*BRIGHT}
    shading = next(p for p in plot(path, ax=dark_axes(how)).patches if p.get_label())
    assert 0.05 < luminance(shading.get_facecolor()) < 0.3


# ---- a crowd -----------------------------------------------------------------------


@pytest.fixture
def crowd(monkeypatch):
    """Pictures of more lines than anyone will draw one by one."""
    monkeypatch.setattr("ncvpath.plots.path.CROWD", 60)


@pytest.mark.parametrize("xvar", XVARS)
def test_a_crowd_is_an_image_behind_the_named_lines(xvar, wide, crowd):
    ax = plot(wide, xvar=xvar)
    (image,), lines = ax.images, drawn(ax)
    assert len(lines) == 10
    assert image.get_zorder() < ax.collections[0].get_zorder()
    x, beta = horizontal(wide, xvar), heights(wide)
    expected = (*ax.get_xlim(), beta.min(), beta.max())
    assert tuple(image.get_extent()) == pytest.approx(expected)
    assert sorted(ax.get_xlim()) == pytest.approx([x.min(), x.max()])


@pytest.mark.parametrize("xvar", XVARS)
def test_every_line_passes_through_the_image_of_its_crowd(xvar, wide, crowd):
    ax = plot(wide, xvar=xvar)
    pixels = np.asarray(ax.images[0].get_array())[..., 3]
    left, right, low, high = ax.images[0].get_extent()
    place = ax.xaxis.get_transform().transform
    share = (place(horizontal(wide, xvar)) - place(left)) / (place(right) - place(left))
    beta = heights(wide)
    for k in range(1, share.size - 1):
        values = beta[beta[:, k] != 0, k]
        rows = np.minimum((values - low) / (high - low) * pixels.shape[0], 479)
        assert (pixels[rows.astype(int), int(share[k] * pixels.shape[1])] > 0).all()


def test_options_reach_a_crowd(wide, crowd):
    (image,) = plot(wide, color="red", alpha=0.5, zorder=1.5).images
    values = np.asarray(image.get_array())
    np.testing.assert_array_equal(values[0, 0, :3], (1, 0, 0))
    assert values[..., 3].max() == pytest.approx(0.5)
    assert image.get_zorder() == 1.5
    with pytest.raises((AttributeError, TypeError), match="flavour"):
        plot(wide, flavour="sweet")


# ---- small things that were ugly ---------------------------------------------------


def test_long_names_lose_their_middle():
    names = [f"a_very_long_measurement_number_{k}" for k in range(10)]
    path = ncvpath(FRAME.to_numpy(), RESPONSE, nlambda=10, feature_names=names)
    shown = end_labels(plot(path, label=3))
    assert all(len(name) < 30 and "..." in name for name in shown)
    assert len(set(shown)) == 3


@pytest.mark.parametrize("width", [3, 8])
@pytest.mark.parametrize("lambdas", [[10, 9.5], [10, 4], [10, 1e-5]])
def test_a_log_axis_has_ticks_that_do_not_overlap(width, lambdas):
    path = ncvpath(FRAME, RESPONSE, lambdas=np.geomspace(*lambdas, 10))
    ax = Figure(figsize=(width, 3), layout="constrained").subplots()
    plot(path, ax=ax, label=0).figure.draw_without_rendering()
    right, left = sorted(ax.get_xlim())
    ticks = [t for t in ax.xaxis.get_major_ticks() if right <= t.get_loc() <= left]
    assert len(ticks) >= 2
    assert_apart([tick.label1 for tick in ticks])


# ---- manners -----------------------------------------------------------------------


def test_axes_that_are_given_are_used_and_returned(path):
    figure, axes = plt.subplots(1, 2)
    assert path.plot(ax=axes[1]) is axes[1]
    assert drawn(axes[1]) and not drawn(axes[0])
    assert plt.get_fignums() == [figure.number]


def test_axes_without_pyplot_are_fine(path):
    ax = Figure().subplots()
    assert path.plot(ax=ax) is ax
    assert not plt.get_fignums()


def test_without_axes_one_figure_is_opened_and_its_axes_are_current(path):
    ax = path.plot()
    assert plt.get_fignums() == [ax.figure.number]
    assert plt.gca() is ax


def test_drawing_leaves_the_current_axes_alone(path):
    _, axes = plt.subplots(1, 2)
    plt.sca(axes[0])
    path.plot(ax=axes[1])
    assert plt.gca() is axes[0]


def test_global_settings_are_left_alone(path):
    before = dict(matplotlib.rcParams)
    path.plot()
    assert dict(matplotlib.rcParams) == before


OPTIONS = {
    "linewidth": (dict(linewidth=0.5), lambda c: list(c.get_linewidths()), [0.5]),
    "lw": (dict(lw=3), lambda c: list(c.get_linewidths()), [3]),
    "alpha": (dict(alpha=0.25), lambda c: c.get_alpha(), 0.25),
    "color": (
        dict(color="red"), lambda c: {tuple(v[:3]) for v in c.get_colors()}, {(1, 0, 0)}
    ),
    "zorder": (dict(zorder=7), lambda c: c.get_zorder(), 7),
    "dashed": (dict(linestyle="--"), lambda c: c.get_linestyle()[0][1] is None, False),
}


@pytest.mark.parametrize("label", [0, 3, 10])
@pytest.mark.parametrize(
    "keywords, read, expected", OPTIONS.values(), ids=OPTIONS.keys()
)
def test_options_reach_all_lines(keywords, read, expected, label, path):
    collections = plot(path, label=label, **keywords).collections
    assert collections
    for collection in collections:
        assert read(collection) == expected


def test_drawing_into_a_figure_does_not_draw_the_figure(path):
    figure, axes = plt.subplots(1, 2)
    draws = []
    figure.canvas.mpl_connect("draw_event", draws.append)
    path.plot(ax=axes[0])
    assert not draws


def test_an_unknown_option_is_an_error(path):
    with pytest.raises((AttributeError, TypeError), match="flavour"):
        path.plot(flavour="sweet")


# ---- what a newcomer could not read ------------------------------------------------


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_lines_of_marks_run_on_behind_the_legend(style, path):
    with plt.style.context(style):
        ax = plot(path, mark=float(path.lambdas[2]))
        legend, line = ax.get_legend(), ax.lines[-1]
    box = legend.get_frame()
    assert box.get_visible() and box.get_alpha() == 1
    assert box.get_facecolor()[:3] == ax.get_facecolor()[:3]
    assert legend.get_zorder() > line.get_zorder()
    (swatch,) = legend.get_patches()
    assert swatch.get_linewidth() > 0
    assert swatch.get_edgecolor() != swatch.get_facecolor()


@pytest.mark.parametrize("xvar", XVARS)
def test_marks_and_the_last_lambda_have_their_counts(xvar, path):
    for k in (3, 7, 11):
        ax = plot(path, mark=float(path.lambdas[k]), xvar=xvar)
        places, texts = top_ticks(ax)
        line = [line for line in ax.lines if line.get_linestyle() == "--"][0]
        at = ax.transData.transform((line.get_xdata()[0], 0))[0]
        near = int(np.argmin(np.abs(np.array(places) - at)))
        assert abs(places[near] - at) < 1 and texts[near] == str(path.df[k])
        right = int(np.argmax(places))
        assert right == near or texts[right] == str(path.df[-1])


ALIKE = [
    [f"a_very_long_name_of_measure_{j}_of_the_patients_in_study" for j in range(12)],
    [f"the_beginning_is_the_same_but_{j}" for j in range(3)],
    [f"{j}_the_end_is_the_same_of_all_of_them" for j in range(3)],
    ["x" * 40, "x" * 41, "x" * 42], ["a" * 40 + "b" * k + "c" * 40 for k in range(30)],
    [f"{'p' * 30}{'q' * 30}{a}{'r' * 30}{b}{'s' * 20}" for a in "12" for b in "34"],
    ["short", "names"],
]


@pytest.mark.parametrize("names", ALIKE, ids=lambda names: names[0][:20])
def test_names_that_are_cut_stay_different(names):
    labels = shortened(names)
    assert len(set(labels)) == len(names)
    assert max(map(len, labels)) <= 28
    assert all(label == name for label, name in zip(labels, names) if len(name) <= 28)


def test_labels_show_where_long_names_differ():
    assert shortened(ALIKE[0])[11] == "...f_measure_11_of_the_pa..."


def test_names_that_could_not_be_read_are_left_out_and_counted(wide):
    ax = plot(wide, label=True)
    *names, rest = end_labels(ax)
    total = len(np.unique(wide.beta.indices))
    assert total > 60 and rest == f"({total - len(names)} more without a name)"
    assert min(text.get_fontsize() for text in ax.texts) >= 6
    last = np.abs(heights(wide)[:, -1])
    largest = np.argsort(-last)[: len(names)]
    assert set(names) == {wide.feature_names[j] for j in largest}
    ax.figure.draw_without_rendering()
    assert_apart(ax.texts)
