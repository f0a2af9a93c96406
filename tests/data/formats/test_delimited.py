"""Delimited text: what Arrow reads, and the line of whatever it cannot."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data.formats.delimited import Delimited, read_delimited
from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.errors import BadData
from faults import fault_of
from sizes import sized


def _file(folder: Path, text: str | bytes, name: str = "judgments.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _at(path: Path, options: Options | None) -> File:
    return File.at(path, "utf-8" if options is None else options.encoding)


def _rows(path: Path, options: Options | None = None, **shape: object) -> list[list[str]]:
    table, _ = read_delimited(_at(path, options), options or Options(), **shape)  # type: ignore[arg-type]
    return [list(row.values()) for row in table.to_pylist()]


def _complaint(path: Path, options: Options | None = None, **shape: object) -> str:
    with pytest.raises(BadData) as raised:
        _rows(path, options, **shape)
    return fault_of(raised.value)


def test_cells_are_always_text(tmp_path: Path) -> None:
    path = _file(tmp_path, "a,b,c\n007,1.0,NA\nnull,,true\n")
    assert _rows(path) == [["007", "1.0", "NA"], ["null", "", "true"]]


def test_blank_lines_are_no_rows_but_count_as_lines(tmp_path: Path) -> None:
    path = _file(tmp_path, "\n\na,b\n\n1,2\n\n\n3,4\n\n")
    table, source = read_delimited(File.at(path), Options())
    assert table.to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}
    assert str(source.error(1, "so")) == "judgments.csv, line 8: so"


def test_newlines_in_quotes_belong_to_the_cell_and_count_as_lines(tmp_path: Path) -> None:
    path = _file(tmp_path, 'a,b\n"one\ntwo\r\nthree",2\n3,4\n')
    table, source = read_delimited(File.at(path), Options())
    assert table["a"].to_pylist() == ["one\ntwo\r\nthree", "3"]
    assert str(source.error(1, "so")) == "judgments.csv, line 5: so"


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a,b\n\n\n"])
def test_a_header_and_nothing_else_is_an_empty_table(tmp_path: Path, text: str) -> None:
    table, _ = read_delimited(File.at(_file(tmp_path, text)), Options())
    assert table.to_pydict() == {"a": [], "b": []}


def test_a_name_twice_in_the_header(tmp_path: Path) -> None:
    assert _complaint(_file(tmp_path, "\na,b, a\n1,2,3\n")) == (
        "judgments.csv, line 2, column a: repeated-column"
    )


def test_a_nul_byte_in_the_header(tmp_path: Path) -> None:
    assert _complaint(_file(tmp_path, "a,b\n1,2\n".encode("utf-16-le"))) == (
        "judgments.csv, line 1: bad-encoding"
    )


@pytest.mark.parametrize(
    ("row", "cells"), [("3", "1 cell"), ("3,4,5", "3 cells"), ("  ", "1 cell")]
)
def test_a_ragged_row(tmp_path: Path, row: str, cells: str) -> None:
    path = _file(tmp_path, f'a,b\n1,"2\n"\n\n{row}\n6,7\n')
    assert _complaint(path) == "judgments.csv, line 5: wrong-width"


def test_ragged_rows_are_skipped_and_listed(tmp_path: Path) -> None:
    path = _file(tmp_path, "a,b\n1,2\n3\n4,5\n\n6,7,8\n9,0\n")
    table, source = read_delimited(File.at(path), Options(skip_bad=True))
    assert table.to_pydict() == {"a": ["1", "4", "9"], "b": ["2", "5", "0"]}
    assert [(bad.row, bad.place) for bad in source.skipped] == [
        (1, "judgments.csv, line 3"),
        (3, "judgments.csv, line 6"),
    ]
    assert str(source.error(2, "so")) == "judgments.csv, line 7: so"


def test_a_quote_never_closed_does_not_swallow_the_rest(tmp_path: Path) -> None:
    rest = "".join(f"{i},{i}\n" for i in range(100_000))
    path = _file(tmp_path, f'a,b\n1,2\n"3,4\n{rest}')
    assert _complaint(path) == "judgments.csv, line 3: open-quote"


def test_quotes_are_cells_where_the_format_has_none(tmp_path: Path) -> None:
    path = _file(tmp_path, 'a\tb\n"1\t2\n')
    assert _rows(path, delimiter="\t", quoted=False) == [['"1', "2"]]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8"])
def test_named_encodings(tmp_path: Path, encoding: str) -> None:
    path = _file(tmp_path, 'a,b\ncafé,"x\ny"\n'.encode(encoding))
    assert _rows(path, Options(encoding=encoding)) == [["café", "x\ny"]]


def test_very_long_rows(tmp_path: Path) -> None:
    length = sized(4_000_000, full=40_000_000)  # more than a block of Arrow
    path = _file(tmp_path, f'a,b\n1,2\n"{"x" * length}",3\n4,5\n')
    table, source = read_delimited(File.at(path), Options())
    assert [len(cell) for cell in table["a"].to_pylist()] == [1, length, 1]
    assert str(source.error(2, "so")) == "judgments.csv, line 4: so"


def test_the_delimiter_is_a_tab_if_the_header_has_as_many_as_commas(tmp_path: Path) -> None:
    assert File.at(_file(tmp_path, "\na,b\tc\n")).delimiter == "\t"
    assert File.at(_file(tmp_path, "a,b,c\td\n")).delimiter == ","
    assert File.at(_file(tmp_path, "a,b\n1,\t\n")).delimiter == ","


_CELL = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=6
)


@given(
    rows=st.lists(st.tuples(_CELL, _CELL), min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    delimiter=st.sampled_from([",", "\t"]),
)
def test_what_pythons_own_writer_wrote_is_read_with_its_lines(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], end: str, delimiter: str
) -> None:
    text = io.StringIO(newline="")
    # The writer leaves a lone return unquoted where lines end otherwise: then quote everything.
    quoting = csv.QUOTE_MINIMAL if end == "\r\n" else csv.QUOTE_ALL
    writer = csv.writer(text, lineterminator=end, delimiter=delimiter, quoting=quoting)
    writer.writerow(["a", "b"])
    lines = []
    for row in rows:
        before = text.getvalue()
        lines.append(len(before.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
        writer.writerow(row)
    path = _file(tmp_path_factory.mktemp("rows"), text.getvalue())
    assert _rows(path, delimiter=delimiter) == [list(row) for row in rows]
    assert Delimited(File.at(path), delimiter).lines == lines
