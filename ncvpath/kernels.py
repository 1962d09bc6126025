"""All numba code: the penalties one coordinate at a time, and coordinate descent.

Kernels take plain arrays and one `Penalty` tuple, change the arrays their docstring
names, and return counts or small arrays. They never allocate per sweep, raise or print.
They stay in one file because numba's disk cache watches only the file of the
cached function: an edited helper elsewhere would leave stale machine code behind.

    a        |beta_j|                         v   <x_j, x_j> + l2, the curvature
    l1, l2   sparse and ridge penalty level   z   <x_j, r> + <x_j, x_j> beta_j
    q, u     <x_j, r> - l2 beta_j, so that z = q + v beta_j
    level, ridge   l1 and l2 per unit of the penalty factor
"""

import math

import numpy as np
from numba import njit

# Division as in NumPy: no kernel raises. Sums over a column may be taken in any order,
# which lets them be vectorised; NaN and inf keep their meaning.
OPTIONS = dict(cache=True, nogil=True, error_model="numpy")
kernel = njit(**OPTIONS)
summing_kernel = njit(**OPTIONS, fastmath={"reassoc", "contract"})

# Sweeps that an extrapolation looks back on.
DEPTH = 5
# The kinds of penalty; penalties.py holds the same codes in its table.
LASSO, MCP, SCAD, LOGSUM, CAPPED = range(5)


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
def violation(penalty, b, u, l1):
    """How far coordinate b with gradient u is from Fermat's condition."""
    if b == 0.0:
        return 0.0 if abs(u) <= l1 else abs(u) - l1
    return abs(u - math.copysign(slope(penalty, abs(b), l1), b))


@kernel
def larger(a, b):
    """The larger of two numbers; NaN counts as largest, so that it cannot hide."""
    return a if b <= a or a != a else b


@kernel
def move(penalty, l1, v, b, q):
    """One coordinate's change and the violation that called for it."""
    met = violation(penalty, b, q, l1)
    if met == 0.0:
        return 0.0, met
    return threshold(penalty, q + v * b, v, l1, b) - b, met


@kernel
def sweep(gram, penalty, l1, v, beta, q):
    """One pass of coordinate descent over a problem with a Gram matrix of its own.

    Modified in place: beta, q. Returns the largest violation met on the way.
    """
    worst = 0.0
    for j in range(beta.size):
        change, met = move(penalty, l1[j], v[j], beta[j], q[j])
        worst = larger(worst, met)
        if change != 0.0:
            beta[j] += change
            q[j] -= change * (v[j] - gram[j, j])  # the ridge part
            # q -= change * gram[j]
            for k in range(beta.size):
                q[k] -= change * gram[j, k]
    return worst


@kernel
def apply_change(gram, slots, v, support, change, beta, q):
    """Move the support's coefficients; modified in place: beta, q."""
    # q -= gram[:, support] @ change + l2 * change
    for s in range(support.size):
        j = support[s]
        if change[s] != 0.0:
            row = gram[slots[j]]
            beta[j] += change[s]
            q[j] -= change[s] * (v[j] - row[slots[j]])  # the ridge part
            for k in range(q.size):
                q[k] -= change[s] * row[slots[k]]


@kernel
def enlarge(small, gram, slots, active):
    """The active set's own Gram matrix, of which `small` holds the first part.

    Never larger than needed: sweeps want it contiguous.
    """
    known, size = small.shape[0], active.size
    if size == known:
        return small
    grown = np.empty((size, size))
    for j in range(size):
        row = gram[slots[active[j]]]
        for k in range(j + 1):
            old = j < known
            grown[j, k] = grown[k, j] = small[j, k] if old else row[slots[active[k]]]
    return grown


