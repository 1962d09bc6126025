"""Data to try things on."""

import numpy as np
import pandas as pd
import pytest
from fitting import clean

from ncvpath import (
    load_diabetes,
    load_heart,
    load_veteran,
    ncvpath,
    penalties,
    simulate,
)
from ncvpath.penalties import ROWS

CORRELATIONS = ("ar1", "block", "none")


def test_the_diabetes_study_is_as_published():
    X, y = load_diabetes()
    assert isinstance(X, pd.DataFrame) and isinstance(y, pd.Series)
    assert X.shape == (442, 10) and y.shape == (442,)
    assert list(X) == [
        "age", "sex", "bmi", "bp", "tc", "ldl", "hdl", "tch", "ltg", "glu"
    ]
    assert X.notna().all(axis=None) and set(X["sex"]) == {1, 2}
    # Means and extremes of the data as Efron et al. (2004) distribute them.
    assert y.mean() == pytest.approx(152.1334841629)
    assert (y.min(), y.max()) == (25, 346)
    assert X["bmi"].mean() == pytest.approx(26.3757918552)
    assert X["age"].sum() == 21445
    assert X.dtypes.map(str).unique().tolist() == ["float64"]


def test_the_heart_disease_study_is_as_published():
    X, y = load_heart()
    assert list(X) == [
        "sbp", "tobacco", "ldl", "adiposity", "famhist", "typea", "obesity", "alcohol",
        "age",
    ]
    assert X.shape == (462, 9) and X.dtypes.map(str).unique().tolist() == ["float64"]
    assert (y.name, y.shape, y.sum(), set(y)) == ("chd", (462,), 160, {0, 1})
    # Figures that textbooks give of it.
    assert X["famhist"].sum() == 192 and set(X["famhist"]) == {0, 1}
    assert X.iloc[0].tolist() == [160, 12, 5.73, 23.11, 1, 49, 25.3, 97.2, 52]
    assert X["sbp"].mean() == pytest.approx(138.3268398268)
    assert (X["tobacco"].max(), X["age"].min(), X["age"].max()) == (31.2, 15, 64)


def test_the_veterans_trial_is_as_published():
    X, y = load_veteran()
    assert list(X) == [
        "test", "smallcell", "adeno", "large", "karnofsky", "months", "age", "prior"
    ]
    assert X.shape == (137, 8) and X.dtypes.map(str).unique().tolist() == ["float64"]
    assert list(y) == ["time", "status"] and y["status"].sum() == 128
    assert X[["test", "smallcell", "adeno", "large", "prior"]].sum().tolist() == [
        68, 48, 27, 27, 40
    ]
    assert (y["time"].median(), y["time"].max()) == (80, 999)
    assert y.iloc[1].tolist() == [411, 1] and X["karnofsky"].iloc[1] == 70


def test_each_call_gives_data_of_its_own():
    X, y = load_diabetes()
    X.loc[0, "bmi"], y[0] = -1.0, -1.0
    again, response = load_diabetes()
    assert again.loc[0, "bmi"] == 32.1 and response[0] == 151


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_a_simulation_has_the_shapes_and_names_it_promises(correlation):
    X, y, beta = simulate(30, 50, nonzero=7, correlation=correlation, random_state=1)
    assert X.shape == (30, 50) and y.shape == (30,) and beta.shape == (50,)
    assert list(X) == list(beta.index) == [f"x{j}" for j in range(1, 51)]
    assert (y.name, beta.name) == ("y", "beta")
    nonzero = beta[beta != 0].to_numpy()
    np.testing.assert_array_equal(nonzero, [1, -1, 1, -1, 1, -1, 1])


def test_true_features_are_spread_evenly():
    _, _, beta = simulate(5, 101, nonzero=6, random_state=1)
    np.testing.assert_array_equal(np.flatnonzero(beta), [0, 20, 40, 60, 80, 100])


def expected_correlation(correlation, rho, p):
    j = np.arange(p)
    if correlation == "ar1":
        return rho ** np.abs(j[:, None] - j)
    same_block = (j[:, None] // 20) == (j // 20)
    return np.where(same_block & (correlation == "block"), rho, 0) + np.diag(
        np.where(correlation == "block", 1 - rho, 1) * np.ones(p)
    )


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9])
def test_columns_are_standard_normal_with_the_correlation_asked_for(correlation, rho):
    X, _, _ = simulate(40_000, 25, correlation=correlation, rho=rho, random_state=2)
    np.testing.assert_allclose(X.mean(), 0, atol=0.03)
    expected = expected_correlation(correlation, rho, 25)
    np.testing.assert_allclose(X.cov(), expected, atol=0.03)


@pytest.mark.parametrize("snr", [0.5, 3.0, 50.0])
def test_the_noise_has_the_variance_asked_for(snr):
    X, y, beta = simulate(40_000, 20, snr=snr, random_state=3)
    signal = X @ beta
    assert signal.var() / (y - signal).var() == pytest.approx(snr, rel=0.05)


