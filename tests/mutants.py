"""Break one key line at a time, and see a test fail for each.

    python tests/mutants.py            every mutant, some minutes
    python tests/mutants.py ridge fold those whose name has one of these words

Each mutant is applied to a copy of the package whose kernels are interpreted: compiling
them anew for each would take longer than the tests. Exit code 1 if a mutant survives.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
# Seconds after which a mutant has shown that something is wrong.
PATIENCE = 600


class Mutant(NamedTuple):
    """A line that matters, what it is changed to, and the tests that should notice."""

    name: str
    file: str
    old: str  # once in the file
    new: str
    tests: str  # arguments of pytest


KERNELS, NEWTON = "tests/kernels/test_kernels.py", "tests/kernels/test_newton.py"
FERMAT = "tests/claims/test_fermat.py -k tall"
CV, SPARSE = "tests/crossval/test_cv.py", "tests/matrices/test_sparse.py"
PATH, RESULTS = "tests/doors/test_path.py", "tests/results/test_results.py"
SETS = "tests/solver/test_working_set.py"
DESIGN, FOUND = "tests/matrices/test_design.py", "tests/claims/test_found.py"
BETWEEN = "tests/claims/test_equivariance.py -k"
ERRORS = f"{CV} -k errors_are_means"

MUTANTS = (
    Mutant(
        "what counts as constant", "kernels/__init__.py", "LAST_PLACES = 16 * EPS",
        "LAST_PLACES = 15 * EPS", f"{FOUND} -k what_is_constant",
    ),
    Mutant(
        "the last of many products", "kernels/__init__.py",
        "kb, kc, kd = min(k + 1, end), min(k + 2, end), min(k + 3, end)",
        "kb, kc, kd = min(k + 1, end), min(k + 2, end), min(k + 2, end)",
        f"{KERNELS} -k many_dots",
    ),
    Mutant(
        "ridge in a sweep", "kernels/__init__.py",
        "q[j] -= change * (v[j] - row[j])", "q[j] += change * (v[j] - row[j])",
        f"{KERNELS} -k descents_reach",
    ),
    Mutant(
        "ridge in the working set's gradient", "kernels/__init__.py",
        "correlation[j] - l2[k] * b[k]", "correlation[j] + l2[k] * b[k]", FERMAT,
    ),
    Mutant(
        "ridge in the objective", "kernels/__init__.py",
        "total += 0.5 * ridge * ridge_factor[j] * b * b",
        "total += ridge * ridge_factor[j] * b * b", FERMAT,
    ),
    Mutant(
        "ridge in the measured violation", "kernels/__init__.py",
        "        u = correlation[j] - ridge * ridge_factor[j] * beta[j]\n        met",
        "        u = correlation[j]\n        met", f"{SETS} -k survey",
    ),
    Mutant(
        "FireWorks' step", "kernels/__init__.py",
        "(l1 - f) / (abs(u) - f)", "(l1 - f) / abs(u)", f"{SETS} -k step",
    ),
    Mutant(
        "who blocks the step", "solver/working_set.py",
        "size = max(n_added, np.count_nonzero(blocking))", "size = n_added",
        f"{SETS} -k blocking",
    ),
    Mutant(
        "distances from slabs", "solver/working_set.py",
        "distance = np.where(blocking, 0.0, distance / length)",
        "distance = np.where(blocking, 0.0, distance)", f"{SETS} -k length",
    ),
    Mutant(
        "the certificate's bound", "kernels/__init__.py",
        "elif not size + slack * length[j] <= l1:", "elif not size <= l1:",
        "tests/solver/test_certificates.py -k bounds_hold",
    ),
    Mutant(
        "what the references leave", "solver/certificates.py",
        "left = np.sqrt(rest**2 @ self.design.weights) * (1 + self.rounding)",
        "left = 0.5 * np.sqrt(rest**2 @ self.design.weights)",
        "tests/solver/test_certificates.py -k bounds_hold",
    ),
    Mutant(
        "objections behind a stretch", "kernels/__init__.py",
        "        if not worst[k] <= tol:", "        if not worst[k] <= 1e3:",
        "tests/solver/test_stretches.py -k fermat",
    ),
    Mutant(
        "features that a stretch calls", "kernels/__init__.py",
        "                return k + 1, CALLED", "                continue",
        "tests/solver/test_stretches.py -k look_back",
    ),
    Mutant(
        "violations that a stretch reports", "solver/stretches.py",
        "np.maximum(step.violation, worst / problem.g0)", "step.violation",
        "tests/solver/test_stretches.py -k tolerance",
    ),
    Mutant(
        "products under other numbers", "solver/gram.py",
        "other.features[:known] = place[self.features[:known]]",
        "other.features[:known] = self.features[:known] % place.size",
        "tests/solver/test_stretches.py -k other_numbers",
    ),
    Mutant(
        "violations outside the working set", "solver/solver.py",
        "worst = np.maximum(inside, outside)", "worst = inside",
        f"{PATH} -k exact_rounds",
    ),
    Mutant(
        "violations outside, on easy stretches", "kernels/__init__.py",
        "worst = larger(inside, outside)", "worst = inside",
        "tests/claims/test_fermat.py -k wide",
    ),
    Mutant(
        "NaN among violations", "kernels/__init__.py",
        "return a if b <= a or a != a else b", "return b if b > a else a",
        f"{KERNELS} -k nan",
    ),
    Mutant(
        "the strong rule", "kernels/__init__.py",
        "cut = alpha * (lambdas[done] + growth * (lambdas[done] - lam))",
        "cut = alpha * (lambdas[done] - growth * (lambdas[done] - lam))",
        f"{SETS} -k strong",
    ),
    Mutant(
        "the strong rule of the solver", "solver/solver.py",
        "cut = problem.alpha * (lam + problem.growth * (lam - state.lam))",
        "cut = problem.alpha * (lam - problem.growth * (lam - state.lam))",
        f"{SETS} -k strong",
    ),
    Mutant(
        "the working set's growth", "solver/solver.py",
        "min(first << min(rounds - 1, 30), 2 * objecting)", "min(first, 2 * objecting)",
        f"{SETS} -k twice",
    ),
    Mutant(
        "pruning only if asked", "solver/solver.py",
        "if limits.prune and rounds < last:", "if rounds < last:",
        "tests/solver/test_systems.py -k unless_pruned",
    ),
    Mutant(
        "unpenalised features and lambda_max", "solver/problem.py",
        "penalised = (factor > 0) & (factor < np.inf)", "penalised = factor < np.inf",
        f"{PATH} -k null_model",
    ),
    Mutant(
        "MCP's threshold", "kernels/__init__.py",
        "return (z - l1) / (v - 1.0 / g)", "return (z - l1) / (v + 1.0 / g)",
        f"{KERNELS} -k threshold",
    ),
    Mutant(
        "where MCP becomes flat", "kernels/__init__.py",
        "if penalty.kind == MCP and z <= g * l1 * v:",
        "if penalty.kind == MCP and z <= g * l1:", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "where SCAD bends", "kernels/__init__.py",
        "z > l1 * (1.0 + v)", "z > l1 * (2.0 + v)", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "capped's straight piece", "kernels/__init__.py",
        "near = min(max((z - l1) / v, 0.0), g * l1)", "near = 0.0",
        f"{KERNELS} -k threshold",
    ),
    Mutant(
        "capped's flat piece", "kernels/__init__.py",
        "far = max(z / v, g * l1)", "far = g * l1", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "logsum's root", "kernels/__init__.py",
        "return (root - half) / v", "return max(-root - half, 0.0) / v",
        f"{KERNELS} -k threshold",
    ),
    Mutant(
        "logsum's shape", "penalties.py",
        "gamma * response_sd if row.tied_to_y else gamma", "gamma",
        "tests/doors/test_penalties.py",
    ),
    Mutant(
        "Newton's curvature", "kernels/__init__.py",
        "diagonal[k] = v[j] + (0.0 if straight else curvature(penalty, a, l1[j]))",
        "diagonal[k] = v[j] - (0.0 if straight else curvature(penalty, a, l1[j]))",
        f"{NEWTON} -k concave_piece",
    ),
    Mutant(
        "rows that leave Newton's factor", "kernels/__init__.py",
        "left = cosine[k] * left - sine[k] * row[k + 1]",
        "left = cosine[k] * left + sine[k] * row[k + 1]", f"{NEWTON} -k come_and_go",
    ),
    Mutant(
        "steps that raise the objective", "kernels/__init__.py",
        "if rise <= ROUNDING * height and", "if True and", f"{NEWTON} -k too_far",
    ),
    Mutant(
        "proximal steps that do not descend", "solver/gist.py",
        "gained > slack - 0.5 * SIGMA * t * square and t < RANGE * steepest", "False",
        "tests/solver/test_systems.py -k gist_lowers",
    ),
    Mutant(
        "the majorizing lasso", "solver/mm.py",
        "factor[support] = slope(a, l1, problem.penalty.shape) / level",
        "factor[support] = factor[support]",
        "tests/solver/test_systems.py -k same_objective and prox",
    ),
    Mutant(
        "convex_min", "solver/convexity.py", "+= l2 - k", "+= k - l2",
        f"{PATH} -k convex_min",
    ),
    Mutant(
        "the grid's direction", "solver/grid.py",
        "top * np.geomspace(1.0, ratio, nlambda)",
        "top * np.geomspace(ratio, 1.0, nlambda)", f"{PATH} -k grid",
    ),
    Mutant(
        "dfmax", "solver/walk.py",
        "settings.dfmax is not None and df > settings.dfmax",
        "settings.dfmax is not None and df >= settings.dfmax", f"{RESULTS} -k dfmax",
    ),
    Mutant(
        "coefficients on the user's scale", "matrices/design.py",
        "coefficients = beta / self.scale[features]",
        "coefficients = beta * self.scale[features]", f"{DESIGN} -k users",
    ),
    Mutant(
        "the intercept", "matrices/design.py",
        "response_mean - self.center[features] @ coefficients",
        "response_mean + self.center[features] @ coefficients",
        f"{DESIGN} -k users",
    ),
    Mutant(
        "the spread of a column", "kernels/__init__.py",
        "far = (column[i] - mean) / top", "far = column[i] / top",
        DESIGN,
    ),
    Mutant(
        "steps that led upwards", "solver/solver.py",
        "fit.beta)) <= highest:", "fit.beta)) < np.inf:",
        f"{FOUND} -k upwards",
    ),
    Mutant(
        "fits that only rounding made", "solver/solver.py",
        "max(reached, problem.hidden(fit.support, fit.beta))", "reached",
        f"{FOUND} -k ran_away",
    ),
    Mutant(
        "steps that overflow", "kernels/__init__.py",
        "longest <= largest / EPS", "longest < np.inf",
        f"{FOUND} -k without_curvature",
    ),
    Mutant(
        "steps that seem to lead down", "kernels/__init__.py",
        " and far <= farthest:", ":", "tests/kernels/test_newton.py -k digits",
    ),
    Mutant(
        "products where digits are few", "solver/solver.py",
        "<= BY_FAR * limits.tol", "< np.inf", f"{FOUND} -k near_rounding",
    ),
    Mutant(
        "what rounding lets us know", "solver/walk.py",
        "if rounding <= tol:", "if rounding <= 1e9 * tol:",
        f"{FOUND} -k claims",
    ),
    Mutant(
        "weights that sum to one", "inputs/data.py",
        "return weights / weights.sum()", "return weights", f"{BETWEEN} row_twice",
    ),
    Mutant(
        "float64 sums of float32 columns", "kernels/__init__.py",
        "total += vector[i] * (column[i] - c)",
        "total += np.float32(vector[i] * (column[i] - c))",
        "tests/claims/test_float32.py -k exact_numbers and True",
    ),
    Mutant(
        "centring in sparse correlations", "kernels/__init__.py",
        "out[m, k] = total - (c - shift) * sums[m]", "out[m, k] = total",
        f"{SPARSE} -k operations",
    ),
    Mutant(
        "centring in sparse products", "matrices/sparse.py",
        "out -= np.outer(self._left(rows, center), self._left(columns, center))",
        "out -= 0.0", f"{SPARSE} -k operations",
    ),
    Mutant(
        "centring in sparse residuals", "kernels/__init__.py",
        "lift += step * (center[j] - shift)", "lift -= step * (center[j] - shift)",
        f"{SPARSE} -k operations",
    ),
    Mutant(
        "means of folds", "kernels/__init__.py",
        "shift = -total / left if intercept", "shift = total / left if intercept",
        f"{CV} -k training_rows",
    ),
    Mutant(
        "centring in a fold's products", "crossval/fold_fits.py",
        "out -= np.outer(shift, shift)", "out += np.outer(shift, shift)",
        f"{CV} -k share_its_products",
    ),
    Mutant(
        "weights of a fold", "crossval/fold_fits.py",
        "    weights /= weights.sum()\n", "", f"{CV} -k training_rows",
    ),
    Mutant(
        "the null error", "cv.py",
        "center = data.weights[live] @ data.y[live] if path.has_intercept else 0.0",
        "center = data.y.mean() if path.has_intercept else 0.0", ERRORS,
    ),
    Mutant(
        "between folds, in cvse", "cv.py",
        "lengths(np.concatenate([within, between]))", "lengths(within)", ERRORS,
    ),
    Mutant(
        "the 1-SE rule", "cv.py",
        "best.cve[lowest] + best.cvse[lowest]", "best.cve[lowest]",
        f"{CV} -k two_rules",
    ),
    Mutant(
        "BIC's log n", "results/criteria.py",
        "return np.log(path.n) * parameters(path)", "return 2 * parameters(path)",
        f"{RESULTS} -k criteria",
    ),
    Mutant(
        "EBIC's count of models", "results/criteria.py",
        "- gammaln(p - df + 1))", "+ gammaln(p - df + 1))", f"{RESULTS} -k criteria",
    ),
    Mutant(
        "selected() on the log scale", "results/path.py",
        "np.argmin(np.abs(np.log(self.lambdas) - np.log(lam)))",
        "np.argmin(np.abs(self.lambdas - lam))", f"{RESULTS} -k log_scale",
    ),
)


def copy_to(folder):
    """The package and its tests, and what the tests import."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    leave = shutil.ignore_patterns("__pycache__")
    for name in ("ncvpath", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave)


