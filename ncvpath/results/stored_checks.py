"""Whether what a file says makes a path: the fields, their kinds, and what they say
about each other."""

import math

import numpy as np

from ..penalties import PENALTIES

# Arrays and their kinds: floating, integer, boolean.
ARRAYS = {
    "lambdas": "f", "intercept": "f", "penalty_factor": "f", "df": "i", "loss": "f",
    "dev_ratio": "f", "objective": "f", "violation": "f", "converged": "b",
    "n_epochs": "i",
}
FACTS = (
    "penalty", "gamma", "alpha", "n", "p", "constant", "status", "stopped",
    "convex_min", "tol", "has_intercept", "settings",
)
# What a path keeps of its rounds, if they are recorded: the number of the lambda, that
# of the round, and what the solver says of it (solver/trace.py).
ROUNDS = (
    "which", "round", "seconds", "objective", "violation", "step", "working_set",
    "distance",
)


def check_facts(facts):
    """Refuse facts that no path has; all that follows relies on them."""
    for name in FACTS:
        demand(name in facts, f"{name} is missing")
    for name in ("n", "p"):
        demand(is_count(facts[name]) and facts[name] > 0, f"{name} is not a count")
    for name in ("constant", "status"):
        texts = facts[name]
        demand(isinstance(texts, list), f"{name} is not a list")
        demand(all(isinstance(t, str) for t in texts), f"{name} is not a list of texts")
    demand(facts["status"], "it has no lambdas")
    stopped, last = facts["stopped"], facts["convex_min"]
    demand(stopped is None or isinstance(stopped, str), "stopped is not a text")
    inside = last is None or (is_count(last) and last < len(facts["status"]))
    demand(inside, f"convex_min={last!r} is not on the path")
    demand(isinstance(facts["has_intercept"], bool), "has_intercept is not a switch")
    demand(isinstance(facts["settings"], dict), "settings are not there")
    check_penalty(facts)


def check_penalty(facts):
    """Refuse a penalty that is not in the table, and settings that it cannot have."""
    penalty, gamma, alpha, tol = (
        facts[name] for name in ("penalty", "gamma", "alpha", "tol")
    )
    row = PENALTIES.get(penalty.lower()) if isinstance(penalty, str) else None
    demand(row is not None and row.name == penalty, f"unknown penalty {penalty!r}")
    if row.gamma is None:
        demand(gamma is None, f"{penalty} has no gamma; got {gamma!r}")
    else:
        demand(is_number(gamma) and gamma > row.above, f"gamma={gamma!r} is impossible")
    demand(is_number(alpha) and 0 < alpha <= 1, f"alpha={alpha!r} is impossible")
    demand(is_number(tol) and tol > 0, f"tol={tol!r} is impossible")


def check_fields(fields):
    """Refuse fields that do not belong together."""
    lambdas, beta, names = fields["lambdas"], fields["beta"], fields["feature_names"]
    p, size = beta.shape
    for name, kind in ARRAYS.items():
        if kind == "f" and name != "penalty_factor":
            demand(np.isfinite(fields[name]).all(), f"{name} is not finite")
    demand((lambdas >= 0).all(), "lambdas are negative")
    demand((np.diff(lambdas) <= 0).all(), "lambdas rise")
    demand((fields["penalty_factor"] >= 0).all(), "penalty_factor is not >= 0")
    demand((fields["n_epochs"] >= 0).all(), "n_epochs is negative")
    beta.check_format(full_check=True)
    demand(np.isfinite(beta.data).all(), "coefficients are not finite")
    counts = np.diff(beta.indptr)
    demand((fields["df"] == counts).all(), "df does not count the coefficients")
    places = beta.indices + np.int64(p) * np.repeat(np.arange(size), counts)
    demand(np.unique(places).size == places.size, "a coefficient is there twice")
    reached = fields["violation"] <= fields["tol"]
    demand((fields["converged"] == reached).all(), "converged is not violation <= tol")
    demand(len(set(names)) == p, "feature_names are not distinct")
    demand(set(fields["constant"]) <= set(names), "constant names other features")
    weights = fields["weights"]
    demand(
        weights is None or (np.isfinite(weights) & (weights >= 0)).all(),
        "weights are not >= 0",
    )
    if fields["rounds"] is not None:
        check_rounds(fields["rounds"], size)
    return fields


def check_rounds(rounds, size):
    """Refuse rounds that are incomplete, or not of these lambdas."""
    for name in ROUNDS:
        demand(name in rounds, f"rounds lack {name}")
        as_many = rounds[name].size == rounds["which"].size
        demand(as_many, f"rounds of {name} are not as many as others")
    known = np.isin(rounds["which"], np.arange(size)).all()
    demand(known, "rounds belong to other lambdas")


def demand(holds, otherwise):
    """A ValueError with these words, unless it holds."""
    if not holds:
        raise ValueError(otherwise)


def is_count(value):
    """An integer that counts something."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value):
    """A finite number."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)
