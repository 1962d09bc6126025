"""Paths as pandas tables, and what a table says of where it comes from."""

import numpy as np

from ..runtime.loading import package
from .predictions import family_name, family_of

INTERCEPT = "(Intercept)"
FACTS = ("penalty", "gamma", "alpha", "n", "p", "tol", "convex_min", "stopped")


def facts(path):
    """What was fitted, for a table's `attrs`: small, and what JSON has.

    pandas copies it with the table, and writes it into Parquet files.
    """
    found = {name: plain(getattr(path, name)) for name in FACTS}
    own = {"family": family_name(path), "intercept": bool(path.has_intercept)}
    return found | own


def plain(value):
    """A number as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def long_table(path, zeros):
    """One row per coefficient. See NcvPath.to_frame."""
    pd = package("pandas")

    p, size = path.beta.shape
    if zeros:
        feature, each = np.tile(np.arange(p), size), np.full(size, p)
        values = path.beta.toarray().ravel(order="F")
    else:
        feature, each, values = path.beta.indices, path.df, path.beta.data
    if path.has_intercept or (zeros and family_of(path).has_intercept):
        # The intercept leads each lambda's rows, as in R's tidy tables.
        first = np.cumsum(each) - each
        feature = np.insert(feature, first, -1)
        values = np.insert(values, first, path.intercept)
        each = each + 1
    k = np.repeat(np.arange(size), each)
    # Two features cannot share a name, but one may be called as the intercept is.
    codes, names = pd.factorize(pd.Index([INTERCEPT, *path.feature_names]))
    return pd.DataFrame(
        {
            "feature": pd.Categorical.from_codes(codes[feature + 1], categories=names),
            "lambda": path.lambdas[k],
            "coefficient": values,
            "df": path.df[k],
            "dev_ratio": path.dev_ratio[k],
        },
        copy=False,
    )


def sparse_table(intercept, beta, rows, columns):
    """A table of sparse columns, the intercept in the first row, if it has one."""
    pd = package("pandas")
    from scipy.sparse import csc_array

    if not len(intercept):
        return pd.DataFrame.sparse.from_spmatrix(beta, index=rows, columns=columns)
    first = beta.indptr[:-1]
    values = csc_array(
        (
            np.insert(beta.data, first, intercept[0]),
            np.insert(beta.indices + 1, first, 0),
            beta.indptr + np.arange(beta.indptr.size, dtype=beta.indptr.dtype),
        ),
        shape=(beta.shape[0] + 1, beta.shape[1]),
    )
    return pd.DataFrame.sparse.from_spmatrix(values, index=rows, columns=columns)
