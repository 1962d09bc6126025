"""Several paths side by side: the table and its picture."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from ncvpath import compare, load_diabetes, ncvpath, simulate

FRAME, RESPONSE = load_diabetes()


@pytest.fixture(scope="module")
def paths():
    fit = lambda penalty: ncvpath(FRAME, RESPONSE, penalty=penalty, nlambda=30)
    return {name: fit(name) for name in ("lasso", "MCP", "SCAD")}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def axes():
    return Figure(figsize=(7, 5), layout="constrained").subplots()


# ---- the table ---------------------------------------------------------------------


def test_columns_are_the_coefficients_of_each_path(paths):
    table = compare(paths, lam=8.0)
    assert list(table) == list(paths)
    for label, path in paths.items():
        expected = path.coef(lam=8.0)
        pd.testing.assert_series_equal(table[label], expected, check_names=False)
    assert table.attrs == {"lambda": 8.0}


def test_several_lambdas_come_path_by_path(paths):
    table = compare(paths, lam=[20.0, 5.0])
    assert list(table) == [(label, lam) for label in paths for lam in (20.0, 5.0)]
    np.testing.assert_array_equal(table["MCP"], paths["MCP"].coef(lam=[20.0, 5.0]))


def test_without_a_lambda_bic_chooses_in_the_first_path(paths):
    best = paths["lasso"].select("bic")
    assert compare(paths).attrs == {"lambda": best}
    assert compare([paths["MCP"], paths["lasso"]]).attrs["lambda"] == paths[
        "MCP"
    ].select("bic")


def test_the_lambda_is_moved_into_the_range_of_all(paths):
    short = ncvpath(FRAME, RESPONSE, lambdas=[40.0, 30.0, 20.0])
    assert compare([paths["lasso"], short]).attrs == {"lambda": 20.0}


def test_features_that_are_zero_everywhere_may_be_left_out(paths):
    table = compare(paths, lam=20.0, zeros=False)
    used = {name for path in paths.values() for name in path.coef(lam=20.0).index
            if path.coef(lam=20.0)[name] != 0}
    assert set(table.index) == used and len(used) < 11
    assert table.index[0] == "(Intercept)"


def test_a_feature_that_a_path_does_not_have_is_missing(paths):
    fewer = ncvpath(FRAME.drop(columns="bmi"), RESPONSE, nlambda=30)
    table = compare({"all": paths["MCP"], "fewer": fewer}, lam=10.0)
    assert np.isnan(table.loc["bmi", "fewer"]) and table.loc["bmi", "all"] != 0
    assert table.isna().to_numpy().sum() == 1
    assert list(table.index) == list(paths["MCP"].coef(lam=10.0).index)


@pytest.mark.parametrize(
    "settings, labels",
    [
        ([dict(), dict(penalty="lasso")], ["MCP", "lasso"]),
        ([dict(gamma=2), dict(gamma=3)], ["MCP, gamma=2", "MCP, gamma=3"]),
        (
            [dict(alpha=0.5), dict(penalty="lasso"), dict()],
            ["MCP, gamma=3, alpha=0.5", "lasso, alpha=1", "MCP, gamma=3, alpha=1"],
        ),
        ([dict(tol=1e-5), dict(tol=1e-7)], ["MCP (1)", "MCP (2)"]),
    ],
)
def test_a_sequence_is_labelled_by_what_differs(settings, labels):
    several = [ncvpath(FRAME, RESPONSE, nlambda=5, **kw) for kw in settings]
    assert list(compare(several, lam=10.0)) == labels


@pytest.mark.parametrize(
    "paths, message",
    [
        ([], "paths must be a mapping or a sequence of paths, .* got list"),
        (3, "paths must be a mapping or a sequence of paths, .* got int"),
        ([3], "paths must be results of ncvpath\\(\\); got int"),
    ],
)
def test_what_is_no_path_is_refused(paths, message):
    with pytest.raises(ValueError, match=message):
        compare(paths)


def test_paths_without_a_common_lambda_are_refused(paths):
    high = ncvpath(FRAME, RESPONSE, lambdas=[40.0, 30.0])
    low = ncvpath(FRAME, RESPONSE, lambdas=[3.0, 2.0])
    with pytest.raises(ValueError, match="paths must have lambdas in common"):
        compare([high, low])


# ---- the picture -------------------------------------------------------------------


def dots(ax):
    """For each path, its values and rows."""
    return {
        line.get_label(): line.get_data() for line in ax.lines
        if line.get_linestyle() == "None"
    }


def test_nothing_is_drawn_without_axes(paths):
    compare(paths)
    assert not plt.get_fignums()


def test_each_path_has_its_dots_the_largest_feature_on_top(paths):
    ax = axes()
    compare(paths, lam=5.0, ax=ax, zeros=False)
    drawn = {k: v.coef(lam=5.0, standardized=True) for k, v in paths.items()}
    table = pd.DataFrame(drawn).drop(index="(Intercept)")
    table = table[table.ne(0).any(axis=1)]
    order = table.abs().max(axis=1).sort_values(ascending=False).index
    assert [label.get_text() for label in ax.get_yticklabels()] == list(order)
    assert ax.yaxis_inverted()
    found = dots(ax)
    assert list(found) == list(paths)
    for label, (values, rows) in found.items():
        np.testing.assert_array_equal(values, table[label][order])
        np.testing.assert_array_equal(np.round(rows), np.arange(len(order)))
    colours = {line.get_color() for line in ax.lines if line.get_label() in paths}
    assert len(colours) == 3
    assert ax.get_xlabel() == "coefficient per standard deviation at lambda = 5"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(paths)


def test_many_features_are_cut_and_the_picture_says_so():
    X, y, _ = simulate(100, 80, nonzero=50, random_state=1)
    ax = axes()
    path = ncvpath(X, y, penalty="lasso")
    table = compare([path], lam=path.lambdas[-1], ax=ax)
    used = np.count_nonzero(table.drop(index="(Intercept)"))
    assert used > 30 == len(ax.get_yticks())
    assert ax.get_xlabel().endswith(f"; the 30 largest of {used}")


def test_a_null_model_can_be_drawn(paths):
    ax = axes()
    compare(paths, lam=paths["MCP"].lambdas[0], ax=ax)
    ax.figure.draw_without_rendering()
    assert len(ax.get_yticks()) == 0


def test_a_picture_shows_one_lambda(paths):
    with pytest.raises(ValueError, match="lam must be one number for a picture; got"):
        compare(paths, lam=[5.0, 6.0], ax=axes())
