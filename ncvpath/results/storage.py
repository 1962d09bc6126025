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

from ..families.survival import Baseline
from ..runtime.messages import brief
from ..version import __version__
from .predictions import label_vector
from .stored_checks import (
    ADDED,
    ARRAYS,
    BASELINE,
    FACTS,
    check_facts,
    check_fields,
    check_levels,
    check_own,
    is_label,
)

FORMAT = 4
# Before families (all that was added since has a default), and with names as an array
# of text, in which each takes the place of the longest.
READ = (2, 3, FORMAT)
ARRAY_OF_NAMES = 3
# Arrays that a path need not have, and which side of the table they are as long as.
GIVEN = {"weights": "n", "offset": "n", "spread": "p"}
# Bytes of text that the facts may be: a status per lambda, names of constant columns.
MOST_TEXT = 1 << 28


def save(path, file, **more):
    """Write a path, and more facts if there are any, to a file name or an open binary
    file."""
    arrays, facts = contents(path)
    write(file, arrays, facts | more)


def write(file, arrays, facts):
    """Arrays, and facts as JSON has them, to a file name or an open binary file."""
    facts |= {"format": FORMAT, "version": __version__}
    arrays["facts"] = np.array(json.dumps(facts))
    with nullcontext(file) if hasattr(file, "write") else replaced(file) as stream:
        np.savez_compressed(stream, **arrays)


def contents(path):
    """What a file has of a path: arrays and facts."""
    arrays = {name: getattr(path, name) for name in ARRAYS}
    arrays |= {f"work_{name}": counts for name, counts in path.work.items()}
    arrays |= {f"round_{name}": values for name, values in (path.rounds or {}).items()}
    parts = ("data", "indices", "indptr")
    arrays |= {f"beta_{part}": getattr(path.beta, part) for part in parts}
    arrays |= as_bytes(path.feature_names)
    for name in GIVEN:
        if getattr(path, name) is not None:
            arrays[name] = getattr(path, name)
    facts = {name: getattr(path, name) for name in (*FACTS, *ADDED)}
    return arrays, facts | of_family(path, arrays)


def as_bytes(names):
    """All names one after the other, and where each ends."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    return {
        "names_text": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "names_ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
    }


def read_names(archive, facts):
    """The names of the features."""
    p = facts["p"]
    if facts["format"] <= ARRAY_OF_NAMES:
        return tuple(array(archive, "feature_names", "U", (p,)).tolist())
    ends = array(archive, "names_ends", "i", (p,))
    places = np.append(0, ends)
    if (np.diff(places) < 0).any():
        raise ValueError("names_ends are not the ends of names")
    text = array(archive, "names_text", "u", (int(ends[-1]),)).tobytes()
    pieces = (text[a:b] for a, b in zip(places[:-1], ends))
    return tuple(piece.decode("utf-8", "surrogatepass") for piece in pieces)


def of_family(path, arrays):
    """Facts of the family that are not stored as they are; adds arrays of survival."""
    own = {} if isinstance(path.family, str) else {"family": path.family.name}
    own["own_family"] = bool(own)
    baseline = path.baseline
    if baseline is not None:
        parts = {name: getattr(baseline, name) for name in BASELINE}
        arrays |= {f"baseline_{name}": values for name, values in parts.items()}
        own["strata_labels"] = baseline.labels
    if path.strata is not None:
        place = {label: code for code, label in enumerate(baseline.labels)}
        codes = [place[label] for label in path.strata.tolist()]
        arrays["strata"] = np.array(codes)
    labelled = {"classes": path.classes, "strata": own.get("strata_labels")}
    for name, labels in labelled.items():
        odd = [label for label in labels or () if not is_label(label)]
        if odd:
            raise ValueError(
                f"{name} must be text, numbers or truth values in a file; got "
                f"{brief(odd[0])}"
            )
    return own


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


def load(file, family=None):
    """The fields of a stored path; `family` is the user's own, if it has one."""
    with opened(file, "NcvPath") as archive:
        fields = check_fields(parse(archive, read_facts(archive)))
    fields["family"] = check_own(fields, family)
    return fields


