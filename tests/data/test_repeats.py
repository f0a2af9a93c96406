"""Rows of one judge on one item: copies count once, true repeats all, others are asked about."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adjudge.data.judgments import Judgments
from adjudge.errors import BadData, ReadingWarning
from adjudge.models.dawid_skene import DawidSkene

RNG = np.random.default_rng(7)
CROWD = {  # 60 items, 5 judges, one label each
    "item": [f"i{n // 5}" for n in range(300)],
    "judge": [f"j{n % 5}" for n in range(300)],
    "label": [str(int((n // 5) % 2 == (RNG.random() < 0.8))) for n in range(300)],
}


def read(table: dict[str, Any], **options: Any) -> Judgments:
    return Judgments.from_table(pa.table(table), **options)


def twice(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: values * 2 for name, values in columns.items()}


def test_a_sample_next_to_query_and_document_is_not_the_item() -> None:
    table = {
        "query": ["q1", "q1", "q2"],
        "doc": ["d1", "d1", "d2"],
        "judge": ["a", "a", "b"],
        "label": ["1", "1", "0"],
        "sample": ["1", "2", "1"],
    }
    assert read(table).to_table()["item"].to_pylist() == ["q1/d1", "q1/d1", "q2/d2"]


def test_a_table_joined_to_itself_counts_once() -> None:
    once = read(CROWD)
    with pytest.warns(ReadingWarning, match="300 rows are copies"):
        doubled = read(twice(CROWD))
    assert len(doubled) == 300
    assert DawidSkene().fit(doubled).labels.equals(DawidSkene().fit(once).labels)
    assert len(read(twice(CROWD), repeats=True)) == 600


def test_a_copied_table_with_true_repeats_keeps_these() -> None:
    again = {name: values + values[:100] for name, values in CROWD.items()}
    again["label"][300:] = [str(n % 2) for n in range(100)]
    with pytest.warns(ReadingWarning, match="all are kept"):
        assert len(read(again)) == 400
    with pytest.warns(ReadingWarning, match="400 rows are copies"):
        assert len(read(twice(again))) == 400


@pytest.mark.parametrize("extra", ["time", "sample", "comment"])
def test_rows_that_differ_in_another_column_are_no_copies(extra: str) -> None:
    values = [f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z" for n in range(600)]
    if extra != "time":
        values = [str(n // 300) for n in range(600)]
    assert len(read(twice(CROWD) | {extra: values})) == 600
    assert len(read(twice(twice(CROWD) | {extra: values}))) == 600


def segments(**more: list[Any]) -> dict[str, Any]:
    """Three systems, twenty segments, two raters: what is judged is a system's segment."""
    rows = list(itertools.product("ABC", range(20), ("ann", "bob")))
    errors = np.random.default_rng(1).integers(0, 5, len(rows))
    return {
        "system": [system for system, _, _ in rows],
        "item": [f"s{segment}" for _, segment, _ in rows],
        "rater": [rater for *_, rater in rows],
        "label": [f"error {n}" for n in errors],
        **more,
    }


def test_an_incomplete_item_is_asked_about() -> None:
    with pytest.raises(BadData) as caught:
        read(segments())
    assert (caught.value.code, caught.value.value) == ("incomplete-item", ["system"])
    settings = {remedy.setting: remedy.value for remedy in caught.value.remedies}
    assert settings == {"columns": (("item", "item,system"),), "repeats": None}
    assert read(segments(), columns={"item": "item,system"}).item_count == 60
    assert read(segments(), repeats=True).item_count == 20


def test_samples_and_times_are_repeats() -> None:
    labels = ["1", "1", "0"] * 40
    rows = {
        "item": [f"i{n // 3}" for n in range(120)],
        "judge": ["gpt"] * 120,
        "label": labels,
        "sample": [n % 3 for n in range(120)],
        "page": [f"p{n % 3}" for n in range(120)],
    }
    with pytest.warns(ReadingWarning, match="different labels"):
        assert len(read(rows)) == 120
    rows["time"] = [f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z" for n in range(120)]
    mostly = [*(["1"] * 6 + ["0"] * 6) * 9, *["1", "0"] * 6]
    del rows["sample"]
    with pytest.warns(ReadingWarning, match="different labels"):
        assert len(read(rows | {"label": mostly})) == 120


def test_two_items_of_one_name_are_refused() -> None:
    table = {"a": ["x/y", "x"], "b": ["z", "y/z"], "judge": ["j", "k"], "label": ["1", "0"]}
    with pytest.raises(BadData) as caught:
        read(table, columns={"item": "a,b"})
    assert caught.value.code == "ambiguous-item"
