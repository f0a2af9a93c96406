"""Judgments put together: the same as if they had stood in one table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import BadData, BadSetting, Judgments, Scale
from strategies import judgments


def rows(table: Judgments) -> list[tuple[str, str, str]]:
    return sorted((r["item"], r["judge"], r["label"]) for r in table.to_table().to_pylist())


@given(judgments(), st.data())
def test_parts_of_a_table_are_the_table(table: Judgments, data: st.DataObject) -> None:
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))), bool
    )
    parts = [table.select(judgments=mask), table.select(judgments=~mask)]
    joined = Judgments.concat(parts)
    assert rows(joined) == rows(table)
    assert joined.scale == table.scale
    assert joined.topic_count == len(set(table.to_table().to_pydict().get("topic", [])))


def test_what_only_one_part_knows() -> None:
    first = Judgments.from_table(
        {"topic": ["q"], "document": ["d"], "judge": ["x"], "label": [1], "kind": ["model"]}
    )
    second = Judgments.from_table(
        {"item": ["q/d", "e"], "judge": ["y", "x"], "label": [2, 0], "family": ["f", "g"]}
    )
    joined = Judgments.concat([first, second, {"item": ["e"], "judge": ["z"], "label": [1]}])
    assert joined.scale == Scale.parse("0<1<2")
    assert joined.items.to_pylist() == ["q/d", "e"]
    assert joined.documents.to_pylist() == ["d", ""]
    assert joined.judges.to_pylist() == ["x", "y", "z"]
    assert [joined.families[c].as_py() if c >= 0 else None for c in joined.family] == [
        "g",
        "f",
        None,
    ]
    assert joined.kind.tolist() == [1, -1, -1]
    assert joined.counts_per_item.tolist() == [2, 2]


def test_two_topics_of_one_item_are_an_error() -> None:
    one = {"item": ["a"], "judge": ["x"], "label": [1]}
    with pytest.raises(BadData, match=r"item 'a' has two topics, 'p' and 'q'"):
        Judgments.concat([{**one, "topic": ["p"]}, {**one, "topic": ["q"]}])
    with pytest.raises(BadSetting, match="at least one part"):
        Judgments.concat([])
