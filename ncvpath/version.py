"""The version of the package: what was saved or pickled says which one wrote it."""

__version__ = "0.2.0.dev0"
