"""`python -m ncvpath`: fit the embedded example and leave its results in a folder."""

import argparse
from pathlib import Path

from .datasets import load_diabetes
from .path import ncvpath

EXAMPLE = """\
The diabetes study of Efron et al. (2004): 442 patients, 10 measurements.
path = ncvpath(X, y, penalty="MCP")
"""


def main(arguments=None):
    """Run the demo; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m ncvpath",
        description="Fit the embedded example: a table on the terminal, coefficients "
        "as CSV and the path as a picture in a folder.",
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
    """Path, table, coefficients and picture of the diabetes study."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_diabetes()
    path = ncvpath(X, y, penalty="MCP")
    path.to_frame("wide").to_csv(folder / "coefficients.csv")
    path.summary().to_csv(folder / "path.csv", index=False)
    figure = Figure(figsize=(8, 5.2), layout="constrained")
    path.plot(ax=figure.subplots())
    figure.savefig(folder / "path.png", dpi=150)
    print(EXAMPLE)
    print(path)
    chosen = path.select("bic")
    print(f"\nCoefficients at lambda={chosen:.4g}, the best BIC:\n")
    print(path.coef(lam=chosen).loc[lambda b: b != 0].to_string(float_format="%.4f"))
    print("\nWritten:")
    for name in ("coefficients.csv", "path.csv", "path.png"):
        print(f"  {folder / name}")


if __name__ == "__main__":
    raise SystemExit(main())
