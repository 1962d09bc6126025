"""What this installation runs on, for bug reports."""

import platform
from importlib.metadata import PackageNotFoundError, version

from .threads import available_cores

PACKAGES = (
    "ncvpath", "numpy", "scipy", "numba", "pandas", "matplotlib", "threadpoolctl",
    "tqdm",
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
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    for name, value in facts.items():
        print(f"{name:<14} {value}")
