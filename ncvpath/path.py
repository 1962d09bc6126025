"""`ncvpath()`: the map of the house."""

import numpy as np

from .families import FAMILIES
from .families.survival import make_baseline
from .inputs.data import OfRows, check_data
from .inputs.settings import check_settings
from .inputs.words import knows_its_arguments
from .matrices import open_matrix
from .matrices.design import make_design
from .results import NcvPath
from .results.criteria import saturated_loglik
from .results.predictions import label_vector
from .results.stored_checks import ROUNDS
from .runtime.memory import advised
from .runtime.messages import warn_user
from .runtime.progress import Bar
from .runtime.threads import working
from .solver.convexity import convex_min
from .solver.follow import follow
from .solver.grid import approach, default_ratio, lambda_sequence
from .solver.mm import MAJORIZING
from .solver.null_model import pose

# Settings the path keeps, beside those it has fields for, to be computed again.
KEPT_SETTINGS = (
    "nlambda", "warm_up", "standardize", "working_set", "solver", "n_added", "prune",
    "inexact", "max_epochs", "dfmax", "convex", "search",
)


# What a result has under the same name.
FROM_THE_PATH = ("lambdas", "objective", "violation", "converged", "status", "stopped")
FROM_THE_SETTINGS = ("gamma", "alpha", "tol")
NUMBERS_AT_ONCE = 1 << 20  # linear predictors behind the baseline of a Cox path
# What helps where there is no memory for the work.
SMALLER_RESULTS = (
    "dfmax or a larger lambda_min_ratio keep models smaller, fewer n_threads need less "
    "at a time, and an X of float32 or in a file (numpy.memmap) leaves more room"
)


class ConvergenceWarning(UserWarning):
    """Some lambdas did not reach the tolerance that was asked for; see `reasons`."""

    def __init__(self, message, reasons=()):
        super().__init__(message)
        self.reasons = tuple(reasons)


