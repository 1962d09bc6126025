"""Whether the installed package is whole and works; run far away from its sources."""

import subprocess
import sys
from importlib.metadata import files, metadata
from pathlib import Path

import ncvpath

WANTED = (
    "ncvpath/py.typed", "ncvpath/data/diabetes.csv", "ncvpath/data/heart.csv",
    "ncvpath/data/veteran.csv", "licenses/LICENSE",
)
facts, names = metadata("ncvpath"), [file.as_posix() for file in files("ncvpath")]

assert Path(ncvpath.__file__).is_relative_to(sys.prefix), ncvpath.__file__
assert facts["Version"] == ncvpath.__version__, facts["Version"]
assert facts.get("License-Expression") == "MIT" and facts.get("Author")
for wanted in WANTED:
    assert any(name.endswith(wanted) for name in names), f"{wanted} is missing"
scripts = [name for name in names if name.startswith("..")]
assert [Path(name).stem for name in scripts] == ["ncvpath"], scripts
tops = {name.split("/")[0] for name in names if name not in scripts}
assert tops == {"ncvpath", f"ncvpath-{facts['Version']}.dist-info"}, tops
assert len(ncvpath.load_diabetes()[0].columns) == 10

for arguments in (["--version"], ["--out", "demo"]):
    subprocess.run(
        [sys.executable, "-W", "error", "-m", "ncvpath", *arguments], check=True
    )
assert Path("demo", "path.png").stat().st_size > 10_000
command = Path(sys.executable).with_name("ncvpath")
found = subprocess.run([command, "--version"], check=True, capture_output=True)
assert found.stdout.split() == [b"ncvpath", ncvpath.__version__.encode()]
