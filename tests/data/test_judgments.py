from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import BadData, Gold, Judgments, Scale
from adjudge.data.source import Source
from strategies import judgments


@pytest.fixture
def small() -> Judgments:
    return Judgments.from_table(
        {
            "topic": ["q1", "q2", "q1", "q1", "q2"],
            "document": ["a", "a", "b", "a", "a"],
            "judge": ["x", "x", "y", "y", "x"],
            "label": [0, 2, 1, 0, 1],
        }
    )


def test_rows_are_grouped_by_item_in_the_order_they_came(small: Judgments) -> None:
    assert small.items.to_pylist() == ["q1/a", "q2/a", "q1/b"]
    assert small.documents.to_pylist() == ["a", "a", "b"]
    assert small.topics.to_pylist() == ["q1", "q2"]
    assert small.topic.tolist() == [0, 1, 0]
    assert small.offsets.tolist() == [0, 2, 4, 5]
    assert small.judge.tolist() == [0, 1, 0, 0, 1]
    assert small.label.tolist() == [0, 0, 2, 1, 1]
    assert small.item.tolist() == [0, 0, 1, 1, 2]
    assert small.counts_per_judge.tolist() == [3, 2]
    assert repr(small) == "Judgments(5 judgments, 3 items, 2 judges, 2 topics, scale 0 < 1 < 2)"


def test_selection_drops_what_is_left_empty(small: Judgments) -> None:
    left = small.select(items=np.array([False, True, False]))
    assert left.items.to_pylist() == ["q2/a"]
    assert left.judges.to_pylist() == ["x"]
    assert left.topics.to_pylist() == ["q2"]
    kept = small.select(items=np.array([False, True, False]), keep_empty=True)
    assert kept.judges.to_pylist() == ["x", "y"]
    none = small.select(judgments=small.label < 0, keep_empty=True)
    assert none.item_count == 3
    assert len(none) == 0


def test_labels_can_be_dropped_and_collapsed(small: Judgments) -> None:
    left = small.without_labels(2)
    assert left.scale.labels == ("0", "1")
    assert len(left) == 4
    assert small.collapse().label.tolist() == [0, 0, 1, 1, 1]
    with pytest.raises(BadData, match="label '7' is not on the scale 0 < 1 < 2"):
        small.without_labels(7)
    with pytest.raises(BadData, match="label '2' is not on the scale 0 < 1"):
        small.with_scale(Scale.parse("0<1"))


def test_items_can_be_added_without_judgments(small: Judgments) -> None:
    more = small.with_items(pa.array(["q1/a", "q9/z"]), topics=pa.array(["q1", "q9"]))
    assert more.items.to_pylist() == ["q1/a", "q2/a", "q1/b", "q9/z"]
    assert more.topics.to_pylist() == ["q1", "q2", "q9"]
    assert more.topic.tolist() == [0, 1, 0, 2]
    assert more.counts_per_item.tolist() == [2, 2, 1, 0]
    assert small.with_items(pa.array(["q1/a"])) is small


@given(table=judgments())
def test_tables_come_back_as_they_went(table: Judgments) -> None:
    back = Judgments.from_table(table.to_table(), scale=table.scale, repeats=True)
    rows = {(r["item"], r["judge"], r["label"]) for r in table.to_table().to_pylist()}
    assert {(r["item"], r["judge"], r["label"]) for r in back.to_table().to_pylist()} == rows
    assert len(back) == len(table)


@given(table=judgments(), data=st.data())
def test_selection_keeps_exactly_the_chosen_rows(table: Judgments, data: st.DataObject) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    left = table.select(judgments=mask)
    expected = [row for row, kept in zip(table.to_table().to_pylist(), mask, strict=True) if kept]
    assert left.to_table().to_pylist() == expected


