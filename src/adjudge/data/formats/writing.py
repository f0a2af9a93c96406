"""Files and folders written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from adjudge.errors import BadData

_TEXT = pa.large_string()
_ROWS = 65_536  # rows turned into text at a time
_MARKS = r"=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}"  # how formulas begin; wide ones too


def write_table(table: Any, file: IO[bytes], kind: str, *, guard: bool = False) -> None:
    """A table as .csv, .tsv, .jsonl or .parquet."""
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
) -> None:
    """A table as delimited text; with ``guard``, cells that a spreadsheet would run are disarmed.

    A cell that begins with ``= + - @``, a tab or a line's end gets an apostrophe before it, as
    spreadsheets themselves write text; ``unguarded`` takes it off. Only text columns are touched:
    a number stays a number. Cells are quoted only where they must be.
    """
    if guard:
        columns = [guarded(column) for column in table.columns]
        table = pa.table(columns, names=table.column_names)
    names = _quoted(pa.array(table.column_names, _TEXT), delimiter)
    file.write((delimiter.join(names.to_pylist()) + "\n").encode())
    write_rows(table, file, delimiter=delimiter, quoted=True)


def _join_cells(*parts: Any, by: str = "") -> Any:
    """Columns and constants joined row by row."""
    texts = [pa.scalar(p, _TEXT) if isinstance(p, str) else p.cast(_TEXT) for p in (*parts, by)]
    return pc.binary_join_element_wise(*texts)


def guarded(column: Any) -> Any:
    """A column with an apostrophe before each text that a spreadsheet would run."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    # Apostrophes before such a mark already get one more, so that taking one off is safe.
    risky = pc.match_substring_regex(column, f"^'*[{_MARKS}]")
    number = pc.match_substring_regex(column, r"^[+-]?[0-9]+([.][0-9]+)?$")
    return pc.if_else(pc.and_not(risky, number), _join_cells("'", column), column)


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


def write_rows(table: Any, file: IO[bytes], *, delimiter: str = "\t", quoted: bool = False) -> None:
    """The rows of a table as delimited text without a header; what is missing is an empty cell.

    Without ``quoted`` the cells are written as they are: that they hold no delimiter is for the
    caller to see to.
    """
    for batch in table.to_batches(max_chunksize=_ROWS):
        cells = [pc.fill_null(column.cast(_TEXT), "") for column in batch.columns]
        if quoted:
            cells = [_quoted(column, delimiter) for column in cells]
        lines = _join_cells(_join_cells(*cells, by=delimiter), "\n")
        file.write(_bytes_of(lines))


def _quoted(cells: Any, delimiter: str) -> Any:
    """Cells in double quotes where they hold a delimiter, a quote or the end of a line."""
    marks = (delimiter, '"', "\r", "\n")
    whole = _bytes_of(cells)  # one look at all cells is far cheaper than one at each
    if not any(mark.encode() in whole for mark in marks):
        return cells
    needed = pc.match_substring_regex(cells, f"[{''.join(marks)}]")
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(needed, _join_cells('"', doubled, '"'), cells)


def _bytes_of(texts: Any) -> bytes:
    """The cells of a large-string array, one after the other."""
    if not len(texts):
        return b""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)
    start, end = int(ends[texts.offset]), int(ends[texts.offset + len(texts)])
    return b"" if data is None else bytes(memoryview(data)[start:end])


def _write_jsonl(table: Any, file: IO[bytes]) -> None:
    """A table as one JSON object a line; times as ISO 8601, what is missing left out."""
    gap = pa.scalar(", ", _TEXT)
    keys = [f"{_spelt(name)}: " for name in table.column_names]
    for batch in table.to_batches(max_chunksize=_ROWS):
        pairs = [
            _join_cells(key, _json(column)) for key, column in zip(keys, batch.columns, strict=True)
        ]
        inside = pc.binary_join_element_wise(*pairs, gap, null_handling="skip")
        file.write(_bytes_of(_join_cells("{", inside, "}\n")))


def _json(column: Any) -> Any:
    """The cells of a column as JSON, null where there is none; a number that is none is missing."""
    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, kind))
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(_TEXT)
    if pa.types.is_nested(kind):
        return pa.array([None if v is None else _spelt(v) for v in column.to_pylist()], _TEXT)
    coded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
    return pa.array([_spelt(v) for v in coded.dictionary.to_pylist()], _TEXT).take(coded.indices)


def _spelt(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


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
        raise BadData(f"cannot be written ({reason})", source=str(path)) from None


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when all of it is there.

    It is written beside its place under another name and renamed at the end, so that a crash or
    Ctrl-C leaves what was there before. ``-`` is standard output. What is no regular file, such as
    a pipe, is written in place.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if path.is_dir():
        raise BadData("is a folder; wanted a file to write", source=str(path), expected="a file")
    if path.exists() and not path.is_file():
        with writing(path), path.open("wb") as file:
            yield file
        return
    _check_parent(path)
    _remove_leftovers(path)
    with writing(path):
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.{_owner()}.", suffix=".part", dir=path.parent
        )
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
        raise BadData("is a file; wanted a folder to write", source=str(path), expected="a folder")
    _check_parent(path)
    if path.is_dir():
        files = (file for file in path.rglob("*") if not file.is_dir())
        held = {file.relative_to(path).as_posix() for file in files}
        if held - replaces:
            raise BadData(
                f"there is {min(held - replaces)!r} in this folder; wanted a new or an empty one",
                source=str(path),
                expected="a new or an empty folder",
            )
    _remove_leftovers(path)
    with writing(path):
        name = tempfile.mkdtemp(prefix=f".{path.name}.{_owner()}.", suffix=".part", dir=path.parent)
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


def _owner() -> str:
    """Who writes, as it stands in the name of a file that is not whole: host and process."""
    host = "".join(c for c in socket.gethostname() if c.isalnum() or c == "-")[:40]
    return f"{host}.{os.getpid()}"


def _remove_leftovers(path: Path) -> None:
    """Remove what a process left that was killed while it wrote the same file.

    What a process that lives is writing stays, and so does what another machine may be writing.
    """
    host = _owner().rpartition(".")[0]
    start = f".{path.name}.{host}."
    with contextlib.suppress(OSError):
        for beside in path.parent.iterdir():
            if not (beside.name.startswith(start) and beside.name.endswith(".part")):
                continue
            process, _, _ = beside.name.removeprefix(start).partition(".")
            if not process.isdecimal() or _lives(int(process)):
                continue
            if beside.is_dir():
                if (beside / "old").is_dir() and not path.exists():
                    (beside / "old").rename(path)  # killed between two renames: nothing is lost
                shutil.rmtree(beside, ignore_errors=True)
            else:
                beside.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    """Whether a process is there; where that cannot be told, it is."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise BadData("there is no such folder to write into", source=str(path.parent))


def _mask() -> int:
    """The permissions that new files do not get; the system tells only by being told."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
