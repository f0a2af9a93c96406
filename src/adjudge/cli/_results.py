"""Results for people and programs: tables to files, pipes or the screen, JSON, numbers."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import is_piped, say
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.cli._options import Delivery, Printing
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Kind

STDOUT = Path("-")
_EXTENSIONS = (".csv", ".tsv", ".jsonl", ".parquet")
_WIDEST = 40  # characters of a cell
_GAP = 2  # between columns
_TEXT = 24  # characters that text in the last column needs
_NAME = 12  # and a name in the first
Column = str | tuple[str, Callable[[Any], str]]  # a field, or a heading and what makes cells


def check_places(
    places: Mapping[str, Path | None],
    *,
    inputs: Iterable[str | Path | None] = (),
    free: Collection[str] = (),
    printing: Printing | None = None,
) -> None:
    """Refuse places that cannot be written, or must not be, before any work is done.

    ``places`` are paths by their options; those of ``free`` options may have any name, or be
    folders. No input is overwritten, since it could not be restored. With ``printing``, standard
    output may not have both a table and JSON.
    """
    from adjudge.data.formats.opening import is_uri

    taken = {
        Path(place).resolve(): "the file that is read"
        for place in inputs
        if place is not None and not is_uri(str(place))
    }
    for option, path in places.items():
        if path is None or path == STDOUT:
            continue
        if option not in free:
            _kind_of(path, option)
            if path.is_dir():
                raise BadData("is a folder; expected a file to write", source=str(path))
        if path.resolve() in taken:
            raise BadSetting(option, str(path), f"another place than {taken[path.resolve()]}")
        taken[path.resolve()] = f"that of {option}"
        if not path.parent.is_dir():
            raise BadData("there is no such folder to write into", source=str(path.parent))
        if not os.access(path.parent, os.W_OK):
            raise BadData("is a folder that may not be written into", source=str(path.parent))
    if printing is not None and printing.json and places["--output"] == STDOUT:
        raise BadSetting("--json", True, "-o FILE, since standard output cannot have both")


def _kind_of(path: Path, option: str = "--output") -> str:
    """The kind of table a path asks for; what is not a file, such as a pipe, gets CSV."""
    if path == STDOUT or (path.exists() and not path.is_file() and not path.is_dir()):
        return ".csv"
    kind = path.suffix.lower()
    if kind not in _EXTENSIONS:
        raise BadSetting(option, str(path), f"a name that ends in {', '.join(_EXTENSIONS)}")
    return kind


def check_format(to: str, output: Path, kind: Kind | None = None) -> None:
    """Refuse a format that does not exist, does not hold ``kind``, or cannot be shown."""
    from adjudge.data.formats import formats, named

    entry = named(to)
    if kind is not None and kind not in entry.writes and entry.extension[1:] != to:
        able = [other.name for other in formats().values() if kind in other.writes]
        raise BadSetting("--to", to, f"a format that holds {kind}: {', '.join(able)}")
    if entry.extension == ".parquet" and output == STDOUT and not is_piped():
        raise BadSetting("--output", None, "a file, since Parquet is not for a terminal")


def write_tables(
    tables: Mapping[str, tuple[Any, Path | None]], *, guard: bool = True, tell: bool = True
) -> None:
    """Tables, by what they hold, in the form that each path asks for: all files, or none.

    Standard output comes last, since its reader may go away. ``guard`` disarms cells of CSV that a
    spreadsheet would run. A path of None is left out. ``tell`` says what was written.
    """
    from adjudge.data.formats.writing import write_table, written_whole

    with ExitStack() as stack:
        for table, path in tables.values():
            if path is not None and path != STDOUT:
                file = stack.enter_context(written_whole(path))
                write_table(table, file, _kind_of(path), guard=guard)
    for name, (_, path) in tables.items() if tell else ():
        tell_written(name, path)
    for table, path in tables.values():
        if path == STDOUT:
            with written_whole(path) as file:
                write_table(table, file, ".csv", guard=guard)


def tell_written(name: str, path: Path | None) -> None:
    """Say where a result went."""
    if path is not None and path != STDOUT:
        say(f"{name} written to {path}")


def write_content(content: Content, path: Path, to: str) -> None:
    """What there is, in a format; labels as csv, tsv, jsonl or parquet are a consensus table."""
    from adjudge.data.formats import write
    from adjudge.data.formats.writing import write_table, written_whole

    if f".{to}" in _EXTENSIONS and content.judgments is None and content.labels is not None:
        with written_whole(path) as file:
            write_table(content.labels, file, f".{to}", guard=True)
    else:
        write(content, path, format=to)


def deliver(
    table: Any,
    name: str,
    out: Delivery,
    *,
    about: Mapping[str, Any],
    show: Callable[[], Any],
) -> None:
    """A table to its file, as JSON together with ``about``, to a pipe, or shown."""
    deliver_all(
        {name: (table, out.output)},
        out,
        about=lambda shown: {**about, name: table.to_pylist()} if shown else about,
        show=lambda: [show()],
    )


def deliver_all(
    tables: Mapping[str, tuple[Any, Path | None]],
    printing: Printing,
    *,
    about: Callable[[bool], Mapping[str, Any]],
    show: Callable[[], Iterable[Any]],
) -> None:
    """Tables to their files; the first of them as JSON, to a pipe or shown where it has none.

    ``about`` makes the JSON, given whether the first table has to be in it.
    """
    name, (table, output) = next(iter(tables.items()))
    if output is None and not printing.json and is_piped():
        output = STDOUT
        tables = {**tables, name: (table, STDOUT)}
    write_tables(tables)
    if printing.json:
        print_json(about(output is None))
    elif output is None:
        for part in show():
            page().print(part)


def page() -> Console:
    """Where results for people go: standard output."""
    from rich.console import Console

    return Console(highlight=False)


def print_json(value: Any) -> None:
    """A value as one JSON document on standard output; what is not a number is null."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False)
    sys.stdout.buffer.write(f"{text}\n".encode())
    sys.stdout.buffer.flush()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def answer(printing: Printing, data: Any, *parts: Any) -> None:
    """Data as JSON, or what a person is shown."""
    if printing.json:
        print_json(data)
        return
    for part in parts:
        page().print(part)


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """A table for people: a heading that begins with > is right-aligned; no cell is markup.

    Where the terminal is too narrow, text of the last column follows below the table, and the
    names in the first column are cut.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    columns, rows, remarks = _fit(columns, rows, page().width - 2 * bool(title))
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=bool(title),
        pad_edge=False,
        collapse_padding=True,
    )
    for place, heading in enumerate(columns):
        left = not heading.startswith(">")
        # Ids and numbers are not wrapped; text is.
        table.add_column(
            heading.removeprefix(">"),
            justify="left" if left else "right",
            overflow="fold",
            no_wrap=not (left and place),
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return Group(table, *map(Text, remarks), "") if remarks else table


def _fit(
    columns: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> tuple[Sequence[str], Sequence[Sequence[str]], list[str]]:
    """Return columns and rows that fit the width, and the text that does not fit."""
    widths = [
        max(len(line) for cell in cells for line in cell.split("\n"))
        for cells in zip([head.removeprefix(">") for head in columns], *rows, strict=True)
    ]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    remarks: dict[str, list[str]] = {}
    last = len(columns) - 1
    text = last > 1 and not columns[last].startswith(">") and widths[last] > _TEXT
    if text and excess <= widths[last] - _TEXT:
        excess = 0  # the text is wrapped
    elif text:
        for row in rows:
            remarks.setdefault(row[last], []).append(row[0])
        columns, rows = columns[:last], [row[:last] for row in rows]
        excess -= widths[last] + _GAP
    if excess > 0:
        widest = max(_NAME, widths[0] - excess)
        rows = [[shorten(row[0], widest), *row[1:]] for row in rows]
    said = [f"{', '.join(dict.fromkeys(names))}: {of}" for of, names in remarks.items() if of]
    return columns, rows, said


def show_rows(title: str, rows: Iterable[Any], *columns: Column) -> Any:
    """A grid of rows, which are mappings or objects.

    A column is the name of a field, with a format and a heading if they are not the usual ones:
    ``judge``, ``accuracy:.2f as gold``, ``low to high as 95% interval``; or a heading and the
    function that makes its cells. Numbers are on the right. The format s does not shorten text.
    """
    held = list(rows)
    heads, cells = [], []
    for column in columns:
        if isinstance(column, tuple):
            head, make = column
            column_cells = [make(row) for row in held]
            heads.append(head)
        else:
            head, column_cells, is_text = _fill_column(column, held)
            heads.append(head if is_text else f">{head}")
        cells.append(column_cells)
    return grid(title, heads, list(zip(*cells, strict=True)))


def _fill_column(column: str, rows: Sequence[Any]) -> tuple[str, list[str], bool]:
    """The heading and the cells of a column, and whether they are words."""
    what, _, head = column.partition(" as ")
    names, _, form = what.partition(":")
    name, _, until = names.partition(" to ")
    values, ends = _get_values(rows, name), _get_values(rows, until) if until else []
    if until:
        form = form or ".2f"
        pairs = zip(values, ends, strict=True)
        return head, [_write_interval(low, high, form) for low, high in pairs], False
    is_text = any(isinstance(value, str) for value in values)
    return head or name.replace("_", " "), [_write_cell(value, form) for value in values], is_text


def _get_values(rows: Iterable[Any], name: str) -> list[Any]:
    return [row[name] if isinstance(row, Mapping) else getattr(row, name) for row in rows]


def _write_cell(value: Any, form: str) -> str:
    if isinstance(value, str):
        return value if form == "s" else shorten(value)
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:{form or (',' if isinstance(value, int) else '.3f')}}"


def _write_interval(low: float | None, high: float | None, form: str) -> str:
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"{low:{form}} to {high:{form}}"


def shorten(text: str, widest: int = _WIDEST) -> str:
    """An id or a label as a cell of a table: on one line, and cut in the middle if it is long."""
    if not text.isprintable():
        text = repr(text)[1:-1]
    if len(text) <= widest:
        return text
    half = (widest - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: 0.742, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.{digits}f}"
