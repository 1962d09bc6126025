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

from .columns import Columns
from .fold_fits import fit_fold
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
    """A matrix in a file, column after column."""

    file: str
    dtype: np.dtype
    shape: tuple[int, int]


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
    mapped = np.memmap(where.file, where.dtype, "r", shape=where.shape, order="F")
    return np.asarray(mapped)


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
            with open(file, "wb") as stream:
                for block in X.blocks(Crew(1)) if isinstance(X, Columns) else [X]:
                    block.ravel(order="F").tofile(stream)
            yield OnDisk(file, X.dtype, X.shape)
        finally:
            with suppress(OSError):  # where a worker still has it open
                os.unlink(file)
    else:
        yield X
