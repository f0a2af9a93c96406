"""What an actor can do at a desk where judgments are collected, whatever the desk is made of.

A desk in this process, for experiments, and a client of a server over HTTP look the same from
here, so that the same actors work at both. An actor sees what a judge would see: the rows of a
sheet as text, what she is told of them, and her own stage. Nothing tells gold from work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Stage = Literal["training", "working", "warned", "finished", "failed", "blocked"]
AT_WORK: tuple[Stage, ...] = ("training", "working", "warned")


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows to be answered together: in training one at a time, so that each mistake teaches."""

    kind: Literal["training", "work"]
    rows: tuple[str, ...]  # what is shown of each result
    labels: tuple[str, ...]
    page: object = None  # what the desk itself needs to know its own page again


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one gold that was answered: every one in training, the missed in work."""

    row: int  # its place on the sheet, from 0
    accepted: tuple[str, ...]
    right: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a sheet: where the actor stands now, and what she was told."""

    stage: Stage
    told: tuple[Told, ...] = ()


class Desk(Protocol):
    """A place where judges come, answer sheets and are told; ``key`` is who the judge is."""

    def arrive(self, key: str) -> Stage:
        """Take in someone who came, with her consent; the stage she begins at."""
        ...

    def sheet(self, key: str) -> Sheet | None:
        """The next sheet for her; None where there is nothing, for now or for good."""
        ...

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> Outcome:
        """Hand in a label for each row of a sheet."""
        ...

    def leave(self, key: str) -> None:
        """Go away, with or without an unanswered sheet, which returns to the pool."""
        ...


class Visitor(Protocol):
    """Someone who can be sent to a desk."""

    def stays(self, stage: Stage, sheets: int) -> bool:
        """Whether she goes on, at a stage at which she has answered so many sheets."""
        ...

    def answer(self, sheet: Sheet) -> list[str]:
        """A label for each row."""
        ...

    def learn(self, sheet: Sheet, labels: Sequence[str], told: Sequence[Told]) -> None:
        """Take in what she was told."""
        ...


def visit(visitor: Visitor, desk: Desk, key: str) -> Iterator[Stage]:
    """A judge's way through, one sheet a step, so that many can be at the desk in turns.

    It ends when she leaves, is sent away, or there is nothing left for her to do.
    """
    stage = desk.arrive(key)
    answered = {"training": 0, "work": 0}
    while stage in AT_WORK:
        kind = "training" if stage == "training" else "work"
        if not visitor.stays(stage, answered[kind]):
            desk.leave(key)
            return
        sheet = desk.sheet(key)
        if sheet is None:
            desk.leave(key)
            return
        labels = visitor.answer(sheet)
        outcome = desk.submit(key, sheet, labels)
        visitor.learn(sheet, labels, outcome.told)
        answered[sheet.kind] += 1
        stage = outcome.stage
        yield stage
