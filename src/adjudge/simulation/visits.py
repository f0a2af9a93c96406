"""What a made judge can do where judgments are collected, in this process or at a server.

A client in this process, for experiments, and a client of a server over HTTP look the same from
here, so that the same judges work at both. A made judge sees what any judge would see: the rows of
a sheet as text, the feedback on them, and their own stage. Nothing tells gold from work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from adjudge.simulation.behaviours import MadeJudge

Stage = Literal["training", "working", "warned", "finished", "failed", "blocked"]
AT_WORK: tuple[Stage, ...] = ("training", "working", "warned")


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows to be answered together: in training one at a time, so that each mistake teaches."""

    kind: Literal["training", "work"]
    rows: tuple[str, ...]  # what is shown of each result
    labels: tuple[str, ...]
    page: object = None  # what the client itself needs to know its own page again


@dataclass(frozen=True, slots=True)
class GoldFeedback:
    """What is told of one gold that was answered: every one in training, the missed in work."""

    row: int  # its place on the sheet, from 0
    accepted: tuple[str, ...]
    right: bool

    def right_answer(self, labels: Sequence[str]) -> str:
        """The right answer of its row: their own, given their labels, or the first accepted."""
        return labels[self.row] if self.right else self.accepted[0]


@dataclass(frozen=True, slots=True)
class SheetOutcome:
    """What came of a sheet: where the judge stands now, and the feedback."""

    stage: Stage
    feedback: tuple[GoldFeedback, ...] = ()


class JudgingClient(Protocol):
    """Where judges come, answer sheets and get feedback; ``key`` is who the judge is."""

    def arrive(self, key: str) -> Stage:
        """Take in someone who came, with their consent; the stage they begin at."""
        ...

    def sheet(self, key: str) -> Sheet | None:
        """The next sheet for them; None where there is nothing, for now or for good."""
        ...

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        """Hand in a label for each row of a sheet."""
        ...

    def leave(self, key: str) -> None:
        """Go away, with or without an unanswered sheet, which returns to the pool."""
        ...


def visit(judge: MadeJudge, client: JudgingClient, key: str) -> Iterator[Stage]:
    """A judge's way through, one sheet a step, so that many can be at work in turns.

    It ends when they leave, are sent away, or there is nothing left for them to do.
    """
    stage = client.arrive(key)
    answered = {"training": 0, "work": 0}
    while stage in AT_WORK:
        kind = "training" if stage == "training" else "work"
        stays = judge.patience.stays(stage, answered[kind])
        sheet = client.sheet(key) if stays else None
        if sheet is None:
            client.leave(key)
            return
        labels = judge.behaviour.answer(sheet)
        outcome = client.submit(key, sheet, labels)
        judge.behaviour.learn(sheet, labels, outcome.feedback)
        answered[sheet.kind] += 1
        stage = outcome.stage
        yield stage
