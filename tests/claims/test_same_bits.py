"""What is only watched or shared out is not changed: not one bit of any result."""

import numpy as np
import pytest
from conftest import draw
from fitting import cross_validate, fit
from scipy import sparse

from ncvpath.penalties import ROWS

every_penalty = pytest.mark.parametrize("penalty", [row.name for row in ROWS])
every_size = pytest.mark.parametrize("certify_from", [0, 2_000_000])
KINDS = {
    "dense": np.asfortranarray,
    "sparse": lambda X: sparse.csc_array(np.where(np.abs(X) > 1, X, 0.0)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
WATCHED = [
    dict(record=True), dict(progress=True), dict(n_threads=3),
    dict(record=True, progress=True, n_threads=2),
]


@pytest.fixture(autouse=True)
def in_pieces(monkeypatch):
    """Small matrices, too, are shared out among threads."""
    for kind in ("dense", "sparse"):
        monkeypatch.setattr(f"ncvpath.matrices.{kind}.ALONE", 1000)
        monkeypatch.setattr(f"ncvpath.matrices.{kind}.PIECE", 10_000)
    monkeypatch.setattr("ncvpath.matrices.dense.NARROW", 10)  # none is tall


def problem(kind):
    X, y = draw(120, 1000, seed=4, nonzero=8)
    return KINDS[kind](X), y


def bits(path):
    """All that a path says, but for seconds."""
    arrays = [
        path.lambdas, path.intercept, path.loss, path.objective, path.violation,
        path.n_epochs, path.beta.data, path.beta.indices, path.beta.indptr,
    ]
    arrays += [counts for name, counts in path.work.items() if name != "seconds"]
    said = (path.status, path.convex_min, path.stopped)
    return said, [array.tobytes() for array in arrays]


@every_penalty
@every_kind
@every_size
def test_records_progress_and_threads_change_no_bit(penalty, kind, certify_from):
    X, y = problem(kind)
    fine = dict(penalty=penalty, nlambda=60, lambda_min_ratio=0.2)
    path = unchanged(X, y, certify_from=certify_from, **fine)
    assert (path.work["certified"].sum() > 0) == (certify_from == 0)
    # So coarse a grid that lambdas take many rounds.
    coarse = dict(penalty=penalty, nlambda=5, lambda_min_ratio=0.02, n_added=1)
    path = unchanged(X, y, certify_from=certify_from, **coarse)
    assert path.work["rounds"].max() > 10


def unchanged(X, y, **settings):
    """The path, once it has been found to be the same in all ways."""
    plain = fit(X, y, n_threads=1, **settings)
    for watched in WATCHED:
        path = fit(X, y, **settings | dict(n_threads=1) | watched)
        assert bits(path) == bits(plain), watched
        assert (path.rounds is not None) == watched.get("record", False)
    return plain


@every_penalty
@every_kind
@every_size
def test_dfmax_only_ends_the_path(penalty, kind, certify_from):
    X, y = problem(kind)
    settings = dict(penalty=penalty, nlambda=30, certify_from=certify_from)
    plain = fit(X, y, **settings)
    dfmax = int(plain.df[15])
    short = fit(X, y, dfmax=dfmax, **settings)
    size = short.lambdas.size
    assert size == np.argmax(plain.df > dfmax) and size >= 5 and short.stopped
    for name in ("lambdas", "intercept", "loss", "objective", "violation"):
        assert getattr(short, name).tobytes() == getattr(plain, name)[:size].tobytes()
    end = plain.beta.indptr[size]
    assert short.beta.data.tobytes() == plain.beta.data[:end].tobytes()
    assert short.beta.indices.tobytes() == plain.beta.indices[:end].tobytes()


@every_penalty
@every_kind
@every_size
def test_nor_do_they_in_cross_validation(penalty, kind, certify_from):
    X, y = problem(kind)
    settings = dict(
        penalty=penalty, nlambda=8, certify_from=certify_from, nfolds=3, keep=True,
        random_state=1,
    )

    def all_bits(cv):
        arrays = cv.cve, cv.cvse, cv.fold_errors, cv.predictions, cv.converged
        return bits(cv.fit), [array.tobytes() for array in arrays]

    plain = all_bits(cross_validate(X, y, n_threads=1, **settings))
    for watched in WATCHED[2:]:
        cv = cross_validate(X, y, **settings | dict(n_threads=1) | watched)
        assert all_bits(cv) == plain, watched
