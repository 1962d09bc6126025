"""Threads: the same bits from any number of them, and good neighbours."""

import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  its BLAS is one of those that must be restored
from threadpoolctl import threadpool_info, threadpool_limits

from ncvpath import ncvpath, simulate
from ncvpath.runtime.threads import ThreadPool, available_cores, working

N, P = 300, 7000  # large enough for certificates
X, Y, _ = simulate(N, P, nonzero=20, random_state=9)
FIELDS = ("lambdas", "intercept", "loss", "objective", "violation", "n_epochs")


def fit(**keywords):
    return ncvpath(X, Y, **dict(nlambda=15) | keywords)


def bits(path):
    """Everything numeric the path reports, to the last bit."""
    arrays = [getattr(path, name) for name in FIELDS]
    arrays += [path.beta.data, path.beta.indices, path.beta.indptr]
    return b"".join(array.tobytes() for array in arrays)


@pytest.fixture(scope="module")
def serial():
    return bits(fit(n_threads=1))


def test_certificates_are_among_what_threads_might_change():
    assert fit(n_threads=1).screening["certified"].sum() > 0


def test_scratch_space_is_used_again():
    threads = ThreadPool(1)
    with threads.scratch("a", 10, 10) as first:
        with threads.scratch("a", 10, 10) as second:
            assert not np.shares_memory(first, second)
    with threads.scratch("a", 5, 5) as third:
        assert np.shares_memory(third, first) or np.shares_memory(third, second)
    with threads.scratch("b", 5, 5) as other:
        assert other.shape == (5, 5)


