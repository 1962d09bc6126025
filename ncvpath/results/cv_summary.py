"""Both rules of a cross-validation: a table that prints as ncvreg's summary does."""

import pandas as pd

from .measures import words_of
from .printing import MODELS, shape

BEST = {
    False: "At minimum cross-validation error",
    True: "At maximum cross-validated {}",
}
WITHIN = "At the largest lambda within one standard error of it"
WIDTH = 68  # of a ruler
NEEDED = {"lambda", "nonzero", "cve", "cvse", "r2"}


class CvSummary(pd.DataFrame):
    """A DataFrame in all but its looks; what is made from it is a plain one."""

    def __repr__(self):
        facts = self.attrs
        if not NEEDED <= set(self.columns) or "measure" not in facts:
            return super().__repr__()  # changed in place
        model = MODELS.get(facts["family"], facts["family"])
        words = words_of(facts["measure"], facts["family"])
        lines = [
            f"{facts['penalty']}-penalized {model} regression with n={facts['n']}, "
            f"p={facts['p']}{shape(facts['gamma'], facts['alpha'])}"
        ]
        rules = {"min": BEST[words.maximised].format(words.short), "1se": WITHIN}
        for rule, row in self.iterrows():
            lines += [f"{rules[rule]} (lambda={row['lambda']:.4g}):", "-" * WIDTH]
            lines += block(row, words)
        return "\n".join(lines)


def block(row, words):
    """The lines of one rule."""
    error = f"error ({words.short})"
    lines = [
        f"  Nonzero coefficients: {row['nonzero']:.0f}",
        f"  Cross-validat{f'ed {words.short}' if words.maximised else f'ion {error}'}: "
        f"{row['cve']:.4g} (standard error {row['cvse']:.4g})",
    ]
    if words.explained:
        share = "R-squared" if "snr" in row else "Fraction explained"
        lines.append(f"  {share}: {row['r2']:.2f}")
    names = {
        "snr": "Signal-to-noise ratio: {:.2f}",
        "sigma": "Scale estimate (sigma): {:.4g}",
        "pe": "Prediction error: {:.3f}",
    }
    return lines + [f"  {w.format(row[key])}" for key, w in names.items() if key in row]
