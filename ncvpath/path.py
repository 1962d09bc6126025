"""`ncvpath()`: the map of the house."""

import numpy as np

from .inputs.data import check_data
from .inputs.settings import check_settings
from .matrices import open_matrix
from .matrices.design import make_design
from .results import NcvPath
from .results.stored_checks import ROUNDS
from .runtime.memory import advised
from .runtime.messages import warn_user
from .runtime.progress import Bar
from .runtime.threads import working
from .solver.convexity import convex_min
from .solver.follow import follow
from .solver.grid import approach, default_ratio, lambda_sequence
from .solver.mm import MAJORIZING
from .solver.problem import pose

# Settings the path keeps, beside those it has fields for, to be computed again.
KEPT = (
    "nlambda", "warm_up", "standardize", "working_set", "solver", "n_added", "prune",
    "inexact", "max_epochs", "dfmax", "convex",
)


# What a result has under the same name.
FROM_THE_PATH = ("lambdas", "objective", "violation", "converged", "status", "stopped")
FROM_THE_SETTINGS = ("gamma", "alpha", "tol")
# What helps where there is no memory for the work.
SMALLER = (
    "dfmax or a larger lambda_min_ratio keep models smaller, fewer n_threads need less "
    "at a time, and an X of float32 or in a file (numpy.memmap) leaves more room"
)


class ConvergenceWarning(UserWarning):
    """Some lambdas did not reach the tolerance that was asked for."""


