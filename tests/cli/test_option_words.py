"""What `ncvpath()` says of its arguments, as options."""

import pytest

from ncvpath.cli.options import fit_parser
from ncvpath.cli.predict import predict_parser
from ncvpath.cli.words import OPTIONS, in_options, translated
from ncvpath.solver.finished import Status

SAID = {
    "nfolds must be at most the number of rows; got nfolds=9":
        "--cv must be at most the number of rows; got --cv 9",
    "lambda_min_ratio must be less than 1; got lambda_min_ratio=2":
        "--lambda-min-ratio must be less than 1; got --lambda-min-ratio 2",
    "search must be forward with penalty='lasso', which":
        "--search must be forward with --penalty lasso, which",
    "with rescale=True, the default with family='cox': any with rescale=False":
        "without --no-rescale, the default with --family cox: any with --no-rescale",
    "y must vary when intercept=True": "y must vary without --no-intercept",
    "lam must be within the path": "--lambda must be within the path",
    "dfmax or a larger lambda_min_ratio keep models smaller":
        "--dfmax or a larger --lambda-min-ratio keep models smaller",
    "columns 'alpha=1' and 'type must'": "columns 'alpha=1' and 'type must'",
    "for two classes say family='binomial'": "for two classes say --family binomial",
    "folds must leave both classes": "folds must leave both classes",
    "--alpha must be one number": "--alpha must be one number",
    Status.MAX_EPOCHS.value:
        "--max-epochs reached before tol; raise --max-epochs or --tol",
    Status.UNSETTLED.value:
        "adaptive rescaling did not settle: no solution was found whose units are its "
        "own; raise --lambda-min-ratio, lower --alpha, or use --no-rescale",
}


@pytest.mark.parametrize("message", SAID, ids=str)
def test_arguments_are_called_as_options_are(message):
    assert translated(message) == SAID[message]


def test_every_option_is_one():
    parsers = fit_parser(), predict_parser()
    known = {name for parser in parsers for name in parser._option_string_actions}
    assert set(OPTIONS.values()) <= known


@pytest.mark.parametrize("kind", [ValueError, MemoryError, FloatingPointError])
def test_errors_stay_what_they_are(kind):
    with pytest.raises(kind, match="^--tol must be positive$"), in_options():
        raise kind("tol must be positive")
    with pytest.raises(OSError, match="tol=3"), in_options():
        raise OSError("tol=3: no such file")
