"""Pictures in units that mean something: standard deviations, not those of a column."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from ncvpath import NcvPath, load_diabetes, load_heart, load_veteran, ncvpath
from ncvpath.plots.palette import BRIGHT, HUES, as_seen, colours, hues_for, in_rgb

FRAME, RESPONSE = load_diabetes()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def plot(path, **keywords):
    figure = Figure(figsize=(8, 5.2), layout="constrained")
    return path.plot(ax=figure.subplots(), **keywords)


def names(ax):
    return [text.get_text() for text in ax.texts]


# ---- standard deviations -----------------------------------------------------------


def test_a_change_of_units_changes_no_picture():
    """Noise was named instead of the signal where one column was in other units."""
    path = ncvpath(FRAME, RESPONSE, nlambda=30)
    other = ncvpath(FRAME.assign(bmi=1000 * FRAME["bmi"]), RESPONSE, nlambda=30)
    for xvar in ("lambda", "norm"):
        one, two = plot(path, label=3, xvar=xvar), plot(other, label=3, xvar=xvar)
        assert names(one) == names(two) and "bmi" in names(plot(other))
        assert one.get_ylim() == pytest.approx(two.get_ylim())
        assert one.get_xlim() == pytest.approx(two.get_xlim())
    raw = plot(other, label=3, standardized=False)
    assert raw.get_ylabel() == "coefficient" and "bmi" not in names(raw)


@pytest.mark.parametrize("weights", [None, np.arange(442.0)])
@pytest.mark.parametrize("standardize", [True, False])
def test_standard_deviations_are_those_of_the_fit(weights, standardize):
    path = ncvpath(
        FRAME, RESPONSE, nlambda=5, weights=weights, standardize=standardize
    )
    w = np.ones(442) if weights is None else weights
    X = FRAME.to_numpy(float)
    spread = np.sqrt(w @ (X - w @ X / w.sum()) ** 2 / w.sum())
    np.testing.assert_allclose(path.spread, spread, rtol=1e-9)
    table, raw = path.coef(standardized=True), path.coef()
    np.testing.assert_allclose(table.iloc[1:], raw.iloc[1:].mul(spread, axis=0))
    np.testing.assert_array_equal(table.iloc[0], raw.iloc[0])
    one = path.coef(lam=path.lambdas[3], standardized=True)
    np.testing.assert_allclose(one, table.iloc[:, 3])


def test_without_an_intercept_columns_are_measured_from_zero():
    path = ncvpath(FRAME, RESPONSE - RESPONSE.mean(), nlambda=5, intercept=False)
    np.testing.assert_allclose(path.spread, np.sqrt((FRAME**2).mean()), rtol=1e-9)
    assert plot(path).get_ylabel() == "coefficient per root mean square"


def test_a_constant_column_has_no_spread():
    path = ncvpath(FRAME.assign(one=1.0), RESPONSE, nlambda=5)
    assert path.spread[-1] == 0 and path.coef(standardized=True).notna().all(axis=None)


@pytest.mark.parametrize("load, family", [
    (load_heart, "binomial"), (load_veteran, "cox"), (load_heart, "poisson"),
])
def test_every_family_is_drawn_per_standard_deviation(load, family):
    X, y = load()
    path = ncvpath(X, y, family=family, nlambda=10)
    words = {"binomial": "log odds", "poisson": "log mean", "cox": "log hazard"}
    label = f"coefficient per standard deviation ({words[family]})"
    assert plot(path).get_ylabel() == label


def test_a_path_stored_without_standard_deviations_says_so(tmp_path):
    path = ncvpath(FRAME, RESPONSE, nlambda=5)
    object.__setattr__(path, "spread", None)
    path.save(tmp_path / "model.npz")
    old = NcvPath.load(tmp_path / "model.npz")
    assert plot(old).get_ylabel() == "coefficient"
    with pytest.raises(ValueError, match="standardized must be False, .* fit again"):
        old.coef(standardized=True)


# ---- names -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def path():
    return ncvpath(FRAME, RESPONSE, nlambda=30)


def test_names_can_be_asked_for(path):
    assert sorted(names(plot(path, label=["tc", "age"]))) == ["age", "tc"]
    assert names(plot(path, label="bmi")) == ["bmi"]
    assert names(plot(path, label=False)) == []
    assert sorted(names(plot(path, label=True))) == sorted(FRAME.columns)


def test_a_name_that_never_enters_lies_on_zero():
    path = ncvpath(FRAME, RESPONSE, penalty_factor={"age": np.inf}, nlambda=10)
    ax = plot(path, label=["age", "bmi"])
    assert set(names(ax)) == {"age", "bmi"}
    (age,) = [text for text in ax.texts if text.get_text() == "age"]
    assert age.xy[1] == 0


def test_a_name_that_is_no_feature_comes_with_a_guess(path):
    with pytest.raises(ValueError, match=r"no feature 'bmii' \(did you mean 'bmi'\?"):
        path.plot(label=["bmii"])
    assert not plt.get_fignums()


# ---- colours -----------------------------------------------------------------------


@pytest.mark.parametrize("count", [10, 14, 15, 40, 300])
@pytest.mark.parametrize("face", ["white", "black"])
def test_no_two_names_share_a_colour(count, face):
    ax = Figure().subplots(subplot_kw=dict(facecolor=face))
    features = np.arange(3, 3 + 7 * count, 7)
    found = np.array([in_rgb(hue) for hue in colours(ax, features)])
    assert len(np.unique(found, axis=0)) == count


@pytest.mark.parametrize("hues", [HUES, BRIGHT], ids=["on white", "on black"])
def test_colours_are_far_apart(hues):
    for some, least in ((hues, 16), (hues_for(30, hues is BRIGHT), 14)):
        seen = as_seen(np.array([in_rgb(hue) for hue in some]))
        apart = np.sqrt(np.square(seen[:, None] - seen[None]).sum(axis=2))
        assert apart[~np.eye(len(some), dtype=bool)].min() > least


def test_lines_without_a_name_take_no_colour_of_one_with(path):
    ax = plot(path, label=3)
    quiet, named = (lines.get_colors()[:, :3] for lines in ax.collections)
    assert len(np.unique(quiet, axis=0)) == 1
    assert len(np.unique(np.vstack([quiet[:1], named]), axis=0)) == 4


# ---- the part that is not convex ---------------------------------------------------


def shades(ax):
    """Left and right end of each band, by what the legend says of it."""
    found = {}
    for patch in ax.patches:
        corners = patch.get_path().transformed(patch.get_patch_transform()).vertices
        ends = corners[:, 0].min(), corners[:, 0].max()
        found.setdefault(patch.get_label().lstrip("_"), []).append(ends)
    return found


class Turning:
    """Norms that rise, fall and rise again."""

    x = np.array([0.0, 2.0, 5.0, 4.0, 3.0, 7.0])

    def shaded(self, first, x=None):
        from ncvpath.plots.shading import shade_nonconvex

        ax = Figure().subplots()
        shade_nonconvex(ax, self.x if x is None else x, first)
        return shades(ax)


def test_every_segment_of_the_nonconvex_part_is_shaded():
    assert Turning().shaded(2) == {
        "nonconvex region": [(5, 7)], "nonconvex and convex": [(3, 5)],
    }


def test_a_norm_that_only_falls_is_shaded():
    """Nothing was, where the largest norm came before the nonconvex part."""
    x = np.array([0.0, 6.0, 5.0, 4.0])
    assert Turning().shaded(1, x) == {"nonconvex and convex": [(4, 6)]}


def test_against_lambda_there_is_one_band():
    x = np.array([8.0, 4.0, 2.0, 1.0])
    assert Turning().shaded(2, x) == {"nonconvex region": [(1, 2)]}


def test_bands_of_one_kind_are_explained_once(path):
    ax = plot(path, xvar="norm")
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(words) == len(set(words)) and words[0] == "nonconvex region"
    beta = np.abs(path.coef(standardized=True).iloc[1:]).sum().to_numpy()
    bands = [band for several in shades(ax).values() for band in several]
    for a, b in zip(beta[path.convex_min :], beta[path.convex_min + 1 :]):
        middle = (a + b) / 2
        assert any(0.999 * low <= middle <= 1.001 * high for low, high in bands)