@knows_its_arguments
def ncvpath(
    X, y, *, family="gaussian", penalty="MCP", gamma=None, alpha=1.0,
    nlambda=100, lambda_min_ratio=None, lambdas=None, warm_up=True,
    weights=None, offset=None, penalty_factor=None, intercept=True, standardize=True,
    rescale=None, ties="breslow", strata=None,
    working_set="fireworks", solver="cd", n_added=None, prune=True, inexact=True,
    search="forward", tol=1e-6, max_epochs=100_000, dfmax=None, convex=True,
    feature_names=None, n_threads=None, progress=False, record=False,
) -> NcvPath:
    """Fit the whole regularization path of a sparse regression.

    Minimises, on standardized columns and for each lambda from lambda_max down,
    warm-started from the one before::

        sum_i w_i loss(y_i, eta_i)
            + sum_j r(|beta_j|; lambda alpha m_j, gamma)
            + 1/2 sum_j lambda (1 - alpha) m_j beta_j^2

    with linear predictors eta_i = offset_i + b0 + x_i'beta, weights w summing to one
    and penalty factors m. The loss is (y - eta)^2 / 2 for gaussian, and minus the
    log-likelihood for the others: log(1 + e^eta) - y eta for binomial, e^eta - y eta
    for poisson; for cox the sum is minus the log partial likelihood over n. With
    `rescale` a penalty is that of v_j beta_j, divided by v_j (see there). Coefficients
    are reported on the scale of X. Every lambda reports how far it is from Fermat's
    conditions over all features.

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
    y : array, Series, list or frame, length n
        gaussian: numbers. binomial: two classes of any kind (numbers, truth values,
        text, categories), of which the second in order is the event; proportions in
        [0, 1]; or two columns of counts, failures and successes. poisson: numbers
        >= 0. cox: columns time and status (1 for an event, 0 where it was not seen), or
        start, stop and status, in this order or in a frame by these names; or a
        structured array as scikit-survival has it. Rows of X, y, weights and offset are
        matched by position; a warning says so where their pandas indexes differ.
    family : {"gaussian", "binomial", "poisson", "cox"} or Family
        What y is, given eta: the loss. One's own is an object of a class derived from
        `ncvpath.Family`.
    penalty : {"MCP", "SCAD", "lasso", "logsum", "capped"}
        The penalty r, by name in any case; see `penalties()`.
    gamma : float, optional
        Concavity of the penalty; each has a default. An error for the lasso.
    alpha : float in (0, 1]
        Share of the sparse penalty; the rest is ridge.
    nlambda, lambda_min_ratio : int, float
        The automatic grid is log-equispaced from lambda_max down to
        `lambda_min_ratio * lambda_max` (default 0.001 if n > p, else 0.05). With
        ratio 0 the last lambda is exactly 0: no penalty, and the status says so where
        least squares has many solutions (if p > n, and for X of up to 2e7 numbers).
        Other families end an automatic grid before
        a model that explains 0.99 of the deviance: `stopped` says so.
    lambdas : float or sequence, optional
        Your own values >= 0, in any order; they replace the automatic grid. A
        saturated model ends them only where the penalty is flat (MCP, SCAD, capped)
        and alpha is 1, as coefficients would grow without end.
    warm_up : bool
        Reach a first lambda below lambda_max by a hidden path from lambda_max.
    weights : array or Series, length n, optional
        Observation weights; only their ratios matter.
    offset : array or Series, length n, optional
        A known part of eta, such as the logarithm of an exposure. `predict` then needs
        one, too.
    penalty_factor : array, or Series / dict by name, optional
        Multiplies lambda feature by feature: 0 = unpenalised, inf = never enters.
    intercept, standardize : bool
        Without intercept nothing is centred, and columns are scaled by their root
        mean square. cox has no intercept, and always centres.
    rescale : bool, optional
        ncvreg's adaptive rescaling, the default for all families but gaussian, where
        the curvature of the loss is one and True an error. With v_j = sum_i w_i h_i
        x_ij^2, h the curvature at the solution, the penalty of feature j is
        `r(v_j |beta_j|) / v_j` plus v_j times its ridge part: gamma then means what it
        means for gaussian. (logsum: theta is gamma / sqrt(v_j) instead.) False:
        penalties as written above, and a fixed objective.
    ties : {"breslow", "efron"}
        cox: how events at the same time are counted.
    strata : sequence, length n, optional
        cox: a label per row. Each stratum has a baseline hazard of its own.
    working_set : {"fireworks", "maxvc", "full"}
        Who joins the working set: the features whose slab boundary is nearest to
        FireWorks' feasible vector; those whose slab the residual violates most; or
        all features, from the start.
    solver : {"cd", "bcd", "gist", "mm-cd", "mm-prox"}
        How the problem on the working set is solved: by coordinate descent and Newton
        steps on its Gram matrix; by the paper's coordinate descent with residual
        updates; by proximal gradient steps. `"mm-*"` majorize the penalty by weighted
        lassos, each solved by FireWorks with "bcd" or "gist". For families other than
        gaussian "cd" are proximal Newton steps, each such a problem, and "bcd" the same
        by sweeps with weights anew; with adaptive rescaling, which has no fixed
        objective, there is "cd" alone.
    n_added, prune, inexact : int, bool, bool
        Features added per round (by default growing), whether features at zero may
        leave the set between the first 100 rounds at a lambda ("cd": only where the set
        outgrows its Gram matrix, as a larger one costs it little), and whether rounds
        that another will follow may be solved loosely. A full set has one round.
    search : {"forward", "both", "thorough"}
        Beyond `convex_min` there are many minima. "forward": each solution begins at
        that of the lambda before, from the sparse side. "both": then also back up
        through the nonconvex part, each begun at the lambda below, and the lower of the
        two solutions is kept; that walk begins at a low solution of a hidden lambda,
        the next power of 0.84 times lambda_max below the last one, which lists that end
        close together share. "thorough": also, each lambda is begun at the solutions of
        those beside it, and features in use leave, or change places with others while
        the rest follow, as long as that leads down. Lower is not always better: see the
        vignette "Which minimum?". Not for the lasso, nor with rescale=True, which has
        no fixed objective.
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
    ['sex', 'bmi', 'bp', 'ldl', 'hdl', 'ltg']

    >>> from ncvpath import load_heart
    >>> X, y = load_heart()
    >>> path = ncvpath(X, y, family="binomial")
    >>> path.selected(lam=0.05)
    ['tobacco', 'ldl', 'famhist', 'typea', 'age']
    >>> path.predict(X.head(3), lam=0.05).round(2)
    array([0.59, 0.45, 0.38])
    """
    settings = check_settings(
        family=family, rescale=rescale, penalty=penalty, gamma=gamma, alpha=alpha,
        nlambda=nlambda, lambda_min_ratio=lambda_min_ratio, lambdas=lambdas,
        warm_up=warm_up, intercept=intercept, standardize=standardize,
        working_set=working_set, solver=solver, n_added=n_added, prune=prune,
        inexact=inexact, search=search, tol=tol, max_epochs=max_epochs, dfmax=dfmax,
        convex=convex, n_threads=n_threads, progress=progress, record=record,
    )
    of_rows = OfRows(weights, offset, strata, ties)
    data = check_data(X, y, of_rows, penalty_factor, settings, feature_names)
    with working(settings.n_threads) as threads, Bar(settings.progress) as bar, advised(
        "the work on the path", SMALLER_RESULTS
    ):
        bar.expect(settings.lambda_count)
        path = compute(data, settings, threads, bar, X, y)
    warn_if_unconverged(path)
    return path


