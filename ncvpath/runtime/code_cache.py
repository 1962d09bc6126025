"""Machine code on disk: numba's cache may be damaged, full or read-only.

None of that is a reason for a fit to fail: what cannot be read is compiled anew, and
what cannot be kept lasts for this process.
"""

import atexit
import shutil
import sys
from contextlib import contextmanager, suppress
from tempfile import mkdtemp


class ForgivingCache:
    """The cache of one compiled function, whose failures count as misses."""

    def __init__(self, cache):
        self.cache = cache

    def load_overload(self, *arguments):
        """Machine code for these types, or None."""
        # A damaged file may raise anything: it is read by pickle and by LLVM.
        try:
            return self.cache.load_overload(*arguments)
        except Exception:
            with suppress(Exception):
                self.cache.flush()  # else it would be met again in every process
            return None

    def save_overload(self, *arguments):
        """Keep machine code, if the disk lets us."""
        with suppress(Exception):
            self.cache.save_overload(*arguments)

    def __getattr__(self, name):
        return getattr(self.cache, name)


def forgive(module):
    """Give every compiled function of a module such a cache."""
    for function in vars(module).values():
        cache = getattr(function, "_cache", None)
        if hasattr(cache, "load_overload"):
            function._cache = ForgivingCache(cache)


@contextmanager
def temporary_folder():
    """A folder for functions that are decorated meanwhile, if numba found none.

    It is private: what is in a cache will be executed.
    """
    try:
        folder = mkdtemp(prefix="ncvpath-")
    except OSError as error:
        raise RuntimeError(
            "numba must have a folder for the code it compiles; set the environment "
            f"variable NUMBA_CACHE_DIR to one that can be written to ({error})"
        ) from None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    config = sys.modules["numba"].config
    before, config.CACHE_DIR = config.CACHE_DIR, folder
    try:
        yield
    finally:
        config.CACHE_DIR = before
