"""Machine code on disk: numba's cache may be damaged, full or read-only.

None of that is a reason for a fit to fail: what cannot be read is compiled anew, and
what cannot be kept lasts for this process.
"""

import atexit
import shutil
import sys
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp

from .announcing import ANNOUNCER
from .loading import ONE_AT_A_TIME, undisturbed


class ForgivingCache:
    """The cache of one compiled function, whose failures count as misses."""

    def __init__(self, cache, all_caches):
        self.cache, self.all = cache, all_caches
        all_caches.append(self)

    def is_empty(self):
        """Whether nothing was compiled before, as far as can be seen."""
        with suppress(Exception):
            return not self.cache._cache_file._load_index()
        return True

    def load_overload(self, *arguments):
        """Machine code for these types, or None."""
        # A damaged file may raise anything: it is read by pickle and by LLVM.
        found = None
        try:
            found = self.cache.load_overload(*arguments)
        except Exception:
            with suppress(Exception):
                self.cache.flush()  # else it would be met again in every process
        if found is None:
            ANNOUNCER.compiles(all(cache.is_empty() for cache in self.all))
        return found

    def save_overload(self, *arguments):
        """Keep machine code, if the disk lets us."""
        with suppress(Exception):
            self.cache.save_overload(*arguments)

    def __getattr__(self, name):
        return getattr(self.cache, name)


def stamp(folder):
    """A digest of all kernels' sources.

    numba compares the time and size of the file of a cached function, which knows
    nothing of the helpers that were compiled into it.
    """
    digest = sha256()
    for file in sorted(Path(folder).glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def prepare(modules, sources):
    """Give every compiled function of some modules such a cache, stamped with all of
    their sources."""
    caches = []
    for module in modules:
        for function in vars(module).values():
            cache = getattr(function, "_cache", None)
            if hasattr(cache, "_cache_file") and not isinstance(cache, ForgivingCache):
                cache._cache_file._source_stamp = sources
                function._cache = ForgivingCache(cache, caches)


def import_all(names):
    """Import modules of kernels, each function with a place on disk for its code."""
    try:
        return [import_module(name) for name in names]
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
    with temporary_folder():
        return [import_module(name) for name in names]


def load_kernels(folder, package, names):
    """Modules of kernels, with their caches prepared."""
    with ONE_AT_A_TIME, undisturbed():
        modules = import_all([f"{package}.{name}" for name in names])
        prepare(modules, stamp(folder))
    return modules


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
