"""What a family is: the loss of an observation as a function of its linear predictor.

Solver, results and cross-validation ask a family nothing else. One's own is a subclass
that has a name and defines loss, residual, curvature and mean.
"""

import numpy as np

from .likelihood import Likelihood, decreasing_root


class Family:
    """A loss that is a sum over observations.

    A family of one's own defines loss, residual, curvature and mean, and should define
    saturated, from which deviances are counted; the others have defaults.

    In all methods y (n,) is the clean response and eta (n,) or (K, n) the linear
    predictor, one per row. They must stand any finite eta without a warning; infinity
    is an answer.

    Attributes
    ----------
    name : str
        What users pass, and results show.
    response : str
        What y may be, in words.
    form : {"number", "class", "survival"}
        How y is read: as real numbers that `check` may refuse, as two classes (or
        proportions, or counts of both), or as times with a status.
    has_intercept : bool
        Whether the model can have one.
    predict_types : tuple of str
        What `predict(type=)` may be.
    joint_measures : tuple of str
        Measures of cross-validation that judge observations together, beside
        `measures`.
    """

    name = ""
    response = "numbers"
    form = "number"
    has_intercept = True
    is_quadratic = False
    predict_types = ("response", "link")
    joint_measures = ()

    def loss(self, y, eta):
        """Minus the log-likelihood of each observation, up to a function of y."""
        raise NotImplementedError(f"family {self.name!r} has no loss by row")

    def residual(self, y, eta):
        """The score residual: minus the derivative of the loss by eta."""
        raise NotImplementedError(f"family {self.name!r} has no residual by row")

    def curvature(self, y, eta):
        """The second derivative of the loss by eta, or what is expected of it: >= 0."""
        raise NotImplementedError(f"family {self.name!r} has no curvature by row")

    def mean(self, eta):
        """The expected response, which type="response" predicts."""
        raise NotImplementedError(f"family {self.name!r} has no mean")

    def is_event(self, eta):
        """Of two classes, whether the second is predicted; a tie is, as in ncvreg."""
        return self.mean(eta) >= 0.5

    def saturated(self, y):
        """The smallest loss of each observation, whatever eta.

        Zero unless a family knows better; deviance is counted from there.
        """
        return np.zeros_like(y)

    def limit(self, y):
        """The loss of each observation that a path ends before: coefficients without
        end explain all. The smallest one, unless that has finite coefficients."""
        return self.saturated(y)

    def check(self, y):
        """Raise ValueError where the family cannot have such a y."""

    def null_link(self, mean_y):
        """The linear predictor of the null model, given the mean of y; no offset."""
        return decreasing_root(
            lambda eta: float(self.residual(mean_y, eta)),
            lambda eta: float(self.curvature(mean_y, eta)),
            0.0,
        )

    def loglik(self, y, eta, weights):
        """The log-likelihood, of weights that sum to the number of observations.

        Minus the loss here: constants are left to families that know them.
        """
        counted = weights > 0
        return -(self.loss(y[counted], eta[..., counted]) @ weights[counted])

    def unit_deviance(self, y, eta):
        """Twice what each observation's loss is above its smallest."""
        return 2 * (self.loss(y, eta) - self.saturated(y))

    def deviance_residual(self, y, eta):
        """The root of each observation's deviance, with the residual's sign."""
        size = np.sqrt(np.maximum(self.unit_deviance(y, eta), 0))
        return np.copysign(size, self.residual(y, eta))

    @property
    def measures(self):
        """Errors of cross-validation by name: functions of y and eta, by observation.

        The first is the default.
        """
        return {"deviance": self.unit_deviance}

    @property
    def may_separate(self):
        """Whether coefficients without end may explain all: of classes, or of times in
        order. Numbers have coefficients that end."""
        return self.form != "number"

    @property
    def measure_names(self):
        """What cross-validation can judge by; the first is the default."""
        return (*self.measures, *self.joint_measures)

    def bind(self, response, weights, intercept):
        """The likelihood of one fit; weights sum to one and know of trials."""
        return Likelihood(self, response, weights, intercept)

    def squared_error(self, y, eta):
        """Square of response minus mean."""
        with np.errstate(over="ignore"):
            return (y - self.mean(eta)) ** 2

    def absolute_error(self, y, eta):
        """Distance of response and mean."""
        return np.abs(y - self.mean(eta))
