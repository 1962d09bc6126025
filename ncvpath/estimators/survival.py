"""`NcvSurvival`: Cox regression, as those who know scikit-survival would call it."""

from dataclasses import replace

import numpy as np

from ..crossval.concordance import Pairs
from ..families import FAMILIES
from ..inputs.data import row_weights
from ..inputs.labels import label_codes
from ..inputs.response import check_response
from ..inputs.survival import survival_times
from ..runtime.messages import brief
from .base import NcvEstimator, with_parameters
from .words import in_their_words


class StepFunction:
    """One row's curve: y[i] from x[i] on; called with times it gives their values.

    It answers as scikit-survival's of this name does, within its domain.

    Attributes
    ----------
    x, y : ndarray
        Times, ascending, and the values from each of them on.
    domain : tuple of float
        The first and the last time it can be asked for.

    Examples
    --------
    >>> from ncvpath.estimators import StepFunction
    >>> curve = StepFunction([0, 2, 5], [1.0, 0.8, 0.5])
    >>> curve([0, 1.9, 2, 5])
    array([1. , 1. , 0.8, 0.5])
    """

    def __init__(self, x, y):
        self.x, self.y = np.asarray(x), np.asarray(y)

    @property
    def domain(self):
        """The first and the last time."""
        return float(self.x[0]), float(self.x[-1])

    def __call__(self, x):
        """The values at these times."""
        x, (first, last) = np.asarray(x, dtype=float), self.domain
        outside = x[~((x >= first) & (x <= last))]
        if outside.size:
            raise ValueError(
                f"x must be within the domain, {first:g} to {last:g}; got "
                f"x={outside.flat[0]:g}"
            )
        return self.y[np.searchsorted(self.x, x, side="right") - 1]

    def __repr__(self):
        return f"StepFunction(x={brief(self.x)}, y={brief(self.y)})"


@with_parameters("family", "intercept")
class NcvSurvival(NcvEstimator):
    """A Cox regression of survival times on the features that a path selects.

    What else a fit leaves (`path_`, `cv_`, `lambda_` and so on) is as for
    `NcvRegressor`; `intercept_` is zero.

    Parameters
    ----------
    **settings : those of `ncvpath`
        penalty, gamma, alpha, nlambda, ties and all others by the same names, with the
        same defaults; a Cox model has no intercept. What belongs to rows goes to `fit`.
    select, cv, measure, random_state, n_jobs
        As for `NcvRegressor`; each fold has its share of events.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Log hazard ratios at `lambda_`, on the scale of X.
    unique_times_ : ndarray
        Where survival curves may step: zero, the times of events, the last time.

    Examples
    --------
    >>> from ncvpath import load_veteran
    >>> from ncvpath.estimators import NcvSurvival
    >>> X, y = load_veteran()
    >>> model = NcvSurvival(penalty="lasso", random_state=1).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.74
    >>> curve, = model.predict_survival_function(X.head(1))
    >>> curve([0, 100, 400]).round(2)
    array([1.  , 0.48, 0.05])
    """

    _fixed = {"family": "cox"}

    def fit(
        self, X, y, sample_weight=None, offset=None, strata=None, groups=None
    ):
        """Fit the path and choose a lambda.

        Parameters
        ----------
        X : as for `ncvpath`, n x p
        y : structured array, array or DataFrame with n rows
            scikit-survival's records of an event (bool) and a time; or columns time and
            status, or start, stop and status.
        sample_weight, offset, groups : optional
            As for `NcvRegressor.fit`.
        strata : sequence of length n, optional
            A label per row; each stratum has a baseline of its own.
        """
        self._refuse_no_y(y)
        X = self._read(X, reset=True)
        self._fit(X, y, sample_weight, groups, offset=offset, strata=strata)
        last = survival_times(y, len(y))[1].max()
        times = np.append(self.path_.baseline.times, last)
        self.unique_times_ = np.union1d(0.0, times)
        return self

    def predict(self, X, offset=None):
        """Risk scores: the logarithm of each row's relative hazard."""
        return self._ask(X, "link", offset=offset)

    def predict_survival_function(
        self, X, return_array=False, *, offset=None, strata=None
    ):
        """Survival curves.

        Parameters
        ----------
        X : as for `fit`
        return_array : bool
            Survival at `unique_times_` (n x times) instead of functions.
        offset, strata : as for `NcvPath.predict`
            Needed where the fit had them.

        Returns
        -------
        ndarray of n `StepFunction`, or of shape (n, times)
        """
        table = self._ask(X, "survival", offset=offset, strata=strata)
        place = np.searchsorted(table.index, self.unique_times_, side="right") - 1
        return self._curves(table.to_numpy()[place].T, return_array)

    def predict_cumulative_hazard_function(
        self, X, return_array=False, *, offset=None, strata=None
    ):
        """Minus the logarithm of survival, in the same shape."""
        survival = self.predict_survival_function(
            X, True, offset=offset, strata=strata
        )
        with np.errstate(divide="ignore"):  # nobody survives a hazard without end
            return self._curves(-np.log(survival), return_array)

    def score(self, X, y, sample_weight=None, offset=None, strata=None):
        """The concordance: the share of pairs of rows that are in the right order.

        As in R's survival and scikit-survival; with strata, of pairs within them.
        """
        eta = self.predict(X, offset)
        with in_their_words():
            response = check_response(
                FAMILIES["cox"], y, None, None, "breslow", eta.size
            )
            if strata is not None:
                codes, _ = label_codes("strata", strata, eta.size)
                response = replace(response, strata=codes)
            pairs = Pairs(response, row_weights(sample_weight, eta.size))
        possible = pairs.possible().sum()
        if not possible > 0:
            raise ValueError(
                "y must have an event before another row's time ends; got none"
            )
        return float(pairs.credits(eta[None]).sum() / possible)

    def _curves(self, values, return_array):
        if return_array:
            return values
        functions = np.empty(len(values), dtype=object)
        functions[:] = [StepFunction(self.unique_times_, row) for row in values]
        return functions
