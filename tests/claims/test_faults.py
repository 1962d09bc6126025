"""Faults in every phase: the user's data, the caches and later fits stay as they were.

A fault is raised where it may strike, by a function of that phase; real signals and
real limits of memory are in test_processes.py.
"""

import gc
import signal
import threading
import time
import tracemalloc
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pkgutil import resolve_name

import fitting
import numpy as np
import pytest
from conftest import draw
from scipy import sparse
from threadpoolctl import threadpool_info

from ncvpath import cv_ncvpath, ncvpath
from ncvpath.crossval import engines
from ncvpath.runtime import threads
from ncvpath.runtime.threads import ThreadPool, working
from ncvpath.solver import gram

X, Y = draw(60, 200, seed=5)
BIG, BIG_Y = draw(150, 2000, seed=6)  # shared out among threads
TALL, TALL_Y = draw(6000, 500, seed=7)  # all products of columns at once
SETTINGS = dict(nlambda=8)


@pytest.fixture(scope="module")
def memmap(tmp_path_factory):
    """A matrix in a file, read by blocks."""
    file = tmp_path_factory.mktemp("faults") / "X"
    np.ascontiguousarray(BIG).tofile(file)  # row after row: turned block by block
    return np.memmap(file, "float64", "r", shape=BIG.shape)


def state_of(*arrays):
    """Bits and flags."""
    return [(array.tobytes(), str(array.flags), array.dtype) for array in arrays]


def bits(result):
    path = getattr(result, "fit", result)
    arrays = [path.lambdas, path.intercept, path.loss]
    arrays += [path.beta.data, path.beta.indices]
    arrays += [result.cve, result.fold_errors] if result is not path else []
    return b"".join(array.tobytes() for array in arrays)


def blas_threads():
    return [
        (lib["filepath"], lib["num_threads"])
        for lib in threadpool_info() if lib["user_api"] == "blas"
    ]


class Strike:
    """A function that raises at its k-th call, and otherwise does what it did."""

    def __init__(self, function, error, call):
        self.function, self.error, self.left = function, error, call
        self.lock = threading.Lock()

    def __call__(self, *arguments, **keywords):
        with self.lock:
            self.left -= 1
            now = self.left == 0
        if now:
            raise self.error
        return self.function(*arguments, **keywords)

    def __get__(self, owner, kind):
        return self if owner is None else lambda *a, **k: self(owner, *a, **k)


@contextmanager
def struck(monkeypatch, place, error, call=1):
    """Let a fault strike there; it must have struck at the end."""
    owner, name = place
    with monkeypatch.context() as patch:
        strike = Strike(getattr(owner, name), error, call)
        patch.setattr(owner, name, strike)
        yield
        assert strike.left <= 0, f"{name} was not called"


def place(path):
    """The owner and the name of ncvpath.<path>."""
    owner, _, name = path.rpartition(".")
    return resolve_name(f"ncvpath.{owner}"), name


def fit(X=X, y=Y, **keywords):
    return ncvpath(X, y, **SETTINGS | keywords)


def validate(X=X, y=Y, **keywords):
    return cv_ncvpath(X, y, **SETTINGS | dict(nfolds=3, random_state=1) | keywords)


def fit_big(**keywords):
    return fit(BIG, BIG_Y, **keywords)


def validate_big(**keywords):
    return validate(BIG, BIG_Y, **keywords)


def fit_tall(**keywords):
    return fit(TALL, TALL_Y, **keywords)


def validate_tall(**keywords):
    return validate(TALL, TALL_Y, **keywords)


SPARSE = sparse.csc_array(np.where(np.abs(BIG) > 1.5, BIG, 0.0))


def fit_sparse(**keywords):
    return fit(SPARSE, BIG_Y, **keywords)


def fit_certified():
    return fitting.fit(BIG, BIG_Y, **SETTINGS)


def through_threads(**keywords):
    with ThreadPoolExecutor(2) as executor:
        return validate(executor=executor, **keywords)


