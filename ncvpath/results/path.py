"""`NcvPath`: the fitted path, and the questions one asks it.

A record of arrays that knows nothing of solvers. pandas, matplotlib and
scipy.sparse are imported when an answer needs them.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..families.survival import Baseline
from ..inputs.checks import flag, matrix, number, one_of, one_or_more
from ..inputs.data import compare_indexes, match_columns
from ..matrices import product
from ..runtime.loading import package
from ..runtime.messages import brief
from . import criteria, pickles, predictions, printing, storage, tables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from scipy.sparse import csc_array

    from .cv import CvNcvPath

SPARSE_CELLS = 10_000_000  # coefficient tables above this many cells stay sparse
# Fields that are arguments of ncvpath() under the same name.
ARGUMENTS = (
    "penalty", "gamma", "alpha", "lambdas", "weights", "tol", "penalty_factor",
    "feature_names", "family", "offset", "rescale", "ties", "strata",
)
# Walks by their number in `work`, as solver/search.py counts them.
WALKS = ("forward", "back", "swap", "again")
NOT_STORED = ("X", "y")  # the user's data: referred to, never copied or stored


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
        (L,) deviance, with weights scaled to sum n: gaussian: the residual sum of
        squares; counts of failures and successes: scaled to sum to their total; cox:
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

    # ---- coefficients ---------------------------------------------------------

    def coef(self, lam=None, which=None) -> "pd.Series | pd.DataFrame":
        """Coefficients, with the intercept first; a Cox path has none.

        Parameters
        ----------
        lam : float or sequence, optional
            Interpolated linearly between the two neighbouring lambdas.
        which : int or sequence of int, optional
            Positions on the path instead, from 0.

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
        """
        pd = package("pandas")

        mix, lambdas, single = self._query(lam, which)
        beta, intercept = self.beta, self.intercept
        if lam is not None or which is not None:
            beta, intercept = beta @ mix, intercept @ mix
        first = intercept[None] if self._names_intercept else intercept[None][:0]
        names = [tables.INTERCEPT] * len(first) + list(self.feature_names)
        rows, columns = pd.Index(names), pd.Index(lambdas, name="lambda")
        if single:
            values = np.append(first[:, 0], beta.toarray()[:, 0])
            return pd.Series(values, index=rows, name=float(lambdas[0]))
        if beta.shape[0] * beta.shape[1] <= SPARSE_CELLS:
            values = np.vstack([first, beta.toarray()])
            return pd.DataFrame(values, index=rows, columns=columns)
        return tables.sparse_table(first, beta, rows, columns)

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
        if lam is None and which is None:
            return {float(v): self._names(k) for k, v in enumerate(self.lambdas)}
        if lam is not None:
            _, wanted, single = self._query(lam, which)
            positions = [self._nearest(value) for value in wanted]
        else:
            positions, single = self._positions(which)
        names = [self._names(k) for k in positions]
        if single:
            return names[0]
        keys = self.lambdas[positions] if lam is None else wanted
        return {float(key): found for key, found in zip(keys, names)}

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
        mix, _, single = self._query(lam, which)
        predictions.check_type(self, type, single)
        link = self._link(match_columns(X, self.feature_names), mix, single)
        offset = predictions.check_offset(self, offset, len(link))
        link += offset if single or np.ndim(offset) == 0 else offset[:, None]
        return predictions.predicted(self, X, link, type, mix, strata)

    def residuals(
        self, lam=None, which=None, type="deviance", X=None, y=None, offset=None,
        strata=None,
    ) -> np.ndarray:
        """Residuals of the data of the fit, or of X and y given here.

        An array, as `predict` gives it; rows of X and y are matched by position. Offset
        and strata are the path's own, unless other rows are given.

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
        mix, _, single = self._query(lam, which)
        own = self.X if X is None else match_columns(X, self.feature_names)
        link = self._link(own, mix, single)
        if len(link) == self.n:  # as they were fitted, or given once more
            offset = self.offset if offset is None else offset
            strata = self.strata if strata is None else strata
        offset = predictions.check_offset(self, offset, len(link))
        link += offset if single or np.ndim(offset) == 0 else offset[:, None]
        given = self.y if y is None else y
        found = predictions.residuals(self, link, type, given, strata)
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
        return self._by_lambda(criteria.loglik(self), "loglik")

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
        return self._by_lambda(criteria.aic(self), "aic")

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
        return self._by_lambda(criteria.bic(self), "bic")

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
        return self._by_lambda(criteria.ebic(self, g), "ebic")

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
            Needed only where the path was stored without its data.
        **arguments
            Those of `cv_ncvpath`; they go before the path's own. With another penalty,
            gamma is its default, too.

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

        X = self.X if X is None else X
        y = self.y if y is None else y
        if X is None or y is None:
            raise ValueError("X and y must be given; this path was stored without them")
        shape = (len(y),) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
        if shape and shape[0] != self.n:
            raise ValueError(f"y must have the path's {self.n} rows; got {shape[0]}")
        own = self.settings | {name: getattr(self, name) for name in ARGUMENTS}
        own["intercept"] = self.has_intercept
        if str(arguments.get("penalty", self.penalty)).lower() != self.penalty.lower():
            del own["gamma"]  # it belongs to the path's own penalty
        if arguments.get("family", self.family) != self.family:
            for name in ("lambdas", "rescale", "ties", "strata"):
                del own[name]
        if arguments.keys() & {"nlambda", "lambda_min_ratio"}:
            own.pop("lambdas", None)  # others were asked for
        return cv_ncvpath(X, y, **(own | arguments))

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
        the path), "swap" (two features changed places) or "again" (handed on by a
        neighbouring lambda); thorough: swaps tried and kept. Counts are those of all
        walks together.
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
        self, ax=None, xvar="lambda", log=True, label=10, shade=True, mark=None, **lines
    ) -> "Axes":
        """Draw the coefficient paths.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        xvar : {"lambda", "norm", "dev"}
            What to draw against: lambda (decreasing), the l1 norm of the
            coefficients, or the fraction of deviance explained.
        log : bool
            Logarithmic lambda axis.
        label : int
            How many features to name at the end of their lines, largest first.
        shade : bool
            Shade the region where the objective is no longer locally convex.
        mark : optional
            Lambdas to mark with vertical lines: a number, a criterion ("aic", "bic",
            "ebic"), several of these, a mapping of label to lambda or criterion, or
            the result of a cross-validation for its lambda_min and lambda_1se.
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
        >>> ax.get_xlabel()
        'lambda (log scale)'
        """
        from ..plots.path import plot_path

        return plot_path(self, ax, xvar, log, label, shade, mark, lines)

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
        return pickles.pack(self) | dict.fromkeys(NOT_STORED)

    def __setstate__(self, state):
        pickles.unpack(self, state)

    # ---- inside ---------------------------------------------------------------

    @property
    def _names_intercept(self):
        """Whether tables have a row for the intercept, be it zero."""
        return predictions.family_of(self).has_intercept

    def _link(self, X, mix, single):
        """Linear predictors, but for an offset, for X with the columns of the fit."""
        beta = self.beta @ mix
        X = matrix("X", X, np.unique(beta.indices))
        if X.shape[1] != self.p:
            raise ValueError(f"X must have {self.p} columns; got {X.shape[1]}")
        fitted = product(X, beta) + self.intercept @ mix
        return fitted[:, 0] if single else fitted

    def _by_lambda(self, values, name):
        pd = package("pandas")

        return pd.Series(values, index=pd.Index(self.lambdas, name="lambda"), name=name)

    def _names(self, k):
        low, high = self.beta.indptr[k : k + 2]
        return [self.feature_names[j] for j in np.sort(self.beta.indices[low:high])]

    def _positions(self, which):
        """Positions on the path, counted from 0, or from the end when negative."""
        positions, single = one_or_more("which", which, "iu", "integers")
        size = self.lambdas.size
        outside = positions[(positions < -size) | (positions >= size)]
        if outside.size:
            raise ValueError(
                f"which must be from 0 to {size - 1}; got which={outside[0]}"
            )
        return positions.astype(np.int64) % size, single

    def _query(self, lam, which):
        """Weights (L x K, sparse) that mix the path's columns into the answer's."""
        from scipy.sparse import csc_array

        size = self.lambdas.size
        if lam is not None and which is not None:
            raise ValueError(
                f"give lam or which, not both; got lam={brief(lam)}, "
                f"which={brief(which)}"
            )
        if lam is None:
            if which is None:
                which = np.arange(size)
            left, single = self._positions(which)
            lambdas, right, share = self.lambdas[left], left, np.zeros(left.size)
        else:
            lambdas, single = _lambda_values(lam)
            outside = lambdas[
                (lambdas > self.lambdas[0]) | (lambdas < self.lambdas[-1])
            ]
            if outside.size:
                raise ValueError(
                    f"lam must be within the path, {self.lambdas[-1]:g} to "
                    f"{self.lambdas[0]:g}; got lam={outside[0]:g}"
                )
            right = np.minimum(np.searchsorted(-self.lambdas, -lambdas), size - 1)
            left = np.maximum(right - 1, 0)
            gap = self.lambdas[left] - self.lambdas[right]
            share = (self.lambdas[left] - lambdas) / np.where(gap > 0, gap, 1.0)
            share[gap == 0] = 1.0
        k = np.arange(left.size)
        mix = csc_array(
            (np.append(1 - share, share), (np.append(left, right), np.append(k, k))),
            shape=(size, left.size),
        )
        mix.eliminate_zeros()
        return mix, lambdas, single

    def _nearest(self, lam):
        if lam == 0:
            return self.lambdas.size - 1
        with np.errstate(divide="ignore"):
            return int(np.argmin(np.abs(np.log(self.lambdas) - np.log(lam))))


def _lambda_values(lam):
    """The lambdas, and whether it is one number."""
    values, single = one_or_more("lam", lam, "iuf", "a finite number or numbers")
    if not np.isfinite(values).all():
        raise ValueError(f"lam must be finite; got lam={brief(lam)}")
    return values.astype(float), single
