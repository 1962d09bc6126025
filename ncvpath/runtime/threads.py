"""Threads: a small pool of our own for passes over X, and BLAS kept to one thread.

Work is cut into pieces whose results do not depend on the cut, and each is computed by
one thread, so results have the same bits for any `n_threads`.
"""

import os
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import prod

from .loading import undisturbed
from .memory import empty_mmap


def available_cores():
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadPool:
    """Runs a function over pieces of work on up to `n_threads` threads."""

    def __init__(self, n_threads):
        self.n_threads = n_threads
        self._pool = None
        self._scratch = defaultdict(list)

    def run(self, function, pieces):
        """Call `function(piece)` for every piece; pieces must not share outputs."""
        n_workers = min(self.n_threads, len(pieces))
        if n_workers <= 1:
            for piece in pieces:
                function(piece)
            return None
        stop = threading.Event()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads - 1, "ncvpath")
        others = [
            self._pool.submit(_work_through, function, pieces[hand::n_workers], stop)
            for hand in range(1, n_workers)
        ]
        try:
            _work_through(function, pieces[::n_workers], stop)
        finally:
            failures = [other.exception() for other in others]
        for failure in filter(None, failures):
            raise failure
        return None

    @contextmanager
    def scratch(self, purpose, *shape):
        """A scratch array, kept for the next who asks for this purpose."""
        size, kept = prod(shape), self._scratch[purpose]
        try:
            array = kept.pop()
        except IndexError:
            array = None
        if array is None or array.size < size:
            del array  # before there is another
            array = empty_mmap(9 * size // 8)
        try:
            yield array[:size].reshape(shape)
        finally:
            kept.append(array)

    def close(self):
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def _work_through(function, pieces, stop):
    """Piece after piece, until somebody's has failed."""
    try:
        for piece in pieces:
            if stop.is_set():
                return
            function(piece)
    except BaseException:
        stop.set()
        raise


class _BlasGate:
    """BLAS thread limits are process-wide: the first fit in sets them to one
    thread, the last fit out restores what was there."""

    def __init__(self):
        self._lock = threading.Lock()
        self._inside = set()  # no count: an entry may be interrupted before it is one
        self._controller = None
        self._limits = None

    def enter(self, fit):
        with self._lock:
            self._inside.add(fit)  # first, so that an interrupted entry can be left
            if self._limits is None:
                if self._controller is None:
                    self._controller = _new_controller()
                _take_control()
                self._limits = self._controller.limit(limits=1, user_api="blas")

    def leave(self, fit):
        with undisturbed(), self._lock:
            self._inside.discard(fit)
            if not self._inside and self._limits is not None:
                _take_control()
                self._limits.restore_original_limits()
                self._limits = None
                _take_control()


def _new_controller():
    """Of the BLAS libraries that are there, scipy's among them."""
    with undisturbed():
        import scipy.linalg  # noqa: F401  its BLAS must be loaded to be seen
        import scipy.sparse  # noqa: F401  a fit needs it at its end
        from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_control():
    """Let any thread change BLAS limits.

    threadpoolctl 3.8 on listens to one thread only, the first that set a limit; the
    fit that enters first and the one that leaves last need not share a thread.
    """
    import threadpoolctl

    controller = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(controller, "clear_controlling_thread"):
        controller.clear_controlling_thread(force=True)


_gate = _BlasGate()


def _new_gate():
    # A child forked in the middle of a fit inherits fits that nobody will end, and
    # limits that nobody will lift.
    global _gate
    if _gate._limits is not None:
        _take_control()
        _gate._limits.restore_original_limits()
    _gate = _BlasGate()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_gate)


@contextmanager
def working(n_threads):
    """A pool for one fit, with BLAS on one thread meanwhile."""
    threads = ThreadPool(n_threads)
    gate = _gate
    try:
        gate.enter(threads)
        yield threads
    finally:
        try:
            threads.close()
        finally:
            gate.leave(threads)
