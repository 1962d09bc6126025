"""Data to try things on: the embedded diabetes study and simulated regressions."""

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from .inputs.settings import check_random_state, check_simulation
from .runtime.loading import package

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 20  # features that share a latent factor under correlation="block"


def load_diabetes() -> "tuple[pd.DataFrame, pd.Series]":
    """The diabetes study: 442 patients, 10 baseline measurements.

    The response is a measure of disease progression one year later. Source: Efron,
    Hastie, Johnstone and Tibshirani (2004), "Least angle regression", Annals of
    Statistics 32, 407-499; values as measured, not scaled.

    Examples
    --------
    >>> from ncvpath import load_diabetes
    >>> X, y = load_diabetes()
    >>> X.shape
    (442, 10)
    """
    pd = package("pandas")

    with (files("ncvpath") / "data" / "diabetes.csv").open() as stream:
        table = pd.read_csv(stream).astype(float)
    return table.drop(columns="progression"), table["progression"]


def simulate(
    n, p, *, nonzero=10, correlation="ar1", rho=0.5, snr=3.0, random_state=None
) -> "tuple[pd.DataFrame, pd.Series, pd.Series]":
    """Draw a sparse linear regression.

    Parameters
    ----------
    n, p : int
        Rows and features; columns are standard normal.
    nonzero : int
        True features, spread evenly over the columns, with coefficients of
        alternating sign and size 1.
    correlation : {"ar1", "block", "none"}
        ar1: rho^|j - k|. block: rho within blocks of 20 neighbouring features.
    rho : float in [0, 1)
    snr : float
        Variance of the signal over variance of the noise.
    random_state : int or numpy Generator, optional
        The global random state is never touched.

    Returns
    -------
    X : DataFrame
    y : Series
    beta : Series

    Examples
    --------
    >>> from ncvpath import simulate
    >>> X, y, beta = simulate(100, 500, nonzero=5, random_state=1)
    >>> int((beta != 0).sum())
    5
    """
    pd = package("pandas")

    n, p, nonzero, rho, snr = check_simulation(n, p, nonzero, correlation, rho, snr)
    rng = check_random_state(random_state)
    # Transposed: one feature per row, so that the table of columns is not copied.
    columns = rng.standard_normal((p, n))
    if correlation == "ar1":
        for j in range(1, p):
            columns[j] = rho * columns[j - 1] + np.sqrt(1 - rho**2) * columns[j]
    elif correlation == "block":
        factors = rng.standard_normal((-(-p // BLOCK), n))
        shared = np.repeat(factors, BLOCK, axis=0)[:p]
        columns = np.sqrt(rho) * shared + np.sqrt(1 - rho) * columns
    beta = np.zeros(p)
    where = np.linspace(0, p - 1, nonzero).round().astype(int)
    beta[where] = np.where(np.arange(nonzero) % 2 == 0, 1.0, -1.0)
    signal = beta @ columns
    noise = rng.standard_normal(n)
    if signal.any():
        noise *= np.sqrt(signal.var() / snr)
    names = [f"x{j + 1}" for j in range(p)]
    return (
        pd.DataFrame(columns.T, columns=names, copy=False),
        pd.Series(signal + noise, name="y"),
        pd.Series(beta, index=names, name="beta"),
    )
