"""What comes back: records of arrays that know nothing of solvers.

Pickles of version 0.1 name `ncvpath.results.NcvPath`.
"""

from .cv import CvNcvPath
from .path import NcvPath

__all__ = ["CvNcvPath", "NcvPath"]
