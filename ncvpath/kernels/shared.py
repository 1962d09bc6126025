"""What dense and sparse columns share: what is constant, and when sweeps end."""

import numpy as np

from .options import helper
from .penalty import threshold, violation

# A column varies only if its entries differ by more than this share of them.
LAST_PLACES = 16 * np.finfo(np.float64).eps
# Sweeps without halving the violation after which it is given up: there are no Newton
# steps to help them.
MAX_IDLE_SWEEPS = 15_000


@helper
def farthest_from(mean, low, high, intercept):
    """The largest distance of entries between low and high from their mean, or 0 if
    they differ in their last places only.

    Near each other, they have a difference without rounding: what is constant does not
    depend on how its mean was summed.
    """
    if intercept and high - low <= LAST_PLACES * max(abs(low), abs(high)):
        return 0.0
    return max(high - mean, mean - low)


@helper
def update(penalty, r, k, u):
    """Minimise over coordinate k, whose gradient is u; returns its change and the
    violation that called for it."""
    b = r.beta[k]
    met = violation(penalty, b, u, r.l1[k])
    if met > 0.0:
        r.beta[k] = threshold(penalty, u + r.v[k] * b, r.v[k], r.l1[k], b)
    return r.beta[k] - b, met


@helper
def note_sweep(state, worst, sweeps):
    """What a sweep that met violations up to `worst` means for the next one.

    `state` has idle sweeps, the least violation so far, whether only the support is
    swept, and whether there is nothing left to do.
    """
    arrived = worst <= sweeps.target and state[2] == 0.0
    state[0] += 1.0
    if worst < 0.5 * state[1]:
        state[0], state[1] = 0.0, worst
    state[2] = worst > sweeps.target and not sweeps.cyclic
    state[3] = arrived or state[0] > MAX_IDLE_SWEEPS
