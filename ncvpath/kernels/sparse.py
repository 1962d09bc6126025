"""Sparse columns: only what is not zero.

A column with implicit zeros is centred in the sums, by what its mean adds to them; one
that is stored in full, whose mean may be any number of deviations from zero, entry by
entry, as a dense one is. `shift` is what is taken from an entry, `center - shift` what
is left to the sums. Rows come as unsigned numbers: those need no look at their sign
before every use, which takes a third of the time.
"""

import math

import numpy as np

from .options import helper, kernel, summing_kernel
from .penalty import larger
from .shared import farthest_from, note_sweep, update

# Rows of sparse columns that are turned from columns into rows together: few enough
# for the rows to stay in cache, many enough to make going through the columns worth it.
ROWS_AT_ONCE = 4096
# The share of all weight below which that of rows that are not stored is added up: as a
# difference it would have too few digits.
SMALL_SHARE = 1e-3


@helper
def entry_shift(count, n, center):
    """What is taken from the entries of a column of `count` of them."""
    return center if count == n else 0.0


@helper
def weight_of_zeros(indices, start, stop, weights, total, stored):
    """What the rows weigh that a column does not store; all rows weigh `total`, those
    that are stored `stored`."""
    if total - stored > SMALL_SHARE * total:
        return total - stored
    left, i = 0.0, start
    for row in range(weights.size):
        if i < stop and indices[i] == row:
            i += 1
        else:
            left += weights[row]
    return left


@kernel
def sparse_dots(columns, features, first, last, vectors, sums, out):
    """Set out[m, k] = <vector m, x_j>, j = features[k], k from `first` up to `last`.

    vectors[i] has row i of all vectors, which an entry finds together; sums[m] is the
    sum of vector m. The bits of a product do not depend on its company.
    """
    data, indices, indptr, center, scale = columns
    n, count = vectors.shape
    totals = np.empty(count)
    for k in range(first, last):
        j = features[k]
        start, stop = indptr[j], indptr[j + 1]
        shift = entry_shift(stop - start, n, center[j])
        for m in range(count):
            totals[m] = 0.0
        for i in range(start, stop):
            entry, row = data[i] - shift, vectors[indices[i]]
            for m in range(count):
                totals[m] += entry * row[m]
        for m in range(count):
            out[m, k] = (totals[m] - (center[j] - shift) * sums[m]) / scale[j]


@kernel
def sparse_moments(columns, features, first, last, weights, sum_weights, out):
    """As dense_moments, on sparse columns."""
    data, indices, indptr, center, scale = columns
    for k in range(first, last):
        j = features[k]
        start, stop, c = indptr[j], indptr[j + 1], center[j]
        total = square = stored = 0.0
        for i in range(start, stop):
            w, far = weights[indices[i]], data[i] - c
            stored += w
            total += w * far
            square += w * far * far
        if stop - start < weights.size:  # the rest are zeros
            absent = weight_of_zeros(indices, start, stop, weights, sum_weights, stored)
            total -= absent * c
            square += absent * c * c
        out[0, k], out[1, k] = total / scale[j], square / scale[j] / scale[j]


@summing_kernel
def measure_sparse(
    entries, first, weights, counted, intercept, center, scale, peak
):
    """Mean, root mean square about it, 0 if constant, and largest distance from it.

    As measure_columns; `entries` are data, indices and indptr, `counted` is the number
    of rows of positive weight. Rows that are not stored are zeros, all at the same
    distance from the mean.
    """
    data, indices, indptr = entries
    everything = 0.0
    for i in range(weights.size):
        everything += weights[i]
    for k in range(center.size):
        start, stop = indptr[first + k], indptr[first + k + 1]
        mean, stored, here = 0.0, 0.0, 0
        for i in range(start, stop):
            stored += weights[indices[i]]
            here += weights[indices[i]] > 0.0
        absent = 0.0
        if here < counted:
            absent = weight_of_zeros(indices, start, stop, weights, everything, stored)
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


