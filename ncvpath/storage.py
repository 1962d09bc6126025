"""Paths on disk: one npz file of plain arrays and one JSON text; no pickle."""

import json
import zipfile

import numpy as np

FORMAT = 1
ARRAYS = (
    "lambdas", "intercept", "penalty_factor", "df", "loss", "dev_ratio", "objective",
    "violation", "converged", "n_epochs",
)
FACTS = (
    "penalty", "gamma", "alpha", "n", "p", "constant", "status", "stopped",
    "convex_min", "tol", "has_intercept",
)


def save(path, file):
    """Write a path to a file name or an open binary file."""
    arrays = {name: getattr(path, name) for name in ARRAYS}
    arrays |= {f"work_{name}": counts for name, counts in path.work.items()}
    arrays |= {
        "beta_data": path.beta.data,
        "beta_indices": path.beta.indices,
        "beta_indptr": path.beta.indptr,
        "feature_names": np.array(path.feature_names, dtype=str),
    }
    facts = {name: getattr(path, name) for name in FACTS} | {"format": FORMAT}
    arrays["facts"] = np.array(json.dumps(facts))
    if hasattr(file, "write"):
        np.savez_compressed(file, **arrays)
        return
    with open(file, "wb") as stream:  # savez would add .npz to a bare name
        np.savez_compressed(stream, **arrays)


def load(file):
    """The fields of a stored path."""
    from scipy.sparse import csc_array

    try:
        with np.load(file, allow_pickle=False) as stored:
            content = {name: stored[name] for name in stored.files}
        facts = json.loads(str(content["facts"][()]))
        if facts.pop("format") != FORMAT:
            raise ValueError("unknown format")
        loaded = {name: content[name] for name in ARRAYS}
        loaded |= {name: facts[name] for name in FACTS}
        loaded["constant"] = tuple(facts["constant"])
        loaded["status"] = tuple(facts["status"])
        loaded["feature_names"] = tuple(content["feature_names"].tolist())
        loaded["beta"] = csc_array(
            (content["beta_data"], content["beta_indices"], content["beta_indptr"]),
            shape=(facts["p"], loaded["lambdas"].size),
        )
        loaded["work"] = {
            name.removeprefix("work_"): counts
            for name, counts in content.items()
            if name.startswith("work_")
        }
    except (KeyError, ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"file must be written by NcvPath.save; {error}") from None
    return loaded
