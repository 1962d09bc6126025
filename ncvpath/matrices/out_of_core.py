"""A matrix of which a few columns are at hand: those that work, or have worked.

The others are on disk or on a cluster (`source`: columns.py, distributed.py). What
concerns all columns is computed by blocks, where they are; the columns of the working
set are fetched once and kept, as far as the budget allows.
"""

import numpy as np

from .columns import batches
from .dense import dense_matrix

# Bytes of columns that are kept at hand, and of columns standardized together.
KEPT = 1 << 28
STANDARDIZED = 1 << 25


class OutOfCoreMatrix:
    """The operations of a matrix, on columns that come from a source."""

    def __init__(self, source, threads):
        self.source, self.threads = source, threads
        self.cache = ColumnCache(source)
        self.trips = 0  # times the source was asked

    @property
    def round_trips(self):
        """How often a cluster was asked; None if there is none."""
        return self.trips if self.source.distant else None

    @property
    def size(self):
        """Numbers that a pass over X reads."""
        return self.source.size

    is_tall = False  # products of columns are computed when needed

    @property
    def nbytes(self):
        """Memory that counts as X's own: X is elsewhere, some columns are here."""
        return min(self.size * self.source.dtype.itemsize, 4 * KEPT)

    def work(self, features):
        """Numbers that these columns hold."""
        return features.size * self.source.shape[0]

    def cancellation(self, center, scale):
        """Entries are centred before they are summed: nothing else is rounded."""
        return 1.0

    def measure_without(self, rows, total, weights, intercept):
        """The same for part of the rows; the columns must be read anyway."""
        return self.measure(weights, intercept)

    def measure(self, weights, intercept):
        """Mean and root mean square about it, 0 if constant, by column."""
        center, scale = np.empty((2, self.source.shape[1]))
        every = np.arange(center.size)
        for some, found in self._each(measured, every, None, weights, intercept):
            center[some], scale[some] = found
        return center, scale

    def correlate(self, vectors, features, center, scale):
        """<vector, x_j> of standardized columns, |vectors| x |features|."""
        out = np.empty((len(vectors), features.size))
        far = np.arange(features.size)
        at_hand = self.cache.slot[features] >= 0
        if 2 * np.count_nonzero(at_hand) > features.size:  # else one long stretch
            near, far = at_hand.nonzero()[0], (~at_hand).nonzero()[0]
            dense, known = self.cache.dense(self.threads)
            slots = self.cache.slot[features[near]]
            out[:, near] = dense.correlate(vectors, slots, center[known], scale[known])
        if far.size:
            asked = features[far]
            own = np.array([center[asked], scale[asked]])
            for some, found in self._each(correlated, asked, own, vectors):
                out[:, far[some]] = found
        return out

    def gram(self, rows, columns, weights, center, scale):
        """Weighted products of standardized columns, |rows| x |columns|."""
        if self._hold(np.union1d(rows, columns)):
            dense, known = self.cache.dense(self.threads)
            slot = self.cache.slot
            return dense.gram(
                slot[rows], slot[columns], weights, center[known], scale[known]
            )
        # More columns than can be kept: the products are taken where the rows are.
        out = np.empty((rows.size, columns.size))
        for some, raw in self._batches(columns, STANDARDIZED // (8 * weights.size)):
            ours, every = columns[some], np.arange(some.size)
            dense = dense_matrix(raw, self.threads)
            right = dense.columns(every, center[ours], scale[ours]).T * weights
            out[:, some] = self.correlate(right, rows, center, scale).T
        return out

    def moments(self, weights, features, center, scale):
        """Sum_i weights_i x_ij and sum_i weights_i x_ij^2 of standardized columns."""
        out = np.empty((2, features.size))
        for some, dense, local, known in self._parts(features):
            out[:, some] = dense.moments(weights, local, center[known], scale[known])
        return out

    def combine(self, features, beta, center, scale):
        """The standardized columns times each row of beta."""
        out = np.zeros((len(beta), self.source.shape[0]))
        for some, dense, local, known in self._parts(features):
            own = np.ascontiguousarray(beta[:, some])
            out += dense.combine(local, own, center[known], scale[known])
        return out

    def columns(self, features, center, scale):
        """The standardized columns, n x |features|."""
        out = np.empty((self.source.shape[0], features.size), order="F")
        for some, dense, local, known in self._parts(features):
            out[:, some] = dense.columns(local, center[known], scale[known])
        return out

    def predict(self, rows, features, beta):
        """X[rows, features] @ beta, for X as the user gave it."""
        out = np.zeros((rows.size, *beta.shape[1:]))
        for some, dense, local, _ in self._parts(features):
            out += dense.predict(rows, local, beta[some])
        return out

    def descend(
        self, features, center, scale, weights, penalty, r, l2, residual, sweeps
    ):
        """Coordinate descent with residual updates.

        Where not all columns can be kept, block after block is solved until none of
        them moves any more.
        """
        epochs = 0
        while epochs < sweeps.max_epochs:
            longest, parts = 0, 0
            for some, dense, local, known in self._parts(features):
                own = r._replace(l1=r.l1[some], v=r.v[some], beta=r.beta[some].copy())
                left = sweeps._replace(max_epochs=sweeps.max_epochs - epochs)
                spent = dense.descend(
                    local, center[known], scale[known], weights, penalty, own, l2[some],
                    residual, left,
                )
                r.beta[some] = own.beta
                longest, parts = max(longest, spent), parts + 1
            epochs += longest
            # A sweep of all, perhaps after one of the support: none had to move.
            if parts == 1 or longest <= (1 if sweeps.cyclic else 2):
                break
        return epochs

    def _each(self, task, features, by_feature, *shared):
        self.trips += 1
        return self.source.each(task, features, by_feature, self.threads, *shared)

    def _batches(self, features, most=None):
        for batch in batches(self.source, features, self.threads, most):
            self.trips += 1
            yield batch

    def _hold(self, features):
        """Whether all these columns are at hand now."""
        missing = self.cache.missing(features)
        if missing is None:
            return False
        for some, columns in self._batches(missing):
            self.cache.put(missing[some], columns)
        return True

    def _parts(self, features):
        """Yield positions, a matrix at hand, where in it they are, and its features."""
        if self._hold(features):
            dense, known = self.cache.dense(self.threads)
            yield slice(None), dense, self.cache.slot[features], known
            return
        for some, columns in self._batches(features):
            dense = dense_matrix(columns, self.threads)
            yield some, dense, np.arange(some.size), features[some]


class ColumnCache:
    """Columns at hand, in the order in which they came; each has a slot."""

    def __init__(self, source):
        n, p = source.shape
        self.most = min(KEPT // (n * source.dtype.itemsize), p)
        self.slot = np.full(p, -1, dtype=np.int64)
        self.features = np.empty(0, dtype=np.int64)  # by slot
        self.array = np.empty((n, 0), dtype=source.dtype, order="F")

    def missing(self, features):
        """Features not here yet, after making room; None if they do not all fit."""
        if features.size > self.most:
            return None
        missing = features[self.slot[features] < 0]
        if self.features.size + missing.size > self.most:
            self.slot[self.features] = -1
            self.features, missing = self.features[:0], features
        return missing

    def put(self, features, columns):
        """Keep columns that have just come."""
        old, size = self.features.size, self.features.size + features.size
        if size > self.array.shape[1]:
            room = max(size, min(5 * old // 4, self.most))
            grown = np.empty((len(columns), room), dtype=self.array.dtype, order="F")
            grown[:, :old] = self.array[:, :old]
            self.array = grown
        self.array[:, old:size] = columns
        self.slot[features] = np.arange(old, size)
        self.features = np.append(self.features, features)

    def dense(self, threads):
        """The columns as a matrix, and whose they are."""
        known = self.features
        return dense_matrix(self.array[:, : known.size], threads), known


def measured(matrix, _, weights, intercept):
    """Centre and scale of a block."""
    return matrix.measure(weights, intercept)


def correlated(matrix, own, vectors):
    """Products of vectors with the columns of a block, standardized."""
    # What comes from a cluster may be read-only, for which older numbas mistake an
    # array in a record.
    center, scale = np.array(own, order="C")
    return matrix.correlate(vectors, np.arange(matrix.X.shape[1]), center, scale)
