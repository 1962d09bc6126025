"""Regularization paths of sparse regression with nonconvex penalties."""

from .crossval.folds import assign_folds
from .cv import cv_ncvpath
from .datasets import load_diabetes, load_heart, load_veteran, simulate
from .families.family import Family
from .families.table import families
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
    "Family",
    "NcvPath",
    "assign_folds",
    "compare",
    "cv_ncvpath",
    "families",
    "lambda_max",
    "load_diabetes",
    "load_heart",
    "load_veteran",
    "ncvpath",
    "penalties",
    "plot_penalties",
    "show_versions",
    "simulate",
]
