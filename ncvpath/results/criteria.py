"""Information criteria along a path, with ncvreg's conventions."""

import numpy as np

from ..runtime.loading import package
from .predictions import family_of


def by_lambda(path, values, name):
    """Values along the path, as a Series."""
    pd = package("pandas")

    return pd.Series(values, index=pd.Index(path.lambdas, name="lambda"), name=name)


def loglik(path):
    """What the deviance is counted from, less half of it.

    Gaussian: -n/2 (log(2 pi loss / n) + 1), as sigma is estimated; infinite for a
    perfect fit.
    """
    if not family_of(path).is_quadratic:
        return path.saturated - path.loss / 2
    n = observations(path)
    with np.errstate(divide="ignore"):
        return -n / 2 * (np.log(2 * np.pi) + np.log(path.loss / n) + 1)


def saturated_loglik(family, likelihood):
    """The log-likelihood from which a likelihood's deviance is counted."""
    from_zero = -likelihood.total * likelihood.saturated
    if family.form == "survival" or family.is_quadratic:
        return from_zero
    # Constants of y that the loss leaves out, at whatever linear predictor.
    eta, weights = np.zeros(likelihood.y.size), likelihood.total * likelihood.weights
    constant = family.loglik(likelihood.y, eta, weights)
    return from_zero + float(constant + family.loss(likelihood.y, eta) @ weights)


def observations(path):
    """Rows with a weight, n; of counts, all their trials."""
    if path.trials is not None:
        return path.trials
    return path.n if path.weights is None else int(np.count_nonzero(path.weights))


def parameters(path):
    """Nonzero coefficients, the intercept, and sigma if there is one."""
    return path.df + path.has_intercept + family_of(path).is_quadratic


def aic(path):
    """2 parameters - 2 loglik."""
    return 2 * parameters(path) - 2 * loglik(path)


def bic(path):
    """log(n) parameters - 2 loglik."""
    return np.log(observations(path)) * parameters(path) - 2 * loglik(path)


def ebic(path, g):
    """Bic + 2 g log binomial(p, df)."""
    from scipy.special import gammaln

    p, df = path.p, path.df
    ways = gammaln(p + 1) - gammaln(df + 1) - gammaln(p - df + 1)
    with np.errstate(over="ignore"):  # infinity is an answer
        return bic(path) + 2 * g * ways
