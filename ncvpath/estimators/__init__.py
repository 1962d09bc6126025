"""Estimators for scikit-learn: `NcvRegressor`, `NcvClassifier`, `NcvSurvival`.

This folder alone imports scikit-learn (extra `.[sklearn]`), and nothing else imports
this folder.
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError(
        "ncvpath.estimators needs scikit-learn 1.6 or later, which is not installed: "
        "python -m pip install scikit-learn"
    ) from error

from .linear import NcvClassifier, NcvRegressor
from .survival import NcvSurvival, StepFunction

__all__ = ["NcvClassifier", "NcvRegressor", "NcvSurvival", "StepFunction"]
