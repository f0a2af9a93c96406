"""The real judgments that the papers use, and their split into training and test gold."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adjudge import BadData, Gold, Judgments
from adjudge.data.formats import Content, read
from adjudge.data.formats.trec_rf10 import trec_2011_subset

_FILES = {
    "trec-rf10": (
        "judgments.tsv",
        "the crowd judgments of the TREC 2010 relevance feedback track, tab separated columns "
        "topicID workerID docID gold label (98,453 judgments)",
    ),
    "web-relevance": (
        "judgments.csv",
        "the web relevance judgments of Zhou, Platt, Basu and Mao 2012 (15,567 judgments)",
    ),
}


def find_file(name: str, folder: Path | None = None) -> Path:
    """The file of a real data set, or an error that says what to put where."""
    place = folder or Path(os.environ.get("ADJUDGE_DATA") or Path("..") / "shared" / "data")
    file, what = _FILES[name]
    path = place / name / file
    if not path.is_file():
        raise BadData(
            f"file not found. Expected {what}. Set --data or ADJUDGE_DATA to the folder that "
            f"contains {name}/{file}",
            source=str(path),
            expected=what,
        )
    return path


@cache
def read_content(path: Path) -> Content:
    """What is in a file, read once."""
    return read(path)


def both(content: Content) -> tuple[Judgments, Gold]:
    """The judgments and the gold of a file."""
    if content.judgments is None or content.gold is None:
        raise BadData("expected judgments and gold", expected="judgments and gold")
    return content.judgments, content.gold


@cache
def read_trec_2011(path: Path) -> tuple[Judgments, Gold]:
    """The binary judgments and gold of TREC 2011 crowdsourcing, task 2."""
    return both(trec_2011_subset(read_content(path)))


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Gold for training, and the items and true labels of the test."""

    train: Gold
    test: NDArray[np.int64]  # (test,) items
    truth: NDArray[np.int16]  # (test,)


def split_gold(judgments: Judgments, gold: Gold, seed: int) -> Split:
    """A random split: 1,000 test items, half of them relevant, the rest for training."""
    known = gold.align(judgments)
    rng = np.random.default_rng([2012, seed])
    drawn = [rng.choice(np.flatnonzero(known == k), 500, replace=False) for k in (0, 1)]
    test = np.sort(np.concatenate(drawn))
    names = set(judgments.items.take(test).to_pylist())
    mask = np.array([name not in names for name in gold.items.to_pylist()], dtype=np.bool_)
    return Split(gold.select(mask), test, known[test])
