"""Colours of the pictures, on a light background and on a dark one."""

import numpy as np

# Okabe and Ito's colours, distinguishable with any kind of colour vision; the seventh
# is black, or white on a dark background.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# Their blue and green lie too near to black.
BRIGHT = ("#3D9BE9", "#F07A2B", "#1FBF92", "#DE95BE", "#E69F00", "#7CCBF5")
LUMA = (0.299, 0.587, 0.114)  # what the eye makes of red, green and blue

# Shares of ink in what stands behind the lines, from faint to plain.
REGION, QUIET, LINE, WORDS = 0.1, 0.3, 0.6, 0.8


def colours(ax, features):
    """One colour per feature, the same in every picture of the same columns."""
    bright = is_dark(background(ax))
    hues = (*(BRIGHT if bright else HUES), "#FFFFFF" if bright else "#000000")
    return [hues[j % len(hues)] for j in features]


def tone(ax, share):
    """The background of the axes with a share of ink, which is black or white."""
    back = background(ax)
    ink = np.ones(3) if is_dark(back) else np.zeros(3)
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
