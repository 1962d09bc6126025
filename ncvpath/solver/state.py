"""Where we are on the path, which only the loop moves, and what serves on the way: Gram
matrix, certificates and derivatives, which those who use them renew."""

from dataclasses import dataclass

import numpy as np

from .certificates import Certificates, Correlations
from .gram import GramCache
from .jacobian import Jacobian
from .solutions import Anchor


@dataclass
class State:
    """The last solution found: that of a finished lambda, or of an attempt."""

    lam: float  # the last finished lambda; inf: none yet
    beta: np.ndarray  # p, on the standardized scale
    intercept: float  # of a likelihood that is not quadratic; otherwise y is centred
    correlation: Correlations  # of its residual with every feature
    member: np.ndarray  # p, bool: the working set
    anchor: Anchor  # the null model
    gram: GramCache
    certificates: Certificates | None = None  # made by the loop
    jacobian: Jacobian | None = None  # of adaptive rescaling, while it serves
    unsettled: int = 0  # how often in a row that did not settle

    def move(self, solutions, k, correlation):
        """Be at the k-th of some solutions, which is finished."""
        self.lam = solutions.lambdas[k]
        self.stand(solutions, k, correlation)

    def stand(self, solutions, k, correlation):
        """Be at the k-th of some solutions, which is tried again."""
        self.beta, self.intercept = solutions.full(k), solutions.intercept[k]
        self.correlation = correlation
