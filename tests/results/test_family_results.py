"""What paths of other families answer: predictions, residuals, criteria, files."""

import io
import json
import pickle

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import TESTS

from ncvpath import (
    Family,
    NcvPath,
    compare,
    cv_ncvpath,
    families,
    load_diabetes,
    load_heart,
    load_veteran,
    ncvpath,
)

FOLDER = TESTS / "reference"
INFERENCE = sorted(file.stem for file in FOLDER.glob("inference-*.json"))
SURVIVAL = sorted(file.stem for file in FOLDER.glob("survival-*.json"))
HEART, CHD = load_heart()
VETERAN, TIMES = load_veteran()
SICK = CHD.map({0: "well", 1: "ill"}).astype("category").cat.set_categories(
    ["well", "ill"]
)
RNG = np.random.default_rng(1)
EXPOSURE = RNG.uniform(1, 5, 462)
COUNTS = RNG.poisson(EXPOSURE * np.exp(0.02 * (HEART["age"] - 40)))
STRATA = np.where(VETERAN["test"] > 0, "test", "standard")
FEW = dict(nlambda=10, lambda_min_ratio=0.05)


class Gamma(Family):
    """Positive numbers of constant relative spread: loss eta + y e^-eta."""

    name = "gamma"
    response = "positive numbers"

    def loss(self, y, eta):
        return eta + y * np.exp(-eta)

    def residual(self, y, eta):
        return y * np.exp(-eta) - 1

    def curvature(self, y, eta):
        return y * np.exp(-eta)

    def mean(self, eta):
        return np.exp(eta)

    def saturated(self, y):
        return 1 + np.log(y)


FITS = {
    "binomial": lambda: ncvpath(HEART, SICK, family="binomial", **FEW),
    "weights": lambda: ncvpath(
        HEART, CHD, family="binomial", weights=1.0 + np.arange(462) % 3, **FEW
    ),
    "counts": lambda: ncvpath(
        HEART, np.column_stack([3 * CHD + 1, 5 - 2 * CHD]), family="binomial", **FEW
    ),
    "poisson": lambda: ncvpath(
        HEART, COUNTS, family="poisson", offset=np.log(EXPOSURE), **FEW
    ),
    "cox": lambda: ncvpath(VETERAN, TIMES, family="cox", **FEW),
    "strata": lambda: ncvpath(
        VETERAN, TIMES, family="cox", strata=STRATA, ties="efron", **FEW
    ),
    "own": lambda: ncvpath(HEART, EXPOSURE, family=Gamma(), **FEW),
}


@pytest.fixture(scope="module")
def paths():
    return {name: fit() for name, fit in FITS.items()}


each_path = pytest.mark.parametrize("name", FITS)
OF_VETERAN = ("cox", "strata")


def data_of(name):
    return VETERAN if name in OF_VETERAN else HEART


def offset_of(name):
    return {"offset": np.log(EXPOSURE)} if name == "poisson" else {}


def links(path, name):
    return path.predict(data_of(name), type="link", **offset_of(name))


# ---- R's figures -------------------------------------------------------------------


def read(name):
    """Figures, X and y."""
    known = json.loads((FOLDER / f"{name}.json").read_text())
    table = pd.read_csv(FOLDER / known["data"])
    if known["sorted_by_time"]:
        table = table.sort_values("time").reset_index(drop=True)
    own = [column for column in ("time", "status", "y") if column in table]
    return known, table.drop(columns=own), table[own].squeeze(axis=1)


@pytest.mark.parametrize("name", INFERENCE)
def test_criteria_and_residuals_are_ncvregs(name):
    known, X, y = read(name)
    path = ncvpath(X, y, family=known["family"], penalty=known["penalty"],
                   lambdas=known["lambda"][:15], tol=1e-9)
    first = 0 if known["family"] == "cox" else 1
    last = 1 + min(14, 14 if path.convex_min is None else path.convex_min)
    for criterion in ("loglik", "aic", "bic"):
        found = getattr(path, criterion)().to_numpy()
        expected = np.array(known[criterion])
        np.testing.assert_allclose(found[first:last], expected[first:last], rtol=1e-6)
    if known["family"] != "cox":
        found = path.residuals(which=known["index"] - 1)
        np.testing.assert_allclose(found, known["residuals"], atol=1e-6)