def read_levels(file):
    """The levels of text that became features, by column, where a file has them."""
    with opened(file, "NcvPath") as archive:
        return check_levels(read_facts(archive).get("levels", {}))


@contextmanager
def opened(file, kind):
    """The arrays of a file that `save` of some kind of result has written.

    Whatever is raised while zip, numpy, json and scipy read a file that is damaged,
    hostile or of another kind says so.
    """
    name = getattr(file, "name", "an open file") if hasattr(file, "read") else file
    if name is file and os.path.isdir(name_of(file)):
        raise ValueError(f"file must be written by {kind}.save; got {name}: a folder")
    with nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
        try:
            with ZipFile(stream) as archive:
                yield archive
        except Exception as error:
            reason = str(error) if type(error) is ValueError else repr(error)
            raise ValueError(
                f"file must be written by {kind}.save; got {name}: {reason}"
            ) from None


def read_facts(archive):
    """The facts of a file, as far as a path has them."""
    facts = json.loads(str(array(archive, "facts", "U", (), MOST_TEXT)[()]))
    if not isinstance(facts, dict) or "format" not in facts:
        raise ValueError("its facts are not those of a path")
    if facts["format"] not in READ:
        raise ValueError(
            f"its format {facts['format']!r}, written by ncvpath "
            f"{facts.get('version', '0.1.0')}, is not format {FORMAT}, which ncvpath "
            f"{__version__} reads"
        )
    if facts["format"] == READ[0]:
        facts |= ADDED | {"own_family": False}
    check_facts(facts)
    return facts


def parse(archive, facts):
    """Fields of a path from the arrays of a file."""
    from scipy.sparse import csc_array

    n, p, size = facts["n"], facts["p"], len(facts["status"])
    fields = {name: facts[name] for name in (*FACTS, *ADDED, "own_family")}
    fields |= {name: tuple(facts[name]) for name in ("constant", "status")}
    if facts["classes"] is not None:
        fields["classes"] = tuple(facts["classes"])
    for name, kind in ARRAYS.items():
        length = p if name == "penalty_factor" else size
        fields[name] = array(archive, name, kind, (length,))
    for name, side in GIVEN.items():
        given = f"{name}.npy" in archive.namelist()
        fields[name] = array(archive, name, "f", (facts[side],)) if given else None
    fields |= survival(archive, facts, n, size)
    fields["feature_names"] = read_names(archive, facts)
    columns = array(archive, "beta_indptr", "i", (size + 1,))
    nonzero = (int(columns[-1]),)
    values = array(archive, "beta_data", "f", nonzero)
    rows = array(archive, "beta_indices", "i", nonzero)
    fields["beta"] = csc_array((values, rows, columns), shape=(p, size))
    fields["work"] = with_prefix("work_", archive, size)
    fields["rounds"] = with_prefix("round_", archive, None) or None
    return fields


def survival(archive, facts, n, size):
    """Strata and the baseline, if there is one."""
    if "baseline_times.npy" not in archive.namelist():
        return {"baseline": None, "strata": None}
    times = array(archive, "baseline_times", "f", (None,))
    hazard = array(archive, "baseline_hazard", "f", (times.size, size))
    codes = array(archive, "baseline_strata", "i", times.shape)
    center = array(archive, "baseline_center", "f", (size,))
    labels = facts.get("strata_labels")
    strata = None
    if labels is not None:
        labels, places = tuple(labels), array(archive, "strata", "i", (n,))
        if not np.isin(places, np.arange(len(labels))).all():
            raise ValueError("strata have no labels")
        strata = label_vector(labels)[places]
    baseline = Baseline(times, codes, hazard, center, labels)
    return {"baseline": baseline, "strata": strata}


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
