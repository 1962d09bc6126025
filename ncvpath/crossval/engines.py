"""Where folds are fitted: in this process, together with the path, or wherever an
executor is."""

import os
import tempfile
from concurrent.futures import (
    FIRST_EXCEPTION,
    BrokenExecutor,
    CancelledError,
    ProcessPoolExecutor,
)
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from ..matrices import open_matrix
from ..matrices.columns import Columns
from ..matrices.design import standardized
from ..matrices.sparse import SparseColumns
from ..path import assemble, choose_lambdas, compute
from ..runtime.memory import TooLargeError, advised
from ..runtime.threads import Crew, working
from ..solver import certificates
from ..solver.problem import pose
from ..solver.stretches import suits, take_stretches
from ..solver.walk import take_steps, walk
from .fold_fits import all_rows, fit_fold
from .lockstep import Commons, Companion

# Memory that the walks of a cross-validation may take together, as a share of X's own.
MEMORY = 0.4
# What helps where there is no memory for the folds.
FEWER_AT_ONCE = (
    "n_threads=1 has fewer folds under way at a time, keep=False keeps no predictions, "
    "and dfmax or a larger lambda_min_ratio keep models smaller"
)


def side_by_side(data, settings, splits, judge, bar, X, y):
    """The path and the fits of all folds, walking together in this process."""
    with working(settings.n_threads) as crew:
        matrix = open_matrix(data.X, crew)
        commons = Commons(matrix, settings.n_threads)
        hand = Crew(1)
        of_folds = replace(settings, record=False)
        stride = stride_of_folds(matrix, of_folds)
        alone = matrix.size < certificates.SMALL or stride is take_stretches

        def own_matrix():
            own = open_matrix(data.X, hand)
            return own if alone else Companion(own, commons)

        # What comes before the walks is done with everyone's threads.
        design, total, products = prepared(matrix, data, settings)
        design = replace(design, matrix=own_matrix())
        apart = alone or products is not None
        most = walkers_at_once(design, settings.n_threads, apart)
        problem, state = pose(data, settings, design, products)
        lambdas, hidden = choose_lambdas(problem, settings)
        of_folds = replace(of_folds, lambdas=lambdas)
        begun = [(problem, state)]  # to be dropped with all its memory at the end
        del design, problem, state, products

        def tick(count):
            commons.check()
            bar.tick(count)

        def full():
            problem, state = begun.pop()
            steps, stopped = walk(
                problem, state, lambdas, hidden, settings, tick, take_steps
            )
            return assemble(problem, state, data, settings, steps, stopped, X, y)

        def fold(k):
            try:
                with advised("a fold", FEWER_AT_ONCE):
                    return fit_fold(
                        data, of_folds, splits.train[k], splits.test[k], judge,
                        own_matrix(), tick, total, stride,
                    )
            except (ValueError, FloatingPointError, MemoryError) as error:
                raise failure(k, error) from error

        folds = [partial(fold, k) for k in range(len(splits.test))]
        path, *fits = commons.run([full, *folds], most)
    return path, fits


def prepared(matrix, data, settings):
    """The design of all rows, and what folds derive theirs from."""
    figures = matrix.measure(data.weights, settings.intercept)
    design = standardized(matrix, data.weights, settings.standardize, *figures)
    return design, *all_rows(design, figures, settings)


def stride_of_folds(matrix, settings):
    """How folds walk, wherever they do."""
    return take_stretches if suits(matrix, settings) else take_steps


