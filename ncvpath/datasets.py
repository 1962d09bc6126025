"""Data to try things on: three embedded studies and simulated regressions."""

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from .inputs.settings import check_random_state, check_simulation
from .runtime.loading import package

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 20  # features that share a latent factor under correlation="block"
MEAN_COUNT = 2.0
# Variances of the noise beside eta, where a class, or the log of a time, is drawn.
LOGISTIC, GUMBEL = np.pi**2 / 3, np.pi**2 / 6


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
    table = _table("diabetes").astype(float)
    return table.drop(columns="progression"), table["progression"]


def load_heart() -> "tuple[pd.DataFrame, pd.Series]":
    """The South African heart disease study: 462 men, 9 risk factors, yes or no.

    The response is 1 for coronary heart disease and 0 for none, about two of these for
    each case; `famhist` is 1 where it runs in the family. Source: a part of the
    baseline survey of Rousseauw et al. (1983), "Coronary risk factor screening in
    three rural communities", South African Medical Journal 64, 430-436, as published
    with Hastie, Tibshirani and Friedman, "The elements of statistical learning".

    Examples
    --------
    >>> from ncvpath import load_heart
    >>> X, y = load_heart()
    >>> X.shape, int(y.sum())
    ((462, 9), 160)
    """
    table = _table("heart")
    table["famhist"] = table["famhist"] == "present"
    return table.drop(columns="chd").astype(float), table["chd"]


def load_veteran() -> "tuple[pd.DataFrame, pd.DataFrame]":
    """The Veterans' lung cancer trial: survival of 137 men, 8 features.

    The response has columns time, in days, and status: 1 for death, 0 where the man
    was last seen alive. Features are the test treatment, the type of the tumour (none
    of the three: squamous), Karnofsky's score of performance, months since diagnosis,
    age and prior therapy. Source: Kalbfleisch and Prentice (1980), "The statistical
    analysis of failure time data", as in StatLib's data set veteran.

    Examples
    --------
    >>> from ncvpath import load_veteran
    >>> X, y = load_veteran()
    >>> X.shape, list(y)
    ((137, 8), ['time', 'status'])
    """
    table = _table("veteran")
    X = table[["karnofsky", "months", "age"]].astype(float)
    X.insert(0, "test", table["treatment"] == "test")
    for place, kind in enumerate(("smallcell", "adeno", "large"), 1):
        X.insert(place, kind, table["celltype"] == kind)
    X["prior"] = table["prior"] == "yes"
    return X.astype(float), table[["time", "status"]].astype({"time": float})


def _table(name):
    """A table of the package's own."""
    with (files("ncvpath") / "data" / f"{name}.csv").open() as stream:
        return package("pandas").read_csv(stream)


def simulate(
    n, p, *, family="gaussian", nonzero=10, correlation="ar1", rho=0.5, snr=3.0,
    random_state=None,
) -> "tuple[pd.DataFrame, pd.Series | pd.DataFrame, pd.Series]":
    """Draw a sparse regression.

    Parameters
    ----------
    n, p : int
        Rows and features; columns are standard normal.
    family : {"gaussian", "binomial", "poisson", "cox"}
        What y is: numbers; 0 and 1; counts, two in the mean; or a table of time and
        status, where every other time is censored.
    nonzero : int
        True features, spread evenly over the columns, with coefficients of
        alternating sign and one size: 1 for gaussian, and for the others as large as
        snr asks for.
    correlation : {"ar1", "block", "none"}
        ar1: rho^|j - k|. block: rho within blocks of 20 neighbouring features.
    rho : float in [0, 1)
    snr : float
        Variance of the signal over variance of the noise. binomial and cox: that of
        the linear predictor, to which logistic noise is added to draw a class, and
        Gumbel noise for the logarithm of a time. poisson: that of means, over the mean.
    random_state : int or numpy Generator, optional
        The global random state is never touched.

    Returns
    -------
    X : DataFrame
    y : Series (cox: DataFrame)
    beta : Series

    Examples
    --------
    >>> from ncvpath import simulate
    >>> X, y, beta = simulate(100, 500, nonzero=5, random_state=1)
    >>> int((beta != 0).sum())
    5
    >>> X, y, beta = simulate(100, 500, family="cox", random_state=1)
    >>> list(y)
    ['time', 'status']
    """
    pd = package("pandas")

    sizes = check_simulation(n, p, family, nonzero, correlation, rho, snr)
    n, p, nonzero, rho, snr = sizes
    rng = check_random_state(random_state)
    columns = _correlated(rng, n, p, correlation, rho)
    beta = np.zeros(p)
    where = np.linspace(0, p - 1, nonzero).round().astype(int)
    beta[where] = np.where(np.arange(nonzero) % 2 == 0, 1.0, -1.0)
    signal = beta @ columns
    size = _signal_size(family, snr, signal)
    y = RESPONSES[family](rng, size * signal, snr)
    names = [f"x{j + 1}" for j in range(p)]
    return (
        pd.DataFrame(columns.T, columns=names, copy=False),
        pd.DataFrame(y) if isinstance(y, dict) else pd.Series(y, name="y"),
        pd.Series(size * beta, index=names, name="beta"),
    )


def _correlated(rng, n, p, correlation, rho):
    """One feature per row, so that the table of columns is not copied."""
    columns = rng.standard_normal((p, n))
    if correlation == "ar1":
        for j in range(1, p):
            columns[j] = rho * columns[j - 1] + np.sqrt(1 - rho**2) * columns[j]
    elif correlation == "block":
        factors = rng.standard_normal((-(-p // BLOCK), n))
        shared = np.repeat(factors, BLOCK, axis=0)[:p]
        columns = np.sqrt(rho) * shared + np.sqrt(1 - rho) * columns
    return columns


def _signal_size(family, snr, signal):
    """By what to multiply the signal, where the noise has a size of its own."""
    if family == "gaussian" or signal.size < 2 or not signal.any():
        return 1.0
    # Means m e^s, s normal: their variance over their mean is m (e^var(s) - 1).
    wanted = {
        "binomial": snr * LOGISTIC, "cox": snr * GUMBEL,
        "poisson": np.log1p(snr / MEAN_COUNT),
    }
    return np.sqrt(wanted[family] / signal.var())


def _numbers(rng, signal, snr):
    noise = rng.standard_normal(signal.size)
    if signal.any():
        noise *= np.sqrt(signal.var() / snr)
    return signal + noise


def _classes(rng, eta, snr):
    return (eta + rng.logistic(size=eta.size) > 0).astype(int)


def _counts(rng, eta, snr):
    return rng.poisson(MEAN_COUNT * np.exp(eta - eta.var() / 2))


def _times(rng, eta, snr):
    """Censored by times of the same distribution, so that each comes first as often."""
    event = rng.exponential(size=eta.size) * np.exp(-eta)
    censored = rng.exponential(size=eta.size) * np.exp(-rng.permutation(eta))
    return {
        "time": np.minimum(event, censored), "status": (event <= censored).astype(int)
    }


RESPONSES = {
    "gaussian": _numbers, "binomial": _classes, "poisson": _counts, "cox": _times
}
