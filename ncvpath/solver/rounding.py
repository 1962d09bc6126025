"""What rounding allows: how exactly violations and objectives can be known.

A violation is a difference of larger numbers: of the response and of each feature's
share in the fit. And a centre is off by half a unit in its last place, so that columns
keep a little of the constant, which meets that of others.
"""

from dataclasses import dataclass

import numpy as np

from ..matrices.least_squares import EPS, off_center

# Rounding in a violation, as a share of |x_j| times what is subtracted; and how many
# times as much it may be when all goes wrong.
IN_VIOLATIONS = 2 * EPS
AT_WORST = 5e3


@dataclass(frozen=True)
class Rounding:
    """The constants of one design; made once for a fit."""

    spread: float  # root mean square of the response, or of what scores are made of
    max_length: float  # of |x_j|
    unit: float  # of a violation, per term subtracted
    per_size: np.ndarray  # p, of a violation, per unit of |beta_j|

    def in_violations(self, features, beta):
        """What rounding does to a violation, for each row of beta."""
        with np.errstate(over="ignore", invalid="ignore"):  # runaway coefficients
            return self.unit * self.spread + np.abs(beta) @ self.per_size[features]

    def in_objective(self, in_violations):
        """What of the objective rounding hides, at least: half the square of what it
        does to the residual.

        Coefficients that have run away may seem to leave nothing of the response.
        """
        with np.errstate(over="ignore"):
            return 0.5 * (in_violations / self.max_length) ** 2


def measure_rounding(design, spread, live):
    """The rounding of a design whose `live` features may enter."""
    off = off_center(design, design.all_features)
    longest = design.length[live].max(initial=0.0)
    unit = IN_VIOLATIONS * design.cancellation * longest
    # The constant that the rounding of a centre leaves in x_j meets that of others.
    left = off * off[live].max(initial=0.0)
    return Rounding(spread, longest, unit, unit * design.length + left)
