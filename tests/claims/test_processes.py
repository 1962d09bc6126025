"""Whole processes: signals, limits of memory, caches on disk, forks, threads by dozens.

What takes minutes runs with NCVPATH_LONG=1.
"""

import importlib.util
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, draw
from scipy import sparse

from ncvpath import cv_ncvpath, ncvpath
from ncvpath.runtime.code_cache import prepare, temporary_folder

LONG = pytest.mark.skipif(
    os.environ.get("NCVPATH_LONG") != "1",
    reason="compiles everything anew, which takes a minute: NCVPATH_LONG=1 runs it",
)
COMPILED = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled"
)
# What the scripts below have in common.
COMMON = """
import hashlib, os, signal, sys, threading, time
import numpy as np
sys.path.insert(0, {root!r})
from ncvpath import cv_ncvpath, ncvpath
from tests.conftest import draw

def digest(*results):
    found = hashlib.sha256()
    for result in results:
        path = getattr(result, "fit", result)
        found.update(path.beta.data.tobytes() + path.beta.indices.tobytes())
        found.update(path.objective.tobytes() + path.intercept.tobytes())
        if result is not path:
            found.update(result.cve.tobytes() + result.fold_errors.tobytes())
    return found.hexdigest()
"""


def started(script, **environment):
    """A process that runs the script."""
    code = COMMON.format(root=str(ROOT)) + textwrap.dedent(script)
    return subprocess.Popen(
        [sys.executable, "-c", code], env=os.environ | environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )


def finished(process):  # compiling takes its time on a busy machine
    """What it printed."""
    try:
        out, err = process.communicate(timeout=900)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out.split()


def run(script, **environment):
    return finished(started(script, **environment))


# ---- signals -----------------------------------------------------------------------


# What needs a package, and a module in the middle of its import.
IMPORTED = {
    "numba": ("ncvpath(X, y, nlambda=3)", "numba.core.types"),
    "pandas": (
        "cv_ncvpath(X, y, nlambda=3, nfolds=3)", "pandas._libs.tslibs.np_datetime"
    ),
}


@pytest.mark.parametrize("call, middle", IMPORTED.values(), ids=IMPORTED.keys())
def test_an_interrupt_while_a_package_is_imported_does_not_break_later_calls(
    call, middle
):
    script = f"""
    class Interrupter:
        def find_spec(self, name, *_):
            if name == {middle!r}:
                sys.meta_path.remove(self)
                print("struck")
                signal.raise_signal(signal.SIGINT)

    sys.meta_path.insert(0, Interrupter())
    X, y = draw(30, 8)
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print({call}.converged.all())
    """
    assert run(script) == ["struck", "interrupted", "True"]


def test_interrupts_wait_only_in_the_main_thread_and_only_for_pythons_handler():
    from ncvpath.runtime.loading import undisturbed

    def seen():
        with undisturbed():
            return signal.getsignal(signal.SIGINT)

    usual = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(seen).result() is usual
    assert seen() is not usual
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert seen() is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, usual)


INTERRUPTED = """
    X, y = draw(400, 3000, seed=3, nonzero=40)
    keep = X.tobytes(), y.tobytes()
    settings = dict(nfolds=10, random_state=1, lambda_min_ratio=0.01)
    before = digest(ncvpath(X, y, nlambda=5))
    ticks = []

    class Bar:  # of tqdm's: interrupts in the middle of the work
        def update(self, count):
            ticks.append(count)
            if len(ticks) == 3:  # blocks of lambdas, each a tick
                times.append(time.perf_counter())
                os.kill(os.getpid(), signal.SIGINT)
        refresh = close = lambda self: None

    sys.modules["ncvpath.runtime.progress"]._new_bar = lambda total: Bar()
    times = []
    try:
        WHERE
    except KeyboardInterrupt:
        times.append(time.perf_counter())
    print(times[1] - times[0] < 60, keep == (X.tobytes(), y.tobytes()))
    left = [t for t in threading.enumerate() if t.name.startswith("ncvpath")]
    print(len(left), digest(ncvpath(X, y, nlambda=5)) == before)
"""
PLACES = {
    "folds side by side": "cv_ncvpath(X, y, progress=True, **settings)",
    "a path": "ncvpath(X, y, progress=True, nlambda=400)",
}


@pytest.mark.parametrize("where", PLACES.values(), ids=PLACES.keys())
def test_a_signal_is_heard_soon(where):
    assert run(INTERRUPTED.replace("WHERE", where)) == ["True", "True", "0", "True"]


