"""Who is at risk when: sums over risk sets and back, by cumulative sums.

Row i is at risk at the event times t with start_i < t <= stop_i of its stratum. Event
times of all strata are numbered in one go, stratum by stratum, so that these are the
numbers first_i, ..., last_i - 1.
"""

import numpy as np

EPS = np.finfo(float).eps
TINY = 1e-300  # below any risk that e^(eta - max) has not rounded to zero


class Efron:
    """Tied events leave their risk set one after the other, on average.

    The d events at one time become d terms; term l counts them by 1 - l / d.
    """

    def __init__(self, deaths, counts):
        self.deaths = deaths  # rows, by time
        self.row_starts = np.cumsum(counts) - counts
        self.time = np.repeat(np.arange(counts.size), counts)  # of deaths and of terms
        self.share = (np.arange(deaths.size) - self.row_starts[self.time]) / (
            counts[self.time]
        )

    def sums(self, values, at_risk):
        """By term: of all at risk, less the share of those with an event."""
        died = np.add.reduceat(values[..., self.deaths], self.row_starts, axis=-1)
        return at_risk[..., self.time] - self.share * died[..., self.time]

    def by_time(self, terms):
        """Terms of one time added."""
        return np.add.reduceat(terms, self.row_starts, axis=-1)

    def give_back(self, terms, rows):
        """Take from rows with an event the shares by which terms did not count them."""
        rows[..., self.deaths] -= self.by_time(self.share * terms)[..., self.time]


class RiskSets:
    """The matrix C of terms (one per event time; Efron: per event) by rows at risk.

    `sums` is C v and `back` is C' u, along the last axis, for rows in our order:
    by the last time at which they are at risk.
    """

    def __init__(self, response, weights):
        kept = np.flatnonzero(weights > 0)
        stratum = np.zeros(kept.size, int)
        if response.strata is not None:
            stratum = response.strata[kept].astype(int)
        first, last, codes, span = _intervals(response, kept, stratum)
        # Rows that are never at risk have no part in it; nor has their stratum.
        order = np.argsort(last, kind="stable")
        order = order[last[order] > first[order]]
        self.rows, self.last, first = kept[order], last[order], first[order]
        self.weights, self.died = weights[self.rows], response.y[self.rows] > 0
        self.row_parts = _parts(stratum[order])
        self.time_parts = _parts(codes // span)
        self.ahead = np.searchsorted(self.last, np.arange(codes.size), side="right")
        self._note_entries(first)
        self._note_events(response.ties)
        # Who was last at risk at an event time may have been censored after it.
        self.times, self.strata = np.empty(codes.size), codes // span
        self.times[self.last[self.died] - 1] = response.stop[self.rows[self.died]]

    def _note_entries(self, first):
        """Rows that enter after the first event of their stratum."""
        opening = np.empty_like(first)
        for rows, times in zip(self.row_parts, self.time_parts):
            opening[rows] = times.start
        late = np.flatnonzero(first > opening)
        self.late = late[np.argsort(first[late], kind="stable")]
        entry = first[self.late]
        self.before_entry = entry - 1
        self.late_parts, waiting = [], np.full(self.ahead.size, late.size)
        for times in self.time_parts:
            begin, end = np.searchsorted(entry, [times.start, times.stop])
            self.late_parts.append(slice(begin, end))
            numbers = np.arange(times.start, times.stop)
            where = np.searchsorted(entry[begin:end], numbers, side="right") + begin
            waiting[times] = np.where(where < end, where, late.size)
        self.waiting = waiting  # the first row that is yet to enter, or one past all

    def _note_events(self, ties):
        """The weight of events by term."""
        deaths = np.flatnonzero(self.died)
        time = self.last[deaths] - 1
        counts = np.bincount(time)
        mass = np.bincount(time, self.weights[deaths])
        self.mass, self.efron = mass, None
        self.saturated = float(mass @ np.log(mass))
        if ties == "efron" and counts.max() > 1:
            self.efron = efron = Efron(deaths, counts)
            self.mass = (mass / counts)[efron.time]
            left = mass[efron.time] * (1 - efron.share)
            self.saturated = float(self.mass @ np.log(left))

    def at_risk(self, risk):
        """The sums of positive values: at least what rounding leaves of them."""
        least = TINY
        if self.late.size:
            # Those yet to enter are taken from a sum of which this much is known.
            least = np.maximum(EPS * self._sums_to_come(risk), TINY)
            least = least if self.efron is None else least[..., self.efron.time]
        return np.maximum(self.sums(risk), least)

    def _sums_to_come(self, values):
        """By time, over rows that leave then or later, whether they entered or not."""
        return np.take(_sums_ahead(values, self.row_parts), self.ahead, axis=-1)

    def sums(self, values):
        """Of the values of rows, over the risk set of each term."""
        found = self._sums_to_come(values)
        if self.late.size:
            entering = np.zeros((*values.shape[:-1], self.late.size + 1))
            late = _sums_ahead(values[..., self.late], self.late_parts)
            entering[..., :-1] = late
            found -= entering[..., self.waiting]
        return found if self.efron is None else self.efron.sums(values, found)

    def back(self, terms):
        """Sums of terms, for each row over those at which it is at risk."""
        by_time = terms if self.efron is None else self.efron.by_time(terms)
        so_far = _sums_so_far(by_time, self.time_parts)
        found = np.take(so_far, self.last - 1, axis=-1)
        if self.late.size:
            found[..., self.late] -= so_far[..., self.before_entry]
        if self.efron is not None:
            self.efron.give_back(terms, found)
        return found

    def largest(self, values):
        """The largest value in each row's stratum."""
        if len(self.row_parts) == 1:
            return values.max(axis=-1, keepdims=True)
        starts = [part.start for part in self.row_parts]
        sizes = [part.stop - part.start for part in self.row_parts]
        return np.repeat(np.maximum.reduceat(values, starts, axis=-1), sizes, axis=-1)


def _intervals(response, kept, stratum):
    """(first, last) of each row, codes of event times, and how many a stratum can have.

    A code is stratum * span + rank of the time.
    """
    stop, event = response.stop[kept], response.y[kept] > 0
    times = np.unique(stop[event])
    span = times.size
    rank = np.searchsorted(times, stop, side="right")
    codes = np.unique((stratum * span + rank - 1)[event])
    last = np.searchsorted(codes, stratum * span + rank)
    entered = 0
    if response.start is not None:
        entered = np.searchsorted(times, response.start[kept], side="right")
    return np.searchsorted(codes, stratum * span + entered), last, codes, span


def _parts(labels):
    """Slices of equal neighbours."""
    edges = np.flatnonzero(np.diff(labels)) + 1
    bounds = [0, *edges.tolist(), labels.size]
    return [slice(*pair) for pair in zip(bounds[:-1], bounds[1:])]


# Sums start anew in each stratum: what is left of a difference of sums across strata
# would be the rounding of the larger.
def _sums_so_far(values, parts):
    if len(parts) == 1:
        return np.cumsum(values, axis=-1)
    found = np.empty_like(values)
    for part in parts:
        np.cumsum(values[..., part], axis=-1, out=found[..., part])
    return found


def _sums_ahead(values, parts):
    """From each entry to the last of its part."""
    found = np.empty_like(values)
    for part in parts:
        np.cumsum(
            values[..., part][..., ::-1], axis=-1, out=found[..., part][..., ::-1]
        )
    return found
