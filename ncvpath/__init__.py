"""Regularization paths of sparse regression with nonconvex penalties."""

from .datasets import load_diabetes, simulate
from .environment import show_versions
from .path import ConvergenceWarning, lambda_max, ncvpath
from .penalties import penalties
from .results import NcvPath

__version__ = "0.1.0"

__all__ = [
    "ConvergenceWarning",
    "NcvPath",
    "lambda_max",
    "load_diabetes",
    "ncvpath",
    "penalties",
    "show_versions",
    "simulate",
]
