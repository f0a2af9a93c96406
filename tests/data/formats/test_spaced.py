"""Text set apart by white space: what is a row, what is a number, what is a repeated pair."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.recognition import lines_like
from adjudge.data.formats.spaced import (
    read_spaced,
)
from reading import complaint

_NAMES = ("a", "b")


@pytest.mark.parametrize(
    "data",
    [
        b"1 2\n3 4\n",
        b"1\t2\r\n3\t4",
        b"1 2\r3 4\r",
        b"\xef\xbb\xbf1 2\n\n \t\n  3 \t 4  \n",
        "1 2\n3 4\n".encode("utf-16"),
    ],
)
def test_rows(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "data").write_bytes(data)
    encoding = "utf-16" if data.startswith(b"\xff\xfe") else "utf-8"
    table, _ = read_spaced(File.at(tmp_path / "data", encoding), Options(encoding=encoding), _NAMES)
    assert table.to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}


def test_compressed_rows_know_their_lines(tmp_path: Path) -> None:
    (tmp_path / "data.gz").write_bytes(gzip.compress(b"\n1 2\n\n3 4\n"))
    table, source = read_spaced(File.at(tmp_path / "data.gz"), Options(), _NAMES)
    assert table["b"].to_pylist() == ["2", "4"]
    assert str(source.error(1, "so")) == "data.gz, line 4: so"


def test_other_white_space_belongs_to_the_cell(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a\u00a0b c\n")
    table, _ = read_spaced(File.at(tmp_path / "data"), Options(), _NAMES)
    assert table.to_pydict() == {"a": ["a\u00a0b"], "b": ["c"]}


def test_lines_with_too_few_or_too_many_fields(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("1 2\n3\n4 5 6\n7 8\n")
    assert (
        complaint(read_spaced, File.at(tmp_path / "data"), Options(), _NAMES)
        == "data, line 2: wrong-width"
    )
    table, source = read_spaced(File.at(tmp_path / "data"), Options(skip_bad=True), _NAMES)
    assert table["a"].to_pylist() == ["1", "7"]
    assert [bad.place for bad in source.skipped] == ["data, line 2", "data, line 3"]
    assert str(source.error(1, "so")) == "data, line 4: so"


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("1 2\n3 4\n", True),
        ("1 2\nbroken\n3 4\n", True),
        ("a b c\n1 2\n3 4\n", False),
        ("1 2\nx\ny\nz\n", False),
        ("1 2", True),
        ("\n\n", False),
    ],
)
def test_the_first_line_and_most_others_must_fit(text: str, fits: bool) -> None:
    assert lines_like(lambda cells: len(cells) == 2)(File.of("data", text.encode())) == fits
