"""`NcvRegressor` for numbers and counts, `NcvClassifier` for two classes."""

from contextlib import suppress

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, d2_tweedie_score, r2_score
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from ..inputs.checks import refuse_masks
from ..inputs.data import compare_indexes
from ..inputs.labels import label_array, listed
from ..inputs.response import check_family
from ..runtime.messages import brief
from .base import NcvEstimator, with_parameters

TINY = np.finfo(float).tiny


@with_parameters("ties")
class NcvRegressor(RegressorMixin, NcvEstimator):
    """A regression of numbers or counts on the features that a path selects.

    Parameters
    ----------
    family : {"gaussian", "poisson"} or Family
        As for `ncvpath`; one's own must be a family of numbers.
    **settings : those of `ncvpath`
        penalty, gamma, alpha, nlambda and all others by the same names, with the same
        defaults. What belongs to rows goes to `fit`. With `select="cv"` gamma and alpha
        may be sequences, as for `cv_ncvpath`.
    select : {"cv", "cv-1se", "aic", "bic", "ebic"} or float
        How lambda is chosen: the one of smallest cross-validated error, or the largest
        within one standard error of it; the one of the smallest criterion; or a number,
        the lambda itself, which the path then has beside `lambdas`.
    cv : int, splitter, iterable of (train, test) or of labels
        With `select="cv"` and "cv-1se": how many folds, drawn at random (as many as
        there are rows, if these are fewer), or the folds, as `cv_ncvpath` reads them.
    measure : str or function, optional
        What the folds are judged by, as for `cv_ncvpath`.
    random_state : int, numpy Generator or RandomState, optional
        For drawing the folds.
    n_jobs : int, optional
        Threads, as joblib counts: None is one, -1 all cores. Never changes the answer.

    Attributes
    ----------
    path_ : NcvPath
        The path on all rows; a pickle of the estimator keeps it without X and y.
    cv_ : CvNcvPath or None
        The cross-validation, if there was one.
    lambda_ : float
        The lambda that was chosen.
    coef_ : ndarray of shape (n_features,)
        Its coefficients, on the scale of X.
    intercept_ : float
        Its intercept.
    n_iter_ : int
        Sweeps of coordinate descent at `lambda_`.
    n_features_in_ : int
        p, the columns of X.
    feature_names_in_ : ndarray of str
        If the columns of X have names that are text.

    See Also
    --------
    ncvpath.ncvpath : the parameters, one by one.

    Examples
    --------
    >>> from ncvpath import load_diabetes
    >>> from ncvpath.estimators import NcvRegressor
    >>> X, y = load_diabetes()
    >>> model = NcvRegressor(penalty="MCP", random_state=1).fit(X, y)
    >>> round(model.lambda_, 3), round(model.score(X, y), 2)
    (2.248, 0.51)
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = str(self.family).lower() == "poisson"
        return tags

    def fit(self, X, y, sample_weight=None, offset=None, groups=None):
        """Fit the path and choose a lambda.

        Parameters
        ----------
        X : as for `ncvpath`, n x p
        y : array, Series or list, length n
        sample_weight : array of length n, optional
            Observation weights; only their ratios matter.
        offset : array of length n, optional
            A known part of the linear predictor; `predict` and `score` need one, too.
        groups : sequence of length n, optional
            Rows of one group stay in one fold, with `select="cv"` and "cv-1se"; other
            rules have no folds.
        """
        family = check_family(self.family)
        if family.form != "number":
            raise ValueError(
                "family must be gaussian, poisson or an object of one's own for "
                "numbers; NcvClassifier has two classes, NcvSurvival survival times; "
                f"got family={brief(self.family)}"
            )
        self._refuse_no_y(y)
        compare_indexes(X=X, y=y)
        X, y = self._read(X, reset=True), numbers(y)
        return self._fit(X, y, sample_weight, groups, offset=offset)

    def predict(self, X, offset=None):
        """The mean of each row."""
        return self._ask(X, "response", offset=offset)

    def score(self, X, y, sample_weight=None, offset=None):
        """The share of the deviance explained, D^2: for gaussian that is R^2.

        What is explained is the deviance from the mean of these rows; that of counts
        for poisson, squares for all others.
        """
        mean = self.predict(X, offset)
        if self.path_.family != "poisson":
            return r2_score(y, mean, sample_weight=sample_weight)
        y, mean = np.ravel(y), np.clip(mean, TINY, 1 / TINY)  # rounded to none
        if sample_weight is not None:
            check_consistent_length(y, mean, sample_weight)
            weights = np.ravel(sample_weight)
            y, mean, sample_weight = (part[weights != 0] for part in (y, mean, weights))
        if np.ptp(y) == 0:  # nothing to explain: as r2_score has it
            return float(np.array_equal(mean, y))
        return d2_tweedie_score(y, mean, sample_weight=sample_weight, power=1)


def numbers(y):
    """A vector, of numbers if it can be; if not, ncvpath() says what is wrong."""
    refuse_masks("y", y)
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            return y.astype(float)
    return y


@with_parameters("family", "ties")
class NcvClassifier(ClassifierMixin, NcvEstimator):
    """A logistic regression for two classes on the features that a path selects.

    For more classes than two, scikit-learn's `OneVsRestClassifier(NcvClassifier())`
    fits a path for each of them. What else a fit leaves (`path_`, `cv_`, `lambda_` and
    so on) is as for `NcvRegressor`.

    Parameters
    ----------
    **settings : those of `ncvpath`
        penalty, gamma, alpha, nlambda and all others by the same names, with the same
        defaults. What belongs to rows goes to `fit`.
    select, cv, measure, random_state, n_jobs
        As for `NcvRegressor`; each fold has its share of both classes.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second is the event.
    coef_ : ndarray of shape (1, n_features)
        Log odds ratios at `lambda_`, on the scale of X.
    intercept_ : ndarray of shape (1,)
        The intercept.

    Examples
    --------
    >>> from ncvpath import load_heart
    >>> from ncvpath.estimators import NcvClassifier
    >>> X, y = load_heart()
    >>> words = y.map({0: "healthy", 1: "ill"})
    >>> model = NcvClassifier(select="bic").fit(X, words)
    >>> model.predict(X.head(3))
    array(['ill', 'healthy', 'healthy'], dtype=object)
    >>> model.predict_proba(X.head(3)).round(2)
    array([[0.32, 0.68],
           [0.62, 0.38],
           [0.66, 0.34]])
    """

    _fixed = {"family": "binomial"}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y, sample_weight=None, offset=None, groups=None):
        """Fit the path and choose a lambda.

        Parameters
        ----------
        X : as for `ncvpath`, n x p
        y : array, Series or list, length n
            Labels of two classes, of any kind that can be sorted.
        sample_weight, offset, groups : optional
            As for `NcvRegressor.fit`.
        """
        self._refuse_no_y(y)
        refuse_masks("y", y)
        compare_indexes(X=X, y=y)
        X, y = self._read(X, reset=True), column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        label_array("y", y)  # a label that is missing is refused by name
        check_classification_targets(y)
        classes = np.unique(y)
        if classes.size > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, with {classes.size} classes: "
                f"{listed(classes.tolist())} (for one path per class: "
                "sklearn.multiclass.OneVsRestClassifier(NcvClassifier(...)))"
            )
        self._fit(X, y, sample_weight, groups, offset=offset)
        self.classes_ = classes
        self.coef_, self.intercept_ = self.coef_[None], np.array([self.intercept_])
        return self

    def decision_function(self, X, offset=None):
        """The linear predictor: the log odds of the second class."""
        return self._ask(X, "link", offset=offset)

    def predict(self, X, offset=None):
        """The label of the likelier class."""
        second = self.decision_function(X, offset) > 0
        return self.classes_[second.astype(int)]

    def predict_proba(self, X, offset=None):
        """The probability of each class, n x 2 in the order of `classes_`."""
        second = self._ask(X, "response", offset=offset)
        return np.column_stack([1 - second, second])

    def predict_log_proba(self, X, offset=None):
        """Their logarithms, which stay finite where probabilities are rounded to 0."""
        link = self.decision_function(X, offset)
        return -np.column_stack([np.logaddexp(0, link), np.logaddexp(0, -link)])

    def score(self, X, y, sample_weight=None, offset=None):
        """The share of rows whose class is predicted."""
        return accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight)
