"""Information criteria along a Gaussian path, with ncvreg's conventions."""

import numpy as np


def loglik(path):
    """-n/2 (log(2 pi loss / n) + 1); infinite for a perfect fit."""
    with np.errstate(divide="ignore"):
        return -path.n / 2 * (np.log(2 * np.pi) + np.log(path.loss / path.n) + 1)


def parameters(path):
    """Nonzero coefficients, the intercept and sigma."""
    return path.df + path.has_intercept + 1


def aic(path):
    """2 parameters - 2 loglik."""
    return 2 * parameters(path) - 2 * loglik(path)


def bic(path):
    """log(n) parameters - 2 loglik."""
    return np.log(path.n) * parameters(path) - 2 * loglik(path)


def ebic(path, g):
    """Bic + 2 g log binomial(p, df)."""
    from scipy.special import gammaln

    p, df = path.p, path.df
    return bic(path) + 2 * g * (gammaln(p + 1) - gammaln(df + 1) - gammaln(p - df + 1))
