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
SOURCES = "tests/kernels/test_sources.py"
FERMAT = "tests/claims/test_fermat.py -k tall"
CV, SPARSE = "tests/crossval/test_cv.py", "tests/matrices/test_sparse.py"
PATH, RESULTS = "tests/doors/test_path.py", "tests/results/test_results.py"
SETS, SYSTEMS = "tests/solver/test_working_set.py", "tests/solver/test_systems.py"
FAMILY_SYSTEMS = "tests/solver/test_family_systems.py"
FAMILY_CLAIMS = "tests/claims/test_family_claims.py"
ESTIMATORS = "tests/estimators/test_estimators.py"
CERTIFICATES, LOOP = "tests/solver/test_certificates.py", "tests/solver/test_loop.py"
DESIGN, FOUND = "tests/matrices/test_design.py", "tests/claims/test_found.py"
BETWEEN = "tests/claims/test_equivariance.py -k"
ERRORS = f"{CV} -k errors_are_means"

MUTANTS = (
    Mutant(
        "what counts as constant", "kernels/shared.py", "LAST_PLACES = 16 * np",
        "LAST_PLACES = 15 * np", f"{FOUND} -k what_is_constant",
    ),
    Mutant(
        "the last of many products", "kernels/dense.py",
        "kb, kc, kd = min(k + 1, end), min(k + 2, end), min(k + 3, end)",
        "kb, kc, kd = min(k + 1, end), min(k + 2, end), min(k + 2, end)",
        f"{KERNELS} -k many_dots",
    ),
    Mutant(
        "ridge in a sweep", "kernels/newton.py", "q[j] -= change * (v[j] - row[j])",
        "q[j] += change * (v[j] - row[j])", f"{KERNELS} -k descents_reach",
    ),
    Mutant(
        "ridge at the next lambda", "kernels/descent.py",
        "r.q[j] += (before - ridge) * r.beta[j]", "r.q[j] -= ridge * r.beta[j]",
        f"{KERNELS} -k order_of_its_slots",
    ),
    Mutant(
        "coordinates that change places", "kernels/descent.py",
        "r.l1[j], r.l1[k] = r.l1[k], r.l1[j]", "pass", f"{KERNELS} -k places",
    ),
    Mutant(
        "rows of products by slot", "kernels/descent.py",
        "products.values[products.rows[r.slots[size]]]",
        "products.values[r.slots[size]]",
        f"{KERNELS} -k order_of_its_slots or interrupted",
    ),
    Mutant(
        "ridge in the objective", "kernels/screening.py",
        "value(penalty, abs(b), l1) + 0.5 * l2 * b * b",
        "value(penalty, abs(b), l1) + l2 * b * b", FERMAT,
    ),
    Mutant(
        "ridge in the measured violation", "kernels/screening.py",
        "violation(penalty, b, correlation[k, j] - l2 * b, l1)",
        "violation(penalty, b, correlation[k, j], l1)", FERMAT,
    ),
    Mutant(
        "FireWorks' step", "solver/working_set.py",
        "((l1 - f) / (np.abs(u) - f)).min(initial=1.0)",
        "((l1 - f) / np.abs(u)).min(initial=1.0)", f"{SETS} -k step",
    ),
    Mutant(
        "the side of the feasible vector", "solver/working_set.py",
        "np.sign(u) * feasible.values[violators]", "np.abs(feasible.values[violators])",
        f"{SETS} -k step",
    ),
    Mutant(
        "who blocks the step", "solver/working_set.py",
        "size = max(n_added, np.count_nonzero(touching))", "size = n_added",
        f"{SETS} -k blocking",
    ),
    Mutant(
        "distances from slabs", "solver/working_set.py", "    gap /= length\n", "",
        f"{SETS} -k length",
    ),
    Mutant(
        "the nearest among estimates", "solver/working_set.py",
        "outside[gap - off <= edge]", "outside[gap <= edge]", f"{SETS} -k nearest",
    ),
    Mutant(
        "the certificate's bound", "kernels/screening.py",
        "if not size + off <= levels[k, 0] * penalty_factor[j]:",
        "if not size <= levels[k, 0] * penalty_factor[j]:",
        f"{CERTIFICATES} -k no_certified and plain",
    ),
    Mutant(
        "what the references leave", "solver/certificates.py",
        "left = np.sqrt(rest**2 @ weights) * (1 + self.rounding)",
        "left = 0.5 * np.sqrt(rest**2 @ weights)",
        f"{CERTIFICATES} -k bounds_hold or estimates",
    ),
    Mutant(
        "bounds of estimates", "solver/certificates.py",
        "return size + np.where(self.exact, 0.0, self.slack * self.design.length)",
        "return size", f"{CERTIFICATES} -k bounds_hold",
    ),
    Mutant(
        "what a combination knows", "solver/certificates.py",
        "exact = self.exact & other.exact", "exact = self.exact | other.exact",
        f"{CERTIFICATES} -k combinations",
    ),
    Mutant(
        "ridge in resolved correlations", "solver/certificates.py",
        "found -= self.shift[unknown]", "pass",
        f"{CERTIFICATES} -k resolved or combinations",
    ),
    Mutant(
        "correlations that choices need", "solver/working_set.py",
        "touched = state.correlation.resolve(near)", "touched = 0",
        f"{SETS} -k estimates",
    ),
    Mutant(
        "violations before lambdas pass", "solver/loop.py",
        "self.solved.met & (self.worst <= tol)", "self.solved.met",
        f"{LOOP} -k first_that_fails",
    ),
    Mutant(
        "violations outside the working set", "solver/loop.py",
        "return np.maximum(self.inside, self.outside)", "return self.inside",
        f"{PATH} -k exact_rounds",
    ),
    Mutant(
        "the lambda that fails", "solver/loop.py",
        "if good.all() else int(np.argmin(good))", "if good.any() else 0",
        f"{LOOP} -k first_that_fails",
    ),
    Mutant(
        "NaN among violations", "kernels/penalty.py",
        "return a if b <= a or a != a else b", "return b if b > a else a",
        f"{KERNELS} -k nan",
    ),
    Mutant(
        "the strong rule", "solver/working_set.py",
        "cuts = problem.alpha * (lambdas - growth * np.abs(lambdas - lam))",
        "cuts = problem.alpha * (lambdas + growth * np.abs(lambdas - lam))",
        f"{SETS} -k strong",
    ),
    Mutant(
        "the strong rule at the next lambda", "solver/working_set.py",
        "    growth[0] = problem.growth\n", "", f"{SETS} -k strong",
    ),
    Mutant(
        "the working set's growth", "solver/loop.py",
        "min(first << min(done - 1, 30), 2 * violators)", "min(first, 2 * violators)",
        f"{SETS} -k twice",
    ),
    Mutant(
        "pruning only if asked", "solver/loop.py", "if limits.prune and done < last:",
        "if done < last:", f"{SYSTEMS} -k unless_pruned",
    ),
    Mutant(
        "products by their own rows", "solver/solutions.py",
        "gram.row[gram.slot[self.features]]", "gram.slot[self.features]", FERMAT,
    ),
    Mutant(
        "the loss by products", "solver/solutions.py",
        "loss = anchor.loss - 0.5 * np.einsum", "loss = anchor.loss - 0.4 * np.einsum",
        FERMAT,
    ),
    Mutant(
        "unpenalised features and lambda_max", "solver/null_model.py",
        "penalised = (penalty_factor > 0) & (penalty_factor < np.inf)",
        "penalised = penalty_factor < np.inf", f"{PATH} -k null_model",
    ),
    Mutant(
        "MCP's threshold", "kernels/penalty.py", "return (z - l1) / (v - 1.0 / g)",
        "return (z - l1) / (v + 1.0 / g)", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "where MCP becomes flat", "kernels/penalty.py",
        "if penalty.kind == MCP and z <= g * l1 * v:",
        "if penalty.kind == MCP and z <= g * l1:", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "where SCAD bends", "kernels/penalty.py", "z > l1 * (1.0 + v)",
        "z > l1 * (2.0 + v)", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "capped's straight piece", "kernels/penalty.py",
        "near = min(max((z - l1) / v, 0.0), g * l1)", "near = 0.0",
        f"{KERNELS} -k threshold",
    ),
    Mutant(
        "capped's flat piece", "kernels/penalty.py", "far = max(z / v, g * l1)",
        "far = g * l1", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "logsum's root", "kernels/penalty.py", "return (root - half) / v",
        "return max(-root - half, 0.0) / v", f"{KERNELS} -k threshold",
    ),
    Mutant(
        "logsum's shape", "penalties.py",
        "gamma * response_sd if row.tied_to_y else gamma", "gamma",
        "tests/doors/test_penalties.py",
    ),
    Mutant(
        "Newton's curvature", "kernels/newton.py", "diagonal[count] = r.v[j] + bend",
        "diagonal[count] = r.v[j] - bend", f"{NEWTON} -k concave_piece",
    ),
    Mutant(
        "rows that leave Newton's factor", "kernels/newton.py",
        "left = cosine[k] * left - sine[k] * row[k + 1]",
        "left = cosine[k] * left + sine[k] * row[k + 1]", f"{NEWTON} -k come_and_go",
    ),
    Mutant(
        "steps that raise the objective", "kernels/newton.py",
        "if rise <= NO_RISE * height and", "if True and", f"{NEWTON} -k too_far",
    ),
    Mutant(
        "steps that overflow", "kernels/newton.py", "longest <= largest / EPS",
        "longest < np.inf", f"{FOUND} -k without_curvature",
    ),
    Mutant(
        "steps that seem to lead down", "kernels/newton.py", " and far <= farthest:",
        ":", f"{NEWTON} -k digits",
    ),
    Mutant(
        "helpers in other files", "runtime/code_cache.py",
        "cache._cache_file._source_stamp = sources", "pass", f"{SOURCES} -k another",
    ),
    Mutant(
        "proximal steps that do not descend", "solver/gist.py",
        "falls = gained <= slack - 0.5 * SIGMA * t * square and excess < np.inf",
        "falls = True",
        f"{SYSTEMS} -k gist_lowers",
    ),
    Mutant(
        "the score of the intercept in proximal steps", "solver/gist.py",
        "self.on.point.q, self.on.point.pull)", "self.on.point.q, 0.0)",
        f"{FAMILY_SYSTEMS} -k gist and binomial",
    ),
    Mutant(
        "weights that grow when the objective does not fall", "solver/newton.py",
        "is_lasso:\n                self.multiply()", "is_lasso:\n                pass",
        f"{FAMILY_SYSTEMS} -k too_far",
    ),
    Mutant(
        "the multiple of weighted sweeps", "solver/sweeps.py",
        "self.multiple * self.weights, self.mean", "self.weights, self.mean",
        f"{FAMILY_SYSTEMS} -k multiplied",
    ),
    Mutant(
        "tangents where the model leads astray", "solver/newton.py",
        "self.straighten(True)", "self.multiply()", f"{FAMILY_CLAIMS} -k few_steps",
    ),
    Mutant(
        "v as it is, in certificates", "solver/rescaling.py", "unit[own] = roots(v)",
        "unit[own] = roots(v, v.max())", f"{FAMILY_CLAIMS} -k units_of_a_column",
    ),
    Mutant(
        "the majorizing lasso", "solver/problem.py",
        "penalty_factor[support] = slope(a, l1, self.penalty.shape) / level",
        "penalty_factor[support] = penalty_factor[support]",
        f"{SYSTEMS} -k same_objective and prox",
    ),
    Mutant(
        "convex_min", "solver/convexity.py", "np.diag(l2 - k)", "np.diag(k - l2)",
        f"{PATH} -k convex_min",
    ),
    Mutant(
        "the grid's direction", "solver/grid.py",
        "top * np.geomspace(1.0, ratio, nlambda)",
        "top * np.geomspace(ratio, 1.0, nlambda)", f"{PATH} -k grid",
    ),
    Mutant(
        "dfmax", "solver/follow.py", "or (df <= dfmax).all()",
        "or (df <= dfmax + 1).all()", f"{RESULTS} -k dfmax",
    ),
    Mutant(
        "coefficients on the user's scale", "matrices/design.py",
        "coefficients = beta / self.scale[features]",
        "coefficients = beta * self.scale[features]", f"{DESIGN} -k users",
    ),
    Mutant(
        "the intercept", "matrices/design.py", "intercept = mean - np.bincount(",
        "intercept = mean + np.bincount(", f"{DESIGN} -k users",
    ),
    Mutant(
        "the spread of a column", "kernels/dense.py", "far = (column[i] - mean) / top",
        "far = column[i] / top", DESIGN,
    ),
    Mutant(
        "steps that led upwards", "solver/loop.py",
        "if not attempt.allows(solutions):", "if False:", f"{FOUND} -k upwards",
    ),
    Mutant(
        "fits that only rounding made", "solver/loop.py",
        "return max(solutions.objective[0], hides) <=",
        "return solutions.objective[0] <=", f"{FOUND} -k ran_away",
    ),
    Mutant(
        "products where digits are few", "solver/solutions.py",
        "(rounding <= BY_FAR * tol).all()", "(rounding < np.inf).all()",
        f"{CERTIFICATES} -k blurred",
    ),
    Mutant(
        "what rounding lets us know", "solver/loop.py",
        "if solutions.rounding[0] > limits.tol:",
        "if solutions.rounding[0] > 1e9 * limits.tol:", f"{FOUND} -k claims_of",
    ),
    Mutant(
        "rounding of large coefficients", "solver/rounding.py",
        "+ np.abs(beta) @ self.per_size[features]", "",
        "tests/solver/test_rounding.py",
    ),
    Mutant(
        "rounding of centres", "solver/rounding.py", "unit * design.length + left",
        "unit * design.length", "tests/solver/test_rounding.py",
    ),
    Mutant(
        "weights that sum to one", "inputs/data.py", "return weights / weights.sum()",
        "return weights", f"{BETWEEN} row_twice",
    ),
    Mutant(
        "float64 sums of float32 columns", "kernels/dense.py", "a0 += v0[i] * ya",
        "a0 += np.float32(v0[i] * ya)",
        "tests/claims/test_float32.py -k exact_numbers and True",
    ),
    Mutant(
        "centring in sparse correlations", "kernels/sparse.py",
        "(totals[m] - (center[j] - shift) * sums[m]) / scale[j]",
        "totals[m] / scale[j]", f"{SPARSE} -k operations",
    ),
    Mutant(
        "centring in sparse products", "matrices/sparse.py",
        "out -= np.outer(self._left(rows, center), self._left(columns, center))",
        "out -= 0.0", f"{SPARSE} -k operations",
    ),
    Mutant(
        "centring in sparse predictors", "kernels/sparse.py",
        "fall += step * (center[j] - shift)", "fall -= step * (center[j] - shift)",
        f"{SPARSE} -k operations",
    ),
    Mutant(
        "centring in sparse sweeps", "kernels/sparse.py",
        "lift += step * (center[j] - shift)", "lift -= step * (center[j] - shift)",
        f"{SYSTEMS} -k sparse_columns and bcd",
    ),
    Mutant(
        "means of folds", "kernels/dense.py", "shift = -total / left if intercept",
        "shift = total / left if intercept", f"{CV} -k training_rows",
    ),
    Mutant(
        "centring in a fold's products", "crossval/fold_fits.py",
        "out -= np.outer(shift, shift)", "out += np.outer(shift, shift)",
        f"{CV} -k share_its_products",
    ),
    Mutant(
        "weights of a fold", "crossval/fold_fits.py", "    weights /= weights.sum()\n",
        "", f"{CV} -k training_rows",
    ),
    Mutant(
        "the null error", "crossval/curves.py",
        "settings.family.bind(response, data.weights, settings.intercept)",
        "settings.family.bind(response, np.ones(len(data.y)) / len(data.y), True)",
        ERRORS,
    ),
    Mutant(
        "between folds, in cvse", "crossval/measures.py",
        "lengths(np.concatenate([within, between]))", "lengths(within)", ERRORS,
    ),
    Mutant(
        "the 1-SE rule", "cv.py", "error[lowest] + best.cvse[lowest]",
        "error[lowest]", f"{CV} -k two_rules",
    ),
    Mutant(
        "BIC's log n", "results/criteria.py",
        "return np.log(observations(path)) * parameters(path)",
        "return 2 * parameters(path)",
        f"{RESULTS} -k criteria",
    ),
    Mutant(
        "EBIC's count of models", "results/criteria.py", "- gammaln(p - df + 1)",
        "+ gammaln(p - df + 1)", f"{RESULTS} -k criteria",
    ),
    Mutant(
        "selected() on the log scale", "results/queries.py",
        "np.argmin(np.abs(np.log(path.lambdas) - np.log(lam)))",
        "np.argmin(np.abs(path.lambdas - lam))", f"{RESULTS} -k log_scale",
    ),
    Mutant(
        "an estimator's 1-SE rule", "estimators/base.py", '"cv-1se": "lambda_1se"',
        '"cv-1se": "lambda_min"', f"{ESTIMATORS} -k to_the_bit",
    ),
    Mutant(
        "an estimator's own lambda", "estimators/base.py",
        "np.union1d(check_lambdas(lambdas), lam)", "lambdas",
        f"{ESTIMATORS} -k is_the_lambda",
    ),
    Mutant(
        "an estimator's score of counts", "estimators/linear.py", "power=1)",
        "power=0)", f"{ESTIMATORS} -k counts",
    ),
    Mutant(
        "what zeros weigh", "kernels/sparse.py",
        "if total - stored > SMALL_SHARE * total:", "if total - stored > 0.0:",
        f"{FOUND} -k zeros_that_hardly",
    ),
    Mutant(
        "what scores are differences of", "solver/null_model.py",
        "measure_rounding(design, likelihood.terms(),",
        "measure_rounding(design, spread,", f"{FOUND} -k heavy_rows",
    ),
    Mutant(
        "saturated only without end", "solver/restricted.py",
        "return problem.watches and problem.explained(self.point.loss) > SATURATION",
        "return problem.explained(self.point.loss) > SATURATION",
        "tests/solver/test_family_systems.py -k explained_are_not",
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
            [sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider",
             "--tb=no", *files.split(), *chosen],
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
