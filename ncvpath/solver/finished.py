"""What the loop hands on: finished lambdas, how the work on them ended, and what it
took."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from .solutions import Solutions

# What it took at each lambda, as the path reports it. Seconds of a block are shared
# among its lambdas; the round trips of a block to a cluster, and what was done in vain,
# count at the lambda that they were for.
WORK = (
    "strong", "working_set", "rounds", "certified", "checked", "step", "epochs",
    "newton_steps", "seconds", "round_trips", "majorizations", "walk", "swaps_tried",
    "swaps_kept",
)
# What the rounds at one lambda add up; of the rest the last one counts.
ADDED_UP = (
    "rounds", "checked", "epochs", "newton_steps", "seconds", "round_trips",
    "majorizations", "swaps_tried", "swaps_kept",
)


class Status(Enum):
    """How the work at one lambda ended, as the user reads it."""

    CONVERGED = "converged"
    ITSELF = "converged in one majorization: the lasso is its own"
    ONE_OF_MANY = (
        "converged to one of many solutions: there is no penalty, and the columns are "
        "linearly dependent up to rounding"
    )
    MAX_EPOCHS = "max_epochs reached before tol; raise max_epochs or tol"
    STALLED = "progress stopped before tol; raise tol, or lower alpha to add some ridge"
    UNSETTLED = (
        "adaptive rescaling did not settle: no solution was found whose units are its "
        "own; raise lambda, lower alpha, or use rescale=False"
    )
    SATURATED = (
        "saturated: the model explains all there is, and coefficients grow without "
        "end; raise lambda, or lower alpha to add some ridge"
    )
    ROUNDING = "tol is below what rounding allows on these data; raise tol"

    @property
    def is_converged(self):
        """Whether tol was reached, as far as can be known."""
        return self in (Status.CONVERGED, Status.ITSELF, Status.ONE_OF_MANY)


@dataclass(frozen=True)
class Finished:
    """Some lambdas of the finished path, one after the other."""

    solutions: Solutions
    violation: np.ndarray  # absolute
    status: list[Status]
    work: dict[str, np.ndarray]
    trace: list[list]  # rounds by lambda, if they are recorded

    def __len__(self):
        return len(self.solutions)

    def part(self, first, last):
        """Some of them."""
        if first == 0 and last == len(self):
            return self
        some = slice(first, last)
        work = {name: counts[some] for name, counts in self.work.items()}
        return Finished(
            self.solutions.part(first, last), self.violation[some], self.status[some],
            work, self.trace[some],
        )


def no_work(n):
    """The work on n lambdas, before any is done."""
    work = dict(zip(WORK, np.zeros((len(WORK), n))))
    work["step"][:] = 1.0
    return work


def add_work(work, more):
    """The work of two attempts at the same lambdas together."""
    return {
        name: work[name] + more[name] if name in ADDED_UP else more[name]
        for name in WORK
    }