def test_times_and_seconds_are_kept_in_order() -> None:
    table = {
        "item": ["b", "a", "b"],
        "judge": ["x", "x", "y"],
        "label": [1, 0, 1],
        "time": ["2026-01-01T00:00:00", "2026-01-01T00:01:00", ""],
        "seconds": ["1.5", "", "3"],
    }
    made = Judgments.from_table(table)
    assert made.items.to_pylist() == ["b", "a"]
    assert np.diff(made.time)[1:].tolist() != [60.0]
    assert made.time[2] - made.time[0] == 60
    assert np.isnan(made.time[1])
    assert made.seconds.tolist()[:2] == [1.5, 3.0]
    assert np.isnan(made.seconds[2])
    place = Source("t")
    table["seconds"][0], table["time"][1] = "long", "later"
    timed = Judgments.from_table(table, source=place)
    assert np.isnan(timed.seconds[0])
    assert [note.partition(":")[0] for note in place.notes] == ["column time", "column seconds"]


def test_ids_with_slashes_that_collide_are_refused() -> None:
    rows = {"topic": ["a/b", "a"], "document": ["c", "b/c"], "judge": ["x", "x"], "label": [0, 1]}
    with pytest.raises(BadData, match="two pairs of topic and document give one item id"):
        Judgments.from_table(rows)
    named = Judgments.from_table(rows | {"item": ["1", "2"]})
    assert named.items.to_pylist() == ["1", "2"]
    assert named.documents.to_pylist() == ["c", "b/c"]


def test_an_item_in_two_topics_is_refused() -> None:
    rows = {"item": ["1", "1"], "topic": ["a", "b"], "judge": ["x", "y"], "label": [0, 1]}
    with pytest.raises(BadData) as caught:
        Judgments.from_table(rows)
    assert (caught.value.row, caught.value.column) == (2, "topic")
    assert (caught.value.value, caught.value.expected) == ("b", "a")


class TestGold:
    def test_aligns_by_name_and_ignores_the_rest(self, small: Judgments) -> None:
        gold = Gold.of({"q1/b": 2, "elsewhere": "0", "q1/a": 1.0})
        assert gold.align(small).tolist() == [1, -1, 2]
        assert gold.without_judgments(small).tolist() == [False, True, False]
        assert gold.texts() == ["2", "0", "1"]

    def test_a_value_off_the_scale_is_named(self, small: Judgments) -> None:
        with pytest.raises(BadData) as caught:
            Gold.of({"q1/a": 5}).align(small)
        assert (caught.value.column, caught.value.value) == ("gold", "5")

    def test_contradictory_gold_is_refused(self) -> None:
        with pytest.raises(BadData) as caught:
            Gold.from_table({"item": ["a", "b", "a"], "gold": [1, 0, 0]})
        assert (caught.value.row, caught.value.value, caught.value.expected) == (3, "0", "1")

    def test_empty_cells_are_no_gold_and_repeats_are_one(self) -> None:
        gold = Gold.from_table(
            {
                "item": ["a", "b", "a", "c"],
                "gold": ["1", "", "1", None],
                "honeypot": ["yes", "", "yes", ""],
                "reason": ["so", "", "so", ""],
            }
        )
        assert gold.items.to_pylist() == ["a"]
        assert gold.honeypot.tolist() == [True]
        assert gold.reasons.to_pylist() == ["so"]
        assert gold.to_table().to_pylist() == [
            {"item": "a", "gold": "1", "reason": "so", "honeypot": True}
        ]

    def test_collapses_with_the_scale(self, small: Judgments) -> None:
        gold = Gold.of({"q1/a": 2, "q1/b": 0}).collapse(small.scale)
        assert gold.texts() == ["1", "0"]
        assert len(gold.select(np.array([True, False]))) == 1

    def test_honeypots_are_found(self, small: Judgments) -> None:
        gold = Gold.from_table({"item": ["q2/a"], "gold": ["1"], "honeypot": ["true"]})
        assert gold.honeypots(small).tolist() == [False, True, False]
        assert not Gold.of({"q1/a": 1}).honeypots(small).any()
