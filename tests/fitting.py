"""Public functions with another size at which certificates begin, and what they do
first."""

import inspect
from dataclasses import replace
from unittest import mock

import ncvpath
from ncvpath import cv, path
from ncvpath.inputs.data import OfRows, check_data
from ncvpath.inputs.settings import check_settings


def certifying(module, certify_from):
    """Settings of the module's function, with certificates from that size on."""
    check = module.check_settings
    return mock.patch.object(
        module, "check_settings",
        lambda **given: replace(check(**given), certify_from=certify_from),
    )


def fit(X, y, certify_from=0, **arguments):
    """`ncvpath()`, with certificates from that many numbers in X on."""
    with certifying(path, certify_from):
        return ncvpath.ncvpath(X, y, **arguments)


def cross_validate(X, y, certify_from=0, **arguments):
    """`cv_ncvpath()`, with certificates from that many numbers in X on."""
    with certifying(cv, certify_from):
        return ncvpath.cv_ncvpath(X, y, **arguments)


def settings_of(**options):
    """The settings of `ncvpath()` with these options."""
    defaults = {
        name: given.default
        for name, given in inspect.signature(ncvpath.ncvpath).parameters.items()
        if name not in ("X", "y", *cv.OF_THE_DATA)
    }
    return check_settings(**defaults | options)


def clean(X, y, weights=None, penalty_factor=None, settings=None):
    """The data of `ncvpath()`, as the solver gets them."""
    settings = settings or settings_of()
    return check_data(X, y, OfRows(weights), penalty_factor, settings)
