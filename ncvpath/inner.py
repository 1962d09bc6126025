"""The restricted problem: coordinate descent and Newton steps on a Gram matrix."""

import numpy as np

# Turns of sweeps and Newton without halving the violation after which only rounding
# is left to fight, which a look at exact correlations does better.
MAX_IDLE = 30
# Newton steps without sweeps in between, each on the support the last one left: beyond
# a few, sweeps find the support faster.
MOST_IN_A_ROW = 3


def descend_on_gram(cache, working, penalty, l1, v, beta, q, target, max_epochs):
    """Minimise over the working set until its violation is <= target.

    Changes beta and q. Returns the number of sweeps and of Newton steps. Sweeps
    come first because they find support, signs and pieces; when they have cost as
    much as a Newton step would, one is tried (so at most twice the cheaper of the
    two is spent), and after a refusal the next waits longer.
    """
    kernels = cache.design.kernels
    slots = cache.slots(working)
    epochs = newton_steps = idle = 0
    patience, best = 1.0, np.inf
    while True:
        allowance = patience * kernels.sweeps_per_newton(np.count_nonzero(beta))
        done, worst = kernels.descend_gram(
            cache.array, slots, penalty, l1, v, beta, q, target,
            min(int(allowance), max_epochs - epochs),
        )
        epochs += done
        idle = 0 if worst < 0.5 * best else idle + 1
        best = min(best, worst)
        if worst <= target or epochs >= max_epochs or idle > MAX_IDLE:
            return epochs, newton_steps
        taken = newton_steps_on_support(cache, slots, penalty, l1, v, beta, q)
        newton_steps += taken
        if taken == 0:
            patience *= 4


def newton_steps_on_support(cache, slots, penalty, l1, v, beta, q):
    """Newton steps until one leaves the support as it is; changes beta and q.

    A step that brings a coordinate to zero is followed by another without it, as in
    active-set methods: sweeps in between would only bring it back. Returns the number
    of steps taken.
    """
    from .newton import newton_change  # loads scipy: when first needed

    steps = 0
    while steps < MOST_IN_A_ROW:
        support = np.flatnonzero(beta)
        if support.size == 0:
            break
        gram = cache.array[np.ix_(slots[support], slots[support])]
        change = newton_change(
            gram, penalty, l1[support], v[support], beta[support], q[support]
        )
        if change is None:
            break
        steps += 1
        cache.design.kernels.apply_change(
            cache.array, slots, v, support, change, beta, q
        )
        if beta[support].all():
            break
    return steps
