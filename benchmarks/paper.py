"""Reproduce the paper's experiments: `python -m benchmarks.paper`.

Rakotomamonjy, Flamary, Gasso and Salmon, "Convergent Working Set Algorithm for Lasso
with Non-Convex Sparse Regularizers", AISTATS 2022. Log-sum penalty with theta = 1 and
columns of length one. Toy: normal columns, coefficients N(0, 1) + 0.1 sign, noise of
standard deviation 0.01, a seeded draw for each repeat; real data are the same in every
repeat. Writes CSV, Markdown and PNG, and prints the tables.
"""

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from .paper_problems import PROBLEMS
from .paper_runs import LEVELS, Session, Setting, cells, compete, save
from .paper_studies import grid_search, n_added_study, support_study
from .paper_svm import svm_study
from .paper_systems import MAIN, SYSTEMS
from .paper_tables import KEY, main_table, pruning_table, shared_text, summary
from .paper_worker import Worker
from .race import stamp

TITLES = {
    "table": "Time, support, objective and violation",
    "grid": "Grid search: 10 lambdas from 0.6 to 0.01 lambda_max on Leukemia, warm "
            "starts, seconds of the whole path",
    "n_added": "Seconds by the number of features added in a round",
    "support": "Support (F-measure against the truth) and objective, tol 1e-5",
    "svm": "A linear SVM on the selected Leukemia features: 50 rows to train, 22 to "
           "test",
}


def main(arguments=None):
    """Run what was asked for."""
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    records = []
    with Worker() as worker, threadpool_limits(1):  # no thread waits while fits run
        session = Session(
            worker, options.out, options.problems, options.systems, options.repeats,
            options.cap,
        )
        for part in TITLES:  # in this order, since later ones use the table's runs
            if part in options.only:
                publish(session, part, study(session, part, records))
    print(stamp())


def parse(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper")
    add = parser.add_argument
    add("--only", nargs="+", choices=TITLES, default=[*TITLES], metavar="PART",
        help=f"parts: {', '.join(TITLES)}")
    add("--problems", nargs="+", choices=PROBLEMS, default=[*PROBLEMS], metavar="NAME",
        help=f"problems: {', '.join(PROBLEMS)}")
    add("--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS], metavar="NAME",
        help=f"systems: {', '.join(SYSTEMS)}")
    add("--repeats", type=int, default=5)
    add("--cap", type=float, default=60.0, help="seconds a fit may take, per lambda")
    add("--out", type=Path, default=Path("paper-results"), metavar="DIR")
    return parser.parse_args(arguments)


def study(session, part, records):
    """The Markdown of one part; None when it had to be skipped.

    `records` are filled by the table, for the parts that need the same runs.
    """
    if part == "table":
        return table(session, records)
    if part == "support":
        return support_study(session, records)
    if part == "n_added":
        return n_added_study(session)
    if "leukemia" not in session.problems:
        return None
    return grid_search(session) if part == "grid" else svm_study(session)


def table(session, records):
    """The paper's main table, the one about pruning, and what follows from them."""
    for name in session.problems:
        problem = PROBLEMS[name]
        settings = [Setting(tol, K) for tol in problem.tols for K in LEVELS]
        entrants = [(system, problem.n_added) for system in session.systems]
        new = compete(session, name, settings, entrants)
        records += new
        if new:  # after every problem, so that an interrupted run was not in vain
            save(session, records, "table.csv")
    if not records:
        return None
    found = cells(records)
    return "\n\n".join([
        main_table(found, session.among(MAIN)),
        KEY.format(
            repeats=session.repeats, cap=session.cap, shared=shared_text(found)
        ),
        "FireWorks and MaxVC, seconds; \"pruned\": MaxVC prunes as FireWorks does.",
        pruning_table(found),
        summary(found, session.cap),
    ])


def publish(session, part, text):
    """Print a part, and write it."""
    if text is None:
        return
    text = f"## {TITLES[part]}\n\n{text}\n"
    (session.out / f"{part}.md").write_text(text, encoding="utf-8")
    print(text, flush=True)


if __name__ == "__main__":
    main()
