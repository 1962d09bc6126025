"""The length of report.html, however much there is to tell."""

import os
import re
import shutil
import subprocess
from html import unescape

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from ncvpath.__main__ import main
from ncvpath.cli.report import MOST_NAMES, MOST_ROWS

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Of a cross-validated fit to 2000 columns, many of which need a word each."""
    folder = tmp_path_factory.mktemp("wide")
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((80, 1850))).add_prefix("a_feature_")
    same = pd.DataFrame(1.0, X.index, [f"constant_{j}" for j in range(150)])
    text = pd.DataFrame(
        rng.choice(["low", "middle", "high"], (80, 12)),
        columns=[f"a_column_of_text_{j}" for j in range(12)],
    )
    y = X.iloc[:, :40].sum(axis=1) + rng.standard_normal(80)
    table = X.join(same).join(text).assign(y=y, w=1.0)
    table.to_csv(folder / "wide.csv", index=False)
    options = ["--cv", "5", "--penalty", "lasso", "--nlambda", "40", "--weights", "w"]
    for j in range(5):  # all are in the command, and in the Python
        options += ["--unpenalized", f"a_feature_{j}", "--drop", f"a_feature_{j + 900}"]
    out = folder / "results"
    options += ["--encode", "--out", str(out)]
    assert main(["fit", str(folder / "wide.csv"), "--response", "y", *options]) == 0
    return out / "report.html"


def test_lists_and_tables_are_bounded(report):
    """What a page holds, as far as it can be told without a browser."""
    page = report.read_text(encoding="utf-8")
    assert page.count("<tr") <= MOST_ROWS + 1 + 25 and page.count("<li") <= 12
    body = re.sub(r"<pre>.*?</pre>|<style>.*?</style>|<footer>.*", "", page, flags=re.S)
    told = unescape(re.sub(r"<[^>]*>", "", body))
    assert len(told) < 6000
    for name in ("a_feature_", "constant_", "a_column_of_text_"):
        assert told.count(name) <= 3 * MOST_NAMES


def test_what_belongs_together_is_not_parted_on_paper(report):
    """A heading without its picture, or a list of which some is on the next page."""
    page = report.read_text(encoding="utf-8")
    assert re.search(r"\.whole \{ break-inside: avoid; \}", page)
    whole = re.findall('<section class="whole"><h2>(.*?)</h2>', page)
    assert whole == ["Remarks", "Path", "Data and model"]


def test_pictures_are_drawn_at_the_size_at_which_they_are_shown(report):
    """The column is seven inches wide: letters of ten points are about as large."""
    sizes = {}
    for name in ("path", "cv", "held_out"):
        with Image.open(report.with_name(f"{name}.png")) as picture:
            sizes[name] = np.array(picture.size) / picture.info["dpi"]
    assert np.allclose(sizes["cv"], (4.6, 3.4), atol=0.1)
    assert np.allclose(sizes["held_out"], sizes["cv"])
    assert sizes["path"][0] == pytest.approx(8, abs=0.1)
    page = report.read_text(encoding="utf-8")
    rows = re.findall(r'<div class="row">(.*?)</div>', page, flags=re.S)
    assert [row.count("<figure>") for row in rows] == [2, 1]


def test_the_report_is_printed_on_two_pages_at_most(report, tmp_path):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"needs a browser that prints: {', '.join(BROWSERS)}")
    printed = tmp_path / "report.pdf"
    subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={printed}",
         report.as_uri()],
        check=True, capture_output=True, timeout=120,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    counts = re.findall(rb"/Type\s*/Pages\s*/Count (\d+)", printed.read_bytes())
    assert counts in ([b"1"], [b"2"])
