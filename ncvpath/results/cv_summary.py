"""Both rules of a cross-validation: a table that prints as ncvreg's summary does."""

import pandas as pd

from .printing import shape

RULES = {
    "min": "At minimum cross-validation error",
    "1se": "At the largest lambda within one standard error of it",
}
MEASURES = {"mse": "squared", "mae": "absolute"}
WIDTH = 68  # of a ruler
NEEDED = {"lambda", "nonzero", "cve", "cvse", "r2"}


class CvSummary(pd.DataFrame):
    """A DataFrame in all but its looks; what is made from it is a plain one."""

    def __repr__(self):
        facts = self.attrs
        if not NEEDED <= set(self.columns) or "measure" not in facts:
            return super().__repr__()  # changed in place
        lines = [
            f"{facts['penalty']}-penalized linear regression with n={facts['n']}, "
            f"p={facts['p']}{shape(facts['gamma'], facts['alpha'])}"
        ]
        for rule, row in self.iterrows():
            lines += [f"{RULES[rule]} (lambda={row['lambda']:.4g}):", "-" * WIDTH]
            lines += block(row, MEASURES[facts["measure"]])
        return "\n".join(lines)


def block(row, measure):
    """The lines of one rule."""
    lines = [
        f"  Nonzero coefficients: {row['nonzero']:.0f}",
        f"  Cross-validation error ({measure}): {row['cve']:.4g} "
        f"(standard error {row['cvse']:.4g})",
        f"  {'R-squared' if 'snr' in row else 'Fraction explained'}: {row['r2']:.2f}",
    ]
    if "snr" in row:
        lines += [
            f"  Signal-to-noise ratio: {row['snr']:.2f}",
            f"  Scale estimate (sigma): {row['sigma']:.4g}",
        ]
    return lines
