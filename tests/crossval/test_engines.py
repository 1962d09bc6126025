"""Jobs side by side: results in order, and how failures and interrupts end them."""

import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from functools import partial

import pytest

from ncvpath.crossval.engines import run_all

every_count = pytest.mark.parametrize("n_threads", [1, 2, 5, 9])


@pytest.fixture
def cancelled():
    return threading.Event()


@pytest.fixture(autouse=True)
def leaves_no_threads():
    yield
    assert [t for t in threading.enumerate() if t.name.startswith("ncvpath")] == []


def fail(error):
    raise error


def wait_until(cancelled):
    """Work that goes on until it is told to end, and then ends as walks do."""
    assert cancelled.wait(30)
    raise CancelledError


def only_alone():
    pytest.fail("a job was begun that should have been cancelled")


@every_count
def test_results_come_in_the_order_of_the_jobs(n_threads, cancelled):
    def slow_first(k):
        time.sleep(0.02 * (5 - k))  # the last is done first
        return k

    jobs = [partial(slow_first, k) for k in range(5)]
    assert run_all(jobs, n_threads, cancelled) == [0, 1, 2, 3, 4]
    assert not cancelled.is_set()


def test_a_result_may_be_anything(cancelled):
    found = [None, ValueError("given back, not raised"), CancelledError()]
    assert run_all([lambda k=k: found[k] for k in range(3)], 2, cancelled) == found


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_so_many_run_at_a_time_and_no_more(n_threads, cancelled):
    lock, running, most = threading.Lock(), [0], [0]
    meeting = threading.Barrier(n_threads)

    def job():
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        meeting.wait(30)  # so many have begun
        with lock:
            running[0] -= 1

    run_all([job] * (2 * n_threads), n_threads, cancelled)
    assert most[0] == n_threads


@every_count
@pytest.mark.parametrize("bad", range(4))
def test_a_failure_is_raised_as_it_is(bad, n_threads, cancelled):
    error = ValueError("no good")
    jobs = [partial(str, k) for k in range(4)]
    jobs[bad] = partial(fail, error)
    with pytest.raises(ValueError, match="no good") as caught:
        run_all(jobs, n_threads, cancelled)
    assert caught.value is error


def test_the_first_failure_in_the_order_of_the_jobs_is_raised(cancelled):
    """Though it is the last in time."""
    failed = threading.Event()

    def late():
        failed.wait(30)
        raise KeyError("first in order")

    def early():
        failed.set()
        raise ValueError("first in time")

    with pytest.raises(KeyError, match="first in order"):
        run_all([lambda: 1, late, early], 3, cancelled)


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_failure_cancels_those_under_way(bad, cancelled):
    """And that they end by that is not taken for the failure."""
    jobs = [partial(wait_until, cancelled)] * 3
    jobs[bad] = partial(fail, OSError("the disk is gone"))
    with pytest.raises(OSError, match="the disk is gone"):
        run_all(jobs, 3, cancelled)
    assert cancelled.is_set()


def test_a_failure_of_one_that_was_cancelled_counts(cancelled):
    def unwell():
        assert cancelled.wait(30)
        raise ZeroDivisionError

    jobs = [unwell, partial(fail, ValueError("first in time"))]
    with pytest.raises(ZeroDivisionError):
        run_all(jobs, 2, cancelled)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_after_a_failure_no_job_is_begun(n_threads, cancelled):
    begun = []

    def bad():
        time.sleep(0.2)  # until the main thread waits
        raise ValueError("no good")

    def slow():
        begun.append(1)
        time.sleep(0.2)  # until the main thread has heard of the failure

    jobs = [bad] + [partial(wait_until, cancelled)] * (n_threads - 1) + [slow] * 20
    with pytest.raises(ValueError, match="no good"):
        run_all(jobs, n_threads, cancelled)
    assert len(begun) <= n_threads


@pytest.mark.skipif(os.name != "posix", reason="needs pthread_kill")
@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_interrupt_of_the_main_thread_cancels(n_threads, cancelled):
    def interrupt():
        time.sleep(0.2)  # until the main thread waits
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        wait_until(cancelled)

    others = [partial(wait_until, cancelled)] * (n_threads - 1)
    with pytest.raises(KeyboardInterrupt):
        run_all([interrupt, *others, only_alone], n_threads, cancelled)
    assert cancelled.is_set()


def test_an_interrupt_before_all_are_under_way_cancels(cancelled):
    class Jobs(list):
        def __iter__(self):
            yield self[0]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all(Jobs([partial(wait_until, cancelled), only_alone]), 2, cancelled)
    assert cancelled.is_set()


@every_count
def test_an_interrupt_that_a_job_hears_is_raised(n_threads, cancelled):
    jobs = [lambda: 1, partial(fail, KeyboardInterrupt()), lambda: 2]
    with pytest.raises(KeyboardInterrupt):
        run_all(jobs, n_threads, cancelled)


def test_threads_that_cannot_be_started_are_no_reason_to_wait(monkeypatch, cancelled):
    """What has begun is told to end, and the error is the system's."""
    start, started = threading.Thread.start, []

    def only_one(thread):
        if thread.name.startswith("ncvpath") and started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", only_one)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        run_all([partial(wait_until, cancelled)] * 3, 3, cancelled)
    assert cancelled.is_set()