def run_tests(folder, tests):
    """Pytest on the copy: exit code, and the first failing test or what was said."""
    own = {
        "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg",
        "PYTHONPATH": str(folder),
    }
    files, _, words = tests.partition(" -k ")
    chosen = ["-k", words] if words else []
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--tb=no",
             *files.split(), *chosen],
            cwd=folder, env=os.environ | own, text=True, capture_output=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return 1, f"nothing after {PATIENCE} seconds"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return done.returncode, failed[1] if failed else done.stdout + done.stderr


def survives(folder, mutant):
    """Whether the mutant's tests pass; prints what they found."""
    file = folder / "ncvpath" / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        print(f"STALE     {mutant.name}: {mutant.file} must have this once:")
        print(mutant.old)
        return True
    file.write_text(text.replace(mutant.old, mutant.new))
    try:
        code, said = run_tests(folder, mutant.tests)
    finally:
        file.write_text(text)
    caught = code == 1
    word = "caught" if caught else "SURVIVED" if code == 0 else f"pytest: {code}"
    print(f"{word:9} {mutant.name}: {said.strip()}", flush=True)
    return not caught


def main(words):
    """Try the mutants; the exit code."""
    chosen = [
        mutant for mutant in MUTANTS
        if not words or any(word in mutant.name for word in words)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        for tests in sorted({mutant.tests for mutant in chosen}):
            code, said = run_tests(folder, tests)
            if code != 0:
                print(f"{tests} must pass before anything is broken:\n{said}")
                return 1
        alive = [mutant.name for mutant in chosen if survives(folder, mutant)]
    print(f"{len(chosen) - len(alive)} of {len(chosen)} mutants caught")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
