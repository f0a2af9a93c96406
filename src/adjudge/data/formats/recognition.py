"""Rules that recognise a format by the beginning of a file.

A rule is a function from a ``File`` to whether it fits. ``header`` and ``columns_are`` look at the
columns of a table, ``fields`` and ``json_with`` at JSON, ``lines_like`` at lines without a header,
``holding`` at the files in a folder or an archive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from typing import Any

from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats.opening import File, decode

Rule = Callable[[File], bool]


def header(*names: str, lacks: str = "") -> Rule:
    """Recognise a table with these columns, in any case; ``*`` matches any letters.

    ``lacks`` is a role that no column may have.
    """

    def fits(file: File) -> bool:
        known = _are_in(names, [name.casefold() for name in file.columns])
        return known and (not lacks or lacks not in roles_of(file.columns))

    return fits


def letters(*names: str, lacks: str = "", only: bool = False) -> Rule:
    """Recognise a table with these columns by their letters alone, without the one it lacks."""

    def fits(file: File) -> bool:
        own = [letters_of(name) for name in file.columns]
        known = sorted(own) == sorted(names) if only else set(names) <= set(own)
        return known and not file.is_json and lacks not in own

    return fits


def columns_are(*names: str, delimiter: str | None = None) -> Rule:
    """Recognise a table with exactly these columns."""
    return lambda file: (
        sorted(file.columns) == sorted(names) and (delimiter in (None, file.delimiter))
    )


def holding(*names: str) -> Rule:
    """Recognise a folder or an archive with these files among others."""
    return lambda file: _are_in(names, file.names)


def json_with(*patterns: str) -> Rule:
    """Recognise JSON in whose beginning all of these patterns are found."""
    return lambda file: file.is_json and all(re.search(part, file.text) for part in patterns)


def fields(*names: str) -> Rule:
    """Recognise JSON in whose beginning all of these fields are found."""
    return json_with(*(rf'"{re.escape(name)}"\s*:' for name in names))


def any_of(*rules: Rule) -> Rule:
    """Recognise what one of the rules does."""
    return lambda file: any(rule(file) for rule in rules)


def lines_like(fits: Callable[[list[str]], bool]) -> Rule:
    """Recognise lines of cells separated by blanks: the first and at least half of them fit.

    A faulty line among them is for the reader to name.
    """

    def rule(file: File) -> bool:
        text = re.sub(r"(?m)^\s*#.*$", "", file.text) if "#" in file.text else file.text
        if not fits(re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0].split()):
            return False
        complete = text.rpartition("\n")[0] or text  # the last line may be cut off
        lines = (line.split() for line in complete.replace("\r", "\n").split("\n"))
        rows = [cells for cells in lines if cells][:50]
        return bool(rows) and fits(rows[0]) and 2 * sum(map(fits, rows)) >= len(rows)

    return rule


def first_record(text: str) -> dict[str, Any]:
    """Return the object that a text begins with; an empty one if there is none."""
    found = decode(text.lstrip())
    return found[0] if found is not None and isinstance(found[0], dict) else {}


def columns_of(file: File) -> list[str]:
    """Return the columns of a table, be it delimited, JSON Lines or Parquet."""
    if file.kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet

        try:
            return list(pa.parquet.read_schema(file.path).names)
        except (pa.ArrowInvalid, OSError):
            return []
    return list(first_record(file.text)) if file.kind == "jsonl" else file.columns


def _are_in(patterns: Collection[str], names: Collection[str]) -> bool:
    return all(any(fnmatchcase(name, one) for name in names) for one in patterns)
