"""The Gram matrix of every feature that has worked so far, grown as features enter."""

import numpy as np


class GramCache:
    """<x_j, x_k> for remembered features; each has a slot in one square array."""

    def __init__(self, design):
        self.design = design
        self.largest_set = max(design.n, 1000)  # beyond it residuals serve better
        self.limit = self.largest_set * 3 // 2  # features; beyond it, start afresh
        self.features = np.empty(0, dtype=np.int64)
        self.slot = np.full(design.p, -1, dtype=np.int64)
        self.array = np.empty((0, 0))

    def slots(self, features):
        """Slots of the features, after computing the products that are missing."""
        new = features[self.slot[features] < 0]
        if self.features.size + new.size > self.limit and self.features.size:
            self._forget()
            new = features
        if new.size:
            self._learn(new)
        return self.slot[features]

    def suits(self, size):
        """Whether a working set of this size is better served by its Gram matrix."""
        return size <= self.largest_set

    def block(self, features):
        """The Gram matrix of the features, as an array of its own."""
        slots = self.slots(features)
        return self.array[np.ix_(slots, slots)]

    def _learn(self, new):
        old, size = self.features.size, self.features.size + new.size
        self.features = np.concatenate([self.features, new])
        self.slot[new] = np.arange(old, size)
        if size > self.array.shape[0]:
            room = max(size, min(5 * old // 4, self.limit))
            grown = np.empty((room, room))
            grown[:old, :old] = self.array[:old, :old]
            self.array = grown
        products = self.design.gram(self.features, new)
        self.array[:size, old:size] = products
        self.array[old:size, :old] = products[:old].T

    def _forget(self):
        self.slot[self.features] = -1
        self.features = self.features[:0]
