"""How to fit: every setting, checked, or a ValueError that names argument, rule and
value. Nothing behind the door checks them again."""

from dataclasses import dataclass, fields
from functools import partial
from numbers import Real

import numpy as np

from ..families import FAMILIES
from ..families.family import Family
from ..penalties import PENALTIES, ROWS, Row, knows_units
from ..runtime.messages import brief
from ..runtime.threads import available_cores
from ..solver.inner import INNER
from ..solver.mm import MAJORIZING
from ..solver.search import SEARCHES
from ..solver.working_set import RULES
from .checks import count, finite, flag, number, one_of, real_array
from .response import check_family

# What other penalties are, by their names.
ELASTIC_NET = " (it is the lasso with alpha < 1)"
OTHER_PENALTIES = {
    "ridge": " (a ridge leaves no coefficient at zero: scikit-learn's RidgeCV fits it; "
    "a small alpha is near it)",
    "elasticnet": ELASTIC_NET, "elastic net": ELASTIC_NET, "enet": ELASTIC_NET,
    "l1": " (did you mean 'lasso'?)",
}
SOLVERS = (*INNER, *MAJORIZING)


@dataclass(frozen=True)
class Settings:
    """Everything but the data, checked."""

    family: Family
    rescale: bool
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
    search: str
    tol: float
    max_epochs: int
    dfmax: int | None
    convex: bool
    n_threads: int
    progress: bool
    record: bool
    certify_from: int = 2_000_000  # numbers in X; tests have smaller ones

    @property
    def uses_products(self):
        """Whether the solver works on products of columns and gains by having all."""
        return self.solver == "cd" and self.family.is_quadratic

    @property
    def centers(self):
        """Whether columns are centred; without an intercept to gain from it, where the
        family can have none."""
        return self.intercept or not self.family.has_intercept

    @property
    def ends_at_saturation(self):
        """Whether a model that explains all ends the path: an automatic grid needs no
        smaller lambdas, and a flat penalty does not hold coefficients that part
        classes, or order times, ever better."""
        flat = self.row.is_flat and self.alpha == 1
        return self.lambdas is None or (flat and self.family.may_separate)

    @property
    def lambda_count(self):
        """How many lambdas a path will have, if nothing ends it early."""
        return self.nlambda if self.lambdas is None else self.lambdas.size


def _refuse_several(name, values, where=""):
    """Several values are not fitted; say what they are for."""
    single = isinstance(values, str) or not hasattr(values, "__iter__")
    if not single and getattr(values, "ndim", 1) > 0:
        raise ValueError(
            f"{name} must be a number{where}; several are tuned by cv_ncvpath(); got "
            f"{name}={brief(values)}"
        )


def _alpha(name, alpha):
    """The share of the sparse penalty."""
    _refuse_several(name, alpha)
    if isinstance(alpha, Real) and not isinstance(alpha, bool) and alpha == 0:
        raise ValueError(
            "alpha must be greater than 0; got alpha=0, which is ridge regression: it "
            "sets no coefficient to zero, and has no path of models (scikit-learn's "
            "RidgeCV fits it; alpha=0.01 here is close to it)"
        )
    return number(name, alpha, above=0, upto=1)


# Settings that are checked one by one, and those of them that the fit may choose.
CHECKS = {field.name: flag for field in fields(Settings) if field.type is bool} | {
    "alpha": _alpha,
    "nlambda": partial(count, least=1),
    "lambda_min_ratio": partial(number, atleast=0, below=1),
    "n_added": partial(count, least=1),
    "tol": partial(number, above=0),
    "max_epochs": partial(count, least=1),
    "dfmax": partial(count, least=0),
    "n_threads": partial(count, least=1),
    "search": partial(one_of, choices=SEARCHES),
}
OPTIONAL = ("lambda_min_ratio", "n_added", "dfmax", "n_threads")