@kernel
def mixing_weights(points, c):
    """Weights c, of sum 1, that make the mixed step between the points smallest.

    Minimises |sum_i c_i (x_{i+1} - x_i)|: Anderson's extrapolation. A trace of ridge
    keeps it defined for steps that are all alike. Returns whether it succeeded.
    """
    depth, trace, total = c.size, 0.0, 0.0
    matrix = np.empty((depth, depth))
    for i in range(depth):
        c[i] = 1.0
        for k in range(i + 1):
            dot = 0.0
            for j in range(points.shape[1]):
                step = points[i + 1, j] - points[i, j]
                dot += step * (points[k + 1, j] - points[k, j])
            matrix[i, k] = matrix[k, i] = dot
        trace += matrix[i, i]
    # Elimination without pivoting, which a positive definite matrix does not need.
    for i in range(depth):
        matrix[i, i] += 1e-14 * trace
        if not matrix[i, i] > 0.0:
            return False
        for k in range(i + 1, depth):
            share = matrix[k, i] / matrix[i, i]
            c[k] -= share * c[i]
            for j in range(i, depth):
                matrix[k, j] -= share * matrix[i, j]
    for i in range(depth - 1, -1, -1):
        for k in range(i + 1, depth):
            c[i] -= matrix[i, k] * c[k]
        c[i] /= matrix[i, i]
        total += c[i]
    if not abs(total) > 0.0:
        return False
    for i in range(depth):
        c[i] /= total
    return True


@kernel
def extrapolate(gram, penalty, l1, v, points, beta, q):
    """Jump to Anderson's extrapolation of past sweeps if the objective falls.

    `points` are consecutive, the last of them beta. The new q comes from the Gram
    matrix: mixing the old ones would multiply their rounding by the weights. The smooth
    part of the objective changes by -change' (q_old + q_new) / 2. Modified in place:
    beta, q.
    """
    size, c = beta.size, np.empty(DEPTH)
    if not mixing_weights(points, c):
        return
    change, new_q = np.empty(size), np.empty(size)
    for j in range(size):
        change[j], new_q[j] = -beta[j], q[j]
        for i in range(DEPTH):
            change[j] += c[i] * points[i + 1, j]
    for j in range(size):
        new_q[j] -= change[j] * (v[j] - gram[j, j])  # the ridge part
        for k in range(size):
            new_q[k] -= change[j] * gram[j, k]
    rise = 0.0
    for j in range(size):
        old, new = beta[j], beta[j] + change[j]
        rise -= 0.5 * change[j] * (q[j] + new_q[j])
        rise += value(penalty, abs(new), l1[j]) - value(penalty, abs(old), l1[j])
    if rise < 0.0:
        for j in range(size):
            beta[j] += change[j]
            q[j] = new_q[j]


@kernel
def settle_active(small, gram, slots, penalty, l1, v, beta, q, active, target, most):
    """Sweep the active coordinates alone until their violation is <= target.

    `small` is their own contiguous Gram matrix. Modified in place: beta, q (of all
    coordinates). Returns the number of sweeps, at most `most`.
    """
    size = active.size
    l1_a, v_a, beta_a, q_a = np.empty((4, size))
    for k in range(size):
        j = active[k]
        l1_a[k], v_a[k], beta_a[k], q_a[k] = l1[j], v[j], beta[j], q[j]
    points = np.empty((DEPTH + 1, size))
    epochs = kept = 0
    while epochs < most:
        epochs += 1
        if sweep(small, penalty, l1_a, v_a, beta_a, q_a) <= target:
            break
        for k in range(size):
            points[kept, k] = beta_a[k]
        kept += 1
        if kept == DEPTH + 1:
            extrapolate(small, penalty, l1_a, v_a, points, beta_a, q_a)
            kept = 0
    change = np.empty(size)
    for k in range(size):
        change[k] = beta_a[k] - beta[active[k]]
    apply_change(gram, slots, v, active, change, beta, q)
    for k in range(size):
        beta[active[k]], q[active[k]] = beta_a[k], q_a[k]
    return epochs


@kernel
def sweep_all(gram, slots, penalty, l1, v, beta, q):
    """One pass over the whole working set; coordinates at rest cost O(1).

    Modified in place: beta, q. Returns the largest violation met on the way.
    """
    worst = 0.0
    for j in range(beta.size):
        change, met = move(penalty, l1[j], v[j], beta[j], q[j])
        worst = larger(worst, met)
        if change != 0.0:
            row = gram[slots[j]]
            beta[j] += change
            q[j] -= change * (v[j] - row[slots[j]])
            for k in range(q.size):
                q[k] -= change * row[slots[k]]
    return worst


@kernel
def largest_violation(penalty, l1, beta, q):
    """The largest violation over the coordinates as they stand."""
    worst = 0.0
    for j in range(beta.size):
        worst = larger(worst, violation(penalty, beta[j], q[j], l1[j]))
    return worst


