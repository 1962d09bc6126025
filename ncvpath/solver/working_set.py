"""Who works next: first guesses, and the rules that add features.

A penalised feature at zero is settled while the residual lies in its slab
|<x_j, r>| <= l1_j. FireWorks keeps a vector s inside every slab, of which only
f_j = <x_j, s> is ever needed, and adds the features whose slab boundary is nearest
to it. (Rakotomamonjy, Flamary, Gasso and Salmon, AISTATS 2022.) The step that moves s
is kernels.survey, since it looks at every feature.

MaxVC (maximum violated constraints) has no such vector: it adds the features from whose
slab the residual itself is farthest.
"""

import numpy as np

# A slab boundary that s touches up to rounding, relative to the slab's width.
ROUNDING = 1e-12


def first_set(correlation, factor, size):
    """Without a previous lambda: the largest |<x_j, r0>| / m_j."""
    penalised = np.flatnonzero((factor > 0) & (factor < np.inf))
    reach = np.abs(correlation[penalised]) / factor[penalised]
    return penalised[largest(reach, size)]


def largest(reach, size):
    """Positions of the `size` largest."""
    if reach.size <= size:
        return np.arange(reach.size)
    return np.argpartition(-reach, size)[:size]


def nearest_slabs(u, f, l1, length, n_added):
    """The n_added features whose slab boundary is nearest to s, and all that block.

    The features that stopped the step have distance zero and all enter, be they
    more than n_added. At l1 = 0 every slab is a plane through s and "blocking" says
    nothing; among equals the largest violation goes first.
    """
    distance = np.maximum(l1 - np.abs(f), 0.0)
    blocking = (distance <= ROUNDING * l1) & (l1 > 0)
    size = max(n_added, np.count_nonzero(blocking))
    if size >= u.size:
        return np.arange(u.size)
    distance = np.where(blocking, 0.0, distance / length)
    close = np.flatnonzero(distance <= np.partition(distance, size - 1)[size - 1])
    excess = (np.abs(u[close]) - l1[close]) / length[close]
    return close[np.lexsort((-excess, distance[close]))[:size]]


def most_violated(u, f, l1, length, n_added):
    """The n_added features from whose slab the residual is farthest; f has no say."""
    return largest((np.abs(u) - l1) / length, n_added)


# Who joins the working set: places among features outside, by their correlation u with
# the residual and f with s. Those that are just being pruned are not among them. A full
# set leaves nobody outside, and its rule is never asked.
RULES = {"fireworks": nearest_slabs, "maxvc": most_violated, "full": most_violated}


def default_n_added(p):
    """Features that enter in the first round at a lambda."""
    return min(max(10, p // 200), 1000)
