"""The response of one fit, clean, as families read it."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Response:
    """y and what belongs to it, one entry per observation."""

    y: np.ndarray  # n, float64; of survival: 1 where there was an event, else 0
    offset: np.ndarray | None = None  # n, a fixed part of the linear predictor
    classes: tuple | None = None  # the user's two labels; the second is the event
    trials: np.ndarray | None = None  # n, totals where y is a share of counts
    start: np.ndarray | None = None  # n, where observations enter late
    stop: np.ndarray | None = None  # n, time of event or censoring
    strata: np.ndarray | None = None  # n, codes from 0: places in strata_labels
    strata_labels: tuple | None = None
    ties: str = "breslow"

    def weighted(self, weights):
        """Weights of observations that sum to one: a row of ten trials counts tenfold.

        A fit and its design use these.
        """
        if self.trials is None:
            return weights
        weights = weights * self.trials
        return weights / weights.sum()

    def total(self, weights):
        """How many observations weights stand for: rows that have one, or trials."""
        counted = weights > 0
        if self.trials is None:
            return int(np.count_nonzero(counted))
        return float(self.trials[counted].sum())
