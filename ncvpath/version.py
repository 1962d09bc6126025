"""The version of the package: what was saved or pickled says which one wrote it."""

__version__ = "0.1.0"