@pytest.mark.parametrize("name", [  # others end beyond the convex part
    name for name in INFERENCE if "cox" in name and "lasso" in name
])
def test_ncvregs_residuals_of_cox_mix_two_lambdas(name):
    """Its baseline, sums of 1 - a by Kalbfleisch and Prentice, is the last lambda's."""
    known, X, y = read(name)
    ends = [known["lambda"][known["index"] - 1], known["lambda"][-1]]
    path = ncvpath(X, y, family="cox", penalty="lasso", lambdas=ends, tol=1e-9)
    link = path.predict(X, type="link")
    risk, status = np.exp(link - link.mean(axis=0)), y["status"].to_numpy()
    at_risk = np.cumsum(risk[::-1, 1])[::-1]
    with np.errstate(divide="ignore"):
        share = np.where(status, (1 - risk[:, 1] / at_risk) ** (1 / risk[:, 1]), 1.0)
    theirs = risk[:, 0] * np.cumsum(1 - share)
    logs = status * np.log(np.where(status, theirs, 1.0))
    mixed = np.sqrt(-2 * (status - theirs + logs)) * np.sign(status - theirs)
    np.testing.assert_allclose(mixed, known["residuals"], atol=1e-5)
    at_risk = np.cumsum(risk[::-1, 0])[::-1]
    right = status - risk[:, 0] * np.cumsum(status / at_risk)
    np.testing.assert_allclose(
        path.residuals(which=0, type="martingale"), right, atol=1e-10
    )


@pytest.mark.parametrize("name", SURVIVAL)
def test_survival_is_ncvregs_but_for_its_centre(name):
    known, X, y = read(name)
    lambdas = known["at_lambda"] * np.geomspace(4, 1, 12)
    path = ncvpath(X, y, family="cox", penalty=known["penalty"], lambdas=lambdas,
                   tol=1e-9)
    at = dict(lam=path.lambdas[-1])
    rows = X.head(5)
    np.testing.assert_allclose(path.predict(rows, type="link", **at), known["link"],
                               atol=1e-6)
    curves = path.predict(rows, type="survival", **at)
    place = np.searchsorted(curves.index, known["times"], side="right") - 1
    center = path.predict(X, type="link", **at).mean()
    found = curves.to_numpy()[place] ** np.exp(center)
    np.testing.assert_allclose(found.T, known["survival"], atol=1e-6)


# ---- predictions -------------------------------------------------------------------


@each_path
def test_the_response_is_the_mean_of_the_link(name, paths):
    path, means = paths[name], {
        "binomial": lambda eta: 1 / (1 + np.exp(-eta)),
        "weights": lambda eta: 1 / (1 + np.exp(-eta)),
        "counts": lambda eta: 1 / (1 + np.exp(-eta)),
    }
    link = links(path, name)
    beta = path.coef().to_numpy()
    intercept = 0 if name in OF_VETERAN else beta[0]
    features = beta if name in OF_VETERAN else beta[1:]
    offset = offset_of(name).get("offset", np.zeros(len(link)))
    expected = data_of(name).to_numpy() @ features + intercept + offset[:, None]
    np.testing.assert_allclose(link, expected, rtol=1e-9, atol=1e-9)
    response = path.predict(data_of(name), **offset_of(name))
    np.testing.assert_allclose(response, means.get(name, np.exp)(link))
    one = path.predict(data_of(name), which=3, **offset_of(name))
    np.testing.assert_array_equal(one, response[:, 3])


def test_classes_are_the_users_labels(paths):
    path = paths["binomial"]
    assert path.classes == ("well", "ill")
    found = path.predict(HEART, which=-1, type="class")
    likely = path.predict(HEART, which=-1) > 0.5
    np.testing.assert_array_equal(found, np.where(likely, "ill", "well"))
    assert path.predict(HEART, type="class").shape == (462, 10)
    truth = ncvpath(HEART, CHD == 1, family="binomial", **FEW)
    assert truth.predict(HEART, which=3, type="class").dtype == bool


