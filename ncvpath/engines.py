"""Where folds are fitted: on threads of this process, or wherever an executor is."""

import os
import tempfile
import threading
from concurrent.futures import (
    FIRST_EXCEPTION,
    BrokenExecutor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .fold_fits import fit_fold
from .sparse_inputs import Columns
from .threads import Crew, working


class FoldInterruptedError(Exception):
    """Another fold failed, or the user has had enough."""


def run_folds(data, settings, splits, judge, executor, X, bar):
    """The fits of all folds, in order; X is how tasks of the executor get it."""
    if executor is None:
        return on_threads(data, settings, splits, judge, bar)
    return elsewhere(data, settings, splits, judge, executor, X, bar)


def on_threads(data, settings, splits, judge, bar):
    """Folds side by side in this process, each on one thread."""
    stop = threading.Event()

    def tick(count):
        if stop.is_set():
            raise FoldInterruptedError
        bar.tick(count)

    def one(fold):
        return fit_fold(data, settings, *fold, judge, Crew(1), tick)

    folds = list(zip(splits.train, splits.test))
    hands = min(settings.n_threads, len(folds))
    with working(1), ThreadPoolExecutor(hands, "ncvpath-fold") as pool:
        futures = []
        try:
            futures += [pool.submit(one, fold) for fold in folds]
            wait_for(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
            for future in futures:
                future.cancel()
    return collected(futures)


def collected(futures):
    """Results in order; the first real failure is raised, with the fold's number."""
    for k, future in enumerate(futures):
        if future.cancelled() or not future.done():
            continue
        error = future.exception()
        if error is not None and not isinstance(error, FoldInterruptedError):
            raise failure(k, error) from error
    return [future.result() for future in futures]


def failure(fold, error):
    """The error of a fold, saying which."""
    if isinstance(error, (ValueError, FloatingPointError)):
        return type(error)(f"in fold {fold} (from 0): {error}")
    return RuntimeError(f"the worker of fold {fold} (from 0) failed: {error!r}")


class OnDisk(NamedTuple):
    """Arrays in a file, one after another: of a sparse matrix three, or just one."""

    file: str
    shape: tuple[int, int]
    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]


def elsewhere(data, settings, splits, judge, executor, X, bar):
    """Folds as tasks of an executor."""
    settings = replace(settings, n_threads=1, progress=False)
    rest = replace(data, X=None, names=())
    futures = []
    try:
        for train, test in zip(splits.train, splits.test):
            future = executor.submit(task, X, rest, settings, train, test, judge)
            future.add_done_callback(lambda _: bar.tick(settings.lambdas.size))
            futures.append(future)
        wait_for(futures, return_when=FIRST_EXCEPTION)
    except BrokenExecutor as error:
        raise failure(len(futures), error) from error
    finally:
        for future in futures:
            future.cancel()
    return collected(futures)


def task(X, data, settings, train, test, judge):
    """One fold, in whatever process this is."""
    if isinstance(X, OnDisk):
        X = opened(X)
    with working(1) as crew:
        data = replace(data, X=X)
        return fit_fold(data, settings, train, test, judge, crew, lambda _: None)


@lru_cache(maxsize=1)
def opened(where):
    """The matrix in a file, mapped once per process."""
    arrays, offset = [], 0
    for size, dtype in zip(where.sizes, where.dtypes):
        arrays.append(mapped(where.file, offset, size, np.dtype(dtype)))
        offset += arrays[-1].nbytes
    if len(arrays) == 1:
        return arrays[0].reshape(where.shape, order="F")
    return Columns(*arrays, where.shape)


def mapped(file, offset, size, dtype):
    """An array in a file; nothing cannot be mapped."""
    if size == 0:
        return np.empty(0, dtype)
    return np.asarray(np.memmap(file, dtype, mode="r", offset=offset, shape=(size,)))


def written(X, file):
    """X in a file, for other processes to map."""
    arrays = X.arrays if isinstance(X, Columns) else (X.ravel(order="F"),)
    with open(file, "wb") as stream:
        for array in arrays:
            array.tofile(stream)
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
