"""Where the path leaves the region in which its solutions are unique."""

import numpy as np

from ..penalties import BY_KIND
from .hessian import Reference

# Lambdas that are looked at together to begin with; and those whose features are in a
# Hessian that is computed.
LAMBDAS_AT_ONCE, LAMBDAS_AHEAD = 8, 10


def convex_min(problem, gram, path):
    """The last index of the locally convex part of the path, as ncvreg reports it.

    That is the first i at which H - diag(k) + diag(l2), over the features nonzero at
    lambda i or i + 1, has a negative eigenvalue: H is the Hessian of the loss (`gram`
    of least squares), k the penalty's largest concavity, and both levels are taken at
    lambda i + 1, with the units of its solution. None if there is no such i, or if the
    penalty has no such bound (lasso, capped).
    """
    concavity = BY_KIND[problem.penalty.kind].concavity
    if concavity is None:
        return None
    least_squares = problem.likelihood.is_quadratic
    hessians = _LeastSquares(gram) if least_squares else _Curved(problem, path)
    # A part of a semidefinite matrix is semidefinite: where all solutions share one
    # Hessian, many lambdas are looked at together, until some are not convex.
    first, widest = 0, path.lambdas.size if least_squares else 1
    width = min(LAMBDAS_AT_ONCE, widest)
    while first < path.lambdas.size - 1:
        last = min(first + width, path.lambdas.size - 1)
        if _are_convex(problem, hessians, path, first, last, concavity):
            first, width = last, min(2 * width, widest)
        elif width == 1:
            return first
        else:
            width = widest = (last - first + 1) // 2
    return None


def _are_convex(problem, hessians, path, first, last, concavity):
    """Whether the lambdas from one to before another are in the convex part."""
    active = path.in_use(first, last + 1)
    own = [problem.levels_of(path.lambdas[k], active) for k in (first + 1, last)]
    unit = hessians.unit(last, active)
    l1, l2 = own[0][0], own[1][1]  # concavity and ridge fall with lambda
    k = concavity(l1 / unit, problem.penalty.shape)
    k = np.where(problem.penalty_factor[active] > 0, k, 0.0)
    if active.size > problem.design.n_counted and (k > l2).all():
        return False  # H is singular, so its null space sees only the concavity
    single = last == first + 1  # others that fail are looked at again
    return any(
        _is_semidefinite(hessian / np.outer(unit, unit) + np.diag(l2 - k), single)
        for hessian in hessians.below(last, active)
    )


class _LeastSquares:
    """The Gram matrix, whatever the solution."""

    def __init__(self, gram):
        self.gram = gram

    def unit(self, k, active):
        return 1.0

    def below(self, k, active):
        yield self.gram(active)


class _Curved:
    """Hessians of a loss that is not quadratic, each at its solution.

    Where every row has the share s of the curvature that it had at another solution,
    at least, the Hessian is not below s times the one there: most need no more.
    """

    def __init__(self, problem, path):
        self.problem, self.path, self.known = problem, path, None

    def unit(self, k, active):
        own = slice(self.path.ends[k], self.path.ends[k + 1])
        eta = self.problem.design.combine(
            self.path.features[own], self.path.values[own][None]
        )[0]
        self.here = Reference(self.problem, eta + self.path.intercept[k])
        if not self.problem.rescale:
            return np.ones(active.size)
        return np.sqrt(self.here.v(active))

    def below(self, k, active):
        """Matrices that are not above the Hessian; the last one is the Hessian."""
        if self.known is not None:
            there, features, matrix = self.known
            if np.isin(active, features).all():
                place, rows = np.searchsorted(features, active), there.weights > 0
                share = (self.here.weights[rows] / there.weights[rows]).min(initial=1.0)
                yield share * matrix[np.ix_(place, place)]
        ahead = self.path.in_use(k, min(k + LAMBDAS_AHEAD, self.path.lambdas.size))
        features = np.union1d(active, ahead)
        place = np.searchsorted(features, active)
        matrix = self.here.gram_by_rows(features, features)
        self.known = self.here, features, matrix
        yield matrix[np.ix_(place, place)]


def _is_semidefinite(matrix, up_to_rounding):
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        if not up_to_rounding:
            return False
        # Redundant unpenalised columns have eigenvalue 0, known up to rounding.
        noise = 8 * np.finfo(float).eps * matrix.shape[0] * np.abs(matrix).max()
        return np.linalg.eigvalsh(matrix)[0] >= -noise
    return True
