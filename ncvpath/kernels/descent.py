"""Coordinate descent on the Gram matrix of a working set, for a block of lambdas.

Coordinates that were nonzero at this lambda are active; they stand in front, in order
of entry, with their rows of the Gram matrix in `gram`, so that all loops run over
contiguous memory. They settle before others enter. Where the problem is not convex,
Newton steps leap from valley to valley: there all coordinates are swept together first,
until the valley is found.
"""

import math

import numpy as np

from .newton import EPS, newton_steps, subtract_row
from .options import helper, inlined, kernel
from .penalty import LASSO, is_smooth, larger, threshold, violation
from .records import (
    AT_LAMBDA,
    COORDINATE,
    HAS_RAISED,
    MEANINGFUL,
    N_ACTIVE,
    N_ROWS,
    N_STALE,
    N_STEPS,
    N_SWEEPS,
    N_TOGETHER,
    VALLEY,
    WORST,
)

# Sweeps that leave the support as it is before a Newton step is tried, and sweeps of
# any kind; twice as many after each refusal.
SETTLED, SWEEPS = 2, 16
# Patience beyond which tangents stand in for a concave penalty: each such step costs a
# factorization.
STUBBORN = 4
# Where a pivot has been raised, sweeps of all coordinates before those active settle,
# at most; and violations, as a share of the level, at which they are in their valley.
TOGETHER, IN_VALLEY = 100, 0.01
# Sweeps without halving the violation after which only rounding is left to fight, which
# a look at exact correlations does better.
MAX_IDLE = 2000


@helper
def move(penalty, l1, v, b, q, least):
    """One coordinate's change and the violation that called for it, if above least."""
    met = violation(penalty, b, q, l1)
    if met <= least:
        return 0.0, met
    return threshold(penalty, q + v * b, v, l1, b) - b, met


@helper
def sweep(r, gram, size, penalty, least):
    """One pass of coordinate descent over the first `size` coordinates.

    Violations up to `least` stay. Modified in place: beta, q of those coordinates.
    Returns the largest violation met on the way, and whether the support changed.
    """
    worst, moved = 0.0, False
    for j in range(size):
        change, met = move(penalty, r.l1[j], r.v[j], r.beta[j], r.q[j], least)
        worst = larger(worst, met)
        if change != 0.0:
            moved |= r.beta[j] == 0.0 or r.beta[j] + change == 0.0
            r.beta[j] += change
            subtract_row(gram, j, size, r.v, change, r.q)
    return worst, moved


@inlined
def settle(r, gram, size, penalty, cholesky, farthest, target, max_epochs):
    """Sweeps and Newton steps on the active coordinates until they meet target.

    Modified in place: their beta, all of q, and the factor. Returns the number of
    sweeps and of Newton steps, and whether it was given up.
    """
    before = np.empty(size)
    for j in range(size):
        before[j] = r.beta[j]
    epochs = steps = idle = settled = since = 0
    patience, best = 1, np.inf
    if is_smooth(penalty):
        # The support is nearly right from the start, and a step leads to its solution.
        settled = SETTLED
    while epochs < max_epochs and idle <= MAX_IDLE:
        if settled >= patience * SETTLED or since >= patience * SWEEPS:
            stuck = patience > STUBBORN and penalty.kind != LASSO
            taken = newton_steps(r, gram, size, penalty, cholesky, farthest, stuck)
            steps += taken
            settled = since = 0
            patience = 1 if taken else 2 * patience
        worst, moved = sweep(r, gram, size, penalty, 0.1 * target)
        epochs += 1
        since += 1
        settled = 0 if moved else settled + 1
        if worst <= target:
            break
        idle += 1
        if worst < 0.5 * best:
            best, idle = worst, 0
        elif since == 1 and cholesky.size[N_STALE] > 0:
            cholesky.size[N_ROWS] = 0  # a step with a stale factor that led nowhere
    for j in range(size):
        change = r.beta[j] - before[j]
        if change != 0.0:
            for k in range(size, r.q.size):
                r.q[k] -= change * gram[j, k]
    return epochs, steps, idle > MAX_IDLE


@helper
def swap(j, k, r, gram, size):
    """Let two coordinates change places, also in the first `size` rows of `gram`."""
    r.order[j], r.order[k] = r.order[k], r.order[j]
    r.slots[j], r.slots[k] = r.slots[k], r.slots[j]
    r.l1[j], r.l1[k] = r.l1[k], r.l1[j]
    r.v[j], r.v[k] = r.v[k], r.v[j]
    r.beta[j], r.beta[k] = r.beta[k], r.beta[j]
    r.q[j], r.q[k] = r.q[k], r.q[j]
    for i in range(size):
        gram[i, j], gram[i, k] = gram[i, k], gram[i, j]


@helper
def deactivate(r, gram, size):
    """Coordinates at zero are active no more; returns how many still are."""
    for j in range(size - 1, -1, -1):
        if r.beta[j] == 0.0:
            size -= 1
            if j != size:
                row, last = gram[j], gram[size]
                for k in range(r.beta.size):
                    row[k] = last[k]
                swap(j, size, r, gram, size)
    return size


@helper
def activate(j, size, products, gram, r):
    """Make coordinate j the next active one, at place `size`, with its row of products.

    `gram` has the products by place, of which the rows of active ones are there.
    """
    if j != size:
        swap(j, size, r, gram, size)
    row, out = products.values[products.rows[r.slots[size]]], gram[size]
    for k in range(r.slots.size):
        out[k] = row[r.slots[k]]


