"""The solutions of a block of lambdas on a working set, and what follows from them.

The null model is the anchor: its residual r0 and correlations c0 are known. With d the
change of the coefficients since then and G the Gram matrix of all features,

    <x_j, r> = c0_j - G_jA d        loss = loss0 - d' (c0_A + <x_A, r>) / 2

for least squares, so where all products of columns are known, neither needs the
residual or a column of X.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .. import kernels

# The share of tol that rounding may take where correlations come by way of products,
# whose sums of squares it spoils several times as much.
BY_FAR = 0.01
# A loss this much smaller than the terms of the difference above has too few digits
# left; the residual itself is measured then.
CANCELLED = 1e-5


class Anchor(NamedTuple):
    """The null model."""

    beta: np.ndarray  # p
    correlation: np.ndarray  # p
    loss: float


class Solutions:
    """Coefficients at K lambdas, zero outside `features`, which ascend."""

    def __init__(self, problem, lambdas, features, beta, intercept=None, unit=None):
        self.problem, self.lambdas, self.features = problem, lambdas, features
        self.intercept = np.zeros(lambdas.size) if intercept is None else intercept
        self.unit = unit  # K x |features|: sqrt(v_j) of adaptive rescaling, or None
        # K x |features|, on the standardized scale; row after row, as kernels want it.
        self.beta = np.ascontiguousarray(beta)
        self.levels = problem.levels(lambdas)
        self.rounding = problem.rounding.in_violations(features, beta)

    def __len__(self):
        return self.lambdas.size

    @cached_property
    def eta(self):
        """The linear predictors, K x n, without offset (and what is centred away)."""
        used = (self.beta != 0).any(axis=0)
        beta = np.ascontiguousarray(self.beta[:, used])
        eta = self.problem.design.combine(self.features[used], beta)
        return eta + self.intercept[:, None] if self.intercept.any() else eta

    @cached_property
    def residual(self):
        """The score residuals, K x n."""
        return self.problem.likelihood.residual(self.eta)

    @cached_property
    def loss(self):
        """The weighted mean of the loss."""
        with np.errstate(over="ignore", invalid="ignore"):  # runaway coefficients
            return self.problem.likelihood.loss(self.eta)

    def correlate_by_gram(self, anchor, gram, tol):
        """Correlations with every feature by the products of all columns, K x p; None
        where there are none or rounding forbids it. Sets the loss, too.

        Only least squares has one Gram matrix for all residuals.
        """
        design = self.problem.design
        if not self.problem.likelihood.is_quadratic:
            return None
        # In products of columns cancellation counts twice.
        rounding = design.cancellation * self.rounding
        if not gram.complete or not (rounding <= BY_FAR * tol).all():
            return None
        rows = gram.row[gram.slot[self.features]]
        change = self.beta - anchor.beta[self.features]
        fall = np.take(change @ gram.array[rows], gram.slot, axis=1)
        values = anchor.correlation - fall
        ends = values[:, self.features] + anchor.correlation[self.features]
        loss = anchor.loss - 0.5 * np.einsum("kj,kj->k", change, ends)
        size = np.sqrt(2 * anchor.loss) + np.abs(change) @ design.length[self.features]
        if (2 * loss > CANCELLED * (design.cancellation * size) ** 2).all():
            self.__dict__["loss"] = loss  # instead of that of the residual
        return values

    def violation(self, correlation):
        """The largest violation of the features and the intercept, by lambda."""
        worst, self.penalties = self._measured(correlation)
        likelihood = self.problem.likelihood
        if likelihood.is_quadratic or not likelihood.intercept:
            return worst  # y is centred
        return np.maximum(worst, np.abs(self.residual @ self.problem.design.weights))

    @cached_property
    def objective(self):
        """Loss and penalties; not finite if coefficients have run away."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.loss + self.penalties

    @cached_property
    def penalties(self):
        """Both penalties together."""
        return self._measured(np.zeros_like(self.beta))[1]

    @cached_property
    def objective_rounding(self):
        """What of the objective rounding hides, at least."""
        if not self.problem.likelihood.is_quadratic:
            return np.full(len(self), -np.inf)  # nothing is derived from it
        return self.problem.rounding.in_objective(self.rounding)

    def _measured(self, correlation):
        worst, total = np.empty((2, len(self)))
        penalty, correlation = self.problem.penalty, np.ascontiguousarray(correlation)
        if self.unit is None:
            features = self.problem.of_features(self.features)
            kernels.measure_inside(
                penalty, features, self.levels, self.beta, correlation, worst, total
            )
            return worst, total
        for k in range(len(self)):  # each lambda has units of its own
            one, unit = slice(k, k + 1), self.unit[k]
            features = self.problem.of_features(self.features, unit)
            kernels.measure_inside(
                penalty, features, self.levels[one], self.beta[one] * unit,
                correlation[one] / unit, worst[one], total[one],
            )
        return worst, total

    def part(self, first, last):
        """Some of them, with what is known of them."""
        if first == 0 and last == len(self):
            return self
        some = slice(first, last)
        part = Solutions(
            self.problem, self.lambdas[some], self.features, self.beta[some],
            self.intercept[some], None if self.unit is None else self.unit[some],
        )
        for name in ("eta", "residual", "loss", "penalties", "objective"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][some]
        return part

    def settled(self):
        """The same without residuals, which are not needed any more."""
        _ = self.objective  # which needs them
        for name in ("eta", "residual"):
            self.__dict__.pop(name, None)
        return self

    def of(self, problem):
        """The same coefficients as solutions of a problem with another penalty."""
        other = Solutions(
            problem, self.lambdas, self.features, self.beta, self.intercept, self.unit
        )
        for name in ("eta", "residual", "loss"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def residual_of(self, k):
        """The k-th residual, or what makes it if there are none yet."""
        if "residual" in self.__dict__:
            return self.residual[k].copy()
        single = self.part(k, k + 1)
        return lambda: single.residual[0]

    def full(self, k):
        """The k-th coefficients of all features."""
        beta = np.zeros(self.problem.design.p)
        beta[self.features] = self.beta[k]
        return beta

    @property
    def support(self):
        """Features in use at any lambda."""
        return self.features[(self.beta != 0).any(axis=0)]

    @property
    def member(self):
        """Which features are among these, p, bool."""
        mask = np.zeros(self.problem.design.p, dtype=bool)
        mask[self.features] = True
        return mask
