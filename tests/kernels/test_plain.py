"""The kernels as plain Python: the same answers, and no index out of its array.

Compiled code checks no index and knows no integers without end. Here every kernel runs
interpreted on tiny problems, in a process of its own, and must find what the compiled
one finds. Coverage of the kernels is measured in that process.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import INTERPRETED, TESTS, draw
from fitting import fit

from ncvpath import cv_ncvpath, kernels
from ncvpath.kernels.records import (
    Coordinates,
    CscColumns,
    Features,
    Penalty,
    Products,
    Progress,
    ResidualSweeps,
    Scaling,
    Sweeps,
)
from ncvpath.kernels.shared import MAX_IDLE_SWEEPS
from ncvpath.matrices import dense, sparse
from ncvpath.penalties import ROWS
from ncvpath.solver import certificates
from ncvpath.solver.gram import empty_cholesky

pytestmark = [
    pytest.mark.plain, pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
]
NAMES = [row.name for row in ROWS]


def settings_of(p):
    """Weights, factors and a ridge, with zeros and infinities."""
    return dict(
        weights=np.r_[0.0, 0.0, np.linspace(0.5, 2, 28)], alpha=0.7,
        penalty_factor=np.r_[0.0, np.inf, np.linspace(0.5, 2, p - 2)],
    )


def thinned(X):
    """Sparse columns: one stored in full, one empty."""
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    X[:, 2], X[:, 3] = 5 + np.arange(X.shape[0]), 0.0
    return sp.csc_array(X)


def paths():
    """(name, X, y, arguments) of small fits by every way there is."""
    X, y = draw(30, 8, seed=1)
    wide, target = draw(30, 60, seed=2)
    thin = thinned(wide)
    # Of equal columns it is up to rounding who gets which share.
    ties = np.c_[X, X[:, :2], -X[:, :1]]
    few = dict(nlambda=8, tol=1e-10)
    for name in NAMES:
        own = few | dict(penalty=name)
        yield f"{name} dense", X, y, own | settings_of(8)
        yield f"{name} raw", X, y, own | dict(standardize=False, intercept=False)
        yield f"{name} rounds", wide, target, own | dict(record=True, n_added=2)
        steep = dict(standardize=False, lambda_min_ratio=0)
        yield f"{name} steep", 0.3 * X, y, own | steep
        yield f"{name} sparse", thin, target, own | settings_of(60)
        yield f"{name} ties", ties, y, own
    for solver in ("bcd", "gist", "mm-cd"):
        own = dict(penalty="MCP", solver=solver, nlambda=5, tol=1e-13)
        for kind, design in (("dense", wide), ("sparse", thin)):
            yield f"{solver} {kind}", design, target, own | dict(lambda_min_ratio=0.3)
    yield "maxvc", wide, target, few | dict(working_set="maxvc")
    yield "full", wide, target, few | dict(working_set="full")
    yield "float32", wide.astype(np.float32), target, few
    yield "int8", (4 * X).astype(np.int8), y, few
    yield "dfmax", X, y, few | dict(dfmax=2)
    classes = dict(family="binomial", penalty="lasso", nlambda=5, tol=1e-10)
    for kind, design in (("dense", X), ("sparse", thinned(X))):
        yield f"classes {kind}", design, y > y.mean(), classes
    light = dict(weights=np.where(X[:, 0] > 0, 1.0, 1e-9), nlambda=3)
    yield "light zeros", sp.csc_array(X * (X[:, :1] > 0)), y, light
    alike = X[:, :1] + 0.5 * X
    for search in ("both", "thorough"):
        deep = dict(gamma=1.2, lambda_min_ratio=1e-3, search=search)
        yield search, alike, y, few | deep
    free = dict(penalty_factor=np.r_[0.0, 0.0, np.ones(58)], search="thorough")
    yield "thorough, some free", wide, target, few | free


def numbers_of_paths():
    """What each fit found; X is taken to be large, and is cut into pieces."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (dense, sparse):
            patch.setattr(module, "ALONE", 100)
            patch.setattr(module, "PIECE", 100)
        patch.setattr(certificates, "FEW_ENTRIES", 0)
        for kind, size in (("", np.inf), (" large", 0)):
            certified = 0
            for name, X, y, arguments in paths():
                path = fit(X, y, certify_from=size, **arguments)
                shares = [] if "ties" in name else path.coef().to_numpy().ravel()
                yield name + kind, np.r_[shares, path.objective]
                certified += path.screening["certified"].sum()
            assert (certified > 0) == (size == 0)
        X, y = draw(30, 8, seed=1)
        X[:, 3] = 2.0
        for name, design in (("dense", X), ("sparse", thinned(X))):
            cv = cv_ncvpath(design, y, nfolds=3, random_state=1, nlambda=8, tol=1e-10)
            yield f"cv {name}", np.r_[cv.cve, cv.cvse, cv.null_error]
        with ThreadPoolExecutor(1) as pool:
            cv = cv_ncvpath(X, y, nfolds=3, random_state=1, nlambda=5, executor=pool)
            yield "cv elsewhere", cv.cve


