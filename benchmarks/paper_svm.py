"""How well a linear SVM does with the features the systems select on Leukemia."""

from importlib.util import find_spec

import numpy as np
import pandas as pd

from .paper_problems import PROBLEMS, centre_and_length, leukemia_rows
from .paper_runs import LEVELS, say
from .paper_systems import SYSTEMS, arguments
from .paper_tables import markdown

SELECTING = ["fireworks-bcd", "maxvc-bcd", "fireworks-gist", "maxvc-gist", "default"]
TRAINED = 50 / 72  # share of the rows
TOL = 1e-3


def svm_study(session, rows=None):
    """Accuracy on held-out rows and number of features: CSV and table."""
    if find_spec("sklearn") is None:
        say("SVM: skipped, scikit-learn is not installed")
        return None
    rows = leukemia_rows() if rows is None else rows
    if rows is None:
        say("SVM: skipped, Leukemia is not here")
        return None
    records = []
    for seed in range(session.repeats):
        records += one_split(session, *rows, seed)
        say(f"SVM: split {seed} done")
    table = pd.DataFrame(records)
    table.to_csv(session.out / "svm.csv", index=False)
    return svm_table(table)


def one_split(session, X, labels, seed):
    """Records of one random split, columns centred and scaled by its training rows."""
    order = np.random.default_rng(seed).permutation(labels.size)
    size = round(TRAINED * labels.size)
    train, test = order[:size], order[size:]
    centre, length = centre_and_length(X[train])
    X = np.asfortranarray((X - centre) / length)
    halves = (X[train], labels[train], X[test], labels[test])
    X, y = np.asfortranarray(X[train]), labels[train] - labels[train].mean()
    everyone = np.arange(X.shape[1])
    records = [{"seed": seed, "system": "all features", "K": np.nan}
               | accuracy(*halves, everyone)]
    session.worker.pose(X, y)
    for K in LEVELS:
        for system in session.among(SELECTING):
            n_added = PROBLEMS["leukemia"].n_added
            answer = session.worker.fit(
                session.cap, **arguments(X, y, K, TOL, system, n_added)
            )
            if answer is not None:
                chosen = np.flatnonzero(answer.beta[:, 0])
                records.append({"seed": seed, "system": SYSTEMS[system].label, "K": K}
                               | accuracy(*halves, chosen))
    return records


def accuracy(X, labels, X_test, labels_test, features):
    """Share of held-out rows that an SVM with these features puts right.

    Columns of length one become columns of variance one, the scale C = 1 is made for.
    """
    from sklearn.svm import SVC

    scale = np.sqrt(labels.size)
    machine = SVC(kernel="linear").fit(scale * X[:, features], labels)
    right = machine.score(scale * X_test[:, features], labels_test)
    return {"features": features.size, "accuracy": right}


def svm_table(table):
    """A line for each K and system."""
    rows = []
    for (K, system), part in table.groupby(["K", "system"], sort=False, dropna=False):
        spread = f" ± {part['accuracy'].std():.3f}" if len(part) > 1 else ""
        rows.append([
            "" if np.isnan(K) else f"{K:g}", system,
            f"{part['accuracy'].mean():.3f}{spread}", f"{part['features'].mean():g}",
        ])
    return markdown(["K", "features by", "test accuracy", "features"], rows)