def test_proportions_have_no_classes():
    counts = np.column_stack([2 - CHD, 1 + CHD])
    for y in (0.1 + 0.5 * CHD, counts):
        path = ncvpath(HEART, y, family="binomial", **FEW)
        message = "y was proportions, or counts without names"
        with pytest.raises(ValueError, match=message):
            path.predict(HEART, type="class")


@pytest.mark.parametrize("name, type", [
    ("binomial", "survival"), ("poisson", "class"), ("cox", "class"), ("own", "median"),
    ("cox", 3), ("binomial", None), ("binomial", ["link"]),
])
def test_types_are_those_of_the_family(name, type, paths):
    message = r"type must be one of response, link.* with family='\w+'; got type="
    with pytest.raises(ValueError, match=message):
        paths[name].predict(data_of(name), type=type, **offset_of(name))


def test_offsets_are_needed_for_new_rows(paths):
    path = paths["poisson"]
    with pytest.raises(ValueError, match="offset must be given .*offset=0 leaves it"):
        path.predict(HEART)
    with pytest.raises(ValueError, match="one value per row of X; got 3 for 462"):
        path.predict(HEART, offset=np.zeros(3))
    with pytest.raises(ValueError, match="offset must be finite; got nan"):
        path.predict(HEART, offset=np.full(462, np.nan))
    plain = path.predict(HEART, offset=0)
    scaled = path.predict(HEART, offset=np.log(EXPOSURE))
    np.testing.assert_allclose(scaled, EXPOSURE[:, None] * plain)
    np.testing.assert_allclose(path.predict(HEART, offset=np.log(2.0)), 2 * plain)


# ---- survival ----------------------------------------------------------------------


def test_survival_is_a_table_of_times_and_rows(paths):
    path = paths["cox"]
    table = path.predict(VETERAN.tail(4), which=5, type="survival")
    died = TIMES.loc[TIMES["status"] == 1, "time"]
    assert table.index.tolist() == [0.0, *np.unique(died)]
    assert table.columns.tolist() == VETERAN.index[-4:].tolist()
    assert table.index.name == "time" and (table.iloc[0] == 1).all()
    assert (np.diff(table, axis=0) <= 0).all()
    plain = path.predict(VETERAN.tail(4).to_numpy(), which=5, type="survival")
    assert plain.columns.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(plain, table)


def test_curves_follow_the_relative_risk(paths):
    path = paths["cox"]
    table = path.predict(VETERAN.head(5), which=-1, type="survival").iloc[:-1]
    risk = path.predict(VETERAN.head(5), which=-1)
    hazard = -np.log(table.iloc[1:]) / risk
    np.testing.assert_allclose(hazard, hazard[[0] * 5], rtol=1e-9)


def test_the_null_model_survives_as_kaplan_and_meier():
    path = ncvpath(VETERAN, TIMES, family="cox", **FEW)
    curve = path.predict(VETERAN.head(1), which=0, type="survival")[0]
    time, status = TIMES["time"].to_numpy(), TIMES["status"].to_numpy() == 1
    left = 1.0
    for t in np.unique(time[status]):
        left *= 1 - (status & (time == t)).sum() / (time >= t).sum()
        assert curve[t] == pytest.approx(left, abs=1e-12)


def test_medians_are_read_off_the_curves(paths):
    path = paths["cox"]
    found = path.predict(VETERAN.head(9), type="median")
    assert found.shape == (9, 10)
    for k in (0, 4, 9):
        table = path.predict(VETERAN.head(9), which=k, type="survival")
        expected = (table <= 0.5).idxmax().to_numpy()
        np.testing.assert_array_equal(found[:, k], expected)
        one = path.predict(VETERAN.head(9), which=k, type="median")
        np.testing.assert_array_equal(one, expected)


