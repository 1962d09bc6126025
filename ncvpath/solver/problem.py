"""What is minimised."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..kernels.records import Features, Penalty
from ..matrices.design import Design
from ..penalties import BY_KIND, MAX_GROWTH, by_name, knows_units
from .rounding import Rounding

LASSO = Penalty(by_name("lasso").kind, 0.0)


@dataclass(frozen=True)
class Problem:
    """What is minimised; it never changes along the path."""

    likelihood: object  # families/
    design: Design
    penalty: Penalty
    alpha: float
    penalty_factor: np.ndarray  # p, 0 = unpenalised, inf = excluded (or constant)
    lambda_max: float  # the null model is the solution from here up
    g0: float  # largest |<x_j, r0>| of a penalised feature: the unit of violations
    rounding: Rounding
    rescale: bool = False  # whether unit_j beta_j is penalised, unit_j^2 = v_j
    null_loss: float = np.nan  # of intercept and offset alone
    watches: bool = False  # whether a saturated model ends the path
    majorizes: "Problem | None" = None  # whose penalty this one's lies above (mm.py)

    def levels(self, lambdas):
        """l1 and l2 per unit of the penalty factor, a row for each lambda."""
        return lambdas[:, None] * np.array([self.alpha, 1 - self.alpha])

    def levels_of(self, lam, features):
        """l1 and l2 of features that may enter."""
        return (
            lam * self.alpha * self.penalty_factor[features],
            lam * (1 - self.alpha) * self.ridge_factor[features],
        )

    def ridge_of(self, lam, beta):
        """What the ridge penalty takes from correlations, p; None if there is none."""
        if self.alpha == 1:
            return None
        ridge = np.where(self.may_enter, self.ridge_factor, 0.0)
        return lam * (1 - self.alpha) * ridge * beta

    def of_features(self, features, unit=None):
        """What kernels want to know of the features of a working set.

        With units unit_j^2 = v_j the penalty is that of unit_j beta_j at l1_j / unit_j,
        and the ridge l2_j v_j beta_j^2 / 2 that of the same.
        """
        unit = np.ones(features.size) if unit is None else unit
        return Features(
            self.penalty_factor[features] / unit, self.ridge_factor[features],
            self.design.norm2[features], unit,
        )

    def explained(self, loss):
        """The share that a model of this loss explains of what coefficients without end
        would explain."""
        limit = self.likelihood.limit
        return 1 - (loss - limit) / (self.null_loss - limit)

    @property
    def rescales(self):
        """Whether the units of the penalty depend on the solution."""
        return self.rescale and knows_units(self.penalty.kind, self.alpha)

    @property
    def ridge_factor(self):
        """What multiplies the ridge penalty: it is not majorized."""
        return (self.majorizes or self).penalty_factor

    @cached_property
    def growth(self):
        """The slope of the strong rule."""
        row, shape = BY_KIND[self.penalty.kind], self.penalty.shape
        if not (self.rescale or self.likelihood.is_quadratic):
            # In units in which the curvature is one, gamma is as much smaller.
            shape *= self.likelihood.null_curvature()
            if row.above is not None and not shape > row.above:
                return MAX_GROWTH
        return min(row.growth(shape), MAX_GROWTH)

    @property
    def at_lambda_zero(self):
        """The problem without penalty, where nothing holds coefficients."""
        return replace(
            self, watches=self.watches or self.likelihood.family.may_separate
        )

    @property
    def is_lasso(self):
        """Whether the penalty is its own tangent."""
        return self.penalty.kind == LASSO.kind

    def majorized(self, beta, level):
        """The weighted lasso that touches the objective at beta (p), from above;
        `level` is l1 per unit of the penalty factor."""
        penalty_factor, support = self.penalty_factor.copy(), np.flatnonzero(beta)
        if level > 0:
            slope = BY_KIND[self.penalty.kind].slope
            a, l1 = np.abs(beta[support]), level * penalty_factor[support]
            penalty_factor[support] = slope(a, l1, self.penalty.shape) / level
        return replace(
            self, penalty=LASSO, penalty_factor=penalty_factor, majorizes=self
        )

    @cached_property
    def free(self):
        """Which features are not penalised."""
        return self.penalty_factor == 0

    @cached_property
    def may_enter(self):
        """Which features are not excluded."""
        return self.penalty_factor < np.inf