def walkers_at_once(design, n_threads, apart):
    """How many walks to have under way: more share a pass, and need more memory.

    Each needs matrices as large as its support may become, and dozens of vectors.
    """
    if apart:
        return n_threads  # nobody waits for others, but with the null model perhaps
    largest = min(design.n, design.p)
    each = 8 * (3 * largest**2 // 2 + 12 * design.n + 48 * design.p)
    return max(n_threads, int(MEMORY * design.matrix.nbytes / each))


def collected(futures):
    """Results in order; the first real failure is raised, with the fold's number."""
    for k, future in enumerate(futures):
        if future.cancelled() or not future.done():
            continue  # because of another's failure, or of a cluster's
        error = future.exception()
        if isinstance(error, Exception):
            raise failure(k, error) from error
        if error is not None:
            raise error  # an interrupt that a worker was the first to hear
    for k, future in enumerate(futures):
        if future.cancelled():
            raise failure(k, CancelledError("its task was cancelled"))
    return [future.result() for future in futures]


def failure(fold, error):
    """The error of a fold, saying which."""
    if isinstance(error, MemoryError):
        return TooLargeError(f"in fold {fold} (from 0): {error}")
    if isinstance(error, (ValueError, FloatingPointError)):
        return type(error)(f"in fold {fold} (from 0): {error}")
    return RuntimeError(f"the worker of fold {fold} (from 0) failed: {error!r}")


class OnDisk(NamedTuple):
    """Arrays in a file, one after another: of a sparse matrix three, or just one."""

    file: str
    shape: tuple[int, int]
    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]


def elsewhere(data, settings, splits, judge, bar, X, y, executor, X_there):
    """The path here, and then the fits of all folds as tasks of an executor."""
    with working(settings.n_threads) as crew:
        path = compute(data, settings, crew, bar, X, y)
        settings = replace(settings, lambdas=path.lambdas, n_threads=1, record=False)
        matrix = open_matrix(data.X, crew)
        _, total, _ = prepared(matrix, data, settings)
        stride = stride_of_folds(matrix, settings)
    rest = replace(data, X=None, names=())
    futures = []
    try:
        for train, test in zip(splits.train, splits.test):
            future = executor.submit(
                task, X_there, rest, settings, train, test, judge, total, stride
            )
            future.add_done_callback(lambda _: bar.tick(settings.lambdas.size))
            futures.append(future)
        wait_for(futures, return_when=FIRST_EXCEPTION)
    except BrokenExecutor as error:
        raise failure(len(futures), error) from error
    finally:
        for future in futures:
            future.cancel()
    return path, collected(futures)


def task(X, data, settings, train, test, judge, total, stride):
    """One fold, in whatever process this is."""
    if isinstance(X, OnDisk):
        X = opened(X)
    with working(1) as crew, advised("a fold", FEWER_AT_ONCE):
        data = replace(data, X=X)
        return fit_fold(
            data, settings, train, test, judge, open_matrix(X, crew), lambda _: None,
            total, stride,
        )


@lru_cache(maxsize=1)
def opened(where):
    """The matrix in a file, mapped once per process."""
    arrays, offset = [], 0
    for size, dtype in zip(where.sizes, where.dtypes):
        mapped = np.memmap(where.file, dtype, mode="r", offset=offset, shape=(size,))
        arrays.append(np.asarray(mapped))
        offset += arrays[-1].nbytes
    if len(arrays) == 1:
        return arrays[0].reshape(where.shape, order="F")
    return SparseColumns(*arrays, where.shape)


def written(X, file):
    """X in a file, for other processes to map."""
    if isinstance(X, SparseColumns):
        parts = X.arrays
    else:
        parts = X.blocks(Crew(1)) if isinstance(X, Columns) else (X,)
    with open(file, "wb") as stream:
        for part in parts:
            part.ravel(order="F").tofile(stream)
    arrays = X.arrays if isinstance(X, SparseColumns) else (X,)
    return OnDisk(
        file, X.shape, tuple(array.size for array in arrays),
        tuple(array.dtype.str for array in arrays),
    )


@contextmanager
def shipped(X, executor):
    """X in the form in which tasks of this executor get it cheapest.

    It travels once per worker where that can be, for all combinations.
    """
    client = getattr(executor, "_client", None)
    if hasattr(client, "scatter"):  # dask.distributed
        yield client.scatter(X, broadcast=True, hash=False)
    elif isinstance(executor, ProcessPoolExecutor):
        handle, file = tempfile.mkstemp(suffix=".ncvpath")
        os.close(handle)
        try:
            yield written(X, file)
        finally:
            with suppress(OSError):  # where a worker still has it open
                os.unlink(file)
    else:
        yield X
