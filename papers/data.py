"""The real judgments that the papers use or that a user names, and their split into gold."""

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
from adjudge.data.gold import take_gold
from adjudge.data.judgments import take_judgments
from papers.results import Options

LEAST_GOLD = 20  # judged items with gold that a split needs
TEST_SHARE = 1000 / 3275  # of the gold items: the split of the PMF and hierarchical papers

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


def read_own(options: Options) -> tuple[Judgments, Gold]:
    """Judgments and gold of the files that ``--judgments`` and ``--gold`` name."""
    judgments = take_judgments(str(options.judgments))
    gold = take_gold(str(options.gold or options.judgments))
    known = gold.align(judgments)
    known = known[known >= 0]
    if len(known) < LEAST_GOLD:
        raise BadData(
            f"{len(known)} of the judged items have a gold label, and a split for training and "
            f"test needs at least {LEAST_GOLD}",
            source=str(options.gold or options.judgments),
            code="too-little-gold",
            value=len(known),
            expected=f"gold for {LEAST_GOLD} items or more",
        )
    return judgments, gold


def describe(options: Options, judgments: Judgments, gold: Gold) -> str:
    """What the judgments are, in numbers: the data paragraph of a page on other data."""
    known = gold.align(judgments)
    counts = np.bincount(known[known >= 0], minlength=len(judgments.scale.truths))
    shares = zip(judgments.scale.truths, counts / max(1, counts.sum()), strict=True)
    traps = int(gold.honeypots(judgments).sum())
    file = options.judgments.name if options.judgments else "the data"
    return (
        f"{file}: {len(judgments):,} judgments of {judgments.item_count:,} items by "
        f"{judgments.judge_count:,} judges, {len(judgments) / judgments.item_count:.2f} per item"
        + (f", {judgments.topic_count:,} topics" if judgments.topic_count else "")
        + f". Labels: {judgments.scale}. Gold labels for {int(counts.sum()):,} items: "
        + ", ".join(f"{label} {share:.0%}" for label, share in shares)
        + (f"; {traps:,} honeypots." if traps else ".")
    )


def as_binary(judgments: Judgments, gold: Gold) -> tuple[Judgments, Gold]:
    """Judgments and gold with two labels, relevant or not; honeypots are left out."""
    left = judgments.select(items=~gold.honeypots(judgments))
    plain = gold if gold.honeypot is None else gold.select(~gold.honeypot)
    return left.collapse(), plain.collapse(left.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Gold for training, and the items and true labels of the test."""

    train: Gold
    test: NDArray[np.int64]  # (test,) items
    truth: NDArray[np.int16]  # (test,)


def split_gold(judgments: Judgments, gold: Gold, seed: int) -> Split:
    """A random split: of the gold items a share for the test, half relevant; the rest to train.

    The share is the paper's, 1,000 of 3,275; at least half of the gold of each class is for
    training.
    """
    known = gold.align(judgments)
    counts = np.bincount(known[known >= 0], minlength=2)
    each = min(max(LEAST_GOLD // 4, round(TEST_SHARE * counts.sum() / 2)), *(counts // 2))
    if each < LEAST_GOLD // 4:
        raise BadData(
            f"gold has {counts[1]} relevant and {counts[0]} other items, and a split needs at "
            f"least {LEAST_GOLD // 2} of each",
            code="too-little-gold",
            value=int(counts.min()),
            expected=f"gold for {LEAST_GOLD // 2} items of each class or more",
        )
    rng = np.random.default_rng([2012, seed])
    drawn = [rng.choice(np.flatnonzero(known == k), each, replace=False) for k in (0, 1)]
    test = np.sort(np.concatenate(drawn))
    names = set(judgments.items.take(test).to_pylist())
    mask = np.array([name not in names for name in gold.items.to_pylist()], dtype=np.bool_)
    return Split(gold.select(mask), test, known[test])
