"""Where the path leaves the region in which its solutions are unique."""

import numpy as np

from ..penalties import BY_KIND
from .hessian import Reference

# Lambdas whose features are in a Hessian that is computed.
AHEAD = 10


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
    passed = np.zeros(problem.design.p, dtype=bool)
    lambdas, fixed = path.lambdas, _is_fixed(problem)
    places = np.arange(lambdas.size - 1)
    if fixed:  # otherwise the matrix is part of the one before
        places = places[path.changed[1:] | (places == 0)]
    hessians = _LeastSquares(gram)
    if not problem.likelihood.is_quadratic:
        hessians = _Curved(problem, path)
    for i in places.tolist():
        active = np.union1d(path.support(i), path.support(i + 1))
        if fixed and passed[active].all():
            continue  # part of a matrix that has passed
        l1, l2 = problem.levels(lambdas[i + 1], active)
        unit = hessians.unit(i + 1, active)
        k = concavity(l1 / unit, problem.penalty.shape)
        k = np.where(problem.penalty_factor[active] > 0, k, 0.0)
        if active.size > problem.design.n_counted and (k > l2).all():
            return i  # H is singular, so its null space sees only the concavity
        if not any(
            _is_semidefinite(hessian / np.outer(unit, unit) + np.diag(l2 - k))
            for hessian in hessians.below(i + 1, active)
        ):
            return i
        passed[:] = False
        passed[active] = True
    return None


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
        ahead = range(k, min(k + AHEAD, self.path.lambdas.size))
        features = np.unique(np.concatenate([active, *map(self.path.support, ahead)]))
        place = np.searchsorted(features, active)
        matrix = self.here.gram_by_rows(features, features)
        self.known = self.here, features, matrix
        yield matrix[np.ix_(place, place)]


def _is_fixed(problem):
    """Whether concavity and ridge are the same at every lambda: then a principal
    submatrix of a semidefinite matrix needs no look."""
    bound, shape = BY_KIND[problem.penalty.kind].concavity, problem.penalty.shape
    same = problem.likelihood.is_quadratic and problem.alpha == 1
    return same and bound(1.0, shape) == bound(2.0, shape)


def _is_semidefinite(matrix):
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        # Redundant unpenalised columns have eigenvalue 0, known up to rounding.
        noise = 8 * np.finfo(float).eps * matrix.shape[0] * np.abs(matrix).max()
        return np.linalg.eigvalsh(matrix)[0] >= -noise
    return True
