"""The penalties, one coordinate at a time.

a    |beta_j|          l1   level of the sparse penalty
v    the curvature     z    the gradient where the coordinate is zero
u    the gradient of the smooth part, with its sign turned
"""

import math

from .options import helper

# The kinds of penalty; penalties.py holds the same codes in its table.
LASSO, MCP, SCAD, LOGSUM, CAPPED = range(5)


@helper
def value(penalty, a, l1):
    """The penalty r(a) for a >= 0."""
    g = penalty.shape
    if penalty.kind == MCP:
        return l1 * a - a * a / (2.0 * g) if a <= g * l1 else 0.5 * g * l1 * l1
    if penalty.kind == SCAD:
        if a <= l1:
            return l1 * a
        if a <= g * l1:
            return (2.0 * g * l1 * a - a * a - l1 * l1) / (2.0 * (g - 1.0))
        return 0.5 * l1 * l1 * (g + 1.0)
    if penalty.kind == LOGSUM:
        return l1 * g * math.log1p(a / g)
    if penalty.kind == CAPPED:
        return l1 * min(a, g * l1)
    return l1 * a


@helper
def slope(penalty, a, l1):
    """The derivative r'(a) for a > 0."""
    g = penalty.shape
    if penalty.kind == MCP:
        return max(l1 - a / g, 0.0)
    if penalty.kind == SCAD:
        return l1 if a <= l1 else max(g * l1 - a, 0.0) / (g - 1.0)
    if penalty.kind == LOGSUM:
        return l1 * g / (g + a)
    if penalty.kind == CAPPED:
        return l1 if a < g * l1 else 0.0
    return l1


@helper
def curvature(penalty, a, l1):
    """The second derivative r''(a) inside a piece, a > 0."""
    g = penalty.shape
    if penalty.kind == MCP:
        return -1.0 / g if a < g * l1 else 0.0
    if penalty.kind == SCAD:
        return -1.0 / (g - 1.0) if l1 < a < g * l1 else 0.0
    if penalty.kind == LOGSUM:
        return -l1 / (g + a) * (g / (g + a))
    return 0.0


@helper
def is_smooth(penalty):
    """Whether r is smooth for a > 0: in one piece."""
    return penalty.kind == LASSO or penalty.kind == LOGSUM


@helper
def share_to_edge(penalty, a, step, l1):
    """How much of a step from a > 0 leads to zero or to another piece, 1 at most."""
    g = penalty.shape
    near = l1 if penalty.kind == SCAD else 0.0
    far = 0.0 if is_smooth(penalty) else g * l1
    share = 1.0
    for edge in (0.0, near, far):
        ahead = edge - a
        if ahead * step > 0.0 and abs(step) > abs(ahead):
            share = min(share, ahead / step)
    return share


@helper
def is_convex(penalty, v, l1):
    """Whether v b^2 / 2 - z b + r(|b|) is convex in b, whatever z is."""
    g = penalty.shape
    if penalty.kind == MCP:
        return g * v > 1.0
    if penalty.kind == SCAD:
        return (g - 1.0) * v > 1.0
    if penalty.kind == LOGSUM:
        return g * v >= l1
    return penalty.kind == LASSO


@helper
def logsum_minimiser(z, v, l1, theta):
    """The larger root of v b^2 + (v theta - z) b + theta (l1 - z) = 0, or 0."""
    half = 0.5 * (v * theta - z)
    # root = sqrt(half^2 + v theta (z - l1)), without squaring what may overflow.
    other = math.sqrt(v * theta) * math.sqrt(abs(z - l1))
    size = max(abs(half), other)
    if size == 0.0 or (z < l1 and other > abs(half)):
        return 0.0
    square = (half / size) ** 2 + math.copysign((other / size) ** 2, z - l1)
    root = size * math.sqrt(max(square, 0.0))
    # Of the two forms of the root, take the one without cancellation.
    if half > 0.0:
        return max(theta * (z - l1) / (half + root), 0.0)
    return (root - half) / v


@helper
def convex_minimiser(penalty, z, v, l1):
    """The minimiser of v b^2 / 2 - z b + r(b), z > l1, where that is convex."""
    g = penalty.shape
    if penalty.kind == MCP and z <= g * l1 * v:
        return (z - l1) / (v - 1.0 / g)
    if penalty.kind == MCP:
        return z / v
    if penalty.kind == SCAD and z > g * l1 * v:
        return z / v
    if penalty.kind == SCAD and z > l1 * (1.0 + v):
        return (z - g * l1 / (g - 1.0)) / (v - 1.0 / (g - 1.0))
    if penalty.kind == LOGSUM:
        return logsum_minimiser(z, v, l1, g)
    return (z - l1) / v


@helper
def best_minimiser(penalty, z, v, l1):
    """The best b >= 0 of v b^2 / 2 - z b + r(b), z >= 0, where that is not convex.

    A concave piece has its minimum at an end, so only the convex pieces need a
    look: their minimisers, clipped to the piece, and zero.
    """
    g = penalty.shape
    near = 0.0
    if penalty.kind == LOGSUM:
        far = logsum_minimiser(z, v, l1, g)
    else:
        far = max(z / v, g * l1)
    if penalty.kind == SCAD:
        near = min(max((z - l1) / v, 0.0), l1)
    elif penalty.kind == CAPPED:
        near = min(max((z - l1) / v, 0.0), g * l1)
    best, lowest = 0.0, 0.0
    for b in (near, far):
        height = (0.5 * v * b - z) * b + value(penalty, b, l1)
        if height < lowest:
            best, lowest = b, height
    return best


@helper
def threshold(penalty, z, v, l1, current):
    """Minimise v b^2 / 2 - z b + r(|b|) over b.

    Where that is not convex, a coordinate at zero stays there while |z| <= l1:
    zero is then stationary, and screening relies on it. The penalty acts on b as
    it stands: there is no division by v as in ncvreg's adaptive rescaling.
    """
    size = abs(z)
    if is_convex(penalty, v, l1):
        b = convex_minimiser(penalty, size, v, l1) if size > l1 else 0.0
    elif size <= l1 and current == 0.0:
        b = 0.0
    else:
        b = best_minimiser(penalty, size, v, l1)
    return b if z > 0.0 else -b


@helper
def violation(penalty, b, u, l1):
    """How far coordinate b with gradient u is from Fermat's condition."""
    if b == 0.0:
        return 0.0 if abs(u) <= l1 else abs(u) - l1
    return abs(u - math.copysign(slope(penalty, abs(b), l1), b))


@helper
def larger(a, b):
    """The larger of two numbers; NaN counts as largest, so that it cannot hide."""
    return a if b <= a or a != a else b
