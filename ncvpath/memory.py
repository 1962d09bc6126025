"""Large arrays whose memory goes back to the system as soon as they are dropped.

malloc keeps what threads have freed in arenas of their own; with a dozen threads that
adds up to more than all that is in use.
"""

import mmap
from math import prod

import numpy as np

# Bytes from which on it matters.
LARGE = 1 << 20


def roomy(*shape):
    """An array of float64 with nothing in it yet."""
    size = 8 * prod(shape)
    if size < LARGE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(shape)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages).reshape(shape)
