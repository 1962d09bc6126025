"""`ncvpath`, or `python -m ncvpath`: the embedded example; `fit` for your own data,
`predict` for new rows."""

import os
import sys
from pathlib import Path

from .cli.command import fit_command
from .cli.parsing import ANSWERED, Parser, program
from .cli.predict import predict_command
from .datasets import load_diabetes
from .path import ncvpath
from .runtime.announcing import ANNOUNCER
from .version import __version__

EXAMPLE = """\
The diabetes study of Efron et al. (2004): 442 patients, 10 measurements.
path = ncvpath(X, y, penalty="MCP")
cv = path.cross_validate(random_state=1)
"""
COMMANDS = {"fit": fit_command, "predict": predict_command}


def main(arguments=None):
    """Run the demo or a command; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if hasattr(sys.stdout, "reconfigure"):  # names may have letters a terminal lacks
        sys.stdout.reconfigure(errors="replace")
    try:
        if arguments == ["--version"]:
            print(f"ncvpath {__version__}")
            return 0
        with ANNOUNCER.waiting():
            if arguments[:1] and arguments[0] in COMMANDS:
                code = COMMANDS[arguments[0]](arguments[1:])
            else:
                code = demo_command(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print(f"\n{program()}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our tables has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def demo_command(arguments):
    """Parse the demo's options and run it; returns the exit code."""
    called = program()
    parser = Parser(
        prog=called, allow_abbrev=False,
        usage=f"{called} [--out DIR]\n       {called} fit FILE --response COLUMN "
        f"[options]\n       {called} predict MODEL FILE [options]",
        description="Fit and cross-validate the embedded example: tables on the "
        "terminal, coefficients as CSV, path and errors as pictures in a folder.",
        epilog=f"Version: {called} --version. Your own data: {called} fit data.csv "
        f"--response y --cv 10 --out results (all options: {called} fit --help), then "
        f"{called} predict results/model.npz new.csv",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("ncvpath-demo"), metavar="DIR",
        help="folder for the results (default: %(default)s)",
    )
    try:
        demo(parser.parse_args(arguments).out)
    except ANSWERED as error:
        parser.fail(error)
    return 0


def demo(folder):
    """Path, cross-validation, coefficients and pictures of the diabetes study."""
    from matplotlib.figure import Figure

    print(EXAMPLE, flush=True)
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