@kernel
def descend_gram(gram, slots, penalty, l1, v, beta, q, target, max_epochs):
    """Coordinate descent on the working set, seeing only its Gram matrix.

    `gram[slots[j], slots[k]]` is <x_j, x_k>. Modified in place: beta, q.
    Returns the number of sweeps and the largest violation left.
    """
    epochs = size = 0
    active = np.empty(beta.size, dtype=np.int64)  # ever nonzero here, in order of entry
    is_active = np.zeros(beta.size, dtype=np.bool_)
    small = np.empty((0, 0))
    while True:
        for j in range(beta.size):
            if beta[j] != 0.0 and not is_active[j]:
                active[size], is_active[j] = j, True
                size += 1
        small = enlarge(small, gram, slots, active[:size])
        epochs += settle_active(
            small, gram, slots, penalty, l1, v, beta, q, active[:size], target,
            max_epochs - epochs - 1,
        )
        epochs += 1
        if sweep_all(gram, slots, penalty, l1, v, beta, q) <= target:
            worst = largest_violation(penalty, l1, beta, q)
            if worst <= target:
                return epochs, worst
        if epochs >= max_epochs:
            return epochs, largest_violation(penalty, l1, beta, q)


@kernel
def sweeps_per_newton(size):
    """Sweeps of the support that cost as much as one Newton step on it.

    In multiply-adds: a sweep takes size^2 and some overhead per coordinate, a
    factorization size^3 / 3 at a better rate, plus the overhead of array calls.
    """
    sweep = size * (size + 10.0) + 100.0
    newton = size**3 / 8.0 + 40.0 * size**2 + 100_000.0
    return int(newton / sweep)


@kernel
def mark_strong(factor, cut, correlation, member):
    """Add to `member` every penalised feature with |<x_j, r>| >= cut * factor.

    Returns how many were added.
    """
    added = 0
    for j in range(factor.size):
        if not member[j] and abs(correlation[j]) >= cut * factor[j]:
            if 0.0 < factor[j] < np.inf:
                member[j] = True
                added += 1
    return added


@kernel
def sort_out(factor, level, length, slack, estimate, member, expected, uncertified):
    """Who must be looked at, given estimated correlations and how far off they are.

    Fills `expected` with the members and the features estimated beyond l1, and
    `uncertified` with those whose bound |estimate| + slack * length exceeds l1.
    Returns how many of each.
    """
    few = more = 0
    for j in range(factor.size):
        if factor[j] == np.inf:
            continue
        l1, size = level * factor[j], abs(estimate[j])
        if member[j] or size > l1:
            expected[few] = j
            few += 1
        elif size + slack * length[j] > l1:
            uncertified[more] = j
            more += 1
    return few, more


@kernel
def survey(penalty, factor, level, ridge, beta, correlation, member, feasible):
    """Fermat's conditions over all features, and FireWorks' step.

    The step is the largest t in [0, 1] that keeps t u + (1 - t) f in the slab
    |.| <= l1 of every feature outside the working set; members sit on their boundary
    up to noise and are left out. Modified in place: feasible, which moves by it.
    Returns the largest violation inside and outside the working set, and the step.
    """
    inside, outside, step = 0.0, 0.0, 1.0
    for j in range(factor.size):
        if factor[j] == np.inf:
            continue
        l1 = level * factor[j]
        u = correlation[j] - ridge * factor[j] * beta[j]
        met = violation(penalty, beta[j], u, l1)
        if member[j]:
            inside = larger(inside, met)
        elif not met <= 0.0:
            outside = larger(outside, met)
            f = min(feasible[j] if u > 0.0 else -feasible[j], l1)  # on the side of u
            step = min(step, (l1 - f) / (abs(u) - f))
    for j in range(factor.size):
        if factor[j] != np.inf:
            l1 = level * factor[j]
            u = correlation[j] - ridge * factor[j] * beta[j]
            f = feasible[j] + step * (u - feasible[j])
            feasible[j] = min(max(f, -l1), l1)
    return inside, outside, step


@kernel
def penalty_total(penalty, factor, level, ridge, support, beta):
    """The sum of sparse and ridge penalties; beta belongs to the support."""
    total = 0.0
    for k in range(support.size):
        m, b = factor[support[k]], beta[k]
        total += value(penalty, abs(b), level * m) + 0.5 * ridge * m * b * b
    return total


