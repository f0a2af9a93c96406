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

_FILES = {  # the judgments of the TREC 2010 relevance feedback track, and of Zhou and others 2012
    "trec-rf10": "trec-rf10/judgments.tsv",
    "web-relevance": "web-relevance/judgments.csv",
}


def find_file(name: str, folder: Path | None = None) -> Path:
    """The file of a real data set, or an error that says what to put where."""
    place = folder or Path(os.environ.get("ADJUDGE_DATA") or Path("..") / "shared" / "data")
    path = place / _FILES[name]
    if not path.is_file():
        raise BadData(
            f"file not found. Set --data or ADJUDGE_DATA to the folder that has {_FILES[name]}",
            source=str(path),
            expected=_FILES[name],
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


def read_own(options: Options) -> tuple[Judgments, Gold]:
    """Judgments and gold of the files that ``--judgments`` and ``--gold`` name."""
    judgments = take_judgments(str(options.judgments))
    gold = take_gold(str(options.gold or options.judgments))
    known = gold.align(judgments)
    known = known[known >= 0]
    if len(known) < LEAST_GOLD:
        found = f"{len(known)} of the judged items have a gold label"
        raise _too_little_gold(found, f"{LEAST_GOLD} items")
    return judgments, gold


def _too_little_gold(found: str, least: str) -> BadData:
    problem = f"{found}, and a split for training and test needs {least} or more"
    return BadData(problem, code="too-little-gold", expected=f"gold for {least} or more")


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


def read_binary(options: Options) -> tuple[Judgments, Gold]:
    """TREC 2011 crowdsourcing, task 2; or a user's own, relevant or not, without honeypots."""
    if not options.judgments:
        return both(trec_2011_subset(read_content(find_file("trec-rf10", options.data))))
    judgments, gold = read_own(options)
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
        found = f"gold has {counts[1]} relevant and {counts[0]} other items"
        raise _too_little_gold(found, f"{LEAST_GOLD // 2} items of each class")
    rng = np.random.default_rng([2012, seed])
    drawn = [rng.choice(np.flatnonzero(known == k), each, replace=False) for k in (0, 1)]
    test = np.sort(np.concatenate(drawn))
    names = set(judgments.items.take(test).to_pylist())
    mask = np.array([name not in names for name in gold.items.to_pylist()], dtype=np.bool_)
    return Split(gold.select(mask), test, known[test])
