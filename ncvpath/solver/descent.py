"""Coordinate descent on the Gram matrix of a working set: the compiled call, and the
rows of products that it asks for on its way."""

import numpy as np

from .. import kernels
from ..kernels.records import (
    AT_LAMBDA,
    COORDINATE,
    N_ACTIVE,
    Coordinates,
    Progress,
)

# Products in one call of compiled code, after which it returns to be asked again:
# interrupts are heard between calls. A second or so.
WORK = 1e9
# Numbers that all products of a working set take, if it is so small that they are
# computed at once.
SMALL_SET = 1 << 20
# Coordinates beyond the support that the Cholesky factor has room for at first.
AHEAD = 1000


class Descent:
    """A working set and its Gram matrix, as compiled code has arranged them: in another
    order, with rows of products in `scratch` (m x m). Later calls go on from there."""

    def __init__(self, problem, cache, features, scratch):
        self.problem, self.cache, self.features = problem, cache, features
        self.order, self.slots = np.arange(features.size), cache.slots(features).copy()
        self.scratch, self.active = scratch, 0

    def minimise(self, record, levels, beta, q, sweeps, multiple=1.0):
        """Coordinate descent and Newton steps for a block of lambdas.

        `record` are the features as kernels take them, beta and q where it starts; the
        Gram matrix may be multiplied, once and for all calls. Returns the results of
        `Progress`, as far as lambdas were done.
        """
        cache, features, m = self.cache, self.features, self.features.size
        # Products of those in use, and of those that will be in use halfway down the
        # block if q does not move: to ask for them one by one costs more than some
        # that are not needed.
        halfway = 0.5 * (levels[0, 0] + levels[-1, 0])
        coming = np.abs(q) >= halfway * record.penalty_factor
        small = self.problem.design.n_counted * m * m <= SMALL_SET
        cache.add_rows(features if small else features[coming | (beta != 0)])
        r = Coordinates(
            self.order, self.slots, *np.empty((2, m)), beta[self.order], q[self.order]
        )
        cholesky = cache.cholesky_for(min(m, np.count_nonzero(beta) + AHEAD))
        counts = np.array([0, self.active, -1, 0, 0, 0])
        progress = Progress(counts, np.zeros(3), np.empty((len(levels), 3 + m)))
        met, products = True, cache.products(multiple)
        while counts[AT_LAMBDA] < len(levels) and met:
            kernels.descend_block(
                products, r, record, self.problem.penalty, levels, cholesky,
                self.scratch, sweeps, progress,
            )
            if counts[COORDINATE] >= 0:  # one is to enter; others probably, too
                cache.add_rows(features[r.order[np.abs(r.q) > r.l1]])
                products = cache.products(multiple)
            elif counts[AT_LAMBDA]:
                met = progress.results[counts[AT_LAMBDA] - 1, 2] <= sweeps.target
        self.active = counts[N_ACTIVE]
        return progress.results[: counts[AT_LAMBDA]]
