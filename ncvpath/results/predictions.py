"""What a path says about rows: predictions and residuals, by family."""

from dataclasses import replace

import numpy as np

from ..families import FAMILIES
from ..families.response import Response
from ..inputs.checks import dimensions, finite, number, one_of, one_per_row, vector
from ..inputs.frames import index_of
from ..inputs.labels import label_codes
from ..inputs.response import check_numbers, check_response
from ..runtime.loading import package
from ..runtime.messages import brief


def family_of(path):
    """The family behind its name, or the user's own."""
    return FAMILIES[path.family] if isinstance(path.family, str) else path.family


def family_name(path):
    """The name of the family."""
    return path.family if isinstance(path.family, str) else path.family.name


# ---- predictions -------------------------------------------------------------------


def predicted(path, X, link, type, mix, strata):
    """What `type` says of linear predictors, rows or rows x K. See NcvPath.predict."""
    family = family_of(path)
    if type == "link":
        return link
    if type == "response":
        return family.mean(link)
    if type == "class":
        return label_vector(path.classes)[family.is_event(link).astype(int)]
    codes = stratum_codes(path, strata, len(link))
    baseline = path.baseline.at(mix)
    columns = link.reshape(len(link), -1)
    if type == "median":
        return baseline.median(columns, codes).reshape(link.shape)
    return survival_table(*baseline.survival(columns, codes), index_of(X))


def check_type(path, type, single):
    """One of what the family can predict, and what this path can."""
    family = family_of(path)
    if not isinstance(type, str) or type not in family.predict_types:
        raise ValueError(
            f"type must be one of {', '.join(family.predict_types)} with "
            f"family={family.name!r}; got type={brief(type)}"
        )
    if type == "class" and path.classes is None:
        raise ValueError(
            "type must be response or link where y was proportions, or counts without "
            "names, which have no classes; got type='class'"
        )
    if type == "survival" and not single:
        raise ValueError(
            "lam must be one number with type='survival', whose answer is a table of "
            "times and rows; got several lambdas"
        )


def check_offset(path, offset, rows):
    """A number or one for each row, if the path has an offset; else whatever is given.

    What was fitted beside it means nothing without one.
    """
    if offset is None:
        if path.offset is not None:
            raise ValueError(
                "offset must be given for new rows, as this path was fitted with one; "
                "got none (offset=0 leaves it out)"
            )
        return 0.0
    if dimensions("offset", offset) == 0:
        return number("offset", offset)
    offset = vector("offset", offset)
    one_per_row("offset", "value per row of X", offset.size, rows)
    finite("offset", offset)
    return offset


def stratum_codes(path, strata, rows):
    """The place of each row's stratum among those of the fit."""
    if path.strata is None:
        if strata is not None:
            raise ValueError(
                "strata must not be given, as this path was fitted without strata; got "
                f"strata={brief(strata)}"
            )
        return np.zeros(rows, int)
    if strata is None:
        raise ValueError(
            "strata must be given, as this path was fitted with strata, each with a "
            "baseline of its own; got none"
        )
    if isinstance(strata, str) or np.ndim(strata) == 0:
        strata = [strata] * rows
    codes, labels = label_codes("strata", strata, rows)
    places = [place_of("strata", label, path.baseline.labels) for label in labels]
    return np.array(places)[codes]


def place_of(name, label, known):
    """Where a label is among those of the fit."""
    if label not in known:
        raise ValueError(
            f"{name} must be those of the fit, {', '.join(map(brief, known[:8]))}; got "
            f"{brief(label)}"
        )
    return known.index(label)


def label_vector(labels):
    """Labels of one kind, or of several, which numpy would turn into text."""
    alike = len({type(label) for label in labels}) == 1
    return np.array(labels, None if alike else object)


def survival_table(times, curves, index):
    """Times by rows, from the beginning, when all are there."""
    pd = package("pandas")

    values = curves[:, :, 0]
    if times[0] > 0:
        times = np.append(0.0, times)
        values = np.vstack([np.ones((1, values.shape[1])), values])
    columns = pd.RangeIndex(values.shape[1]) if index is None else index
    return pd.DataFrame(values, index=pd.Index(times, name="time"), columns=columns)


# ---- residuals ---------------------------------------------------------------------


def residual_types(family):
    """Those that are asked for by name; the first is the default."""
    return ("deviance", "martingale" if family.form == "survival" else "response")


def residuals(path, link, type, y, strata, weights):
    """Of linear predictors (rows, or rows x K); y as the user has it; weights may be
    None."""
    family, columns = family_of(path), link.reshape(len(link), -1).T
    one_of("type", type, residual_types(family))
    response = read_again(path, y, len(link), strata)
    if family.form == "survival":
        found = martingale(family, response, columns, weights)
        if type == "deviance":
            found = deviance_of(found, response.y)
    elif type == "response" or family.is_quadratic:
        found = response.y - family.mean(columns)
    else:
        found = family.deviance_residual(response.y, columns)
        if response.trials is not None:
            found *= np.sqrt(response.trials)
    return found.T.reshape(link.shape)


def read_again(path, y, rows, strata):
    """The response, its labels those of the fit."""
    family = family_of(path)
    counts = family.form == "class" and np.ndim(y) == 2 and np.shape(y)[1] == 2
    if family.form == "survival" or counts:
        return check_response(family, y, None, strata, path.ties, rows)
    if path.classes is None:
        y = check_numbers(y, rows)
        family.check(y)
        return Response(y)
    codes, labels = label_codes("y", y, rows)
    places = [place_of("y", label, path.classes) for label in labels]
    return Response(np.array(places, dtype=float)[codes], classes=path.classes)


def martingale(family, response, eta, weights):
    """Events less what was expected of each row, among the rows that are here."""
    own = np.ones(response.y.size) if weights is None else weights
    likelihood = family.bind(replace(response, offset=None), own / own.sum(), False)
    return likelihood.residual(eta)


def deviance_of(martingale, events):
    """The root of -2 (m + d log(d - m)), with the sign of m."""
    expected = events - martingale
    logs = events * np.log(np.where(events > 0, expected, 1.0))
    return np.copysign(np.sqrt(np.maximum(-2 * (martingale + logs), 0)), martingale)
