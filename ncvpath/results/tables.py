"""Paths as pandas tables, and what a table says of where it comes from."""

import numpy as np

from ..runtime.loading import package
from .predictions import family_name, family_of

INTERCEPT = "(Intercept)"
SPARSE_CELLS = 10_000_000  # coefficient tables above this many cells stay sparse
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


def spread_in_words(path):
    """What the columns of a path are measured in: they are not always centred."""
    centred = path.has_intercept or not family_of(path).has_intercept
    return "standard deviation" if centred else "root mean square"


def per_deviation(path):
    """Coefficients per standard deviation of their columns, p x L."""
    from scipy.sparse import csc_array

    if path.spread is None:
        raise ValueError(
            "standardized must be False, as this path was stored by a version of "
            "ncvpath that kept no standard deviations; fit again to have them"
        )
    beta = path.beta
    values = beta.data * path.spread[beta.indices]
    return csc_array((values, beta.indices, beta.indptr), shape=beta.shape)


def coefficients(path, intercept, beta, lambdas, single):
    """A Series of one lambda, or a table of several. See NcvPath.coef."""
    pd = package("pandas")

    first = intercept[None] if family_of(path).has_intercept else intercept[None][:0]
    names = [INTERCEPT] * len(first) + list(path.feature_names)
    rows, columns = pd.Index(names), pd.Index(lambdas, name="lambda")
    if single:
        values = np.append(first[:, 0], beta.toarray()[:, 0])
        return pd.Series(values, index=rows, name=float(lambdas[0]))
    if beta.shape[0] * beta.shape[1] <= SPARSE_CELLS:
        values = np.vstack([first, beta.toarray()])
        return pd.DataFrame(values, index=rows, columns=columns)
    return sparse_table(first, beta, rows, columns)


def long_table(path, zeros):
    """One row per coefficient. See NcvPath.to_frame."""
    pd = package("pandas")

    p, size = path.beta.shape
    if zeros:
        feature, each = np.tile(np.arange(p), size), np.full(size, p)
        values = path.beta.toarray().ravel(order="F")
    else:
        feature, each, values = path.beta.indices, path.df, path.beta.data.copy()
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

    if len(intercept):
        first = beta.indptr[:-1]
        beta = csc_array(
            (
                np.insert(beta.data, first, intercept[0]),
                np.insert(beta.indices + 1, first, 0),
                beta.indptr + np.arange(beta.indptr.size, dtype=beta.indptr.dtype),
            ),
            shape=(beta.shape[0] + 1, beta.shape[1]),
        )
    # DataFrame.sparse.from_spmatrix of pandas 3 takes what is absent for missing.
    column = pd.arrays.SparseArray.from_spmatrix
    parts = {k: column(beta[:, [k]]) for k in range(columns.size)}
    return pd.DataFrame(parts, index=rows, copy=False).set_axis(columns, axis=1)
