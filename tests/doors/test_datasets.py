"""Data to try things on."""

import numpy as np
import pandas as pd
import pytest

from ncvpath import load_diabetes, ncvpath, penalties, simulate
from ncvpath.inputs.data import check_data
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
    assert np.shares_memory(check_data(X, y, None, None, True).X, X.to_numpy())


def test_a_path_finds_the_truth_in_a_simulation():
    X, y, beta = simulate(200, 400, nonzero=5, snr=10, random_state=4)
    path = ncvpath(X, y, nlambda=30)
    assert path.selected(lam=path.select("ebic")) == list(beta.index[beta != 0])


def test_the_table_of_penalties_can_be_looked_at():
    table = penalties()
    assert list(table.index) == [row.name for row in ROWS]
    assert table["gamma"].isna().tolist() == [row.gamma is None for row in ROWS]
    assert table.loc["MCP", "gamma"] == 3
