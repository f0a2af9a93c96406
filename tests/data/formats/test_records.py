"""JSON exports walked record by record."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.data.formats._records import (
    RecordRows,
    as_text,
    read_json,
    read_records,
    scalars,
    single,
)
from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.errors import BadData


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
    assert single(["a", "b"]) == (None, "2 labels (['a', 'b']) where one is wanted")
    assert single([{"a": 1}]) == (None, "{'a': 1} is no label; wanted a text or a number")


def test_only_what_fits_a_cell() -> None:
    found = {"a": 1, "b": "x", "c": None, "d": [], "e": {}, "f": False}
    assert scalars(found) == {"a": 1, "b": "x", "f": False}
    assert scalars(None) == {}


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
    with pytest.raises(BadData) as caught:
        read_json(File.at(path, "utf-8"))
    assert caught.value.sentence == ("r.json, line 2: byte 0xff is not UTF-8; wanted UTF-8")
    assert read_json(File.at(path, "latin-1")) == {"a": "ÿ"}
    path.write_text("[" * 100_000)
    with pytest.raises(BadData):
        read_json(File.at(path))
    path.write_bytes(b"")
    with pytest.raises(BadData) as caught:
        read_json(File.at(path))
    assert caught.value.sentence == "r.json: the file is empty (0 bytes)"


def test_rows_know_their_places() -> None:
    rows = RecordRows(File.of("r.json", b""), Options(skip_bad=True))
    rows.add("task 1", {"a": 1})
    rows.fault("task 2", "is odd")
    rows.add("task 3", {"b": None, "a": "2"})
    assert rows.table("z", "a").to_pylist() == [
        {"z": None, "a": "1", "b": None},
        {"z": None, "a": "2", "b": None},
    ]
    assert rows.values("a") == ["1", "2"]
    assert str(rows.source.error(1, "no", column="a")) == "r.json, task 3, column a: no"
    assert [(bad.place, bad.problem) for bad in rows.source.skipped] == [
        ("r.json, task 2", "is odd")
    ]
    assert len(rows) == 2
