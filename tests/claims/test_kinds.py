"""The same numbers make the same path, however X is stored."""

import numpy as np
import pytest
from conftest import draw
from fitting import fit
from scipy import sparse

from ncvpath.matrices.columns import SHORT
from ncvpath.penalties import ROWS

CLOSE = 1e-8


def in_file(X, folder, order):
    written = np.memmap(folder / order, X.dtype, "w+", shape=X.shape, order=order)
    written[:] = X
    written.flush()
    return np.memmap(folder / order, X.dtype, "r", shape=X.shape, order=order)


def stored(X, folder):
    """The kinds of X; entries are whole numbers, which all of them hold."""
    yield "dense", np.asfortranarray(X)
    yield "row after row", np.ascontiguousarray(X)
    yield "sparse", sparse.csc_array(X)
    yield "sparse by rows", sparse.csr_array(X)
    for dtype in SHORT:
        if dtype != np.uint8:
            yield np.dtype(dtype).name, np.asfortranarray(X.astype(dtype))
    for order in "FC":
        yield f"memmap {order}", in_file(X, folder, order)


@pytest.fixture(autouse=True)
def as_if_large(monkeypatch):
    """Nothing is converted, and files are read by several blocks of columns."""
    monkeypatch.setattr("ncvpath.matrices.SMALL", 0)
    monkeypatch.setattr("ncvpath.matrices.columns.BLOCK", 1 << 14)


@pytest.mark.parametrize("certify_from", [0, 2_000_000])
@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("penalty", [row.name for row in ROWS])
def test_kinds_of_x_agree(penalty, alpha, certify_from, tmp_path):
    X, y = draw(120, 250, seed=7, nonzero=10)
    X = np.trunc(2 * X)  # a third of it zero
    settings = dict(
        penalty=penalty, alpha=alpha, certify_from=certify_from, nlambda=20,
        lambda_min_ratio=0.05, tol=1e-12,
        weights=np.random.default_rng(1).uniform(0.5, 2, 120),
        penalty_factor=np.r_[0.0, 2.0, np.inf, np.ones(247)],
    )
    kinds = dict(stored(X, tmp_path))
    paths = {kind: fit(matrix, y, **settings) for kind, matrix in kinds.items()}
    dense = paths.pop("dense")
    assert len(paths) == 8
    # Of the capped penalty, which is convex nowhere, the first steps.
    edge = 5 if penalty == "capped" else dense.convex_min
    edge = 20 if edge is None else edge + 1
    assert edge >= 5 and dense.converged.all()
    expected = dense.beta[:, :edge].toarray()
    size = np.abs(expected).max()
    for kind, path in paths.items():
        np.testing.assert_allclose(path.lambdas, dense.lambdas, rtol=1e-12)
        np.testing.assert_allclose(
            path.beta[:, :edge].toarray(), expected, rtol=0, atol=CLOSE * size,
            err_msg=kind,
        )
        assert path.converged.all()
