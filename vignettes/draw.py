"""Draw the pictures in the vignettes anew: `python vignettes/draw.py [file.md ...]`.

The code cells of a vignette are run in order; where a link to a picture comes after
them, the figure drawn last is stored there. A picture that no cell draws is left alone.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402

HERE = Path(__file__).resolve().parent
CELL_OR_PICTURE = re.compile(
    r"^```\{code-cell\} python\n(?P<code>.*?)^```$|\]\((?P<picture>figures/[^)]+)\)",
    flags=re.MULTILINE | re.DOTALL,
)


def draw(file):
    """Run one vignette and store what it draws."""
    namespace = {"__name__": file.name}
    for part in CELL_OR_PICTURE.finditer(file.read_text()):
        if part["code"] is not None:
            exec(compile(part["code"], file.name, "exec"), namespace)
        elif plt.get_fignums():
            plt.gcf().savefig(HERE / part["picture"], dpi=110)
            print(part["picture"])
            plt.close("all")


if __name__ == "__main__":
    files = [Path(name).resolve() for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # vignettes write files
        for file in files or sorted(HERE.glob("*.md")):
            draw(file)
