"""Plain cyclic descent over all features, down the path: what others' paths are held
against beyond the convex part."""

import numpy as np
from numba import njit

MOST = 20_000  # sweeps at a lambda


@njit(cache=True)
def value(mcp, a, l1, gamma):
    """MCP or SCAD at a >= 0."""
    if mcp:
        flat = 0.5 * gamma * l1 * l1
        return l1 * a - a * a / (2 * gamma) if a <= gamma * l1 else flat
    if a <= l1:
        return l1 * a
    if a <= gamma * l1:
        return (2 * gamma * l1 * a - a * a - l1 * l1) / (2 * (gamma - 1))
    return 0.5 * l1 * l1 * (gamma + 1)


@njit(cache=True)
def minimiser(mcp, z, v, l1, gamma):
    """Of v b^2 / 2 - z b + r(|b|), v >= 1."""
    size = abs(z)
    if size <= l1:
        return 0.0
    if size > gamma * l1 * v:
        b = size / v
    elif mcp:
        b = (size - l1) / (v - 1 / gamma)
    elif size > l1 * (1 + v):
        b = (size - gamma * l1 / (gamma - 1)) / (v - 1 / (gamma - 1))
    else:
        b = (size - l1) / v
    return np.copysign(b, z)


@njit(cache=True)
def descend(gram, c, half, lambdas, alpha, mcp, gamma, tol):
    """Objectives at falling lambdas, each begun at the solution before."""
    b, q, heights = np.zeros(c.size), c.copy(), np.zeros(lambdas.size)
    for k in range(lambdas.size):
        l1, l2 = lambdas[k] * alpha, lambdas[k] * (1 - alpha)
        for _ in range(MOST):
            worst = 0.0
            for j in range(c.size):
                new = minimiser(mcp, q[j] + b[j], 1 + l2, l1, gamma)
                change = new - b[j]
                if change != 0.0:
                    worst, b[j] = max(worst, abs(change)), new
                    q -= change * gram[j]
            if worst <= tol:
                break
        q = c - gram @ b
        heights[k] = half - 0.5 * (c + q) @ b + 0.5 * l2 * (b @ b)
        for j in range(c.size):
            heights[k] += value(mcp, abs(b[j]), l1, gamma)
    return heights


def objectives(X, y, lambdas, penalty, gamma, alpha=1.0, tol=1e-8):
    """Objectives of MCP or SCAD at the lambdas, as `ncvpath()` reports them."""
    Z, r, n = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean(), len(y)
    return descend(
        Z.T @ Z / n, Z.T @ r / n, 0.5 * (r @ r) / n, np.asarray(lambdas, dtype=float),
        alpha, penalty == "MCP", gamma, tol * r.std(),
    )