def test_survival_is_of_one_lambda(paths):
    with pytest.raises(ValueError, match="lam must be one number with type='survival'"):
        paths["cox"].predict(VETERAN, type="survival")
    lam = paths["cox"].lambdas[3:5].mean()
    between = paths["cox"].predict(VETERAN, lam=lam, type="survival")
    ends = [paths["cox"].predict(VETERAN, which=k, type="survival") for k in (3, 4)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    assert ((low - 1e-3 <= between) & (between <= high + 1e-3)).all().all()


def test_each_stratum_has_its_baseline(paths):
    path = paths["strata"]
    for label in ("test", "standard"):
        table = path.predict(
            VETERAN.head(2), which=0, type="survival", strata=label
        )
        own = TIMES[STRATA == label]
        alone = ncvpath(VETERAN[STRATA == label], own, family="cox", **FEW)
        expected = alone.predict(VETERAN.head(2), which=0, type="survival")
        np.testing.assert_allclose(table.loc[expected.index], expected, atol=1e-12)
    mixed = path.predict(
        VETERAN.head(2), which=3, type="median", strata=["test", "standard"]
    )
    for k, label in enumerate(("test", "standard")):
        one = path.predict(VETERAN.head(2), which=3, type="median", strata=label)
        assert mixed[k] == one[k]
    assert path.strata.tolist() == STRATA.tolist() and path.ties == "efron"


def test_strata_are_asked_for(paths):
    with pytest.raises(ValueError, match="strata must be given, as this path was fit"):
        paths["strata"].predict(VETERAN, which=0, type="survival")
    with pytest.raises(ValueError, match="strata must be those of the fit, 'standard'"):
        paths["strata"].predict(VETERAN, which=0, type="median", strata="placebo")
    with pytest.raises(ValueError, match="strata must not be given, as this path was"):
        paths["cox"].predict(VETERAN, which=0, type="median", strata="test")
    assert paths["strata"].predict(VETERAN, which=0).shape == (137,)


# ---- residuals ---------------------------------------------------------------------


def test_deviance_residuals_add_up_to_the_loss(paths):
    for name in ("binomial", "counts", "poisson", "own"):
        found = paths[name].residuals()
        np.testing.assert_allclose((found**2).sum(axis=0), paths[name].loss, rtol=1e-8)
    found = paths["weights"].residuals(which=4)
    weights = 462 * paths["weights"].weights
    assert weights @ found**2 == pytest.approx(paths["weights"].loss[4], rel=1e-8)


def test_residuals_of_the_response(paths):
    path = paths["binomial"]
    expected = CHD.to_numpy()[:, None] - path.predict(HEART)
    np.testing.assert_allclose(path.residuals(type="response"), expected)
    shares = (5 - 2 * CHD) / (6 + CHD)
    expected = shares.to_numpy() - paths["counts"].predict(HEART, which=2)
    found = paths["counts"].residuals(which=2, type="response")
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("name", OF_VETERAN)
def test_martingale_residuals_add_to_zero(name, paths):
    found = paths[name].residuals(type="martingale")
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-9)
    assert (found <= 1).all()
    deviance = paths[name].residuals()
    assert (np.sign(deviance) == np.sign(found)).all()


def test_residuals_of_other_rows_keep_the_labels(paths):
    ill = (SICK == "ill").to_numpy()
    found = paths["binomial"].residuals(which=3, X=HEART[ill], y=SICK[ill])
    np.testing.assert_allclose(found, paths["binomial"].residuals(which=3)[ill])
    with pytest.raises(ValueError, match="y must be those of the fit, 'well', 'ill'"):
        paths["binomial"].residuals(X=HEART, y=CHD)
    for rows in (ill, slice(None, None, -1)):  # fewer, or as many
        with pytest.raises(ValueError, match="offset must be given for new rows"):
            paths["poisson"].residuals(X=HEART[rows], y=COUNTS[rows])


@pytest.mark.parametrize(
    "name, type", [("binomial", "martingale"), ("cox", "response")]
)
def test_residuals_are_those_of_the_family(name, type, paths):
    with pytest.raises(ValueError, match="type must be one of deviance, "):
        paths[name].residuals(type=type)


