"""Who works next: the strong rule's first guess and the FireWorks choice.

A penalised feature at zero is settled while the residual lies in its slab
|<x_j, r>| <= l1_j. FireWorks keeps a vector s inside every slab, of which only
f_j = <x_j, s> is ever needed, and adds the features whose slab boundary is nearest
to it. (Rakotomamonjy, Flamary, Gasso and Salmon, AISTATS 2022.)
"""

import numpy as np

# A slab boundary that s touches up to rounding, relative to the slab's width.
ROUNDING = 1e-12


def strong_set(u, l1, l1_before, growth, size):
    """Features the sequential strong rule expects to enter, at most `size` of them.

    A correlation that moves no faster than `growth` per unit of l1 cannot reach l1
    from below l1 - growth (l1_before - l1). On a coarse grid that bound is
    negative; the largest |u_j| / l1_j then stand in for the set.
    """
    reach = np.abs(u)
    penalised = (l1_before > 0) & (l1_before < np.inf)
    with np.errstate(invalid="ignore"):  # inf - inf of excluded features
        strong = np.flatnonzero((reach >= l1 + growth * (l1 - l1_before)) & penalised)
    if strong.size <= size:
        return strong
    relative = reach[strong] / l1_before[strong]
    return strong[np.argpartition(-relative, size)[:size]]


def first_set(u, factor, size):
    """Without a previous lambda: the largest |<x_j, r0>| / m_j."""
    penalised = np.flatnonzero((factor > 0) & (factor < np.inf))
    if penalised.size <= size:
        return penalised
    reach = np.abs(u[penalised]) / factor[penalised]
    return penalised[np.argpartition(-reach, size)[:size]]


def feasible_step(u, f, l1, outside):
    """The largest t in [0, 1] with |t u + (1 - t) f| <= l1 for features `outside`."""
    out = np.flatnonzero(outside & (np.abs(u) > l1))
    if out.size == 0:
        return 1.0
    side = np.sign(u[out])
    # On its own side each blocking feature meets l1 at (l1 - f) / (u - f); the
    # denominator is positive because u is beyond l1 and f is not.
    room = np.maximum(l1[out] - side * f[out], 0.0)
    return float(np.min(room / (np.abs(u[out]) - side * f[out])))


def nearest_slabs(u, f, l1, length, candidates, n_added):
    """The n_added candidates whose slab boundary is nearest to s, and all that block.

    The features that stopped the step have distance zero and all enter, be they
    more than n_added. At l1 = 0 every slab is a plane through s and "blocking" says
    nothing; among equals the largest violation goes first.
    """
    if candidates.size <= n_added:
        return candidates
    bound = l1[candidates]
    distance = np.maximum(bound - np.abs(f[candidates]), 0.0)
    blocking = (distance <= ROUNDING * bound) & (bound > 0)
    size = min(max(n_added, int(blocking.sum())), candidates.size)
    distance = np.where(blocking, 0.0, distance / length[candidates])
    close = distance <= np.partition(distance, size - 1)[size - 1]
    candidates, distance = candidates[close], distance[close]
    excess = (np.abs(u[candidates]) - l1[candidates]) / length[candidates]
    return candidates[np.lexsort((-excess, distance))[:size]]


def default_n_added(p):
    """Features that enter in the first round at a lambda; doubled in each further."""
    return min(max(10, p // 100), 1000)
