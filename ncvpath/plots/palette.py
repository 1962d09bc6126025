"""Colours of the pictures, on a light background and on a dark one."""

from functools import cache

import numpy as np

# Okabe and Ito's colours with two of Tol's and five more, distinguishable with any
# kind of colour vision: simulated, no two are nearer (CIE76) than 16 on white, 13.5 on
# black.
HUES = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
    "#882255", "#332288", "#9922FF", "#553311", "#BBAA55", "#EE0055", "#6644CC",
)
BRIGHT = (
    "#2F8FDD", "#E8641B", "#17B287", "#DE95BE", "#E69F00", "#7CCBF5", "#FFFFFF",
    "#C24C84", "#F0E442", "#8844FF", "#99CC77", "#886644", "#66FFBB", "#AA44AA",
)
# Where more are needed than these: levels of red, green and blue, and how light the
# colours may be at most on white, at least on black.
LEVELS, LIGHTEST, DARKEST = 16, 0.66, 0.42
LUMA = (0.299, 0.587, 0.114)  # what the eye makes of red, green and blue
# From linear red, green and blue to the responses of the eye, those to white being one.
XYZ = (
    (0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0178, 0.1095, 0.8727),
)

# Shares of ink in what stands behind the lines, from faint to plain.
REGION, QUIET, LINE, WORDS = 0.1, 0.3, 0.6, 0.8


def colours(ax, features):
    """One colour per feature, the same for the same features in every picture.

    Each has a colour of its own by its column; where two of them agree, the later one
    takes the next that is free.
    """
    hues = hues_for(len(features), is_dark(background(ax)))
    size, taken, chosen = len(hues), set(), {}
    for j in np.sort(features):
        chosen[j] = next(k % size for k in range(j, j + size) if k % size not in taken)
        taken.add(chosen[j])
    return [hues[chosen[j]] for j in features]


@cache
def hues_for(count, dark):
    """So many colours at least, all different.

    Beyond those chosen by hand, each is the one farthest from all before it.
    """
    hues = BRIGHT if dark else HUES
    if count <= len(hues):
        return hues
    levels = max(LEVELS, 2 * int(np.ceil(count ** (1 / 3))))
    step = np.linspace(0, 1, levels)
    rgb = np.stack(np.meshgrid(step, step, step), axis=-1).reshape(-1, 3)
    light = rgb @ LUMA
    rgb = rgb[light > DARKEST if dark else light < LIGHTEST]
    places, known = as_seen(rgb), as_seen(np.array([in_rgb(hue) for hue in hues]))
    distance = np.min([lengths(places - place) for place in known], axis=0)
    more = []
    for _ in range(count - len(hues)):
        more.append(int(np.argmax(distance)))
        distance = np.minimum(distance, lengths(places - places[more[-1]]))
    return (*hues, *(tuple(rgb[k].tolist()) for k in more))


def in_rgb(colour):
    """Red, green and blue of a colour, from 0 to 1."""
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def as_seen(rgb):
    """Colours in CIELAB, where distances are those seen."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    eye = linear @ np.transpose(XYZ)
    x, y, z = np.where(eye > 0.008856, np.cbrt(eye), 7.787 * eye + 16 / 116).T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def lengths(vectors):
    """Their lengths."""
    return np.sqrt(np.square(vectors).sum(axis=1))


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
