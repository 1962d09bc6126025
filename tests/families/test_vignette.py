"""The family that the vignette builds owes what ours do."""

import inspect
import re

import kit
import numpy as np
import pytest
from conftest import ROOT

COUNTS = np.random.default_rng(4).poisson(2.0, 40).astype(float)


@pytest.fixture(scope="module")
def code():
    """The cell that defines it."""
    text = (ROOT / "vignettes" / "own-family.md").read_text(encoding="utf-8")
    return re.search(r"^```\{code-cell\} python\n(.*?)^```$", text, re.M | re.S)[1]


@pytest.fixture(scope="module")
def family(code):
    namespace = {"__name__": __name__}
    exec(compile(code, "own-family.md", "exec"), namespace)
    return namespace["NegativeBinomial"](2.0)


def test_it_has_less_than_30_lines(code):
    assert len(code[code.index("class") :].splitlines()) < 30


@pytest.mark.parametrize(
    "check", [each for name, each in vars(kit).items() if name.startswith("check_")]
)
def test_it_passes_the_kit(family, check):
    of_counts = "responses" in inspect.signature(check).parameters
    check(family, np.unique(COUNTS) if of_counts else COUNTS)
