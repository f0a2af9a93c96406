"""Files and folders written complete or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from adjudge.errors import BadData

_TEXT = pa.large_string()
_ROWS = 65_536  # rows turned into text at a time
_MARKS = r"=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}"  # how formulas begin; wide ones too


def write_table(table: Any, file: IO[bytes], kind: str, *, guard: bool = False) -> None:
    """Write a table as .csv, .tsv, .jsonl or .parquet."""
    if kind == ".parquet":
        pa.parquet.write_table(table, file)
    elif kind == ".jsonl":
        _write_jsonl(table, file)
    else:
        write_csv(table, file, delimiter="\t" if kind == ".tsv" else ",", guard=guard)


def write_csv(
    table: Any,
    file: IO[bytes],
    *,
    delimiter: str = ",",
    guard: bool = False,
    header: bool = True,
    quoted: bool = True,
) -> None:
    """Write a table as delimited text; a missing value is an empty cell.

    With ``guard``, text that a spreadsheet would run as a formula (it begins with ``= + - @``, a
    tab or the end of a line) gets an apostrophe before it, which ``unguarded`` takes off. Cells are
    quoted only where they must be; without ``quoted`` never, and the caller checks the cells.
    """
    columns = [guarded(column) if guard else column for column in table.columns]
    texts = pa.table([column.cast(_TEXT) for column in columns], names=table.column_names)
    if header:
        file.write(_lines([table.column_names], delimiter, quoted))
    options = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    for batch in texts.to_batches(max_chunksize=_ROWS):
        try:
            body = io.BytesIO()
            pa.csv.write_csv(batch, body, options)
            file.write(body.getbuffer())
        except pa.ArrowInvalid:  # a cell that has to be quoted
            cells = (column.fill_null("").to_pylist() for column in batch.columns)
            file.write(_lines(zip(*cells, strict=True), delimiter, quoted))


def _lines(rows: Iterable[Iterable[str]], delimiter: str, quoted: bool) -> bytes:
    """Return rows as lines of delimited text."""
    lines: list[str] = []
    csv.writer(
        # Cells with either end of a line are quoted only if both end a row.
        SimpleNamespace(write=lambda line: lines.append(line[:-2] + "\n")),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        quotechar='"' if quoted else None,
        lineterminator="\r\n",
    ).writerows(rows)
    return "".join(lines).encode()


def guarded(column: Any) -> Any:
    """A column with an apostrophe before each text that a spreadsheet would run."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    # Apostrophes before such a mark already get one more, so that taking one off is safe.
    risky = pc.match_substring_regex(column, f"^'*[{_MARKS}]")
    number = pc.match_substring_regex(column, r"^[+-]?[0-9]+([.][0-9]+)?$")
    marked = pc.utf8_replace_slice(column, start=0, stop=0, replacement="'")
    return pc.if_else(pc.and_not(risky, number), marked, column)


def unguarded(table: Any) -> Any:
    """A table of text columns, each as it was before ``write_csv`` disarmed its cells."""
    columns = []
    for column in table.columns:
        if any(pc.any(pc.starts_with(text, "'")).as_py() for text in _distinct(column)):
            text = column.cast(pa.string())
            columns.append(pc.replace_substring_regex(text, f"^'('*[{_MARKS}])", r"\1"))
        else:
            columns.append(column)
    return pa.table(columns, names=table.column_names)


def _distinct(column: Any) -> list[Any]:
    """Arrays with every text of a column; of a dictionary, those of its entries."""
    if pa.types.is_dictionary(column.type):
        return [chunk.dictionary for chunk in column.chunks[:1]]
    return [column]


def _write_jsonl(table: Any, file: IO[bytes]) -> None:
    """Write a table as one JSON object per line, without what is missing or not finite."""
    for batch in table.to_batches(max_chunksize=_ROWS):
        for record in batch.to_pylist():
            known = {
                name: value
                for name, value in record.items()
                if value is not None and not (isinstance(value, float) and not isfinite(value))
            }
            file.write((json.dumps(known, ensure_ascii=False, default=str) + "\n").encode())


_unfinished: set[str] = set()  # files that are of no use as they are


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the system says against writing a file, said as an error of ours; but a closed pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise BadData.at(path, "unwritable-file", f"cannot be written ({reason})") from None


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when all of it is there.

    It is written next to its place under another name and renamed at the end, so that a crash or
    Ctrl-C leaves what was there before. ``-`` is standard output. Other than regular
    files, such as pipes, are written in place.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if path.is_dir():
        raise BadData.at(path, "not-a-file", "is a folder; expected a file to write")
    if path.exists() and not path.is_file():
        with writing(path), path.open("wb") as file:
            yield file
        return
    _check_parent(path)
    with writing(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    _unfinished.add(name)
    try:
        with writing(path), os.fdopen(handle, "wb") as file:
            yield file
        with writing(path):
            os.chmod(name, 0o666 & ~_mask())
            os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    finally:
        _unfinished.discard(name)


def remove_unfinished() -> None:
    """Remove what is half-written, where a process ends without another word."""
    for name in list(_unfinished):
        with contextlib.suppress(OSError):
            os.remove(name)


@contextmanager
def written_folder(path: Path, *, replaces: frozenset[str] = frozenset()) -> Iterator[Path]:
    """A folder to fill that takes its name only when everything is in it.

    A folder that is there already is replaced if it holds nothing but the files in ``replaces``,
    which are those of an earlier run; anything else in it is somebody's and an error.
    """
    if path.exists() and not path.is_dir():
        raise BadData.at(path, "not-a-folder", "is a file; expected a folder to write")
    _check_parent(path)
    if path.is_dir():
        files = (file for file in path.rglob("*") if not file.is_dir())
        held = {file.relative_to(path).as_posix() for file in files}
        if held - replaces:
            problem = f"there is {min(held - replaces)!r} in this folder; expected an empty one"
            raise BadData.at(path, "folder-not-empty", problem)
    with writing(path):
        name = tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    made = Path(name)
    try:
        with writing(path):
            (made / "new").mkdir()
            yield made / "new"
            if path.is_dir():
                path.rename(made / "old")
            (made / "new").rename(path)
    finally:
        if (made / "old").is_dir() and not path.exists():
            (made / "old").rename(path)
        shutil.rmtree(made, ignore_errors=True)


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise BadData.at(path.parent, "missing-folder", "there is no such folder to write into")


def _mask() -> int:
    """The permissions that new files do not get; the system shows it only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
