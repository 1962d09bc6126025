"""What was observed against predictions for rows held out. Axes in, Axes out."""

import numpy as np

from .axes import legend
from .palette import LINE, colours, tone

MOST = 2000  # dots that are drawn solid; more let each other through
BINS = 20


def plot_numbers(ax, predicted, observed):
    """Dots, and the diagonal on which predictions would be right."""
    opacity = 0.6 if observed.size <= MOST else max(0.6 * MOST / observed.size, 0.03)
    ax.plot(
        predicted, observed, "o", color=colours(ax, [1])[0], markersize=3.5,
        markeredgewidth=0, alpha=opacity, rasterized=observed.size > MOST,
    )
    low = max(predicted.min(), observed.min())
    high = min(predicted.max(), observed.max())
    ax.plot([low, high], [low, high], color=tone(ax, LINE), linewidth=1, zorder=1)
    ax.set_xlabel("predicted, each row when it was held out")
    ax.set_ylabel("observed")
    return ax


def plot_classes(ax, predicted, event, classes):
    """How predicted probabilities are spread in each class."""
    edges = np.linspace(0, 1, BINS + 1)
    ink = colours(ax, [0, 1])
    for label, rows, colour in zip(classes, (~event, event), ink):
        share = np.ones(np.count_nonzero(rows)) / np.count_nonzero(rows)
        style = dict(histtype="stepfilled", alpha=0.25, color=colour)
        ax.hist(predicted[rows], edges, weights=share, label=f"{label}", **style)
        ax.hist(predicted[rows], edges, weights=share, histtype="step", color=colour)
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"probability of {classes[1]},\npredicted when the row was held out")
    ax.set_ylabel("share of the rows of the class")
    legend(ax, loc="upper center")
    return ax
