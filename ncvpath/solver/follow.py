"""A whole path: the loop's blocks, one after another, until the end or dfmax."""

from dataclasses import dataclass

import numpy as np

from . import lambda_zero, loop, mm
from .finished import WORK, Status
from .search import Search
from .working_set import default_n_added


@dataclass(frozen=True)
class Path:
    """The finished path on the standardized scale, L lambdas."""

    lambdas: np.ndarray
    features: np.ndarray  # of all nonzero coefficients, lambda after lambda
    values: np.ndarray
    intercept: np.ndarray  # L, beyond what was taken away from y
    ends: np.ndarray  # L + 1: where each lambda's begin, and the last end
    loss: np.ndarray
    objective: np.ndarray
    violation: np.ndarray  # relative to the null gradient
    status: tuple[str, ...]
    work: dict[str, np.ndarray]
    trace: list[list]
    stopped: str | None  # why it ended early

    @property
    def converged(self):
        """Whether tol was reached, as far as can be known."""
        return np.array([Status(status).is_converged for status in self.status])

    def support(self, k):
        """Features in use at one lambda."""
        return self.features[self.ends[k] : self.ends[k + 1]]

    def in_use(self, first, last):
        """Features in use at any lambda from one to before another."""
        return np.unique(self.features[self.ends[first] : self.ends[last]])


def follow(problem, state, lambdas, warm_up_lambdas, settings, tick):
    """Walk down the path, and search for lower minima if asked to; `tick` is called
    with the number of lambdas finished, and what it raises ends the walk."""
    limits = loop.Limits(
        settings.tol * problem.g0, settings.max_epochs, settings.working_set,
        settings.solver, settings.n_added or default_n_added(problem.design.p),
        settings.n_added is None, settings.prune, settings.inexact, settings.record,
        settings.certify_from,
    )
    rounds = mm.rounds if settings.solver in mm.MAJORIZING else loop.rounds
    ahead, left, parts = np.append(warm_up_lambdas, lambdas), warm_up_lambdas.size, []
    stopped = None
    for part in walk(problem, state, ahead, limits, rounds):
        finite = np.isfinite(part.violation)
        if not finite.all():
            lam = part.solutions.lambdas[np.argmin(finite)]
            raise FloatingPointError(
                f"numbers overflowed at lambda={lam:g}; rescale X and y, e.g. divide "
                "each by its largest absolute value, or choose a less extreme gamma"
            )
        first, left = min(left, len(part)), max(left - len(part), 0)
        part, stopped = within_dfmax(
            part.part(first, len(part)), settings.dfmax, bool(parts)
        )
        if problem.watches and part.status[-1:] == [Status.SATURATED]:
            lam = part.solutions.lambdas[-1]
            stopped = f"the model is saturated at lambda={lam:.4g}"
            part = part.part(0, len(part) - bool(parts))  # the first is kept, flagged
        tick(len(part))
        if len(part):
            parts.append(part)
        if stopped:
            break
    path = joined(problem, parts, stopped)
    if settings.search == "forward":
        return path
    search = Search(problem, state, limits, heard(rounds, tick))
    return joined(
        problem, search.improve(path, parts, settings.search, settings.dfmax), stopped
    )


def walk(problem, state, lambdas, limits, rounds):
    """Yield the finished lambdas, which fall, a block at a time: the null model, the
    loop's rounds, and lambda 0, where there is no penalty."""
    at_null, below = loop.begin_walk(problem, state, lambdas, limits)
    yield from at_null
    yield from rounds(problem, state, below[below > 0], limits)
    if below.size and below[-1] == 0:
        yield lambda_zero.solve(problem, state, limits, rounds)


def heard(rounds, tick):
    """Rounds that finish no further lambda of the path, but may be ended by a tick."""

    def ticking(*arguments):
        for part in rounds(*arguments):
            tick(0)
            yield part

    return ticking


def within_dfmax(part, dfmax, begun):
    """The lambdas before the first model that is too large, and why it ends there."""
    df = np.count_nonzero(part.solutions.beta, axis=1)
    if dfmax is None or (df <= dfmax).all():
        return part, None
    k = int(np.argmax(df > dfmax))
    if k == 0 and not begun:
        raise ValueError(
            f"dfmax must be at least {df[k]}, the nonzero coefficients at the first "
            f"lambda; got dfmax={dfmax}"
        )
    where = f"{df[k]} nonzero at lambda={part.solutions.lambdas[k]:.4g}"
    return part.part(0, k), f"dfmax={dfmax}, but {where}"


def joined(problem, parts, stopped):
    """All blocks as one path."""
    solutions = [part.solutions for part in parts]
    inside = [each.beta != 0 for each in solutions]
    used = [each.features[mask.nonzero()[1]] for each, mask in zip(solutions, inside)]
    work = {name: np.concatenate([part.work[name] for part in parts]) for name in WORK}
    counts = set(WORK) - {"step", "seconds"}
    return Path(
        np.concatenate([each.lambdas for each in solutions]),
        np.concatenate(used),
        np.concatenate([each.beta[mask] for each, mask in zip(solutions, inside)]),
        np.concatenate([each.intercept for each in solutions]),
        np.append(0, np.cumsum(np.concatenate([mask.sum(axis=1) for mask in inside]))),
        np.concatenate([each.loss for each in solutions]),
        np.concatenate([each.objective for each in solutions]),
        np.concatenate([part.violation for part in parts]) / problem.g0,
        tuple(status.value for part in parts for status in part.status),
        work | {name: work[name].astype(int) for name in counts},
        [rounds for part in parts for rounds in part.trace],
        stopped,
    )
