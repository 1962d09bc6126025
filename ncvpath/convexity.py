"""Where the path leaves the region in which its solutions are unique."""

import numpy as np

from .penalties import BY_KIND


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
    for i in range(len(lambdas) - 1):
        active = np.union1d(supports[i], supports[i + 1])
        if active.size == 0:
            continue
        l1, l2 = (level[active] for level in problem.levels(lambdas[i + 1]))
        k = concavity(l1, problem.penalty.shape)
        k = np.where(problem.factor[active] > 0, k, 0.0)
        if active.size > problem.design.n and (k > l2).all():
            return i  # G is singular, so its null space sees only the concavity
        hessian = gram(active)
        hessian[np.diag_indices(active.size)] += l2 - k
        if not _is_semidefinite(hessian):
            return i
    return None


def _is_semidefinite(matrix):
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.linalg.eigvalsh(matrix)[0] >= 0
    return True
