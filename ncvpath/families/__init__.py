"""The families: what the loss is, as the solver asks for it."""

from .gaussian import Gaussian

FAMILIES = {family.name: family for family in (Gaussian(),)}
