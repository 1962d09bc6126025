"""Whether what a file says makes a path: the fields, their kinds, and what they say
about each other."""

import math

import numpy as np

from ..families import FAMILIES
from ..penalties import PENALTIES
from ..runtime.messages import brief

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
# Facts that files of version 0.1 do not have, and what they are there.
ADDED = {
    "family": "gaussian", "classes": None, "rescale": False, "ties": "breslow",
    "trials": None, "saturated": 0.0,
}
BASELINE = ("times", "strata", "hazard", "center")
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
    check_family(facts)


def check_family(facts):
    """Refuse facts that no family has."""
    for name in (*ADDED, "own_family"):
        demand(name in facts, f"{name} is missing")
    family, classes, trials = facts["family"], facts["classes"], facts["trials"]
    demand(isinstance(family, str), f"family={family!r} is not a name")
    for name in ("rescale", "own_family"):
        demand(isinstance(facts[name], bool), f"{name} is not a switch")
    known = family in FAMILIES or facts["own_family"]
    demand(known, f"unknown family {family!r}")
    if classes is not None:
        two = isinstance(classes, list) and len(classes) == 2
        demand(two and all(map(is_label, classes)), "classes are not two labels")
    labels = facts.get("strata_labels")
    if labels is not None:
        demand(isinstance(labels, list) and labels, "strata_labels are not a list")
        demand(all(map(is_label, labels)), "strata_labels are no labels")
    demand(facts["ties"] in ("breslow", "efron"), f"unknown ties {facts['ties']!r}")
    demand(trials is None or (is_number(trials) and trials > 0), "trials are not > 0")
    demand(is_number(facts["saturated"]), "saturated is not a number")


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
    offset, spread = fields["offset"], fields["spread"]
    demand(offset is None or np.isfinite(offset).all(), "offset is not finite")
    positive = spread is None or (np.isfinite(spread) & (spread >= 0)).all()
    demand(positive, "spread is not >= 0")
    if fields["rounds"] is not None:
        check_rounds(fields["rounds"], size)
    if fields["family"] == "cox" and not fields["own_family"]:
        demand(fields["baseline"] is not None, "baseline_times is missing")
    if fields["baseline"] is not None:
        check_baseline(fields["baseline"])
    return fields


def check_baseline(baseline):
    """Refuse hazards that do not rise with time, stratum by stratum."""
    times, strata, hazard = baseline.times, baseline.strata, baseline.hazard
    demand(times.size, "baseline has no times")
    demand(np.isfinite(times).all(), "times of the baseline are not finite")
    demand(np.isfinite(baseline.center).all(), "center of the baseline is not finite")
    demand((hazard >= 0).all(), "hazards are not >= 0")
    same = np.diff(strata) == 0
    demand((np.diff(strata) >= 0).all() and strata[0] >= 0, "strata fall")
    demand((np.diff(times)[same] > 0).all(), "times of a stratum do not rise")
    with np.errstate(invalid="ignore"):  # of hazards that are infinite
        falls = np.diff(hazard, axis=0)[same] < 0
    demand(not falls.any(), "hazards fall")


def check_own(fields, family):
    """The family of a path: its name, or the user's own of that name."""
    name, own = fields["family"], fields.pop("own_family")
    if not own:
        if family is not None:
            raise ValueError(
                f"family must not be given, as the path has family={name!r}; got "
                f"family={brief(family)}"
            )
        return name
    if getattr(family, "name", None) != name:
        raise ValueError(
            f"family must be the one of your own that the path was fitted with, named "
            f"{name!r}, as in NcvPath.load(file, family=...); got "
            f"family={brief(family)}"
        )
    return family


def check_rounds(rounds, size):
    """Refuse rounds that are incomplete, or not of these lambdas."""
    for name in ROUNDS:
        demand(name in rounds, f"rounds lack {name}")
        as_many = rounds[name].size == rounds["which"].size
        demand(as_many, f"rounds of {name} are not as many as others")
    known = np.isin(rounds["which"], np.arange(size)).all()
    demand(known, "rounds belong to other lambdas")


def check_levels(levels):
    """Refuse levels that are not texts, by column."""
    demand(isinstance(levels, dict), "levels are not by column")
    for own in levels.values():
        texts = isinstance(own, list) and all(isinstance(level, str) for level in own)
        demand(texts, "levels are not a list of texts")
    return levels


def demand(holds, otherwise):
    """A ValueError with these words, unless it holds."""
    if not holds:
        raise ValueError(otherwise)


def is_label(value):
    """What JSON keeps as it is."""
    return isinstance(value, (str, bool, int, float))


def is_count(value):
    """An integer that counts something."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value):
    """A finite number."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)
