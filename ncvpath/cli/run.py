"""A fit from the command line, as report and terminal tell of it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..results import CvNcvPath, NcvPath
from ..results.printing import MODELS, counted, some, unconverged
from ..runtime.loading import package
from .data_files import Roles, Study
from .words import translated


@dataclass(frozen=True)
class Run:
    """A fit from the command line: where it came from and what it found."""

    file: Path
    roles: Roles
    study: Study
    path: NcvPath
    cv: CvNcvPath | None
    remarks: list[str]  # warnings of the fit, those of convergence apart
    code: str  # the Python that does the same
    command: str
    reasons: tuple[str, ...]  # why fits did not converge

    def header(self):
        """Size and response."""
        words = (
            f"{self.path.n} rows, {counted(self.path.p, 'feature')}, "
            f"response {self.roles.outcome}"
        )
        if self.path.family != "gaussian":
            words += f", {MODELS[self.path.family]} regression{event(self)}"
        if self.study.omitted:
            left_out = counted(self.study.omitted, "row")
            words += f"; {left_out} with missing values left out"
        if self.study.encoded:
            words += f"; encoded: {some(tuple(self.study.encoded))}"
        return words

    def choices(self):
        """Names of the lambdas that were chosen, and their positions."""
        if self.cv is None:
            return {"bic": int(np.argmin(self.path.bic()))}
        found = {"lambda_min": self.cv.index_min, "lambda_1se": self.cv.index_1se}
        return {name: k for name, k in found.items() if k is not None}

    def selected(self):
        """Coefficients of the chosen models, those of most effect first."""
        pd = package("pandas")

        positions = self.choices()
        beta = self.path.beta[:, list(positions.values())]
        used = np.unique(beta.indices)
        values = beta[used].toarray()
        spread = self.path.spread[used]  # as in the picture
        effect = np.abs(values).max(axis=1, initial=0) * spread
        order = np.argsort(-effect, kind="stable")
        names = [self.path.feature_names[j] for j in used[order]]
        table = pd.DataFrame(
            np.vstack([self.path.intercept[list(positions.values())], values[order]]),
            index=pd.Index(["(Intercept)", *names], name="feature"),
            columns=list(positions),
        )
        table["sd"] = [np.nan, *spread[order]]
        return table.iloc[1:] if self.path.family == "cox" else table

    def unconverged(self):
        """Which lambdas did not converge, in words, or None."""
        missed = unconverged(self.path.converged, "lambdas")
        if self.cv is not None:
            missed += unconverged(self.cv.converged, "fits in folds")
        if not missed:
            return None
        return (
            f"{' and '.join(missed)} did not reach tol={self.path.tol:g} (column "
            f"converged of path.csv): {translated('; '.join(self.reasons))}."
        )


def event(run):
    """What is explained of two classes or of survival times, in words."""
    if run.path.family == "cox":
        return f" with {counted(events(run), 'event')}"
    if run.path.trials is not None:
        return f" of {run.roles.successes} among {run.path.trials:g} trials"
    if run.path.classes is not None:
        return f" of {run.roles.outcome}={run.path.classes[1]}"
    return ""


def events(run):
    """How many events there are among survival times."""
    return int(run.study.y["status"].sum())


def outcome(run):
    """The response in a few figures."""
    y, path = run.study.y, run.path
    if path.family == "cox":
        times = y[run.roles.outcomes[run.roles.time]]
        low, high = times.min(), times.max()
        found = counted(events(run), "event")
        return f"{found} ({run.roles.status}), times {low:g} to {high:g}"
    if path.trials is not None:
        return " and ".join(f"{y[name].sum():g} {name}" for name in y)
    if path.classes is not None:
        return " and ".join(f"{(y == name).sum()} rows {name}" for name in path.classes)
    return f"mean {y.mean():.4g}, standard deviation {y.std():.4g}"
