"""Public functions with another size at which certificates begin."""

from dataclasses import replace
from unittest import mock

import ncvpath
from ncvpath import cv, path


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
