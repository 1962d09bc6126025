"""How kernels are compiled.

Division as in NumPy: no kernel raises. Nobody calls from C: to compile the way in from
there would take a tenth of the time, and as much the way from Python into helpers. To
Python these are functions of Python, then, compiled as part of the kernels that call
them. Each level of calls is optimised anew with all that lies below it, so long helpers
with one caller are `inlined`: compiled there, and only there, which `register_jitable`
would not do.
"""

from numba import njit
from numba.extending import register_jitable

OPTIONS = dict(nogil=True, error_model="numpy", no_cfunc_wrapper=True)
# Sums may be taken in any order, which lets them be vectorised; NaN and inf keep their
# meaning.
SUMS = {"reassoc", "contract"}

kernel = njit(**OPTIONS, cache=True)
summing_kernel = njit(**OPTIONS, cache=True, fastmath=SUMS)
helper = register_jitable(**OPTIONS)
summing_helper = register_jitable(**OPTIONS, fastmath=SUMS)
inlined = njit(**OPTIONS, inline="always")
