"""Judgments collected in this process: the policy's own decisions, without a database or a web.

Who passes, is warned or blocked, which golds are shown, what a page holds and when an item closes
are decided by the pure functions of ``adjudge.collect``; this keeps the state that they ask for. An
experiment has one collection an arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.decisions import (
    Record,
    after_page,
    after_training,
    training_left,
)
from adjudge.collect.rules.golds import GoldCard, choose_training, screening_order
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import Slot, compose, interleave
from adjudge.errors import BadData
from adjudge.simulation.visits import AT_WORK, GoldFeedback, Sheet, SheetOutcome, Stage

_AHEAD = 2  # pages' worth of open items, and of golds, that a page is made from


@dataclass(frozen=True, slots=True)
class Shown:
    """A result: the text that is shown of it, its query, its true label."""

    text: str
    query: str
    truth: str


@dataclass(slots=True, eq=False)
class JudgeRecord:
    """What the collection knows of one judge."""

    record: Record
    training: list[int]  # golds still to be shown in training, by their number
    judged: NDArray[np.bool_]  # (item,)
    gold_shown: dict[int, int] = field(default_factory=dict)  # gold: when
    rows: int = 0  # shown in work
    golds: int = 0  # of them
    leased: NDArray[np.int64] | None = None  # items of the page they have
    items: list[NDArray[np.int64]] = field(default_factory=list)  # judged, page by page
    labels: list[list[str]] = field(default_factory=list)  # given to them
    trained: bool = False  # whether they came to the end of the training

    @property
    def trusted(self) -> bool:
        """Whether their judgments count."""
        return self.record.stage != "blocked"


class ArmCollection:
    """The collection of one arm: the same items as in every other, and gold of its own."""

    def __init__(
        self,
        items: Sequence[Shown],
        golds: Sequence[Shown],
        labels: tuple[str, ...],
        policy: Policy,
        rng: np.random.Generator,
    ) -> None:
        self.items = items
        self.golds = golds
        self.labels = labels
        self.policy = policy
        self.records: dict[str, JudgeRecord] = {}
        self.trusted = np.zeros(len(items), dtype=np.int64)
        self.leased = np.zeros(len(items), dtype=np.int64)
        self._order = np.array(interleave([item.query for item in items], 1))
        self._queries = [items[place].query for place in range(len(items))]
        self._cards = [
            GoldCard(-1 - place, gold.query, gold.truth) for place, gold in enumerate(golds)
        ]
        self._rng = rng

    @property
    def full(self) -> bool:
        """Whether every item has its trusted judgments."""
        return bool((self.trusted >= self.policy.judgments_per_item).all())

    def arrive(self, key: str) -> Stage:
        """Take in a judge, who begins with the training."""
        training = choose_training(
            self._cards, self.policy.training_pairs, self.policy.training_mix, self._rng
        )
        self.records[key] = JudgeRecord(
            record=Record(stage="training"),
            training=training,
            judged=np.zeros(len(self.items), dtype=np.bool_),
        )
        return "training"

    def sheet(self, key: str) -> Sheet | None:
        """One pair of the training, or a page of work."""
        judge = self.records[key]
        if judge.record.stage not in AT_WORK:
            return None
        if judge.record.stage == "training":
            gold = judge.training[0]
            return Sheet("training", (self._text(gold),), self.labels, (gold,))
        page = tuple(slot.item for group in self._page(judge) for slot in group)
        if not page:
            return None
        work = np.array([number for number in page if number >= 0], dtype=np.int64)
        self.leased[work] += 1
        judge.leased = work
        return Sheet("work", tuple(self._text(number) for number in page), self.labels, page)

    def _page(self, judge: JudgeRecord) -> list[list[Slot[int]]]:
        """The groups of their next page, from the first open items that they have not judged."""
        needed = self.policy.judgments_per_item
        open_to_them = (self.trusted + self.leased < needed) & ~judge.judged
        ahead = _AHEAD * self.policy.pairs_per_page
        chosen = self._order[open_to_them[self._order]][:ahead]
        work = [(int(place), self._queries[place]) for place in chosen]
        golds = screening_order(
            self._cards, judge.gold_shown, self.policy.screening_mix, self._rng,
            runs_out=self.policy.gold_runs_out,
        )  # fmt: skip
        most = _AHEAD * self.policy.screening_golds
        return compose(
            work, golds[:most], self.policy, self._rng, shown=judge.rows, golds_shown=judge.golds
        )

    def _text(self, number: int) -> str:
        """What is shown of an item, or of a gold, whose numbers are below 0."""
        return (self.items[number] if number >= 0 else self.golds[-1 - number]).text

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        """Grade golds, store judgments, decide on the judge."""
        judge = self.records[key]
        if not isinstance(sheet.page, tuple) or len(labels) != len(sheet.rows):
            raise BadData("a sheet of another collection, or not a label for each of its rows")
        told = self._graded(judge, sheet.page, labels, every=sheet.kind == "training")
        right = sum(one.right for one in told)
        if sheet.kind == "training":
            self._trained(judge, right)
            return SheetOutcome(_stage(judge), tuple(told))
        self._worked(judge, sheet.page, labels)
        record = replace(
            judge.record, seen=judge.record.seen + len(told), right=judge.record.right + right
        )
        judge.record = after_page(record, self.policy).record
        if not judge.trusted:
            for items in judge.items:
                self.trusted[items] -= 1
        missed = tuple(one for one in told if not one.right) if self.policy.feedback else ()
        return SheetOutcome(_stage(judge), missed)

    def _graded(
        self, judge: JudgeRecord, page: tuple[int, ...], labels: Sequence[str], *, every: bool
    ) -> list[GoldFeedback]:
        """How each gold of a page was answered."""
        told = []
        for row, number in enumerate(page):
            if number >= 0:
                continue
            truth = self.golds[-1 - number].truth
            told.append(GoldFeedback(row, (truth,), labels[row] == truth))
            judge.gold_shown[number] = len(judge.gold_shown)
        if not every:
            judge.rows += len(page)
            judge.golds += len(told)
        return told

    def _trained(self, judge: JudgeRecord, right: int) -> None:
        """One more pair of the training done; at its end they pass or fail."""
        judge.training.pop(0)
        record = replace(
            judge.record,
            training_seen=judge.record.training_seen + 1,
            training_right=judge.record.training_right + right,
        )
        pairs = self.policy.training_pairs
        judge.record = after_training(record, self.policy, pairs=pairs).record
        judge.trained = judge.record.stage != "training"
        if not judge.training and not judge.trained:  # until so many were right
            judge.training = choose_training(
                self._cards, training_left(record, self.policy, pairs=pairs),
                self.policy.training_mix, self._rng, seen=judge.gold_shown,
            )  # fmt: skip

    def _worked(self, judge: JudgeRecord, page: tuple[int, ...], labels: Sequence[str]) -> None:
        """Store the judgments of a page, and end its lease."""
        given = [label for number, label in zip(page, labels, strict=True) if number >= 0]
        work = np.array([number for number in page if number >= 0], dtype=np.int64)
        self._return(judge)
        self.trusted[work] += 1
        judge.judged[work] = True
        judge.items.append(work)
        judge.labels.append(given)

    def _return(self, judge: JudgeRecord) -> None:
        """Give the items of their page back to the pool."""
        if judge.leased is not None:
            self.leased[judge.leased] -= 1
            judge.leased = None

    def leave(self, key: str) -> None:
        """Their page, if they have one, returns to the pool."""
        self._return(self.records[key])


def _stage(judge: JudgeRecord) -> Stage:
    """Their stage, as a visitor knows it: nobody consents here."""
    stage = judge.record.stage
    return "training" if stage == "consent" else stage
