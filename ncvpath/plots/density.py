"""Thousands of lines as one image: how many of them pass each pixel.

Stroking ten million segments takes a drawing library ten seconds; counting them takes
less than one.
"""

import numpy as np

SHAPE = (480, 720)  # pixels, about those of axes in a figure of usual size
FAINTEST = 0.3  # opacity of a single line


def draw_density(ax, x, heights, low, high, colour, opacity, zorder):
    """An image of the lines, behind the axes' data; x are where they have corners.

    Parameters
    ----------
    x : (L,) within the limits of the axes
    heights : csc_array, lines x L
    low, high : the range of the heights
    """
    from matplotlib.colors import to_rgb

    scale = ax.xaxis.get_transform()
    left, right = scale.transform(np.array(ax.get_xlim()))
    share = (scale.transform(x) - left) / (right - left)
    counts = line_counts(share, heights, low, high)
    image = np.empty((*SHAPE, 4), dtype=np.float32)
    image[..., :3] = to_rgb(colour)
    image[..., 3] = opacity * opacities(counts)
    # The corners are given in data: between them the image is linear on the page, as
    # the shares are, on a log axis, too.
    ax.imshow(
        image, extent=(*ax.get_xlim(), low, high), origin="lower", aspect="auto",
        zorder=zorder,
    )


def opacities(counts):
    """Lines to opacity: none is clear, one can be seen, and more grow by the log."""
    grown = np.log(np.maximum(counts, 1)) / np.log(max(counts.max(), 2))
    return np.where(counts > 0, FAINTEST + (1 - FAINTEST) * grown, 0.0)


def line_counts(share, heights, low, high):
    """Lines through each pixel; those at zero at both ends of a segment are left out.

    In each column of pixels a line covers the rows between its heights at the two
    sides: +1 below them and -1 above, to be summed upwards.
    """
    rows, columns = SHAPE
    edges = np.zeros((columns, rows + 1))
    to_row = rows / (high - low)
    zero = np.float32(-low * to_row)
    right = dense_column(heights, 0, to_row, zero)
    for k in range(share.size - 1):
        left, right = right, dense_column(heights, k + 1, to_row, zero)
        used = np.flatnonzero((left != zero) | (right != zero))
        start = left[used]
        rise, there = right[used] - start, as_rows(start)
        for column, far in pixels(columns * share[k], columns * share[k + 1]):
            here, there = there, as_rows(start + np.float32(far) * rise)
            first, last = np.minimum(here, there), np.maximum(here, there)
            edges[column] += np.bincount(first, minlength=rows + 1)
            edges[column, 1:] -= np.bincount(last, minlength=rows)
    return np.cumsum(edges, axis=1)[:, :-1].T


def as_rows(heights):
    """The rows of pixels that heights, counted in rows, are in."""
    return heights.astype(np.intp).clip(0, SHAPE[0] - 1)


def dense_column(heights, k, to_row, zero):
    """Column k of the heights, in rows of pixels."""
    column = np.full(heights.shape[0], zero)
    low, high = heights.indptr[k : k + 2]
    column[heights.indices[low:high]] += to_row * heights.data[low:high]
    return column


def pixels(here, there):
    """The columns of pixels from here to there, and the share at which each is left.

    Lines may turn back where the norm or the deviance does, or stay.
    """
    if here == there:
        return [(min(int(here), SHAPE[1] - 1), 1.0)]
    low, high = min(here, there), max(here, there)
    columns = range(int(low), min(int(np.ceil(high)), SHAPE[1]))
    if there < here:
        return [(c, (max(c, low) - here) / (there - here)) for c in reversed(columns)]
    return [(c, (min(c + 1, high) - here) / (there - here)) for c in columns]