PHASES = {
    "input checking": ("inputs.data.check_response", fit, 1),
    "input checking for cv": ("cv.read_folds", validate, 1),
    "importing BLAS": ("runtime.threads._take_control", fit, 1),
    "letting threads go": ("runtime.threads.ThreadPool.close", fit, 1),
    "opening X": ("path.open_matrix", fit, 1),
    "standardisation": ("matrices.dense.DenseMatrix.measure", fit_big, 1),
    "standardisation, sparse": ("matrices.sparse.SparseMatrix.measure", fit_sparse, 1),
    "the null model": ("path.pose", fit, 1),
    "all products": ("solver.gram.GramCache.learn_all", fit_tall, 1),
    "a pass over X": ("matrices.dense.DenseMatrix.correlate", fit_big, 3),
    "a pass over sparse X": ("matrices.sparse.SparseMatrix.correlate", fit_sparse, 3),
    "a piece of a pass": ("kernels.dense_dots", fit_big, 3),
    "products": ("solver.gram.GramCache._products", fit_big, 2),
    "the inner solve": ("kernels.descend_block", fit_big, 2),
    "choosing a working set": ("solver.loop.choose_block", fit, 2),
    "the check of all features": ("solver.loop.check", fit_big, 2),
    "certificates": ("solver.certificates.Certificates.check", fit_certified, 2),
    "an estimate": ("solver.certificates.Certificates.estimate", fit_certified, 2),
    "finishing a block": ("solver.loop.finish", fit, 2),
    "a failure": ("solver.loop.handle_failure", fit_big, 1),
    "convex_min": ("path.convex_min", fit, 1),
    "assembling": ("path.assemble", fit, 1),
    "progress": ("runtime.progress._Line.update", lambda: fit(progress=True), 3),
    "folds together": ("crossval.engines.fit_fold", validate, 2),
    "folds together, passes": ("matrices.dense.DenseMatrix.correlate", validate_big, 9),
    "folds of a tall X": ("crossval.engines.fit_fold", validate_tall, 2),
    "waiting for folds": ("crossval.engines.wait_for", validate_big, 1),
    "predicting a fold": ("crossval.fold_fits.predicted", validate, 1),
    "thread executor": ("crossval.engines.fit_fold", through_threads, 2),
    "waiting for an executor": ("crossval.engines.wait_for", through_threads, 1),
    "the curve": ("cv.measured", validate, 1),
}
each_phase = pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES.keys())


