"""Newton steps on the nonzero coordinates, with a Cholesky factor that is kept.

When support, signs and pieces of the penalty have settled, the stationary point solves
(G + diag(r'' + l2)) d = q - sign(beta) r' on the support: exactly for penalties in
quadratic pieces.
"""

import math

import numpy as np

from .options import helper, inlined, summing_helper
from .penalty import curvature, larger, share_to_edge, slope, value
from .records import HAS_RAISED, N_ROWS, N_STALE

# Newton steps without sweeps in between, each on the support the last one left. On
# strongly correlated columns sweeps undo what few of them have reached.
MOST_IN_A_ROW = 100
# Lengths of a step that are tried before it is refused.
ATTEMPTS = 4
# A pivot below this share of its coordinate's curvature is none: the coordinate is then
# treated as if its penalty were a line, and as having this share at least. The larger
# ones are for steps that run away.
FLOORS = (1e-12, 1e-9, 1e-6)
# A diagonal that has moved less than this share of the curvature is left as it is in
# the factor: Newton steps then converge at that rate, and cost no factorization.
STALE = 0.05
# A step that multiplies the coefficients by this may follow rounding, not curvature; it
# is shortened to this if larger pivots do not do it.
LEAP = 1e3
# Rows that are added to the factor together.
ADDED_TOGETHER = 4
EPS = np.finfo(np.float64).eps
# A rise of the objective by this share of the penalty is none.
NO_RISE = 4 * EPS


@helper
def subtract_row(gram, j, size, v, change, q):
    """What a change of coordinate j does to q of the first `size` coordinates."""
    row = gram[j]
    for k in range(size):
        q[k] -= change * row[k]
    q[j] -= change * (v[j] - row[j])  # the ridge part


@summing_helper
def head_dot(a, b, size):
    """The inner product of the first `size` entries."""
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@helper
def drop_row(cholesky, i):
    """Take row and column i out of the matrix that is factored."""
    lower, size = cholesky.lower, cholesky.size[N_ROWS]
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
        cholesky.slots[r - 1] = cholesky.slots[r]
        cholesky.diagonal[r - 1] = cholesky.diagonal[r]
        cholesky.left[r - 1] = cholesky.left[r]
    cholesky.size[N_ROWS] = size - 1


@summing_helper
def begin_rows(lower, size, gram, member):
    """The first `size` entries of the next four rows of the factor, or of fewer: what
    is read of the factor serves all of them."""
    last = member.size - 1
    kb, kc, kd = min(size + 1, last), min(size + 2, last), min(size + 3, last)
    a, b, c, d = lower[size], lower[kb], lower[kc], lower[kd]
    ga, gb = gram[member[size]], gram[member[kb]]
    gc, gd = gram[member[kc]], gram[member[kd]]
    for i in range(size):
        row, j = lower[i], member[i]
        ta = tb = tc = td = 0.0
        for k in range(i):
            ta += row[k] * a[k]
            tb += row[k] * b[k]
            tc += row[k] * c[k]
            td += row[k] * d[k]
        a[i], b[i] = (ga[j] - ta) / row[i], (gb[j] - tb) / row[i]
        c[i], d[i] = (gc[j] - tc) / row[i], (gd[j] - td) / row[i]


@helper
def add_row(cholesky, begun, products, member, slot, diagonal, ceiling, floor):
    """Let one more coordinate into the factor, whose row is begun up to `begun`.

    `products` are those of the coordinate with all, member[i] is that of row i. Where
    its diagonal would not leave the matrix positive definite, that of a straight
    penalty, `ceiling`, stands in for it: a majorant.
    """
    lower, size = cholesky.lower, cholesky.size[N_ROWS]
    row, taken = lower[size], 0.0
    for i in range(size):
        if i >= begun:
            left = products[member[i]] - head_dot(lower[i], row, i)
            row[i] = left / lower[i, i]
        taken += row[i] * row[i]
    left = diagonal - taken
    cholesky.left[size] = left / ceiling
    if not left > floor * ceiling:
        left, cholesky.left[size] = max(ceiling - taken, floor * ceiling), 0.0
        cholesky.size[HAS_RAISED] = 1
    lower[size, size] = math.sqrt(left)
    cholesky.slots[size], cholesky.diagonal[size] = slot, diagonal
    cholesky.size[N_ROWS] = size + 1


