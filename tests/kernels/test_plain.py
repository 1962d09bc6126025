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

from ncvpath import cv_ncvpath, kernels, ncvpath
from ncvpath.matrices import dense, sparse
from ncvpath.penalties import ROWS, Penalty
from ncvpath.solver import certificates
from ncvpath.solver.gram import empty_factor

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
    """(name, fit) of small fits by every way there is."""
    X, y = draw(30, 8, seed=1)
    wide, target = draw(30, 60, seed=2)
    thin = thinned(wide)
    # Of equal columns it is up to rounding who gets which share.
    ties = np.c_[X, X[:, :2], -X[:, :1]]
    few = dict(nlambda=8, tol=1e-10)
    for name in NAMES:
        yield f"{name} dense", lambda name=name: ncvpath(
            X, y, penalty=name, **few, **settings_of(8)
        )
        yield f"{name} raw", lambda name=name: ncvpath(
            X, y, penalty=name, standardize=False, intercept=False, **few
        )
        yield f"{name} rounds", lambda name=name: ncvpath(
            wide, target, penalty=name, record=True, n_added=2, **few
        )
        yield f"{name} steep", lambda name=name: ncvpath(
            0.3 * X, y, penalty=name, standardize=False, lambda_min_ratio=0, **few
        )
        yield f"{name} sparse", lambda name=name: ncvpath(
            thin, target, penalty=name, **few, **settings_of(60)
        )
        yield f"{name} ties", lambda name=name: ncvpath(ties, y, penalty=name, **few)
    for solver in ("bcd", "gist", "mm-cd"):
        for kind, design in (("dense", wide), ("sparse", thin)):
            yield f"{solver} {kind}", lambda s=solver, X=design: ncvpath(
                X, target, penalty="MCP", solver=s, nlambda=5, tol=1e-13,
                lambda_min_ratio=0.3,
            )
    yield "maxvc", lambda: ncvpath(wide, target, working_set="maxvc", **few)
    yield "full", lambda: ncvpath(wide, target, working_set="full", **few)
    yield "float32", lambda: ncvpath(wide.astype(np.float32), target, **few)
    yield "int8", lambda: ncvpath((4 * X).astype(np.int8), y, **few)
    yield "dfmax", lambda: ncvpath(X, y, dfmax=2, **few)


def numbers_of_paths():
    """What each fit found; X is taken to be large, and is cut into pieces."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (dense, sparse):
            patch.setattr(module, "ALONE", 100)
            patch.setattr(module, "PIECE", 100)
        for kind, small in (("", certificates.SMALL), (" large", 0)):
            patch.setattr(certificates, "SMALL", small)
            for name, fit in paths():
                path = fit()
                shares = [] if "ties" in name else path.coef().to_numpy().ravel()
                yield name + kind, np.r_[shares, path.objective]
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
    factor, found = empty_factor(150), []
    for support in (slots[:140], slots[3:], slots[70:80], slots[65:81]):
        place = np.empty(support.size, dtype=np.int64)
        diagonal = gram.diagonal()[support]
        kernels.fit_factor(
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
    by_gram = np.zeros(2)
    epochs, *_ = kernels.descend_gram(
        gram, two.copy(), two.copy(), penalty, l1, np.ones(2), by_gram,
        np.array([1.0, 0.7]), empty_factor(0), np.empty((2, 2)), never, most,
    )
    assert kernels.MAX_IDLE < epochs < most
    weights, center, scale = np.full(3, 1 / 3), np.zeros(2), np.ones(2)
    l2 = np.full(2, 0.1)
    rest = center, scale, two, penalty, l1, weights @ columns.T**2 + l2, l2
    sparse_columns = (
        columns.ravel(), np.tile(np.arange(3, dtype=np.uint32), 2), np.array([0, 3, 6])
    )
    dense_beta, sparse_beta = np.zeros((2, 2))
    for descend, X, beta in (
        (kernels.descend_residual, (columns.ravel(),), dense_beta),
        (kernels.descend_sparse, sparse_columns, sparse_beta),
    ):
        y = np.array([1.0, 0.3, -0.4])
        for target, cyclic, least in (
            (1e-9, False, 1), (never, True, kernels.MAX_IDLE_SWEEPS)
        ):
            pace = np.array([0.0, np.inf, not cyclic, False])
            epochs = descend(*X, weights, *rest, beta, y, target, cyclic, most, pace)
            assert least < epochs < least + 1000 and pace[3]
    return np.concatenate([by_gram, dense_beta, sparse_beta])


def subnormal_columns():
    """Standardized columns of which the first's scale has no reciprocal."""
    X, scale, out = np.array([1e-310, -3e-310, 2.0, 4.0]), np.ones(2), np.empty((2, 2))
    scale[0] = 2e-310
    kernels.copy_columns(X, np.arange(2), np.zeros(2), scale, 0, out)
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
