"""Text set apart by white space: what is a row, what is a number, what is a repeated pair."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.recognition import lines_like
from adjudge.data.formats.spaced import (
    WHOLE,
    check_cells,
    find_repeated,
    is_number,
    numbers_of,
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


def test_no_line_with_the_right_number_of_fields(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("1\n2\n")
    assert (
        complaint(read_spaced, File.at(tmp_path / "data"), Options(skip_bad=True), _NAMES)
        == "data: no-good-rows"
    )


def test_numbers() -> None:
    texts = ["1", "-2.5", "+.5", "1.", "1e-3", "x", "", "nan", "inf", "1e999", "0x1f", "1_000"]
    values, wrong = numbers_of(pa.array(texts))
    assert values.to_pylist()[:5] == [1.0, -2.5, 0.5, 1.0, 0.001]
    np.testing.assert_array_equal(wrong, [False] * 5 + [True] * 7)
    assert [is_number(text) for text in texts[:9]] == [True] * 5 + [False] * 4


def test_whole_numbers() -> None:
    texts = ["007", "-1", "1.0", "+1", "9" * 30, " 1"]
    values, wrong = numbers_of(pa.array(texts), whole=True)
    assert values.to_pylist()[:2] == [7, -1]
    np.testing.assert_array_equal(wrong, [False, False, True, True, True, True])
    assert [re.match(WHOLE, text) is not None for text in texts] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_repeated_pairs() -> None:
    table = pa.table({"a": ["x", "x", "y", "x", "y"], "b": ["1", "2", "1", "1", "1"]})
    np.testing.assert_array_equal(find_repeated(table, "a", "b"), [0, 1, 2, 0, 2])


def test_cells_that_cannot_be_written() -> None:
    table = pa.table({"a": ["x", "y"], "b": ["1 1", None]})
    check_cells(table, ("a",), "qrels", " ")
    check_cells(table.slice(0, 1), ("b",), "trec-2011", r"\t")
    assert complaint(check_cells, table, ("a", "b"), "qrels", " ") == "row 1, column b: bad-id"
    assert complaint(check_cells, table, ("b",), "trec-2011", r"\t") == "row 2, column b: bad-id"


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
