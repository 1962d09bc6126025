"""Which minimum: solutions that are lower than the forward path's.

A forward path comes from the sparse side. Beyond its convex part other minima may be
lower. From below the last lambda a walk leads back up, each solution begun at that of
the lambda below, and the lower of the two is kept. Then features in use change places
with neighbours outside, and the lower solutions are handed on to the lambdas beside
them. All walks are the loop's, and all solutions are checked by it.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from ..penalties import BY_KIND
from . import loop
from .convexity import convex_min
from .exchange import Exchange
from .finished import Status, add_work

SEARCHES = ("forward", "both", "thorough")
# Where a solution comes from: results/path.py has words for these numbers.
BACK, SWAP, AGAIN = 1, 2, 3
# Objectives that differ by a smaller share are the same.
LOWER = 1e-9
# The walk back begins on a hidden grid down to a power of this times lambda_max, one of
# two steps or more below the last lambda: it is the same wherever in between that is.
STEP = 0.5**0.25


def hidden_grid(top, last):
    """Lambdas below the last, that lists which end nearby share."""
    first = np.floor(np.log(last / top) / np.log(STEP)) + 1
    end = 4 * (np.ceil(first / 4) + 1)
    return top * STEP ** np.arange(first, end + 1)


class Search:
    """The best solutions known, lambda by lambda, and the walks that find others."""

    def __init__(self, problem, state, limits, rounds):
        self.problem, self.state, self.limits = problem, state, limits
        self.rounds = partial(rounds, problem, state)
        self.best, self.tried = [], set()
        self.number = []  # by lambda: how often its best solution has changed
        self.lambdas, self.dfmax = np.empty(0), np.inf

    def improve(self, path, parts, how, dfmax):
        """Lower the solutions of the forward path, whose parts are given."""
        self.dfmax = np.inf if dfmax is None else dfmax
        self.best = [part.part(k, k + 1) for part in parts for k in range(len(part))]
        self.lambdas, self.number = path.lambdas, [0] * len(self.best)
        size = np.count_nonzero(path.lambdas)
        edge = self.edge(path)
        if edge + 1 >= size:
            return self.best
        self.back_up(edge, size)
        if how == "thorough":
            places = range(edge + 1, size)
            self.swap(size - 1)
            for k in reversed(places[:-1]):
                self.hand_on(k + 1, k)
                self.swap(k)
            for k in places[edge < 0 :]:
                self.hand_on(k - 1, k)
            for k in reversed(places[:-1]):
                self.hand_on(k + 1, k)
        return self.best

    def edge(self, path):
        """The last lambda of the convex part, at which there is nothing to find; -1 if
        not even the first may be part of it."""
        top = self.problem.lambda_max * (1 - loop.SAME_LAMBDA)
        starts_below = path.lambdas[0] < top
        if BY_KIND[self.problem.penalty.kind].concavity is None:
            return -1 if starts_below else 0
        edge = convex_min(self.problem, self.state.gram.block, path)
        if starts_below and (edge == 0 or path.lambdas.size == 1):
            return -1
        return path.lambdas.size if edge is None else edge

    def back_up(self, edge, size):
        """Walk down the hidden grid, and back up to the convex part, each time from the
        lower of the two solutions."""
        self.go_below(size - 1)
        for k in reversed(range(edge + 1, size)):
            [found] = self.rounds(self.lambdas[k : k + 1], self.limits)
            height = found.solutions.objective[0]
            self.keep(k, found, BACK)
            if not height <= self.height(k) + LOWER * abs(self.height(k)):
                loop.return_to(self.problem, self.state, self.best[k])

    def go_below(self, k):
        """Walk down the hidden grid and up again, unless that fails somewhere."""
        loop.return_to(self.problem, self.state, self.best[k])
        below = hidden_grid(self.problem.lambda_max, self.lambdas[k])
        for part in self.rounds(np.append(below, below[-2::-1]), self.limits):
            if set(part.status) != {Status.CONVERGED}:
                loop.return_to(self.problem, self.state, self.best[k])
                return

    def height(self, k):
        """The lowest objective known at a lambda."""
        return self.best[k].solutions.objective[0]

    def keep(self, k, found, walk):
        """The lower of two solutions, and what both took; says whether it is new."""
        known, solutions, height = self.best[k], found.solutions, self.height(k)
        lower = solutions.objective[0] < height - LOWER * abs(height)
        small = np.count_nonzero(solutions.beta) <= self.dfmax
        if lower and small and found.status[0] is Status.CONVERGED:
            found.work["walk"][:] = walk
            work = add_work(known.work, found.work)
            trace = [known.trace[0] + found.trace[0]]
            self.best[k] = replace(found, work=work, trace=trace)
            self.number[k] += 1
            return True
        work = add_work(found.work, known.work)
        for name in work:
            known.work[name][:] = work[name]
        known.trace[0].extend(found.trace[0])
        return False

    def swap(self, k):
        """Features change places as long as that leads down."""
        while (k, k, self.number[k]) not in self.tried:
            self.tried.add((k, k, self.number[k]))
            loop.return_to(self.problem, self.state, self.best[k])
            exchange = Exchange(self.problem, self.state, self.lambdas[k])
            tried, kept = exchange.lower(self.height(k))
            self.best[k].work["swaps_tried"] += tried
            if not kept:
                return
            loop.begin_at(self.problem, self.state, exchange.solutions)
            [found] = self.rounds(self.lambdas[k : k + 1], self.limits)
            if not self.keep(k, found, SWAP):
                return
            self.best[k].work["swaps_kept"] += kept

    def hand_on(self, origin, k):
        """Begin a lambda at the solution of another, unless that has been tried."""
        attempt = (k, origin, self.number[origin])
        if attempt not in self.tried:
            self.tried.add(attempt)
            loop.return_to(self.problem, self.state, self.best[origin])
            [found] = self.rounds(self.lambdas[k : k + 1], self.limits)
            if self.keep(k, found, AGAIN):
                self.swap(k)
