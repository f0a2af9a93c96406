"""Results to files or standard output: tables by extension, JSON, numbers for people."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import is_piped, page, say
from adjudge.data.formats.opening import is_uri
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.cli.options import Printing
    from adjudge.data.consensus import Consensus
    from adjudge.data.formats import Content
    from adjudge.data.formats.format import Kind
    from adjudge.engines.encoding import Each

_EXTENSIONS = (".csv", ".tsv", ".jsonl", ".parquet")
STDOUT = Path("-")


def kind_of(path: Path, option: str = "--output") -> str:
    """The kind of table a path asks for; what is no file, such as standard output, gets CSV."""
    if path == STDOUT or (path.exists() and not path.is_file() and not path.is_dir()):
        return ".csv"
    kind = path.suffix.lower()
    if kind not in _EXTENSIONS:
        raise BadSetting(option, str(path), f"a name that ends in {', '.join(_EXTENSIONS)}")
    return kind


def check_places(
    places: Mapping[str, Path | None],
    *,
    inputs: Iterable[str | Path | None] = (),
    free: Collection[str] = (),
) -> None:
    """Refuse places that cannot be written, or must not be, before any work is done.

    ``places`` are paths by their options; those of ``free`` options may have any name, or be
    folders. Nothing is written over an input: that would destroy what cannot be made again.
    """
    taken = {
        Path(place).resolve(): "the file that is read"
        for place in inputs
        if place is not None and not is_uri(str(place))
    }
    for option, path in places.items():
        if path is None or path == STDOUT:
            continue
        if option not in free:
            kind_of(path, option)
            if path.is_dir():
                raise BadData("is a folder; wanted a file to write", source=str(path))
        if path.resolve() in taken:
            raise BadSetting(option, str(path), f"another place than {taken[path.resolve()]}")
        taken[path.resolve()] = f"that of {option}"
        if not path.parent.is_dir():
            raise BadData("there is no such folder to write into", source=str(path.parent))
        if not os.access(path.parent, os.W_OK):
            raise BadData("is a folder that may not be written into", source=str(path.parent))


def is_folder(path: Path | None) -> bool:
    """Whether a path asks for a folder of Parquet files: it has no extension, or is one already."""
    if path is None or path == STDOUT:
        return False
    return path.is_dir() or (not path.suffix and not path.exists())


def write_labels(consensus: Consensus, folder: Path, each: Each) -> None:
    """Labels as Parquet files in a folder that appears whole, as many at once as may be."""
    from adjudge.data.formats.writing import written_folder
    from adjudge.engines.output import write_parts

    parts = frozenset(path.name for path in folder.glob("part-?????.parquet"))
    with written_folder(folder, replaces=parts) as place:
        write_parts(consensus, place, each)


def check_printing(printing: Printing, output: Path | None) -> None:
    """Raise an error where standard output is to have both a table and JSON."""
    if printing.json and output == STDOUT:
        raise BadSetting("--json", True, "-o FILE, since standard output cannot have both")


def write_tables(*tables: tuple[Any, Path | None], guard: bool = True) -> None:
    """Tables in the form that each path's extension asks for: all files whole, or none.

    A table may come as an iterator of its blocks.

    Standard output comes last, since its reader may go away. ``guard`` disarms cells of CSV that a
    spreadsheet would run. A path of None is left out.
    """
    from adjudge.data.formats.writing import write_table, written_whole

    with ExitStack() as stack:
        for table, path in tables:
            if path is not None and path != STDOUT:
                file = stack.enter_context(written_whole(path))
                write_table(table, file, kind_of(path), guard=guard)
    for table, path in tables:
        if path == STDOUT:
            with written_whole(path) as file:
                write_table(table, file, kind_of(path), guard=guard)


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

    if f".{to}" in _EXTENSIONS and content.judgments is None and content.labels is not None:
        with written_whole(path) as file:
            write_table(content.labels, file, f".{to}", guard=True)
    else:
        write(content, path, format=to)


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
    if output is not None:
        write_tables((table, output))
        tell_written(name, output)
    if printing.json:
        print_json(about if output is not None else {**about, name: table.to_pylist()})
    elif output is None and is_piped():
        write_tables((table, STDOUT))
    elif output is None:
        page().print(show())


def tell_written(name: str, output: Path) -> None:
    """Say where a result went."""
    if output != STDOUT:
        say(f"{name} written to {output}")


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
