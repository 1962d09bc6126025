"""Which minimum: solutions that are lower than the forward path's.

A forward path comes from the sparse side. Beyond its convex part other minima may be
lower. From a low solution below the last lambda a walk leads back up, and the lower of
two solutions is kept. Then each lambda is begun at the solutions of those beside it,
and features change places while the others follow. All solutions are found and checked
by the loop.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from ..penalties import BY_KIND
from . import loop
from .convexity import convex_min
from .descent import SMALL_SET
from .exchange import Exchange
from .finished import ADDED_UP, Status, add_work

SEARCHES = ("forward", "both", "thorough")
# Where a solution comes from: results/path.py has words for these numbers.
BACK, SWAP, AGAIN = 1, 2, 3
# Objectives that differ by a smaller share are the same.
LOWER = 1e-9
# The walk back begins at a hidden lambda, the next power of this times lambda_max below
# the last: it is the same wherever in between that is.
STEP = 0.5**0.25
# How often a thorough search walks up and down.
WALKS = 2


def hidden_lambda(top, last):
    """The next below the last, that lists which end nearby share."""
    return top * STEP ** (np.floor(np.log(last / top) / np.log(STEP)) + 1)


def split(parts, first):
    """Parts of a path up to before a lambda, and those from it on, one by one."""
    above, singles, start = [], [], 0
    for part in parts:
        cut = min(max(first - start, 0), len(part))
        if cut:
            above.append(part.part(0, cut))
        singles += [part.part(k, k + 1) for k in range(cut, len(part))]
        start += len(part)
    return above, singles


class Search:
    """The best solutions known, lambda by lambda, and the walks that find others."""

    def __init__(self, problem, state, limits, rounds):
        self.problem, self.state = problem, state
        # So few features are looked at together sooner than they are chosen.
        few = problem.design.n_counted * problem.design.p**2 <= SMALL_SET
        self.limits = replace(limits, working_set="full") if few else limits
        self.rounds = partial(rounds, problem, state)
        self.best, self.tried = {}, set()
        self.number = {}  # by lambda: how often its best solution has changed
        self.lambdas, self.dfmax = np.empty(0), np.inf

    def improve(self, path, parts, how, dfmax):
        """Lower the solutions of the forward path, whose parts are given."""
        self.dfmax = np.inf if dfmax is None else dfmax
        self.lambdas, size = path.lambdas, np.count_nonzero(path.lambdas)
        places = range(self.edge(path) + 1, size)
        if not places:
            return parts
        above, singles = split(parts, places.start)
        self.best = dict(enumerate(singles, places.start))
        self.number = dict.fromkeys(places, 0)
        self.back_up(places)
        if how == "thorough":
            for walk in WALKS * [places[::-1], places]:
                for k in walk:
                    self.look_around(k)
        return above + list(self.best.values())

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

    def back_up(self, places):
        """Walk back up to the convex part, from the lower of the two solutions where
        the walk comes above the one known."""
        self.go_below(places[-1])
        k = places.stop
        while k > places.start:
            k = self.back_along(self.lambdas[places.start : k][::-1], k)

    def back_along(self, lambdas, k):
        """Walk back until it is higher than what is known; says where that was."""
        for part in self.rounds(lambdas, self.limits):
            for i in range(len(part)):
                k, found = k - 1, part.part(i, i + 1)
                height = found.solutions.objective[0]
                self.keep(k, found, BACK)
                if not height <= self.height(k) + LOWER * abs(self.height(k)):
                    loop.return_to(self.problem, self.state, self.best[k])
                    return k
        return k

    def go_below(self, k):
        """Be at a low solution of the hidden lambda, unless that fails."""
        problem, state = self.problem, self.state
        loop.return_to(problem, state, self.best[k])
        below = np.array([hidden_lambda(problem.lambda_max, self.lambdas[k])])
        [part] = self.rounds(below, self.limits)
        if part.status[0] is not Status.CONVERGED:
            return loop.return_to(problem, state, self.best[k])
        loop.return_to(problem, state, part)
        exchange = Exchange(problem, state, below[0], [])
        if exchange.lower(part.solutions.objective[0])[1]:
            loop.begin_at(problem, state, exchange.solutions)

    def height(self, k):
        """The lowest objective known at a lambda."""
        return self.best[k].solutions.objective[0]

    def keep(self, k, found, walk):
        """The lower of two solutions, and what both took; says whether it is new."""
        known, solutions, height = self.best[k], found.solutions, self.height(k)
        least = LOWER * abs(height)
        if known.status[0] is not Status.CONVERGED:
            least = -least  # one that is as low will do
        lower = solutions.objective[0] < height - least
        small = np.count_nonzero(solutions.beta) <= self.dfmax
        if lower and small and found.status[0] is Status.CONVERGED:
            found.work["walk"][:] = walk
            work = add_work(known.work, found.work)
            trace = [known.trace[0] + found.trace[0]]
            self.best[k] = replace(found, work=work, trace=trace)
            self.number[k] += 1
            return True
        for name in ADDED_UP:
            known.work[name] += found.work[name]
        known.trace[0].extend(found.trace[0])
        return False

    def look_around(self, k):
        """Begin at the solutions of the lambdas beside it, and let features change
        places, as long as that leads down and has not been tried."""
        while True:
            fresh = [
                i for i in (k, k - 1, k + 1)
                if i in self.number and (k, i, self.number[i]) not in self.tried
            ]
            if not fresh:
                return
            self.tried.update((k, i, self.number[i]) for i in fresh)
            loop.return_to(self.problem, self.state, self.best[k])
            others = [self.best[i].solutions for i in fresh if i != k]
            exchange = Exchange(self.problem, self.state, self.lambdas[k], others)
            height = self.height(k)
            moved = exchange.begin_elsewhere(height)
            tried, kept = exchange.lower(height) if moved or k in fresh else (0, 0)
            self.best[k].work["swaps_tried"] += tried
            if not (moved or kept):
                return
            loop.begin_at(self.problem, self.state, exchange.solutions)
            [found] = self.rounds(self.lambdas[k : k + 1], self.limits)
            if not self.keep(k, found, SWAP if kept else AGAIN):
                return
            self.best[k].work["swaps_kept"] += kept
