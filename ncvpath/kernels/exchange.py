"""Features in use change places with others, on the Gram matrix of a few."""

import numpy as np

from .descent import sweep
from .newton import subtract_row
from .options import helper, kernel
from .penalty import curvature, slope, threshold, value
from .records import Coordinates, Moves

# A pivot below this share of its coordinate's curvature is none: that one stays as it
# is while others move.
FLOOR = 1e-6
# Looks for promising moves, at most.
PASSES = 2
# A descent is given up when it would take so many sweeps like the last to come below.
PACE = 20.0


@helper
def insert(best, rise, move, entry):
    """Put a move at its place in a list of the most promising, in order."""
    s = best.rises.size - 1
    if not rise < best.rises[s]:
        return
    while s > 0 and rise < best.rises[s - 1]:
        best.rises[s], best.moves[s] = best.rises[s - 1], best.moves[s - 1]
        best.entries[s] = best.entries[s - 1]
        s -= 1
    best.rises[s], best.moves[s], best.entries[s] = rise, move, entry


@helper
def follow(r, gram, used, penalty, answer):
    """How those in use answer to others, by the sweep operator (Goodnight, 1979).

    With A the Hessian of those in use, row s of `answer` becomes row s of A^-1 G: in
    the columns of those in use themselves, of A^-1. Returns which of them have answers.
    """
    moves, m = np.zeros(used.size, dtype=np.bool_), r.beta.size
    for s in range(used.size):
        j = used[s]
        answer[s] = gram[j]
        answer[s, j] = r.v[j] + curvature(penalty, abs(r.beta[j]), r.l1[j])
    for s in range(used.size):
        j = used[s]
        pivot = answer[s, j]
        if not pivot > FLOOR * r.v[j]:
            continue
        moves[s] = True
        answer[s, j] = 1.0
        for k in range(m):
            answer[s, k] /= pivot
        for t in range(used.size):
            if t != s:
                part = answer[t, j]
                answer[t, j] = 0.0
                for k in range(m):
                    answer[t, k] -= part * answer[s, k]
    return moves


@helper
def rise_of_leaving(r, j, own, penalty):
    """What the objective gains if a coordinate goes to zero and the others in use
    follow, where `own` is its place on the diagonal of A^-1."""
    a = abs(r.beta[j])
    tangent = slope(penalty, a, r.l1[j]) - 0.5 * curvature(penalty, a, r.l1[j]) * a
    return 0.5 * a * a / own + tangent * a - value(penalty, a, r.l1[j])


@helper
def rank_moves(r, gram, penalty, used, answer, moves, best):
    """The moves that raise the objective least, while those in use follow.

    One in use goes to zero, or none (then s is their number); and another that is zero
    takes the best value that it then has, or none does (k is that of all).
    """
    m, none = r.beta.size, used.size
    best.rises[:] = np.inf
    left = r.v.copy()  # the curvature that those in use leave to each
    for s in range(none):
        if moves[s]:
            for k in range(m):
                left[k] -= gram[used[s], k] * answer[s, k]
    for s in range(none + 1):
        leaves = own = 0.0
        if s < none:
            j = used[s]
            if not moves[s] or r.l1[j] == 0.0 or not answer[s, j] > 0.0:
                continue
            own = answer[s, j]
            leaves = rise_of_leaving(r, j, own, penalty)
            insert(best, leaves, s * (m + 1) + m, 0.0)
        for k in range(m):
            if r.beta[k] != 0.0:
                continue
            q, v = r.q[k], left[k]
            if s < none:
                q += answer[s, k] * r.beta[j] / own
                v += answer[s, k] * answer[s, k] / own
            if not v > FLOOR * r.v[k]:
                continue
            new = threshold(penalty, q, v, r.l1[k], 1.0)
            if new != 0.0:
                enters = value(penalty, abs(new), r.l1[k]) + (0.5 * v * new - q) * new
                insert(best, leaves + enters, s * (m + 1) + k, new)


@helper
def take(trial, gram, used, answer, moves, move, entry):
    """Make a move, and let those in use follow."""
    m, none = trial.beta.size, used.size
    s, k, share = move // (m + 1), move % (m + 1), 0.0
    if s < none:
        j = used[s]
        share = trial.beta[j]
        if k < m:
            share -= answer[s, k] * entry
        share /= answer[s, j]
    for t in range(none):
        if moves[t] and trial.beta[used[t]] != 0.0:
            by = 0.0
            if s < none:
                by -= answer[t, j] * share
            if k < m:
                by -= answer[t, k] * entry
            change(trial, gram, used[t], trial.beta[used[t]] + by)
    if s < none:
        change(trial, gram, j, 0.0)
    if k < m:
        change(trial, gram, k, entry)


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


@helper
def copied(r):
    """The same coordinates, to be moved."""
    return Coordinates(r.order, r.slots, r.l1, r.v, r.beta.copy(), r.q.copy())


@helper
def descends(trial, r, gram, penalty, sweeps, target, least):
    """Let a trial descend; says whether it ends below r by more than `least`.

    It is given up when it is farther above than it will fall at its pace.
    """
    before = np.inf
    for _ in range(sweeps):
        worst = sweep(trial, gram, r.beta.size, penalty, 0.1 * target)[0]
        rise = rise_between(trial, r.beta, r.q, penalty)
        if worst <= target or rise + least > PACE * (before - rise):
            break
        before = rise
    if not rise < -least:
        return False
    r.beta[:], r.q[:] = trial.beta, trial.q
    return True


@kernel
def begin_elsewhere(penalty, r, gram, starts, sweeps, target, least):
    """Descend from other starts; r becomes the lowest end that is lower.

    Modified in place: r.beta, r.q. Returns whether there was one.
    """
    fell = False
    for s in range(starts.shape[0]):
        trial = copied(r)
        for j in range(r.beta.size):
            if starts[s, j] != trial.beta[j]:
                change(trial, gram, j, starts[s, j])
        fell |= descends(trial, r, gram, penalty, sweeps, target, least)
    return fell


@helper
def is_stale(r, used, move):
    """Whether who should leave has left, or who should enter is there."""
    s, k = move // (r.beta.size + 1), move % (r.beta.size + 1)
    if s < used.size and r.beta[used[s]] == 0.0:
        return True
    return k < r.beta.size and r.beta[k] != 0.0


@kernel
def exchange_places(penalty, r, gram, tries, sweeps, target, least):
    """Make moves that lead down by more than `least`, the most promising first.

    After each move all descend, in so many sweeps at most, until they meet the target.
    Modified in place: r.beta, r.q. Returns how many moves were tried and kept.
    """
    tried = kept = 0
    best = Moves(np.empty(tries), np.empty(tries, dtype=np.int64), np.empty(tries))
    for _ in range(PASSES):
        before, used = kept, np.flatnonzero(r.beta)
        answer = np.empty((used.size, r.beta.size))
        moves = follow(r, gram, used, penalty, answer)
        rank_moves(r, gram, penalty, used, answer, moves, best)
        for s in range(tries):
            if best.rises[s] == np.inf:
                break
            if is_stale(r, used, best.moves[s]):
                continue
            tried += 1
            trial = copied(r)
            take(trial, gram, used, answer, moves, best.moves[s], best.entries[s])
            kept += descends(trial, r, gram, penalty, sweeps, target, least)
        if kept == before:
            break
    return tried, kept
