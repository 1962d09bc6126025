"""Long work in portions: Python hears an interrupt only between calls of kernels."""

import numpy as np

# Numbers read in a portion: half a second or so.
PORTION = 500_000_000


def sweep_in_portions(sweep, work, features, weights, penalty, r, l2, residual, sweeps):
    """Sweeps over numbers of that much `work` each, as many as it takes or may.

    `sweep` makes a few, and keeps in `state` what the next portion goes on from: idle
    sweeps, the least violation, whether only the support is swept, and whether there is
    nothing left to do. What a portion is depends on sizes alone, and so do all results.
    """
    state, epochs = np.array([0.0, np.inf, not sweeps.cyclic, False]), 0
    few = PORTION // max(work, 1) + 1
    while epochs < sweeps.max_epochs and not state[3]:
        some = sweeps._replace(max_epochs=min(few, sweeps.max_epochs - epochs))
        epochs += sweep(weights, features, penalty, r, l2, residual, some, state)
    return epochs
