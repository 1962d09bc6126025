"""Fits in a process of their own, which is ended when one takes too long.

Compiled code hears no interrupt, so that a fit past the cap can only be stopped along
with its process. The process lives from fit to fit, and the next one is warmed up
before its first, so that no compilation is ever timed.
"""

import warnings
from multiprocessing import get_context
from time import perf_counter
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .paper_systems import SYSTEMS, arguments


class Answer(NamedTuple):
    """What a fit returned, and what it took."""

    seconds: float  # at the lambdas: what the systems differ in
    call: float  # seconds of the whole call: checks and measuring of columns too
    beta: np.ndarray  # p x number of lambdas
    rounds: int
    epochs: int
    largest_set: int


class Worker:
    """A process that fits, replaced when it had to be ended."""

    def __init__(self):
        self.process, self.problem, self.knows = None, None, False

    def __enter__(self):
        return self

    def __exit__(self, *trouble):
        self.end()

    def pose(self, X, y):
        """The problem of the fits that follow."""
        self.problem, self.knows = (X, y), False

    def fit(self, cap, **settings):
        """An `Answer`, or None when there is none after `cap` seconds."""
        if self.process is None:
            context = get_context("spawn")  # threads do not survive a fork
            self.line, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()  # so that the line breaks when the process does
        if not self.knows:
            self.ask(self.problem)  # answered once it is warm
            self.knows = True
        answer = self.ask(settings, cap)
        return answer if answer is not None and answer.seconds <= cap else None

    def ask(self, message, cap=None):
        """The process's answer; None, and the end of it, after `cap` seconds."""
        self.line.send(message)
        if not self.line.poll(cap):
            self.end()
            return None
        answer = self.line.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self):
        """End the process, whatever it is doing."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.line.close()
            self.process, self.knows = None, False


def serve(line):
    """Receive problems (tuples) and settings of fits (dicts) until the line breaks.

    Threads of a BLAS that has just been used keep a core busy waiting for more; fits
    have it single-threaded anyway.
    """
    threadpool_limits(1)
    while True:
        try:
            message = line.recv()
        except EOFError:
            return
        try:
            if isinstance(message, tuple):
                problem = message
                answer = warm_up(*problem)
            else:
                answer = timed(*problem, message)
        except Exception as trouble:
            answer = trouble
        line.send(answer)


def timed(X, y, settings):
    """One clock runs during the call of `ncvpath`, another one inside it."""
    from ncvpath import ncvpath

    with warnings.catch_warnings():
        # Who misses the tolerance is found by `paper_systems.measure`.
        warnings.simplefilter("ignore")
        start = perf_counter()
        path = ncvpath(X, y, **settings)
        call = perf_counter() - start
    work = path.screening
    return Answer(
        work["seconds"].sum(), call, path.beta.toarray(), int(work["rounds"].sum()),
        int(work["epochs"].sum()), int(work["working_set"].max()),
    )


def warm_up(X, y):
    """Have everything compiled, by quick fits of every system.

    A few columns take the ways of small designs and deep fits, all columns those of
    large ones; two lambdas the ways of a path.
    """
    few = X[:, :100]
    for system in SYSTEMS:
        timed(few, y, arguments(few, y, [0.1, 0.05], 1e-3, system, 10))
        timed(X, y, arguments(X, y, [0.8, 0.7], 1e-1, system, 10))
