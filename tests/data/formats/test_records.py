"""Exports walked record by record, and which of their columns has which role."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.records import (
    read_json,
    read_records,
)
from adjudge.data.formats.tables import choose_question, pair_columns
from adjudge.errors import BadData
from reading import complaint


def test_records_of_an_array_or_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('\n[{"a": 1}, 2]')
    assert read_records(File.at(path), "task") == [("task 1", {"a": 1}), ("task 2", 2)]
    path.write_text('{"a": 1}\n\n{"b": "x\u2028y"}\n')  # a line separator ends no line of JSON
    assert read_records(File.at(path), "task") == [
        ("task 1", {"a": 1}),
        ("task 2", {"b": "x\u2028y"}),
    ]
    path.write_text('{\n"a": 1\n}')
    assert read_records(File.at(path), "task") == [("task 1", {"a": 1})]


def test_files_that_are_no_json(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b'{"a":\n"\xff"}')
    assert complaint(read_json, File.at(path, "utf-8")) == "r.json, line 2: bad-encoding"
    assert read_json(File.at(path, "latin-1")) == {"a": "ÿ"}
    path.write_text("[" * 100_000)
    with pytest.raises(BadData):
        read_json(File.at(path))
    path.write_bytes(b"")
    assert complaint(File.at, path) == "r.json: empty-file"


def test_a_prefix_may_be_said() -> None:
    found = ["b", "a.b"]
    assert choose_question(found, Options(question="b"), "f", "answer") == "b"
    assert choose_question(found, Options(question="a.b"), "f", "answer") == "a.b"
    assert choose_question(found, Options(question="Answer.a.b"), "f", "answer") == "a.b"
    assert choose_question(found, Options(question="OUTPUT:b"), "f", "answer") == "b"


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (["query", "docno"], {"topic": "query", "document": "docno"}),
        (["Topic_ID", "Doc ID", "url"], {"topic": "Topic_ID", "document": "Doc ID"}),
        (["query", "URL"], {"topic": "query", "document": "URL"}),
        (["image_url", "text"], {}),
        (["q"], {"topic": "q"}),
        ([], {}),
    ],
)
def test_inputs_are_topic_and_document_by_name_only(names: list[str], pair: dict[str, str]) -> None:
    assert pair_columns(names) == pair
