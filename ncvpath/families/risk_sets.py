"""Who is at risk when: sums over risk sets and back, by cumulative sums or a tree.

Row i is at risk at the event times t with start_i < t <= stop_i of its stratum. Event
times of all strata are numbered in one go, stratum by stratum, so that these are the
numbers first_i, ..., last_i - 1.
"""

import numpy as np

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


class Intervals:
    """Sums over intervals of times, from first to last - 1, for rows that enter late.

    Differences of cumulative sums would lose the digits of small risks beside large
    ones that are yet to enter. An interval is a few nodes of a binary tree over times
    instead: node k has the children 2 k and 2 k + 1, the leaves are times.
    """

    def __init__(self, first, last, size):
        from scipy.sparse import csr_array

        self.size, self.leaves = size, 1 << max(size - 1, 0).bit_length()
        left, right, rows, nodes = first + self.leaves, last + self.leaves, [], []
        while (left < right).any():
            for odd, node, step in ((left % 2, left, 1), (right % 2, right, -1)):
                some = np.flatnonzero((left < right) & (odd == 1))
                if step < 0:
                    node[some] -= 1
                rows.append(some)
                nodes.append(node[some])
                if step > 0:
                    node[some] += 1
            left, right = left // 2, right // 2
        rows, nodes = np.concatenate(rows), np.concatenate(nodes)
        shape = first.size, 2 * self.leaves
        self.covers = csr_array((np.ones(rows.size), (rows, nodes)), shape=shape)
        self.covered = self.covers.T.tocsr()

    def sums(self, values):
        """By time, the sum of values of rows whose interval it is in."""
        tree = self._times(self.covered, values)
        for width in self._widths():
            children = tree[..., 2 * width : 4 * width]
            children += np.repeat(tree[..., width : 2 * width], 2, axis=-1)
        return tree[..., self.leaves : self.leaves + self.size]

    def back(self, terms):
        """By row, the sum of terms at the times of its interval."""
        tree = np.zeros((*terms.shape[:-1], 2 * self.leaves))
        tree[..., self.leaves : self.leaves + self.size] = terms
        for width in reversed(list(self._widths())):
            children = tree[..., 2 * width : 4 * width]
            tree[..., width : 2 * width] = children[..., ::2] + children[..., 1::2]
        return self._times(self.covers, tree)

    def _widths(self):
        """Nodes by level, from the root on, of those that have children."""
        return (1 << level for level in range(self.leaves.bit_length() - 1))

    def _times(self, matrix, values):
        flat = values.reshape(-1, values.shape[-1])
        return (matrix @ flat.T).T.reshape(*values.shape[:-1], -1)


class Segments:
    """Cumulative sums that start anew where a label changes: what is left of a
    difference of sums across strata would be the rounding of the larger."""

    def __init__(self, labels):
        self.starts = np.append(0, np.flatnonzero(np.diff(labels)) + 1)
        self.sizes = np.diff(np.append(self.starts, labels.size))
        # How many of the same segment stand before each.
        self._before = np.arange(labels.size) - np.repeat(self.starts, self.sizes)

    def so_far(self, values):
        """From the first of its segment to each."""
        longest, count = int(self.sizes.max()), 1
        if self.starts.size <= longest.bit_length():
            found = np.empty_like(values)
            for part in map(slice, self.starts, self.starts + self.sizes):
                np.cumsum(values[..., part], axis=-1, out=found[..., part])
            return found
        found = values.copy()
        while count < longest:  # each knows the sum of so many; twice as many next time
            known = self._before[count:] >= count
            found[..., count:] += np.where(known, found[..., :-count], 0.0)
            count *= 2
        return found


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
        self.row_segments = Segments(stratum[order])
        self.from_the_end = Segments(stratum[order[::-1]])
        self.time_segments = Segments(codes // span)
        self.ahead = np.searchsorted(self.last, np.arange(codes.size), side="right")
        self.intervals = None
        if self._enters_late(first):
            self.intervals = Intervals(first, self.last, codes.size)
        self._note_events(response.ties)
        # Who was last at risk at an event time may have been censored after it.
        self.times, self.strata = np.empty(codes.size), codes // span
        self.times[self.last[self.died] - 1] = response.stop[self.rows[self.died]]

    def _enters_late(self, first):
        """Whether a row enters after the first event of its stratum."""
        starts = np.repeat(self.time_segments.starts, self.row_segments.sizes)
        return (first > starts).any()

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
        """The sums of positive values, which are positive, too."""
        return np.maximum(self.sums(risk), TINY)

    def sums(self, values):
        """Of the values of rows, over the risk set of each term."""
        if self.intervals is None:
            ahead = self.from_the_end.so_far(values[..., ::-1])[..., ::-1]
            found = np.take(ahead, self.ahead, axis=-1)
        else:
            found = self.intervals.sums(values)
        return found if self.efron is None else self.efron.sums(values, found)

    def back(self, terms):
        """Sums of terms, for each row over those at which it is at risk."""
        by_time = terms if self.efron is None else self.efron.by_time(terms)
        if self.intervals is None:
            found = np.take(self.time_segments.so_far(by_time), self.last - 1, axis=-1)
        else:
            found = self.intervals.back(by_time)
        if self.efron is not None:
            self.efron.give_back(terms, found)
        return found

    def largest(self, values):
        """The largest value in each row's stratum."""
        if self.row_segments.starts.size == 1:
            return values.max(axis=-1, keepdims=True)
        found = np.maximum.reduceat(values, self.row_segments.starts, axis=-1)
        return np.repeat(found, self.row_segments.sizes, axis=-1)


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