# ---- memory ------------------------------------------------------------------------


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs Linux' figures of memory"
)
def test_a_process_out_of_memory_says_what_would_help_and_goes_on():
    script = """
    import resource
    X, y = draw(1200, 4000, seed=2, nonzero=100)
    settings = dict(nlambda=5, n_threads=1)
    before = digest(ncvpath(X, y, **settings))
    keep = X.tobytes(), y.tobytes()
    with open("/proc/self/status") as file:
        lines = dict(line.split(":") for line in file.read().splitlines())
    size = int(lines["VmSize"].split()[0]) << 10
    none = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (size + (6 << 20), none))
    try:
        ncvpath(X, y, **settings)
    except MemoryError as error:
        print("dfmax" in str(error))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (none, none))
    print(keep == (X.tobytes(), y.tobytes()))
    print(digest(ncvpath(X, y, **settings)) == before)
    """
    assert run(script) == ["True", "True", "True"]


# ---- compiled code on disk -----------------------------------------------------------

TOY = """
from numba import njit

@njit(cache=True)
def times(x):
    return FACTOR * x
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A compiled function with a cache beside its file, loaded anew each time."""
    monkeypatch.setattr("numba.config.CACHE_DIR", "")

    def load(factor=2):
        file = tmp_path / "toy.py"
        source = TOY.replace("FACTOR", str(factor))
        if not file.exists() or file.read_text() != source:
            file.write_text(source)
        spec = importlib.util.spec_from_file_location("toy", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        prepare([module], source)
        return module.times

    load.cache = tmp_path / "__pycache__"
    return load


def hits(function):
    return sum(function.stats.cache_hits.values())


DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:100]),
    "garbage": lambda file: file.write_bytes(bytes(range(255, 0, -1)) * 9),
    "another pickle": lambda file: file.write_bytes(b"\x80\x04N."),
}


@COMPILED
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_is_made_anew(kind, damage, toy):
    assert toy()(2.0) == 4.0
    warm = toy()
    assert warm(2.0) == 4.0 and hits(warm) == 1
    (file,) = toy.cache.glob(f"*.{kind}")
    damage(file)
    struck = toy()
    assert struck(2.0) == 4.0 and hits(struck) == 0
    healed = toy()
    assert healed(2.0) == 4.0 and hits(healed) == 1


@COMPILED
def test_a_cache_that_cannot_be_read_or_written_does_not_matter(toy):
    toy()(2.0)
    for file in toy.cache.glob("*.nb?"):
        file.unlink()
        file.mkdir()
    assert toy()(2.0) == 4.0


def test_a_cache_of_an_older_source_is_not_used(toy):
    assert toy(2)(2.0) == 4.0
    assert toy(33)(2.0) == 66.0


@COMPILED
def test_every_kernel_forgives():
    script = """
    from ncvpath import kernels
    kernels.descend_block  # loads them
    compiled = [f for f in vars(kernels).values() if hasattr(f, "py_func")]
    kept = [f for f in compiled if type(f._cache).__name__ != "NullCache"]
    print(len(compiled) > len(kept) > 10)  # inlined ones are part of what calls them
    print({type(f._cache).__name__ for f in kept} == {"ForgivingCache"})
    """
    assert run(script) == ["True", "True"]


@COMPILED
def test_where_no_cache_can_be_written_a_temporary_folder_serves(tmp_path):
    script = """
    import tempfile
    usual = tempfile.TemporaryFile

    def refuse(*arguments, dir=None, **keywords):  # by which numba tries a folder
        if os.path.basename(os.path.dirname(dir)).startswith("ncvpath-"):
            return usual(*arguments, dir=dir, **keywords)
        raise PermissionError(13, "Permission denied")

    tempfile.TemporaryFile = refuse
    from ncvpath import kernels
    print(kernels.larger(1.0, 2.0))
    folders = os.listdir(tempfile.gettempdir())
    print(len([name for name in folders if name.startswith("ncvpath-")]))
    """
    assert run(script, TMPDIR=str(tmp_path)) == ["2.0", "1"]
    assert not list(tmp_path.iterdir())  # and is gone with the process


