"""The Gram matrix, as far as it is needed: a row for each feature that has been in use,
a column for each that is or was in the working set. Both grow as features enter."""

import numpy as np

from ..kernels.records import N_ROWS, Cholesky, Products
from ..runtime.memory import advised, empty_mmap

# Features of a working set that is solved on its Gram matrix, at most: those that may
# all be in use at once have 0.4 GB of products, and as much again for the Cholesky
# factor. convex_min may need more.
LARGEST_SET = 6666
# Features remembered for each one in the working set, before the others are forgotten.
# Features come and go; products are worth their memory for a while.
REMEMBERED = 1.5
# Features learnt together when all are: products are symmetric, half of them suffice.
TOGETHER = 128
# What helps where they do not fit into memory.
SMALLER = (
    "dfmax or a larger lambda_min_ratio keep models smaller, and solver='bcd' with "
    "convex=False does without products of columns"
)
# Rows and columns to begin with: pages are paid for when they are first written to, so
# that short rows are cheap; not a power of two, for the sake of caches.
INITIAL_SIZE = 252


def empty_cholesky(size):
    """A factor with room for that many coordinates, none of them there yet."""
    return Cholesky(
        empty_mmap(size, size), np.empty(size, dtype=np.int64), *np.empty((2, size)),
        np.zeros(3, dtype=np.int64),
    )


class GramCache:
    """<x_j, x_k> for features j in use, by row, and features k remembered, by slot."""

    def __init__(self, design):
        self.design = design
        # Beyond it residuals serve better, or memory would not do: a sweep over as many
        # coordinates as rows, most of them at rest, is cheap on products.
        self.largest_set = min(max(2 * design.n_counted, 2000), LARGEST_SET)
        self.known = self.n_rows = 0
        self.features = np.empty(design.p, dtype=np.int64)  # by slot, `known` of them
        self.slot = np.full(design.p, -1, dtype=np.int64)
        self.row_features = np.empty(0, dtype=np.int64)  # by row, `n_rows` of them
        self.row = np.empty(0, dtype=np.int64)  # by slot, -1: none
        self.array = np.empty((0, 0))
        self.cholesky = empty_cholesky(0)

    def slots(self, features):
        """Slots of the features; products with rows that are missing are computed."""
        new = features[self.slot[features] < 0]
        if new.size and self.known + new.size > REMEMBERED * features.size + 200:
            self._forget_all_but(features)
        if new.size:
            old, size = self.known, self.known + new.size
            self._reserve(self.n_rows, size)
            self.features[old:size], self.row[old:size] = new, -1
            self.slot[new], self.known = np.arange(old, size), size
            rows = self.row_features[: self.n_rows]
            self.array[: self.n_rows, old:size] = self._products(rows, new)
        return self.slot[features]

    def add_rows(self, features):
        """Rows for features that have slots; those that are there stay."""
        new = features[self.row[self.slot[features]] < 0]
        if new.size:
            old, size = self.n_rows, self.n_rows + new.size
            self._reserve(size, self.known)
            self.array[old:size, : self.known] = self._products(
                self.features[: self.known], new
            ).T
            self.row_features[old:size], self.n_rows = new, size
            self.row[self.slot[new]] = np.arange(old, size)

    def learn_all(self, products=None):
        """The products of all features, each in row and slot of its own number."""
        everything = self.design.all_features
        if products is None:
            products = empty_mmap(everything.size, everything.size)
            for left in range(0, everything.size, TOGETHER):
                new = everything[left : left + TOGETHER]
                found = self._products(everything[: left + new.size], new)
                products[: len(found), new] = found
                products[new, :left] = found[:left].T
        # Others may use them too: nothing is learnt or forgotten any more.
        self.array, self.known, self.n_rows = products, everything.size, everything.size
        self.features, self.slot = everything.copy(), everything.copy()
        self.row_features, self.row = everything.copy(), everything.copy()

    def products(self, multiple=1.0):
        """As the kernels take it; or multiplied."""
        if multiple == 1:
            return Products(self.array, self.row)
        return Products(multiple * self.array[: self.n_rows, : self.known], self.row)

    @property
    def complete(self):
        """Whether all products of all features are known."""
        return self.n_rows == self.design.p

    def suits(self, size):
        """Whether a working set of this size is better served by its Gram matrix."""
        return size <= self.largest_set

    def block(self, features):
        """The Gram matrix of the features, as an array of its own."""
        slots = self.slots(features)
        self.add_rows(features)
        return self.array[np.ix_(self.row[slots], slots)]

    def cholesky_for(self, size):
        """The factor, with room for `size` coordinates and, when it grows, more."""
        old, used = self.cholesky, self.cholesky.size[N_ROWS]
        if size > old.slots.size:
            size = self._ample(size, old.slots.size)
            with advised(f"a Cholesky factor of {size} rows", SMALLER):
                self.cholesky = new = empty_cholesky(size)
            new.lower[:used, :used] = old.lower[:used, :used]
            for name in ("slots", "diagonal", "left"):
                getattr(new, name)[:used] = getattr(old, name)[:used]
            new.size[:] = old.size
        return self.cholesky

    def _products(self, features, others):
        with advised(f"products of {features.size} columns", SMALLER):
            return self.design.gram(features, others)

    def _reserve(self, n_rows, n_slots):
        """Make room for so many rows and slots and, when they grow, for more."""
        height, width = self.array.shape
        if n_rows <= height and n_slots <= width:
            return
        height = height if n_rows <= height else self._ample(n_rows, height)
        width = width if n_slots <= width else self._ample(n_slots, width)
        with advised(f"products of {width} columns", SMALLER):
            array = empty_mmap(height, width)
        row_features, row = np.empty(height, dtype=np.int64), np.full(width, -1)
        used = slice(0, self.n_rows), slice(0, self.known)
        array[used] = self.array[used]
        row_features[used[0]] = self.row_features[used[0]]
        row[used[1]] = self.row[used[1]]
        self.array, self.row_features, self.row = array, row_features, row

    def _ample(self, size, before):
        """Room to make: pages that are never written to cost nothing."""
        return max(size, min(max(INITIAL_SIZE, 2 * before), self.design.p))

    def _forget_all_but(self, features):
        """Make room by keeping the products of these features only."""
        kept = np.sort(self.slot[features])
        kept = kept[np.searchsorted(kept, 0) :]
        rows = self.row[kept]
        ordered = np.sort(rows[rows >= 0])
        self.slot[self.features[: self.known]] = -1
        self.features[: kept.size] = self.features[kept]
        self.slot[self.features[: kept.size]] = np.arange(kept.size)
        for new, old in enumerate(ordered):  # ascending: nothing is overwritten
            self.array[new, : kept.size] = self.array[old, kept]
        self.row_features[: ordered.size] = self.row_features[ordered]
        self.known, self.n_rows = kept.size, ordered.size
        self.row[:] = -1
        self.row[self.slot[self.row_features[: ordered.size]]] = np.arange(ordered.size)
        self.cholesky.size[N_ROWS] = 0
