"""The kernels, compiled: loaded when a matrix first needs them, and as a whole."""

import sys

from ..runtime.code_cache import forgive, temporary_folder
from ..runtime.loading import ONE_AT_A_TIME, undisturbed

KERNELS = "ncvpath.kernels"


def compiled_code():
    """The kernels; numba loads here: at the first fit, not at import."""
    with ONE_AT_A_TIME:
        if KERNELS not in sys.modules:
            with undisturbed():
                forgive(decorated())
    from .. import kernels

    return kernels


def decorated():
    """The kernels, each with a place on disk for its machine code."""
    try:
        from .. import kernels
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        with temporary_folder():
            from .. import kernels
    return kernels