def ncvpath(
    X, y, *, penalty="MCP", gamma=None, alpha=1.0,
    nlambda=100, lambda_min_ratio=None, lambdas=None, warm_up=True,
    weights=None, penalty_factor=None, intercept=True, standardize=True,
    working_set="fireworks", solver="cd", n_added=None, prune=True, inexact=True,
    tol=1e-6, max_epochs=100_000, dfmax=None, convex=True,
    feature_names=None, n_threads=None, progress=False, record=False,
) -> NcvPath:
    """Fit the whole regularization path of a sparse linear regression.

    Minimises, on standardized columns and for each lambda from lambda_max down,
    warm-started from the one before::

        1/2 sum_i w_i (y_i - b0 - x_i'beta)^2
            + sum_j r(|beta_j|; lambda alpha m_j, gamma)
            + 1/2 sum_j lambda (1 - alpha) m_j beta_j^2

    with weights w summing to one and penalty factors m. Coefficients are reported
    on the scale of X. Every lambda reports how far it is from Fermat's conditions
    over all features.

    Parameters
    ----------
    X : array, scipy.sparse matrix, DataFrame or list of rows, n x p
        Never modified; not copied when it is Fortran-ordered float64 or float32, int8,
        uint8 or int16, which are not expanded. A sparse matrix or array is never filled
        in: CSC in float64 with sorted 32-bit indices is used as it is, other formats
        and types are converted once, and so is a DataFrame with sparse columns only.
        What is on disk stays there: a numpy.memmap, or anything with `shape`, `dtype`
        and column slices `X[:, a:b]` (h5py, zarr) is read by blocks of columns. A dask
        array in chunks of whole columns is used where its chunks are. Tables of polars
        and pyarrow are converted and bring their names.
    y : array, Series, list or one-column frame, length n
        Rows of X, y and weights are matched by position; a warning says so where their
        pandas indexes differ.
    penalty : {"MCP", "SCAD", "lasso", "logsum", "capped"}
        The penalty r, by name in any case; see `penalties()`.
    gamma : float, optional
        Concavity of the penalty; each has a default. An error for the lasso.
    alpha : float in (0, 1]
        Share of the sparse penalty; the rest is ridge.
    nlambda, lambda_min_ratio : int, float
        The automatic grid is log-equispaced from lambda_max down to
        `lambda_min_ratio * lambda_max` (default 0.001 if n > p, else 0.05). With
        ratio 0 the last lambda is exactly 0: least squares, whose status says so where
        it has many solutions.
    lambdas : float or sequence, optional
        Your own values >= 0, in any order; they replace the automatic grid.
    warm_up : bool
        Reach a first lambda below lambda_max by a hidden path from lambda_max.
    weights : array or Series, length n, optional
        Observation weights; only their ratios matter.
    penalty_factor : array, or Series / dict by name, optional
        Multiplies lambda feature by feature: 0 = unpenalised, inf = never enters.
    intercept, standardize : bool
        Without intercept nothing is centred, and columns are scaled by their root
        mean square.
    working_set : {"fireworks", "maxvc", "full"}
        Who joins the working set: the features whose slab boundary is nearest to
        FireWorks' feasible vector; those whose slab the residual violates most; or
        all features, from the start.
    solver : {"cd", "bcd", "gist", "mm-cd", "mm-prox"}
        How the problem on the working set is solved: by coordinate descent and Newton
        steps on its Gram matrix; by the paper's coordinate descent with residual
        updates; by proximal gradient steps. "mm-*" majorize the penalty by weighted
        lassos, each solved by FireWorks with "bcd" or "gist".
    n_added, prune, inexact : int, bool, bool
        Features added per round (by default growing), whether features at zero may
        leave the set between rounds (with "cd" after the first round at a lambda, with
        the others after each of the first 100), and whether rounds that will be
        followed by another may be solved loosely. A full set has one round.
    tol : float
        Largest violation of Fermat's conditions over all features, relative to the
        gradient of the null model.
    max_epochs : int
        Sweeps allowed per lambda; a lambda that runs out is kept and flagged.
    dfmax : int, optional
        Stop before the first model with more nonzero coefficients than this.
    convex : bool
        Compute `convex_min`, the last index of the locally convex part.
    feature_names : sequence of str, optional
        Names for the columns of X, distinct; a DataFrame brings its own, as text.
    n_threads : int, optional
        Default: all cores. Never changes the answer.
    progress : bool
        Show a progress bar over lambdas.
    record : bool
        Keep `path.trace`, what each round at each lambda reached.

    Returns
    -------
    NcvPath

    Examples
    --------
    >>> from ncvpath import load_diabetes, ncvpath
    >>> X, y = load_diabetes()
    >>> path = ncvpath(X, y, penalty="MCP", nlambda=50)
    >>> path.selected(which=20)
    ['sex', 'bmi', 'bp', 'tc', 'hdl', 'ltg']
    """
    settings = check_settings(
        penalty=penalty, gamma=gamma, alpha=alpha, nlambda=nlambda,
        lambda_min_ratio=lambda_min_ratio, lambdas=lambdas, warm_up=warm_up,
        intercept=intercept, standardize=standardize, working_set=working_set,
        solver=solver, n_added=n_added, prune=prune, inexact=inexact, tol=tol,
        max_epochs=max_epochs, dfmax=dfmax, convex=convex, n_threads=n_threads,
        progress=progress, record=record,
    )
    data = check_data(X, y, weights, penalty_factor, settings.intercept, feature_names)
    with working(settings.n_threads) as threads, Bar(settings.progress) as bar, advised(
        "the work on the path", SMALLER
    ):
        bar.expect(settings.lambda_count)
        path = compute(data, settings, threads, bar, X, y)
    warn_if_unconverged(path)
    return path


def compute(data, settings, threads, bar, X, y):
    """The path of clean data; X and y are what the user gave, for reference."""
    design = make_design(
        open_matrix(data.X, threads), data.weights, settings.intercept,
        settings.standardize,
    )
    problem, state = pose(data, settings, design)
    path = follow(
        problem, state, *choose_lambdas(problem, settings), settings, bar.tick
    )
    return assemble(problem, state, data, settings, path, X, y)


