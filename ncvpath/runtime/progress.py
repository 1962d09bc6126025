"""Progress over lambdas: tqdm's bar if it is installed, else a plain line."""

import sys
import threading
from contextlib import ExitStack
from time import monotonic

from .announcing import ANNOUNCER

# Seconds between two states of the plain line: all of them go into a file.
PAUSE = 0.1


class Bar:
    """Counts finished lambdas, from any thread, and shows them when asked to."""

    def __init__(self, show):
        self.show, self.total, self._waiting = show, 0, ExitStack()
        self._lock, self._bar, self._over = threading.Lock(), None, False

    def expect(self, more):
        """So many lambdas more are to come."""
        with self._lock:
            self.total += more
            if self._bar is not None:
                self._bar.total = self.total
                self._bar.refresh()

    def tick(self, count=1):
        """So many more are done."""
        if not self.show:
            return
        with self._lock:
            if self._over:  # a task that ended late
                return
            if self._bar is None:
                self._bar = _new_bar(self.total)
            self._bar.update(count)

    def __enter__(self):
        if self.show:
            self._waiting.enter_context(ANNOUNCER.waiting())
        return self

    def __exit__(self, failure, *_):
        self._waiting.close()
        with self._lock:
            self._over = True
            if self._bar is not None:
                if failure is None:  # what dfmax has spared is not missing
                    self._bar.total = self._bar.n
                    self._bar.refresh()
                self._bar.close()


class _Line:
    """One line on stderr, written over and over."""

    def __init__(self, total):
        self.total, self.n, self._next = total, 0, 0.0

    def update(self, count):
        self.n += count
        if monotonic() >= self._next:
            self.refresh()

    def refresh(self):
        self._next = monotonic() + PAUSE
        sys.stderr.write(f"\rncvpath: lambda {self.n} of {self.total}")

    def close(self):
        sys.stderr.write("\n")


def _new_bar(total):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total)
    return tqdm(desc="ncvpath", unit="lambda", total=total)
