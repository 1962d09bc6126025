"""Where we are on the path. Only the loop moves it."""

from dataclasses import dataclass

import numpy as np

from .certificates import Certificates, Correlations
from .gram import GramCache
from .solutions import Anchor


@dataclass
class State:
    """The last solution found: that of a finished lambda, or of an attempt."""

    lam: float  # the last finished lambda; inf: none yet
    beta: np.ndarray  # p, on the standardized scale
    correlation: Correlations  # of its residual with every feature
    member: np.ndarray  # p, bool: the working set
    anchor: Anchor  # the null model
    gram: GramCache
    certificates: Certificates | None = None  # made by the loop

    def move(self, solutions, k, correlation):
        """Be at the k-th of some solutions, which is finished."""
        self.lam = solutions.lambdas[k]
        self.beta, self.correlation = solutions.full(k), correlation
