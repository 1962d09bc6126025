"""A fold is `ncvpath` on its training rows, whatever X is and however it is stored.

No fold copies X: rows held out have weight zero, figures of columns are derived from
those of all rows. What is predicted for the rows held out is to be the same.
"""

import numpy as np
import pytest
from conftest import draw
from fitting import cross_validate
from scipy import sparse

from ncvpath import assign_folds, ncvpath
from ncvpath.penalties import ROWS

CLOSE = 1e-8
# Beyond the convex region two descents may end in different valleys.
AGREE = 0.98


def numbers(n, p, seed):
    """Whole numbers, which every type of storage holds; many are zero."""
    X, y = draw(n, p, seed=seed, nonzero=6)
    return np.asfortranarray(np.trunc(2 * X)), y


def in_file(X, folder):
    X.T.tofile(folder / "X")
    return np.memmap(folder / "X", X.dtype, "r", shape=X.shape, order="F")


def in_hdf5(X, folder):
    h5py = pytest.importorskip("h5py", reason="needs h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file["X"] = X
    return h5py.File(folder / "X.h5", "r")["X"]


KINDS = {
    "float64": lambda X, _: X,
    "float32": lambda X, _: X.astype(np.float32),
    "int8": lambda X, _: X.astype(np.int8),
    "sparse": lambda X, _: sparse.csc_array(X),
    "memmap": in_file,
    "h5py": in_hdf5,
}


# Rows, columns, whether rows have weights, alpha, and numbers in X from which on there
# are certificates. The last is so tall that products of all columns serve all folds.
PROBLEMS = {
    "plain": (60, 20, False, 1.0, 2_000_000),
    "wide, weighted": (45, 90, True, 1.0, 2_000_000),
    "ridge": (60, 40, False, 0.5, 2_000_000),
    "certified": (60, 90, True, 0.5, 0),
    "tall": (200, 20, True, 1.0, 2_000_000),
}
SETTINGS = dict(nlambda=20, lambda_min_ratio=0.03, tol=1e-12)


class Posed:
    """One problem with its folds, and the paths on their training rows."""

    def __init__(self, seed, penalty, n, p, weighted, alpha, certify_from):
        self.X, self.y = numbers(n, p, seed)
        self.labels = assign_folds(n, 5, random_state=seed)
        self.weights, self.certify_from = None, certify_from
        if weighted:
            self.weights = np.random.default_rng(seed).uniform(0.2, 2, n)
            self.weights[::9] = 0  # such rows are in folds, too
        self.settings = SETTINGS | dict(penalty=penalty, alpha=alpha)
        path = ncvpath(self.X, self.y, weights=self.weights, **self.settings)
        self.lambdas = path.lambdas
        self.alone = [self.on_training_rows(fold) for fold in range(5)]

    def on_training_rows(self, fold):
        """The path, without the rows of a fold."""
        train = self.labels != fold
        weights = None if self.weights is None else self.weights[train]
        path = ncvpath(
            self.X[train], self.y[train], weights=weights, lambdas=self.lambdas,
            **self.settings,
        )
        assert path.converged.all()
        return path

    def agree(self, stored):
        """By fold and lambda: whether predictions of folds are those of the paths."""
        cv = cross_validate(
            stored, self.y, self.certify_from, folds=self.labels, keep=True,
            weights=self.weights, **self.settings,
        )
        np.testing.assert_allclose(cv.lambdas, self.lambdas, rtol=1e-12)
        assert cv.converged.all()
        return np.array([
            self.off(cv, fold).max(axis=0) <= CLOSE for fold in range(5)
        ])

    def off(self, cv, fold):
        """How far predictions are from those of the path, relative to the largest."""
        test = self.labels == fold
        expected = self.alone[fold].predict(self.X[test])
        return np.abs(cv.predictions[test] - expected) / np.abs(expected).max()

    @property
    def convex(self):
        """Likewise: whether they have to be."""
        if self.settings["penalty"] == "capped":  # nowhere
            return np.zeros((5, self.lambdas.size), dtype=bool)
        edges = [path.convex_min for path in self.alone]
        edges = [np.inf if edge is None else edge for edge in edges]
        return np.arange(self.lambdas.size) <= np.array(edges)[:, None]


@pytest.mark.parametrize("penalty", [row.name for row in ROWS])
def test_a_fold_is_a_path_on_its_training_rows(penalty, tmp_path, monkeypatch):
    monkeypatch.setattr("ncvpath.matrices.SMALL", 0)  # nothing is converted
    monkeypatch.setattr("ncvpath.matrices.dense.ALONE", 100)
    agree, n_convex = [], 0
    for seed, (name, settings) in enumerate(PROBLEMS.items()):
        posed = Posed(seed, penalty, *settings)
        convex = posed.convex
        n_convex += np.count_nonzero(convex)
        for kind, store in KINDS.items():
            folder = tmp_path / name / kind
            folder.mkdir(parents=True)
            same = posed.agree(store(posed.X, folder))
            assert same[convex].all(), (name, kind)
            agree.append(same)
    agree = np.concatenate(agree)
    share = n_convex * len(KINDS) / agree.size
    assert (share > 0.5) == (penalty != "capped")
    assert (share == 1) == (penalty == "lasso")
    # A fit agrees if all of its lambdas do.
    assert agree.all(axis=1).mean() >= AGREE
