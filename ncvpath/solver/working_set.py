"""Who joins the working set: the strong rule, and the rules that add features.

A penalised feature at zero is settled while the residual lies in its slab
|<x_j, r>| <= l1_j. FireWorks keeps a vector s inside every slab and adds the features
whose slab boundary is nearest to it. (Rakotomamonjy, Flamary, Gasso and Salmon, AISTATS
2022.) MaxVC (maximum violated constraints) adds those from whose slab the residual
itself is farthest. Choices are made by exact correlations: estimates only say which of
them have to be computed, so that nothing depends on how X is stored.
"""

from typing import NamedTuple

import numpy as np

# A slab boundary that s touches up to rounding, relative to the slab's width.
TOUCHING = 1e-12
# Strong features per feature held, before they are taken in turns.
STRONG_PER_HELD = 3
# Strong features while few are held, at most, beyond those that a round adds.
STRONG_AT_FIRST = 150
# The share of the strong rule's slope that is allowed for beyond the first lambda of a
# block: the rule is cautious, and a feature that it would have let in is met by the
# check.
DARING = 0.25
# The share of a lambda's l1 below which its strong cut says little: most would pass.
SENSIBLE = 0.5


class Block(NamedTuple):
    """Lambdas to be solved together on the state's working set."""

    lambdas: np.ndarray
    strong: int  # features that entered by the strong rule
    touched: int = 0  # columns it took to choose them


def default_n_added(p):
    """Features that enter in the first round at a lambda."""
    return min(max(10, p // 200), 1000)


def largest(reach, size):
    """Positions of the `size` largest."""
    if reach.size <= size:
        return np.arange(reach.size)
    return np.argpartition(-reach, size)[:size]


def first_set(problem, state, size):
    """Without a previous lambda: the largest |<x_j, r0>| / m_j."""
    penalised = np.flatnonzero(problem.may_enter & ~problem.free)
    reach = np.abs(state.correlation.values[penalised])
    reach /= problem.penalty_factor[penalised]
    return penalised[largest(reach, size)]


def strong_cuts(problem, lam, lambdas):
    """From which |<x_j, r>| / m_j on, at the solution of lam, features are strong for
    each of the next lambdas.

    The sequential strong rule expects |u_j| to move no faster than `growth` per unit
    of l1_j, down the path or up.
    """
    growth = np.full(lambdas.size, DARING * problem.growth)
    growth[0] = problem.growth
    cuts = problem.alpha * (lambdas - growth * np.abs(lambdas - lam))
    return np.minimum.accumulate(cuts)


def usable_cuts(problem, lam, lambdas):
    """Those of one lambda at least, and of as many as leave the rule some sense."""
    cuts = strong_cuts(problem, lam, lambdas)
    sensible = cuts >= SENSIBLE * problem.alpha * lambdas
    return cuts[: max(np.count_nonzero(sensible), 1)]


def choose_block(problem, state, lambdas, limits, per_added):
    """Set the working set to support, unpenalised and strong features, and say for how
    many lambdas: as many as the strong features leave room for.

    They may be `per_added` times as many as a round adds, or a few for each that is
    held. On a coarse grid even one lambda lets in all; the largest |u_j| / m_j then
    stand in for the set.
    """
    if limits.working_set == "full":
        state.member = problem.may_enter.copy()
        return Block(lambdas, 0)
    state.member = held = (state.beta != 0) | problem.free
    if state.lam == np.inf:
        strong = first_set(problem, state, limits.n_added)
        held[strong] = True
        return Block(lambdas[:1], strong.size)
    outside, n_held = np.flatnonzero(~held & problem.may_enter), np.count_nonzero(held)
    room = state.gram.largest_set // 2 - n_held  # half of it is for violators
    few = min(per_added * limits.n_added, max(limits.n_added, STRONG_AT_FIRST))
    most = max(few, min(STRONG_PER_HELD * n_held, room))
    cuts = strong_cuts if outside.size <= min(most, room) else usable_cuts
    cuts = cuts(problem, state.lam, lambdas)
    bounds = state.correlation.bounds()[outside]
    near = outside[bounds >= cuts[-1] * problem.penalty_factor[outside]]
    touched = state.correlation.resolve(near)
    reach = np.abs(state.correlation.values[near]) / problem.penalty_factor[near]
    size = np.count_nonzero(reach.size - np.sort(reach).searchsorted(cuts) <= most)
    if size == 0:
        strong = near[largest(reach, most)]
    else:
        strong = near[reach >= cuts[size - 1]]
    held[strong] = True
    return Block(lambdas[: max(size, 1)], strong.size, touched)


def step_towards(feasible, correlation, problem, lam, member):
    """The largest t in [0, 1] that keeps t r + (1 - t) s in the slabs of all features
    outside the working set, and how many columns it took to know it.

    Members sit on their boundary up to noise and are left out. `feasible` are the
    correlations of s, `correlation` those of the residual r, exact for all violators:
    there s has to be known exactly, too.
    """
    outside = np.flatnonzero(~member & problem.may_enter)
    l1, _ = problem.levels_of(lam, outside)
    violated = ~(np.abs(correlation.values[outside]) <= l1)
    violators, l1 = outside[violated], l1[violated]
    touched = feasible.resolve(violators)
    u = correlation.values[violators]
    f = np.minimum(np.sign(u) * feasible.values[violators], l1)  # on the side of u
    return ((l1 - f) / (np.abs(u) - f)).min(initial=1.0), touched


def nearest(correlation, u, l1, length, outside, n_added, all_touching):
    """The n_added features outside whose slab boundary is nearest to a vector, all that
    it touches if so wished, and how many columns it took to know them.

    `correlation` are those of the vector, u those of the residual: among equals the
    largest violation goes first. At l1 = 0 every slab is a plane through s and touching
    it says nothing.
    """
    touched = 0
    if correlation.exact is not None:
        gap = (l1 - np.abs(correlation.values[outside])) / length
        off = np.where(correlation.exact[outside], 0.0, correlation.slack)
        last = min(n_added, outside.size) - 1
        edge = max(np.partition(gap + off, last)[last], 0.0)
        touched = correlation.resolve(outside[gap - off <= edge])
    gap = l1 - np.abs(correlation.values[outside])
    size = n_added
    if all_touching:
        touching = (gap <= TOUCHING * l1) & (l1 > 0)
        gap[touching] = 0.0
        size = max(n_added, np.count_nonzero(touching))
    if size >= outside.size:
        return outside, touched
    gap /= length
    close = np.flatnonzero(gap <= np.partition(gap, size - 1)[size - 1])
    excess = (np.abs(u[outside[close]]) - l1[close]) / length[close]
    return outside[close[np.lexsort((-excess, gap[close]))[:size]]], touched


# The rules; a full set leaves nobody outside.
RULES = ("fireworks", "maxvc", "full")
