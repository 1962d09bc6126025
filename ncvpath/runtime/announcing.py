"""One line to who waits: kernels are being compiled, once on this machine."""

import sys
import threading
from contextlib import contextmanager

# Seconds it takes when nothing was compiled before, and when a part of it was.
ALL, SOME = 20, 5


class Announcer:
    """Says it once in a process, and only while somebody waits at a terminal."""

    def __init__(self):
        self._lock, self._waiting, self._said = threading.Lock(), 0, False

    @contextmanager
    def waiting(self):
        """Somebody waits until the end of the block."""
        with self._lock:
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    def compiles(self, from_nothing):
        """A kernel is about to be compiled."""
        with self._lock:
            if self._said or not self._waiting:
                return
            self._said = True
        seconds = ALL if from_nothing else SOME
        print(
            f"ncvpath: compiling, once on this machine: about {seconds} s",
            file=sys.stderr, flush=True,
        )


ANNOUNCER = Announcer()
