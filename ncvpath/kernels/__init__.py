"""All numba code: the penalties one coordinate at a time, coordinate descent, Newton.

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
# which lets them be vectorised; NaN and inf keep their meaning. Nobody calls from C: to
# compile the way in from there would take a tenth of the time.
OPTIONS = dict(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
kernel = njit(**OPTIONS)
summing_kernel = njit(**OPTIONS, fastmath={"reassoc", "contract"})

# Sweeps that leave the support as it is before a Newton step is tried, and sweeps of
# any kind; twice as many after each refusal.
SETTLED, SWEEPS = 2, 16
# Patience beyond which tangents stand in for a concave penalty: each such step costs a
# factorization.
STUBBORN = 4
# Newton steps without sweeps in between, each on the support the last one left. On
# strongly correlated columns sweeps undo what few of them have reached.
MOST_IN_A_ROW = 100
# Lengths of a step that are tried before it is refused.
ATTEMPTS = 4
# Sweeps without halving the violation after which only rounding is left to fight, which
# a look at exact correlations does better.
MAX_IDLE = 2000
# The same for sweeps that have no Newton steps to help them.
MAX_IDLE_SWEEPS = 15_000
# A pivot below this share of its coordinate's curvature is none: the coordinate is then
# treated as if its penalty were a line, and as having this share at least. The larger
# ones are for steps that run away.
FLOORS = (1e-12, 1e-9, 1e-6)
# A diagonal that has moved less than this share of the curvature is left as it is in
# the factor: Newton steps then converge at that rate, and cost no factorization.
STALE = 0.05
# Rows that enter a factor one by one, and the size of groups if there are more.
FEW, GROUP = 16, 64
# A step that multiplies the coefficients by this may follow rounding, not curvature; it
# is shortened to this if larger pivots do not do it.
LEAP = 1e3
EPS = np.finfo(np.float64).eps
# A column varies only if its entries differ by more than this share of them.
LAST_PLACES = 16 * EPS
ROUNDING = 4 * EPS
# The share of a column's square that must be left for the rest to be derived from it.
ENOUGH_LEFT = 0.01
# Rows of a column that stay in cache while they are multiplied by several vectors.
IN_CACHE = 4096
# Rows of sparse columns that are turned from columns into rows together: few enough
# for the rows to stay in cache, many enough to make going through the columns worth it.
ROWS_AT_ONCE = 4096
# How a look along a stretch may end.
PASSED, TOO_MANY, OBJECTED, CALLED = range(4)
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


@kernel
def is_smooth(penalty):
    """Whether r is smooth for a > 0: in one piece."""
    return penalty.kind == LASSO or penalty.kind == LOGSUM


@kernel
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
def move(penalty, l1, v, b, q, least):
    """One coordinate's change and the violation that called for it, if above least."""
    met = violation(penalty, b, q, l1)
    if met <= least:
        return 0.0, met
    return threshold(penalty, q + v * b, v, l1, b) - b, met


@kernel
def sweep(gram, size, penalty, l1, v, beta, q, least):
    """One pass of coordinate descent over the first `size` coordinates.

    Violations up to `least` stay. Modified in place: beta, q of those coordinates.
    Returns the largest violation met on the way, and whether the support changed.
    """
    worst, moved = 0.0, False
    for j in range(size):
        change, met = move(penalty, l1[j], v[j], beta[j], q[j], least)
        worst = larger(worst, met)
        if change != 0.0:
            moved |= beta[j] == 0.0 or beta[j] + change == 0.0
            beta[j] += change
            subtract_row(gram, j, size, v, change, q)
    return worst, moved


@kernel
def subtract_row(gram, j, size, v, change, q):
    """What a change of coordinate j does to q of the first `size` coordinates."""
    row = gram[j]
    for k in range(size):
        q[k] -= change * row[k]
    q[j] -= change * (v[j] - row[j])  # the ridge part


@summing_kernel
def head_dot(a, b, size):
    """The inner product of the first `size` entries."""
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@kernel
def drop_row(factor, i):
    """Take row and column i out of the matrix that is factored."""
    lower, size = factor.lower, factor.size[0]
    cosine, sine = np.empty(size), np.empty(size)
    # The rows below move up; what they had in column i is rotated into the rest.
    for r in range(i + 1, size):
        row, above, left = lower[r], lower[r - 1], lower[r, i]
        for k in range(i):
            above[k] = row[k]
        for k in range(i, r - 1):
            above[k] = cosine[k] * row[k + 1] + sine[k] * left
            left = cosine[k] * left - sine[k] * row[k + 1]
        length = math.sqrt(row[r] * row[r] + left * left)
        cosine[r - 1], sine[r - 1] = row[r] / length, left / length
        above[r - 1] = length
        factor.slots[r - 1] = factor.slots[r]
        factor.diagonal[r - 1] = factor.diagonal[r]
        factor.exact[r - 1] = factor.exact[r]
    factor.size[0] = size - 1


@kernel
def add_row(factor, products, slot, diagonal, ceiling, floor):
    """Let one more coordinate into the factor.

    `products` are those with the coordinates in it, by row. Where its diagonal would
    not leave the matrix positive definite, that of a straight penalty, `ceiling`,
    stands in for it: a majorant.
    """
    lower, size = factor.lower, factor.size[0]
    row, taken = lower[size], 0.0
    for i in range(size):
        row[i] = (products[i] - head_dot(lower[i], row, i)) / lower[i, i]
        taken += row[i] * row[i]
    close_row(factor, size, taken, slot, diagonal, ceiling, floor)


@kernel
def close_row(factor, size, taken, slot, diagonal, ceiling, floor):
    """The end of a new row: what its diagonal leaves after what others have taken."""
    left = diagonal - taken
    factor.exact[size] = left > floor * ceiling
    if not factor.exact[size]:
        left = max(ceiling - taken, floor * ceiling)
    factor.lower[size, size] = math.sqrt(left)
    factor.slots[size], factor.diagonal[size] = slot, diagonal
    factor.size[0] = size + 1


