"""The paper's problems, with columns of length one (Rakotomamonjy et al., 2022)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .problems import SHARED, loaded


class Draw(NamedTuple):
    """One problem; `truth` are the features in the model it was drawn from, if any."""

    X: np.ndarray  # or a sparse array
    y: np.ndarray
    truth: np.ndarray | None = None


class Problem(NamedTuple):
    """A row group of the paper's table."""

    label: str
    make: Callable  # from the number of the draw; None when the data are not here
    random: bool  # False: repeats only repeat the timing
    n_added: int = 30
    tols: tuple[float, float] = (1e-3, 1e-5)


def toy(n, p, nonzero, seed=0):
    """Normal columns; coefficients N(0, 1) pushed from 0 by 0.1; noise of sd 0.01."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    X /= np.linalg.norm(X, axis=0)
    truth = np.sort(rng.permutation(p)[:nonzero])
    size = rng.standard_normal(nonzero)
    signal = X[:, truth] @ (size + 0.1 * np.sign(size))
    return Draw(X, signal + 0.01 * rng.standard_normal(n), truth)


def leukemia():
    """Leukemia with centred columns of length one and centred labels +1, -1."""
    rows = leukemia_rows()
    if rows is None:
        return None
    X, labels = rows
    centre, length = centre_and_length(X)
    return Draw(np.asfortranarray((X - centre) / length), labels - labels.mean())


def leukemia_rows():
    """Leukemia as it is, with labels +1 and -1; None when it is not here."""
    if not at_hand():
        return None
    X, y = loaded("leukemia_libsvm")
    return X, np.where(y == 1, 1.0, -1.0)


def centre_and_length(X):
    """Means of the columns, and the lengths they have without; constant columns: 1."""
    centre = X.mean(axis=0)
    length = np.linalg.norm(X - centre, axis=0)
    return centre, np.where(length > 1e-12, length, 1.0)


def news(name):
    """Newsgroups: words of length one, the first class against the others."""
    if not at_hand():
        return None
    from scipy.sparse import csc_array, diags_array

    X, classes = loaded(name)
    X = csc_array(X)
    X = X[:, np.diff(X.indptr) > 0]
    length = np.sqrt(X.power(2).sum(axis=0))
    y = np.where(classes == 0, 1.0, -1.0)
    return Draw(csc_array(X @ diags_array(1 / length)), y)


def at_hand():
    """Whether the real data are here."""
    return (SHARED / "load.py").exists()


PROBLEMS = {
    "toy-small": Problem("Toy small", lambda k: toy(100, 1000, 30, k), True),
    "toy-large": Problem("Toy large", lambda k: toy(1000, 5000, 500, k), True),
    "leukemia": Problem("Leukemia", lambda k: leukemia(), False),
    "news-3": Problem(
        "Newsgroup-3", lambda k: news("news20_3cat"), False, 300, (1e-2, 1e-4)
    ),
    "news-5": Problem(
        "Newsgroup-5", lambda k: news("news20_comp5"), False, 300, (1e-2, 1e-4)
    ),
}
