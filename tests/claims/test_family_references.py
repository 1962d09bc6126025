"""Families against the figures of R: ncvreg, glmnet, coxph.

The figures are not part of the repository; they are looked for beside it. Those of
cross-validation: tests/crossval.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ncvpath import ncvpath

HERE = Path(__file__).resolve().parents[3] / "shared" / "reference"
pytestmark = [
    pytest.mark.skipif(not HERE.exists(), reason="needs ../shared/reference"),
    pytest.mark.filterwarnings("ignore::ncvpath.ConvergenceWarning"),
]


def names(pattern):
    """Files of that form, without their ending; one that says what is missing."""
    return sorted(file.stem for file in HERE.glob(pattern + ".json")) or ["missing"]


def case(name):
    """The figures, X and y."""
    figures = json.loads((HERE / f"{name}.json").read_text())
    data = name.split("-")[1]
    table = pd.read_csv(HERE / f"{data}.csv")
    if "cox" in data:
        if figures.get("sorted_by_time"):
            table = table.sort_values("time", kind="stable").reset_index(drop=True)
        y = table[["time", "status"]].to_numpy(float)
        if "time" in figures:
            y = np.column_stack([figures["time"], figures["status"]]).astype(float)
        return figures, table.drop(columns=["time", "status"]), y
    return figures, table.drop(columns="y"), table["y"].to_numpy(float)


def factors(name, p):
    """The penalty factors of files that say so."""
    if not name.endswith("factors"):
        return None
    factor = np.ones(p)
    factor[:3] = 0.0, 2.0, 0.5
    return factor


def family_of(name):
    return name.split("-")[1].split("_")[0]


def error(path, reference):
    """The largest error by lambda, over the largest coefficient."""
    own = path.coef().to_numpy().T
    n = min(len(own), len(reference))
    size = np.abs(reference[:n]).max(axis=1)
    return np.abs(own[:n] - reference[:n]).max(axis=1) / np.where(size > 0, size, 1)


NCVREG = [
    name for family in ("binomial", "poisson", "cox")
    for name in names(f"ncvreg-{family}_*")
]


@pytest.mark.parametrize("name", NCVREG)
def test_ncvreg(name):
    figures, X, y = case(name)
    _, _, penalty, alpha, _ = name.split("-")
    path = ncvpath(
        X, y, family=family_of(name), penalty=penalty, alpha=float(alpha[5:]),
        penalty_factor=factors(name, X.shape[1]), lambdas=figures["lambda"], tol=1e-9,
    )
    reference, edge = np.array(figures["beta"]), figures["convex_min"]
    upto = len(reference) if edge is None or penalty == "lasso" else edge
    off = error(path, reference)[1:upto]
    assert off.max() <= 1e-5
    assert path.converged[:upto].all()
    assert path.convex_min == (None if edge is None else edge - 1)


@pytest.mark.parametrize("name", NCVREG)
def test_ncvregs_lambda_max(name):
    figures, X, y = case(name)
    alpha = float(name.split("-")[3][5:])
    path = ncvpath(
        X, y, family=family_of(name), penalty="lasso", alpha=alpha, nlambda=1,
        penalty_factor=factors(name, X.shape[1]),
    )
    # Its null model is glm()'s, at glm's own tolerance.
    np.testing.assert_allclose(path.lambdas[0], figures["lambda"][0], rtol=2e-5)


def glmnet(kind):
    return [
        name for family in ("binomial", "poisson", "cox")
        for name in names(f"glmnet-{family}_*-{kind}") if name != "missing"
    ] or ["missing"]


GLMNET = [
    name for kind in
    ("alpha1", "alpha0.5", "weights", "offset", "nointercept", "ties")
    for name in glmnet(kind)
]


@pytest.mark.parametrize("name", GLMNET)
def test_glmnet(name):
    figures, X, y = case(name)
    family, settings = family_of(name), {}
    for word in ("weights", "offset"):
        if word in figures:
            settings[word] = figures[word]
    if name.endswith("nointercept"):
        settings |= {"intercept": False, "standardize": False}
    path = ncvpath(
        X, y, family=family, penalty="lasso", alpha=figures.get("alpha", 1),
        lambdas=figures["lambda"], tol=1e-9, rescale=False, **settings,
    )
    reference = np.array(figures["beta"])
    if family != "cox":
        reference = np.column_stack([figures["intercept"], reference])
    own, size = path.coef().to_numpy().T, np.abs(reference).max()
    assert np.abs(own - reference[: len(own)]).max() <= 1e-5 * size


@pytest.mark.parametrize("data", ["cox_tall", "cox_square", "cox_wide"])
@pytest.mark.parametrize(
    "form", ["efron", "breslow", "breslow_strata", "breslow_entry"]
)
def test_coxph(data, form):
    figures, X, y = case(f"coxph-{data}")
    X, settings = X.iloc[:, [column - 1 for column in columns(figures, X)]], {}
    if form == "breslow_strata":
        settings["strata"] = figures["strata"]
    if form == "breslow_entry":
        y = np.column_stack([figures["entry"], figures["exit"], figures["status"]])
    path = ncvpath(
        X, y, family="cox", penalty="lasso", lambdas=0.0, tol=1e-10,
        ties=form.split("_")[0], **settings,
    )
    np.testing.assert_allclose(path.coef(which=0), figures[form], rtol=1e-6, atol=1e-7)


def columns(figures, X):
    """Numbers of columns, from one, however they are given."""
    return [
        list(X.columns).index(c) + 1 if isinstance(c, str) else c
        for c in figures["columns"]
    ]


@pytest.mark.parametrize("name", names("survival-cox_*"))
def test_survival_curves_are_ncvregs(name):
    figures, X, y = case(name)
    lam = figures["at_lambda"]
    lambdas = case(name.replace("survival", "ncvreg") + "-alpha1-plain")[0]["lambda"]
    path = ncvpath(
        X, y, family="cox", penalty=figures["penalty"], lambdas=lambdas, tol=1e-9
    )
    rows = X.iloc[[k - 1 for k in figures["rows"]]]
    link = path.predict(rows, lam=lam, type="link")
    np.testing.assert_allclose(link, figures["link"], rtol=1e-5, atol=1e-6)
    curves = path.predict(rows, lam=lam, type="survival")
    mean = path.predict(X, lam=lam, type="link").mean()
    at = curves.index.searchsorted(np.array(figures["times"]) * (1 + 1e-12), "right")
    # Its baseline is that of centred predictors, but meets uncentred ones.
    ours = curves.to_numpy()[at - 1] ** np.exp(mean)
    np.testing.assert_allclose(ours.T, figures["survival"], atol=1e-6)


INFERENCE = [
    name for family in ("binomial", "poisson", "cox")
    for name in names(f"inference-{family}_*") if name != "missing"
] or ["missing"]


@pytest.mark.parametrize("name", INFERENCE)
def test_criteria_are_ncvregs(name):
    figures, X, y = case(name)
    path = ncvpath(
        X, y, family=family_of(name), penalty=figures["penalty"],
        lambdas=figures["lambda"], tol=1e-9,
    )
    upto = len(path.lambdas)
    if figures["penalty"] != "lasso" and path.convex_min is not None:
        upto = path.convex_min + 1
    for word in ("loglik", "aic", "bic"):
        ours = getattr(path, word)().to_numpy()[1:upto]
        np.testing.assert_allclose(ours, figures[word][1:upto], rtol=1e-6)
