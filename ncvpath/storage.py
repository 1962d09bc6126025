"""Paths on disk: one npz file of plain arrays and one JSON text; no pickle."""

import json
import os
import zipfile
import zlib

import numpy as np

from .messages import brief
from .trace import Round

FORMAT = 2
# What reading a damaged or foreign file may raise, in zip, numpy, json or scipy.
DAMAGE = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError,
    NotImplementedError, RuntimeError, OverflowError, zipfile.BadZipFile, zlib.error,
)
ARRAYS = (
    "lambdas", "intercept", "penalty_factor", "df", "loss", "dev_ratio", "objective",
    "violation", "converged", "n_epochs",
)
ROUNDS = ("which", "round", *Round._fields)
FACTS = (
    "penalty", "gamma", "alpha", "n", "p", "constant", "status", "stopped",
    "convex_min", "tol", "has_intercept", "settings",
)


def save(path, file):
    """Write a path to a file name or an open binary file."""
    arrays = {name: getattr(path, name) for name in ARRAYS}
    arrays |= {f"work_{name}": counts for name, counts in path.work.items()}
    arrays |= {f"round_{name}": values for name, values in (path.rounds or {}).items()}
    arrays |= {
        "beta_data": path.beta.data,
        "beta_indices": path.beta.indices,
        "beta_indptr": path.beta.indptr,
        "feature_names": np.array(path.feature_names, dtype=str),
    }
    if path.weights is not None:
        arrays["weights"] = path.weights
    facts = {name: getattr(path, name) for name in FACTS} | {"format": FORMAT}
    arrays["facts"] = np.array(json.dumps(facts))
    if hasattr(file, "write"):
        np.savez_compressed(file, **arrays)
        return
    check_name(file)
    with open(file, "wb") as stream:  # savez would add .npz to a bare name
        np.savez_compressed(stream, **arrays)


def load(file):
    """The fields of a stored path."""
    if not hasattr(file, "read"):
        check_name(file)
    try:
        with np.load(file, allow_pickle=False) as stored:
            content = {name: stored[name] for name in stored.files}
        return check(parse(content))
    except DAMAGE as error:
        raise ValueError(
            f"file must be written by NcvPath.save; got {brief(file)}: {error!r}"
        ) from None


def check_name(file):
    """Refuse what names no file; a number would be another program's open file."""
    if not isinstance(file, (str, bytes, os.PathLike)) or not file:
        raise ValueError(
            "file must be a file name, a pathlib.Path or an open binary file; got "
            f"{type(file).__name__} {brief(file)}"
        )


def parse(content):
    """Fields from the arrays of a file."""
    from scipy.sparse import csc_array

    facts = json.loads(str(content["facts"][()]))
    if facts["format"] != FORMAT:
        raise ValueError(f"unknown format {facts['format']!r}")
    fields = {name: content[name] for name in ARRAYS}
    fields |= {name: facts[name] for name in FACTS}
    fields["weights"] = content.get("weights")
    fields["constant"] = tuple(facts["constant"])
    fields["status"] = tuple(facts["status"])
    fields["feature_names"] = tuple(content["feature_names"].tolist())
    fields["beta"] = csc_array(
        (content["beta_data"], content["beta_indices"], content["beta_indptr"]),
        shape=(facts["p"], fields["lambdas"].size),
    )
    fields["work"] = with_prefix("work_", content)
    fields["rounds"] = with_prefix("round_", content) or None
    return fields


def with_prefix(prefix, content):
    """The arrays whose names begin so, under the rest of their names."""
    return {
        name.removeprefix(prefix): values
        for name, values in content.items()
        if name.startswith(prefix)
    }


def check(fields):
    """Refuse fields that do not belong together."""
    p, size = fields["p"], fields["lambdas"].size
    fields["beta"].check_format(full_check=True)
    lengths = {name: (p if name == "penalty_factor" else size) for name in ARRAYS}
    for name, length in lengths.items():
        if fields[name].shape != (length,) or fields[name].dtype.kind not in "biuf":
            raise ValueError(f"{name} is not {length} numbers")
    for name, counts in fields["work"].items():
        if counts.shape != (size,) or counts.dtype.kind not in "iuf":
            raise ValueError(f"{name} is not {size} numbers")
    if fields["rounds"] is not None:
        check_rounds(fields["rounds"], size)
    weights = fields["weights"]
    if weights is not None and weights.shape != (fields["n"],):
        raise ValueError(f"weights are not {fields['n']} numbers")
    if fields["beta"].dtype.kind != "f":
        raise ValueError("coefficients are not numbers")
    if len(fields["feature_names"]) != p or len(fields["status"]) != size:
        raise ValueError("names or statuses are missing")
    return fields


def check_rounds(rounds, size):
    """Refuse rounds that are incomplete, or not of these lambdas."""
    for name in ROUNDS:
        if name not in rounds:
            raise ValueError(f"rounds lack {name}")
        if rounds[name].ndim != 1 or rounds[name].size != rounds["which"].size:
            raise ValueError(f"rounds of {name} are not as many as others")
        if rounds[name].dtype.kind not in "iuf":
            raise ValueError(f"rounds of {name} are not numbers")
    if not np.isin(rounds["which"], np.arange(size)).all():
        raise ValueError("rounds belong to other lambdas")
