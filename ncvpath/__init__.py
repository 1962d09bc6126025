"""Regularization paths of sparse regression with nonconvex penalties."""

from .crossval.folds import assign_folds
from .cv import cv_ncvpath
from .datasets import load_diabetes, simulate
from .path import ConvergenceWarning, lambda_max, ncvpath
from .penalties import penalties
from .plots.penalties import plot_penalties
from .results import CvNcvPath, NcvPath
from .results.comparison import compare
from .runtime.environment import show_versions
from .version import __version__ as __version__

__all__ = [
    "ConvergenceWarning",
    "CvNcvPath",
    "NcvPath",
    "assign_folds",
    "compare",
    "cv_ncvpath",
    "lambda_max",
    "load_diabetes",
    "ncvpath",
    "penalties",
    "plot_penalties",
    "show_versions",
    "simulate",
]