@kernel
def add_rows(factor, gram, member, slots, diagonal, ceiling, floor):
    """Let several more coordinates into the factor: add_row for a group at a time.

    member[i] is the coordinate of row i, of those that are to be added too; diagonal
    and ceiling are theirs, in this order. Groups make products of matrices out of
    products of vectors, which for large factors wait for memory.
    """
    lower, start = factor.lower, factor.size[0]
    for first in range(start, member.size, GROUP):
        size = min(GROUP, member.size - first)
        rows = np.empty((first, size))  # of the factor, as columns
        for i in range(first):
            for r in range(size):
                rows[i, r] = gram[member[first + r], member[i]]
        for top in range(0, first, GROUP):
            end = min(top + GROUP, first)
            if top > 0:
                before = np.empty((end - top, top))
                for i in range(top, end):
                    for k in range(top):
                        before[i - top, k] = lower[i, k]
                products = np.dot(before, rows[:top])
                for i in range(top, end):
                    for r in range(size):
                        rows[i, r] -= products[i - top, r]
            for i in range(top, end):
                for k in range(top, i):
                    for r in range(size):
                        rows[i, r] -= lower[i, k] * rows[k, r]
                for r in range(size):
                    rows[i, r] /= lower[i, i]
        own = np.zeros((size, size))
        for i in range(first):
            for r in range(size):
                lower[first + r, i] = rows[i, r]
                for s in range(r + 1):
                    own[r, s] += rows[i, r] * rows[i, s]
        for r in range(size):
            row, known = lower[first + r], gram[member[first + r]]
            taken = own[r, r]
            for s in range(r):
                other = lower[first + s]
                left = known[member[first + s]] - own[r, s]
                for k in range(first, first + s):
                    left -= row[k] * other[k]
                row[first + s] = left / other[first + s]
                taken += row[first + s] * row[first + s]
            k = first + r - start
            close_row(
                factor, first + r, taken, slots[member[first + r]], diagonal[k],
                ceiling[k], floor,
            )


@kernel
def fit_factor(factor, gram, slots, support, diagonal, ceiling, floor, place):
    """Make the factor that of the support, by dropping and adding rows.

    diagonal[k], ceiling[k] belong to support[k]; place[k] becomes its row.
    """
    top = 0
    for i in range(factor.size[0]):
        top = max(top, factor.slots[i])
    for k in range(support.size):
        top = max(top, slots[support[k]])
    coordinate = np.empty(top + 1, dtype=np.int64)  # by slot
    for i in range(top + 1):
        coordinate[i] = -1
    for k in range(support.size):
        coordinate[slots[support[k]]], place[k] = k, -1
    leaving = np.empty(factor.size[0], dtype=np.bool_)
    first = count = stale = 0
    for i in range(factor.size[0] - 1, -1, -1):
        leaving[i] = False
        k = coordinate[factor.slots[i]]
        stays = k >= 0
        if stays:
            off = abs(factor.diagonal[i] - diagonal[k])
            # A straight penalty's raised pivot stays; a concave one's may come right.
            right = factor.exact[i] or (off == 0.0 and diagonal[k] == ceiling[k])
            stays = right and off <= STALE * ceiling[k]
            stale += stays and off > 0.0
        if not stays:
            leaving[i], first = True, i
            count += 1
    if count > 10 + factor.size[0] // 40:
        factor.size[0] = first  # so many that it is cheaper to begin there again
    for i in range(factor.size[0] - 1, -1, -1):
        if leaving[i]:
            drop_row(factor, i)
    factor.size[1] = stale
    member = np.empty(support.size, dtype=np.int64)  # by row
    products = np.empty(support.size)
    for i in range(factor.size[0]):
        k = coordinate[factor.slots[i]]
        place[k], member[i] = i, support[k]
    size = start = factor.size[0]
    new_diagonal, new_ceiling = np.empty(support.size), np.empty(support.size)
    for k in range(support.size):
        if place[k] < 0:
            place[k], member[size] = size, support[k]
            new_diagonal[size - start] = diagonal[k]
            new_ceiling[size - start] = ceiling[k]
            size += 1
    if size - start > FEW:
        add_rows(factor, gram, member, slots, new_diagonal, new_ceiling, floor)
        return
    for r in range(start, size):
        row = gram[member[r]]
        for i in range(r):
            products[i] = row[member[i]]
        add_row(
            factor, products, slots[member[r]], new_diagonal[r - start],
            new_ceiling[r - start], floor,
        )


@kernel
def solve_factored(factor, z):
    """Solve the factored system; z becomes the solution."""
    lower = factor.lower
    for i in range(z.size):
        z[i] = (z[i] - head_dot(lower[i], z, i)) / lower[i, i]
    for i in range(z.size - 1, -1, -1):
        z[i] /= lower[i, i]
        for k in range(i):
            z[k] -= lower[i, k] * z[i]


@kernel
def newton_direction(
    gram, size, slots, penalty, l1, v, beta, q, factor, straight, first, direction
):
    """Where the stationary point of the nonzero coordinates lies, as things stand.

    If `straight`, as if the penalty were its tangents. Sets `direction`, zero for the
    others. Returns whether there is one, and which of the floors it took, from `first`
    on.
    """
    count = 0
    support = np.empty(size, dtype=np.int64)
    for j in range(size):
        direction[j] = 0.0
        if beta[j] != 0.0:
            support[count] = j
            count += 1
    if count == 0 or count > factor.slots.size:
        return False, first
    support = support[:count]
    diagonal, ceiling = np.empty(count), np.empty(count)
    right, z = np.empty(count), np.empty(count)
    place = np.empty(support.size, dtype=np.int64)
    largest = 0.0
    for k in range(support.size):
        j = support[k]
        a, ceiling[k] = abs(beta[j]), v[j]
        diagonal[k] = v[j] + (0.0 if straight else curvature(penalty, a, l1[j]))
        right[k] = q[j] - math.copysign(slope(penalty, a, l1[j]), beta[j])
        largest = max(largest, a)
    for level in range(first, len(FLOORS)):
        fit_factor(
            factor, gram, slots, support, diagonal, ceiling, FLOORS[level], place
        )
        longest = 0.0
        for k in range(support.size):
            z[place[k]] = right[k]
        solve_factored(factor, z)
        for k in range(support.size):
            direction[support[k]] = z[place[k]]
            longest = larger(longest, abs(z[k]))
        if longest <= LEAP * largest:
            return True, level
        factor.size[0] = 0
    # A direction this much longer than what there is has no right digit.
    if not longest <= largest / EPS:
        return False, first
    for j in range(size):
        direction[j] *= LEAP * largest / longest
    return True, len(FLOORS) - 1


