"""Which items belong together: topics that are given, or read from the names of items."""

from __future__ import annotations

import pytest

from adjudge import Judgments
from adjudge.models._calibration import group_items


def table(items: list[str], **more: list[str]) -> Judgments:
    rows = {"item": items, "judge": ["j"] * len(items), "label": ["yes", "no"] * (len(items) // 2)}
    return Judgments.from_table({**rows, **more})


@pytest.mark.parametrize("sign", ["_", "/", ":", "|", " ", "__"])
def test_the_part_before_the_first_sign_is_the_topic(sign: str) -> None:
    judgments = table([f"q{number % 2}{sign}d{number}_{number}" for number in range(8)])
    found = group_items(judgments)
    assert found is not None
    number, names = found
    assert sorted(names.to_pylist()) == ["q0", "q1"]
    ours = [names[int(n)].as_py() for n in number]
    assert ours == [name[:2] for name in judgments.items.to_pylist()]


def test_topics_that_are_given_are_taken() -> None:
    items = [f"q{number % 2}_d{number}" for number in range(8)]
    found = group_items(table(items, topic=["a", "a", "b", "b", "c", "c", "d", "d"]))
    assert found is not None
    assert sorted(found[1].to_pylist()) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "items",
    [
        [f"item_{number}" for number in range(8)],  # one part only
        [f"doc{number}" for number in range(8)],  # no sign
        [f"{number}_a" for number in range(8)],  # as many parts as items
        ["q1_a", "q1_b", "q1_c", "q2_a", "q2_b", "q2_c", "q2_d", "other"],  # one without
        ["q1_", "q1_", "q1_", "q1_", "q2_", "q2_", "q2_", "q2_"],  # nothing after it
    ],
)
def test_other_names_give_no_topics(items: list[str]) -> None:
    assert group_items(table(items)) is None
