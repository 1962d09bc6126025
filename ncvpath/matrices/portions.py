"""Long work in portions: Python hears an interrupt only between calls of kernels."""

import numpy as np

# Numbers read in a portion: half a second or so.
PORTION = 500_000_000


def sweep_in_portions(sweep, work, max_epochs, cyclic):
    """Sweeps over numbers of that much `work` each, as many as it takes or may.

    `sweep(few, pace)` makes a few, and keeps in `pace` what the next portion goes on
    from: idle sweeps, the least violation, whether only the support is swept, and
    whether there is nothing left to do. What a portion is depends on sizes alone, and
    so do all results.
    """
    pace, epochs = np.array([0.0, np.inf, not cyclic, False]), 0
    while epochs < max_epochs and not pace[3]:
        epochs += sweep(min(PORTION // max(work, 1) + 1, max_epochs - epochs), pace)
    return epochs
