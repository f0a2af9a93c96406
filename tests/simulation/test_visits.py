"""A visit goes sheet by sheet, until the visitor leaves, is sent away, or nothing is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adjudge.simulation.behaviours import (
    Clicker,
    MadeJudge,
    Patience,
    Sheet,
    SheetOutcome,
    Stage,
    visit,
)

LABELS = ("a", "b")


class Counter:
    """A client with three training pairs and some pages, that notes what is asked of it."""

    def __init__(self, pages: int, *, blocks_after: int = 99) -> None:
        self.asked: list[str] = []
        self.pages = pages
        self.blocks_after = blocks_after
        self.trained = 0
        self.worked = 0

    def arrive(self, key: str) -> Stage:
        self.asked.append(f"arrive {key}")
        return "training"

    def sheet(self, key: str) -> Sheet | None:
        if self.trained < 3:
            return Sheet("training", ("pair",), LABELS)
        if self.worked == self.pages:
            return None
        return Sheet("work", ("one", "two"), LABELS)

    def submit(self, key: str, sheet: Sheet, labels: Sequence[str]) -> SheetOutcome:
        assert len(labels) == len(sheet.rows)
        self.asked.append(sheet.kind)
        if sheet.kind == "training":
            self.trained += 1
            return SheetOutcome("working" if self.trained == 3 else "training")
        self.worked += 1
        return SheetOutcome("blocked" if self.worked == self.blocks_after else "working")

    def leave(self, key: str) -> None:
        self.asked.append("leave")


def clicker(**patience: float) -> MadeJudge:
    return MadeJudge(Clicker(np.random.default_rng(0)), Patience(**patience))


@pytest.mark.parametrize(
    ("patience", "client", "wanted"),
    [
        ({}, Counter(2), ["training"] * 3 + ["work"] * 2 + ["leave"]),
        ({"training": 0}, Counter(2), ["leave"]),
        ({"training": 1}, Counter(2), ["training", "leave"]),
        ({"pages": 1}, Counter(2), ["training"] * 3 + ["work", "leave"]),
        ({}, Counter(9, blocks_after=2), ["training"] * 3 + ["work"] * 2),
    ],
)
def test_a_visit_ends_when_it_should(
    patience: dict[str, float], client: Counter, wanted: list[str]
) -> None:
    stages = list(visit(clicker(**patience), client, "me"))
    assert client.asked == ["arrive me", *wanted]
    assert len(stages) == len([word for word in wanted if word != "leave"])


def test_nothing_happens_before_the_first_step() -> None:
    client = Counter(1)
    steps = visit(clicker(), client, "me")
    assert client.asked == []
    assert next(steps) == "training"
    assert client.asked == ["arrive me", "training"]