@kernel
def largest_violation(penalty, l1, beta, q):
    """The largest violation over the coordinates as they stand."""
    worst = 0.0
    for j in range(beta.size):
        worst = larger(worst, violation(penalty, beta[j], q[j], l1[j]))
    return worst


@helper
def largest_meaningful(r):
    """How far |x_j beta_j| may go before no digit is left of what there is now.

    Without curvature every way may seem to lead down, by rounding alone.
    """
    size = 0.0
    for j in range(r.beta.size):
        root = math.sqrt(r.v[j])
        size = larger(size, root * abs(r.beta[j]) + abs(r.q[j]) / root)
    return size / EPS


@helper
def set_lambda(r, features, levels, k):
    """Levels and gradients of lambda k; those of the gradients are of lambda k - 1,
    if there is one."""
    for j in range(r.beta.size):
        i = r.order[j]
        before = levels[k - 1, 1] * features.ridge_factor[i] if k > 0 else 0.0
        ridge = levels[k, 1] * features.ridge_factor[i]
        r.l1[j] = levels[k, 0] * features.penalty_factor[i]
        r.v[j] = features.norm2[i] + ridge
        r.q[j] += (before - ridge) * r.beta[j]


@inlined
def descend(r, products, gram, penalty, cholesky, sweeps, progress):
    """Minimise at one lambda, from where `progress` says.

    Returns whether that is done; if not, a coordinate is to enter that has no row of
    products yet.
    """
    counts, figures, target = progress.counts, progress.figures, sweeps.target
    size, j = counts[N_ACTIVE], counts[COORDINATE]
    most = sweeps.max_epochs if counts[AT_LAMBDA] == 0 else sweeps.max_epochs_each
    gave_up = False
    while True:
        if j < 0:
            if counts[N_TOGETHER] == 0:
                more, taken, gave_up = settle(
                    r, gram, size, penalty, cholesky, figures[MEANINGFUL], target,
                    most - counts[N_SWEEPS] - 1,
                )
                counts[N_SWEEPS] += more
                counts[N_STEPS] += taken
            counts[N_SWEEPS] += 1
            figures[WORST], j = 0.0, 0
        # A sweep over all; coordinates at rest cost O(1).
        while j < r.beta.size:
            change, met = move(
                penalty, r.l1[j], r.v[j], r.beta[j], r.q[j], 0.1 * target
            )
            figures[WORST] = larger(figures[WORST], met)
            if change != 0.0:
                place = j
                if j >= size:
                    if products.rows[r.slots[j]] < 0:
                        counts[N_ACTIVE], counts[COORDINATE] = size, j
                        return False
                    activate(j, size, products, gram, r)
                    place, size = size, size + 1
                r.beta[place] += change
                subtract_row(gram, place, r.q.size, r.v, change, r.q)
            j += 1
        j = -1
        outside_valley = figures[WORST] > figures[VALLEY]
        left = counts[N_TOGETHER] - 1 if outside_valley else 0
        counts[N_TOGETHER] = max(left, 0)
        ended = gave_up or counts[N_SWEEPS] >= most
        if ended or figures[WORST] <= target:
            figures[WORST] = largest_violation(penalty, r.l1, r.beta, r.q)
            if ended or figures[WORST] <= target:
                counts[N_ACTIVE], counts[COORDINATE] = size, j
                return True


@kernel
def descend_block(
    products, r, features, penalty, levels, cholesky, gram, sweeps, progress
):
    """Minimise on the working set at one lambda after another, each from the last.

    levels[k] are l1 and l2 per unit of the penalty factors at lambda k. At first r has
    coefficients and correlations (as q) in its order, and `progress` is zero but for
    the coordinate, -1, and the count of those active from an earlier call. Modified in
    place: r, the Cholesky factor, gram (scratch), progress. It ends when all lambdas
    are done, or with the first that did not meet the target; or because a row of
    products is missing, or `max_work` is spent, and is to be called again then.
    """
    counts, results, m, work = progress.counts, progress.results, r.beta.size, 0.0
    if counts[COORDINATE] < 0:
        for j in range(counts[N_ACTIVE], m):
            if r.beta[j] != 0.0:
                activate(j, counts[N_ACTIVE], products, gram, r)
                counts[N_ACTIVE] += 1
    while counts[AT_LAMBDA] < levels.shape[0]:
        k = counts[AT_LAMBDA]
        if counts[COORDINATE] < 0:
            counts[N_ACTIVE] = deactivate(r, gram, counts[N_ACTIVE])
            set_lambda(r, features, levels, k)
            counts[N_SWEEPS] = counts[N_STEPS] = 0
            bends = cholesky.size[HAS_RAISED] > 0 and penalty.kind != LASSO
            counts[N_TOGETHER] = TOGETHER if bends else 0
            progress.figures[MEANINGFUL] = largest_meaningful(r)
            progress.figures[VALLEY] = IN_VALLEY * levels[k, 0]
        if not descend(r, products, gram, penalty, cholesky, sweeps, progress):
            return
        results[k, 0], results[k, 1] = counts[N_SWEEPS], counts[N_STEPS]
        results[k, 2] = progress.figures[WORST]
        for j in range(m):
            results[k, 3 + r.order[j]] = r.beta[j]
        counts[AT_LAMBDA] += 1
        work += (counts[N_SWEEPS] + 1.0) * counts[N_ACTIVE] * m
        if not results[k, 2] <= sweeps.target or work > sweeps.max_work:
            return
