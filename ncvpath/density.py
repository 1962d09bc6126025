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
    edges = np.zeros((rows + 1, columns))
    to_row = rows / (high - low)
    zero = -low * to_row
    right = dense_column(heights, 0, to_row, zero)
    for k in range(share.size - 1):
        left, right = right, dense_column(heights, k + 1, to_row, zero)
        used = np.flatnonzero((left != zero) | (right != zero))
        start, rise = left[used], right[used] - left[used]
        for column, near, far in pixels(columns * share[k], columns * share[k + 1]):
            ends = np.array([start + near * rise, start + far * rise])
            cells = ends.astype(np.int32).clip(0, rows - 1)
            edges[:, column] += np.bincount(cells.min(axis=0), minlength=rows + 1)
            edges[:, column] -= np.bincount(cells.max(axis=0) + 1, minlength=rows + 1)
    return np.cumsum(edges, axis=0)[:-1]


def dense_column(heights, k, to_row, zero):
    """Column k of the heights, in rows of pixels."""
    column = np.full(heights.shape[0], zero)
    low, high = heights.indptr[k : k + 2]
    column[heights.indices[low:high]] += to_row * heights.data[low:high]
    return column


def pixels(here, there):
    """The columns of pixels between two places, and the shares at their sides.

    Lines may turn back where the norm or the deviance does.
    """
    low, high = min(here, there), max(here, there)
    length = (there - here) or 1.0
    for column in range(int(low), min(int(np.ceil(high)), SHAPE[1])):
        sides = np.array([max(column, low), min(column + 1, high)])
        near, far = (sides - here) / length
        yield column, near, far