@kernel
def step_along(gram, size, penalty, l1, v, beta, q, direction, farthest):
    """Move the first `size` coordinates along a direction, if the objective falls.

    The full step, held at zero where a sign would change; or else the step up to the
    first sign change or piece boundary; or else a fraction of it. No coordinate may go
    beyond `farthest`. Modified in place: their beta and q. Returns whether a step was
    taken, and whether it changed support or pieces.
    """
    new, new_q = np.empty(size), np.empty(size)
    edge = 1.0
    for j in range(size):
        inward = direction[j] if beta[j] > 0.0 else -direction[j]
        edge = min(edge, share_to_edge(penalty, abs(beta[j]), inward, l1[j]))
    part = 1.0
    for _ in range(ATTEMPTS):
        crosses = part == edge and edge < 1.0
        for j in range(size):
            new[j], new_q[j] = beta[j] + part * direction[j], q[j]
            if new[j] * beta[j] <= 0.0 and beta[j] != 0.0:
                new[j], crosses = 0.0, True
        height = rise = far = 0.0
        for j in range(size):
            if new[j] != beta[j]:
                subtract_row(gram, j, size, v, new[j] - beta[j], new_q)
        # The smooth part changes by -change' (q + new_q) / 2.
        for j in range(size):
            before = value(penalty, abs(beta[j]), l1[j])
            height += before
            rise += value(penalty, abs(new[j]), l1[j]) - before
            rise -= 0.5 * (new[j] - beta[j]) * (q[j] + new_q[j])
            far = larger(far, math.sqrt(v[j]) * abs(new[j]))
        if rise <= ROUNDING * height and far <= farthest:
            for j in range(size):
                beta[j], q[j] = new[j], new_q[j]
            return True, crosses
        part = edge if part > edge else 0.25 * part
    return False, False


@kernel
def newton_steps(
    gram, size, slots, penalty, l1, v, beta, q, factor, farthest, stuck
):
    """Newton steps until one leaves support and pieces as they are.

    A step that brings a coordinate to zero is followed by another without it, as in
    active-set methods: sweeps in between would only bring it back. Modified in place:
    beta, q of the first `size` coordinates, and the factor. Returns the number of steps
    taken.

    Where columns have little curvature to spare, a concave penalty may take so much of
    it that no step leads down. That for the penalty's tangents does: they lie above it.
    It is slower, and for those who are `stuck`.
    """
    direction, level = np.empty(size), np.int64(0)  # no literal: compiled once
    straight, steps = np.bool_(False), 0  # nor is this one
    while steps < MOST_IN_A_ROW:
        # A floor that held is kept: each that does not costs a factorization.
        found, level = newton_direction(
            gram, size, slots, penalty, l1, v, beta, q, factor, straight, level,
            direction,
        )
        taken = crossed = False
        if found:
            taken, crossed = step_along(
                gram, size, penalty, l1, v, beta, q, direction, farthest
            )
        steps += taken
        if not taken:
            factor.size[0] = 0  # it may have been stale
            if straight or not stuck:
                return steps
            straight, level = np.bool_(True), np.int64(0)
        elif not crossed:
            return steps
    return steps


@kernel
def settle(
    gram, size, slots, penalty, l1, v, beta, q, factor, farthest, target, most
):
    """Sweeps and Newton steps on the first `size` coordinates until they meet target.

    Modified in place: their beta, all of q, and the factor. Returns the number of
    sweeps, at most `most`, and Newton steps, and whether it was given up.
    """
    before = np.empty(size)
    for j in range(size):
        before[j] = beta[j]
    epochs = steps = idle = settled = since = 0
    patience, best = 1, np.inf
    if is_smooth(penalty):
        # The support is nearly right from the start, and a step leads to its solution.
        settled = SETTLED
    while epochs < most and idle <= MAX_IDLE:
        if settled >= patience * SETTLED or since >= patience * SWEEPS:
            stuck = patience > STUBBORN and penalty.kind != LASSO
            taken = newton_steps(
                gram, size, slots, penalty, l1, v, beta, q, factor, farthest, stuck
            )
            steps += taken
            settled = since = 0
            patience = 1 if taken else 2 * patience
        worst, moved = sweep(gram, size, penalty, l1, v, beta, q, 0.1 * target)
        epochs += 1
        since += 1
        settled = 0 if moved else settled + 1
        if worst <= target:
            break
        idle += 1
        if worst < 0.5 * best:
            best, idle = worst, 0
        elif since == 1 and factor.size[1] > 0:
            factor.size[0] = 0  # a step with a stale factor that led nowhere
    for j in range(size):
        change = beta[j] - before[j]
        if change != 0.0:
            for k in range(size, q.size):
                q[k] -= change * gram[j, k]
    return epochs, steps, idle > MAX_IDLE


@kernel
def swap(j, k, working, slots, l1, v, beta, q):
    """Let two coordinates of the working set change places."""
    working[j], working[k] = working[k], working[j]
    slots[j], slots[k] = slots[k], slots[j]
    l1[j], l1[k] = l1[k], l1[j]
    v[j], v[k] = v[k], v[j]
    beta[j], beta[k] = beta[k], beta[j]
    q[j], q[k] = q[k], q[j]


@kernel
def bring_forward(j, size, products, gram, working, slots, l1, v, beta, q):
    """Make coordinate j the next active one, at place `size`, with its row of products.

    `products` is the matrix by slot, `gram` by place, of which active rows are there.
    """
    if j != size:
        swap(j, size, working, slots, l1, v, beta, q)
        for i in range(size):
            gram[i, j], gram[i, size] = gram[i, size], gram[i, j]
    copy_row(products, slots, size, gram)