# ---- criteria and tables -----------------------------------------------------------


@each_path
def test_criteria_count_parameters(name, paths):
    path = paths[name]
    count = path.df + (name not in OF_VETERAN)
    deviance = -2 * path.loglik().to_numpy()
    n = {"counts": (6 + CHD).sum()}.get(name, path.n)
    np.testing.assert_allclose(path.aic(), deviance + 2 * count)
    np.testing.assert_allclose(path.bic(), deviance + np.log(n) * count)
    np.testing.assert_allclose(np.diff(deviance), np.diff(path.loss), atol=1e-8)


def test_coefficients_of_cox_have_no_intercept(paths):
    path = paths["cox"]
    assert path.coef(which=3).index.tolist() == list(VETERAN)
    assert path.coef().shape == path.to_frame().shape == (8, 10)
    long = path.to_frame("long", zeros=True)
    assert len(long) == 80 and "(Intercept)" not in set(long["feature"])
    assert path.to_frame().attrs["family"] == "cox" and not path.has_intercept


def test_a_large_table_of_cox_is_sparse(paths, monkeypatch):
    expected = paths["cox"].coef()
    monkeypatch.setattr("ncvpath.results.tables.SPARSE_CELLS", 0)
    np.testing.assert_array_equal(paths["cox"].coef(), expected)


@each_path
def test_the_family_is_named(name, paths):
    word = {"own": "gamma", "weights": "binomial", "counts": "binomial",
            "strata": "cox"}.get(name, name)
    assert repr(paths[name]).startswith(f"{word} MCP path: n=")
    assert f"{word} MCP path" in paths[name]._repr_html_()
    assert paths[name].summary().attrs["family"] == word
    plt.close("all")


@pytest.mark.parametrize("name, label", [
    ("binomial", " (log odds)"), ("poisson", " (log mean)"),
    ("cox", " (log hazard)"), ("own", ""),
])
def test_pictures_say_what_a_coefficient_is(name, label, paths):
    ax = paths[name].plot()
    assert ax.get_ylabel() == f"coefficient per standard deviation{label}"
    ax = paths[name].plot(standardized=False)
    assert ax.get_ylabel() == f"coefficient{label}"
    plt.close("all")


def test_paths_of_cox_are_compared():
    several = [ncvpath(VETERAN, TIMES, family="cox", penalty=penalty, **FEW)
               for penalty in ("lasso", "MCP")]
    ax = plt.figure().subplots()
    table = compare(several, ax=ax)
    assert table.shape == (8, 2) and "(Intercept)" not in table.index
    plt.close("all")


def test_the_table_of_families():
    table = families()
    assert list(table.index) == ["gaussian", "binomial", "poisson", "cox"]
    assert table.loc["cox", "predict"] == "response, link, survival, median"
    assert table.loc["binomial", "measures"].startswith("deviance, ")
    assert not table.loc["cox", "intercept"] and not table.loc["gaussian", "rescale"]


# ---- keeping -----------------------------------------------------------------------


def stored(path):
    stream = io.BytesIO()
    path.save(stream)
    return stream.getvalue()


def answers(path, name):
    """All that needs neither X nor y of the fit."""
    rows, more = data_of(name).head(7), {}
    if name == "poisson":
        more["offset"] = np.arange(7.0)
    types = {"cox": ("median",), "strata": ("median",), "binomial": ("class",)}
    found = [path.predict(rows, type=type, **more) for type in ("response", "link")]
    for type in types.get(name, ()):
        strata = {"strata": "test"} if name == "strata" else {}
        found.append(path.predict(rows, type=type, **strata))
    return [*found, path.coef(), path.bic(), path.ebic(), path.summary()]


def same(path, other, name):
    for ours, theirs in zip(answers(path, name), answers(other, name)):
        np.testing.assert_array_equal(ours, theirs)
    for field in ("family", "classes", "rescale", "ties", "trials", "saturated"):
        if name != "own" or field != "family":
            assert getattr(path, field) == getattr(other, field)


