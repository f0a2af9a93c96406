"""How right and how honest: every model on every set, beside the prototype and the peers.

Unsupervised, default settings. The figures are those of ``scoring``; what a side cannot do (a scale
it does not know, labels without probabilities, more time than there is) is said in its place.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import prototype
from accuracy_tables import PROTOTYPE, VOTE
from entries import entries
from meter import Meter
from scoring import score, score_labels
from sets import MADE, MADE_CROWD, Set, made_set, real_set, real_sets

from adjudge.errors import AdjudgeError
from adjudge.evaluation.against_gold import _smoothed_vote_share
from adjudge.evaluation.comparison import Entrant
from adjudge.simulation import Crowd, Population

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "accuracy"
SEEDS = 5  # of a made crowd; figures are their means
QUICK = "rte"
Rows = list[dict[str, Any]]


def accuracy(run: Run) -> None:
    """The case: real sets if their folder is there, then the made crowds."""
    real = real_sets(run.data)
    if not real:
        print("accuracy: no real judgments (set ADJUDGE_DATA)", file=sys.stderr)
    wanted = {**real, **dict.fromkeys(MADE, MADE_CROWD)}
    if run.quick:
        wanted = {name: wanted[name] for name in (QUICK, "50 items, 10 judges") if name in wanted}
    done = {line["set"] for line in run.done if line["case"] == CASE}
    for name, kind in wanted.items():
        if name in done or not run.wants(name):
            continue
        print(f"accuracy: {name}", file=sys.stderr)
        if kind == MADE_CROWD:
            seeds = 1 if run.quick else SEEDS
            models = sorted(run.models)
            found = run.ours(
                "accuracy of made", name=name, seeds=seeds, full=run.full, models=models
            )
        else:
            found = _measure_real(run, name)
        run.note_rows({"case": CASE, "set": name, "kind": kind, **found["what"]}, found["rows"])


def _measure_real(run: Run, name: str) -> Any:
    """All sides on a real set: ours, then the peers, whose answers ours scores."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"name": name, "data": str(run.data), "folder": folder}
        found = run.ours("accuracy", **given, full=run.full, models=sorted(run.models))
        if run.peers is not None:
            rows = run.theirs("answers", folder=folder, cap=run.cap)["rows"]
            found["rows"] += run.ours("accuracy of peers", folder=folder, rows=rows)["rows"]
    return found


# --- tasks, each in a process of its own ---


def measure_real(
    name: str, data: str, folder: str, full: bool, models: list[str]
) -> dict[str, Any]:
    """Our models and the prototype on a real set; the set as arrays, for the peers."""
    held = real_set(name, Path(data))
    judgments = held.judgments
    np.savez(
        Path(folder) / "judgments.npz",
        item=judgments.item,
        judge=judgments.judge,
        label=judgments.label,
        truth=held.truth,
        shape=[judgments.item_count, judgments.judge_count, len(judgments.scale.labels)],
    )
    what = {"judgments": len(judgments), "gold": int((held.truth >= 0).sum())}
    rows = measure_ours(held, full=full, models=models)
    if not models or PROTOTYPE in models:
        rows.append(measure_prototype(held, Path(data)))
    return {"what": what, "rows": rows}


def measure_made(name: str, seeds: int, full: bool, models: list[str]) -> dict[str, Any]:
    """Our models on a made crowd, figures averaged over seeds."""
    made = [made_set(name, seed) for seed in range(seeds)]
    runs = [measure_ours(held, full=full, models=models) for held in made]
    judgments = round(float(np.mean([len(held.judgments) for held in made])))
    rows = [_mean(list(of_side)) for of_side in zip(*runs, strict=True)]
    return {"what": {"judgments": judgments, "gold": made[0].judgments.item_count}, "rows": rows}


def _mean(rows: Rows) -> dict[str, Any]:
    """One side's figures averaged; where a seed has none, the mean of the others."""
    found = dict(rows[0])
    for name, value in rows[0].items():
        if isinstance(value, float) or value is None:
            known = [row[name] for row in rows if row.get(name) is not None]
            found[name] = round(float(np.mean(known)), 6) if known else None
    return found


def measure_ours(held: Set, *, full: bool, models: list[str]) -> Rows:
    """The smoothed vote share and every model of the registry, or those that are named."""
    with Meter() as meter:
        shares = _smoothed_vote_share(held.judgments)
    rows = [{"side": VOTE, "cpu": meter.reading["cpu"], **score(held.truth, shares)}]
    tiny = Crowd(items=50, population=Population.parse("skilled:20"), scale=held.judgments.scale)
    few = tiny.make().judgments
    for entry in entries(full=full):
        if models and entry.name not in models:
            continue
        try:
            entry.model.fit(few)  # what is compiled is compiled or loaded before the clock starts
            rows.append(measure_entry(entry, held))
        except AdjudgeError as error:
            rows.append({"side": entry.name, "left_out": str(error)})
    return rows


def measure_entry(entry: Entrant, held: Set) -> dict[str, Any]:
    """One model on one set."""
    with Meter() as meter:
        consensus = entry.model.fit(held.judgments)
    figures = score(held.truth, consensus.posterior)
    return {"side": entry.name, "cpu": meter.reading["cpu"], **figures}


def measure_prototype(held: Set, data: Path) -> dict[str, Any]:
    """The prototype on one set."""
    module = prototype.load(data)
    if module is None:
        return {"side": PROTOTYPE, "left_out": prototype.MISSING}
    tiny = Crowd(items=50, population=Population.parse("skilled:20"), scale=held.judgments.scale)
    module.consensus(prototype.arrays_of(tiny.make().judgments))
    given = prototype.arrays_of(held.judgments)
    with Meter() as meter:
        found = module.consensus(given)
    figures = score(held.truth, found["P"])
    return {"side": PROTOTYPE, "cpu": meter.reading["cpu"], **figures}


def score_peers(folder: str, rows: Rows) -> dict[str, Any]:
    """The peers' answers, which lie beside the set, scored as ours are."""
    held = np.load(Path(folder) / "judgments.npz")
    answers = np.load(Path(folder) / "answers.npz")
    found = []
    for row in rows:
        if "left_out" in row:
            found.append(row)
            continue
        answer = answers[row["side"]]
        figures = (score if answer.ndim == 2 else score_labels)(held["truth"], answer)
        found.append({**row, **figures})
    return {"rows": found}


TASKS = {
    "accuracy": measure_real,
    "accuracy of made": measure_made,
    "accuracy of peers": score_peers,
}
