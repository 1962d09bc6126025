"""Survival times: Cox's partial likelihood."""

import numpy as np

from .family import Family
from .likelihood import Likelihood
from .risk_sets import RiskSets

ENTRIES = 1 << 17  # of blocks of columns, which then stay in the cache


class Cox(Family):
    """Proportional hazards: who has the event, among those at risk when it happens.

    The loss is no sum over observations; `bind` gives what the solver asks.
    """

    name = "cox"
    response = "(time, status) or (start, stop, status)"
    form = "survival"
    has_intercept = False
    predict_types = ("response", "link", "survival", "median")
    joint_measures = ("deviance", "concordance")

    def mean(self, eta):
        """The relative risk."""
        with np.errstate(over="ignore"):
            return np.exp(eta)

    @property
    def measures(self):
        """None by observation: those of survival are of all rows together."""
        return {}

    def bind(self, response, weights, intercept):
        """The partial likelihood of one fit, which has no intercept."""
        return PartialLikelihood(self, response, weights)


class PartialLikelihood(Likelihood):
    """Minus the log partial likelihood, over n.

    With weights w (sum one, n of them positive), D_k the weight of events at time k and
    S_k the sum of n w e^eta over those at risk, the loss is sum_k D_k log S_k -
    sum_events w eta; Efron's ties: a sum over more terms, with parts of those who have
    the event. Linear predictors eta (K, n) come without the offset.
    """

    is_coupled = True
    intercept = False

    def __init__(self, family, response, weights):
        self.family, self.weights = family, weights
        self.total = response.total(weights)
        self.offset, self.n = response.offset, weights.size
        self.y = response.y
        self.risk_sets = risk_sets = RiskSets(response, weights)
        self._died = risk_sets.died.astype(float)
        self._event_weights = risk_sets.weights * self._died
        self._scaled_weights = risk_sets.weights * self.total
        self.saturated = risk_sets.saturated + risk_sets.mass.sum() * np.log(self.total)
        self.limit = self.saturated

    def _predictor(self, eta):
        """Of rows at risk, in the order of risk sets, less its maximum by stratum.

        A constant in a stratum has no effect, and e^eta does not overflow.
        """
        eta = np.take(eta, self.risk_sets.rows, axis=-1)
        if self.offset is not None:
            eta += self.offset[self.risk_sets.rows]
        eta -= self.risk_sets.largest(eta)
        return eta

    def _at_risk(self, risk):
        """S by term."""
        return self.risk_sets.at_risk(self._scaled_weights * risk)

    def loss(self, eta):
        """Minus the log partial likelihood over n, for each row of eta."""
        eta = self._predictor(eta)
        at_risk = self._at_risk(np.exp(eta))
        return np.log(at_risk) @ self.risk_sets.mass - eta @ self._event_weights

    def event_loss(self, eta):
        """Minus the log of the share of risk that each event had at its time; else 0.

        For each row of eta; weighted, they add to the loss. With Efron's ties the mean
        over the terms of its time.
        """
        eta = self._predictor(eta)
        logs = np.log(self._at_risk(np.exp(eta)))
        efron = self.risk_sets.efron
        if efron is not None:
            logs = efron.by_time(logs) / np.bincount(efron.time)
        at_events = np.take(logs, self.risk_sets.last - 1, axis=-1)
        return self._in_place(self._died * (at_events - eta))

    def residual(self, eta):
        """Martingale residuals: the gradient by beta_j is -sum_i w_i r_i x_ij."""
        return self._in_place(self._died - self._expected(eta))

    def curvature(self, eta):
        """The first term of the Hessian's diagonal: the events expected of each row."""
        return self._in_place(self._expected(eta))

    def terms(self):
        """Of events seen and expected."""
        size = self._in_place(self._died) + self.curvature(np.zeros((1, self.n)))[0]
        return float(np.sqrt(size**2 @ self.weights))

    def _expected(self, eta):
        """e^eta times the cumulative hazard, where at risk."""
        risk = np.exp(self._predictor(eta))
        return self._events_of(risk, self._hazard(self._at_risk(risk)))

    def _hazard(self, at_risk):
        """What each term adds to the cumulative hazard: weight of events over risk."""
        return self.total * self.risk_sets.mass / at_risk

    def _events_of(self, risk, hazard):
        return risk * np.maximum(self.risk_sets.back(hazard), 0.0)

    def _in_place(self, values):
        """In the order of the data; zero where never at risk, or without weight."""
        found = np.zeros((*values.shape[:-1], self.n))
        found[..., self.risk_sets.rows] = values
        return found

    def hessian(self, eta):
        """The exact one at eta (n,), as an operator."""
        return Hessian(self, np.exp(self._predictor(eta)))


class Hessian:
    """M such that X' diag(w) M X is the Hessian: M = diag(h) - C' diag(..) C.

    For a column z, M z = h z - risk * C'(hazard * mean of z over the risk set).
    """

    def __init__(self, likelihood, risk):
        self.risk_sets, self.risk, self.n = likelihood.risk_sets, risk, likelihood.n
        self._at_risk = likelihood._at_risk(risk)
        self._hazard = likelihood._hazard(self._at_risk)
        self._curvature = likelihood._events_of(risk, self._hazard)
        self._mass = likelihood._scaled_weights * risk

    def times(self, Z):
        """M Z, for columns Z (n x b)."""
        found = np.zeros((Z.shape[1], self.n))
        step = max(1, ENTRIES // self.n)
        for begin in range(0, Z.shape[1], step):
            part = slice(begin, begin + step)
            found[part, self.risk_sets.rows] = self._times_rows(Z[:, part].T)
        return found.T

    def _times_rows(self, columns):
        columns = np.take(columns, self.risk_sets.rows, axis=-1)
        means = self.risk_sets.sums(self._mass * columns) / self._at_risk
        columns *= self._curvature
        columns -= self.risk * self.risk_sets.back(self._hazard * means)
        return columns