@each_path
def test_paths_come_back_from_files_and_pickles(name, paths):
    path, own = paths[name], {"family": Gamma()} if name == "own" else {}
    loaded = NcvPath.load(io.BytesIO(stored(path)), **own)
    same(path, loaded, name)
    same(path, pickle.loads(pickle.dumps(path)), name)
    y = {"cox": TIMES, "strata": TIMES, "poisson": COUNTS}.get(name, path.y)
    found = loaded.residuals(X=data_of(name), y=y)
    np.testing.assert_allclose(found, path.residuals(), atol=1e-12)
    cv = loaded.cross_validate(X=data_of(name), y=y, nfolds=3, random_state=1)
    expected = path.cross_validate(nfolds=3, random_state=1)
    np.testing.assert_allclose(cv.cve, expected.cve, rtol=1e-9)


def test_a_family_of_ones_own_is_asked_for(paths):
    content = stored(paths["own"])
    message = r"family must be the one of your own .* named 'gamma'.*; got family="
    for wrong in (None, "gamma", "poisson"):
        with pytest.raises(ValueError, match=message):
            NcvPath.load(io.BytesIO(content), family=wrong)
    with pytest.raises(ValueError, match="must not be given, as the path has family="):
        NcvPath.load(io.BytesIO(stored(paths["cox"])), family=Gamma())


def test_labels_that_json_cannot_keep_are_refused():
    days = pd.to_datetime(["2020-01-01", "2021-01-01"])[CHD]
    path = ncvpath(HEART, days, family="binomial", **FEW)
    with pytest.raises(ValueError, match="classes must be text, numbers or truth"):
        stored(path)


def rewritten(content, **changes):
    """The file with other arrays, or without them (None)."""
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: file[name] for name in file.files}
    facts = json.loads(str(arrays["facts"]))
    facts |= changes.pop("facts", {})
    arrays["facts"] = np.array(json.dumps(facts))
    arrays |= changes
    stream = io.BytesIO()
    np.savez(stream, **{name: a for name, a in arrays.items() if a is not None})
    return stream.getvalue()


DAMAGED = {
    "an unknown family": dict(facts={"family": "cauchy"}),
    "no name": dict(facts={"family": 3}),
    "three classes": dict(facts={"classes": ["a", "b", "c"]}),
    "odd ties": dict(facts={"ties": "exact"}),
    "odd trials": dict(facts={"trials": -1}),
    "no saturated model": dict(facts={"saturated": None}),
    "odd switch": dict(facts={"rescale": 1}),
    "no labels": dict(facts={"strata_labels": []}),
    "no baseline": dict(baseline_times=None),
    "hazards that fall": dict(baseline_hazard=-1.0),
    "other hazards": dict(baseline_hazard=np.zeros((3, 3))),
    "times that fall": dict(baseline_times=-1.0),
    "strata that fall": dict(baseline_strata=-1),
    "a stratum too many": dict(strata=np.full(137, 2)),
    "an offset that is none": dict(offset=np.full(137, np.nan)),
}


@pytest.mark.parametrize("changes", DAMAGED.values(), ids=DAMAGED.keys())
def test_what_no_path_of_survival_says_is_refused(changes, paths):
    content, changes = stored(paths["strata"]), dict(changes)
    with np.load(io.BytesIO(content)) as file:
        for name, value in changes.items():
            if np.ndim(value) == 0 and value is not None and name != "facts":
                changes[name] = value * (1 + np.arange(file[name].size)).reshape(
                    file[name].shape
                )
    with pytest.raises(ValueError, match="file must be written by NcvPath.save"):
        NcvPath.load(io.BytesIO(rewritten(content, **changes)))


def test_gaussian_paths_are_as_they_were():
    path = ncvpath(*load_diabetes(), nlambda=5)
    assert path.family == "gaussian" and path.baseline is None and not path.rescale
    assert repr(path).startswith("MCP path: n=442")
    np.testing.assert_array_equal(path.residuals(type="response"), path.residuals())
    cv = cv_ncvpath(*load_diabetes(), nlambda=5, random_state=1)
    assert cv.measure == "mse" and cv.pe is None
