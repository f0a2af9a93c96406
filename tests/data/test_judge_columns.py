"""Families, kinds, prompts and versions of judges, as columns say them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from adjudge.data.judgments import Judgments
from adjudge.errors import BadData


def read(**columns: Any) -> Judgments:
    return Judgments.from_table(pa.table(columns))


def families(judgments: Judgments) -> dict[str, str | None]:
    names = [] if judgments.families is None else judgments.families.to_pylist()
    code = [-1] * judgments.judge_count if judgments.family is None else judgments.family.tolist()
    found = [names[c] if c >= 0 else None for c in code]
    return dict(zip(judgments.judges.to_pylist(), found, strict=True))


def test_prompts_and_versions_of_a_model_are_judges_of_one_family() -> None:
    judgments = read(
        item=["a", "a", "a", "b", "b"],
        model=["m", "m", "m", "m", "n"],
        prompt=["short", "long", "short", "short", ""],
        version=["1", "1", "2", "1", "9"],
        label=[0, 1, 0, 1, 1],
    )
    # The long prompt was asked under one version only, so its name needs no version.
    assert families(judgments) == {"m/short/1": "m", "m/long": "m", "m/short/2": "m", "n": "n"}
    names = ["m/short/1", "m/long", "m/short/2", "m/short/1", "n"]
    assert judgments.to_table()["judge"].to_pylist() == names


@pytest.mark.parametrize(
    "columns",
    [
        {"item": ["a", "b"], "model": ["m", "n"], "version": ["1", "2"]},  # one version each
        {"item": ["a", "a"], "judge": ["m", "m"], "prompt": ["p", "q"]},  # of no model
        {"item": [*"abc"], "model": ["m"] * 3, "prompt": ["how", "why", "who"]},  # of items
    ],
)
def test_prompts_and_versions_of_other_things_change_no_name(columns: dict[str, Any]) -> None:
    found = families(read(**columns, label=[0, 1, 1][: len(columns["item"])]))
    assert set(found) <= {"m", "n"}
    assert set(found.values()) == {None}


def test_with_judge_and_model_columns_the_model_is_the_family() -> None:
    judgments = read(
        item=["a", "a", "a"],
        judge=["x", "x", "ann"],
        model=["m", "m", ""],
        version=["1", "2", ""],
        label=[0, 1, 1],
    )
    assert families(judgments) == {"x/1": "m", "x/2": "m", "ann": None}


def test_a_kind_is_read_from_its_usual_words() -> None:
    judgments = read(
        item=["a"] * 4,
        judge=["ann", "gpt", "bob", "cy"],
        kind=["Human", "LLM", "persons", "?"],
        label=[0, 1, 1, 1],
    )
    assert judgments.kind is not None
    assert judgments.kind.tolist() == [0, 1, 0, -1]
    some = judgments.select(judgments=judgments.judge != 0)
    assert some.kind is not None
    assert some.kind.tolist() == [1, 0, -1]


def test_a_column_of_other_kinds_says_nothing() -> None:
    for kind in ("web page", "work", "training"):
        assert read(item=["a"], judge=["x"], kind=[kind], label=[0]).kind is None


def test_a_judge_of_two_kinds_is_named() -> None:
    with pytest.raises(BadData) as caught:
        read(item=["a", "b"], judge=["x", "x"], kind=["human", "model"], label=[0, 1])
    assert (caught.value.row, caught.value.column) == (2, "kind")
    assert (caught.value.value, caught.value.expected) == ("model", "person")
