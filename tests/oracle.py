"""Slow, obvious and independent: what the package is judged by.

Nothing here is imported from ncvpath; the formulas are written out again.
"""

import numpy as np


class Problem:
    """The optimisation problem on explicitly standardized columns, all dense."""

    def __init__(self, X, y, *, penalty, gamma=None, alpha=1.0, weights=None,
                 penalty_factor=None, intercept=True, standardize=True, kind=float):
        X, y = np.asarray(X, dtype=kind), np.asarray(y, dtype=kind)
        n, p = X.shape
        w = np.ones(n, kind) if weights is None else np.asarray(weights, dtype=kind)
        self.w = w / w.sum()
        self.center = np.zeros(p, kind)
        for _ in range(2 if intercept else 0):  # the second for rounding in the first
            self.center = self.center + self.w @ (X - self.center)
        Z = X - self.center
        rms = np.sqrt(self.w @ Z**2)
        low, high = X[self.w > 0].min(axis=0), X[self.w > 0].max(axis=0)
        size = np.maximum(np.abs(low), np.abs(high))
        # Differences of near numbers are exact: there is one reading of this.
        live = high - low > 16 * np.finfo(float).eps * size if intercept else size > 0
        self.scale = np.where(live, rms, 1.0) if standardize else np.ones(p)
        self.Z = Z / self.scale
        self.mean = self.w @ y if intercept else 0.0
        self.r0 = y - self.mean
        m = np.ones(p) if penalty_factor is None else np.asarray(penalty_factor, float)
        self.m = np.where(live, m, np.inf)
        self.alpha, self.penalty = alpha, penalty.lower()
        defaults = {"lasso": 0.0, "mcp": 3.0, "scad": 3.7, "logsum": 1.0, "capped": 2.0}
        self.gamma = defaults[self.penalty] if gamma is None else gamma
        self.theta = self.gamma * np.sqrt(self.w @ self.r0**2)

    def levels(self, lam):
        m = np.where(np.isinf(self.m), 0.0, self.m)
        l1 = np.where(np.isinf(self.m), np.inf, lam * self.alpha * m)
        return l1, lam * (1 - self.alpha) * m

    def value(self, a, l1):
        g = self.gamma
        if self.penalty == "mcp":
            return np.where(a < g * l1, l1 * a - a**2 / (2 * g), g * l1**2 / 2)
        if self.penalty == "scad":
            middle = (2 * g * l1 * a - a**2 - l1**2) / (2 * (g - 1))
            flat = l1**2 * (g + 1) / 2
            return np.where(a < l1, l1 * a, np.where(a < g * l1, middle, flat))
        if self.penalty == "logsum":
            return l1 * self.theta * np.log1p(a / self.theta)
        if self.penalty == "capped":
            return l1 * np.minimum(a, g * l1)
        return l1 * a

    def slope(self, a, l1):
        g = self.gamma
        if self.penalty == "mcp":
            return np.where(a < g * l1, l1 - a / g, 0.0)
        if self.penalty == "scad":
            return np.where(a < l1, l1, np.where(a < g * l1, (g * l1 - a) / (g - 1), 0))
        if self.penalty == "logsum":
            return l1 / (1 + a / self.theta)
        if self.penalty == "capped":
            return np.where(a < g * l1, l1, 0.0)
        return l1

    def null_gradient(self):
        """Largest |<x_j, r0>| over penalised features, r0 after the free ones."""
        free = self.m == 0
        r0, root = self.r0, np.sqrt(self.w)
        if free.any():
            A = self.Z[:, free] * root[:, None]
            size = np.sqrt((A**2).sum(axis=0))
            inverse = np.linalg.pinv((A / size).astype(float))
            for _ in range(3):  # the first is least squares, the others refine it
                b = inverse @ (r0 * root) / size
                r0 = r0 - self.Z[:, free] @ b
        c = np.abs(self.Z.T @ (self.w * r0))
        return c[(self.m > 0) & np.isfinite(self.m)].max()

    def reach(self, b):
        """Largest |<x_j, r>| over penalised features at the coefficients b."""
        c = np.abs(self.Z.T @ (self.w * (self.r0 - self.Z @ b)))
        return c[(self.m > 0) & np.isfinite(self.m)].max()

    def violation(self, b, lam):
        """Fermat's conditions over all features, b on the standardized scale."""
        l1, l2 = self.levels(lam)
        u = self.Z.T @ (self.w * (self.r0 - self.Z @ b)) - l2 * b
        nonzero = b != 0
        at_zero = np.maximum(np.abs(u) - l1, 0.0)
        target = np.zeros_like(b)
        target[nonzero] = np.sign(b[nonzero]) * self.slope(
            np.abs(b[nonzero]), l1[nonzero]
        )
        return np.where(nonzero, np.abs(u - target), at_zero).max()

    def objective(self, b, lam):
        l1, l2 = self.levels(lam)
        used = b != 0
        r = self.r0 - self.Z @ b
        return (
            0.5 * (self.w @ r**2)
            + self.value(np.abs(b[used]), l1[used]).sum()
            + 0.5 * (l2[used] @ b[used] ** 2)
        )

    def standardized(self, path, k):
        """The path's coefficients at position k, on the standardized scale."""
        return path.beta[:, [k]].toarray()[:, 0] * self.scale

    def violations(self, path):
        """Relative violation of every solution on a path, intercepts checked too."""
        g0 = self.null_gradient()
        found = []
        for k, lam in enumerate(path.lambdas):
            b = self.standardized(path, k)
            found.append(self.violation(b, lam) / g0)
            expected = self.mean - self.center @ (b / self.scale)
            assert path.intercept[k] == expected or np.isclose(
                path.intercept[k], expected, rtol=1e-8,
                atol=1e-8 * np.abs(self.r0).max(),
            )
        return np.array(found)

    def naive_solution(self, lam, b, sweeps=20_000, tol=1e-13):
        """Full coordinate descent with a brute-force coordinate minimiser."""
        l1, l2 = self.levels(lam)
        b, r = b.copy(), self.r0 - self.Z @ b
        for _ in range(sweeps):
            moved = 0.0
            for j in np.flatnonzero(np.isfinite(l1)):
                x = self.Z[:, j]
                v = self.w @ x**2
                z = self.w @ (x * r) + v * b[j]
                new = self.coordinate(z, v + l2[j], l1[j], b[j])
                if new != b[j]:
                    r -= (new - b[j]) * x
                    moved = max(moved, abs(new - b[j]) * np.sqrt(v))
                    b[j] = new
            if moved <= tol * np.sqrt(self.w @ self.r0**2):
                return b
        raise AssertionError("the naive solver did not converge")

    def coordinate(self, z, v, l1, current):
        """Minimise v b^2 / 2 - z b + r(|b|): the best root of each piece."""
        s, g = abs(z), self.gamma
        if s <= l1 and (current == 0 or self.is_convex(v, l1)):
            return 0.0
        spots = [0.0]
        if self.penalty == "logsum":
            roots = np.roots([v, v * self.theta - s, self.theta * (l1 - s)])
            spots += [t.real for t in roots if abs(t.imag) < 1e-12 and t.real > 0]
        else:
            spots += [(s - l1) / v, s / v]
            if self.penalty == "mcp" and v != 1 / g:
                spots.append((s - l1) / (v - 1 / g))
            if self.penalty == "scad" and v != 1 / (g - 1):
                spots.append((s - g * l1 / (g - 1)) / (v - 1 / (g - 1)))
        spots = np.array([t for t in spots if t >= 0])
        heights = v * spots**2 / 2 - s * spots + self.value(spots, l1)
        return float(np.sign(z) * spots[np.argmin(heights)])

    def is_convex(self, v, l1):
        return {
            "lasso": True,
            "mcp": self.gamma * v > 1,
            "scad": (self.gamma - 1) * v > 1,
            "logsum": self.theta * v >= l1,
            "capped": False,
        }[self.penalty]
