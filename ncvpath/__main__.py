"""`python -m ncvpath`: fit the embedded example and leave its results in a folder."""

import argparse
from pathlib import Path

from .datasets import load_diabetes
from .path import ncvpath

EXAMPLE = """\
The diabetes study of Efron et al. (2004): 442 patients, 10 measurements.
path = ncvpath(X, y, penalty="MCP")
cv = path.cross_validate(random_state=1)
"""


def main(arguments=None):
    """Run the demo; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m ncvpath",
        description="Fit and cross-validate the embedded example: tables on the "
        "terminal, coefficients as CSV, path and errors as pictures in a folder.",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("ncvpath-demo"), metavar="DIR",
        help="folder for the results (default: %(default)s)",
    )
    try:
        demo(parser.parse_args(arguments).out)
    except OSError as error:
        parser.exit(2, f"python -m ncvpath: {error}\n")
    return 0


def demo(folder):
    """Path, cross-validation, coefficients and pictures of the diabetes study."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_diabetes()
    path = ncvpath(X, y, penalty="MCP")
    path.to_frame("wide").to_csv(folder / "coefficients.csv")
    path.summary().to_csv(folder / "path.csv", index=False)
    cv = path.cross_validate(random_state=1)
    cv.to_frame().to_csv(folder / "cv.csv")
    for name, result in (("path", path), ("cv", cv)):
        figure = Figure(figsize=(8, 5.2), layout="constrained")
        result.plot(ax=figure.subplots())
        figure.savefig(folder / f"{name}.png", dpi=150)
    print(EXAMPLE)
    print(path)
    print(f"\n{cv}")
    chosen = path.select("bic")
    print(f"\nCoefficients at lambda={chosen:.4g}, the best BIC:\n")
    print(path.coef(lam=chosen).loc[lambda b: b != 0].to_string(float_format="%.4f"))
    print("\nWritten:")
    for name in ("coefficients.csv", "path.csv", "cv.csv", "path.png", "cv.png"):
        print(f"  {folder / name}")


if __name__ == "__main__":
    raise SystemExit(main())
