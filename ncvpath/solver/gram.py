"""The Gram matrix of every feature that has worked so far, grown as features enter."""

from typing import NamedTuple

import numpy as np

from ..runtime.memory import advised, roomy

# Features whose Gram matrix a solver keeps at most, about: 0.8 GB, and as much again
# for a working set's own matrix and the factor. convex_min may need more.
MOST_FEATURES = 10_000
# Features remembered for each one that works, before the others are forgotten. Features
# come and go; products are worth their memory for a while.
REMEMBERED = 1.5
# Features learnt together when all are: products are symmetric, half of them suffice.
TOGETHER = 128
# What helps where they do not fit into memory.
SMALLER = (
    "dfmax or a larger lambda_min_ratio keep models smaller, and solver='bcd' with "
    "convex=False does without products of columns"
)
# Rows of a matrix to begin with; not a power of two, for the sake of caches.
AMPLE = 904


class Factor(NamedTuple):
    """The Cholesky factor of the support's Newton system, as the kernels keep it.

    It stays from one lambda to the next, which differ by a few rows.
    """

    lower: np.ndarray
    slots: np.ndarray  # by row: the coordinate's slot in the Gram matrix
    diagonal: np.ndarray  # the diagonal of the system
    exact: np.ndarray  # whether the factor has that one, or a larger one
    size: np.ndarray  # rows in use, and how many of them, at most, have a stale one


def empty_factor(room):
    """A factor with room for that many coordinates, none of them there yet."""
    return Factor(
        roomy(room, room), np.empty(room, dtype=np.int64), np.empty(room),
        np.empty(room, dtype=bool), np.zeros(2, dtype=np.int64),
    )


class GramCache:
    """<x_j, x_k> for remembered features; each has a slot in one square array."""

    def __init__(self, design):
        self.design = design
        # Beyond it residuals serve better, or memory would not do.
        self.largest_set = min(max(design.n, 1000), MOST_FEATURES * 2 // 3)
        self.most_rows = design.p  # that there will ever be
        self.known = 0
        self.features = np.empty(design.p, dtype=np.int64)  # by slot, `known` of them
        self.slot = np.full(design.p, -1, dtype=np.int64)
        self.array = np.empty((0, 0))
        self.factor = empty_factor(0)

    def slots(self, features):
        """Slots of the features, after computing the products that are missing."""
        new = features[self.slot[features] < 0]
        if new.size and self.known + new.size > REMEMBERED * features.size + 200:
            self._forget_all_but(features)
        if new.size:
            self._learn(new)
        return self.slot[features]

    def learn_all(self, products=None):
        """The products of all features, each in the slot of its own number."""
        everyone = self.design.everyone
        if products is None:
            for left in range(0, everyone.size, TOGETHER):
                self._learn(everyone[left : left + TOGETHER])
            return
        # Others may use them too: nothing is learnt or forgotten any more.
        self.array, self.known = products, everyone.size
        self.features, self.slot = everyone.copy(), everyone.copy()

    def renumbered(self, design, place):
        """The same products for a design that has these columns in other places.

        Feature j is place[j] there. The arrays are shared: this cache must not be used
        any more.
        """
        other, known = GramCache(design), self.known
        other.most_rows = self.most_rows  # this design's columns may be but some of all
        other.known, other.array, other.factor = known, self.array, self.factor
        other.features[:known] = place[self.features[:known]]
        other.slot[other.features[:known]] = np.arange(known)
        return other

    @property
    def complete(self):
        """Whether every feature is known."""
        return self.known == self.design.p

    def suits(self, size):
        """Whether a working set of this size is better served by its Gram matrix."""
        return size <= self.largest_set

    def block(self, features):
        """The Gram matrix of the features, as an array of its own."""
        slots = self.slots(features)
        return self.array[np.ix_(slots, slots)]

    def reserve(self, size):
        """Make room for `size` features and, when it grows, for more."""
        if size > self.array.shape[0]:
            size = self._ample(size, self.array.shape[0])
            with advised(f"products of {size} columns", SMALLER):
                grown = roomy(size, size)
            grown[: self.known, : self.known] = self.array[: self.known, : self.known]
            self.array = grown

    def factor_for(self, size):
        """The factor, with room for `size` coordinates and, when it grows, more."""
        old, used = self.factor, self.factor.size[0]
        if size > old.slots.size:
            room = self._ample(size, old.slots.size)
            with advised(f"a factor of {room} rows", SMALLER):
                self.factor = empty_factor(room)
            self.factor.lower[:used, :used] = old.lower[:used, :used]
            for name in ("slots", "diagonal", "exact"):
                getattr(self.factor, name)[:used] = getattr(old, name)[:used]
            self.factor.size[:] = old.size
        return self.factor

    def _ample(self, size, before):
        """Rows to make room for: pages that nobody writes to cost nothing."""
        return max(size, min(max(AMPLE, 3 * before // 2), self.most_rows))

    def _learn(self, new):
        old, size = self.known, self.known + new.size
        self.reserve(size)
        self.features[old:size] = new
        self.slot[new] = np.arange(old, size)
        self.known = size
        with advised(f"products of {size} columns", SMALLER):
            products = self.design.gram(self.features[:size], new)
        self.array[:size, old:size] = products
        self.array[old:size, :old] = products[:old].T

    def _forget_all_but(self, features):
        """Make room by keeping the products of these features only."""
        kept = np.sort(self.slot[features])
        kept = kept[np.searchsorted(kept, 0) :]
        self.slot[self.features[: self.known]] = -1
        self.known = kept.size
        self.features[: kept.size] = self.features[kept]
        self.slot[self.features[: kept.size]] = np.arange(kept.size)
        for new, old in enumerate(kept):  # in ascending order: nothing is overwritten
            self.array[new, : kept.size] = self.array[old, kept]
        self.factor.size[0] = 0
