"""The families as a table."""

from ..runtime.loading import package
from . import FAMILIES


def families():
    """The families and what belongs to them, as a pandas DataFrame.

    Examples
    --------
    >>> from ncvpath import families
    >>> families()["measures"]["binomial"]
    'deviance, class, brier, mae, auc'
    """
    pd = package("pandas")

    rows = FAMILIES.values()
    return pd.DataFrame(
        {
            "y": [row.response for row in rows],
            "predict": [", ".join(row.predict_types) for row in rows],
            "measures": [", ".join(row.measure_names) for row in rows],
            "intercept": [row.has_intercept for row in rows],
            "rescale": [not row.is_quadratic for row in rows],
        },
        index=pd.Index(list(FAMILIES), name="family"),
    )
