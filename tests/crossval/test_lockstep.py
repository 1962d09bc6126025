"""Walkers who meet: every pass serves all, and nobody waits for ever."""

import threading
import time

import numpy as np
import pytest

from ncvpath.crossval.lockstep import Commons, Companion
from ncvpath.runtime.threads import Crew


class Counting:
    """A matrix of two columns that counts its passes, or fails in one of them."""

    def __init__(self, fails_at=None):
        self.passes, self.fails_at = [], fails_at

    def correlate(self, vectors, centers, features):
        self.passes.append(len(vectors))
        if len(self.passes) == self.fails_at:
            raise OSError("the disk is gone")
        return vectors[:, :1] - centers


def walker(commons, number, passes):
    """So many passes, each checked against what it must give."""
    companion = Companion(Counting(), commons)

    def walk():
        for k in range(passes):
            commons.check()
            vector = np.array([number + 10.0 * k, 0.0])
            center = np.full(2, float(number))
            found = companion.correlate(vector[None], center[None], np.arange(2))
            np.testing.assert_array_equal(found, [[10.0 * k, 10.0 * k]])
        return number

    return walk


@pytest.mark.parametrize("hands", [1, 2, 5])
@pytest.mark.parametrize("most", [1, 3, 8])
def test_walks_of_all_lengths_end(hands, most):
    matrix = Counting()
    commons = Commons(matrix, hands)
    lengths = [5, 0, 9, 3, 1, 7]
    walks = [walker(commons, k, length) for k, length in enumerate(lengths)]
    assert commons.run(walks, most) == [0, 1, 2, 3, 4, 5]
    assert sum(matrix.passes) == sum(lengths) and max(matrix.passes) <= most


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_a_pass_that_fails_is_heard_of(fails_at):
    commons = Commons(Counting(fails_at), 2)
    walks = [walker(commons, k, length) for k, length in enumerate([1, 3, 4])]
    with pytest.raises(OSError, match="the disk is gone"):
        commons.run(walks, 3)
    assert no_walkers()


def test_after_a_failure_no_pass_is_made_and_no_walk_begun():
    matrix, begun = Counting(), []
    commons = Commons(matrix, 2)

    def fail():
        time.sleep(0.1)  # the other one waits by then
        raise ValueError("no good")

    walks = [walker(commons, 0, 1), fail] + 3 * [lambda: begun.append(1)]
    with pytest.raises(ValueError, match="no good"):
        commons.run(walks, 2)
    assert matrix.passes == [] and begun == [] and no_walkers()


def no_walkers():
    return not [t for t in threading.enumerate() if t.name.startswith("ncvpath")]


def test_scratch_space_is_used_again():
    crew = Crew(1)
    with crew.room("a", 10, 10) as first:
        with crew.room("a", 10, 10) as second:
            assert not np.shares_memory(first, second)
    with crew.room("a", 5, 5) as third:
        assert np.shares_memory(third, first) or np.shares_memory(third, second)
    with crew.room("b", 5, 5) as other:
        assert other.shape == (5, 5)
