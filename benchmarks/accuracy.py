"""Accuracy, log loss, calibration and CPU time of every model and peer on every set of a manifest.

Without gold, default settings. A side that cannot run on a set says why: a scale it does not know,
more CPU time than the cap.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from entries import entries
from meter import Meter
from scoring import score
from sets import Entry, Set, list_sets, read_set

from adjudge.errors import AdjudgeError
from adjudge.evaluation.against_gold import _smoothed_vote_share
from adjudge.evaluation.comparison import Entrant
from adjudge.simulation import Crowd, Population

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "accuracy"
VOTE = "vote share (+.5)"
QUICK = "rte"
Rows = list[dict[str, Any]]


def accuracy(run: Run) -> None:
    """Measure all sides on the sets of the manifest, or on those that are asked for."""
    listed = list_sets(run.data)
    if not listed:
        print("accuracy: no sets (ADJUDGE_DATA names the folder of sets/sets.csv)", file=sys.stderr)
    done = {line["set"] for line in run.done if line["case"] == CASE}
    names = [name for name in listed if name not in done and run.wants(name)]
    if run.quick:
        names = [name for name in names if name == QUICK]
    if not names:
        return
    with tempfile.TemporaryDirectory() as folder:
        given = {"names": names, "data": str(run.data), "folder": folder}
        found = run.ours("accuracy", **given, full=run.full, models=sorted(run.models))
        if run.peers is not None:
            rows = run.peer("answers", folder=folder, names=names, cap=run.cap)
            scored = run.ours("accuracy of peers", folder=folder, rows=rows)
            for name in names:
                found[name]["rows"] += scored[name]
    for name in names:
        entry = listed[name]
        about = {"case": CASE, "set": name, "kind": entry.kind, "family": entry.family}
        run.note_rows({**about, **found[name]["what"]}, found[name]["rows"])


# --- tasks, each in its own process ---


def measure_sets(
    names: list[str], data: str, folder: str, full: bool, models: list[str]
) -> dict[str, Any]:
    """Measure our models on sets, and write the sets as arrays for the peers."""
    listed = list_sets(Path(data))
    return {name: _measure_set(listed[name], Path(folder) / name, full, models) for name in names}


def _measure_set(entry: Entry, folder: Path, full: bool, models: list[str]) -> dict[str, Any]:
    held = read_set(entry)
    judgments = held.judgments
    folder.mkdir()
    np.savez(
        folder / "judgments.npz",
        item=judgments.item,
        judge=judgments.judge,
        label=judgments.label,
        truth=held.truth,
        shape=[judgments.item_count, judgments.judge_count, len(judgments.scale.labels)],
    )
    what = {"judgments": len(judgments), "gold": int((held.truth >= 0).sum())}
    return {"what": what, "rows": measure_ours(held, full=full, models=models)}


def measure_ours(held: Set, *, full: bool, models: list[str]) -> Rows:
    """Measure the smoothed vote share and every model of the registry, or those that are named."""
    with Meter() as meter:
        shares = _smoothed_vote_share(held.judgments)
    rows = [{"side": VOTE, "cpu": meter.reading["cpu"], **score(held.truth, shares)}]
    tiny = Crowd(items=50, population=Population.parse("skilled:20"), scale=held.judgments.scale)
    few = tiny.make().judgments
    for entry in entries(full=full):
        if models and entry.name not in models:
            continue
        try:
            entry.model.fit(few)  # loads what is compiled, before the clock starts
            rows.append(measure_entry(entry, held))
        except AdjudgeError as error:
            rows.append({"side": entry.name, "left_out": str(error)})
    return rows


def measure_entry(entry: Entrant, held: Set) -> dict[str, Any]:
    """Measure one model on one set."""
    with Meter() as meter:
        consensus = entry.model.fit(held.judgments)
    figures = score(held.truth, consensus.posterior)
    return {"side": entry.name, "cpu": meter.reading["cpu"], **figures}


def score_peers(folder: str, rows: dict[str, Rows]) -> dict[str, Rows]:
    """Score the answers of the peers as ours are."""
    return {name: _score_set(Path(folder) / name, found) for name, found in rows.items()}


def _score_set(folder: Path, rows: Rows) -> Rows:
    truth = np.load(folder / "judgments.npz")["truth"]
    answers = np.load(folder / "answers.npz")
    found = []
    for row in rows:
        if "left_out" in row:
            found.append(row)
            continue
        found.append({**row, **score(truth, answers[row["side"]])})
    return found


TASKS = {"accuracy": measure_sets, "accuracy of peers": score_peers}
