"""A cross-validation on disk: the file of its path, with what was found beside it."""

from math import isnan

import numpy as np

from ..runtime.loading import package
from .storage import array, contents, opened, parse, read_facts, write
from .stored_checks import check_fields, check_own, demand, is_count, is_number

# Vectors over lambdas, tables of folds by lambdas, and columns of the grid, with their
# kinds; those of GIVEN may be missing.
CURVES = {"cve": "f", "cvse": "f", "pe": "f"}
BY_FOLD = {"fold_errors": "f", "converged": "b"}
BY_ROW = {"folds": "iu", "kept": "f"}
GRID = {"gamma": "f", "alpha": "f", "lambda": "f", "cve": "f", "cvse": "f", "df": "iu"}
GIVEN = ("pe", "folds", "kept")
FACTS = ("index_min", "index_1se", "null_error", "measure")


def save(cv, file, **more):
    """Write a cross-validation and its path, and more facts if there are any, to a file
    name or an open binary file."""
    arrays, facts = contents(cv.fit)
    own = {name: getattr(cv, name) for name in (*CURVES, *BY_FOLD, *BY_ROW)}
    own |= {f"grid_{name}": cv.grid[name].to_numpy() for name in GRID}
    arrays |= {f"cv_{name}": values for name, values in own.items()
               if values is not None}
    facts["cv"] = {name: getattr(cv, name) for name in FACTS}
    facts["cv"]["n_folds"] = len(cv.fold_errors)
    write(file, arrays, facts | more)


def load(file, family=None):
    """The fields of a stored cross-validation, that of the path as its own fields."""
    with opened(file, "CvNcvPath") as archive:
        facts = read_facts(archive)
        if "cv" not in facts:
            raise ValueError("it has a path alone, which NcvPath.load reads")
        path = check_fields(parse(archive, facts))
        fields = check_curves(own_fields(archive, facts, path), path)
    path["family"] = check_own(path, family)
    return path, fields


def holds_cv(file):
    """Whether there is a cross-validation in a file of a path."""
    with opened(file, "NcvPath") as archive:
        return "cv_cve.npy" in archive.namelist()


def own_fields(archive, facts, path):
    """What a file has beside the path."""
    pd = package("pandas")

    found, there = facts["cv"], set(archive.namelist())
    known = isinstance(found, dict) and set(found) == {*FACTS, "n_folds"}
    demand(known, "facts of its cross-validation are odd")
    folds = found.pop("n_folds")
    demand(is_count(folds) and folds > 0, "n_folds is not a count")

    def read(name, kinds, shape):
        if name in GIVEN and f"cv_{name}.npy" not in there:
            return None
        return array(archive, f"cv_{name}", kinds, shape)

    cve = read("cve", "f", (None,))
    size, n = cve.size, facts["n"]
    fields = {name: read(name, kind, (size,)) for name, kind in CURVES.items()}
    fields |= {name: read(name, kind, (folds, size)) for name, kind in BY_FOLD.items()}
    fields["folds"] = read("folds", BY_ROW["folds"], (n,))
    fields["kept"] = read("kept", BY_ROW["kept"], (n, size))
    rows = read("grid_cve", "f", (None,)).shape
    grid = {name: read(f"grid_{name}", kind, rows) for name, kind in GRID.items()}
    fields["lambdas"] = path["lambdas"][:size]
    return fields | found | {"combinations": pd.DataFrame(grid)}


def check_curves(fields, path):
    """Refuse what does not belong together."""
    size = fields["lambdas"].size
    demand(0 < size == fields["cve"].size, "there are more errors than lambdas")
    for name in ("index_min", "index_1se"):
        k = fields[name]
        none = k is None and name == "index_1se"
        demand(none or (is_count(k) and k < size), f"{name}={k!r} is not on the curve")
    demand(isinstance(fields["measure"], str), "measure is not a name")
    error = fields["null_error"]
    odd = isinstance(error, float) and isnan(error)
    demand(odd or is_number(error), "null_error is not a number")
    demand(np.isfinite(fields["cve"]).all(), "cve is not finite")
    demand(len(fields["combinations"]) >= size, "the grid lacks the curve")
    return fields
