"""What the estimators share: parameters, the fit, and who says what of new rows."""

from inspect import Parameter, Signature, signature
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..cv import cv_ncvpath
from ..inputs.checks import (
    entries,
    is_dask,
    is_on_disk,
    number,
    one_per_row,
    refuse_masks,
)
from ..inputs.frames import column_names, rows_of
from ..inputs.settings import check_lambdas
from ..inputs.words import refuse
from ..path import ncvpath
from ..runtime.messages import brief, warn_user
from .words import ELSEWHERE, in_their_words

# Arguments of ncvpath() that have an entry per row are arguments of fit().
OF_ROWS = {"weights": "sample_weight", "offset": "offset", "strata": "strata"}
# Parameters that are not those of ncvpath(); n_jobs is what it calls n_threads.
OWN = {
    "select": "cv", "cv": 10, "measure": None, "random_state": None, "n_jobs": None,
}
LAMBDA_RULES = {"cv": "lambda_min", "cv-1se": "lambda_1se"}
CRITERIA = ("aic", "bic", "ebic")


def with_parameters(*without):
    """A class decorator: the constructor takes what ncvpath() does, but for some."""
    absent = {*OF_ROWS, "n_threads", *without}
    settings = [
        each for each in signature(ncvpath).parameters.values()
        if each.kind is Parameter.KEYWORD_ONLY and each.name not in absent
    ]
    own = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=value)
        for name, value in OWN.items()
    ]
    itself = Parameter("self", Parameter.POSITIONAL_ONLY)
    asked = Signature([itself, *settings, *own])

    def construct(self, /, *nameless, **parameters):
        name = type(self).__name__
        if nameless:
            raise TypeError(
                f"{name}() takes no arguments without a name; name them, as in "
                "penalty='SCAD'"
            )
        for word in parameters:
            if word not in asked.parameters:
                refuse(name, word, asked.parameters, ELSEWHERE, ())
        bound = asked.bind(self, **parameters)
        bound.apply_defaults()
        for name, value in bound.kwargs.items():
            setattr(self, name, value)

    construct.__signature__ = asked
    construct.__name__ = construct.__qualname__ = "__init__"

    def decorate(cls):
        cls.__init__ = construct
        cls._settings = tuple(each.name for each in settings)
        return cls

    return decorate


class NcvEstimator(BaseEstimator):
    """A path and the lambda that was chosen on it."""

    _fixed: dict = {}  # arguments of ncvpath() that the class is made for

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _fit(self, X, y, sample_weight, groups, **of_rows):
        """Fit the path, choose a lambda, and leave what an estimator leaves."""
        given = self._fixed | {name: getattr(self, name) for name in self._settings}
        given |= dict(weights=sample_weight, n_threads=threads(self.n_jobs), **of_rows)
        select = check_select(self.select)
        if groups is not None:  # where there are no folds, wrong ones are wrong, too
            labels = entries("groups", groups, "one label per row")
            one_per_row("groups", "label per row", len(labels), rows_of(X))
        cv = None
        with in_their_words():
            if select in LAMBDA_RULES:
                cv = cv_ncvpath(
                    X, y, groups=groups, random_state=seed(self.random_state),
                    measure=self.measure, **folds(self.cv, X), **given,
                )
                path, lam = cv.fit, getattr(cv, LAMBDA_RULES[select])
            elif select in CRITERIA:
                path = ncvpath(X, y, **given)
                lam = path.select(select)
            else:
                path, lam = path_to(select, X, y, given), select
        k = int(np.flatnonzero(path.lambdas == lam)[0])
        self.path_, self.cv_, self.lambda_ = path, cv, lam
        own = slice(*path.beta.indptr[k : k + 2])
        self.coef_ = np.zeros(path.p)
        self.coef_[path.beta.indices[own]] = path.beta.data[own]
        self.intercept_ = float(path.intercept[k])
        self.n_iter_ = int(path.n_epochs[k])
        return self

    def _ask(self, X, type, **of_rows):
        """What the path says of new rows at the chosen lambda."""
        check_is_fitted(self)
        X = by_position(self._read(X), self.path_.feature_names)
        with in_their_words():
            return self.path_.predict(X, lam=self.lambda_, type=type, **of_rows)

    def _read(self, X, reset=False):
        """X with the columns of the fit; what ncvpath() reads better stays as it is."""
        refuse_masks("X", X)
        as_it_is = column_names(X) is not None or is_dask(X) or is_on_disk(X)
        how = dict(skip_check_array=True) if as_it_is else dict(
            accept_sparse=True, ensure_all_finite=False,  # ncvpath() looks for NaN
            ensure_min_samples=2 if reset else 1,
        )
        return validate_data(self, X, reset=reset, **how)

    def _refuse_no_y(self, y):
        if y is None:
            raise ValueError(
                f"y must be given: {type(self).__name__} requires y to be passed, but "
                "the target y is None"
            )


def by_position(X, names):
    """A table whose columns are called as the path calls them: scikit-learn has seen
    to their order, and does not take numbers for names."""
    own = column_names(X)
    if own is None or own == list(names):
        return X
    if hasattr(X, "set_axis"):  # pandas
        return X.set_axis(list(names), axis=1)
    if hasattr(X, "rename_columns"):  # pyarrow
        return X.rename_columns(list(names))
    return X.rename(dict(zip(own, names)))


# ---- settings ----------------------------------------------------------------------


def check_select(select):
    """One of the rules, or a number: the lambda."""
    if isinstance(select, str) and select.lower() in (*LAMBDA_RULES, *CRITERIA):
        return select.lower()
    if isinstance(select, Real) and not isinstance(select, (bool, np.bool_)):
        return number("select", select, atleast=0)
    raise ValueError(
        f"select must be one of {', '.join([*LAMBDA_RULES, *CRITERIA])}, or a number, "
        f"the lambda; got select={brief(select)}"
    )


def threads(n_jobs):
    """As joblib counts: None is one, unless a context says otherwise; -1 all."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, (bool, np.bool_))
    if n_jobs is not None and not (whole and n_jobs):
        raise ValueError(
            "n_jobs must be None or an integer other than 0 (-1: all cores); got "
            f"n_jobs={brief(n_jobs)}"
        )
    return effective_n_jobs(n_jobs)


def seed(random_state):
    """What numpy's Generator begins with; a RandomState, the global one for None, is
    asked for a number."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return check_random_state(random_state).randint(2**31)
    return random_state


def folds(cv, X):
    """The arguments of cv_ncvpath() that say it."""
    if not isinstance(cv, Integral) or isinstance(cv, (bool, np.bool_)):
        return {"folds": cv}
    n = rows_of(X)
    if n < cv:
        warn_user(
            f"cv must be at most the number of rows, {n}; got cv={cv}. One row is held "
            "out at a time"
        )
    return {"nfolds": min(int(cv), n)}


def path_to(lam, X, y, given):
    """A path that has this lambda."""
    lambdas = given.pop("lambdas")
    lambdas = lam if lambdas is None else np.union1d(check_lambdas(lambdas), lam)
    path = ncvpath(X, y, lambdas=lambdas, **given)
    if lam < path.lambdas[-1]:
        raise ValueError(
            "select must be a lambda that the path reaches; it ended at "
            f"{path.lambdas[-1]:g} ({path.stopped}); got select={lam:g}"
        )
    return path
