"""Runs of the systems in turns, one record each."""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from .paper_problems import PROBLEMS
from .paper_systems import SYSTEMS, arguments, f_measure, measure
from .paper_worker import Worker

LEVELS = (0.07, 0.01)  # the paper's K
CELL = ["problem", "tol", "K", "system", "n_added"]
MEASURED = ["nonzeros", "objective", "violation", "f_measure"]


class Session(NamedTuple):
    """What was asked for on the command line, and who does the work."""

    worker: Worker
    out: Path
    problems: list
    systems: list
    repeats: int
    cap: float

    def among(self, systems):
        """Those systems that were asked for."""
        return [system for system in systems if system in self.systems]


class Setting(NamedTuple):
    """A row of the table, or a part of one."""

    tol: float
    K: float


def compete(session, name, settings, entrants):
    """Records of all repeats on one problem; `entrants` are systems and n_added.

    Within a repeat the entrants take turns, so that what else the machine does hits all
    of them. A cell that has passed the cap is not tried again.
    """
    problem, records, past = PROBLEMS[name], [], set()
    for draw in range(session.repeats):
        if problem.random or draw == 0:
            one = problem.make(draw)
            if one is None:
                say(f"{problem.label}: skipped, the data are not here")
                return []
            session.worker.pose(one.X, one.y)
        for setting in settings:
            for entrant in entrants:
                cell = (setting, entrant)
                if cell not in past:
                    record = run(session, one, setting, *entrant)
                    records.append({"problem": name, "draw": draw} | record)
                    progress(records[-1])
                    if np.isnan(record["seconds"]):
                        past.add(cell)
    return records


def run(session, one, setting, system, n_added):
    """One fit, timed and measured; without figures when it passed the cap."""
    X, y, truth = one
    settings = arguments(X, y, setting.K, setting.tol, system, n_added)
    record = setting._asdict() | {"system": system, "n_added": settings["n_added"]}
    answer = session.worker.fit(session.cap, **settings)
    if answer is None:
        return record | {"seconds": np.nan}
    w = answer.beta[:, 0]
    record |= {"seconds": answer.seconds, "call": answer.call}
    record |= measure(X, y, setting.K, w)
    if truth is not None:
        record["f_measure"] = f_measure(w, truth)
    return record | counts(answer)


def counts(answer):
    """What does not depend on the machine."""
    return {key: getattr(answer, key) for key in ("rounds", "epochs", "largest_set")}


def cells(records):
    """Means over the repeats; a cell of which a run passed the cap has no seconds."""
    table = pd.DataFrame(records)
    # Columns may be absent: when every run passed the cap, or no truth is known.
    table = table.reindex(columns=[*CELL, "seconds", "call", *MEASURED])
    return table.groupby(CELL, sort=False, as_index=False, dropna=False).agg(
        seconds=("seconds", lambda s: s.mean(skipna=False)),
        sd=("seconds", lambda s: s.std(skipna=False)),
        call=("call", lambda s: s.mean(skipna=False)),
        nonzeros=("nonzeros", "mean"),
        objective=("objective", "mean"),
        violation=("violation", "max"),
        f_measure=("f_measure", "mean"),
    )


def save(session, records, file):
    """All runs as CSV; no n_added is an empty field."""
    table = pd.DataFrame(records).astype({"n_added": "Int64"})
    table.to_csv(session.out / file, index=False)


def progress(record):
    """One line per run."""
    spent = record["seconds"]
    done = "past the cap" if np.isnan(spent) else f"{spent:.3f} s"
    say(
        f"{PROBLEMS[record['problem']].label} {record['draw']}, tol {record['tol']:g}, "
        f"K {record['K']:g}, {SYSTEMS[record['system']].label}, "
        f"n_added {record['n_added']}: {done}"
    )


def say(line):
    """What is not a result."""
    print(line, file=sys.stderr, flush=True)