def large_factor():
    """A factor that grows by groups, loses rows, and is begun again."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((300, 150))
    gram, slots = A.T @ A / 300 + np.eye(150), np.arange(150)
    factor, found = empty_cholesky(150), []
    for support in (slots[:140], slots[3:], slots[70:80], slots[65:81]):
        place = np.empty(support.size, dtype=np.int64)
        diagonal = gram.diagonal()[support]
        kernels.refactor(
            factor, gram, slots, support, diagonal, diagonal, 1e-12, place
        )
        found.append(np.tril(factor.lower[: support.size, : support.size])[place])
    return np.concatenate([part.ravel() for part in found])


def unreachable_target():
    """Where sweeps of every kind end up that can never do what is asked."""
    gram = np.array([[1.0, 0.9], [0.9, 1.0]])
    columns = np.array([[1.0, -1.0, 2.0], [1.0, -1.5, 1.7]])
    penalty, l1, two = Penalty(1, 3.0), np.full(2, 0.01), np.arange(2)
    never, most = -1.0, 100_000
    r = Coordinates(
        two.copy(), two.copy(), np.empty(2), np.empty(2), np.zeros(2),
        np.array([1.0, 0.7]),
    )
    progress = Progress(np.array([0, 0, -1, 0, 0, 0]), np.zeros(3), np.empty((1, 5)))
    ones = np.ones(2)
    kernels.descend_block(
        Products(gram, two), r, Features(ones, np.zeros(2), ones, ones), penalty,
        np.array([[0.01, 0.0]]), empty_cholesky(0), np.empty((2, 2)),
        Sweeps(never, most, most, np.inf), progress,
    )
    by_gram = progress.results[0, 3:]
    assert kernels.MAX_IDLE < progress.results[0, 0] < most
    weights, center, scale = np.full(3, 1 / 3), np.zeros(2), np.ones(2)
    l2 = np.full(2, 0.1)
    stored = (
        columns.ravel(), np.tile(np.arange(3, dtype=np.uint32), 2), np.array([0, 3, 6])
    )
    dense_beta, sparse_beta = np.zeros((2, 2))
    for descend, X, beta in (
        (kernels.descend_dense, (columns.ravel(), Scaling(center, scale)), dense_beta),
        (kernels.descend_sparse, (CscColumns(*stored, center, scale),), sparse_beta),
    ):
        y = np.array([1.0, 0.3, -0.4])
        r = Coordinates(two, two, l1, weights @ columns.T**2 + l2, beta, np.zeros(2))
        for target, cyclic, least in (
            (1e-9, False, 1), (never, True, MAX_IDLE_SWEEPS)
        ):
            pace = np.array([0.0, np.inf, not cyclic, False])
            epochs = descend(
                *X, weights, two, penalty, r, l2, y,
                ResidualSweeps(target, most, cyclic), pace,
            )
            assert least < epochs < least + 1000 and pace[3]
    return np.concatenate([by_gram, dense_beta, sparse_beta])


def subnormal_columns():
    """Standardized columns of which the first's scale has no reciprocal."""
    X, scale, out = np.array([1e-310, -3e-310, 2.0, 4.0]), np.ones(2), np.empty((2, 2))
    scale[0] = 2e-310
    kernels.copy_columns(X, Scaling(np.zeros(2), scale), np.arange(2), 0, out)
    return out.ravel()


def all_numbers():
    """Everything that is compared, by name."""
    found = dict(numbers_of_paths())
    found["factor"] = large_factor()
    found["subnormal"] = subnormal_columns()
    found["unreachable"] = unreachable_target()
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The numbers found by plain Python, and by compiled code."""
    file = tmp_path_factory.mktemp("plain") / "numbers.npz"
    places = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, __file__, str(file)], text=True, capture_output=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": places},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    with np.load(file) as plain:
        return dict(plain), all_numbers()


def test_plain_python_finds_what_compiled_code_finds(both):
    plain, compiled = both
    assert plain.keys() == compiled.keys() and len(plain) > 60
    for name, expected in compiled.items():
        assert expected.shape == plain[name].shape, name
        off = np.abs(plain[name] - expected).max() / np.abs(expected).max()
        assert off <= 1e-12, (name, off)


if __name__ == "__main__":
    np.savez(sys.argv[1], **all_numbers())