@kernel
def restrict(member, factor, level, ridge, norm2, beta, correlation):
    """The problem on the working set: features, l1, l2, v, beta and q of each."""
    working = np.flatnonzero(member)
    l1, l2, v, b, q = np.empty((5, working.size))
    for k in range(working.size):
        j = working[k]
        l1[k], l2[k], b[k] = level * factor[j], ridge * factor[j], beta[j]
        v[k], q[k] = norm2[j] + l2[k], correlation[j] - l2[k] * b[k]
    return working, l1, l2, v, b, q


@summing_kernel
def column_dots(X, features, center, scale, vector, out):
    """Set out[k] = vector @ (X_j - center_j) / scale_j, j = features[k]."""
    n = vector.size
    for k in range(features.size):
        j = features[k]
        column, c = X[j * n : (j + 1) * n], center[j]
        total = 0.0
        for i in range(n):
            total += vector[i] * (column[i] - c)
        out[k] = total / scale[j]


@summing_kernel
def measure_columns(X, first, weights, intercept, center, scale, peak):
    """Mean, root mean square about it and largest distance from it, column by column.

    Columns first, first + 1, ... fill center, scale and peak. The mean is taken twice,
    the second time of what the first left, and squares are of entries divided by the
    peak, so that any scale is representable.
    """
    n = weights.size
    for k in range(center.size):
        column = X[(first + k) * n : (first + k + 1) * n]
        mean = 0.0
        if intercept:
            for i in range(n):
                mean += weights[i] * column[i]
            shift = 0.0
            for i in range(n):
                shift += weights[i] * (column[i] - mean)
            mean += shift
        top = 0.0
        for i in range(n):
            if weights[i] > 0.0:
                top = max(top, abs(column[i] - mean))
        total = 0.0
        if top > 0.0:
            for i in range(n):
                if weights[i] > 0.0:
                    total += weights[i] * ((column[i] - mean) / top) ** 2
        center[k], scale[k], peak[k] = mean, top * math.sqrt(total), top


@kernel
def copy_columns(X, features, center, scale, top, out):
    """Write the standardized columns, from row `top` on, to the rows of out."""
    n = X.size // center.size
    for k in range(features.size):
        j = features[k]
        column = X[j * n + top : j * n + top + out.shape[1]]
        c, s = center[j], scale[j]
        for i in range(out.shape[1]):
            out[k, i] = (column[i] - c) / s


@kernel
def subtract_columns(X, features, center, scale, beta, top, out):
    """Take X_A beta, standardized and from row `top` on, from out."""
    n = X.size // center.size
    for k in range(features.size):
        j = features[k]
        column, c, step = X[j * n + top : j * n + top + out.size], center[j], beta[k]
        step /= scale[j]
        for i in range(out.size):
            out[i] -= step * (column[i] - c)


@kernel
def visit_column(column, weights, center, scale, penalty, l1, v, l2, beta, residual):
    """Update one coordinate with the residual at hand.

    Modified in place: residual. Returns the new coefficient and the violation met.
    """
    # u = weights @ (residual * (column - center)) / scale - l2 * beta
    u = 0.0
    for i in range(residual.size):
        u += weights[i] * residual[i] * (column[i] - center)
    u = u / scale - l2 * beta
    met = violation(penalty, beta, u, l1)
    if met == 0.0:
        return beta, met
    new = threshold(penalty, u + v * beta, v, l1, beta)
    step = (new - beta) / scale
    if step != 0.0:
        # residual -= step * (column - center)
        for i in range(residual.size):
            residual[i] -= step * (column[i] - center)
    return new, met


@kernel
def descend_residual(
    X, weights, center, scale, features, penalty, l1, v, l2, beta, residual, target,
    max_epochs,
):
    """Coordinate descent on the working set with residual updates, no Gram matrix.

    X is the dense matrix column after column; `features` are the columns of the
    working set, which all other arrays follow. Modified in place: beta, residual.
    Returns the number of sweeps; the last one met no violation above `target`.
    """
    n = residual.size
    epochs = 0
    support_only = True
    while epochs < max_epochs:
        epochs += 1
        worst = 0.0
        for k in range(features.size):
            if support_only and beta[k] == 0.0:
                continue
            j = features[k]
            beta[k], met = visit_column(
                X[j * n : (j + 1) * n], weights, center[j], scale[j], penalty, l1[k],
                v[k], l2[k], beta[k], residual,
            )
            worst = larger(worst, met)
        if worst <= target and not support_only:
            break
        support_only = worst > target
    return epochs


