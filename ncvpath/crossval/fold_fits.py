"""One fold: the path on its training rows, and predictions for the rows held out.

A fold is the full problem with weight zero on the rows held out, so that no fold copies
X; centre, scale and sd(y) are those of its training rows. Figures of columns, and the
products of a tall X, are derived from those of all rows where no digits are lost.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..matrices.design import standardized
from ..path import choose_lambdas
from ..solver.follow import follow
from ..solver.gram import GramCache
from ..solver.null_model import pose
from .measures import Judged

# The share of a column's square from which on products are derived, not computed.
THIN = 0.01


class FoldFit(NamedTuple):
    """What cross-validation keeps of a fold, at the L lambdas it reached."""

    judged: list[Judged]  # by the measures that judge folds
    converged: np.ndarray  # L, bool
    stopped: str | None  # why the last lambdas were not reached
    status: tuple[str, ...]  # L, how the work ended, in words
    predictions: np.ndarray | None  # rows held out x L, if they are needed
    center: np.ndarray | float  # L, what centres them where there is no intercept

    def centred(self, some):
        """Linear predictors (L x rows) of some held-out rows, as they are judged."""
        return (self.predictions[some] + self.center).T


class AllRows(NamedTuple):
    """Figures of all rows."""

    weights: np.ndarray  # n
    center: np.ndarray  # p
    scale: np.ndarray  # p, 0 where a column is constant
    products: np.ndarray | None  # p x p, of standardized columns, if X is tall


class Judge(NamedTuple):
    """How linear predictors are judged, and whether they are kept."""

    measure: object | None  # measures.py
    also: object | None  # another one, of which the mean is told
    keep: bool

    @property
    def by_fold(self):
        """The measures that judge each fold by itself."""
        both = (self.measure, self.also)
        return [each for each in both if each is not None and each.by_fold]

    @property
    def of_a_fold(self):
        """What a fold in another process needs: a measure that judges all folds is not
        for it, and need not be of a kind that travels."""
        return self if self.measure.by_fold else self._replace(measure=None, keep=True)


def fit_fold(data, settings, train, test, judge, matrix, tick, total):
    """Fit the rows in `train` at settings.lambdas; predict and judge `test`.

    `total` are figures of all rows, from which those of the fold are derived.
    """
    # The rows that would count if they were not held out.
    rows = np.flatnonzero(~train & (data.weights > 0))
    design = fold_design(data, settings, train, rows, matrix, total)
    products = fold_products(design, data, train, rows, total)
    own = replace(data, weights=design.weights)
    problem, state = pose(own, settings, design, products)
    del products
    path = follow(problem, state, *choose_lambdas(problem, settings), settings, tick)
    del state  # most of the memory
    predictions, center = predicted(test, problem, path, data.response.offset)
    fit = FoldFit(
        [], path.converged, path.stopped, path.status, predictions, center
    )
    counted = data.weights[test] > 0  # others may be anything
    eta = fit.centred(counted) if judge.by_fold else None
    for measure in judge.by_fold:
        fit.judged.append(
            measure.judge(data.response, data.weights, test[counted], eta)
        )
    needed = judge.keep or not judge.measure.by_fold
    return fit if needed else fit._replace(predictions=None)


def fold_design(data, settings, train, rows, matrix, total):
    """The design of the training rows."""
    weights = np.where(train, data.weights, 0.0)
    weights /= weights.sum()
    figures = matrix.measure_without(rows, total, weights, settings.centers)
    return standardized(matrix, weights, settings.standardize, *figures)


def fold_products(design, data, train, rows, total):
    """The Gram matrix of a fold of a tall design, from that of all rows, or None.

    With u the columns standardized by all rows, c their products, c_H those over the
    rows left out, W the weight of the others, d and s mean and scale of u over these,
    G = ((c - c_H) / W - d d') / (s s').
    """
    left = data.weights[train].sum()
    if total.products is None or left < THIN:
        return None
    scale = np.where(total.scale > 0, total.scale, 1.0)  # of constants: any
    over_rows = design.matrix.gram_of_rows(rows, data.weights, total.center, scale)
    out = total.products - over_rows
    out /= left
    shift = (design.center - total.center) / scale
    out -= np.outer(shift, shift)
    unit = np.where(design.constant, 1.0, design.scale / scale)
    out /= np.outer(unit, unit)
    # Where little is left of a column, so is of its digits.
    share = left * design.norm2 * unit**2
    thin = np.flatnonzero((share < THIN) & (total.scale > 0))
    if thin.size:
        out[:, thin] = design.gram(design.all_features, thin)
        out[thin] = out[:, thin].T
    return out


def all_rows(design, figures, settings):
    """What folds derive theirs from, and the products of the design's columns."""
    center, scale = figures
    if not (design.matrix.is_tall and settings.uses_products):
        return AllRows(design.weights, center, scale, None), None
    cache = GramCache(design)
    with np.errstate(over="ignore", invalid="ignore"):  # too large an X is refused soon
        cache.learn_all()
    products = standard = cache.array
    unit = design.scale / np.where(design.constant, 1.0, scale)
    if (unit != 1).any():
        standard = products * np.outer(unit, unit)
    return AllRows(design.weights, center, scale, standard), products


def predicted(rows, problem, path, offset):
    """Linear predictors of some rows of X, rows x lambdas, and what centres them.

    A family without intercept has X beta, whose mean over the training rows is taken
    away before predictors of different folds are compared.
    """
    used, place = np.unique(path.features, return_inverse=True)
    values, constant = problem.design.to_user_scale(
        path.features, path.values, path.ends,
        problem.likelihood.mean + path.intercept,
    )
    beta = np.zeros((used.size, path.lambdas.size))
    beta[place, np.repeat(np.arange(path.lambdas.size), np.diff(path.ends))] = values
    fitted = problem.design.matrix.predict(rows, used, beta)
    if offset is not None:
        fitted += offset[rows, None]
    if problem.likelihood.family.has_intercept:
        return fitted + constant, 0.0
    return fitted, constant
