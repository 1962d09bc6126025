"""Proximal gradient steps."""

from .options import kernel
from .penalty import threshold, value


@kernel
def proximal_point(penalty, l1, beta, q, t, new):
    """Set `new` to the minimiser of the penalty plus t/2 |new - (beta + q / t)|^2.

    As everywhere, what is at zero stays there while its gradient is within l1.
    """
    for j in range(beta.size):
        new[j] = threshold(penalty, t * beta[j] + q[j], t, l1[j], beta[j])


@kernel
def penalty_rise(penalty, l1, beta, new):
    """What the sparse penalty gains from beta to `new`, and what it was."""
    rise = height = 0.0
    for j in range(beta.size):
        before = value(penalty, abs(beta[j]), l1[j])
        height += before
        rise += value(penalty, abs(new[j]), l1[j]) - before
    return rise, height
