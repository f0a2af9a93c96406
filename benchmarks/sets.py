"""The sets of a manifest: judgments with gold.

A manifest is a CSV file ``sets/sets.csv`` of the data folder with columns ``kind`` (crowds, panels
or mixed), ``name``, ``family`` and ``path``. Sets of one family share judges or items. A set is a
CSV file with columns item, judge, label and gold; rows with the same item, judge and label count
once.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from adjudge import Gold, Judgments, Scale

MANIFEST = Path("sets") / "sets.csv"
TREC = "trec-rf10"  # read in three ways
_READINGS = {
    "binary": {"0": "0", "1": "1", "2": "1"},
    "grades": {"0": "0", "1": "1", "2": "2"},
    "broken links": {"0": "no", "1": "relevant", "2": "highly relevant", "-2": "broken"},
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A set that the manifest lists."""

    name: str
    kind: str
    family: str
    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """Judgments with the gold that answers are scored against."""

    name: str
    judgments: Judgments
    gold: Gold

    @property
    def truth(self) -> NDArray[np.int16]:  # (item,)
        """The truth of each item, -1 where it is not known."""
        return self.gold.align(self.judgments)


def list_sets(data: Path) -> dict[str, Entry]:
    """List the sets of the manifest by name; none without a manifest."""
    path = data / MANIFEST
    if not path.is_file():
        return {}
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names = [f"{TREC} {way}" for way in _READINGS] if row["name"] == TREC else [row["name"]]
            found += [Entry(name, row["kind"], row["family"], data / row["path"]) for name in names]
    return {entry.name: entry for entry in found}


def read_set(entry: Entry) -> Set:
    """Read a set."""
    table = _read_trec(entry) if entry.name.startswith(TREC) else _read_table(entry.path, ",")
    known = table.filter(pc.not_equal(table["gold"], "")).select(["item", "gold"])
    labels = pa.chunked_array([*table["label"].chunks, *known["gold"].chunks])
    judged = table.select(["item", "judge", "label"])
    scale = Scale.infer(pc.unique(labels).to_pylist())
    judgments = Judgments.from_table(judged, scale=scale, repeats=True)
    return Set(entry.name, _without_repeats(judgments), Gold.from_table(known))


def _without_repeats(judgments: Judgments) -> Judgments:
    """Keep each item, judge and label once."""
    cell = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    _, first = np.unique(cell * len(judgments.scale.labels) + judgments.label, return_index=True)
    kept = np.zeros(len(judgments), dtype=np.bool_)
    kept[first] = True
    return judgments if kept.all() else judgments.select(judgments=kept)


def _read_table(path: Path, delimiter: str) -> pa.Table:
    """Read a table with all its cells as text."""
    with pa.input_stream(str(path), compression="detect") as file:
        names = file.read().split(b"\n", 1)[0].decode().strip().split(delimiter)
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
    )
    parse = pa.csv.ParseOptions(delimiter=delimiter)
    return pa.csv.read_csv(path, convert_options=convert, parse_options=parse)


def _read_trec(entry: Entry) -> pa.Table:
    """Read the judgments of the relevance feedback track in one of three ways."""
    text = _READINGS[entry.name.removeprefix(f"{TREC} ")]
    table = _read_table(entry.path, "\t")
    table = table.filter(pc.is_in(table["label"], pa.array(list(text))))
    item = pc.binary_join_element_wise(table["topicID"], table["docID"], "_")
    columns = {"item": item, "judge": table["workerID"]}
    for name in ("label", "gold"):
        columns[name] = pa.array([text.get(value, "") for value in table[name].to_pylist()])
    return pa.table(columns)


def with_copies(judgments: Judgments, judge: int, copies: int) -> Judgments:
    """Add judges who give exactly the labels of one judge."""
    own = np.flatnonzero(judgments.judge == judge)
    item = np.concatenate([judgments.item, np.tile(judgments.item[own], copies)])
    order = np.argsort(item, kind="stable")
    new = judgments.judge_count + np.repeat(np.arange(copies), len(own))
    names = [f"{judgments.judges[judge].as_py()} copy {number + 1}" for number in range(copies)]
    counts = np.bincount(item, minlength=judgments.item_count)
    return replace(
        judgments,
        judges=pa.concat_arrays([judgments.judges, pa.array(names, judgments.judges.type)]),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        judge=np.concatenate([judgments.judge, new.astype(np.int32)])[order],
        label=np.concatenate([judgments.label, np.tile(judgments.label[own], copies)])[order],
        time=None,
        seconds=None,
        families=None,
        family=None,
    )


def judges_by_accuracy(held: Set, least: int = 20, share: float = 0.05) -> NDArray[np.intp]:
    """Return the judges with enough judgments, the least accurate on gold first."""
    judgments, truth = held.judgments, held.truth[held.judgments.item]
    known = truth >= 0
    size = judgments.judge_count
    seen = np.bincount(judgments.judge[known], minlength=size)
    right = np.bincount(judgments.judge[known & (truth == judgments.label)], minlength=size)
    many = judgments.counts_per_judge >= max(least, share * judgments.item_count)
    enough = np.flatnonzero(many & (seen >= least))
    return enough[np.argsort(right[enough] / seen[enough], kind="stable")]
