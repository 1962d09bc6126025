"""Features in use change places with others, on the Gram matrix of a few."""

import numpy as np

from .descent import sweep
from .newton import subtract_row
from .options import helper, kernel
from .penalty import threshold, value
from .records import Coordinates

# With how many others outside each coordinate in use may change places.
NEIGHBOURS = 3


@helper
def rise_of_leaving(r, j, penalty):
    """What the objective gains if a coordinate goes to zero."""
    b = r.beta[j]
    rise = b * r.q[j] + 0.5 * r.v[j] * b * b
    return rise - value(penalty, abs(b), r.l1[j])


@helper
def insert(rises, pairs, entries, rise, pair, entry):
    """Put a swap at its place in a list of the most promising, in order."""
    s = rises.size - 1
    while s > 0 and rise < rises[s - 1]:
        rises[s], pairs[s], entries[s] = rises[s - 1], pairs[s - 1], entries[s - 1]
        s -= 1
    rises[s], pairs[s], entries[s] = rise, pair, entry


@helper
def nearest(r, gram, j, near):
    """The coordinates at zero that correlate most with another; -1 where there are no
    more."""
    for s in range(near.size):
        near[s] = -1
    for k in range(r.beta.size):
        if r.beta[k] == 0.0:
            reach, s = gram[j, k] * gram[j, k] / r.v[k], near.size - 1
            last = near[s]
            if last >= 0 and not reach > gram[j, last] * gram[j, last] / r.v[last]:
                continue
            while s > 0:
                before = near[s - 1]
                if before >= 0:
                    if not reach > gram[j, before] * gram[j, before] / r.v[before]:
                        break
                near[s] = before
                s -= 1
            near[s] = k


@helper
def rank_swaps(r, gram, penalty, near, rises, pairs, entries):
    """The swaps that raise the objective least while the others stay where they are.

    A coordinate in use goes to zero; a neighbour that is zero takes the best value that
    it then has alone.
    """
    for s in range(rises.size):
        rises[s] = np.inf
    for j in range(r.beta.size):
        if r.beta[j] == 0.0 or r.l1[j] == 0.0:
            continue
        leaves = rise_of_leaving(r, j, penalty)
        nearest(r, gram, j, near)
        for k in near:
            if k < 0:
                break
            q = r.q[k] + r.beta[j] * gram[j, k]
            new = threshold(penalty, q, r.v[k], r.l1[k], 0.0)
            enters = value(penalty, abs(new), r.l1[k]) - new * q
            rise = leaves + enters + 0.5 * r.v[k] * new * new
            if new != 0.0 and rise < rises[rises.size - 1]:
                insert(rises, pairs, entries, rise, j * r.beta.size + k, new)


@helper
def rise_between(r, beta, q, penalty):
    """How far the objective of r is above that of other coefficients."""
    rise = 0.0
    for j in range(beta.size):
        rise -= 0.5 * (r.beta[j] - beta[j]) * (r.q[j] + q[j])
        rise += value(penalty, abs(r.beta[j]), r.l1[j])
        rise -= value(penalty, abs(beta[j]), r.l1[j])
    return rise


@helper
def change(r, gram, j, new):
    """Give one coordinate another value."""
    by = new - r.beta[j]
    r.beta[j] = new
    subtract_row(gram, j, r.q.size, r.v, by, r.q)


@kernel
def exchange_places(penalty, r, gram, tries, sweeps, target, least):
    """Let coordinates change places as long as that leads down by more than `least`.

    After each swap all descend, in so many sweeps at most, until they meet the target.
    Modified in place: r.beta, r.q. Returns how many swaps were tried and kept.
    """
    m, tried, kept, falls = r.beta.size, 0, 0, True
    rises, entries = np.empty(tries), np.empty(tries)
    pairs, near = np.empty(tries, dtype=np.int64), np.empty(NEIGHBOURS, dtype=np.int64)
    while falls:
        falls = False
        rank_swaps(r, gram, penalty, near, rises, pairs, entries)
        for s in range(tries):
            if falls or rises[s] == np.inf:
                break
            tried += 1
            trial = Coordinates(
                r.order, r.slots, r.l1, r.v, r.beta.copy(), r.q.copy()
            )
            change(trial, gram, pairs[s] // m, 0.0)
            change(trial, gram, pairs[s] % m, entries[s])
            for _ in range(sweeps):
                if sweep(trial, gram, m, penalty, 0.1 * target)[0] <= target:
                    break
            falls = rise_between(trial, r.beta, r.q, penalty) < -least
            if falls:
                kept += 1
                r.beta[:], r.q[:] = trial.beta, trial.q
    return tried, kept
