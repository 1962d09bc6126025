"""Colours of the pictures, on a light background and on a dark one."""

import numpy as np

# Okabe and Ito's colours with two of Tol's, distinguishable with any kind of colour
# vision: simulated, no two are nearer (CIE76) than 16 on white, 14 on black.
HUES = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
    "#882255", "#332288",
)
BRIGHT = (
    "#2F8FDD", "#E8641B", "#17B287", "#DE95BE", "#E69F00", "#7CCBF5", "#FFFFFF",
    "#C24C84", "#F0E442",
)
LUMA = (0.299, 0.587, 0.114)  # what the eye makes of red, green and blue

# Shares of ink in what stands behind the lines, from faint to plain.
REGION, QUIET, LINE, WORDS = 0.1, 0.3, 0.6, 0.8


def colours(ax, features):
    """One colour per feature, the same for the same features in every picture.

    Each has a colour of its own by its column; where two of them agree, the later one
    takes the next that is free, as long as there is one.
    """
    hues = BRIGHT if is_dark(background(ax)) else HUES
    size, taken, chosen = len(hues), set(), {}
    for j in np.sort(features):
        taken = taken if len(taken) < size else set()
        chosen[j] = next(k % size for k in range(j, j + size) if k % size not in taken)
        taken.add(chosen[j])
    return [hues[chosen[j]] for j in features]


def tone(ax, share):
    """The background of the axes with a share of ink, which is black or white.

    The eye tells dark greys apart less well than light ones: on dark axes the share
    grows.
    """
    back = background(ax)
    dark = is_dark(back)
    ink, share = np.full(3, float(dark)), share * (1.6 - 0.6 * share if dark else 1)
    return tuple((1 - share) * back + share * ink)


def background(ax):
    """Red, green and blue behind the axes, seen through what is transparent."""
    from matplotlib.colors import to_rgba

    seen = np.ones(3)
    for surface in (ax.figure.figure, ax.figure, ax):
        *colour, opacity = to_rgba(surface.get_facecolor())
        seen = (1 - opacity) * seen + opacity * np.array(colour)
    return seen


def is_dark(colour):
    """Whether white can be read on a colour better than black."""
    return np.dot(colour, LUMA) < 0.5