@pytest.fixture
def two_blas_threads():
    """BLAS on two threads before and, it is hoped, after."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas_threads().values()) == {2}
        yield


def blas_threads():
    libraries = threadpool_info()
    return {
        library["filepath"]: library["num_threads"]
        for library in libraries if library["user_api"] == "blas"
    }


def in_another_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(timeout=60)


def test_the_data_are_large_enough_to_be_shared_out(monkeypatch):
    sizes, run = [], ThreadPool.run

    def counted(threads, function, pieces):
        sizes.append(len(pieces))
        run(threads, function, pieces)

    monkeypatch.setattr(ThreadPool, "run", counted)
    fit(nlambda=2)
    assert max(sizes) >= 3


@pytest.mark.parametrize("n_threads", [1, 2, 3, None])
def test_bits_do_not_depend_on_the_number_of_threads(n_threads, serial):
    assert bits(fit(n_threads=n_threads)) == serial


@pytest.mark.parametrize("penalty", ["lasso", "logsum"])
def test_neither_do_those_of_other_penalties(penalty):
    assert len({bits(fit(penalty=penalty, n_threads=k)) for k in (1, 2, 3)}) == 1


@pytest.mark.parametrize("blas", [1, 2])
def test_bits_do_not_depend_on_the_threads_of_blas(blas, serial):
    with threadpool_limits(blas, user_api="blas"):
        assert bits(fit()) == serial


@pytest.mark.parametrize("n_threads", [1, 2, None])
def test_bits_do_not_depend_on_the_thread_that_calls(n_threads, serial):
    fit(nlambda=2)  # whatever the main thread took hold of, it must let go
    assert in_another_thread(lambda: bits(fit(n_threads=n_threads))) == serial


def test_four_fits_at_once_agree_with_one(serial):
    fit(nlambda=2)
    start = threading.Barrier(4)

    def one(n_threads):
        start.wait(timeout=30)
        return bits(fit(n_threads=n_threads))

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(one, [1, 2, 3, 2], timeout=120)) == {serial}


@pytest.mark.parametrize("n_threads", [0, -1, 1.5, "2", True])
def test_the_number_of_threads_is_checked(n_threads):
    with pytest.raises(ValueError, match="n_threads must be an integer of at least 1"):
        fit(n_threads=n_threads)


def test_no_threads_are_left_behind():
    before = threading.active_count()
    fit(n_threads=3)
    assert threading.active_count() == before


# ---- BLAS --------------------------------------------------------------------------


def test_blas_has_one_thread_during_a_fit_and_its_own_again_after(two_blas_threads):
    before = blas_threads()
    with working(2):
        assert set(blas_threads().values()) == {1}
    assert blas_threads() == before


def test_a_fit_restores_blas(two_blas_threads):
    before = blas_threads()
    fit()
    assert blas_threads() == before


def test_a_fit_that_fails_restores_blas(two_blas_threads):
    before = blas_threads()
    with pytest.raises(ValueError, match="lambda_max"):
        fit(penalty_factor=np.full(P, np.inf))
    assert blas_threads() == before


def test_an_interrupted_fit_restores_blas(two_blas_threads, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = blas_threads()
    monkeypatch.setattr("ncvpath.path.follow", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit()
    assert blas_threads() == before


def test_the_last_fit_to_leave_restores_blas(two_blas_threads):
    before = blas_threads()
    with working(1):
        with working(2):
            pass
        assert set(blas_threads().values()) == {1}
    assert blas_threads() == before


def test_blas_has_one_thread_during_a_fit_of_any_thread(two_blas_threads):
    def limited():
        with working(2):
            return set(blas_threads().values())

    before = blas_threads()
    assert limited() == {1}
    assert in_another_thread(limited) == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("main_is_first", [True, False])
def test_whoever_is_last_to_leave_restores_blas(main_is_first, two_blas_threads):
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with working(1):
            inside.set()
            leave.wait(timeout=30)

    with ThreadPoolExecutor(1) as pool:
        if main_is_first:
            with working(1):
                fitted = pool.submit(other)
                inside.wait(timeout=30)
            leave.set()
        else:
            fitted = pool.submit(other)
            inside.wait(timeout=30)
            with working(1):
                leave.set()
                fitted.result(timeout=30)
        fitted.result(timeout=30)
    assert blas_threads() == before


def test_fits_at_once_restore_blas(two_blas_threads):
    before = blas_threads()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: fit(nlambda=3), range(4), timeout=120))
    assert blas_threads() == before


# ---- the threads ---------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_a_pool_does_every_piece_once(n_threads, count):
    done = np.zeros(count, dtype=int)

    def work(k):
        done[k] += 1

    threads = ThreadPool(n_threads)
    for _ in range(2):
        threads.run(work, range(count))
    threads.close()
    np.testing.assert_array_equal(done, 2)


def test_a_pool_uses_more_than_one_thread():
    meeting = threading.Barrier(2)
    threads = ThreadPool(2)
    threads.run(lambda _: meeting.wait(timeout=30), range(2))
    threads.close()


@pytest.mark.parametrize("bad", range(4))
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_a_failure_in_any_piece_is_raised(bad, n_threads):
    def work(k):
        if k == bad:
            raise ZeroDivisionError(k)

    threads = ThreadPool(n_threads)
    with pytest.raises(ZeroDivisionError):
        threads.run(work, range(4))
    threads.close()


def test_available_cores_are_those_of_the_process():
    assert 1 <= available_cores() <= os.cpu_count()


# ---- forked children ---------------------------------------------------------------


def child(pipe):
    pipe.send(bits(fit(n_threads=2)))


def answer_of_a_forked_child():
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs,))
    process.start()
    theirs.close()
    try:
        assert ours.poll(timeout=60), "the forked child hangs"
        return ours.recv()
    finally:
        process.kill()
        process.join()


forks = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    # From Python 3.12 on: any fork of a process that has threads is reported.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


class TestFork:
    pytestmark = forks

    def test_a_child_can_fit_after_its_parent_did(self, serial):
        fit(n_threads=2)
        assert answer_of_a_forked_child() == serial

    def test_a_child_can_fit_in_the_middle_of_a_fit_of_its_parent(self, serial):
        with working(2) as threads:
            threads.run(lambda _: None, range(4))
            assert answer_of_a_forked_child() == serial

    def test_a_child_can_fit_while_other_threads_fit(self, serial):
        with ThreadPoolExecutor(2) as pool:
            fits = [pool.submit(fit) for _ in range(4)]
            assert answer_of_a_forked_child() == serial
            assert {bits(one.result(timeout=60)) for one in fits} == {serial}


def test_without_a_say_on_cores_all_are_used(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert available_cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1
