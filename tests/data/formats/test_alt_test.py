"""Judgments by judge in JSON, as the alternative annotator test has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import Content, read, write
from adjudge.errors import BadData
from faults import fault_of


def kept(folder: Path, content: Any) -> Path:
    path = folder / "people.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_judges_items_and_labels(tmp_path: Path) -> None:
    path = kept(tmp_path, {"ann": {"a": 3, "b": 1.0}, "bob": {"a": 2, "c": None}})
    content = read(path)
    assert content.format == "alt-test"
    assert content.judgments is not None
    assert sorted(zip(*content.judgments.to_table().to_pydict().values(), strict=True)) == [
        ("a", "ann", "3"),
        ("a", "bob", "2"),
        ("b", "ann", "1"),
    ]
    assert str(content.judgments.scale) == "1 < 2 < 3"


def test_there_and_back(tmp_path: Path) -> None:
    before = read(kept(tmp_path, {"ann": {"a": "Yes", "b": "No"}, "bob": {"a": "No"}})).judgments
    assert before is not None
    path = tmp_path / "again.json"
    write(Content(judgments=before), path, format="alt-test")
    after = read(path).judgments
    assert after is not None
    assert after.to_table().to_pydict() == before.to_table().to_pydict()
    assert json.loads(path.read_text()) == {"ann": {"a": "Yes", "b": "No"}, "bob": {"a": "No"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"ann": {"a": 1}, "bob": 3}', ", judge 'bob', item 1: not-an-object"),
        ('{"ann": {"a": 1, "b": [1, 2]}}', ", judge 'ann', item 'b': not-one-label"),
        ('{"ann": {"a": null}}', ": no-judgments"),
        ('{"ann": {"a": 1}', ", line 1: invalid-json"),
        ('{"ann": {"a": 1, "b": "x"}}', ", judge 'ann', item 'b', column label: mixed-labels"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(BadData) as caught:
        read(kept(tmp_path, content))
    assert fault_of(caught.value) == f"people.json{message}"


def test_a_bad_judge_can_be_left_out(tmp_path: Path) -> None:
    content = read(kept(tmp_path, '{"ann": {"a": 1}, "bob": 3}'), skip_bad=True)
    assert len(content.bad) == 1
    assert content.judgments is not None
    assert content.judgments.judges.to_pylist() == ["ann"]


def test_a_second_judgment_has_no_room(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text("item,judge,label\na,x,1\na,x,0\n")
    judgments = read(path).judgments
    with pytest.raises(BadData, match="judge 'x' judged item 'a' more than once"):
        write(Content(judgments=judgments), tmp_path / "j.json", format="alt-test")


def test_jsonl_of_plain_judgments_is_not_taken_for_it(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"item": "a", "judge": "x", "label": 1}\n')
    assert read(path).format != "alt-test"
