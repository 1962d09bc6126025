"""What every path owes its user, whatever the problem: judged in extended precision."""

import warnings

import fitting
import numpy as np
from hypothesis import assume
from oracle import Problem
from scipy import sparse

from ncvpath.inputs.settings import Settings

WIDE = np.longdouble
REFUSALS = ("lambda_max must be positive", "y must vary", "weights must", "overflow")


def fit(X, y, certify_from=Settings.certify_from, **arguments):
    """A path, or nothing where the door says why not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return fitting.fit(X, y, certify_from, **arguments)
        except ValueError as refusal:
            said = str(refusal)
    assert any(reason in said for reason in REFUSALS), said
    if "lambda_max" in said:
        dense = X.toarray() if sparse.issparse(X) else X
        assert nothing_to_explain(dense, y, arguments)
    assume(False)


def nothing_to_explain(X, y, arguments):
    """Whether free features leave of y what rounding leaves.

    Entries of X are known to their last place; so is its rank, and near the edge of
    that, what holds for one reading of it may be said.
    """
    names = ("weights", "penalty_factor", "intercept", "standardize", "penalty")
    problem = Problem(X, y, kind=WIDE, **{name: arguments[name] for name in names})
    penalised = (problem.m > 0) & np.isfinite(problem.m)
    if not penalised.any():
        return True
    free, root = problem.m == 0, np.sqrt(problem.w)
    length = np.sqrt(problem.w @ problem.Z**2)
    A = problem.Z[:, free] / length[free] * root[:, None]
    far = np.abs(problem.center[free]) / (problem.scale[free] * length[free])
    known = max(A.shape) * 2.3e-16 + 2.3e-16 * free.sum() ** 0.5 * far.max(initial=0.0)
    off = 2e-16 * np.abs(problem.center) / problem.scale  # what rounded centres leave
    for cut in (max(A.shape) * 1e-16, known):
        b, left = np.zeros(A.shape[1], WIDE), problem.r0 * root
        for _ in range(3):  # the others for rounding in the first
            b = b + np.linalg.lstsq(A.astype(float), left.astype(float), float(cut))[0]
            left = problem.r0 * root - A @ b
        left = left * root
        terms = np.sqrt(problem.w @ problem.r0**2) + np.abs(b).sum()
        noise = 1e-12 * terms * length + np.abs(b / length[free]) @ off[free] * off
        if (np.abs(problem.Z.T @ left) <= noise)[penalised].all():
            return True
    return False


def is_honest(X, y, path, model, tol):
    """Numbers are finite, and what is called converged is."""
    assert np.isfinite(path.beta.data).all() and np.isfinite(path.intercept).all()
    assert np.isfinite(path.objective).all() and np.isfinite(path.violation).all()
    for converged, status in zip(path.converged, path.status):
        assert converged == status.startswith("converged")
    exact = Problem(X, y, kind=WIDE, **model)
    unit = exact.reach(exact.standardized(path, 0))
    for k in np.flatnonzero(path.converged):
        b = exact.standardized(path, k)
        assert exact.violation(b, path.lambdas[k]) <= 1.5 * tol * unit


def never_rises(X, y, path, model):
    """Each solution is no worse than the one before, from which it started."""
    problem = Problem(X, y, kind=WIDE, **model)
    solutions = [problem.standardized(path, k) for k in range(len(path.lambdas))]
    null = problem.objective(solutions[0], path.lambdas[0])
    off = 2.3e-16 * np.abs(problem.center) / problem.scale
    for k, lam in enumerate(path.lambdas[1:], 1):
        start = problem.objective(solutions[k - 1], lam)
        # Where rounding decides, it does so about the objective, too. Residuals are
        # off by what the rounding of centres leaves in columns.
        most = 1e-9 * null + max(off @ np.abs(b) for b in solutions[k - 1 : k + 1]) ** 2
        if not path.converged[k - 1 : k + 1].all():
            most = path.violation[k - 1 : k + 1].max() * (problem.w @ problem.r0**2)
        assert problem.objective(solutions[k], lam) <= start + most
