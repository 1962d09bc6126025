"""Race this version against another: `python -m benchmarks.versions ../other-checkout`.

Each version runs in a process of its own, on the same problems (this checkout's), in
turns. Printed are medians of seconds and of the ratios of neighbouring runs, and the
geometric mean of the latter: below one, this version is the faster one. `--cv` races
ten-fold cross-validation instead of paths, and prints the peak of memory beside it.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]
PROBLEMS = [
    "small", "chance", "chance-small", "blocks", "wide", "wider", "tall",
    "leukemia_golub", "riboflavin", "prostate_singh", "gwas_mice_bglr", "news20_3cat",
    "news20_comp5", "int8-file",
]
WORKER = """
import sys, time, warnings
from contextlib import nullcontext
sys.path.insert(0, {problems!r})
from benchmarks.memory import Watch
from benchmarks.versions import problem
sys.path.insert(0, {tree!r})
import ncvpath
assert ncvpath.__file__.startswith({tree!r}), ncvpath.__file__
warnings.simplefilter("ignore")

name = None
clock = time.process_time if {cpu} else time.perf_counter
for line in sys.stdin:
    wanted, penalty, cv, repeats = line.split()
    if wanted != name:
        name, X, y = wanted, *problem(wanted)
    settings = dict(penalty=penalty, lambda_min_ratio=0.05)
    if name == "small":
        settings = dict(penalty=penalty)
    # A thread that watches memory takes time of its own: beside folds only.
    with Watch() if cv == "cv" else nullcontext() as memory:
        start = clock()
        for _ in range(int(repeats)):
            if cv == "cv":
                ncvpath.cv_ncvpath(X, y, nfolds=10, random_state=1, **settings)
            else:
                ncvpath.ncvpath(X, y, **settings)
        spent = (clock() - start) / int(repeats)
    print(spent, memory.peak if memory else 0, flush=True)
"""


def problem(name):
    """X and y of a problem by name."""
    from .problems import PROBLEMS as DRAWN

    if name == "small":
        rng = np.random.default_rng(1)
        X = np.asfortranarray(rng.standard_normal((97, 8)))
        return X, X[:, :3].sum(axis=1) + rng.standard_normal(97)
    if name == "int8-file":
        import tempfile

        rng = np.random.default_rng(3)
        X = rng.integers(0, 3, (1000, 50_000)).astype(np.int8)
        file = np.memmap(
            Path(tempfile.mkdtemp()) / "X", np.int8, "w+", shape=X.shape, order="F"
        )
        file[:] = X
        y = X[:, :20] @ rng.choice([-1.0, 1.0], 20) + 3 * rng.standard_normal(1000)
        return file, y
    return DRAWN[name]()


def main():
    """Race, and print a line for each problem and penalty."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="a checkout of the other version")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=PROBLEMS)
    parser.add_argument(
        "--penalties", nargs="+", default=["lasso", "MCP", "SCAD", "logsum"]
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cv", action="store_true")
    parser.add_argument(
        "--cpu", action="store_true", help="processor time, where others work as well"
    )
    options = parser.parse_args()
    trees = [HERE, options.other.resolve()]
    logs = []
    for name in options.problems:
        workers = [start(tree, options.cpu) for tree in trees]
        for penalty in options.penalties:
            ask(workers, name, penalty, options.cv, 1)
            times = 100 if name == "small" else 1
            runs = np.array([
                ask(workers, name, penalty, options.cv, times)
                for _ in range(options.repeats)
            ])
            ratios = runs[:, 0, 0] / runs[:, 1, 0]
            seconds = np.median(runs[:, :, 0], axis=0)
            peaks = np.median(runs[:, :, 1], axis=0) / 1e6
            logs.append(np.log(np.median(ratios)))
            print(
                f"{name:15} {penalty:7} {seconds[0]:8.4f} s {seconds[1]:8.4f} s  ratio "
                f"{np.median(ratios):5.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
                + (f"  MB {peaks[0]:6.0f} {peaks[1]:6.0f}" if options.cv else ""),
                flush=True,
            )
        for worker in workers:
            worker.stdin.close()
            worker.wait()
    print(f"geometric mean {np.exp(np.mean(logs)):.3f}")


def start(tree, cpu):
    """A process that fits with the version in a tree."""
    code = WORKER.format(tree=str(tree), problems=str(HERE), cpu=cpu)
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, cwd="/",
    )


def ask(workers, name, penalty, cv, repeats):
    """Seconds and peak memory of each, one after the other."""
    answers = []
    for worker in workers:
        print(name, penalty, "cv" if cv else "path", repeats, file=worker.stdin,
              flush=True)
        answers.append([float(part) for part in worker.stdout.readline().split()])
    return answers


if __name__ == "__main__":
    main()
