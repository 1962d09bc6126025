"""Least squares without penalty, on the columns themselves."""

import numpy as np

EPS = np.finfo(float).eps


def off_center(design, features):
    """What the rounding of their centres leaves in columns."""
    return 0.5 * EPS * np.abs(design.center[features]) / design.scale[features]


def least_squares(design, response, features):
    """Coefficients of unpenalised features, and whether no others do as well: as far
    as the smallest singular value's square can be told from rounding."""
    root, length = np.sqrt(design.weights), design.length[features]
    columns = design.columns(features) / length * root[:, None]
    # Entries of X are known to their last place: what is smaller has no direction.
    known = max(columns.shape) * EPS
    known += 2 * np.sqrt(features.size) * (off_center(design, features) / length).max()
    found, _, _, values = np.linalg.lstsq(columns, response * root, known)
    unique = values[-1] ** 2 > 8 * EPS * features.size * values[0] ** 2
    return found / length, features.size <= design.n and unique


def shortest_step(design, residual, features, tol):
    """The shortest change of coefficients after which no correlation of the residual
    with these features exceeds tol: directions in which X hardly varies are left alone.
    """
    root, length = np.sqrt(design.weights), design.length[features]
    columns = design.columns(features) / length * root[:, None]
    left, values, right = np.linalg.svd(columns, full_matrices=False)
    along = left.T @ (residual * root)
    # What is left out adds up to tol / 2 at most.
    sizes = values * np.abs(along) * length.max()
    used = sizes > 0.5 * tol / np.sqrt(max(values.size, 1))
    return (along[used] / values[used]) @ right[used] / length
