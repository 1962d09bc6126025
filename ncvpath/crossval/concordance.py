"""Pairs that linear predictors put in the right order: AUC and concordance.

A pair whose linear predictors are equal counts half. Both take O(n log n) for each
linear predictor.
"""

import numpy as np


def auc(y, eta, weights):
    """The area under the ROC curve for each row of eta, and the weight of its pairs.

    y is 1 for the event and 0 for none; a share of events is that much of both, so that
    counts are judged as their single trials are. NaN where there is no pair.
    """
    events, others = weights * y, weights * (1 - y)
    pairs = events.sum() * others.sum()
    areas = np.full(len(eta), np.nan)
    for k in range(len(eta) if pairs > 0 else 0):
        values, place = np.unique(eta[k], return_inverse=True)
        above = np.bincount(place, events, values.size)
        below = np.bincount(place, others, values.size)
        areas[k] = above @ (np.cumsum(below) - below / 2) / pairs
    return areas, pairs


class Pairs:
    """The pairs of observations of which one is known to have had its event first.

    As in R's survival: an event comes before all that are at risk after it, and before
    those censored at its time; two events at the same time are no pair, nor are two
    observations of different strata. A pair weighs what its weights' product is.
    """

    def __init__(self, response, weights):
        time, event = response.stop, response.y > 0
        n = time.size
        strata = np.zeros(n, int) if response.strata is None else response.strata
        self.rows = np.arange(n)
        self.weights = weights
        if response.start is not None:
            # Who enters at an event or later is not at risk there: as if one were
            # censored at the entry who takes such pairs away again.
            self.rows = np.tile(self.rows, 2)
            time = np.append(time, response.start)
            event = np.append(event, np.zeros(n, bool))
            strata = np.tile(strata, 2)
            self.weights = np.append(weights, -weights)
        self.events = np.where(event, self.weights, 0.0)
        # Who has the larger key survives longer; the stratum is in the upper bits.
        keys = np.unique(np.stack([time, ~event]), axis=1, return_inverse=True)[1]
        keys = keys.ravel()
        self.bits = int(keys.max()).bit_length()
        self.keys = keys + (strata << self.bits)

    def credits(self, eta):
        """Twice the weight of all pairs, by observation, that eta orders rightly.

        For each row of eta; each pair counts for both of its observations. An event
        should have the larger linear predictor.
        """
        # Among equal predictors the order by survival decides; first it makes all of
        # their pairs wrong, then all of them right.
        eta = eta[:, self.rows]
        wrong = np.lexsort((np.broadcast_to(self.keys, eta.shape), eta))
        right = np.lexsort((np.broadcast_to(-self.keys, eta.shape), eta))
        return self._by_observation(self._ordered(wrong) + self._ordered(right))

    def possible(self):
        """Twice the weight of all pairs, by observation."""
        best = np.argsort(-self.keys, kind="stable")[None]
        return self._by_observation(2 * self._ordered(best))[0]

    def _by_observation(self, sums):
        """What belongs to those who enter late is in two places."""
        n = int(self.rows[-1]) + 1
        return sums if n == self.rows.size else sums[:, :n] + sums[:, n:]

    def _ordered(self, order):
        """The weight of pairs, by observation, whose event is the later in the order.

        Two keys differ first in one of their bits. For each bit, and among those that
        agree in all higher ones, cumulative sums in the order given count the pairs of
        a zero, who may have an event, and a one before it; then zeros move before ones.
        """
        sums, here = np.zeros(order.shape), np.arange(self.keys.size)
        strata = self.keys[order] >> self.bits
        by_stratum = np.argsort(strata, axis=1, kind="stable")
        order = np.take_along_axis(order, by_stratum, axis=1)
        for bit in reversed(range(self.bits)):
            group = np.sort(self.keys >> bit + 1)
            first = np.searchsorted(group, group)
            last = np.searchsorted(group, group, side="right")
            one = (self.keys[order] >> bit & 1) == 1
            weights, events = self.weights[order], self.events[order]
            survivors = cumulated(np.where(one, weights, 0.0))
            deaths = cumulated(np.where(one, 0.0, events))
            before = survivors[:, here] - survivors[:, first]
            after = deaths[:, last] - deaths[:, here]
            found = np.where(one, weights * after, events * before)
            found += np.take_along_axis(sums, order, axis=1)
            np.put_along_axis(sums, order, found, axis=1)
            ones = cumulated(one)
            earlier = ones[:, here] - ones[:, first]
            # Where zeros go, and where ones do: behind all zeros of the group.
            place = np.where(one, last - ones[:, last] + ones[:, here], here - earlier)
            moved = np.empty_like(order)
            np.put_along_axis(moved, place, order, axis=1)
            order = moved
        return sums


def cumulated(values):
    """Sums of the first 0, 1, 2, ... entries of each row."""
    kind = float if values.dtype == float else int
    out = np.zeros((values.shape[0], values.shape[1] + 1), kind)
    np.cumsum(values, axis=1, out=out[:, 1:])
    return out
