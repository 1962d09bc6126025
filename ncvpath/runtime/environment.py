"""What this installation runs on, for bug reports."""

import platform
from importlib.metadata import PackageNotFoundError, version

from ..version import __version__
from .threads import available_cores

PACKAGES = (
    "numpy", "scipy", "numba", "pandas", "matplotlib", "threadpoolctl", "tqdm",
    "scikit-learn",
)


def show_versions() -> None:
    """Print the versions of Python, the system and the packages ncvpath uses.

    Examples
    --------
    >>> from ncvpath import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    python         ...
    """
    facts = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(available_cores()),
        "ncvpath": __version__,  # also of a checkout that nobody has installed
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    for name, value in facts.items():
        print(f"{name:<14} {value}")