def check_settings(
    *, penalty, gamma, lambdas, working_set, solver, family="gaussian", rescale=None,
    **others,
):
    """Clean settings."""
    row, family = _penalty(penalty), check_family(family)
    _check_system(working_set, solver)
    checked = {
        "family": family, "rescale": _rescale(family, rescale), "row": row,
        "gamma": _gamma(row, gamma), "working_set": working_set, "solver": solver,
        "lambdas": None if lambdas is None else check_lambdas(lambdas),
    }
    for name, value in others.items():
        left_open = value is None and name in OPTIONAL
        checked[name] = None if left_open else CHECKS[name](name, value)
    checked["n_threads"] = checked["n_threads"] or available_cores()
    settings = Settings(**checked)
    _check_objective(settings)
    _check_search(settings)
    return settings


def _check_system(working_set, solver):
    """A working set and a solver must go together."""
    one_of("working_set", working_set, RULES)
    one_of("solver", solver, SOLVERS)
    if solver in MAJORIZING and working_set != "fireworks":
        raise ValueError(
            f"working_set must be fireworks with solver={solver!r}, or any of "
            f"{', '.join(RULES)} with solver one of {', '.join(INNER)}; got "
            f"working_set={working_set!r}"
        )


def _check_objective(settings):
    """Most solvers need a fixed objective, which adaptive rescaling has not."""
    known = [name for name, way in INNER.items() if way.rescaled is not None]
    units = settings.rescale and knows_units(settings.row.kind, settings.alpha)
    if units and settings.solver not in known:
        raise ValueError(
            f"solver must be {' or '.join(known)} with rescale=True, the default with "
            f"family={settings.family.name!r}: the units of the penalty depend on the "
            "solution, and there is no fixed objective; any of "
            f"{', '.join(SOLVERS)} with rescale=False, or with penalty='lasso' and "
            f"alpha=1; got solver={settings.solver!r}"
        )


def _check_search(settings):
    """A search compares objectives at several minima."""
    if settings.search == "forward":
        return
    if settings.row.gamma is None:
        raise ValueError(
            f"search must be forward with penalty={settings.row.name!r}, which has one "
            f"minimum; got search={settings.search!r}"
        )
    if settings.rescale and knows_units(settings.row.kind, settings.alpha):
        raise ValueError(
            "search must be forward with rescale=True, the default with "
            f"family={settings.family.name!r}: there is no fixed objective to be "
            f"lower; any of {', '.join(SEARCHES)} with rescale=False; got "
            f"search={settings.search!r}"
        )


def _rescale(family, rescale):
    """Adaptive rescaling: where the curvature is not one."""
    if rescale is None:
        return not family.is_quadratic
    if flag("rescale", rescale) and family.is_quadratic:
        raise ValueError(
            f"rescale must not be True with family={family.name!r}: its curvature is "
            "one, and columns are rescaled by standardize; got rescale=True"
        )
    return bool(rescale)


def _penalty(penalty):
    row = PENALTIES.get(penalty.lower()) if isinstance(penalty, str) else None
    if row is None:
        names = ", ".join(row.name for row in ROWS)
        word = penalty.lower() if isinstance(penalty, str) else ""
        raise ValueError(
            f"penalty must be one of {names}; got penalty={brief(penalty)}"
            f"{OTHER_PENALTIES.get(word, '')}"
        )
    return row


def _gamma(row, gamma):
    if gamma is None:
        return row.gamma
    if row.gamma is None:
        raise ValueError(
            f"gamma must not be given for {row.name}; got gamma={brief(gamma)}"
        )
    where = f" for {row.name}"
    _refuse_several("gamma", gamma, where)
    return number("gamma", gamma, above=row.above, where=where)


def check_lambdas(lambdas):
    """The user's own, from the largest down."""
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


def check_simulation(n, p, family, nonzero, correlation, rho, snr):
    """The arguments of simulate(), but for the words."""
    n, p, nonzero = count("n", n, 1), count("p", p, 1), count("nonzero", nonzero, 0)
    if nonzero > p:
        raise ValueError(f"nonzero must be at most p={p}; got nonzero={nonzero}")
    one_of("family", family, FAMILIES)
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
