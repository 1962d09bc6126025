"""How often is the path's model the best one? `python -m benchmarks.global_minima`.

A nonconvex objective has several stationary points, and a path follows one of them.
With XX
The columns of the table: how many models on the paths are global minima; how many paths
consist of such; the same for models where the whole objective is convex; and for those
up to `convex_min`, where it is convex on the features in use.
"""

import argparse
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter

from ncvpath import NcvPath, ncvpath
from ncvpath.penalties import ROWS, shaped

POINTS = 41  # of the grid, along each feature, and zero
STARTS = 6  # local minima of the grid that are polished, lowest first
HALVINGS = 18  # of the pattern's step
SAME = 1e-7  # objectives this close, as a share of that of zero, are the same
NLAMBDA, RATIO = 12, 0.02
# Beside the default of each penalty, a gamma near its limit.
SHARP = {"MCP": 1.2, "SCAD": 2.2, "logsum": 0.05, "capped": 0.6}


class Outcome(NamedTuple):
    """One path beside the best there is, lambda by lambda."""

    path: NcvPath
    excess: np.ndarray  # of the objective above the best, as a share of that of zero
    convex: np.ndarray  # bool: the whole objective is convex
    locally: np.ndarray  # bool: up to convex_min


def main(arguments=None):
    """Draw, search, print the table of shares."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.global_minima", description=__doc__
    )
    parser.add_argument("--problems", type=int, default=300, help="for each row")
    options = parser.parse_args(arguments)
    print("| penalty | gamma | lambdas | paths | convex | up to convex_min |")
    print("|---|---|---|---|---|---|")
    for row in ROWS:
        for gamma in gammas(row):
            found = [compared(row, gamma, seed) for seed in range(options.problems)]
            print(line(row, gamma, found), flush=True)


def gammas(row):
    """The default of a penalty, and its sharp one."""
    return (row.gamma, SHARP[row.name]) if row.name in SHARP else (row.gamma,)


def line(row, gamma, found):
    """Shares of global minima: of lambdas, of whole paths, and in convex regions."""
    best = np.concatenate([one.excess <= SAME for one in found])
    paths = np.mean([(one.excess <= SAME).all() for one in found])
    cells = [f"{best.mean():.1%}", f"{paths:.1%}"]
    for region in ("convex", "locally"):
        inside = np.concatenate([getattr(one, region) for one in found])
        cells.append(f"{best[inside].mean():.1%}" if inside.any() else "-")
    gamma = "" if gamma is None else f"{gamma:g}"
    return f"| {row.name} | {gamma} | " + " | ".join(cells) + " |"


def drawn(seed):
    """One to three correlated columns and a noisy response."""
    rng = np.random.default_rng(seed)
    n, p = 40, 1 + seed % 3
    common = rng.uniform(0, 2)
    X = rng.standard_normal((n, p)) + common * rng.standard_normal((n, 1))
    X *= rng.choice([-1.0, 1.0], p)
    signal = X @ rng.standard_normal(p)
    return X, signal + rng.uniform(0.1, 2) * signal.std() * rng.standard_normal(n)


def compared(row, gamma, seed, alpha=1.0):
    """The path of one problem and the best objective at each of its lambdas."""
    X, y = drawn(seed)
    settings = {} if gamma is None else {"gamma": gamma}
    path = ncvpath(
        X, y, penalty=row.name, alpha=alpha, nlambda=NLAMBDA, lambda_min_ratio=RATIO,
        tol=1e-9, **settings,
    )
    small = Small(X, y, row, gamma, alpha)
    best = small.lowest(path.lambdas)
    # None: all of it, if it is defined at all.
    edge = path.lambdas.size if path.convex_min is None else path.convex_min + 1
    known = row.concavity is not None or row.name == "lasso"
    return Outcome(
        path, (path.objective - best) / small.half_square,
        small.is_convex(path.lambdas), (np.arange(path.lambdas.size) < edge) & known,
    )


class Small:
    """The objective of a few standardized features."""

    def __init__(self, X, y, row, gamma, alpha):
        n = len(y)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        self.gram, self.c = Z.T @ Z / n, Z.T @ (y - y.mean()) / n
        self.half_square, self.alpha, self.row = 0.5 * y.var(), alpha, row
        self.shape = shaped(row, gamma, y.std()).shape

    def is_convex(self, lambdas):
        """Whether everything is convex: the flattest direction is steeper than any
        penalty is concave."""
        flattest = np.linalg.eigvalsh(self.gram)[0] + lambdas * (1 - self.alpha)
        if self.row.concavity is None:
            return np.full(lambdas.size, self.row.name == "lasso")
        return flattest > self.row.concavity(lambdas * self.alpha, self.shape)

    def smooth(self, b):
        """Half the mean square of the residual; features along the last axis."""
        return self.half_square + (0.5 * b @ self.gram * b - self.c * b).sum(axis=-1)

    def penalty(self, b, lambdas):
        """Both penalties of single coefficients."""
        sparse = self.row.value(np.abs(b), lambdas * self.alpha, self.shape)
        return sparse + 0.5 * lambdas * (1 - self.alpha) * b**2

    def axes(self):
        """Grid values of each feature.

        Where the objective is no higher than at zero, the residual is no longer than
        y, and b is in the ellipsoid (b - s)'G(b - s) <= s'Gs around least squares s.
        """
        inverse = np.linalg.inv(self.gram)
        s = inverse @ self.c
        reach = np.sqrt(inverse.diagonal() * (s @ self.c))
        ends = zip(s - reach, s + reach)
        return [np.unique(np.r_[0.0, np.linspace(*end, POINTS)]) for end in ends]

    def lowest(self, lambdas):
        """The lowest objective at each lambda."""
        axes = self.axes()
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        smooth, steps = self.smooth(points), [np.diff(a).max() for a in axes]
        subsets = self.subset_fits()
        starts, levels = [], []
        for k, lam in enumerate(lambdas):
            height = smooth + sum(np.ix_(*(self.penalty(a, lam) for a in axes)))
            # On ties every point of a plateau counts.
            bottom = np.argwhere(height == minimum_filter(height, size=3))
            order = np.argsort(height[tuple(bottom.T)], kind="stable")[:STARTS]
            starts += [subsets, points[tuple(bottom[order].T)]]
            levels.append(np.full(len(subsets) + order.size, k))
        levels = np.concatenate(levels)
        heights = self.polished(np.concatenate(starts), lambdas[levels], steps)
        return np.array([heights[levels == k].min() for k in range(lambdas.size)])

    def subset_fits(self):
        """Least squares on every subset of the features."""
        p = self.c.size
        fits = []
        for chosen in product((False, True), repeat=p):
            b, used = np.zeros(p), np.array(chosen)
            b[used] = np.linalg.solve(self.gram[np.ix_(used, used)], self.c[used])
            fits.append(b)
        return np.array(fits)

    def polished(self, b, lambdas, steps):
        """Heights of nearby minima, by a pattern search from each row of b."""
        # NaN stands for zero, where a penalty has its corner.
        pattern = np.array(list(product((-1, 0, 1, np.nan), repeat=self.c.size)))
        pattern, step = pattern * steps, np.ones(len(b))
        lowest, busy = np.empty(len(b)), np.arange(len(b))
        while busy.size:
            around = np.nan_to_num(b[busy, None] + step[busy, None, None] * pattern)
            height = self.smooth(around)
            height += self.penalty(around, lambdas[busy, None, None]).sum(axis=-1)
            best = height.argmin(axis=1)
            rows = np.arange(busy.size)
            new, lowest[busy] = around[rows, best], height[rows, best]
            stays = (new == b[busy]).all(axis=1)
            b[busy] = new
            step[busy[stays]] *= 0.5
            busy = busy[step[busy] > 0.5**HALVINGS]
        return lowest


if __name__ == "__main__":
    main()
