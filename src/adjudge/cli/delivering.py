"""Several tables of one command: to their files, and one of them to whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import is_piped, page
from adjudge.cli.writing import STDOUT, print_json, tell_written, write_tables

if TYPE_CHECKING:
    from adjudge.cli.options import Printing


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
