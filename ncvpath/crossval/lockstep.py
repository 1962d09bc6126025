"""Walkers that go through X together.

Several fits of the same matrix - a path and the folds of its cross-validation - each
walk down their path on a thread of their own. Whoever needs all of X waits until the
others need it too; then each column is read once for everyone. Nobody's numbers depend
on the company.
"""

import threading
from collections import deque
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor
from concurrent.futures import wait as wait_for

import numpy as np


class InterruptedWalkError(Exception):
    """Another walker failed, or the user has had enough."""


class Commons:
    """Where walkers meet for a pass over X, and the turns of those who may work."""

    def __init__(self, matrix, hands):
        self.matrix = matrix  # its crew has everyone's threads: they all wait
        self.turns = threading.Semaphore(hands)
        self.meeting = threading.Condition()
        self.present = 1  # walkers under way; whoever prepares the walks is one
        self.wishes = []  # of those who wait
        self.closed = False

    def run(self, walks, most):
        """The results of all walks, at most so many of them under way at a time."""
        left, outcomes = deque(enumerate(walks)), [None] * len(walks)
        self.present = min(most, len(walks))
        with ThreadPoolExecutor(self.present, "ncvpath-walk") as pool:
            try:
                walkers = range(self.present)
                futures = [pool.submit(self._walk, left, outcomes) for _ in walkers]
                wait_for(futures, return_when=FIRST_EXCEPTION)
            finally:
                self.close()
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        for future in futures:
            future.result()  # what went wrong in a pass that a leaving walker made
        return outcomes

    def _walk(self, left, outcomes):
        """One walk after another, until none is left or one fails."""
        try:
            with self.turns:
                while not self.closed:
                    try:
                        k, walk = left.popleft()
                    except IndexError:  # none is left
                        break
                    try:
                        outcomes[k] = walk()
                    except InterruptedWalkError:
                        break
                    except Exception as error:
                        outcomes[k] = error
                        self.close()
        finally:
            self.leave()

    def leave(self):
        """One walker less; the others may have waited for this one only."""
        with self.meeting:
            self.present -= 1
            everyone = self.wishes and len(self.wishes) == self.present
            if everyone and not self.closed:
                self._serve()

    def close(self):
        """Send everyone home."""
        with self.meeting:
            self.closed = True
            self.meeting.notify_all()

    def check(self):
        """Go home if that is the word."""
        if self.closed:
            raise InterruptedWalkError

    def correlate(self, vector, center):
        """One walker's vector with every centred column, when all have asked."""
        self.check()
        wish = Wish(vector, center)
        with self.meeting:
            self.wishes.append(wish)
            if len(self.wishes) == self.present:
                self._serve()
                return wish.answer
        self.turns.release()
        try:
            with self.meeting:
                self.meeting.wait_for(lambda: self.closed or wish.answer is not None)
        finally:
            self.turns.acquire()
        self.check()
        return wish.answer

    def _serve(self):
        """Go through X once for all who wait."""
        wishes, self.wishes = self.wishes, []
        answers = self.matrix.correlate(
            np.array([wish.vector for wish in wishes]),
            np.array([wish.center for wish in wishes]),
            np.arange(wishes[0].center.size),
        )
        for wish, answer in zip(wishes, answers):
            wish.answer = answer.copy()  # a view would keep all of them in memory
        self.meeting.notify_all()


class Wish:
    """What a walker asks for."""

    def __init__(self, vector, center):
        self.vector, self.center, self.answer = vector, center, None


class Companion:
    """A matrix whose passes over all columns are shared; the rest is done alone.

    A pass is a request for all features, in their order, and one vector.
    """

    def __init__(self, matrix, commons):
        self.matrix, self.commons = matrix, commons
        # Passes for all, before it was there and with it.
        self.shared = getattr(commons.matrix, "round_trips", None) or 0

    @property
    def round_trips(self):
        """To a cluster, shared ones included; None if X is here."""
        own = getattr(self.matrix, "round_trips", None)
        return None if own is None else own + self.shared

    def correlate(self, vectors, centers, features):
        """As the matrix does it."""
        if features.size < centers.shape[1] or len(vectors) > 1:
            return self.matrix.correlate(vectors, centers, features)
        self.shared += 1
        return self.commons.correlate(vectors[0], centers[0])[None]

    def __getattr__(self, name):
        return getattr(self.matrix, name)
