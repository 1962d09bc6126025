"""Print the oldest versions that setup.cfg and pyproject.toml allow, for pip -c."""

import configparser
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTED = ("progress", "parquet", "dask", "sklearn", "test")  # extras
# What the packages of the oldest set did not know when they were made: newer ones
# answer them with warnings, which are errors here.
OF_THEIR_TIME = ("pyparsing<3.3",)  # matplotlib 3.8


def requirements():
    """What is needed to build, to run and to test."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    texts = [config["options"]["install_requires"], *map(extras.get, TESTED)]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = [*" ".join(texts).split(), *build["build-system"]["requires"]]
    return [name for name in named if not name.startswith("ncvpath")]


def oldest(requirement):
    """A requirement name>=version, perhaps with extras, as name==version."""
    match = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", requirement)
    if match is None:
        raise SystemExit(f"expected name>=version; got {requirement}")
    return "==".join(match.groups())


if __name__ == "__main__":
    print(*map(oldest, requirements()), *OF_THEIR_TIME, sep="\n")
