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


class BlockedMatrix:
    """The operations of a matrix, on columns that come from a source."""

    def __init__(self, source, crew):
        self.source, self.crew = source, crew
        self.shelf = Shelf(source)
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

    def blur(self, center, scale):
        """Entries are centred before they are summed: nothing else is rounded."""
        return 1.0

    def measure_without(self, rows, total, weights, intercept):
        """The same for part of the rows; the columns must be read anyway."""
        return self.measure(weights, intercept)

    def measure(self, weights, intercept):
        """Mean and root mean square about it, 0 if constant, by column."""
        center, scale = np.empty((2, self.source.shape[1]))
        everyone = np.arange(center.size)
        for some, found in self._each(measured, everyone, None, weights, intercept):
            center[some], scale[some] = found
        return center, scale

    def correlate(self, vectors, centers, features):
        """Inner products of vectors and centred columns, |vectors| x |features|."""
        out = np.empty((len(vectors), features.size))
        far = np.arange(features.size)
        at_hand = self.shelf.slot[features] >= 0
        if 2 * np.count_nonzero(at_hand) > features.size:  # else one long stretch
            near, far = at_hand.nonzero()[0], (~at_hand).nonzero()[0]
            dense, known = self.shelf.dense(self.crew)
            slots = self.shelf.slot[features[near]]
            out[:, near] = dense.correlate(
                vectors, np.take(centers, known, axis=1), slots
            )
        if far.size:
            asked = features[far]
            for some, found in self._each(
                correlated, asked, np.take(centers, asked, axis=1), vectors
            ):
                out[:, far[some]] = found
        return out

    def gram(self, rows, columns, weights, center, scale):
        """Weighted products of standardized columns, |rows| x |columns|."""
        if self._hold(np.union1d(rows, columns)):
            dense, known = self.shelf.dense(self.crew)
            slot = self.shelf.slot
            return dense.gram(
                slot[rows], slot[columns], weights, center[known], scale[known]
            )
        # More columns than can be kept: the products are taken where the rows are.
        out = np.empty((rows.size, columns.size))
        for some, raw in self._batches(columns, STANDARDIZED // (8 * weights.size)):
            ours, every = columns[some], np.arange(some.size)
            dense = dense_matrix(raw, self.crew)
            right = dense.columns(every, center[ours], scale[ours]).T * weights
            centers = np.broadcast_to(center, (len(right), center.size))
            out[:, some] = self.correlate(right, centers, rows).T
        out /= scale[rows][:, None]
        return out

    def subtract(self, features, center, steps, out):
        """Take (X_A - center_A) steps from out."""
        for some, dense, local, known in self._parts(features):
            dense.subtract(local, center[known], steps[some], out)

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
        self, weights, center, scale, features, penalty, l1, v, l2, beta, residual,
        target, max_epochs, cyclic,
    ):
        """Coordinate descent with residual updates.

        Where not all columns can be kept, block after block is solved until none of
        them moves any more.
        """
        epochs = 0
        while epochs < max_epochs:
            longest, parts = 0, 0
            for some, dense, local, known in self._parts(features):
                own = beta[some].copy()
                spent = dense.descend(
                    weights, center[known], scale[known], local, penalty, l1[some],
                    v[some], l2[some], own, residual, target, max_epochs - epochs,
                    cyclic,
                )
                beta[some] = own
                longest, parts = max(longest, spent), parts + 1
            epochs += longest
            # A sweep of all, perhaps after one of the support: nobody had to move.
            if parts == 1 or longest <= (1 if cyclic else 2):
                break
        return epochs

    def _each(self, task, features, by_feature, *shared):
        self.trips += 1
        return self.source.each(task, features, by_feature, self.crew, *shared)

    def _batches(self, features, most=None):
        for batch in batches(self.source, features, self.crew, most):
            self.trips += 1
            yield batch

    def _hold(self, features):
        """Whether all these columns are at hand now."""
        missing = self.shelf.missing(features)
        if missing is None:
            return False
        for some, columns in self._batches(missing):
            self.shelf.put(missing[some], columns)
        return True

    def _parts(self, features):
        """Yield positions, a matrix at hand, where in it they are, and its features."""
        if self._hold(features):
            dense, known = self.shelf.dense(self.crew)
            yield slice(None), dense, self.shelf.slot[features], known
            return
        for some, columns in self._batches(features):
            dense = dense_matrix(columns, self.crew)
            yield some, dense, np.arange(some.size), features[some]


class Shelf:
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

    def dense(self, crew):
        """The columns as a matrix, and whose they are."""
        known = self.features
        return dense_matrix(self.array[:, : known.size], crew), known


def measured(matrix, _, weights, intercept):
    """Centre and scale of a block."""
    return matrix.measure(weights, intercept)


def correlated(matrix, centers, vectors):
    """Products of vectors with the centred columns of a block."""
    return matrix.correlate(vectors, centers, np.arange(matrix.X.shape[1]))
