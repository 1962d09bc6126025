"""Coordinate descent on the Gram matrix of a working set: the compiled call, and the
rows of products that it asks for on its way."""

import numpy as np

from .. import kernels
from ..kernels.records import Coordinates, Progress

# Products in one call of compiled code, after which it returns to be asked again:
# interrupts are heard between calls. A second or so.
WORK = 1e9
# Numbers that all products of a working set take, if it is so small that they are
# computed at once.
SMALL_SET = 1 << 20
# Coordinates beyond the support that the Cholesky factor has room for at first.
AHEAD = 1000


def descend(problem, cache, features, record, units, beta, q, sweeps, multiple=1.0):
    """Coordinate descent and Newton steps on a Gram matrix, for a block of lambdas.

    `record` are the features as kernels take them, beta and q where it starts; the
    Gram matrix may be multiplied. Returns the results of `Progress`, as far as lambdas
    were done.
    """
    m, slots = features.size, cache.slots(features)
    # Products of those in use, and of those that will be in use if q does not move.
    coming = np.abs(q) >= units[0, 0] * record.penalty_factor
    coming |= (beta != 0) | (problem.design.n_counted * m * m <= SMALL_SET)
    cache.add_rows(features[coming])
    r = Coordinates(np.arange(m), slots.copy(), *np.empty((2, m)), beta, q)
    cholesky = cache.cholesky_for(min(m, np.count_nonzero(beta) + AHEAD))
    counts = np.array([0, 0, -1, 0, 0])
    progress = Progress(counts, np.zeros(2), np.empty((len(units), 3 + m)))
    with problem.design.matrix.threads.scratch("working set", m, m) as scratch:
        met, products = True, cache.products(multiple)
        while counts[0] < len(units) and met:
            kernels.descend_block(
                products, r, record, problem.penalty, units, cholesky, scratch, sweeps,
                progress,
            )
            if counts[2] >= 0:  # one is to enter; others probably, too
                cache.add_rows(features[r.order[np.abs(r.q) > r.l1]])
                products = cache.products(multiple)
            elif counts[0]:
                met = progress.results[counts[0] - 1, 2] <= sweeps.target
    return progress.results[: counts[0]]