@kernel
def copy_row(products, slots, j, gram):
    """Row j by place of the matrix that is known by slot."""
    row, out = products[slots[j]], gram[j]
    for k in range(slots.size):
        out[k] = row[slots[k]]


@kernel
def largest_violation(penalty, l1, beta, q):
    """The largest violation over the coordinates as they stand."""
    worst = 0.0
    for j in range(beta.size):
        worst = larger(worst, violation(penalty, beta[j], q[j], l1[j]))
    return worst


@kernel
def all_digits_away(v, beta, q):
    """How far |x_j beta_j| may go before no digit is left of what there is now.

    Without curvature every way may seem to lead down, by rounding alone.
    """
    size = 0.0
    for j in range(beta.size):
        root = math.sqrt(v[j])
        size = larger(size, root * abs(beta[j]) + abs(q[j]) / root)
    return size / EPS


@kernel
def descend_gram(
    products, working, slots, penalty, l1, v, beta, q, factor, gram, target, max_epochs
):
    """Minimise on the working set, seeing only its Gram matrix.

    `products[slots[j], slots[k]]` is <x_j, x_k>. Coordinates that were ever nonzero
    here are active; they are moved to the front, in order of entry, with their rows of
    the Gram matrix in `gram`, so that all loops run over contiguous memory. They settle
    before others enter, so that a nonconvex path stays in its valley. Modified in
    place: beta, q, factor, gram, and the order of working, slots, l1, v, beta, q.
    Returns the number of sweeps, of Newton steps, and the largest violation left.
    """
    farthest = all_digits_away(v, beta, q)
    epochs = steps = 0
    size = np.int64(0)  # not a literal, for which numba would compile everything anew
    for j in range(beta.size):
        if beta[j] != 0.0:
            swap(j, size, working, slots, l1, v, beta, q)
            size += 1
    for j in range(size):
        copy_row(products, slots, j, gram)
    while True:
        more, taken, gave_up = settle(
            gram, size, slots, penalty, l1, v, beta, q, factor, farthest, target,
            max_epochs - epochs - 1,
        )
        epochs, steps = epochs + more + 1, steps + taken
        # A sweep over everyone; coordinates at rest cost O(1).
        worst = 0.0
        for j in range(beta.size):
            change, met = move(penalty, l1[j], v[j], beta[j], q[j], 0.1 * target)
            worst = larger(worst, met)
            if change != 0.0:
                place = j
                if j >= size:
                    bring_forward(
                        j, size, products, gram, working, slots, l1, v, beta, q
                    )
                    place, size = size, size + 1
                beta[place] += change
                subtract_row(gram, place, q.size, v, change, q)
        if worst <= target:
            worst = largest_violation(penalty, l1, beta, q)
            if worst <= target:
                return epochs, steps, worst
        if gave_up or epochs >= max_epochs:
            return epochs, steps, largest_violation(penalty, l1, beta, q)


@kernel
def is_strong(factor, cut, correlation):
    """Whether a penalised feature has |<x_j, r>| >= cut * factor."""
    return 0.0 < factor < np.inf and abs(correlation) >= cut * factor


@kernel
def mark_strong(factor, cut, correlation, member):
    """Add every strong feature to `member`; returns how many were added."""
    added = 0
    for j in range(factor.size):
        if not member[j] and is_strong(factor[j], cut, correlation[j]):
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
        elif not size + slack * length[j] <= l1:
            uncertified[more] = j
            more += 1
    return few, more


@kernel
def survey(
    penalty, factor, ridge_factor, level, ridge, beta, correlation, member, feasible
):
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
        u = correlation[j] - ridge * ridge_factor[j] * beta[j]
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
            u = correlation[j] - ridge * ridge_factor[j] * beta[j]
            f = feasible[j] + step * (u - feasible[j])
            feasible[j] = min(max(f, -l1), l1)
    return inside, outside, step


@kernel
def penalty_total(penalty, factor, ridge_factor, level, ridge, support, beta):
    """The sum of sparse and ridge penalties; beta belongs to the support."""
    total = 0.0
    for k in range(support.size):
        j, b = support[k], beta[k]
        total += value(penalty, abs(b), level * factor[j])
        total += 0.5 * ridge * ridge_factor[j] * b * b
    return total


@kernel
def restrict(
    member, factor, ridge_factor, level, ridge, norm2, beta, correlation
):
    """The problem on the working set: features, l1, l2, v, beta and q of each."""
    size = 0
    for j in range(member.size):
        size += member[j]
    working = np.empty(size, dtype=np.int64)
    size = 0
    for j in range(member.size):
        if member[j]:
            working[size] = j
            size += 1
    l1, l2, v = np.empty(size), np.empty(size), np.empty(size)
    b, q = np.empty(size), np.empty(size)
    for k in range(working.size):
        j = working[k]
        l1[k], l2[k], b[k] = level * factor[j], ridge * ridge_factor[j], beta[j]
        v[k], q[k] = norm2[j] + l2[k], correlation[j] - l2[k] * b[k]
    return working, l1, l2, v, b, q


@summing_kernel
def column_dots(X, features, first, last, centers, vectors, out):
    """Set out[m, k] = vectors[m] @ (X_j - centers[m, j]), j = features[k], k from
    `first` up to `last`. One row of centers may serve all vectors.

    A column is read once for all vectors, a stretch of it that stays in cache at a
    time. The bits of a vector's products do not depend on the company it is in.
    """
    n, own = vectors.shape[1], centers.shape[0] > 1
    for k in range(first, last):
        j = features[k]
        for m in range(vectors.shape[0]):
            out[m, k] = 0.0
        for top in range(0, n, IN_CACHE):
            end = min(top + IN_CACHE, n)
            column = X[j * n + top : j * n + end]
            for m in range(vectors.shape[0]):
                c, vector, total = centers[m if own else 0, j], vectors[m, top:end], 0.0
                for i in range(column.size):
                    total += vector[i] * (column[i] - c)
                out[m, k] += total