def lambda_max(
    X, y, *, alpha=1.0, weights=None, penalty_factor=None, intercept=True,
    standardize=True,
) -> float:
    """The smallest lambda at which no penalised feature leaves zero.

    It is the same for every penalty, and the first of `ncvpath`'s automatic lambdas.

    Examples
    --------
    >>> from ncvpath import lambda_max, load_diabetes
    >>> X, y = load_diabetes()
    >>> round(lambda_max(X, y), 3)
    45.16
    """
    null = ncvpath(
        X, y, penalty="lasso", alpha=alpha, nlambda=1, weights=weights,
        penalty_factor=penalty_factor, intercept=intercept, standardize=standardize,
    )
    return float(null.lambdas[0])


def choose_lambdas(problem, settings):
    """The lambdas to report, and those of the warm-up that lead to the first."""
    top = problem.lambda_max
    design = problem.design
    depth = default_ratio(design.n_counted, np.count_nonzero(~design.constant))
    if settings.lambdas is None:
        ratio = settings.lambda_min_ratio
        ratio = depth if ratio is None else ratio
        return lambda_sequence(top, settings.nlambda, ratio), np.empty(0)
    first = settings.lambdas[0]
    if not settings.warm_up or first >= top:
        return settings.lambdas, np.empty(0)
    return settings.lambdas, approach(top, first, depth, settings.nlambda)


def assemble(problem, state, data, settings, path, X, y):
    """The path on the user's scale, with everything a question may need."""
    from scipy.sparse import csc_array

    design, family, L = problem.design, problem.family, path.lambdas.size
    edge = convex_min(problem, state.gram.block, path) if settings.convex else None
    values, intercept = design.to_user_scale(
        path.features, path.values, path.ends, problem.mean
    )
    loss = family.deviance(path.loss, design.n)
    null_loss = family.deviance(
        family.loss(problem.response, np.zeros((1, design.n)), design.weights)[0],
        design.n,
    )
    names, rare = data.names, {
        "round_trips": design.round_trips is not None,
        "majorizations": settings.solver in MAJORIZING,
    }
    alike = [(path, FROM_THE_PATH), (settings, FROM_THE_SETTINGS)]
    return NcvPath(
        **{name: getattr(source, name) for source, names in alike for name in names},
        intercept=intercept if settings.intercept else np.zeros(L),
        beta=csc_array((values, path.features, path.ends), shape=(design.p, L)),
        penalty=settings.row.name,
        penalty_factor=data.penalty_factor,
        n=design.n,
        p=design.p,
        feature_names=names,
        constant=tuple(names[j] for j in np.flatnonzero(design.constant)),
        df=np.diff(path.ends),
        loss=loss,
        dev_ratio=1 - loss / null_loss,
        n_epochs=path.work["epochs"],
        convex_min=edge,
        has_intercept=settings.intercept,
        settings={name: getattr(settings, name) for name in KEPT},
        weights=data.weights if data.weighted else None,
        work={name: path.work[name] for name in path.work if rare.get(name, True)},
        rounds=assemble_trace(path.trace) if settings.record else None,
        X=X,
        y=y,
    )


def assemble_trace(trace):
    """The rounds of all lambdas, column by column."""
    rows = []
    for k, rounds in enumerate(trace):
        seconds = np.cumsum([row.seconds for row in rounds])
        rows += [
            (k, i, *row._replace(seconds=seconds[i])) for i, row in enumerate(rounds)
        ]
    return dict(zip(ROUNDS, map(np.array, zip(*rows))))


def warn_if_unconverged(path):
    """One warning that names the lambdas and says what to do."""
    missed = np.flatnonzero(~path.converged)
    if missed.size == 0:
        return
    shown = ", ".join(f"{k} ({path.lambdas[k]:.4g})" for k in missed[:5])
    more = f" and {missed.size - 5} more" if missed.size > 5 else ""
    reasons = "; ".join(sorted({path.status[k] for k in missed}))
    warn_user(
        f"{missed.size} of {path.lambdas.size} lambdas did not reach tol={path.tol:g}: "
        f"index (lambda) {shown}{more}. {reasons}.",
        ConvergenceWarning,
    )
