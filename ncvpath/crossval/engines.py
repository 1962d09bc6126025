"""Where folds are fitted: in this process, together with the path, or wherever an
executor is."""

import os
import tempfile
import threading
from concurrent.futures import (
    FIRST_EXCEPTION,
    BrokenExecutor,
    CancelledError,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
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
from ..runtime.threads import ThreadPool, working
from ..solver.follow import follow
from ..solver.null_model import pose
from .fold_fits import all_rows, fit_fold

# What helps where there is no memory for the folds.
FEWER_AT_ONCE = (
    "n_threads=1 has fewer folds under way at a time, keep=False keeps no predictions, "
    "and dfmax or a larger lambda_min_ratio keep models smaller"
)


def side_by_side(data, settings, splits, judge, bar, X, y):
    """The path and the fits of all folds, in this process, a thread for each."""
    with working(settings.n_threads) as threads:
        design, total, products = prepared(open_matrix(data.X, threads), data, settings)
        problem, state = pose(data, settings, design, products)
        threads.n_threads = 1  # what comes now has one for each job
        lambdas, warm_up_lambdas = choose_lambdas(problem, settings)
        of_folds = replace(settings, lambdas=lambdas, record=False)
        begun, cancelled = [(problem, state)], threading.Event()
        reached = [lambdas.size]  # and how many the path has, once that is known
        del design, problem, state, products  # with the job that has them all goes

        def tick(count):
            if cancelled.is_set():
                raise CancelledError
            bar.tick(count)

        def full():
            problem, state = begun.pop()
            path = follow(problem, state, lambdas, warm_up_lambdas, settings, tick)
            reached.append(path.lambdas.size)
            return assemble(problem, state, data, settings, path, X, y)

        def fold(k):
            try:
                own = replace(of_folds, lambdas=lambdas[: reached[-1]])
                with advised("a fold", FEWER_AT_ONCE):
                    return fit_fold(
                        data, own, splits.train[k], splits.test[k], judge,
                        open_matrix(data.X, threads), tick, total,
                    )
            except (ValueError, FloatingPointError, MemoryError) as error:
                raise failure(k, error) from error

        jobs = [full, *(partial(fold, k) for k in range(len(splits.test)))]
        path, *fits = run_all(jobs, settings.n_threads, cancelled)
    return path, fits


def run_all(jobs, n_threads, cancelled):
    """The results of all jobs; if one fails, or at an interrupt, the others are
    cancelled, and the first failure in their order is raised."""
    futures = []
    with ThreadPoolExecutor(n_threads, "ncvpath-fold") as pool:
        try:
            for job in jobs:
                futures.append(pool.submit(job))
            wait_for(futures, return_when=FIRST_EXCEPTION)
        finally:
            if sum(future.done() for future in futures) < len(jobs):
                cancelled.set()
                pool.shutdown(cancel_futures=True)
    for future in futures:
        error = None if future.cancelled() else future.exception()
        if error is not None and not isinstance(error, CancelledError):
            raise error
    return [future.result() for future in futures]


def prepared(matrix, data, settings):
    """The design of all rows, and what folds derive theirs from."""
    figures = matrix.measure(data.weights, settings.centers)
    design = standardized(matrix, data.weights, settings.standardize, *figures)
    return design, *all_rows(design, figures, settings)


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
    with working(settings.n_threads) as threads:
        path = compute(data, settings, threads, bar, X, y)
        settings = replace(settings, lambdas=path.lambdas, n_threads=1, record=False)
        matrix = open_matrix(data.X, threads)
        _, total, _ = prepared(matrix, data, settings)
    rest = replace(data, X=None, names=())
    futures = []
    try:
        for train, test in zip(splits.train, splits.test):
            future = executor.submit(
                task, X_there, rest, settings, train, test, judge.of_a_fold, total
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


def task(X, data, settings, train, test, judge, total):
    """One fold, in whatever process this is."""
    if isinstance(X, OnDisk):
        X = opened(X)
    with working(1) as threads, advised("a fold", FEWER_AT_ONCE):
        data = replace(data, X=X)
        return fit_fold(
            data, settings, train, test, judge, open_matrix(X, threads), lambda _: None,
            total,
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
        parts = X.blocks(ThreadPool(1)) if isinstance(X, Columns) else (X,)
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
