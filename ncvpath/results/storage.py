"""Paths on disk: one npz file of plain arrays and one JSON text; no pickle.

A file has its name only when it is complete, and is not believed when it is read:
nothing in it is executed, no array is made larger than the others say it must be, and
what does not belong together is refused (stored_checks.py).
"""

import json
import os
import shutil
from contextlib import contextmanager, nullcontext, suppress
from math import prod
from uuid import uuid4
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from ..runtime.messages import brief
from ..version import __version__
from .stored_checks import ARRAYS, FACTS, check_facts, check_fields

FORMAT = 2
# Bytes of text that the facts may be: a status per lambda, names of constant columns.
MOST_TEXT = 1 << 28


def save(path, file):
    """Write a path to a file name or an open binary file."""
    names = np.array(path.feature_names, dtype=str)
    changed = [a for a, b in zip(path.feature_names, names.tolist()) if a != b]
    if changed:  # arrays of text drop zeros at the end
        raise ValueError(
            f"feature names must not end in a null character; got {changed[0]!r}"
        )
    arrays = {name: getattr(path, name) for name in ARRAYS}
    arrays |= {f"work_{name}": counts for name, counts in path.work.items()}
    arrays |= {f"round_{name}": values for name, values in (path.rounds or {}).items()}
    parts = ("data", "indices", "indptr")
    arrays |= {f"beta_{part}": getattr(path.beta, part) for part in parts}
    arrays["feature_names"] = names
    if path.weights is not None:
        arrays["weights"] = path.weights
    facts = {name: getattr(path, name) for name in FACTS}
    facts |= {"format": FORMAT, "version": __version__}
    arrays["facts"] = np.array(json.dumps(facts))
    with nullcontext(file) if hasattr(file, "write") else replaced(file) as stream:
        np.savez_compressed(stream, **arrays)


@contextmanager
def replaced(file):
    """A file to write to, which takes its name when all has been written."""
    place = os.path.realpath(os.fsdecode(name_of(file)))  # what a link leads to
    if os.path.exists(place) and not os.path.isfile(place):
        with open(place, "wb") as stream:  # a device or a pipe stays what it is
            yield stream
        return
    part = os.path.join(os.path.dirname(place), f".{uuid4().hex}.ncvpath")
    try:
        stream = open(part, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, file) from None
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # the name must not be on disk before the content
        if os.path.exists(place):
            shutil.copymode(place, part)
        os.replace(part, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def name_of(file):
    """The name of a file, if it is one."""
    if isinstance(file, (str, bytes, os.PathLike)) and file:
        return file
    raise ValueError(
        "file must be a file name, a pathlib.Path or an open binary file; got "
        f"{type(file).__name__} {brief(file)}"
    )


def load(file):
    """The fields of a stored path."""
    name = getattr(file, "name", "an open file") if hasattr(file, "read") else file
    if name is file and os.path.isdir(name_of(file)):
        raise ValueError(f"file must be written by NcvPath.save; got {name}: a folder")
    with nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
        try:
            with ZipFile(stream) as archive:
                return check_fields(parse(archive))
        # Whatever is raised while zip, numpy, json and scipy read a file that is
        # damaged, hostile or of another kind says so.
        except Exception as error:
            reason = str(error) if type(error) is ValueError else repr(error)
            raise ValueError(
                f"file must be written by NcvPath.save; got {name}: {reason}"
            ) from None


def parse(archive):
    """Fields from the arrays of a file."""
    from scipy.sparse import csc_array

    facts = json.loads(str(array(archive, "facts", "U", (), MOST_TEXT)[()]))
    if not isinstance(facts, dict) or "format" not in facts:
        raise ValueError("its facts are not those of a path")
    if facts["format"] != FORMAT:
        raise ValueError(
            f"its format {facts['format']!r}, written by ncvpath "
            f"{facts.get('version', '0.1.0')}, is not format {FORMAT}, which ncvpath "
            f"{__version__} reads"
        )
    check_facts(facts)
    n, p, size = facts["n"], facts["p"], len(facts["status"])
    fields = {name: facts[name] for name in FACTS}
    fields |= {name: tuple(facts[name]) for name in ("constant", "status")}
    for name, kind in ARRAYS.items():
        length = p if name == "penalty_factor" else size
        fields[name] = array(archive, name, kind, (length,))
    given = "weights.npy" in archive.namelist()
    fields["weights"] = array(archive, "weights", "f", (n,)) if given else None
    fields["feature_names"] = tuple(array(archive, "feature_names", "U", (p,)).tolist())
    columns = array(archive, "beta_indptr", "i", (size + 1,))
    nonzero = (int(columns[-1]),)
    values = array(archive, "beta_data", "f", nonzero)
    rows = array(archive, "beta_indices", "i", nonzero)
    fields["beta"] = csc_array((values, rows, columns), shape=(p, size))
    fields["work"] = with_prefix("work_", archive, size)
    fields["rounds"] = with_prefix("round_", archive, None) or None
    return fields


def with_prefix(prefix, archive, length):
    """The vectors whose names begin so, by the rest of their names."""
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    return {
        name.removeprefix(prefix): array(archive, name, "if", (length,))
        for name in names if name.startswith(prefix)
    }


def array(archive, name, kinds, shape, most=None):
    """An array of a file, of one of these kinds and this shape; None: any length.

    Its header is read first: what it claims must be what is there.
    """
    if f"{name}.npy" not in archive.namelist():
        raise ValueError(f"{name} is missing")
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed in another way")
    with archive.open(member) as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError(f"{name} is an array of another version")
        found, _, dtype = np.lib.format.read_array_header_1_0(stream)
        left = member.file_size - stream.tell()
    wanted = tuple(left // (dtype.itemsize or 1) if k is None else k for k in shape)
    if dtype.kind not in kinds or found != wanted:
        raise ValueError(
            f"{name} must have shape {wanted} and kind {' or '.join(kinds)}; got "
            f"shape {found} and type {dtype}"
        )
    if left != dtype.itemsize * prod(found) or (most and left > most):
        raise ValueError(f"{name} has {left} bytes, which is not what it may have")
    with archive.open(member) as stream:
        values = np.lib.format.read_array(stream, allow_pickle=False)
    return values.astype(dtype.newbyteorder("="), copy=False)