@inlined
def drop_rows(cholesky, coordinate, diagonal, ceiling):
    """Take out of the factor what has left the support, or has another diagonal.

    coordinate[slot] is the place in the support, or -1.
    """
    leaving = np.empty(cholesky.size[N_ROWS], dtype=np.bool_)
    first = count = stale = 0
    for i in range(cholesky.size[N_ROWS] - 1, -1, -1):
        k = coordinate[cholesky.slots[i]]
        stays = k >= 0
        if stays:
            off = abs(cholesky.diagonal[i] - diagonal[k])
            # A straight penalty's raised pivot stays; a concave one's may come right.
            right = cholesky.left[i] > 0.0 or (off == 0.0 and diagonal[k] == ceiling[k])
            stays = right and off <= STALE * ceiling[k]
            stale += stays and off > 0.0
        leaving[i] = not stays
        if not stays:
            first = i
            count += 1
    if count > 10 + cholesky.size[N_ROWS] // 40:
        cholesky.size[N_ROWS] = first  # so many that it is cheaper to begin there again
    for i in range(cholesky.size[N_ROWS] - 1, -1, -1):
        if leaving[i]:
            drop_row(cholesky, i)
    cholesky.size[N_STALE] = stale


@helper
def keep_sound(cholesky, floor):
    """Rows of the factor before the first with a pivot that this floor would raise, or
    that was raised; none where diagonals may be stale."""
    size = cholesky.size[N_ROWS] if cholesky.size[N_STALE] == 0 else 0
    for i in range(size):
        if not cholesky.left[i] > floor:
            size = i
            break
    cholesky.size[N_ROWS] = size


@inlined
def refactor(cholesky, gram, slots, support, diagonal, ceiling, floor, place):
    """Make the factor that of the support, by dropping and adding rows.

    diagonal[k], ceiling[k] belong to support[k]; place[k] becomes its row.
    """
    top = 0
    for i in range(cholesky.size[N_ROWS]):
        top = max(top, cholesky.slots[i])
    for k in range(support.size):
        top = max(top, slots[support[k]])
    coordinate = np.empty(top + 1, dtype=np.int64)  # by slot
    for i in range(top + 1):
        coordinate[i] = -1
    for k in range(support.size):
        coordinate[slots[support[k]]], place[k] = k, -1
    drop_rows(cholesky, coordinate, diagonal, ceiling)
    member = np.empty(support.size, dtype=np.int64)  # by row
    for i in range(cholesky.size[N_ROWS]):
        k = coordinate[cholesky.slots[i]]
        place[k], member[i] = i, support[k]
    size = begun = cholesky.size[N_ROWS]
    for k in range(support.size):
        if place[k] < 0:
            place[k], member[size] = size, support[k]
            size += 1
    for i in range(begun, size):
        j = member[i]
        k = coordinate[slots[j]]
        if i == begun or i == begun + ADDED_TOGETHER:
            begun = i
            begin_rows(cholesky.lower, i, gram, member)
        add_row(
            cholesky, begun, gram[j], member, slots[j], diagonal[k], ceiling[k], floor
        )


@helper
def solve_factored(cholesky, z):
    """Solve the factored system; z becomes the solution."""
    lower = cholesky.lower
    for i in range(z.size):
        z[i] = (z[i] - head_dot(lower[i], z, i)) / lower[i, i]
    for i in range(z.size - 1, -1, -1):
        z[i] /= lower[i, i]
        for k in range(i):
            z[k] -= lower[i, k] * z[i]


