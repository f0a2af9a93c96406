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
    assert families(judgments) == {
        "m/short/1": "m",
        "m/long": "m",
        "m/short/2": "m",
        "n": "n",
    }
    assert judgments.to_table()["judge"].to_pylist() == [
        "m/short/1",
        "m/long",
        "m/short/2",
        "m/short/1",
        "n",
    ]


def test_what_never_varies_changes_no_name() -> None:
    judgments = read(item=["a", "b"], model=["m", "n"], version=["1", "2"], label=[0, 1])
    assert families(judgments) == {"m": None, "n": None}


def test_beside_judge_and_model_the_judge_is_parted_and_the_model_is_the_family() -> None:
    judgments = read(
        item=["a", "a", "a"],
        judge=["x", "x", "ann"],
        model=["m", "m", ""],
        version=["1", "2", ""],
        label=[0, 1, 1],
    )
    assert families(judgments) == {"x/1": "m", "x/2": "m", "ann": None}


def test_without_a_model_prompt_and_version_are_of_other_things() -> None:
    judgments = read(
        item=["a", "a"], judge=["x", "x"], prompt=["p", "q"], version=["1", "2"], label=[0, 1]
    )
    assert families(judgments) == {"x": None}


def test_a_prompt_of_its_own_for_each_item_is_the_item_not_the_judge() -> None:
    judgments = read(
        item=["a", "b", "c"], model=["m"] * 3, prompt=["how", "why", "who"], label=[0, 1, 1]
    )
    assert families(judgments) == {"m": None}


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
    judgments = read(item=["a"], judge=["x"], kind=["web page"], label=[0])
    assert judgments.kind is None


def test_a_judge_of_two_kinds_is_named() -> None:
    with pytest.raises(BadData) as caught:
        read(item=["a", "b"], judge=["x", "x"], kind=["human", "model"], label=[0, 1])
    assert caught.value.sentence == (
        "table, row 2, column kind: judge 'x' has kind 'model' here but 'person' at row 1; "
        "wanted one"
    )