def test_without_even_that_the_error_says_what_to_set(monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ncvpath.runtime.code_cache.mkdtemp", refuse)
    with pytest.raises(RuntimeError, match="NUMBA_CACHE_DIR"), temporary_folder():
        pass


FIRST_FIT = """
    X, y = draw(60, 200, seed=5)
    print(digest(ncvpath(X, y, nlambda=8), cv_ncvpath(X, y, nlambda=8, random_state=1)))
"""


@LONG
@COMPILED
def test_two_processes_may_compile_at_once(tmp_path):
    environment = dict(NUMBA_CACHE_DIR=str(tmp_path))
    both = [started(FIRST_FIT, **environment) for _ in range(2)]
    first, second = map(finished, both)
    assert first == second == run(FIRST_FIT, **environment)


@LONG
@pytest.mark.parametrize("seconds", [2, 6, 12])
def test_compiling_may_be_interrupted(seconds, tmp_path):
    script = f"""
    X, y = draw(60, 200, seed=5)
    interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
    threading.Timer({seconds}, interrupt).start()
    try:
        ncvpath(X, y, nlambda=8)
        time.sleep({seconds})
    except KeyboardInterrupt:
        pass
    print(digest(ncvpath(X, y, nlambda=8)))
    """
    usual = script.replace("os.kill(os.getpid(), signal.SIGINT)", "None")
    assert run(script, NUMBA_CACHE_DIR=str(tmp_path)) == run(usual)


# ---- many at once --------------------------------------------------------------------


def bits(result):
    path = getattr(result, "fit", result)
    arrays = [path.lambdas, path.intercept, path.objective, path.n_epochs]
    arrays += [path.beta.data, path.beta.indices, path.beta.indptr]
    arrays += [result.cve, result.fold_errors] if result is not path else []
    return b"".join(array.tobytes() for array in arrays)


def mixed_tasks():
    """Fits of many kinds, each with its own problem."""
    systems = [
        dict(), dict(penalty="SCAD"), dict(penalty="lasso", alpha=0.5),
        dict(penalty="logsum"), dict(penalty="capped"), dict(solver="bcd"),
        dict(solver="gist", nlambda=5), dict(working_set="maxvc"),
    ]
    tasks = []
    for k, system in enumerate(systems):
        X, y = draw(50 + 7 * k, 150 + 11 * k, seed=k)
        data = sparse.csc_array(np.where(np.abs(X) > 1, X, 0.0)) if k % 3 == 0 else X
        settings = dict(nlambda=8, n_threads=1 + k % 3) | system
        tasks.append(lambda d=data, y=y, s=settings: ncvpath(d, y, **s))
        tasks.append(
            lambda X=X, y=y, s=settings: cv_ncvpath(X, y, nfolds=3, random_state=1, **s)
        )
    return tasks


def shared_tasks():
    """The same X for all of them."""
    X, y = draw(150, 2000, seed=6)
    responses = [y + k * X[:, k] for k in range(8)]
    fits = [lambda r=r: ncvpath(X, r, nlambda=8) for r in responses]
    solvers = ("cd", "bcd", "mm-cd", "gist")
    fits += [lambda s=s: ncvpath(X, y, nlambda=5, solver=s) for s in solvers]
    return fits + 4 * [lambda: cv_ncvpath(X, y, nlambda=5, nfolds=3, random_state=1)]


@pytest.mark.parametrize("tasks", [mixed_tasks, shared_tasks])
def test_sixteen_threads_find_what_one_finds(tasks):
    tasks = tasks()
    alone = [bits(task()) for task in tasks]
    with ThreadPoolExecutor(16) as pool:
        futures = [pool.submit(lambda task=task: bits(task())) for task in tasks]
        together = [future.result(timeout=600) for future in futures]
    assert len(tasks) == 16
    assert together == alone


def in_a_child(pipe, X, y):
    pipe.send((
        bits(ncvpath(X, y, nlambda=8, n_threads=2)),
        bits(cv_ncvpath(X, y, nlambda=8, nfolds=3, random_state=1, n_threads=2)),
    ))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_cross_validates_as_its_parent_did():
    X, y = draw(150, 2000, seed=6)
    ours = (
        bits(ncvpath(X, y, nlambda=8)),
        bits(cv_ncvpath(X, y, nlambda=8, nfolds=3, random_state=1)),
    )
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=in_a_child, args=(send, X, y))
    process.start()
    send.close()
    try:
        assert receive.poll(timeout=600), "the forked child hangs"
        assert receive.recv() == ours
    finally:
        process.kill()
        process.join()


def test_bits_do_not_depend_on_threads_of_the_environment():
    script = """
    from scipy import sparse
    X, y = draw(300, 4000, seed=9)
    thin = sparse.csc_array(np.where(np.abs(X) > 1.5, X, 0.0))
    tall, response = draw(10_000, 210, seed=7)
    for n_threads in (1, 3):
        settings = dict(nlambda=4, n_threads=n_threads)
        folds = dict(nfolds=3, random_state=1)
        results = [
            ncvpath(X, y, **settings), ncvpath(thin, y, **settings),
            ncvpath(tall, response, **settings), cv_ncvpath(X, y, **folds, **settings),
            cv_ncvpath(tall, response, **folds, **settings),
        ]
        try:
            import dask.array
        except ImportError:
            pass
        else:
            chunks = dask.array.from_array(X, chunks=(-1, 900))
            results.append(ncvpath(chunks, y, **settings))
        print(digest(*results))
    """
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    counts = ("1", "2", "4") if os.environ.get("NCVPATH_LONG") == "1" else ("1", "4")
    found = set()
    for count in counts:
        found |= set(run(script, **dict.fromkeys(names, count)))
    assert len(found) == 1
