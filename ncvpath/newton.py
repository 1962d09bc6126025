"""Newton steps on the support: what coordinate descent leaves to the last digits.

Once signs and pieces of the penalty have settled, the stationary point of the
support solves one linear system: exactly for piecewise quadratic penalties, with
quadratic convergence for log-sum.
"""

import numpy as np
from scipy.linalg.lapack import dposv

from .penalties import BY_KIND

# Share of the largest curvature added to a singular system (duplicated columns), so
# that the step stays put along directions without curvature.
FLOOR = 1e-12
ROUNDING = 4 * np.finfo(float).eps


def newton_change(gram, penalty, l1, v, beta, q):
    """The change of the nonzero coordinates by one safeguarded Newton step, or None.

    `gram` is theirs alone; v = diag(gram) + l2 and q as in the kernels. The full
    step, held at zero where a sign would change, is taken if the objective falls;
    else the step up to the first sign change or piece boundary.
    """
    row, shape = BY_KIND[penalty.kind], penalty.shape
    size, side = np.abs(beta), np.sign(beta)
    slope = row.slope(size, l1, shape)
    # Where the penalty's concavity makes the system indefinite, its tangent stands in
    # for it: a majorant, whose minimiser lowers the objective too.
    diagonals = (v + row.curvature(size, l1, shape), v, v + FLOOR * v.max())
    direction = solve_positive(gram, diagonals, q - side * slope)
    if direction is None:
        return None
    value = row.value(size, l1, shape)
    inward = side * direction
    for share in (1.0, share_to_first_edge(size, inward, l1, row.edges(shape))):
        change = side * np.maximum(share * inward, -size)
        landed = row.value(np.abs(beta + change), l1, shape)
        smooth = 0.5 * change @ (gram @ change + (v - gram.diagonal()) * change)
        rise = (landed - value).sum() + smooth - q @ change
        if rise <= ROUNDING * value.sum():
            return change
    return None


def solve_positive(matrix, diagonals, right):
    """Solve with the first diagonal that makes the matrix positive definite, if any."""
    for diagonal in diagonals:
        trial = matrix.copy()
        np.fill_diagonal(trial, diagonal)
        _, solution, failed = dposv(trial, right, overwrite_a=True)
        if not failed:
            return solution
    return None


def share_to_first_edge(size, inward, l1, edges):
    """How much of a step can be taken before a sign change or another piece."""
    share = 1.0
    for edge in (0.0, *edges):
        ahead = edge * l1 - size
        crosses = (ahead * inward > 0) & (np.abs(inward) > np.abs(ahead))
        if crosses.any():
            share = min(share, (ahead[crosses] / inward[crosses]).min())
    return share
