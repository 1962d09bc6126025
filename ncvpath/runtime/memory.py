"""Memory: large arrays that go back to the system as soon as they are dropped, and what
to do where there is not enough of it.

malloc keeps what threads have freed in arenas of their own; with a dozen threads that
adds up to more than all that is in use.
"""

import mmap
from contextlib import contextmanager
from math import prod

import numpy as np

# Bytes from which on it matters.
LARGE = 1 << 20


class TooLargeError(MemoryError):
    """Something did not fit into memory; it says what, and what would help."""


def empty_mmap(*shape):
    """An array of float64 with nothing in it yet."""
    size = 8 * prod(shape)
    if size < LARGE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(shape)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:  # its name for being out of memory
        raise MemoryError(f"{size:,} bytes for an array of shape {shape}") from error
    return np.frombuffer(pages).reshape(shape)


@contextmanager
def advised(what, advice):
    """Say what did not fit into memory and what would help, where nobody has yet."""
    try:
        yield
    except TooLargeError:
        raise
    except MemoryError as error:
        missing = f" ({error})" if str(error) else ""
        raise TooLargeError(
            f"{what} did not fit into memory{missing}; {advice}"
        ) from error
