"""The families: what the loss is, as the solver asks for it."""

from .binomial import Binomial
from .cox import Cox
from .family import Family as Family
from .gaussian import Gaussian
from .poisson import Poisson

FAMILIES = {
    family.name: family for family in (Gaussian(), Binomial(), Poisson(), Cox())
}
