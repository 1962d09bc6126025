"""Two classes, shares of them, or counts of both."""

import numpy as np

from .family import Family

# Cross-validation believes no probability beyond 1e-5 and 1 - 1e-5, as ncvreg.
FARTHEST = float(np.log(1e5 - 1))


def entropy(y):
    """-y log y - (1 - y) log(1 - y), zero at both ends."""
    inside = (y > 0) & (y < 1)
    share = np.where(inside, y, 0.5)
    terms = share * np.log(share) + (1 - share) * np.log1p(-share)
    return np.where(inside, -terms, 0.0)


class Binomial(Family):
    """Logistic regression: loss(y, eta) = log(1 + e^eta) - y eta.

    y is 1 for the event, 0 for none, or the share of events. All is written with
    e^-|eta|, which neither overflows nor loses a small probability beside one.
    """

    name = "binomial"
    response = "two classes, proportions, or counts (failures, successes)"
    form = "class"
    predict_types = ("response", "link", "class")
    joint_measures = ("auc",)

    def loss(self, y, eta):
        """log(1 + e^eta) - y eta."""
        size = np.abs(eta)
        # max(eta, 0) - y eta, without the difference of two large numbers.
        linear = np.where(eta > 0, (1 - y) * size, y * size)
        return np.log1p(np.exp(-size)) + linear

    def residual(self, y, eta):
        """Response minus mean."""
        tail = np.exp(-np.abs(eta))
        tail /= 1 + tail  # the probability of the less likely class
        return np.where(eta > 0, (y - 1) + tail, y - tail)

    def curvature(self, y, eta):
        """Its variance, mu (1 - mu)."""
        tail = np.exp(-np.abs(eta))
        return tail / (1 + tail) ** 2

    def mean(self, eta):
        """The probability of the event."""
        tail = np.exp(-np.abs(eta))
        return np.where(eta > 0, 1.0, tail) / (1 + tail)

    def saturated(self, y):
        """The entropy of a share; nothing is left of a class."""
        return entropy(y)

    def limit(self, y):
        """No loss at all: a share between zero and one is explained by a finite eta."""
        return np.zeros_like(y)

    def check(self, y):
        """Shares are in [0, 1]."""
        bad = np.flatnonzero((y < 0) | (y > 1))
        if bad.size:
            raise ValueError(
                "y must be two classes or proportions in [0, 1] with "
                f"family='binomial'; got {y[bad[0]]:g} at position {bad[0]}"
            )

    def null_link(self, mean_y):
        """The logit."""
        with np.errstate(divide="ignore"):
            return float(np.log(mean_y) - np.log1p(-mean_y))

    @property
    def measures(self):
        """Deviance, share of wrong classes, Brier's score, distance to probability."""
        return {
            "deviance": self.bounded_deviance,
            "class": self.wrong_class,
            "brier": self.squared_error,
            "mae": self.absolute_error,
        }

    def bounded_deviance(self, y, eta):
        """The deviance, of probabilities that are not believed to be 0 or 1."""
        return self.unit_deviance(y, np.clip(eta, -FARTHEST, FARTHEST))

    def wrong_class(self, y, eta):
        """Whether the predicted class is not the one of y."""
        return np.abs(y - self.is_event(eta))