@inlined
def newton_direction(r, gram, size, penalty, cholesky, straight, first, direction):
    """Where the stationary point of the nonzero coordinates lies, as things stand.

    If `straight`, as if the penalty were its tangents. Sets `direction`, zero for the
    others. Returns whether there is one, and which of the floors it took, from `first`
    on.
    """
    count, largest = 0, 0.0
    support, place = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    diagonal, ceiling = np.empty(size), np.empty(size)
    right, z = np.empty(size), np.empty(size)
    for j in range(size):
        direction[j] = 0.0
        a = abs(r.beta[j])
        if a > 0.0:
            support[count], ceiling[count] = j, r.v[j]
            bend = 0.0 if straight else curvature(penalty, a, r.l1[j])
            diagonal[count] = r.v[j] + bend
            tangent = math.copysign(slope(penalty, a, r.l1[j]), r.beta[j])
            right[count] = r.q[j] - tangent
            largest = max(largest, a)
            count += 1
    if count == 0 or count > cholesky.slots.size:
        return False, first
    support, z, longest = support[:count], z[:count], 0.0
    for level in range(first, len(FLOORS)):
        refactor(
            cholesky, gram, r.slots, support, diagonal, ceiling, FLOORS[level], place
        )
        longest = 0.0
        for k in range(count):
            z[place[k]] = right[k]
        solve_factored(cholesky, z)
        for k in range(count):
            direction[support[k]] = z[place[k]]
            longest = larger(longest, abs(z[k]))
        if longest <= LEAP * largest:
            return True, level
        keep_sound(cholesky, FLOORS[(level + 1) % len(FLOORS)])
    # A direction this much longer than what there is has no right digit.
    if not longest <= largest / EPS:
        return False, first
    for j in range(size):
        direction[j] *= LEAP * largest / longest
    return True, len(FLOORS) - 1


@inlined
def step_along(r, gram, size, penalty, direction, farthest):
    """Move the first `size` coordinates along a direction, if the objective falls.

    The full step, held at zero where a sign would change; or else the step up to the
    first sign change or piece boundary; or else a fraction of it. No coordinate may go
    beyond `farthest`. Modified in place: their beta and q. Returns whether a step was
    taken, and whether it changed support or pieces.
    """
    beta, new, new_q = r.beta, np.empty(size), np.empty(size)
    edge = 1.0
    for j in range(size):
        inward = direction[j] if beta[j] > 0.0 else -direction[j]
        edge = min(edge, share_to_edge(penalty, abs(beta[j]), inward, r.l1[j]))
    part = 1.0
    for _ in range(ATTEMPTS):
        crosses = part == edge and edge < 1.0
        for j in range(size):
            new[j], new_q[j] = beta[j] + part * direction[j], r.q[j]
            if new[j] * beta[j] <= 0.0 and beta[j] != 0.0:
                new[j], crosses = 0.0, True
        height = rise = far = 0.0
        for j in range(size):
            if new[j] != beta[j]:
                subtract_row(gram, j, size, r.v, new[j] - beta[j], new_q)
        # The smooth part changes by -change' (q + new_q) / 2.
        for j in range(size):
            before = value(penalty, abs(beta[j]), r.l1[j])
            height += before
            rise += value(penalty, abs(new[j]), r.l1[j]) - before
            rise -= 0.5 * (new[j] - beta[j]) * (r.q[j] + new_q[j])
            far = larger(far, math.sqrt(r.v[j]) * abs(new[j]))
        if rise <= NO_RISE * height and far <= farthest:
            for j in range(size):
                beta[j], r.q[j] = new[j], new_q[j]
            return True, crosses
        part = edge if part > edge else 0.25 * part
    return False, False


@helper
def newton_steps(r, gram, size, penalty, cholesky, farthest, stuck):
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
            r, gram, size, penalty, cholesky, straight, level, direction
        )
        taken = crossed = False
        if found:
            taken, crossed = step_along(r, gram, size, penalty, direction, farthest)
        steps += taken
        if not taken:
            keep_sound(cholesky, FLOORS[0])
            if straight or not stuck:
                return steps
            straight, level = np.bool_(True), np.int64(0)
        elif not crossed:
            return steps
    return steps
