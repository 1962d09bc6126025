"""The Gram matrix of every feature that has worked so far, grown as features enter."""

import numpy as np


class GramCache:
    """<x_j, x_k> for remembered features; each has a slot in one square array."""

    def __init__(self, design):
        self.design = design
        self.largest_set = max(design.n, 1000)  # beyond it residuals serve better
        self.limit = self.largest_set * 3 // 2  # features; beyond it, start afresh
        self.known = 0
        self.features = np.empty(design.p, dtype=np.int64)  # by slot, `known` of them
        self.slot = np.full(design.p, -1, dtype=np.int64)
        self.array = np.empty((0, 0))

    def slots(self, features):
        """Slots of the features, after computing the products that are missing."""
        new = features[self.slot[features] < 0]
        if self.known + new.size > self.limit and self.known:
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

    def reserve(self, size):
        """Make room for `size` features."""
        if size > self.array.shape[0]:
            grown = np.empty((size, size))
            grown[: self.known, : self.known] = self.array[: self.known, : self.known]
            self.array = grown

    def _learn(self, new):
        old, size = self.known, self.known + new.size
        if size > self.array.shape[0]:
            self.reserve(max(size, min(5 * old // 4, self.limit)))
        self.features[old:size] = new
        self.slot[new] = np.arange(old, size)
        self.known = size
        products = self.design.gram(self.features[:size], new)
        self.array[:size, old:size] = products
        self.array[old:size, :old] = products[:old].T

    def _forget(self):
        self.slot[self.features[: self.known]] = -1
        self.known = 0
