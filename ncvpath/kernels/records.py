"""What kernels take: records of arrays, one for each thing that travels together.

Plain NamedTuples, so that they cross into compiled code and can be made without it.
"""

from typing import NamedTuple

import numpy as np


class Penalty(NamedTuple):
    """A penalty as the kernels take it."""

    kind: int
    shape: float  # gamma, or gamma sd(y) where the table says so; unused by the lasso


class Scaling(NamedTuple):
    """What standardizes the columns of a dense matrix, which comes beside it: older
    numbas mistake arrays in records if their type differs from call to call."""

    center: np.ndarray  # p
    scale: np.ndarray  # p


class CscColumns(NamedTuple):
    """A sparse matrix: column j holds data[i] in rows indices[i], which ascend, i from
    indptr[j] up to indptr[j + 1]."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    center: np.ndarray  # p
    scale: np.ndarray  # p


class Features(NamedTuple):
    """What stays the same along the path, for the features of a working set."""

    penalty_factor: np.ndarray  # multiplies the sparse penalty
    ridge_factor: np.ndarray  # and the ridge
    norm2: np.ndarray  # <x_j, x_j>
    unit: np.ndarray  # of violations, where the penalty is that of unit_j beta_j


class Coordinates(NamedTuple):
    """The problem on a working set at one lambda; coordinates may change places."""

    order: np.ndarray  # where in the working set each belongs
    slots: np.ndarray  # its row of the Gram matrix
    l1: np.ndarray
    v: np.ndarray  # <x_j, x_j> + l2_j
    beta: np.ndarray
    q: np.ndarray  # <x_j, residual> - l2_j beta_j


class Products(NamedTuple):
    """The Gram matrix, as far as it is known."""

    values: np.ndarray  # <x_j, x_k> by row and slot
    rows: np.ndarray  # by slot: its row, or -1


# What stands where in `Progress.counts`: the lambda that is being solved, coordinates
# in use, which one comes next (-1: the lambda begins), sweeps and Newton steps so far,
# and sweeps of all that may come before those in use settle.
AT_LAMBDA, N_ACTIVE, COORDINATE, N_SWEEPS, N_STEPS, N_TOGETHER = range(6)
# In `Progress.figures`: the largest violation of the sweep, the largest meaningful
# size, and the violation in a valley.
WORST, MEANINGFUL, VALLEY = range(3)
# In `Cholesky.size`: rows in use, how many of them, at most, have a stale diagonal, and
# whether any pivot has been raised since the path began.
N_ROWS, N_STALE, HAS_RAISED = range(3)


class Progress(NamedTuple):
    """Where descent on a block of lambdas has come to, and goes on from."""

    counts: np.ndarray  # integers, by AT_LAMBDA and so on
    figures: np.ndarray  # numbers, by WORST and so on
    results: np.ndarray  # by lambda: sweeps, Newton steps, violation left, coefficients


class Cholesky(NamedTuple):
    """The Cholesky factor of the support's Newton system.

    It stays from one lambda to the next, which differ by a few rows.
    """

    lower: np.ndarray
    slots: np.ndarray  # by row: the coordinate's slot in the Gram matrix
    diagonal: np.ndarray  # the diagonal of the system
    left: np.ndarray  # of the curvature, the share in the pivot; 0: it was raised
    size: np.ndarray  # integers, by N_ROWS and so on


class Sweeps(NamedTuple):
    """How far to descend on a Gram matrix."""

    target: float  # the largest violation that may be left
    max_epochs: int  # for the first lambda of the block
    max_epochs_each: int  # for each of the others
    max_work: float  # products after which no further lambda is begun


class ResidualSweeps(NamedTuple):
    """How far to descend with residual updates."""

    target: float
    max_epochs: int
    cyclic: bool  # whether all coordinates are swept, or the support until it settles


class Moves(NamedTuple):
    """The most promising moves of coordinates, in order."""

    rises: np.ndarray  # of the objective, as foreseen
    moves: np.ndarray  # int: who leaves and who enters
    entries: np.ndarray  # the value that one takes
