"""Tables to files or standard output, by extension."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from adjudge.errors import BadSetting

_EXTENSIONS = (".csv", ".tsv", ".jsonl", ".parquet")


def extension_of(path: Path) -> str:
    """The kind of table a path asks for; standard output is CSV."""
    if str(path) == "-":
        return ".csv"
    if path.suffix not in _EXTENSIONS:
        raise BadSetting("--output", str(path), f"a name that ends in {', '.join(_EXTENSIONS)}")
    return path.suffix


def write_table(table: Any, path: Path) -> None:
    """A table in the form that the path's extension asks for, whole or not at all."""
    from adjudge.data.formats.files import written_whole
    from adjudge.data.formats.tables import write_csv, write_jsonl, write_parquet

    kind = extension_of(path)
    with written_whole(path) as file:
        if kind == ".parquet":
            write_parquet(table, file)
        elif kind == ".jsonl":
            write_jsonl(table, file)
        else:
            write_csv(table, file, delimiter="\t" if kind == ".tsv" else ",", guard=True)


def print_json(value: Any) -> None:
    """A value as one JSON document on standard output; what is not a number is null."""
    json.dump(_plain(value), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: .742, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.{digits}f}"


def interval(low: float | None, high: float | None) -> str:
    """An interval for people: .71 to .79."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"{low:.2f} to {high:.2f}"