@summing_kernel
def many_dots(X, features, first, last, center, vectors, out):
    """As column_dots for several vectors and one centre, with other bits.

    Four columns and four vectors at a time, so that a number that was read serves four
    products. Where fewer are left, the last one is taken several times.
    """
    count, n = vectors.shape
    for k in range(first, last, 4):
        for m in range(0, count, 4):
            end = count - 1
            m1, m2, m3 = min(m + 1, end), min(m + 2, end), min(m + 3, end)
            v0, v1, v2, v3 = vectors[m], vectors[m1], vectors[m2], vectors[m3]
            end = last - 1
            kb, kc, kd = min(k + 1, end), min(k + 2, end), min(k + 3, end)
            a, b, c, d = features[k], features[kb], features[kc], features[kd]
            xa, ca = X[a * n : (a + 1) * n], center[a]
            xb, cb = X[b * n : (b + 1) * n], center[b]
            xc, cc = X[c * n : (c + 1) * n], center[c]
            xd, cd = X[d * n : (d + 1) * n], center[d]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
            c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = 0.0
            for i in range(n):
                ya, yb, yc, yd = xa[i] - ca, xb[i] - cb, xc[i] - cc, xd[i] - cd
                a0 += v0[i] * ya
                a1 += v1[i] * ya
                a2 += v2[i] * ya
                a3 += v3[i] * ya
                b0 += v0[i] * yb
                b1 += v1[i] * yb
                b2 += v2[i] * yb
                b3 += v3[i] * yb
                c0 += v0[i] * yc
                c1 += v1[i] * yc
                c2 += v2[i] * yc
                c3 += v3[i] * yc
                d0 += v0[i] * yd
                d1 += v1[i] * yd
                d2 += v2[i] * yd
                d3 += v3[i] * yd
            out[m, k], out[m1, k], out[m2, k], out[m3, k] = a0, a1, a2, a3
            out[m, kb], out[m1, kb], out[m2, kb], out[m3, kb] = b0, b1, b2, b3
            out[m, kc], out[m1, kc], out[m2, kc], out[m3, kc] = c0, c1, c2, c3
            out[m, kd], out[m1, kd], out[m2, kd], out[m3, kd] = d0, d1, d2, d3


@kernel
def farthest_from(mean, low, high, intercept):
    """The largest distance of entries between low and high from their mean, or 0 if
    they differ in their last places only.

    Near each other, they have a difference without rounding: what is constant does not
    depend on how its mean was summed.
    """
    if intercept and high - low <= LAST_PLACES * max(abs(low), abs(high)):
        return 0.0
    return max(high - mean, mean - low)


