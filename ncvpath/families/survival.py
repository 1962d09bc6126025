"""Survival curves of a proportional hazards model: its baseline, and what follows.

The baseline is that of Kalbfleisch and Prentice, as in ncvreg: at each event time the
cumulative hazard rises by the h that solves

    sum_events w theta / (1 - e^(-theta h)) = sum_at_risk w theta,   theta = e^eta

which is h = -log(1 - w theta / sum_at_risk) / theta where one has the event, and the
maximum likelihood where several have. It belongs to the linear predictor `center`,
the mean over the training rows, so that adding a constant to a column changes nothing.
"""

from dataclasses import dataclass, replace

import numpy as np

from .risk_sets import RiskSets

EPS, TINY = np.finfo(float).eps, np.finfo(float).tiny
LARGE = 1e150  # whose square is a number
STEPS = 60  # of Newton's method for tied events; a few are enough


@dataclass(frozen=True, eq=False)
class Baseline:
    """Cumulative hazards at event times, for L lambdas."""

    times: np.ndarray  # m, ascending in each stratum
    strata: np.ndarray  # m, codes, ascending
    hazard: np.ndarray  # m x L, cumulative, at the linear predictor `center`
    center: np.ndarray  # L
    labels: tuple | None = None  # the user's, of strata

    def at(self, mix):
        """Those of other lambdas, by weights (L x K, sparse) of neighbours.

        The centre is mixed as coefficients are, and so are logarithms of hazards.
        """
        with np.errstate(divide="ignore", invalid="ignore"):  # a hazard without end
            logs = (mix.T @ np.log(self.hazard).T).T
        return replace(self, hazard=np.exp(logs), center=mix.T @ self.center)

    def survival(self, link, strata):
        """Event times (T,) of all strata, and survival at them (T x rows x K).

        `link` (rows x K) are linear predictors of rows of the strata of these codes.
        """
        times = np.unique(self.times)
        curves = np.ones((times.size, *link.shape))
        for code in np.unique(strata):
            rows, own = strata == code, self.strata == code
            hazard = np.vstack([np.zeros((1, link.shape[1])), self.hazard[own]])
            place = np.searchsorted(self.times[own], times, side="right")
            with np.errstate(over="ignore", invalid="ignore"):
                risk = np.exp(link[rows] - self.center)
                left = np.exp(-hazard[place][:, None] * risk)
            # No risk is so small that it withstands a hazard without end.
            curves[:, rows] = np.where(np.isnan(left), 0.0, left)
        return times, curves

    def median(self, link, strata):
        """The first event time with survival of one half at most, or NaN."""
        with np.errstate(over="ignore"):
            needed = np.log(2) * np.exp(self.center - link)
        found = np.full(link.shape, np.nan)
        for code in np.unique(strata):
            rows, own = np.flatnonzero(strata == code), self.strata == code
            times = np.append(self.times[own], np.nan)
            for k in range(link.shape[1]):
                place = np.searchsorted(self.hazard[own, k], needed[rows, k])
                found[rows, k] = times[place]
        return found


def make_baseline(response, weights, blocks, shift):
    """The baseline of linear predictors, the offset included: blocks of K x n.

    `shift` (L,) is what was taken away from each of them to centre columns. Rows
    without weight do not count.
    """
    risk_sets = RiskSets(replace(response, ties="breslow"), weights)
    counted, centers, hazards = weights > 0, [], []
    for eta in blocks:
        centers.append(eta[:, counted] @ weights[counted])
        hazards.append(cumulative_hazard(risk_sets, eta - centers[-1][:, None]))
    return Baseline(
        risk_sets.times, risk_sets.strata, np.concatenate(hazards).T,
        np.concatenate(centers) + shift, response.strata_labels,
    )


def cumulative_hazard(risk_sets, eta):
    """By event time (K x m), for a linear predictor of zero."""
    eta = eta[:, risk_sets.rows]
    risk = np.exp(eta - risk_sets.largest(eta)) * risk_sets.weights
    deaths = np.flatnonzero(risk_sets.died)
    deaths = deaths[np.argsort(risk_sets.last[deaths], kind="stable")]
    time = risk_sets.last[deaths] - 1
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        share = np.fmin(risk[:, deaths] / risk_sets.sums(risk)[:, time], 1.0)
        jumps = -np.log1p(-share) * np.exp(-eta[:, deaths])
    rises = np.zeros((len(eta), risk_sets.times.size))
    rises[:, time] = jumps
    tied = np.flatnonzero(np.bincount(time) > 1)
    for k in tied:
        own = time == k
        weights = risk_sets.weights[deaths[own]]
        rises[:, k] = tied_rise(weights, eta[:, deaths[own]], share[:, own])
    return risk_sets.time_segments.so_far(rises)


def tied_rise(weights, eta, share):
    """The rise h at which events of these shares of the risk are most likely.

    With u = 1 / h, f(u) = sum w u phi(theta / u), phi(x) = x / (1 - e^-x), is convex
    and rises from sum w theta; f(u) = the risk is solved by Newton's method from above,
    where each step stays.
    """
    largest = eta.max(axis=1, keepdims=True)  # taken away, so that nothing overflows
    theta = np.exp(eta - largest)
    at_risk = (weights * theta).sum(axis=1) / np.minimum(share.sum(axis=1), 1.0)
    u = at_risk / weights.sum()
    for _ in range(STEPS):
        x = np.clip(theta / u[:, None], TINY, LARGE)
        phi = x / -np.expm1(-x)
        slope = (phi**2 * np.exp(-x)) @ weights
        excess = u * (phi @ weights) - at_risk
        u, before = np.maximum(u - excess / np.maximum(slope, TINY), TINY), u
        if (np.abs(u - before) <= 4 * EPS * before).all():
            break
    everyone = share.sum(axis=1) > 1 - 16 * EPS * weights.size
    with np.errstate(over="ignore"):
        return np.where(everyone, np.inf, np.exp(-largest[:, 0]) / u)
