"""X as a dask array in chunks of whole columns.

What concerns all columns is computed where the chunks are: on the workers of a
`dask.distributed` cluster, or by dask's threads if there is none. Vectors of length n
go there; one number per column, or the columns that work, come back. Every call of
`each` or `fetch` is one round trip.
"""

import sys

import numpy as np

from ..runtime.memory import advised
from ..runtime.threads import ThreadPool
from .columns import BLOCK, in_columns, storage_type, unmasked
from .dense import dense_matrix

# The share of the cluster's memory that X may take while it is kept there.
SHARE = 1 / 3


def is_dask(X):
    """A dask array, recognised without importing dask."""
    return all(hasattr(X, name) for name in ("dask", "chunks", "to_delayed"))


class DaskColumns:
    """A dask array, as its readers see it."""

    distant = True

    def __init__(self, X):
        self.shape = tuple(int(size) for size in X.shape)
        self.size = self.shape[0] * self.shape[1]
        self.dtype = storage_type(X.dtype)
        widths = np.array(X.chunks[1], dtype=np.int64)
        self.ends = np.cumsum(widths)
        self.widths = widths
        self.width = max(BLOCK // (self.shape[0] * self.dtype.itemsize), 1)
        self.X = kept_there(X, self.dtype)  # a cluster forgets what nobody refers to
        self.chunks = self.X.to_delayed().ravel()

    def each(self, task, features, by_feature, threads, *shared):
        """Yield positions and task(matrix, their share, *shared), chunk by chunk.

        The last axis of `by_feature`, if any, follows `features`. `threads` stay here.
        """
        import dask

        shared = dask.delayed(shared, pure=False, traverse=False)
        work = dask.delayed(on_chunk, pure=False)
        places, tasks = [], []
        for some, chunk, local in self._owners(features):
            share = None if by_feature is None else np.take(by_feature, some, axis=-1)
            places.append(some)
            tasks.append(
                work(self.chunks[chunk], local, self.dtype, task, share, shared)
            )
        with advised("a chunk of X", "X.rechunk((-1, k)) with small k has small ones"):
            return zip(places, dask.compute(*tasks))

    def fetch(self, features, threads):
        """The columns of the features."""
        out = np.empty((self.shape[0], features.size), dtype=self.dtype, order="F")
        for some, columns in self.each(raw, features, None, threads):
            out[:, some] = columns
        return out

    def _owners(self, features):
        """Positions, chunk, and columns of the chunk (None: all of them)."""
        if features.size == 0:
            return
        order = np.argsort(features, kind="stable")
        owner = np.searchsorted(self.ends, features[order], side="right")
        for some in np.split(order, np.flatnonzero(np.diff(owner)) + 1):
            chunk = np.searchsorted(self.ends, features[some[0]], side="right")
            local = features[some] - (self.ends[chunk] - self.widths[chunk])
            whole = local.size == self.widths[chunk]
            yield some, chunk, None if whole else local


def on_chunk(chunk, local, dtype, task, share, shared):
    """What is done where the chunk is."""
    chunk = unmasked(chunk)
    if local is not None:
        chunk = chunk[:, local]
    columns = there_in_columns(chunk, dtype)
    return task(dense_matrix(columns, ThreadPool(1)), share, *shared)


def there_in_columns(chunk, dtype):
    """A chunk as the kernels want it; workers have threads for chunks of their own."""
    return in_columns(unmasked(chunk), dtype, ThreadPool(1))


def raw(matrix, _):
    """The columns themselves."""
    return matrix.X


def kept_there(X, dtype):
    """X in the memory of the cluster for the time of the fit, if there is room for it.

    It would be read or computed anew for each pass otherwise. A worker that is lost
    takes its chunks along; dask makes them again.
    """
    client = current_client()
    if client is None:
        return X
    workers = client.scheduler_info()["workers"].values()
    room = sum(worker["memory_limit"] or np.inf for worker in workers)  # 0: no limit
    if X.size * dtype.itemsize > SHARE * room:
        return X
    meta = np.empty((0, 0), dtype=dtype)
    return X.map_blocks(there_in_columns, dtype, meta=meta).persist()


def current_client():
    """The client of the cluster that dask would use, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None
