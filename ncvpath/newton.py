"""Newton steps on the support: what coordinate descent leaves to the last digits.

Once signs and pieces of the penalty have settled, the stationary point of the
support solves one linear system: exactly for piecewise quadratic penalties, with
quadratic convergence for log-sum.
"""

import numpy as np
from scipy.linalg.lapack import dposv

from .penalties import BY_KIND

# Shares of the largest curvature added to a system that is singular (duplicated
# columns) or as good as that, so that the step stays put along directions without
# curvature.
FLOORS = (1e-12, 1e-9, 1e-6)
# A step that multiplies the coefficients by this follows rounding, not curvature.
LEAP = 1e3
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
    bent = v + row.curvature(size, l1, shape)
    diagonals = (bent, v, *(v + floor * v.max() for floor in FLOORS))
    direction = solve_positive(gram, diagonals, q - side * slope, LEAP * size.max())
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


def solve_positive(matrix, diagonals, right, longest):
    """Solve with the first diagonal that makes the matrix positive definite enough.

    That is, with a solution no entry of which exceeds `longest`. None if there is none.
    """
    for diagonal in diagonals:
        trial = matrix.copy()
        np.fill_diagonal(trial, diagonal)
        _, solution, failed = dposv(trial, right, overwrite_a=True)
        if not failed and np.abs(solution).max() <= longest:
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