def compute(data, settings, threads, bar, X, y):
    """The path of clean data; X and y are what the user gave, for reference."""
    design = make_design(
        open_matrix(data.X, threads), data.weights, settings.centers,
        settings.standardize,
    )
    problem, state = pose(data, settings, design)
    path = follow(
        problem, state, *choose_lambdas(problem, settings), settings, bar.tick
    )
    return assemble(problem, state, data, settings, path, X, y)


@knows_its_arguments
def lambda_max(
    X, y, *, family="gaussian", alpha=1.0, weights=None, offset=None,
    penalty_factor=None, intercept=True, standardize=True, ties="breslow", strata=None,
) -> float:
    """The smallest lambda at which no penalised feature leaves zero.

    It is the same for every penalty, with and without rescaling, and the first of
    `ncvpath`'s automatic lambdas. Arguments are those of `ncvpath`.

    Examples
    --------
    >>> from ncvpath import lambda_max, load_diabetes
    >>> X, y = load_diabetes()
    >>> round(lambda_max(X, y), 3)
    45.16

    >>> from ncvpath import load_veteran
    >>> X, y = load_veteran()
    >>> round(lambda_max(X, y, family="cox"), 3)
    0.446
    """
    null = ncvpath(
        X, y, family=family, penalty="lasso", alpha=alpha, nlambda=1, weights=weights,
        offset=offset, penalty_factor=penalty_factor, intercept=intercept,
        standardize=standardize, ties=ties, strata=strata,
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

    design, likelihood, L = problem.design, problem.likelihood, path.lambdas.size
    edge = convex_min(problem, state.gram.block, path) if settings.convex else None
    values, intercept = design.to_user_scale(
        path.features, path.values, path.ends, likelihood.mean + path.intercept
    )
    loss = likelihood.deviance(path.loss)
    null_loss = likelihood.deviance(problem.null_loss)
    names, rare = data.names, {
        "round_trips": design.round_trips is not None,
        "majorizations": settings.solver in MAJORIZING,
        "walk": settings.search != "forward",
        "swaps_tried": settings.search == "thorough",
        "swaps_kept": settings.search == "thorough",
    }
    alike = [(path, FROM_THE_PATH), (settings, FROM_THE_SETTINGS)]
    return NcvPath(
        **{name: getattr(source, name) for source, names in alike for name in names},
        intercept=intercept if likelihood.intercept else np.zeros(L),
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
        has_intercept=likelihood.intercept,
        settings={name: getattr(settings, name) for name in KEPT_SETTINGS},
        work={name: path.work[name] for name in path.work if rare.get(name, True)},
        rounds=assemble_trace(path.trace) if settings.record else None,
        X=X,
        y=y,
        spread=design.spread,
        **of_the_response(data),
        **of_the_family(problem, settings, data, path, -intercept),
    )


def of_the_response(data):
    """What a result keeps of the data beside X and y, as it was given."""
    response, weights = data.response, data.weights
    if response.trials is not None:
        weights = weights / response.trials
        weights = weights / weights.sum()
    strata = None
    if response.strata is not None:
        strata = label_vector(response.strata_labels)[response.strata]
    return dict(
        weights=weights if data.weighted else None, offset=response.offset,
        classes=response.classes, strata=strata, ties=response.ties,
        trials=None if response.trials is None else response.total(data.weights),
    )


def of_the_family(problem, settings, data, path, shift):
    """What a result keeps of the family; `shift` is what centring took from eta."""
    family, baseline = settings.family, None
    if family.form == "survival":
        blocks = linear_predictors(problem.design, path, data.response.offset)
        baseline = make_baseline(data.response, data.weights, blocks, shift)
    return dict(
        family=family.name if FAMILIES.get(family.name) is family else family,
        rescale=settings.rescale,
        saturated=saturated_loglik(family, problem.likelihood),
        baseline=baseline,
    )


def linear_predictors(design, path, offset):
    """X beta on standardized columns, and the offset: blocks, a row for each lambda."""
    used, place = np.unique(path.features, return_inverse=True)
    beta = np.zeros((path.lambdas.size, used.size))
    beta[np.repeat(np.arange(len(beta)), np.diff(path.ends)), place] = path.values
    step = max(NUMBERS_AT_ONCE // design.n, 1)
    for k in range(0, len(beta), step):
        yield design.combine(used, beta[k : k + step]) + (
            0.0 if offset is None else offset
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
    reasons = sorted({path.status[k] for k in missed})
    warn_user(
        f"{missed.size} of {path.lambdas.size} lambdas did not reach tol={path.tol:g}: "
        f"index (lambda) {shown}{more}. {'; '.join(reasons)}.",
        ConvergenceWarning, reasons=reasons,
    )
