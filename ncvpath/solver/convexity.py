"""Where the path leaves the region in which its solutions are unique."""

import numpy as np

from ..penalties import BY_KIND


def convex_min(problem, gram, lambdas, supports):
    """The last index of the locally convex part of the path, as ncvreg reports it.

    That is the first i at which G - diag(k) + diag(l2), over the features nonzero at
    lambda i or i + 1, has a negative eigenvalue: k is the penalty's largest concavity
    and both levels are taken at lambda i + 1. None if there is no such i, or if the
    penalty has no such bound (lasso, capped).
    """
    concavity = BY_KIND[problem.penalty.kind].concavity
    if concavity is None:
        return None
    passed = np.zeros(problem.design.p, dtype=bool)
    for i in range(len(lambdas) - 1):
        active = union(supports[i], supports[i + 1])
        if passed[active].all() and _is_fixed(problem):
            continue  # part of a matrix that has passed
        l1, l2 = problem.levels(lambdas[i + 1], active)
        k = concavity(l1, problem.penalty.shape)
        k = np.where(problem.factor[active] > 0, k, 0.0)
        if active.size > problem.design.n and (k > l2).all():
            return i  # G is singular, so its null space sees only the concavity
        hessian = gram(active)
        hessian[np.diag_indices(active.size)] += l2 - k
        if not _is_semidefinite(hessian):
            return i
        passed[:] = False
        passed[active] = True
    return None


def union(features, others):
    """The union of two sorted sets, which mostly are the same."""
    same = np.array_equal(features, others)
    return features if same else np.union1d(features, others)


def _is_fixed(problem):
    """Whether concavity and ridge are the same at every lambda: then a principal
    submatrix of a semidefinite matrix needs no look."""
    bound, shape = BY_KIND[problem.penalty.kind].concavity, problem.penalty.shape
    return problem.alpha == 1 and bound(1.0, shape) == bound(2.0, shape)


def _is_semidefinite(matrix):
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        # Redundant unpenalised columns have eigenvalue 0, known up to rounding.
        noise = 8 * np.finfo(float).eps * matrix.shape[0] * np.abs(matrix).max()
        return np.linalg.eigvalsh(matrix)[0] >= -noise
    return True
