"""A coefficient vector's residual, and what follows from it, each when first needed.

The null model is the anchor: its residual r0 and correlations c0 are known. With d the
change of the coefficients since then and G the Gram matrix,

    <x_j, r> = c0_j - G_jA d        |r|^2 = |r0|^2 - d' (c0_A + <x_A, r>),

so where n is large compared to the model, neither needs the residual or a column of X.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

# Observations per nonzero coefficient from which on the Gram matrix is the cheaper way.
ROWS_PER_COEFFICIENT = 8
# Columns this much larger than they are when centred leave too few digits to products.
BLURRED = 1e3
# A mean square this much smaller than the terms of the difference above has too few
# digits left; the residual itself is measured then.
CANCELLED = 1e-5


class Anchor(NamedTuple):
    """The null model."""

    beta: np.ndarray  # p
    correlation: np.ndarray  # p
    mean_square: float


class Fit:
    """The residual of some coefficients, directly or by way of the Gram matrix.

    Outside `features`, in ascending order, the coefficients are zero as in the anchor.
    """

    def __init__(self, design, response, beta, features, anchor, cache):
        self.design, self.response, self.anchor, self.cache = (
            design, response, anchor, cache
        )
        values = beta[features]
        nonzero = values != 0
        self.support, self.beta = features[nonzero], values[nonzero]
        change = values - anchor.beta[features]
        moved = change != 0
        self.moved, self.change = features[moved], change[moved]
        self.by_gram = (
            design.blur < BLURRED
            and design.n > ROWS_PER_COEFFICIENT * self.moved.size
            and (cache.slot[self.moved] >= 0).all()
        )

    @cached_property
    def residual(self):
        """The residual itself."""
        return self.design.residual(self.response, self.support, self.beta)

    @cached_property
    def mean_square(self):
        """The mean square of the residual."""
        if self.by_gram:
            ends, _ = self.correlate(self.moved)
            start = self.anchor.correlation[self.moved]
            left = self.anchor.mean_square - self.change @ (start + ends)
            moved = np.abs(self.change) @ np.sqrt(self.design.norm2[self.moved])
            size = np.sqrt(self.anchor.mean_square) + moved
            if left > CANCELLED * size**2:
                return left
        return (self.design.weights * self.residual) @ self.residual

    @cached_property
    def drop(self):
        """What the change of coefficients took from each correlation, by slot.

        A fit is asked for it before the cache learns or forgets features.
        """
        slots = self.cache.slot[self.moved]
        return self.change @ self.cache.array[slots, : self.cache.known]

    def correlate(self, features):
        """<x_j, residual> of some features, and how many columns of X that took."""
        if not self.by_gram:
            return self.design.correlate(self.residual, features), features.size
        slots = self.cache.slot[features]
        out = np.empty(features.size)
        known = slots >= 0
        out[known] = self.anchor.correlation[features[known]] - self.drop[slots[known]]
        unknown = features[~known]
        if unknown.size:
            out[~known] = self.design.correlate(self.residual, unknown)
        return out, unknown.size
