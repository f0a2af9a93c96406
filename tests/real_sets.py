"""Real data sets with gold labels: read, thinned, and scored next to the vote share."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adjudge import Gold, Judgments
from adjudge.data.consensus import Consensus
from adjudge.data.formats import read

MOST = 20_000  # judgments of a set, so that all sets are fitted in seconds
LEAST_GOLD = 40  # judged gold items of a set that is scored
JUDGE_GOLD = 30  # gold items of a judge whose interval is checked

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RealSet:
    """Judgments and gold of a data set. Sets of one family share judges or items."""

    kind: str  # crowds, panels or mixed
    name: str
    family: str
    judgments: Judgments
    gold: Gold

    @property
    def known(self) -> NDArray[np.int16]:  # (item,)
        """The gold label of each item, -1 where there is none."""
        return self.gold.align(self.judgments)

    def with_busiest(self, judges: int) -> RealSet:
        """The judgments of the busiest judges alone."""
        busy = np.argsort(-self.judgments.counts_per_judge, kind="stable")[:judges]
        kept = np.isin(self.judgments.judge, busy)
        return replace(self, judgments=self.judgments.select(judgments=kept))

    def with_at_most(self, per_item: int, seed: int = 11) -> RealSet:
        """At most so many judgments per item, drawn at random."""
        order = np.random.default_rng(seed).permutation(len(self.judgments))
        order = order[np.argsort(self.judgments.item[order], kind="stable")]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - self.judgments.offsets[self.judgments.item[order]]
        return replace(self, judgments=self.judgments.select(judgments=place < per_item))


@cache
def read_sets(folder: Path) -> tuple[RealSet, ...]:
    """All sets of at most 20,000 judgments with enough gold."""
    with (folder / "sets" / "sets.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["judgments"]) <= MOST]
    return tuple(_read(row, folder / row["path"]) for row in rows)


def _read(row: dict[str, str], path: Path) -> RealSet:
    content = read(path)
    return RealSet(row["kind"], row["name"], row["family"], content.judgments, content.gold)


def score(posterior: _Floats, known: NDArray[np.int16]) -> tuple[float, float]:
    """The accuracy, ties counted in expectation, and the log loss on gold items."""
    rows, truth = posterior[known >= 0], known[known >= 0]
    best = rows >= rows.max(axis=1, keepdims=True) - 1e-9
    own = np.arange(len(rows)), truth
    right = best[own] / best.sum(axis=1)
    return float(right.mean()), float(-np.log(np.maximum(rows[own], 1e-6)).mean())


def share_votes(judgments: Judgments) -> _Floats:  # (item, label)
    """The share of each label among an item's judgments, half a vote added to each label."""
    labels = len(judgments.scale.labels)
    cell = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    item, label = np.divmod(np.unique(cell * labels + judgments.label), labels)
    votes = np.full((judgments.item_count, labels), 0.5)
    np.add.at(votes, (item // judgments.judge_count, label), 1.0)
    return votes / votes.sum(axis=1, keepdims=True)


def cover_judges(consensus: Consensus, known: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Whether each interval of a judge with enough gold contains their share right on it."""
    table = consensus.judgments
    gold = known[table.item] >= 0
    right = (table.label == known[table.item]) & gold
    total = np.bincount(table.judge, gold, minlength=table.judge_count)
    share = np.bincount(table.judge, right, minlength=table.judge_count) / np.maximum(total, 1)
    low, high = (consensus.judges[f"accuracy_{end}"].to_numpy() for end in ("low", "high"))
    inside = (low <= share) & (share <= high)
    return inside[(total >= JUDGE_GOLD) & ~np.isnan(low)]


def mean_of_families(cases: Iterable[tuple[str, _Floats]]) -> _Floats:
    """The mean over families of the mean over their sets."""
    found = defaultdict(list)
    for family, values in cases:
        found[family].append(values)
    return np.mean([np.mean(values, axis=0) for values in found.values()], axis=0)