@helper
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
def add_sparse(columns, n, features, beta, top, out):
    """Add X_A beta[m], from row `top` on, to out[m], for each row of beta."""
    data, indices, indptr, center, scale = columns
    end = top + out.shape[1]
    for m in range(beta.shape[0]):
        fall, row = 0.0, out[m]
        for k in range(features.size):
            j = features[k]
            step = beta[m, k] / scale[j]
            if step == 0.0:
                continue
            start, stop = indptr[j], indptr[j + 1]
            shift = entry_shift(stop - start, n, center[j])
            fall += step * (center[j] - shift)
            i = first_from(indices, start, stop, top)
            while i < stop and indices[i] < end:
                row[indices[i] - top] += step * (data[i] - shift)
                i += 1
        for i in range(row.size):
            row[i] -= fall


@helper
def gather_rows(columns, n, features, top, end, place, first, who, what):
    """Rows `top` up to `end` of some columns, row after row.

    place[k] is where column features[k] goes on; it moves along. The entries of row
    top + i are first[i] up to first[i + 1] of `who`, positions in features, and `what`,
    which are returned, larger ones if they had no room.
    """
    data, indices, indptr, center, _ = columns
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
def sparse_products(columns, rows, others, twin, weights, top, bottom, out):
    """Add the weighted products of entries of columns, from row `top` up to `bottom`
    of X, to out, |rows| x |others|.

    Row by row of X: two columns meet only where both have an entry, and that is all
    it costs. From `twin` on, rows are the others again, if there are so many; of their
    products with each other, only those up to the diagonal are added.
    """
    indices, indptr = columns.indices, columns.indptr
    n = weights.size
    left_place = np.empty(rows.size, dtype=np.int64)
    right_place = np.empty(others.size, dtype=np.int64)
    for k in range(rows.size):
        j = rows[k]
        left_place[k] = first_from(indices, indptr[j], indptr[j + 1], top)
    for k in range(others.size):
        j = others[k]
        right_place[k] = first_from(indices, indptr[j], indptr[j + 1], top)
    left_first = np.empty(ROWS_AT_ONCE + 1, dtype=np.int64)
    right_first = np.empty(ROWS_AT_ONCE + 1, dtype=np.int64)
    left_who, left_what = np.empty(0, dtype=np.uint32), np.empty(0)
    right_who, right_what = np.empty(0, dtype=np.uint32), np.empty(0)
    for head in range(top, bottom, ROWS_AT_ONCE):
        end = min(head + ROWS_AT_ONCE, bottom)
        left_who, left_what = gather_rows(
            columns, n, rows, head, end, left_place, left_first, left_who, left_what
        )
        right_who, right_what = gather_rows(
            columns, n, others, head, end, right_place, right_first, right_who,
            right_what,
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
def descend_sparse(columns, weights, features, penalty, r, l2, residual, sweeps, state):
    """As descend_dense, on sparse columns: a coordinate costs what its column holds.

    A step along a centred column moves every row by the same amount but those stored.
    That amount is kept as one number, and the weighted sum of the residual, which such
    a step leaves as it is, as another.
    """
    data, indices, indptr, center, scale = columns
    total = lift = 0.0
    for i in range(residual.size):
        total += weights[i] * residual[i]
    epochs = 0
    while epochs < sweeps.max_epochs and state[3] == 0.0:
        epochs += 1
        worst = 0.0
        for k in range(features.size):
            if state[2] == 1.0 and r.beta[k] == 0.0:
                continue
            j = features[k]
            start, stop = indptr[j], indptr[j + 1]
            shift = entry_shift(stop - start, residual.size, center[j])
            u = 0.0
            for i in range(start, stop):
                here = residual[indices[i]] + lift
                u += weights[indices[i]] * here * (data[i] - shift)
            u = (u - (center[j] - shift) * total) / scale[j]
            change, met = update(penalty, r, k, u - l2[k] * r.beta[k])
            worst, step = larger(worst, met), change / scale[j]
            if step != 0.0:
                for i in range(start, stop):
                    residual[indices[i]] -= step * (data[i] - shift)
                lift += step * (center[j] - shift)
        note_sweep(state, worst, sweeps)
    for i in range(residual.size):
        residual[i] += lift
    return epochs
