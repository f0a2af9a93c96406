"""The sets that models are measured on: real crowds, panels of language models, made crowds.

Real ones are found in the data folder, so that a file that is put there takes part. Rows that say
the same (item, judge, label) twice count once, for every side of a comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge import Gold, Judgments, Scale
from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.errors import BadData
from adjudge.simulation import Crowd, Population

CROWD, PANEL, MADE_CROWD = "crowd", "panel", "made"
KINDS = (CROWD, PANEL, MADE_CROWD)
HEADER = "item,judge,label,gold"


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """Judgments with the gold that answers are scored against."""

    name: str
    kind: str
    judgments: Judgments
    gold: Gold

    @property
    def truth(self) -> NDArray[np.int16]:  # (item,)
        """The truth of each item, -1 where it is not known."""
        return self.gold.align(self.judgments)


def real_sets(data: Path) -> dict[str, str]:
    """The kind of every real set of the data folder, by name."""
    found = dict.fromkeys(_OLDER, CROWD) if (data / "trec-rf10").is_dir() else {}
    for kind, folder in ((CROWD, "more"), (PANEL, "panels")):
        for path in sorted((data / folder).glob("*.csv")):
            with path.open(encoding="utf-8") as file:
                if file.readline().strip() == HEADER:
                    found[path.stem] = kind
    return found


def real_set(name: str, data: Path) -> Set:
    """A real set, its repeated rows left out."""
    kind = real_sets(data)[name]
    if name in _OLDER:
        content = _OLDER[name](data)
    else:
        content = read(data / ("panels" if kind == PANEL else "more") / f"{name}.csv")
    if content.judgments is None or content.gold is None:
        raise BadData("wanted judgments and gold", source=name)
    return Set(name, kind, without_repeats(content.judgments), content.gold)


def made_set(name: str, seed: int) -> Set:
    """A made crowd, with its truth as gold."""
    made = MADE[name].make(seed)
    return Set(name, MADE_CROWD, made.judgments, made.truth)


def without_repeats(judgments: Judgments) -> Judgments:
    """The judgments, each (item, judge, label) once."""
    cell = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    _, first = np.unique(cell * len(judgments.scale.labels) + judgments.label, return_index=True)
    kept = np.zeros(len(judgments), dtype=np.bool_)
    kept[first] = True
    return judgments if kept.all() else judgments.select(judgments=kept)


def with_copies(judgments: Judgments, judge: int, copies: int) -> Judgments:
    """The judgments and those of so many more judges who say exactly what one of them said."""
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
        families=None,  # a copy is not declared: it is to be found
        family=None,
    )


def _trec_grades(data: Path) -> Content:
    """The grades, without the label for a link that does not open."""
    whole = read(data / "trec-rf10" / "judgments.tsv")
    if whole.judgments is None or whole.gold is None:
        raise BadData("wanted judgments and gold", source="trec-rf10")
    gold = whole.gold.select(np.array(whole.gold.texts()) != "-2")
    return Content(judgments=whole.judgments.without_labels(-2), gold=gold)


_OLDER: dict[str, Callable[[Path], Content]] = {
    "trec-rf10 binary": lambda data: trec_2011_subset(read(data / "trec-rf10" / "judgments.tsv")),
    "trec-rf10 grades": _trec_grades,
    "trec-rf10 broken links": lambda data: read(data / "trec-rf10" / "judgments.tsv"),
    "web-relevance": lambda data: read(data / "web-relevance" / "judgments.csv"),
    "rte": lambda data: read(data / "rte" / "judgments.csv"),
}

_MIXED = "skilled(8,2):70,spammer:15,lazy:5,adversary:5,biased(1):5"
_GRADES = Scale.parse("0<1<2<3<4")


def _crowd(items: int, population: str, judges: int | None = None, **more: object) -> Crowd:
    return Crowd(items=items, population=Population.parse(population, judges=judges), **more)  # type: ignore[arg-type]


MADE = {
    "binary, 5 an item": _crowd(1000, "two-coin:60"),
    "binary, 2 an item": _crowd(1000, "two-coin:60", per_item=2),
    "binary, 20 an item": _crowd(500, "two-coin:60", per_item=20),
    "binary, long tail": _crowd(1000, "two-coin:300", per_item=4, activity="zipf"),
    "binary, a third spammers": _crowd(1000, "skilled(8,2):40,spammer:20"),
    "binary, 1 in 20 relevant": _crowd(2000, "two-coin:60", prevalence=(0.95, 0.05)),
    "binary, 20 topics": _crowd(2000, "two-coin:60", topics=20, concentration=3.0),
    "binary, hard and easy items": _crowd(1000, "skilled(8,2):60", difficulty=(1.0, 2.0)),
    "5 grades": _crowd(1000, _MIXED, 60, scale=_GRADES),
    "5 grades, 150 items": _crowd(150, _MIXED, 60, scale=_GRADES),
    "5 grades, skewed": _crowd(
        1000, _MIXED, 60, scale=_GRADES, prevalence=(0.6, 0.2, 0.1, 0.07, 0.03)
    ),
    "12 classes": _crowd(
        1500, "skilled(7,3):60,spammer:10", scale=Scale.parse(",".join("abcdefghijkl"))
    ),
    "50 items, 10 judges": _crowd(50, "skilled(8,2):8,spammer:2", per_item=4),
    "3 grades, a few good judges": _crowd(
        800, "skilled(20,2):6,skilled(3,3):54", scale=Scale.parse("0<1<2")
    ),
}
