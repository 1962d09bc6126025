"""`CvNcvPath`: what cross-validation found, and the questions one asks it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..inputs.checks import one_of
from ..inputs.words import knows_its_arguments
from ..runtime.loading import package
from ..runtime.messages import brief
from . import cv_storage, pickles
from .frozen import freeze
from .measures import Words, explained, words_of
from .path import NcvPath
from .predictions import family_name, family_of
from .printing import counted, in_notebook, kind_of, shape
from .tables import facts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

RULES = ("min", "1se")
NOT_KEPT = (
    "predictions were not kept; cv_ncvpath(..., keep=True) keeps the out-of-fold "
    "linear predictors"
)
NOT_ONCE = (
    "there are no predictions: these folds do not hold out every row exactly once, "
    "which keep=True needs"
)
NO_ERROR = (
    "lambda_1se needs a standard error, and a single row held out has none, nor a "
    "single event, or a single fold of an AUC or a concordance; hold out more of them, "
    'or ask for rule="min"'
)


def rule_name(rule):
    """A rule as we call it: lambda_1se, and lambda.1se as in R, are 1se."""
    if not isinstance(rule, str):
        return rule
    return rule.replace(".", "_").removeprefix("lambda_")


@dataclass(frozen=True, eq=False, repr=False)
class CvNcvPath:
    """A cross-validated path, as `cv_ncvpath()` returns it; L lambdas.

    Attributes
    ----------
    fit : NcvPath
        The path on all data, for the chosen gamma and alpha.
    lambdas : np.ndarray
        (L,) those of `fit` that every fold reached.
    cve : np.ndarray
        (L,) mean prediction error over observations, or what `measure` says.
    cvse : np.ndarray
        (L,) its standard error.
    index_min : int
        Where cve is best: smallest, or largest if it is AUC or concordance.
    index_1se : int | None
        The largest lambda whose cve is within one cvse of the best; None where there is
        no standard error, as of a single row held out.
    folds : np.ndarray | None
        (n,) the fold in which each row was held out; None if not exactly one.
    fold_errors : np.ndarray
        folds x L, mean prediction error in each fold; NaN where there is nothing to
        judge. Deviance of a Cox path: mean over the fold's events, each among all rows;
        concordance: of pairs within the fold.
    converged : np.ndarray
        folds x L, whether the fold's fit reached tol.
    null_error : float
        The error of the model with intercept and offset only.
    kept : np.ndarray | None
        n x L, out-of-fold linear predictors, if they were to be kept; ask for them as
        `predictions`.
    measure : str
        What predictions were judged by; a function of one's own by its name.
    combinations : pd.DataFrame
        Errors of every combination of gamma and alpha; ask for them as `grid`.
    pe : np.ndarray | None
        (L,) share of held-out rows in the wrong class, if the family is binomial.

    Examples
    --------
    >>> from ncvpath import cv_ncvpath, load_diabetes
    >>> X, y = load_diabetes()
    >>> cv = cv_ncvpath(X, y, nlambda=20, random_state=1)
    >>> round(cv.lambda_min, 3), round(cv.lambda_1se, 3)
    (2.464, 5.098)
    """

    fit: NcvPath
    lambdas: np.ndarray
    cve: np.ndarray
    cvse: np.ndarray
    index_min: int
    index_1se: int | None
    folds: np.ndarray | None
    fold_errors: np.ndarray
    converged: np.ndarray
    null_error: float
    kept: np.ndarray | None
    measure: str
    combinations: "pd.DataFrame" = field(repr=False)
    pe: np.ndarray | None = None

    def __post_init__(self):
        freeze(self)

    @property
    def predictions(self) -> np.ndarray:
        """Out-of-fold linear predictors, n x L, of a fit with `keep=True`."""
        if self.kept is not None:
            return self.kept
        raise AttributeError(NOT_KEPT if self.folds is not None else NOT_ONCE)

    @property
    def grid(self) -> "pd.DataFrame":
        """Errors of every combination: gamma, alpha, lambda, cve, cvse, df; a copy."""
        return self.combinations.copy()

    @property
    def gamma(self) -> float | None:
        """The chosen gamma; None for the lasso."""
        return self.fit.gamma

    @property
    def alpha(self) -> float:
        """The chosen alpha."""
        return self.fit.alpha

    @property
    def lambda_min(self) -> float:
        """The lambda with the smallest error, or the largest AUC or concordance."""
        return float(self.lambdas[self.index_min])

    @property
    def lambda_1se(self) -> float:
        """The largest lambda that is within one standard error of that."""
        if self.index_1se is None:
            raise ValueError(NO_ERROR)
        return float(self.lambdas[self.index_1se])

    @property
    def r2(self) -> np.ndarray:
        """(L,) share of the null error that is explained; may be negative.

        Of deviances as Cox and Snell have it, 1 - exp(cve - null_error); NaN for other
        measures than these, mse and mae.
        """
        return explained(self.measure, self.cve, self.null_error)

    @property
    def words(self) -> Words:
        """What the measure is called, and whether more of it is better."""
        return words_of(self.measure, family_name(self.fit))

    @knows_its_arguments
    def coef(
        self, rule="min", lam=None, standardized=False
    ) -> "pd.Series | pd.DataFrame":
        """Coefficients at "min", at "1se", or at lambdas of your own.

        Give a rule or `lam`, not both. Rules may also be called "lambda_1se" or, as in
        R, "lambda.1se".

        Examples
        --------
        >>> from ncvpath import cv_ncvpath, load_diabetes
        >>> X, y = load_diabetes()
        >>> cv = cv_ncvpath(X, y, nlambda=20, random_state=1)
        >>> float(cv.coef("1se")["bmi"].round(3))
        5.986
        """
        return self.fit.coef(**self._where(rule, lam), standardized=standardized)

    @knows_its_arguments
    def predict(
        self, X, rule="min", lam=None, type="response", offset=None, strata=None
    ) -> "np.ndarray | pd.DataFrame":
        """Predictions at "min", at "1se", or at lambdas of your own.

        Give a rule or `lam`, not both.
        `type`, `offset` and `strata` are those of `NcvPath.predict`.

        Examples
        --------
        >>> from ncvpath import cv_ncvpath, load_diabetes
        >>> X, y = load_diabetes()
        >>> cv = cv_ncvpath(X, y, nlambda=20, random_state=1)
        >>> cv.predict(X.head(2)).round(1)
        array([207.5,  71.5])
        """
        more = dict(type=type, offset=offset, strata=strata)
        return self.fit.predict(X, **self._where(rule, lam), **more)

    @knows_its_arguments
    def selected(self, rule="min") -> list[str]:
        """Names of the features used at "min" or "1se".

        Examples
        --------
        >>> from ncvpath import cv_ncvpath, load_diabetes
        >>> X, y = load_diabetes()
        >>> cv = cv_ncvpath(X, y, nlambda=20, random_state=1)
        >>> cv.selected("1se")
        ['sex', 'bmi', 'bp', 'tc', 'hdl', 'ltg']
        """
        return self.fit.selected(**self._where(rule, None))

    def _where(self, rule, lam):
        given, rule = rule, rule_name(rule)
        one_of("rule", rule, RULES)
        if lam is not None and rule != "min":
            raise ValueError(
                f"give lam or rule, not both; got lam={brief(lam)}, rule={brief(given)}"
            )
        if lam is not None:
            return {"lam": lam}
        if rule == "1se" and self.index_1se is None:
            raise ValueError(NO_ERROR)
        return {"which": self.index_min if rule == "min" else self.index_1se}

    def summary(self) -> "pd.DataFrame":
        """Both rules: index, lambda, nonzeros, error, R^2 and signal-to-noise ratio,
        for squared errors sigma, for two classes the share of wrong ones (pe).

        Returns
        -------
        DataFrame
            Rows "min" and "1se"; printed, it reads as ncvreg's summary. Its `.attrs`
            say what was fitted.

        Examples
        --------
        >>> from ncvpath import cv_ncvpath, load_diabetes
        >>> cv = cv_ncvpath(*load_diabetes(), random_state=1)
        >>> cv.summary()
        MCP-penalized linear regression with n=442, p=10, gamma=3
        At minimum cross-validation error (lambda=2.248):
        --------------------------------------------------------------------
          Nonzero coefficients: 6
          Cross-validation error (squared): 3004 (standard error 188.6)
          R-squared: 0.49
          Signal-to-noise ratio: 0.97
          Scale estimate (sigma): 54.81
        At the largest lambda within one standard error of it (lambda=5.97):
        --------------------------------------------------------------------
          Nonzero coefficients: 6
          Cross-validation error (squared): 3175 (standard error 189.1)
          R-squared: 0.46
          Signal-to-noise ratio: 0.87
          Scale estimate (sigma): 56.35
        >>> int(cv.summary().loc["1se", "nonzero"])
        6
        """
        pd = package("pandas")

        from .cv_summary import CvSummary

        rules = RULES if self.index_1se is not None else RULES[:1]
        at = [self.index_min, self.index_1se][: len(rules)]
        table = CvSummary(self.to_frame().iloc[at].reset_index())
        table.insert(0, "index", at)
        table.insert(2, "nonzero", table.pop("df"))
        if self.measure in ("mse", "deviance"):
            table["snr"] = table["r2"] / (1 - table["r2"])  # infinite for a perfect fit
        if self.measure == "mse" and family_of(self.fit).is_quadratic:
            table["sigma"] = np.sqrt(table["cve"])
        if "pe" in table:  # the last, as ncvreg has it
            table.insert(table.shape[1] - 1, "pe", table.pop("pe"))
        table.index = pd.Index(rules, name="rule")
        table.attrs = self._facts()
        return table

    def to_frame(self) -> "pd.DataFrame":
        """One row per lambda: cve, cvse, r2, nonzeros, and of two classes the share of
        wrong ones (pe); `.attrs` say what was fitted.

        Examples
        --------
        >>> from ncvpath import cv_ncvpath, load_diabetes
        >>> X, y = load_diabetes()
        >>> cv = cv_ncvpath(X, y, nlambda=20, random_state=1)
        >>> cv.to_frame().columns.tolist()
        ['cve', 'cvse', 'r2', 'df']
        """
        pd = package("pandas")

        table = pd.DataFrame(
            {
                "cve": self.cve,
                "cvse": self.cvse,
                "r2": self.r2,
                "df": self.fit.df[: self.lambdas.size],
            },
            index=pd.Index(self.lambdas, name="lambda"),
        )
        if self.pe is not None and self.measure != "class":
            table["pe"] = self.pe
        table.attrs = self._facts()
        return table

    def _facts(self):
        chosen = {"lambda_min": self.lambda_min, "lambda_1se": None}
        if self.index_1se is not None:
            chosen["lambda_1se"] = self.lambda_1se
        return facts(self.fit) | {"measure": self.measure} | chosen

    @knows_its_arguments
    def plot(self, ax=None, kind="cve", log_lambda=True) -> "Axes":
        """Draw the curve of errors, or the map over gamma and alpha.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.
        kind : {"cve", "r2", "scale", "grid"}
            Prediction error (or what `measure` says), share of the null error
            explained, square root of the squared error, or a map of errors: over lambda
            and whichever of gamma and alpha has several values, or, if both have, the
            best error of each combination.
        log_lambda : bool
            Whether lambda is on a log axis; on a map it always is. A log axis leaves
            out lambda=0.

        Returns
        -------
        matplotlib Axes

        See Also
        --------
        NcvPath.plot : `cv.fit.plot(mark=cv)` marks both rules on the coefficient paths.

        Examples
        --------
        >>> from ncvpath import cv_ncvpath, load_diabetes
        >>> X, y = load_diabetes()
        >>> cv = cv_ncvpath(X, y, gamma=[2, 3, 5], nlambda=20, random_state=1)
        >>> cv.plot().get_ylabel()
        'Mean squared error (CV)'
        >>> cv.plot(kind="grid").get_ylabel()
        'gamma'
        """
        from ..plots.cv import plot_cv

        return plot_cv(self, ax=ax, kind=kind, log_lambda=log_lambda)

    def save(self, file) -> None:
        """Write it, with its path but without X and y, to an npz file.

        Examples
        --------
        >>> import io
        >>> from ncvpath import cv_ncvpath, load_diabetes
        >>> stream = io.BytesIO()
        >>> cv_ncvpath(*load_diabetes(), nlambda=20, random_state=1).save(stream)
        >>> stream.getvalue()[:2]
        b'PK'
        """
        cv_storage.save(self, file)

    @classmethod
    def load(cls, file, family=None) -> "CvNcvPath":
        """Read what `save` wrote; `family` is yours, if it was fitted with one.

        Examples
        --------
        >>> import tempfile
        >>> from ncvpath import CvNcvPath, cv_ncvpath, load_diabetes
        >>> cv = cv_ncvpath(*load_diabetes(), nlambda=20, random_state=1)
        >>> with tempfile.TemporaryFile() as file:
        ...     cv.save(file)
        ...     _ = file.seek(0)
        ...     again = CvNcvPath.load(file)
        >>> again.lambda_1se == cv.lambda_1se
        True
        """
        path, fields = cv_storage.load(file, family)
        return cls(NcvPath(**path), **fields)

    def __getstate__(self):
        return pickles.pack(self)

    def __setstate__(self, state):
        pickles.unpack(self, state)
        freeze(self)

    def __repr__(self):
        shown = self.summary().drop(columns="index")
        table = shown.to_string(float_format="{:.4g}".format)
        return "\n".join([cv_header(self), "", table, *cv_notes(self)])

    def _repr_html_(self):
        shown = self.summary().drop(columns="index")
        table = shown.to_html(float_format="{:.4g}".format)
        words = "cross-validation error along the path"
        return in_notebook(self, cv_header(self), table, cv_notes(self), words)


def cv_notes(cv):
    """What the user should know of the path behind it."""
    return [f"Stopped early: {cv.fit.stopped}."] if cv.fit.stopped else []


def cv_header(cv):
    """One line that says what was cross-validated."""
    fit = cv.fit
    chosen = shape(cv.gamma, cv.alpha, searched=cv.grid["alpha"].nunique() > 1)
    judged = "" if cv.measure == "mse" else f", judged by {cv.words.short}"
    return (
        f"cross-validated {kind_of(fit)}{fit.penalty} path: n={fit.n}, p={fit.p}"
        f"{chosen}, {counted(len(cv.fold_errors), 'fold')}, "
        f"{counted(cv.lambdas.size, 'lambda')}{judged}"
    )