@pytest.fixture(autouse=True)
def no_tqdm(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


EXPECTED = {}


def expected(do):
    """The bits of an undisturbed run."""
    if do not in EXPECTED:
        EXPECTED[do] = bits(do())
    return EXPECTED[do]


@each_phase
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_fault_in_any_phase_leaves_everything_as_it_was(
    phase, error, monkeypatch, capsys
):
    where, do, call = phase
    before = expected(do)
    arrays = (X, Y, BIG, BIG_Y, TALL, TALL_Y, SPARSE.data, SPARSE.indices)
    data, blas = state_of(*arrays), blas_threads()
    with struck(monkeypatch, place(where), error(), call), pytest.raises(error):
        do()
    assert state_of(*arrays) == data
    assert blas_threads() == blas
    assert not [t for t in threading.enumerate() if t.name.startswith("ncvpath")]
    assert not threads._gate._inside
    assert bits(do()) == before


def test_an_interrupted_prediction_leaves_the_path_as_it_was(monkeypatch):
    short = BIG.astype(np.float32)
    path = fit(short, BIG_Y)
    before, answer = bits(path), path.predict(short)
    where = place("matrices.dense.DenseMatrix.predict")
    with struck(monkeypatch, where, KeyboardInterrupt()):
        with pytest.raises(KeyboardInterrupt):
            path.predict(short)
    assert bits(path) == before
    np.testing.assert_array_equal(path.predict(short), answer)


def test_an_interrupt_waits_until_blas_is_restored(monkeypatch):
    fit()  # loads scipy's BLAS
    before, calls, take = blas_threads(), [], threads._take_control

    def interrupted():
        calls.append(1)
        if len(calls) == 2:  # the first of those that restore
            signal.raise_signal(signal.SIGINT)
        take()

    monkeypatch.setattr(threads, "_take_control", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit()
    assert len(calls) == 3
    assert blas_threads() == before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_entry_to_the_gate_that_was_interrupted_while_waiting_does_not_count():
    class Interrupted:
        def __enter__(self):
            threads._gate._lock = lock
            raise KeyboardInterrupt

        def __exit__(self, *_):
            pass

    lock, threads._gate._lock = threads._gate._lock, Interrupted()
    with pytest.raises(KeyboardInterrupt), working(1):
        pass
    before = blas_threads()
    with working(1):
        assert {count for _, count in blas_threads()} == {1}
        assert len(threads._gate._inside) == 1
    assert blas_threads() == before


# ---- memory ------------------------------------------------------------------------


def no_memory(*shape):
    if np.prod(shape) > 0:
        raise MemoryError(f"{shape}")
    return np.empty(shape)


def advice(do, *words):
    with pytest.raises(MemoryError) as caught:
        do()
    assert "did not fit into memory" in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_gram_matrix_that_does_not_fit_says_what_would_help(monkeypatch):
    before = expected(fit_big)
    with monkeypatch.context() as patch:
        patch.setattr(gram, "empty_mmap", no_memory)
        advice(fit_big, "products of", "dfmax", "lambda_min_ratio", "solver='bcd'")
        # And it does help.
        path = fit_big(solver="bcd", convex=False)
        assert path.converged.all()
    assert bits(fit_big()) == before


def test_a_fold_that_does_not_fit_says_which_and_what_would_help(monkeypatch):
    for do in (validate_big, through_threads):
        with struck(monkeypatch, place("crossval.engines.fit_fold"), MemoryError(), 2):
            advice(do, "fold 1 (from 0)", "n_threads", "keep=False")


def test_a_conversion_that_does_not_fit_says_what_would_help(monkeypatch):
    with struck(monkeypatch, place("inputs.data.matrix"), MemoryError()):
        advice(fit, "Fortran-ordered", "memmap")


class Slices:
    """X on disk, of which some reads fail."""

    shape, dtype = BIG.shape, BIG.dtype

    def __init__(self, good):
        self.good = good

    def __getitem__(self, key):
        self.good -= 1
        if self.good == 0:
            raise MemoryError
        return BIG[key]


@pytest.fixture
def in_blocks(monkeypatch):
    """Small matrices too are read by blocks."""
    monkeypatch.setattr("ncvpath.matrices.SMALL", 0)
    monkeypatch.setattr("ncvpath.matrices.columns.BLOCK", 1 << 18)


@pytest.mark.parametrize("good", [1, 2, 20])
def test_a_block_that_does_not_fit_says_what_would_help(good, in_blocks):
    advice(lambda: fit(Slices(good), BIG_Y), "columns of X", "float32", "chunks")
    assert fit(Slices(-1), BIG_Y).converged.all()


def test_a_chunk_that_does_not_fit_says_what_would_help(monkeypatch):
    dask = pytest.importorskip("dask.array", reason="needs the extra [dask]")
    chunks = dask.from_array(BIG, chunks=(-1, 500))
    before = bits(fit(chunks, BIG_Y))
    for error in (MemoryError, KeyboardInterrupt):
        where = place("matrices.distributed.there_in_columns")
        with struck(monkeypatch, where, error(), 9), pytest.raises(error) as caught:
            fit(chunks, BIG_Y)
    assert bits(fit(chunks, BIG_Y)) == before
    with struck(monkeypatch, where, MemoryError(), 9):
        advice(lambda: fit(chunks, BIG_Y), "a chunk of X", "rechunk")
    assert caught.type is KeyboardInterrupt


def test_a_file_read_by_blocks_survives_an_interrupt(memmap, in_blocks, monkeypatch):
    before = bits(fit(memmap, BIG_Y))
    for call in (1, 4, 9):
        where = place("matrices.columns.Columns.fetch")
        with struck(monkeypatch, where, KeyboardInterrupt(), call):
            with pytest.raises(KeyboardInterrupt):
                fit(memmap, BIG_Y)
    assert bits(fit(memmap, BIG_Y)) == before
    assert memmap.tobytes() == BIG.tobytes()


def test_pages_that_are_refused_are_a_memory_error():
    from ncvpath.runtime.memory import empty_mmap

    with pytest.raises(MemoryError, match="bytes for an array of shape"):
        empty_mmap(1 << 44, 1 << 10)


# ---- executors ---------------------------------------------------------------------


class Slow(Executor):
    """Tasks never end by themselves."""

    def __init__(self):
        self.futures = []

    def submit(self, *_):
        self.futures.append(Future())
        return self.futures[-1]


def test_an_interrupt_takes_back_what_an_executor_has_not_begun(monkeypatch):
    executor = Slow()
    with struck(monkeypatch, place("crossval.engines.wait_for"), KeyboardInterrupt()):
        with pytest.raises(KeyboardInterrupt):
            validate(executor=executor)
    assert len(executor.futures) == 3
    assert all(future.cancelled() for future in executor.futures)


def test_an_interrupt_while_x_is_shipped_leaves_no_file(tmp_path, monkeypatch):
    from concurrent.futures import ProcessPoolExecutor

    monkeypatch.setattr(engines.tempfile, "tempdir", str(tmp_path))
    with ProcessPoolExecutor(1) as executor:  # no process starts before a task comes
        for name in ("written", "wait_for", "compute"):
            if name == "wait_for":
                monkeypatch.setattr(executor, "submit", lambda *_: Future())
            with struck(monkeypatch, (engines, name), KeyboardInterrupt()):
                with pytest.raises(KeyboardInterrupt):
                    validate(executor=executor)
            assert not list(tmp_path.iterdir())


def test_a_pool_of_threads_stops_soon_after_a_fault():
    done, begun = [], threading.Event()

    def work(k):
        if k == 0:
            begun.wait(timeout=30)
            raise KeyboardInterrupt
        begun.set()
        time.sleep(0.001)
        done.append(k)

    threads = ThreadPool(2)
    with pytest.raises(KeyboardInterrupt):
        threads.run(work, range(2000))
    threads.close()
    assert len(done) < 500


def test_interrupted_fits_do_not_pile_up(monkeypatch):
    where = place("path.assemble")

    def interrupted():
        with struck(monkeypatch, where, KeyboardInterrupt()):
            with pytest.raises(KeyboardInterrupt):
                fit_big()

    interrupted()
    tracemalloc.start()
    try:
        for _ in range(5):
            interrupted()
        gc.collect()
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert left < BIG.nbytes / 4
