"""GIST: proximal gradient steps with a line search (Gong et al., ICML 2013).

From beta, with q minus the gradient of the smooth part f and step length 1 / t,

    new = argmin  t/2 |b - (beta + q / t)|^2 + sum_j r(|b_j|),

accepted when the objective falls by sigma/2 t |new - beta|^2; otherwise t grows. The
first t of a step is that of Barzilai and Borwein, the curvature of f along the step
before: with d = X (new - beta), (|d|^2 + sum_j l2_j change_j^2) / |change|^2.
"""

import numpy as np

from .. import kernels

SIGMA = 0.1  # how much of the expected decrease is asked for
SHORTER = 2.0  # factor of t after a step that was refused
RANGE = 1e10  # of t, both ways from the largest curvature of a coordinate
# Steps without halving the violation after which it is given up.
MAX_IDLE = 5000
# The objective's change is known up to this share of its terms.
ROUNDING = 4 * np.finfo(float).eps


def minimise(problem, residual, features, r, l2, target, most):
    """Move r.beta to a stationary point; returns the number of steps tried.

    `residual` belongs to beta as it comes, and so does r.q.
    """
    design, penalty, l1, beta, q = problem.design, problem.penalty, r.l1, r.beta, r.q
    if beta.size == 0:
        return 0
    new, steepest = np.empty_like(beta), r.v.max()
    t, tried, best, since = steepest, 0, np.inf, 0
    while tried < most and tried - since <= MAX_IDLE:
        worst = kernels.largest_violation(penalty, l1, beta, q)
        if worst <= target:
            break
        if worst < 0.5 * best:
            best, since = worst, tried
        tried += 1
        kernels.proximal_point(penalty, l1, beta, q, t, new)
        moved = np.flatnonzero(new != beta)
        if moved.size == 0:
            break  # what is left of the violation is below the rounding of beta
        change = new[moved] - beta[moved]
        ahead = residual - design.combine(features[moved], change[None])[0]
        fall = q[moved] @ change
        square = change @ change
        bend = mean_square(design, residual - ahead) + l2[moved] @ change**2
        rise, height = kernels.penalty_rise(penalty, l1, beta, new)
        gained = rise - fall + 0.5 * bend
        slack = ROUNDING * (height + abs(fall) + bend)
        if gained > slack - 0.5 * SIGMA * t * square and t < RANGE * steepest:
            t *= SHORTER
            continue
        beta[:], residual = new, ahead
        q[:] = design.correlate(residual[None], features)[0] - l2 * beta
        t = np.clip(bend / square, steepest / RANGE, steepest * RANGE)
    return tried


def mean_square(design, vector):
    """<vector, vector>."""
    return (design.weights * vector) @ vector
