"""`NcvPath`: the fitted path, and the questions one asks it.

A record of arrays that knows nothing of solvers. pandas, matplotlib and
scipy.sparse are imported when an answer needs them.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..families.survival import Baseline
from ..inputs.checks import flag, number, one_of
from ..inputs.data import compare_indexes, match_columns
from ..inputs.frames import rows_of
from ..inputs.words import knows_its_arguments
from ..runtime.loading import package
from . import criteria, pickles, predictions, printing, queries, storage, tables
from .frozen import NOT_OURS, freeze

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from scipy.sparse import csc_array

    from .cv import CvNcvPath

# Walks by their number in `work`, as solver/search.py counts them.
WALKS = ("forward", "back", "swap", "again")


@dataclass(frozen=True, eq=False, repr=False)
class NcvPath:
    """A regularization path, as `ncvpath()` returns it; L lambdas, p features.

    Coefficients are on the scale of the data. Violations are relative to the
    gradient of the null model and measured over all features.

    Attributes
    ----------
    lambdas : np.ndarray
        (L,) decreasing.
    intercept : np.ndarray
        (L,) 0 where there is none.
    beta : csc_array
        p x L, coefficients, sparse.
    penalty : str
        The penalty's name.
    gamma : float | None
        None for the lasso.
    alpha : float
        The share of the sparse penalty; the rest is ridge.
    penalty_factor : np.ndarray
        (p,) what multiplies each feature's penalty.
    n : int
        Rows.
    p : int
        Columns.
    feature_names : tuple[str, ...]
        (p,) those of X's columns, or x1, x2, ...
    constant : tuple[str, ...]
        Names of columns without variation; their coefficients are 0.
    df : np.ndarray
        (L,) nonzero coefficients, the intercept not counted.
    loss : np.ndarray
        (L,) deviance, with weights scaled to sum to the number of rows that have one:
        gaussian: the residual sum of squares; counts: to that of trials; cox:
        twice the log partial likelihood's distance to the saturated one.
    dev_ratio : np.ndarray
        (L,) 1 - loss / loss of the model with intercept and offset only.
    objective : np.ndarray
        (L,) the value that was minimised; with `rescale` that of the penalty in the
        units of the solution.
    violation : np.ndarray
        (L,) largest distance from Fermat's condition of any feature, or the intercept.
    converged : np.ndarray
        (L,) whether violation <= tol.
    status : tuple[str, ...]
        (L,) how the work ended, in words.
    n_epochs : np.ndarray
        (L,) sweeps of coordinate descent.
    stopped : str | None
        Why the path ended before its last lambda (dfmax, or a saturated model), or
        None.
    convex_min : int | None
        Last index of the locally convex part of the path, or None.
    tol : float
        The violation that counts as converged.
    has_intercept : bool
        Whether an intercept was fitted; never by cox.
    settings : dict[str, Any]
        What it takes to compute the path again, beside these.
    weights : np.ndarray | None
        (n,) observation weights, summing to one, if they were given.
    work : dict[str, np.ndarray]
        Counts behind `screening`, each (L,).
    rounds : dict[str, np.ndarray] | None
        Figures behind `trace`, if they were recorded.
    X : Any
        The data as the user gave them; left out of pickles and files.
    y : Any
        The same of the response.
    family : str | Family
        The family's name, or the user's own family.
    classes : tuple | None
        The two labels of a binomial y, the second is the event; names of the columns,
        if y was a frame of counts; None of proportions.
    offset : np.ndarray | None
        (n,) a fixed part of the linear predictor, if one was given.
    rescale : bool
        Whether the penalty was rescaled to the curvature of the loss.
    ties : str
        How a Cox path counts events at the same time: "breslow" or "efron".
    strata : np.ndarray | None
        (n,) label of each row's stratum, if they were given.
    trials : float | None
        How many there were, if y was counts of failures and successes.
    saturated : float
        Log-likelihood of the saturated model, from which loss is counted.
    baseline : Baseline | None
        Of a Cox path: cumulative hazards at event times, behind survival curves.
    spread : np.ndarray | None
        (p,) standard deviation of each column, with the weights of the fit (its root
        mean square, where the fit has no intercept to centre by); None of paths that
        version 0.1 stored.

    Examples
    --------
    >>> from ncvpath import load_diabetes, ncvpath
    >>> X, y = load_diabetes()
    >>> path = ncvpath(X, y, nlambda=20)
    >>> path.penalty, path.df.tolist()[:5], bool(path.converged.all())
    ('MCP', [0, 2, 2, 2, 2], True)
    """

    lambdas: np.ndarray
    intercept: np.ndarray
    beta: "csc_array"
    penalty: str
    gamma: float | None
    alpha: float
    penalty_factor: np.ndarray
    n: int
    p: int
    feature_names: tuple[str, ...]
    constant: tuple[str, ...]
    df: np.ndarray
    loss: np.ndarray
    dev_ratio: np.ndarray
    objective: np.ndarray
    violation: np.ndarray
    converged: np.ndarray
    status: tuple[str, ...]
    n_epochs: np.ndarray
    stopped: str | None
    convex_min: int | None
    tol: float
    has_intercept: bool
    settings: dict[str, Any] = field(repr=False)
    weights: np.ndarray | None = field(repr=False)
    work: dict[str, np.ndarray] = field(repr=False)
    rounds: dict[str, np.ndarray] | None = field(default=None, repr=False)
    X: Any = field(default=None, repr=False)
    y: Any = field(default=None, repr=False)
    family: Any = "gaussian"
    classes: tuple | None = None
    offset: np.ndarray | None = field(default=None, repr=False)
    rescale: bool = False
    ties: str = "breslow"
    strata: np.ndarray | None = field(default=None, repr=False)
    trials: float | None = None
    saturated: float = 0.0
    baseline: Baseline | None = field(default=None, repr=False)
    spread: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self):
        freeze(self)

    # ---- coefficients ---------------------------------------------------------

    @knows_its_arguments
    def coef(
        self, lam=None, which=None, standardized=False
    ) -> "pd.Series | pd.DataFrame":
        """Coefficients, with the intercept first; a Cox path has none.

        Parameters
        ----------
        lam : float or sequence, optional
            Interpolated linearly between the two neighbouring lambdas.
        which : int or sequence of int, optional
            Positions on the path instead, from 0.
        standardized : bool
            Coefficients per standard deviation of the column (`spread`), so that their
            sizes can be compared, whatever the units. The intercept stays as it is.

        Returns
        -------
        Series for one lambda, else DataFrame with one column per lambda.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> path.coef(lam=10).loc[["(Intercept)", "bmi"]].round(2)
        (Intercept)   -293.74
        bmi              7.36
        Name: 10.0, dtype: float64
        >>> path.coef(which=[0, 5]).shape
        (11, 2)
        >>> path.coef(lam=10, standardized=True)[["bmi", "ltg"]].round(1).tolist()
        [32.5, 27.6]
        """
        mix, lambdas, single = queries.mixture(self, lam, which)
        beta, intercept = self.beta, self.intercept
        if flag("standardized", standardized):
            beta = tables.per_deviation(self)
        if lam is not None or which is not None:
            beta, intercept = beta @ mix, intercept @ mix
        return tables.coefficients(self, intercept, beta, lambdas, single)

    @knows_its_arguments
    def selected(self, lam=None, which=None) -> "list[str] | dict[float, list[str]]":
        """Names of the nonzero features at the grid lambda nearest to `lam`.

        Nearest in log lambda: an interpolated model would have a support that no
        lambda has. Without arguments, a dict by lambda.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> path.selected(lam=20)
        ['bmi', 'ltg']
        """
        return queries.selected(self, lam, which)

    def to_frame(self, form="wide", zeros=False) -> "pd.DataFrame":
        """The coefficients as a table to take away.

        Parameters
        ----------
        form : {"wide", "long"}
            wide: as `coef()`. long: one row per coefficient, with columns feature (a
            category), lambda, coefficient, df, dev_ratio.
        zeros : bool
            Keep zero coefficients in the long form.

        Returns
        -------
        DataFrame
            Its `.attrs` say what was fitted: penalty, gamma, alpha, n, p, intercept,
            tol, convex_min and stopped, in numbers and words that JSON has.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> path = ncvpath(*load_diabetes(), nlambda=20)
        >>> long = path.to_frame("long")
        >>> long.attrs["penalty"], long["feature"].dtype.name
        ('MCP', 'category')
        >>> wide = long.pivot(index="feature", columns="lambda", values="coefficient")
        >>> wide.shape
        (11, 20)
        """
        zeros = flag("zeros", zeros)
        if one_of("form", form, ("wide", "long")) == "wide":
            table = self.coef()
        else:
            table = tables.long_table(self, zeros)
        table.attrs = tables.facts(self)
        return table

    # ---- predictions ----------------------------------------------------------

    @knows_its_arguments
    def predict(
        self, X, lam=None, which=None, type="response", offset=None, strata=None
    ) -> "np.ndarray | pd.DataFrame":
        """What the model says of new rows: (n,) for one lambda, else n x L.

        The columns of a frame are matched by name; its index is not kept, so that
        every kind of X gives an array: `pandas.Series(path.predict(X, lam), X.index)`
        has it back. Of an X on disk or on a cluster, only columns with a nonzero
        coefficient are read.

        Parameters
        ----------
        X : as for `ncvpath`
        lam, which : optional
            As for `coef`.
        type : str
            "response" is the mean (binomial: the probability of the event; cox: the
            relative risk e^link), "link" the linear predictor; binomial also has
            "class", the label of the class of larger probability, and cox "survival",
            a DataFrame of survival at event times by rows (at one lambda), and
            "median", the first event time with survival of one half at most, or NaN.
        offset : float or sequence, length n
            Needed where the path was fitted with an offset.
        strata : label or sequence of labels, length n
            Needed for survival and medians where the path was fitted with strata.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> path.predict(X.head(2), lam=10).round(1)
        array([206.2,  76.8])
        >>> path.predict(X).shape
        (442, 20)
        """
        mix, _, single = queries.mixture(self, lam, which)
        predictions.check_type(self, type, single)
        own = match_columns(X, self.feature_names)
        link = queries.linear_predictors(self, own, mix, single, offset)
        return predictions.predicted(self, X, link, type, mix, strata)

    @knows_its_arguments
    def residuals(
        self, lam=None, which=None, type="deviance", X=None, y=None, offset=None,
        strata=None,
    ) -> np.ndarray:
        """Residuals of the data of the fit, or of X and y given here.

        An array, as `predict` gives it; rows of X and y are matched by position.
        Offset, strata and weights are the path's own, unless other rows are given: then
        offset and strata must be, too. A path stored without its data takes as many
        rows as it was fitted to for its own.

        Parameters
        ----------
        lam, which : optional
            As for `coef`.
        type : {"deviance", "response", "martingale"}
            "deviance": the root of each observation's deviance, with a sign.
            "response", but for cox: y minus its mean (gaussian: the same).
            "martingale", for cox: events minus those expected of who was at risk.
        X, y, offset, strata
            As for `ncvpath`, and its data if they are not given.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> float(path.residuals(lam=10).std().round(2))
        56.47
        """
        if (X is None and self.X is None) or (y is None and self.y is None):
            raise ValueError("X and y must be given; this path was stored without them")
        mix, _, single = queries.mixture(self, lam, which)
        own = self.X if X is None else match_columns(X, self.feature_names)
        # Other rows have their own; a path without its data is given them once more.
        fitted = X is None or (self.X is None and rows_of(own) == self.n)
        if fitted:
            offset = self.offset if offset is None else offset
            strata = self.strata if strata is None else strata
        link = queries.linear_predictors(self, own, mix, single, offset)
        given = self.y if y is None else y
        weights = self.weights if fitted else None
        found = predictions.residuals(self, link, type, given, strata, weights)
        compare_indexes(X=X, y=given)
        return found

    # ---- choosing a model -----------------------------------------------------

    def loglik(self) -> "pd.Series":
        """The log-likelihood at each lambda; cox: the partial one.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> float(path.loglik().iloc[-1].round(1))
        -2386.0
        """
        return criteria.by_lambda(self, criteria.loglik(self), "loglik")

    def aic(self) -> "pd.Series":
        """Akaike's criterion at each lambda.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> round(float(path.aic().idxmin()), 3)
        2.464
        """
        return criteria.by_lambda(self, criteria.aic(self), "aic")

    def bic(self) -> "pd.Series":
        """The Bayesian criterion at each lambda.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> round(float(path.bic().idxmin()), 3)
        2.464
        """
        return criteria.by_lambda(self, criteria.bic(self), "bic")

    def ebic(self, g=1.0) -> "pd.Series":
        """The extended BIC, which counts the models of each size among p features.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> round(float(path.ebic(g=0.5).idxmin()), 3)
        2.464
        """
        g = number("g", g, atleast=0)
        return criteria.by_lambda(self, criteria.ebic(self, g), "ebic")

    @knows_its_arguments
    def select(self, criterion="bic") -> float:
        """The lambda with the smallest aic, bic or ebic, by name in any case.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> lam = path.select("bic")
        >>> len(path.selected(lam=lam))
        6
        """
        choices = {"aic": self.aic, "bic": self.bic, "ebic": self.ebic}
        if isinstance(criterion, str):
            criterion = criterion.lower()
        return float(choices[one_of("criterion", criterion, choices)]().idxmin())

    def cross_validate(self, X=None, y=None, **arguments) -> "CvNcvPath":
        """Cross-validate this path: same data, settings and lambdas.

        Parameters
        ----------
        X, y
            Needed only where the path was stored without its data; columns of a frame
            are matched by name.
        **arguments
            Those of `cv_ncvpath`; they go before the path's own. With another penalty,
            gamma is its default, too; with the lasso, another family or `rescale=True`,
            `search` is "forward".

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> X, y = load_diabetes()
        >>> path = ncvpath(X, y, nlambda=20)
        >>> cv = path.cross_validate(random_state=1)
        >>> cv.selected("1se")
        ['sex', 'bmi', 'bp', 'tc', 'hdl', 'ltg']
        """
        from ..cv import cv_ncvpath  # upwards, the only import that leads there

        return cv_ncvpath(**queries.once_more(self, X, y, arguments))

    # ---- looking --------------------------------------------------------------

    def summary(self) -> "pd.DataFrame":
        """lambda, df, dev_ratio, loss, violation and converged, one row per lambda.

        Returns
        -------
        DataFrame
            Its `.attrs` say what was fitted.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> path = ncvpath(*load_diabetes(), nlambda=3)
        >>> path.summary()[["lambda", "df", "dev_ratio"]].round(2)
           lambda  df  dev_ratio
        0   45.16   0       0.00
        1    1.43   7       0.51
        2    0.05  10       0.52
        """
        pd = package("pandas")

        names = ("df", "dev_ratio", "loss", "violation", "converged")
        columns = {name: getattr(self, name) for name in names}
        table = pd.DataFrame({"lambda": self.lambdas} | columns)
        table.attrs = tables.facts(self)
        return table

    @property
    def screening(self) -> "pd.DataFrame":
        """What it took at each lambda: sizes, rounds, features looked at, sweeps.

        With `search` also the walk that the solution comes from, "forward", "back" (up
        the path), "swap" (features left or changed places) or "again" (handed on by a
        neighbouring lambda); thorough: such swaps tried and kept. Counts are those of
        all walks together.
        """
        pd = package("pandas")

        table = pd.DataFrame(self.work, index=pd.Index(self.lambdas, name="lambda"))
        if "walk" in table:
            table["walk"] = [WALKS[k] for k in self.work["walk"]]
        return table

    @property
    def search(self) -> str:
        """How minima were searched for: "forward", "both" or "thorough"."""
        return self.settings.get("search", "forward")

    @property
    def trace(self) -> "pd.DataFrame | None":
        """What each round at each lambda reached; None without `record=True`.

        Columns: seconds since the work at this lambda began, objective, violation
        (the largest, relative to the null gradient), step (FireWorks' alpha_k),
        working_set (its size), and distance, the largest from the residual to the
        slab of a feature outside the working set.
        """
        pd = package("pandas")

        if self.rounds is None:
            return None
        columns = dict(self.rounds)
        where = [self.lambdas[columns.pop("which")], columns.pop("round")]
        index = pd.MultiIndex.from_arrays(where, names=["lambda", "round"])
        return pd.DataFrame(columns, index=index)

    def plot(
        self, ax=None, xvar="lambda", log=True, label=10, shade=True, mark=None,
        standardized=True, **lines,
    ) -> "Axes":
        """Draw the coefficient paths.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        xvar : {"lambda", "norm", "dev"}
            What to draw against: lambda (decreasing), the l1 norm of the
            coefficients drawn, or the fraction of deviance explained.
        log : bool
            Logarithmic lambda axis.
        label : int, str, sequence of str, or bool
            Which features to name at the end of their lines: so many, largest first;
            those of these names; True: all that are drawn; False: none. Where there is
            no room to read so many, the largest of them, and how many are left out.
        shade : bool
            Shade the region where the objective is no longer locally convex; lighter,
            where norm or deviance turn back, so that models before it are there, too.
        mark : optional
            Lambdas to mark with vertical lines: a number, a criterion ("aic", "bic",
            "ebic"), several of these, a mapping of label to lambda or criterion, or
            the result of a cross-validation for its lambda_min and lambda_1se.
        standardized : bool
            Draw coefficients per standard deviation of their columns, as in
            `coef(standardized=True)`, so that units decide nothing; False: as they are.
            A path that version 0.1 has stored is drawn as it is.
        **lines
            Passed on to the lines, as matplotlib's LineCollection takes them. Above
            2000 lines those without a name are drawn as an image of how many pass each
            pixel, which takes their color, alpha and zorder.

        Returns
        -------
        matplotlib Axes

        Notes
        -----
        A feature has the same colour in all pictures that name the same features. A
        figure with `layout="constrained"` makes room for the names. After a search
        (`search="both"` or "thorough") small triangles on the lower edge are between
        neighbours whose solutions come from different walks: lines may jump there.

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> path = ncvpath(*load_diabetes(), nlambda=20)
        >>> ax = path.plot(mark="bic")
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('lambda (log scale)', 'coefficient per standard deviation')
        """
        from ..plots.path import Wishes, plot_path

        coefficients = self.beta, None
        if flag("standardized", standardized) and self.spread is not None:
            coefficients = tables.per_deviation(self), tables.spread_in_words(self)
        wishes = Wishes(xvar, log, label, shade, mark)
        return plot_path(self, ax, wishes, coefficients, lines)

    def plot_screening(self, ax=None) -> "Axes":
        """Draw how many features each lambda looked at and worked on.

        At each lambda a *working set* is solved, which begins with the features in use
        and those the *strong* rule lets through. All others must be found satisfied:
        those *certified* by a bound without a look at the data, the rest *checked*
        (counted once for each round that looked at them, so there may be more checks
        than features).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> ax = ncvpath(*load_diabetes(), nlambda=20).plot_screening()
        >>> [line.get_label() for line in ax.lines][:4]
        ['checked', 'certified', 'working set', 'strong']
        """
        from ..plots.screening import plot_screening

        return plot_screening(self, ax)

    def plot_trace(self, ax=None, xvar="round") -> "Axes":
        """Draw how the rounds converged; needs a fit with `record=True`.

        Largest violation, largest distance from the residual to a slab and objective
        on the left, FireWorks' step on the right, the size of the working set on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        xvar : {"round", "seconds"}

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from ncvpath import load_diabetes, ncvpath
        >>> path = ncvpath(*load_diabetes(), nlambda=5, record=True)
        >>> path.plot_trace().get_xlabel()
        'round'
        """
        from ..plots.trace import plot_trace

        return plot_trace(self, ax, xvar)

    def __repr__(self):
        return printing.as_text(self)

    def _repr_html_(self):
        return printing.as_html(self)

    # ---- keeping --------------------------------------------------------------

    def save(self, file) -> None:
        """Write the path, without X and y, to an npz file (no pickle inside).

        Examples
        --------
        >>> import io
        >>> from ncvpath import load_diabetes, ncvpath
        >>> stream = io.BytesIO()
        >>> ncvpath(*load_diabetes(), nlambda=20).save(stream)
        >>> stream.getvalue()[:2]
        b'PK'
        """
        storage.save(self, file)

    @classmethod
    def load(cls, file, family=None) -> "NcvPath":
        """Read a path that `save` wrote; `family` is yours, if it was fitted with one.

        Of a file that `CvNcvPath.save` wrote it is the path on all data.

        Examples
        --------
        >>> import tempfile
        >>> from ncvpath import NcvPath, load_diabetes, ncvpath
        >>> path = ncvpath(*load_diabetes(), nlambda=20)
        >>> with tempfile.TemporaryFile() as file:
        ...     path.save(file)
        ...     _ = file.seek(0)
        ...     again = NcvPath.load(file)
        >>> bool((again.beta != path.beta).nnz)
        False
        """
        return cls(**storage.load(file, family))

    def __copy__(self):
        return replace(self)  # with X and y, unlike a pickle

    def __getstate__(self):
        # The user's data are referred to, never copied or stored.
        return pickles.pack(self) | dict.fromkeys(NOT_OURS)

    def __setstate__(self, state):
        pickles.unpack(self, state)
        freeze(self)
