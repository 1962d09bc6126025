"""The memory that a process has of its own, watched while it works."""

import threading
import time
from pathlib import Path


def anonymous():
    """Bytes of this process that belong to no file."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssAnon:")[1].split()[0])


class Watch:
    """A context in which `peak` is the largest of it so far, beyond what was there."""

    def __enter__(self):
        self.before, self.peak, self._going = anonymous(), 0, True
        self._watcher = threading.Thread(target=self._look, daemon=True)
        self._watcher.start()
        return self

    def _look(self):
        while self._going:
            self.peak = max(self.peak, anonymous() - self.before)
            time.sleep(0.002)

    def __exit__(self, *_):
        self._going = False
        self._watcher.join()
