"""Results come all at once or not at all, and take no one else's place.

Files are written into a temporary folder on the same disk and moved at the end. A line
in report.html lists the files of a run: those make way for the next run's; any other
file is left alone, and no run takes its name.
"""

import os
import re
import shutil
from contextlib import contextmanager, suppress
from html import escape, unescape
from pathlib import Path
from tempfile import mkdtemp

REPORT = "report.html"
MODEL = "model.npz"
# Only names that a run may have written count as its own.
PLAIN_NAME = re.compile(r"\w+\.(csv|html|npz|png|pdf|svg)")


@contextmanager
def delivery(folder, names):
    """A temporary folder; what it holds at the end is moved into `folder`."""
    refuse_foreign(folder, names)
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir():
        raise ValueError(f"--out {folder}: {nearest} is not a folder")
    try:
        temporary = Path(mkdtemp(prefix=".ncvpath-", dir=nearest))
    except OSError as error:
        raise ValueError(f"--out {folder}: {error.strerror}: {nearest}") from None
    try:
        yield temporary
        refuse_foreign(folder, names)
        move_all(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def manifest(names):
    """The line of a report by which later runs know its files."""
    listed = escape(" ".join(sorted(names)))
    return f'<meta name="ncvpath-files" content="{listed}">'


def earlier_files(folder):
    """Names that the report in a folder lists, as far as they are there."""
    report = folder / REPORT
    if not report.is_file():
        return []
    line = manifest(["NAMES"]).replace("NAMES", "([^\"]*)")
    found = re.search(line, report.read_text(encoding="utf-8", errors="replace"))
    names = unescape(found[1]).split() if found else []
    return [n for n in names if PLAIN_NAME.fullmatch(n) and (folder / n).is_file()]


def refuse_source(folder, names, file):
    """An error where results would replace the file they come from."""
    for name in {*names, *earlier_files(folder)}:
        place = folder / name
        if place.exists() and file.exists() and place.samefile(file):
            raise ValueError(
                f"--out {folder}: results would replace {file}, which they come from; "
                "choose another folder"
            )


def refuse_foreign(folder, names):
    """An error where a name is taken by what no earlier run wrote."""
    if not folder.is_dir():
        return
    own = earlier_files(folder)
    for name in names:
        if os.path.lexists(folder / name) and name not in own:
            raise ValueError(
                f"--out {folder}: {folder / name} is there and is not the result of an "
                "earlier fit; move it, or choose another folder"
            )


def move_all(source, folder):
    """Earlier results out, new ones in; all back if one cannot be moved."""
    names = sorted(file.name for file in source.iterdir())
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    aside = Path(mkdtemp(dir=source))
    moves = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        plan = [(folder / name, aside / name) for name in earlier_files(folder)]
        plan += [(source / name, folder / name) for name in names]
        for old, new in plan:
            moves.append((old, new))
            os.replace(old, new)
    except BaseException:
        for old, new in reversed(moves):
            if not old.exists():  # else the last move did not happen
                os.replace(new, old)
        for place in made:
            with suppress(OSError):
                place.rmdir()
        raise
