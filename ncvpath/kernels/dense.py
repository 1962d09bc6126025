"""Dense columns: one after another in one long array, of any type of number.

Entries are centred before they are multiplied, which keeps all digits when a column's
mean is far from zero.
"""

import math

import numpy as np

from .options import kernel, summing_helper, summing_kernel
from .penalty import larger
from .shared import farthest_from, note_sweep, update

# The share of a column's square that must be left for the rest to be derived from it.
ENOUGH_LEFT = 0.01


@summing_kernel
def dense_dots(X, scaling, features, first, last, vectors, out):
    """Set out[m, k] = <vectors[m], x_j>, j = features[k], k from `first` up to `last`.

    Four columns and four vectors at a time, so that a number that was read serves four
    products. Where fewer are left, the last one is taken several times: the bits of a
    product do not depend on its company. (Other loops for one vector alone would be
    faster, but numba's older compilers add up in another order there.)
    """
    center, scale = scaling
    count, n = vectors.shape
    for k in range(first, last, 4):
        end = last - 1
        kb, kc, kd = min(k + 1, end), min(k + 2, end), min(k + 3, end)
        a, b, c, d = features[k], features[kb], features[kc], features[kd]
        xa, ca = X[a * n : (a + 1) * n], center[a]
        xb, cb = X[b * n : (b + 1) * n], center[b]
        xc, cc = X[c * n : (c + 1) * n], center[c]
        xd, cd = X[d * n : (d + 1) * n], center[d]
        for m in range(0, count, 4):
            end = count - 1
            m1, m2, m3 = min(m + 1, end), min(m + 2, end), min(m + 3, end)
            v0, v1, v2, v3 = vectors[m], vectors[m1], vectors[m2], vectors[m3]
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
    for m in range(count):
        for k in range(first, last):
            out[m, k] /= scale[features[k]]


@summing_kernel
def dense_moments(X, scaling, features, first, last, weights, out):
    """Set out[0, k], out[1, k] = weights @ x_j, weights @ x_j^2, j = features[k]."""
    center, scale = scaling
    n = weights.size
    for k in range(first, last):
        j = features[k]
        column, c, total, square = X[j * n : (j + 1) * n], center[j], 0.0, 0.0
        for i in range(n):
            far = column[i] - c
            total += weights[i] * far
            square += weights[i] * far * far
        out[0, k], out[1, k] = total / scale[j], square / scale[j] / scale[j]


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
def copy_columns(X, scaling, features, top, out):
    """Write the standardized columns, from row `top` on, to the rows of out."""
    center, scale = scaling
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
def add_dense(X, scaling, features, beta, top, out):
    """Add X_A beta[m], from row `top` on, to out[m], for each row of beta."""
    center, scale = scaling
    n = X.size // center.size
    for k in range(features.size):
        j = features[k]
        column, c = X[j * n + top : j * n + top + out.shape[1]], center[j]
        for m in range(beta.shape[0]):
            step, row = beta[m, k] / scale[j], out[m]
            if step != 0.0:
                for i in range(column.size):
                    row[i] += step * (column[i] - c)


@summing_helper
def centred_dot(column, center, weights, residual):
    """Weights @ (residual * (column - center))."""
    total = 0.0
    for i in range(residual.size):
        total += weights[i] * residual[i] * (column[i] - center)
    return total


@kernel
def descend_dense(
    X, scaling, weights, features, penalty, r, l2, residual, sweeps, state
):
    """Coordinate descent on the working set with residual updates, no Gram matrix.

    `features` are the columns of the coordinates in `r`. Modified in place: r.beta,
    residual, and `state`, from which the sweeps go on (shared.py). Returns the number
    of sweeps; unless they ran out or led nowhere, the last one met no violation above
    the target.
    """
    center, scale = scaling
    n, epochs = residual.size, 0
    while epochs < sweeps.max_epochs and state[3] == 0.0:
        epochs += 1
        worst = 0.0
        for k in range(features.size):
            if state[2] == 1.0 and r.beta[k] == 0.0:
                continue
            j = features[k]
            column, c = X[j * n : (j + 1) * n], center[j]
            u = centred_dot(column, c, weights, residual) / scale[j]
            change, met = update(penalty, r, k, u - l2[k] * r.beta[k])
            worst, step = larger(worst, met), change / scale[j]
            if step != 0.0:
                for i in range(n):
                    residual[i] -= step * (column[i] - c)
        note_sweep(state, worst, sweeps)
    return epochs