@kernel
def learn_feature(X, weights, center, scale, j, known, features, slot, gram):
    """Give feature j the next slot, `known`, and the products with those before it.

    Modified in place: features, slot, gram.
    """
    n = weights.size
    column = np.empty(n)
    for i in range(n):
        column[i] = weights[i] * ((X[j * n + i] - center[j]) / scale[j])
    features[known], slot[j] = j, known
    column_dots(X, features[: known + 1], center, scale, column, gram[known])
    for k in range(known):
        gram[k, known] = gram[known, k]


@kernel
def walk_down(
    X, weights, center, scale, norm2, response, factor, penalty, alpha, growth, lam,
    lambdas, tol, target, most, crowd, features, known, slot, gram, beta, residual,
    correlation, feasible, figures, supports, values,
):
    """Solver.solve for one lambda after another while nothing unusual happens.

    That is: the strong features fit in (`crowd`), their Gram matrix has room, sweeps
    alone reach the target, and nobody outside objects. Modified in place: everything
    after `crowd` but `known`; the state stays consistent wherever the walk ends.

    Returns the number of lambdas finished, the features known to the Gram matrix, and
    the sweeps spent on the lambda that was given up. Of each finished lambda `figures`
    gets strong, working set, sweeps, step, violation, mean square, penalty, and the
    end of its part in `supports` and `values`.
    """
    member, count = np.empty(beta.size, dtype=np.bool_), 0
    for done in range(lambdas.size):
        level, ridge = alpha * lambdas[done], (1.0 - alpha) * lambdas[done]
        # As solver.start.
        held = 0
        for j in range(beta.size):
            member[j] = beta[j] != 0.0 or factor[j] == 0.0
            held += member[j]
        cut = alpha * (lambdas[done] + growth * (lambdas[done] - lam))
        strong = mark_strong(factor, cut, correlation, member)
        new = 0
        for j in range(beta.size):
            new += member[j] and slot[j] < 0
        full = known + new > gram.shape[0] or count + held + strong > supports.size
        if full or strong > max(crowd, 2 * held):
            return done, known, 0
        # As solver.descend.
        working, l1, _, v, b, q = restrict(
            member, factor, level, ridge, norm2, beta, correlation
        )
        for j in working:
            if slot[j] < 0:
                learn_feature(X, weights, center, scale, j, known, features, slot, gram)
                known += 1
        epochs, left = descend_gram(
            gram, slot[working], penalty, l1, v, b, q, target,
            min(sweeps_per_newton(held), most),
        )
        # As solver.refresh.
        first = count
        for k in range(working.size):
            beta[working[k]] = b[k]
            if b[k] != 0.0:
                supports[count], values[count] = working[k], b[k]
                count += 1
        support, nonzero = supports[first:count], values[first:count]
        residual[:] = response
        subtract_columns(X, support, center, scale, nonzero, 0, residual)
        weighted, mean_square = np.empty(residual.size), 0.0
        for i in range(residual.size):
            residual[i] = residual[i] if weights[i] > 0.0 else 0.0
            weighted[i] = weights[i] * residual[i]
            mean_square += weighted[i] * residual[i]
        column_dots(X, np.arange(beta.size), center, scale, weighted, correlation)
        if not left <= target:
            return done, known, epochs
        for j in range(beta.size):
            feasible[j] *= lambdas[done] / lam
        inside, outside, step = survey(
            penalty, factor, level, ridge, beta, correlation, member, feasible
        )
        worst = larger(inside, outside)
        if not worst <= tol:
            return done, known, epochs
        lam = lambdas[done]
        row = figures[done]
        row[0], row[1], row[2] = strong, working.size, epochs
        row[3], row[4], row[5] = step, worst, mean_square
        row[6] = penalty_total(penalty, factor, level, ridge, support, nonzero)
        row[7] = count
    return lambdas.size, known, 0
