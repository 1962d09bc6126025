"""Memory and time of a path whose X is on disk: `python -m benchmarks.disk`.

Genotypes (0, 1, 2 as int8, correlated along the chromosome) in a file that is mapped
column after column or row after row. Anonymous memory is what the process holds beside
the pages of mapped files; it is sampled while the path is fitted, after a small fit to
load and compile everything.
"""

import argparse
import tempfile
import threading
from pathlib import Path
from time import perf_counter

import numpy as np

from ncvpath import ncvpath

MEGABYTE = 1 << 20


def anonymous():
    """Anonymous memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    return 0


class Peak:
    """The largest anonymous memory while the block runs."""

    def __enter__(self):
        self.start = self.most = anonymous()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        """Look again and again."""
        while not self.over.wait(0.005):
            self.most = max(self.most, anonymous())

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.most = max(self.most, anonymous())


def write_genotypes(file, n, p, order, seed=1):
    """Fill a file with genotypes, a stretch of columns at a time; returns y."""
    rng = np.random.default_rng(seed)
    X = np.memmap(file, np.int8, "w+", shape=(n, p), order=order)
    y, noise = np.zeros(n), rng.standard_normal(n)
    carried = rng.standard_normal((n, 2))
    for left in range(0, p, 1000):
        width = min(1000, p - left)
        frequency = rng.uniform(0.05, 0.5, width)
        block = np.empty((n, width), dtype=np.int8)
        for j in range(width):
            carried = 0.9 * carried + np.sqrt(0.19) * rng.standard_normal((n, 2))
            block[:, j] = (carried < np.quantile(carried, frequency[j])).sum(axis=1)
        X[:, left : left + width] = block
        if left % 10_000 == 0:
            y += rng.choice([-1.0, 1.0]) * block[:, 0]
    X.flush()
    return y + noise * y.std()


def report(folder, n, p, order, options):
    """One fit, with its memory and time."""
    file = Path(folder) / f"genotypes-{order}"
    y = write_genotypes(file, n, p, order)
    X = np.memmap(file, np.int8, "r", shape=(n, p), order=order)
    ncvpath(X[:, : max(2 * 2_000_000 // n, 10)], y, nlambda=3)
    start = perf_counter()
    with Peak() as peak:
        path = ncvpath(X, y, **options)
    seconds = perf_counter() - start
    print(
        f"{n} x {p} int8, {order} order, {path.penalty}: {seconds:.1f} s, anonymous "
        f"memory at most {peak.most / MEGABYTE:.0f} MB "
        f"({peak.start / MEGABYTE:.0f} MB before), file {X.nbytes / MEGABYTE:.0f} MB, "
        f"{path.converged.sum()} of {path.lambdas.size} lambdas certified, worst "
        f"violation {path.violation.max():.1e}, df {path.df[-1]}, "
        f"{path.screening['checked'].sum() / p:.1f} passes",
        flush=True,
    )


def main():
    """Fit as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--cols", type=int, default=200_000)
    parser.add_argument("--penalty", default="MCP")
    parser.add_argument("--orders", default="FC")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for order in asked.orders:
            report(folder, asked.rows, asked.cols, order, dict(penalty=asked.penalty))


if __name__ == "__main__":
    main()
