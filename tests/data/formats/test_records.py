"""Exports walked record by record, and which of their columns has which role."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.records import (
    RecordRows,
    as_text,
    inputs_of,
    read_json,
    read_records,
    single,
)
from adjudge.data.formats.tables import choose_question, pair_columns
from adjudge.errors import BadData
from reading import complaint


def test_values_as_text() -> None:
    values = [None, "x", True, 3, 3.0, 2.5, 12345678901234567890, [1], "a\ud800"]
    assert [as_text(value) for value in values] == [
        None,
        "x",
        "true",
        "3",
        "3",
        "2.5",
        "12345678901234567890",
        "[1]",
        "a?",
    ]


def test_single_labels() -> None:
    assert single(["a"]) == ("a", "")
    assert single([]) == (None, "")
    assert single("  ") == (None, "")
    assert single(0) == ("0", "")
    assert single(["a", "b"]) == (None, "expected one label, got 2: ['a', 'b']")
    assert single([{"a": 1}]) == (None, "expected text or a number as the label, got {'a': 1}")


def test_only_what_fits_a_cell_describes_an_item() -> None:
    found = {"a": 1, "b": "x", "c": None, "d": [], "e": {}, "f": False}
    assert inputs_of(found) == {"input.a": 1, "input.b": "x", "input.f": False}
    assert inputs_of('{"a": 1}') == {"input.a": 1}
    assert inputs_of(None) == {}


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


def test_rows_know_their_places() -> None:
    rows = RecordRows(File.of("r.json", b""), Options(skip_bad=True))
    rows.add("task 1", {"a": 1})
    rows.fault("task 2", "is odd", code="odd")
    rows.add("task 3", {"b": None, "a": "2"})
    assert rows.table("z", "a").to_pylist() == [
        {"z": None, "a": "1", "b": None},
        {"z": None, "a": "2", "b": None},
    ]
    assert rows.values("a") == ["1", "2"]
    assert str(rows.source.error(1, "no", column="a")) == "r.json, task 3, column a: no"
    assert [(bad.place,) for bad in rows.source.skipped] == [("r.json, task 2",)]
    assert len(rows) == 2


def test_the_only_question_needs_no_name() -> None:
    assert choose_question(["q", "q"], Options(), "f", "answer") == "q"


def test_no_question_is_an_error() -> None:
    assert complaint(choose_question, [], Options(), "f.csv", "answer") == "f.csv: no-question"


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
