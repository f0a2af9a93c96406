"""Results for people and programs: tables to files, pipes or the page, JSON, cells and numbers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli._console import is_piped
from adjudge.cli._files import EXTENSIONS, STDOUT, tell_written, write_tables
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.cli._options import Printing
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Kind

_WIDEST = 40  # characters of a cell
Columns = dict[str, Callable[[Any], str]]  # heading: what it shows of a row


def deliver(
    table: Any,
    name: str,
    output: Path | None,
    printing: Printing,
    *,
    about: Mapping[str, Any],
    show: Callable[[], Any],
) -> None:
    """A table to its file, as JSON with what is to be said ``about`` it, to a pipe, or shown."""
    deliver_all(
        {name: (table, output)},
        printing,
        about=lambda whole: {**about, name: table.to_pylist()} if whole else about,
        show=lambda: [show()],
    )


def deliver_all(
    tables: Mapping[str, tuple[Any, Path | None]],
    printing: Printing,
    *,
    about: Callable[[bool], Mapping[str, Any]],
    show: Callable[[], Iterable[Any]],
) -> None:
    """Tables to their files, the first of them as JSON, to a pipe or shown where it has none.

    ``about`` is the JSON, told whether the first table has to stand in it.
    """
    write_tables(*tables.values())
    for name, (_, path) in tables.items():
        if path is not None:
            tell_written(name, path)
    table, output = next(iter(tables.values()))
    if printing.json:
        print_json(about(output is None))
    elif output is None and is_piped():
        write_tables((table, STDOUT))
    elif output is None:
        for part in show():
            page().print(part)


def page() -> Console:
    """Where results for people go: standard output."""
    from rich.console import Console

    return Console(highlight=False)


def check_format(to: str, output: Path, kind: Kind | None = None) -> None:
    """Refuse a format that does not exist, does not hold what is there, or blinds a person."""
    from adjudge.data.formats import formats, named

    entry = named(to)
    if kind is not None and kind not in entry.writes and entry.extension[1:] != to:
        able = [other.name for other in formats().values() if kind in other.writes]
        raise BadSetting("--to", to, f"a format that holds {kind}: {', '.join(able)}")
    if entry.extension == ".parquet" and output == STDOUT and not is_piped():
        raise BadSetting("--output", None, "a file, since Parquet is not for a terminal")


def write_content(content: Content, path: Path, to: str) -> None:
    """What there is, in a format; labels as csv, tsv, jsonl or parquet are a consensus table."""
    from adjudge.data.formats import write
    from adjudge.data.formats.writing import write_table, written_whole

    if f".{to}" in EXTENSIONS and content.judgments is None and content.labels is not None:
        with written_whole(path) as file:
            write_table(content.labels, file, f".{to}", guard=True)
    else:
        write(content, path, format=to)


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


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """A table for people: a heading that begins with > is right-aligned; no cell is markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for place, heading in enumerate(columns):
        left = not heading.startswith(">")
        # Ids and numbers are whole or nothing; words may go on in the next line.
        table.add_column(
            heading.removeprefix(">"),
            justify="left" if left else "right",
            overflow="fold",
            no_wrap=not (left and place),
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def show_rows(title: str, rows: Iterable[Any], columns: Columns) -> Any:
    """A grid of rows: each column has a heading, and what it shows of a row."""
    return grid(title, list(columns), [[cell(row) for cell in columns.values()] for row in rows])


def shorten(text: str) -> str:
    """An id or a label as a cell of a table: on one line, and cut in the middle if it is long."""
    if not text.isprintable():
        text = repr(text)[1:-1]
    if len(text) <= _WIDEST:
        return text
    half = (_WIDEST - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: 0.742, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.{digits}f}"


def interval(low: float | None, high: float | None) -> str:
    """An interval for people: 0.71 to 0.79."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"{low:.2f} to {high:.2f}"
