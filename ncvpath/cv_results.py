"""Pickles of version 0.1 name `ncvpath.cv_results.CvNcvPath`; it lives in `results`."""

from .results import CvNcvPath as CvNcvPath
