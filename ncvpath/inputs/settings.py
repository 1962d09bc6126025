"""How to fit: every setting, checked, or a ValueError that names argument, rule and
value. Nothing behind the door checks them again."""

from dataclasses import dataclass

import numpy as np

from ..penalties import PENALTIES, ROWS, Row
from ..runtime.messages import brief
from ..runtime.threads import available_cores
from ..solver.inner import INNER
from ..solver.mm import MAJORIZING
from ..solver.working_set import RULES
from .checks import count, finite, flag, number, one_of, optional, real_array

SOLVERS = (*INNER, *MAJORIZING)


@dataclass(frozen=True)
class Settings:
    """Everything but the data, checked."""

    row: Row
    gamma: float | None
    alpha: float
    nlambda: int
    lambda_min_ratio: float | None
    lambdas: np.ndarray | None
    warm_up: bool
    intercept: bool
    standardize: bool
    working_set: str
    solver: str
    n_added: int | None
    prune: bool
    inexact: bool
    tol: float
    max_epochs: int
    dfmax: int | None
    convex: bool
    n_threads: int
    progress: bool
    record: bool

    @property
    def uses_products(self):
        """Whether the solver works on products of columns and gains by having all."""
        return self.solver == "cd"

    @property
    def lambda_count(self):
        """How many lambdas a path will have, if nothing ends it early."""
        return self.nlambda if self.lambdas is None else self.lambdas.size


def check_settings(
    *, penalty, gamma, alpha, nlambda, lambda_min_ratio, lambdas, warm_up, intercept,
    standardize, working_set, solver, n_added, prune, inexact, tol, max_epochs, dfmax,
    convex, n_threads, progress, record,
):
    """Clean settings."""
    row = _penalty(penalty)
    working_set, solver = _system(working_set, solver)
    return Settings(
        row=row,
        gamma=_gamma(row, gamma),
        alpha=number("alpha", alpha, above=0, upto=1),
        nlambda=count("nlambda", nlambda, 1),
        lambda_min_ratio=optional(lambda_min_ratio, _ratio),
        lambdas=optional(lambdas, _lambdas),
        warm_up=flag("warm_up", warm_up),
        intercept=flag("intercept", intercept),
        standardize=flag("standardize", standardize),
        working_set=working_set,
        solver=solver,
        n_added=optional(n_added, lambda v: count("n_added", v, 1)),
        prune=flag("prune", prune),
        inexact=flag("inexact", inexact),
        tol=number("tol", tol, above=0),
        max_epochs=count("max_epochs", max_epochs, 1),
        dfmax=optional(dfmax, lambda v: count("dfmax", v, 0)),
        convex=flag("convex", convex),
        n_threads=optional(n_threads, lambda v: count("n_threads", v, 1))
        or available_cores(),
        progress=flag("progress", progress),
        record=flag("record", record),
    )


def _system(working_set, solver):
    """A working set and a solver that go together."""
    one_of("working_set", working_set, RULES)
    one_of("solver", solver, SOLVERS)
    if solver in MAJORIZING and working_set != "fireworks":
        raise ValueError(
            f"working_set must be fireworks with solver={solver!r}, or any of "
            f"{', '.join(RULES)} with solver one of {', '.join(INNER)}; got "
            f"working_set={working_set!r}"
        )
    return working_set, solver


def _penalty(penalty):
    names = ", ".join(row.name for row in ROWS)
    row = PENALTIES.get(penalty.lower()) if isinstance(penalty, str) else None
    if row is None:
        raise ValueError(
            f"penalty must be one of {names}; got penalty={brief(penalty)}"
        )
    return row


def _gamma(row, gamma):
    if row.gamma is None:
        if gamma is not None:
            raise ValueError(
                f"gamma must not be given for {row.name}; got gamma={brief(gamma)}"
            )
        return None
    if gamma is None:
        return row.gamma
    return number("gamma", gamma, above=row.above, where=f" for {row.name}")


def _ratio(ratio):
    return number("lambda_min_ratio", ratio, atleast=0, below=1)


def _lambdas(lambdas):
    values = np.atleast_1d(real_array("lambdas", lambdas, "a number or numbers"))
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"lambdas must be a number or a nonempty list; got shape {values.shape}"
        )
    if values.dtype.kind == "b":
        raise ValueError(f"lambdas must be numbers; got lambdas={brief(lambdas)}")
    finite("lambdas", values)
    values = np.sort(values.astype(np.float64))[::-1]
    if values[-1] < 0:
        raise ValueError(f"lambdas must be >= 0; got {values[-1]:g}")
    same = np.flatnonzero(np.diff(values) == 0)
    if same.size:
        raise ValueError(f"lambdas must be distinct; got {values[same[0]]:g} twice")
    return np.ascontiguousarray(values)


def check_simulation(n, p, nonzero, correlation, rho, snr):
    """The arguments of simulate(), but for the words."""
    n, p, nonzero = count("n", n, 1), count("p", p, 1), count("nonzero", nonzero, 0)
    if nonzero > p:
        raise ValueError(f"nonzero must be at most p={p}; got nonzero={nonzero}")
    one_of("correlation", correlation, ("ar1", "block", "none"))
    rho, snr = number("rho", rho, atleast=0, below=1), number("snr", snr, above=0)
    return n, p, nonzero, rho, snr


def check_random_state(random_state):
    """A numpy Generator."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be a nonnegative integer or a numpy Generator; got "
            f"random_state={brief(random_state)}"
        ) from None