@summing_kernel
def measure_columns(X, first, weights, intercept, center, scale):
    """Mean and root mean square about it, 0 if constant, column by column.

    Columns first, first + 1, ... fill center and scale. The mean is taken twice, the
    second time of what the first left, and what its rounding still leaves is taken out
    of the mean square. Squares are of entries divided by the largest, so that any scale
    is representable.
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
        low, high = np.inf, -np.inf
        for i in range(n):
            if weights[i] > 0.0:
                entry = float(column[i])
                low, high = min(low, entry), max(high, entry)
        top = farthest_from(mean, low, high, intercept)
        total, rest = 0.0, 0.0
        if top > 0.0:
            for i in range(n):
                if weights[i] > 0.0:
                    far = (column[i] - mean) / top
                    total += weights[i] * far**2
                    rest += weights[i] * far
        if intercept:
            total = max(total - rest**2, 0.0)
        center[k], scale[k] = mean, top * math.sqrt(total)


@kernel
def leave_out(X, first, weights, rows, left, intercept, center, scale):
    """Mean and root mean square about it when some rows are left out.

    On entry center and scale are those of all rows, with weights that sum to one, for
    columns first, first + 1, ...; on exit those without `rows`. With u the column
    standardized by the former, and W = `left` the weight that is left,

        mean   d = -sum_rows w u / W,   mean square   (1 - sum_rows w u^2) / W - d^2.

    Where a difference is too small to have its digits, scale becomes NaN.
    """
    n = weights.size
    for k in range(center.size):
        column, total, square = X[(first + k) * n : (first + k + 1) * n], 0.0, 0.0
        if scale[k] == 0.0:
            continue
        for i in rows:
            u = (column[i] - center[k]) / scale[k]
            total += weights[i] * u
            square += weights[i] * u * u
        shift = -total / left if intercept else 0.0
        rest = 1.0 - square
        square = rest / left - shift * shift
        center[k] += scale[k] * shift
        sound = rest > ENOUGH_LEFT and square * left > ENOUGH_LEFT * rest
        scale[k] *= math.sqrt(square) if sound else np.nan


@kernel
def copy_columns(X, features, center, scale, top, out):
    """Write the standardized columns, from row `top` on, to the rows of out."""
    n = X.size // center.size
    for k in range(features.size):
        j = features[k]
        column = X[j * n + top : j * n + top + out.shape[1]]
        c, inverse = center[j], 1.0 / scale[j]
        if inverse == np.inf:  # a subnormal scale
            for i in range(out.shape[1]):
                out[k, i] = (column[i] - c) / scale[j]
            continue
        for i in range(out.shape[1]):
            out[k, i] = (column[i] - c) * inverse


@kernel
def subtract_columns(X, features, center, steps, top, out):
    """Take (X_A - center_A) steps, from row `top` on, from out."""
    n = X.size // center.size
    for k in range(features.size):
        j = features[k]
        column, c, step = X[j * n + top : j * n + top + out.size], center[j], steps[k]
        for i in range(out.size):
            out[i] -= step * (column[i] - c)


@summing_kernel
def centred_dot(column, center, weights, residual):
    """Weights @ (residual * (column - center))."""
    total = 0.0
    for i in range(residual.size):
        total += weights[i] * residual[i] * (column[i] - center)
    return total


@kernel
def visit_column(column, weights, center, scale, penalty, l1, v, l2, beta, residual):
    """Update one coordinate with the residual at hand.

    Modified in place: residual. Returns the new coefficient and the violation met.
    """
    u = centred_dot(column, center, weights, residual) / scale - l2 * beta
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
def keep_pace(pace, worst, target, cyclic):
    """What a sweep that met violations up to `worst` means for the next one.

    `pace` has idle sweeps, the least violation so far, whether only the support is
    swept, and whether there is nothing left to do.
    """
    arrived = worst <= target and pace[2] == 0.0
    pace[0] += 1.0
    if worst < 0.5 * pace[1]:
        pace[0], pace[1] = 0.0, worst
    pace[2] = worst > target and not cyclic
    pace[3] = arrived or pace[0] > MAX_IDLE_SWEEPS


@kernel
def descend_residual(
    X, weights, center, scale, features, penalty, l1, v, l2, beta, residual, target,
    cyclic, max_epochs, pace,
):
    """Coordinate descent on the working set with residual updates, no Gram matrix.

    X is the dense matrix column after column; `features` are the columns of the
    working set, which all other arrays follow. Every sweep is over all of them if
    `cyclic`, otherwise over the support until that has settled, and then over all.
    Modified in place: beta, residual, and `pace`, from which the sweeps go on
    (portions.py). Returns the number of sweeps; unless they ran out or led nowhere, the
    last one met no violation above `target`.
    """
    n = residual.size
    epochs = 0
    while epochs < max_epochs and pace[3] == 0.0:
        epochs += 1
        worst = 0.0
        for k in range(features.size):
            if pace[2] == 1.0 and beta[k] == 0.0:
                continue
            j = features[k]
            beta[k], met = visit_column(
                X[j * n : (j + 1) * n], weights, center[j], scale[j], penalty, l1[k],
                v[k], l2[k], beta[k], residual,
            )
            worst = larger(worst, met)
        keep_pace(pace, worst, target, cyclic)
    return epochs


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


@kernel
def leave_residual(X, center, scale, weights, response, columns, values, out):
    """Set `out` to what columns with coefficients `values`, on the standardized scale,
    leave of the response; to zero in rows that do not count."""
    for i in range(out.size):
        out[i] = response[i]
    subtract_columns(X, columns, center, values / scale[columns], np.int64(0), out)
    for i in range(out.size):
        out[i] = out[i] if weights[i] > 0.0 else 0.0


@kernel
def learn_features(
    X, columns, center, scale, weights, new, known, features, slot, gram
):
    """Give new features the next slots, from `known` on, and all their products.

    Each column is read once for all of them. Modified in place: features, slot, gram.
    """
    n, size = weights.size, known + new.size
    vectors = np.empty((new.size, n))
    for m in range(new.size):
        j = columns[new[m]]
        features[known + m], slot[new[m]] = new[m], known + m
        for i in range(n):
            vectors[m, i] = weights[i] * ((X[j * n + i] - center[j]) / scale[j])
    stored, products = np.empty(size, dtype=np.int64), np.empty((new.size, size))
    for k in range(size):
        stored[k] = columns[features[k]]
    many_dots(X, stored, np.int64(0), size, center, vectors, products)
    for m in range(new.size):
        for k in range(known + m + 1):
            product = products[m, k] / scale[stored[k]]
            gram[known + m, k] = gram[k, known + m] = product


@kernel
def walk_down(
    X, columns, center, scale, weights, norm2, response, factor, penalty, alpha,
    growth, lam, lambdas, tol, target, most, dfmax, crowd, features, known, slot, gram,
    factored, space, beta, residual, correlation, feasible, figures, supports, values,
):
    """Solver.solve for one lambda after another while nothing unusual happens.

    Feature j is column columns[j] of X, whose centre and scale are of all columns.
    That is: the strong features fit in (`crowd`), their Gram matrix has room, `most`
    sweeps reach the target, and nobody outside objects. It ends with the first model
    of more than `dfmax` features. Modified in place: everything
    after `crowd` but `known`; the state stays consistent wherever the walk ends.

    Returns the number of lambdas finished, the features known to the Gram matrix, and
    the sweeps spent on the lambda that was given up. Of each finished lambda `figures`
    gets strong, working set, sweeps, Newton steps, step, violation, mean square,
    penalty, and the end of its part in `supports` and `values`.
    """
    member, count = np.empty(beta.size, dtype=np.bool_), 0
    for done in range(lambdas.size):
        level, ridge = alpha * lambdas[done], (1.0 - alpha) * lambdas[done]
        # As solver.start; a crowd is left to that.
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
            member, factor, factor, level, ridge, norm2, beta, correlation
        )
        if new > 0:
            unknown = np.empty(new, dtype=np.int64)
            new = 0
            for k in range(working.size):
                if slot[working[k]] < 0:
                    unknown[new] = working[k]
                    new += 1
            learn_features(
                X, columns, center, scale, weights, unknown, known, features, slot,
                gram,
            )
            known += new
        slots = np.empty(working.size, dtype=np.int64)
        for k in range(working.size):
            slots[k] = slot[working[k]]
        epochs, steps, left = descend_gram(
            gram, working, slots, penalty, l1, v, b, q, factored,
            space[: working.size**2].reshape((working.size, working.size)), target,
            most,
        )
        # As solver.refresh.
        first = count
        for k in range(working.size):
            beta[working[k]] = b[k]
        for j in range(beta.size):
            if beta[j] != 0.0:
                supports[count], values[count] = j, beta[j]
                count += 1
        support, nonzero = supports[first:count], values[first:count]
        leave_residual(
            X, center, scale, weights, response, columns[support], nonzero, residual
        )
        weighted, mean_square = np.empty(residual.size), 0.0
        for i in range(residual.size):
            weighted[i] = weights[i] * residual[i]
            mean_square += weighted[i] * residual[i]
        column_dots(
            X, columns, np.int64(0), columns.size, center.reshape((1, center.size)),
            weighted.reshape((1, weighted.size)), correlation.reshape((1, beta.size)),
        )
        for j in range(beta.size):
            correlation[j] /= scale[columns[j]]
        if not left <= target:
            return done, known, epochs
        for j in range(beta.size):
            feasible[j] *= lambdas[done] / lam
        inside, outside, step = survey(
            penalty, factor, factor, level, ridge, beta, correlation, member, feasible
        )
        worst = larger(inside, outside)
        if not worst <= tol:
            for j in range(beta.size):  # the state has the old lambda still
                feasible[j] *= lam / lambdas[done]
            return done, known, epochs
        lam = lambdas[done]
        row = figures[done]
        row[0], row[1], row[2], row[3] = strong, working.size, epochs, steps
        row[4], row[5], row[6] = step, worst, mean_square
        row[7] = penalty_total(
            penalty, factor, factor, level, ridge, support, nonzero
        )
        row[8] = count
        if support.size > dfmax:
            return done + 1, known, 0
    return lambdas.size, known, 0


@kernel
def residuals_along(X, center, scale, weights, response, ends, features, values, out):
    """Residuals of several solutions, a row of `out` for each.

    The k-th has coefficients values[i] of features[i], i from ends[k - 1] to ends[k].
    """
    first = 0
    for k in range(ends.size):
        part = slice(first, ends[k])
        leave_residual(
            X, center, scale, weights, response, features[part], values[part], out[k]
        )
        first = ends[k]


@kernel
def look_along(
    X, center, scale, vectors, first, learnt, most, member, factor, length, levels, tol,
    cuts, slack, estimates, worst,
):
    """Look at everyone but members, at one residual after another, from `first` on.

    vectors[k] are residuals times weights, estimates[k] their correlations, which are
    off by slack[k] * length at most. Who is not certified to be within levels[k] *
    factor is looked at: `estimates` then holds what was found, and worst[k] the largest
    violation. It ends before the first at which more than `most` are to be looked at,
    unless that is the one that was `learnt`; at the first to which somebody objects by
    more than tol; and after the first that calls somebody, by cuts[k] * factor or more.
    Returns how many have passed, and why it ended.
    """
    who, found = np.empty(factor.size, dtype=np.int64), np.empty((1, factor.size))
    for k in range(first, levels.size):
        count, estimate = 0, estimates[k]
        for j in range(factor.size):
            if not member[j] and factor[j] < np.inf:
                bound = abs(estimate[j]) + slack[k] * length[j]
                if not bound <= levels[k] * factor[j]:
                    who[count] = j
                    count += 1
        if count > most and k != learnt:
            return k, TOO_MANY
        column_dots(
            X, who, np.int64(0), count, center.reshape((1, center.size)),
            vectors[k : k + 1], found,
        )
        worst[k] = 0.0
        for m in range(count):
            j = who[m]
            estimate[j] = found[0, m] / scale[j]
            worst[k] = larger(worst[k], abs(estimate[j]) - levels[k] * factor[j])
        if not worst[k] <= tol:
            return k, OBJECTED
        for j in range(factor.size):
            if not member[j] and is_strong(factor[j], cuts[k], estimate[j]):
                return k + 1, CALLED
    return levels.size, PASSED


# Sparse columns. Column j holds data[i] in rows indices[i], sorted, i from indptr[j] up
# to indptr[j + 1]. A column with implicit zeros is centred in the sums, by what its
# mean adds to them; one that is stored in full, whose mean may be any number of
# deviations from zero, entry by entry, as a dense one is. `shift` is what is taken from
# an entry, `center - shift` what is left to the sums. Rows come as unsigned numbers:
# those need no look at their sign before every use, which takes a third of the time.


@kernel
def entry_shift(count, n, center):
    """What is taken from the entries of a column of `count` of them."""
    return center if count == n else 0.0


@summing_kernel
def sparse_dots(
    data, indices, indptr, features, first, last, centers, vectors, sums, out
):
    """Set out[m, k] = vectors[m] @ (X_j - centers[m, j]), j = features[k], k from
    `first` up to `last`; sums[m] is the sum of vectors[m].
    """
    n = vectors.shape[1]
    for k in range(first, last):
        j = features[k]
        start, stop = indptr[j], indptr[j + 1]
        for m in range(vectors.shape[0]):
            vector, c, total = vectors[m], centers[m, j], 0.0
            shift = entry_shift(stop - start, n, c)
            for i in range(start, stop):
                total += vector[indices[i]] * (data[i] - shift)
            out[m, k] = total - (c - shift) * sums[m]


@summing_kernel
def measure_sparse(
    data, indices, indptr, first, weights, counted, intercept, center, scale, peak
):
    """Mean, root mean square about it, 0 if constant, and largest distance from it.

    As measure_columns; `counted` is the number of rows of positive weight. Rows that
    are not stored are zeros, all at the same distance from the mean.
    """
    everything = 0.0
    for i in range(weights.size):
        everything += weights[i]
    for k in range(center.size):
        start, stop = indptr[first + k], indptr[first + k + 1]
        mean, stored, here = 0.0, 0.0, 0
        for i in range(start, stop):
            stored += weights[indices[i]]
            here += weights[indices[i]] > 0.0
        absent = max(everything - stored, 0.0) if here < counted else 0.0
        if intercept:
            for i in range(start, stop):
                mean += weights[indices[i]] * data[i]
            shift = -absent * mean
            for i in range(start, stop):
                shift += weights[indices[i]] * (data[i] - mean)
            mean += shift
        low, high = (0.0, 0.0) if here < counted else (np.inf, -np.inf)
        for i in range(start, stop):
            if weights[indices[i]] > 0.0:
                entry = float(data[i])
                low, high = min(low, entry), max(high, entry)
        top = farthest_from(mean, low, high, intercept)
        total, rest = 0.0, 0.0
        if top > 0.0:
            total, rest = absent * (mean / top) ** 2, -absent * (mean / top)
            for i in range(start, stop):
                if weights[indices[i]] > 0.0:
                    far = (data[i] - mean) / top
                    total += weights[indices[i]] * far**2
                    rest += weights[indices[i]] * far
        if intercept:
            total = max(total - rest**2, 0.0)
        center[k], scale[k], peak[k] = mean, top * math.sqrt(total), top


@kernel
def first_from(indices, start, stop, row):
    """The first place from `start` up to `stop` that holds this row or a later one."""
    while start < stop:
        middle = (start + stop) // 2
        if indices[middle] < row:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def subtract_sparse(data, indices, indptr, n, features, center, steps, top, out):
    """Take (X_A - center_A) steps, from row `top` on, from out."""
    lift, end = 0.0, top + out.size
    for k in range(features.size):
        j, step = features[k], steps[k]
        start, stop = indptr[j], indptr[j + 1]
        shift = entry_shift(stop - start, n, center[j])
        lift += step * (center[j] - shift)
        i = first_from(indices, start, stop, top)
        while i < stop and indices[i] < end:
            out[indices[i] - top] -= step * (data[i] - shift)
            i += 1
    for i in range(out.size):
        out[i] += lift


@kernel
def gather_rows(
    data, indices, indptr, n, features, center, top, end, place, first, who, what
):
    """Rows `top` up to `end` of some columns, row after row.

    place[k] is where column features[k] goes on; it moves along. The entries of row
    top + i are first[i] up to first[i + 1] of `who`, positions in features, and `what`,
    which are returned, larger ones if they had no room.
    """
    height = end - top
    for i in range(height + 1):
        first[i] = 0
    for k in range(features.size):
        stop = indptr[features[k] + 1]
        i = place[k]
        while i < stop and indices[i] < end:
            first[indices[i] - top] += 1
            i += 1
    total = 0
    for i in range(height + 1):
        first[i], total = total, total + first[i]
    if total > who.size:
        who, what = np.empty(2 * total, dtype=np.uint32), np.empty(2 * total)
    for k in range(features.size):
        start, stop = indptr[features[k]], indptr[features[k] + 1]
        shift = entry_shift(stop - start, n, center[features[k]])
        i = place[k]
        while i < stop and indices[i] < end:
            row = np.int64(indices[i]) - top
            who[first[row]], what[first[row]] = k, data[i] - shift
            first[row] += 1
            i += 1
        place[k] = i
    for i in range(height, 0, -1):  # each row's end is the next one's beginning
        first[i] = first[i - 1]
    first[0] = 0
    return who, what


@kernel
def sparse_products(
    data, indices, indptr, rows, columns, twin, weights, center, top, bottom, out
):
    """Add the weighted products of entries of columns, from row `top` up to `bottom`
    of X, to out, |rows| x |columns|.

    Row by row of X: two columns meet only where both have an entry, and that is all
    it costs. From `twin` on, rows are the columns again, if there are so many; of their
    products with each other, only those up to the diagonal are added.
    """
    n = weights.size
    left_place = np.empty(rows.size, dtype=np.int64)
    right_place = np.empty(columns.size, dtype=np.int64)
    for k in range(rows.size):
        j = rows[k]
        left_place[k] = first_from(indices, indptr[j], indptr[j + 1], top)
    for k in range(columns.size):
        j = columns[k]
        right_place[k] = first_from(indices, indptr[j], indptr[j + 1], top)
    left_first = np.empty(ROWS_AT_ONCE + 1, dtype=np.int64)
    right_first = np.empty(ROWS_AT_ONCE + 1, dtype=np.int64)
    left_who, left_what = np.empty(0, dtype=np.uint32), np.empty(0)
    right_who, right_what = np.empty(0, dtype=np.uint32), np.empty(0)
    for head in range(top, bottom, ROWS_AT_ONCE):
        end = min(head + ROWS_AT_ONCE, bottom)
        left_who, left_what = gather_rows(
            data, indices, indptr, n, rows, center, head, end, left_place, left_first,
            left_who, left_what,
        )
        right_who, right_what = gather_rows(
            data, indices, indptr, n, columns, center, head, end, right_place,
            right_first, right_who, right_what,
        )
        for i in range(end - head):
            start, stop = right_first[i], right_first[i + 1]
            ahead = left_first[i + 1] - stop  # of an entry's place on the right
            for a in range(left_first[i], left_first[i + 1]):
                share, line = weights[head + i] * left_what[a], out[left_who[a]]
                last = a - ahead + 1 if left_who[a] >= twin else stop
                for b in range(start, last):
                    line[right_who[b]] += share * right_what[b]


@kernel
def visit_sparse_column(
    data, rows, weights, center, scale, total, lift, penalty, l1, v, l2, beta, residual
):
    """Update one coordinate with the residual at hand, which is residual + lift.

    `total` is the weighted sum of the residual. Modified in place: residual. Returns
    the new coefficient, the new lift and the violation met.
    """
    shift = entry_shift(rows.size, residual.size, center)
    u = 0.0
    for i in range(rows.size):
        u += weights[rows[i]] * (residual[rows[i]] + lift) * (data[i] - shift)
    u = (u - (center - shift) * total) / scale - l2 * beta
    met = violation(penalty, beta, u, l1)
    if met == 0.0:
        return beta, lift, met
    new = threshold(penalty, u + v * beta, v, l1, beta)
    step = (new - beta) / scale
    if step != 0.0:
        for i in range(rows.size):
            residual[rows[i]] -= step * (data[i] - shift)
        lift += step * (center - shift)
    return new, lift, met


@kernel
def descend_sparse(
    data, indices, indptr, weights, center, scale, features, penalty, l1, v, l2, beta,
    residual, target, cyclic, max_epochs, pace,
):
    """As descend_residual, on sparse columns: a coordinate costs what its column holds.

    A step along a centred column moves every row by the same amount but those stored.
    That amount is kept as one number, and the weighted sum of the residual, which such
    a step leaves as it is, as another.
    """
    total = lift = 0.0
    for i in range(residual.size):
        total += weights[i] * residual[i]
    epochs = 0
    while epochs < max_epochs and pace[3] == 0.0:
        epochs += 1
        worst = 0.0
        for k in range(features.size):
            if pace[2] == 1.0 and beta[k] == 0.0:
                continue
            j = features[k]
            column = slice(indptr[j], indptr[j + 1])
            beta[k], lift, met = visit_sparse_column(
                data[column], indices[column], weights, center[j], scale[j], total,
                lift, penalty, l1[k], v[k], l2[k], beta[k], residual,
            )
            worst = larger(worst, met)
        keep_pace(pace, worst, target, cyclic)
    for i in range(residual.size):
        residual[i] += lift
    return epochs
