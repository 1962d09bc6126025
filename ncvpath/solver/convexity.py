"""Where the path leaves the region in which its solutions are unique."""

import numpy as np

from ..penalties import BY_KIND
from .hessian import Reference


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
    for i in places.tolist():
        active = np.union1d(path.support(i), path.support(i + 1))
        if fixed and passed[active].all():
            continue  # part of a matrix that has passed
        l1, l2 = problem.levels(lambdas[i + 1], active)
        hessian, unit = _hessian(problem, gram, path, i + 1, active)
        k = concavity(l1 / unit, problem.penalty.shape)
        k = np.where(problem.penalty_factor[active] > 0, k, 0.0)
        if active.size > problem.design.n_counted and (k > l2).all():
            return i  # H is singular, so its null space sees only the concavity
        hessian[np.diag_indices(active.size)] += l2 - k
        if not _is_semidefinite(hessian):
            return i
        passed[:] = False
        passed[active] = True
    return None


def _is_fixed(problem):
    """Whether concavity and ridge are the same at every lambda: then a principal
    submatrix of a semidefinite matrix needs no look."""
    bound, shape = BY_KIND[problem.penalty.kind].concavity, problem.penalty.shape
    same = problem.likelihood.is_quadratic and problem.alpha == 1
    return same and bound(1.0, shape) == bound(2.0, shape)


def _hessian(problem, gram, path, k, active):
    """The Hessian at the k-th solution, and the units of its coefficients."""
    if problem.likelihood.is_quadratic:
        return gram(active), 1.0
    own = slice(path.ends[k], path.ends[k + 1])
    eta = problem.design.combine(path.features[own], path.values[own][None])[0]
    reference = Reference(problem, eta + path.intercept[k])
    unit = reference.units(active) if problem.rescale else np.ones(active.size)
    return reference.gram_by_rows(active, active) / np.outer(unit, unit), unit


def _is_semidefinite(matrix):
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        # Redundant unpenalised columns have eigenvalue 0, known up to rounding.
        noise = 8 * np.finfo(float).eps * matrix.shape[0] * np.abs(matrix).max()
        return np.linalg.eigvalsh(matrix)[0] >= -noise
    return True
