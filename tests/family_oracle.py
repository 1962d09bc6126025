"""Slow, obvious and independent: Fermat's condition of every family, in plain NumPy.

Nothing here is imported from ncvpath; the formulas are written out again. Risk sets are
explicit n x n tables.
"""

import numpy as np
from oracle import Problem


def sigmoid(eta):
    return 0.5 * (1 + np.tanh(0.5 * eta))


class Rows:
    """A loss of each row: residual and curvature as functions of eta."""

    def __init__(self, residual, curvature):
        self._residual, self._curvature = residual, curvature

    def scores(self, y, eta, w):
        return self._residual(y, eta), self._curvature(y, eta)


class PartialLikelihood:
    """Cox's, by a loop over the times of events of each stratum."""

    def __init__(self, ties="breslow", strata=None):
        self.ties, self.strata = ties, strata

    def scores(self, y, eta, w):
        """Martingale residuals, and e^eta times the cumulative hazard of each row."""
        y = np.asarray(y, float)
        *start, stop, status = y.T
        start = start[0] if start else np.full(stop.size, -np.inf)
        strata = np.zeros(stop.size) if self.strata is None else self.strata
        risk, hazard = np.exp(eta - eta.max()), np.zeros(stop.size)
        for stratum in np.unique(strata):
            events = (strata == stratum) & (status == 1) & (w > 0)
            for time in np.unique(stop[events]):
                at_risk = (strata == stratum) & (start < time) & (time <= stop)
                died = events & (stop == time)
                count = died.sum() if self.ties == "efron" else 1
                for part in np.arange(count) / count:
                    kept = at_risk - part * died
                    mass = w[died].sum() / count
                    hazard += kept * mass / (w @ (kept * risk))
        return status - risk * hazard, risk * hazard


FAMILIES = {
    "binomial": lambda **_: Rows(
        lambda y, eta: y - sigmoid(eta), lambda y, eta: sigmoid(eta) * sigmoid(-eta)
    ),
    "poisson": lambda **_: Rows(
        lambda y, eta: y - np.exp(eta), lambda y, eta: np.exp(eta)
    ),
    "cox": PartialLikelihood,
}


class Curved(Problem):
    """A problem whose loss is not quadratic, on explicitly standardized columns."""

    def __init__(self, X, y, *, family, rescale=True, offset=None, intercept=True,
                 ties="breslow", strata=None, **settings):
        centred = intercept or family == "cox"
        super().__init__(X, np.zeros(len(y)), intercept=centred, **settings)
        self.loss = FAMILIES.get(family, family)(ties=ties, strata=strata)
        self.y, self.rescale = np.asarray(y, float), rescale
        self.intercept = intercept and family != "cox"
        self.offset = np.zeros(len(y)) if offset is None else np.asarray(offset, float)
        r, h = self.null_scores(np.zeros(self.m.size, bool))
        self.theta = self.gamma
        if not rescale:  # in units in which the curvature is one
            self.theta *= np.sqrt(self.w @ r**2) / (self.w @ h)
        self.g0 = self.null_gradient()

    def scores(self, eta):
        r, h = self.loss.scores(self.y, self.offset + eta, self.w)
        return np.where(self.w > 0, r, 0.0), np.where(self.w > 0, h, 0.0)

    def null_scores(self, free):
        """Of the model of intercept and free features, by Newton's method."""
        A = self.Z[:, free]
        if self.intercept:
            A = np.column_stack([np.ones(len(A)), A])
        b = np.zeros(A.shape[1])
        for _ in range(2000):  # the curvature of Cox's loss is not all of its Hessian
            r, h = self.scores(A @ b)
            gradient = A.T @ (self.w * r)
            if not np.abs(gradient).max(initial=0.0) > 1e-13:
                break
            step = np.linalg.solve((A * (self.w * h)[:, None]).T @ A, gradient)
            b += step / max(1.0, np.abs(A @ step).max())
        return self.scores(A @ b)

    def null_gradient(self):
        """Largest |<x_j, r>| of a penalised feature at the null model."""
        r, _ = self.null_scores(self.m == 0)
        c = np.abs(self.Z.T @ (self.w * r))
        return c[(self.m > 0) & np.isfinite(self.m)].max()

    def fermat(self, intercept, beta, lam):
        """Of Fermat's condition over all features and the intercept, over g0.

        The penalty is (1/v) r(v |b|) + v l2 b^2 / 2 with v = sum_i w_i h_i x_ij^2
        where it is rescaled, here at the coefficients themselves.
        """
        b = beta * self.scale
        r, h = self.scores(self.Z @ b + intercept + (self.center / self.scale) @ b)
        v = self.Z.T**2 @ (self.w * h) if self.rescale else np.ones(b.size)
        used = b != 0
        assert not used[np.isinf(self.m)].any()
        l1, l2 = self.levels(lam)
        u = self.Z.T @ (self.w * r) - l2 * v * b
        # log-sum's theta is in the unit of sqrt(v) b, the levels of others in that of
        # v b.
        size = np.abs(b) * (np.sqrt(v) if self.penalty == "logsum" else v)
        pull = np.sign(b[used]) * self.slope(size[used], l1[used])
        worst = np.abs(u[used] - pull).max(initial=0.0)
        worst = max(worst, (np.abs(u[~used]) - l1[~used]).max(initial=0.0))
        if self.intercept:
            worst = max(worst, abs(self.w @ r))
        return worst / self.g0

    def violations(self, path):
        beta = path.beta.toarray()
        return np.array([
            self.fermat(path.intercept[k], beta[:, k], lam)
            for k, lam in enumerate(path.lambdas)
        ])