def test_classes_are_drawn_with_logistic_probabilities():
    X, y, beta = simulate(40_000, 20, family="binomial", snr=2.0, random_state=4)
    eta = (X @ beta).to_numpy()
    assert y.name == "y" and set(y) == {0, 1}
    assert eta.var() / (np.pi**2 / 3) == pytest.approx(2.0)
    probability = 1 / (1 + np.exp(-eta))
    for edge in np.arange(0, 1, 0.1):
        near = (probability >= edge) & (probability < edge + 0.1)
        assert y[near].mean() == pytest.approx(probability[near].mean(), abs=0.03)


def test_counts_have_the_mean_and_the_signal_asked_for():
    X, y, beta = simulate(100_000, 20, family="poisson", snr=1.5, random_state=5)
    mean = 2 * np.exp(X @ beta - (X @ beta).var() / 2)
    assert y.dtype.kind == "i" and y.min() == 0
    assert y.mean() == pytest.approx(2, rel=0.03)
    assert mean.var() / mean.mean() == pytest.approx(1.5, rel=0.1)
    assert ((y - mean) / np.sqrt(mean)).var() == pytest.approx(1, rel=0.05)


def test_times_are_exponential_and_half_of_them_censored():
    X, y, beta = simulate(40_000, 20, family="cox", snr=2.0, random_state=6)
    eta = (X @ beta).to_numpy()
    assert list(y) == ["time", "status"] and set(y["status"]) == {0, 1}
    assert y["status"].mean() == pytest.approx(0.5, abs=0.02)
    assert eta.var() / (np.pi**2 / 6) == pytest.approx(2.0)
    # Events less the hazard e^eta lived through are a martingale.
    for rows in (eta < -1, np.abs(eta) <= 1, eta > 1):
        expected = (y["time"] * np.exp(eta))[rows].sum()
        assert y["status"][rows].sum() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("family", ["binomial", "poisson", "cox"])
def test_the_family_changes_neither_features_nor_who_is_true(family):
    X, y, beta = simulate(30, 40, family=family, nonzero=3, random_state=1)
    other, _, truth = simulate(30, 40, nonzero=3, random_state=1)
    np.testing.assert_array_equal(X, other)
    np.testing.assert_array_equal(np.sign(beta), truth)
    assert beta.abs().nunique() == 2 and len(y) == 30
    assert not simulate(30, 4, family=family, nonzero=0, random_state=1)[2].any()
    assert len(simulate(1, 2, family=family, nonzero=1, random_state=1)[1]) == 1


def test_a_simulation_of_an_unknown_family_lists_the_known():
    with pytest.raises(ValueError, match="gaussian, binomial, poisson, cox; got"):
        simulate(5, 2, family="gamma", nonzero=1)


def test_a_simulation_may_be_pure_noise_or_full():
    X, y, beta = simulate(50, 5, nonzero=0, random_state=1)
    assert not beta.any() and y.var() > 0
    assert simulate(50, 5, nonzero=5, random_state=1)[2].all()
    assert simulate(50, 5, nonzero=1, random_state=1)[2].abs().sum() == 1


@pytest.mark.parametrize("state", [7, np.int64(7), [1, 2]])
def test_the_same_seed_gives_the_same_data(state):
    for one, other in zip(*(simulate(9, 12, random_state=state) for _ in range(2))):
        np.testing.assert_array_equal(one, other)


def test_other_seeds_and_no_seed_give_other_data():
    draws = [simulate(9, 12, random_state=s)[0].iloc[0, 0] for s in (1, 2, None, None)]
    assert len(set(draws)) == 4


def test_a_generator_is_used_and_the_global_one_is_not():
    state = np.random.get_state()[1].copy()
    rng = np.random.default_rng(5)
    first, second = (simulate(9, 12, random_state=rng)[0] for _ in range(2))
    np.testing.assert_array_equal(first, simulate(9, 12, random_state=5)[0])
    assert (first != second).all(axis=None)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_a_fit_does_not_copy_a_simulated_design(correlation):
    X, y, _ = simulate(30, 40, correlation=correlation, random_state=1)
    assert np.shares_memory(clean(X, y).X, X.to_numpy())


def test_a_path_finds_the_truth_in_a_simulation():
    X, y, beta = simulate(200, 400, nonzero=5, snr=10, random_state=4)
    path = ncvpath(X, y, nlambda=30)
    assert path.selected(lam=path.select("ebic")) == list(beta.index[beta != 0])


def test_the_table_of_penalties_can_be_looked_at():
    table = penalties()
    assert list(table.index) == [row.name for row in ROWS]
    assert table["gamma"].isna().tolist() == [row.gamma is None for row in ROWS]
    assert table.loc["MCP", "gamma"] == 3
