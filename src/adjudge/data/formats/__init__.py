"""Every format adjudge reads or writes: one file each, found by the header of the file.

``read`` detects the format and returns a ``Content``; ``write`` turns a ``Content`` into a file
that appears whole or not at all. To add a format, write its file and name it in ``_MODULES``, the
more particular before the more general, since formats are asked in that order.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from adjudge.data.formats.files import (
    check_readable,
    encoding_name,
    opened,
    reading,
    written_whole,
)
from adjudge.data.formats.format import Content, Format, Head, Kind, Options
from adjudge.data.source import BadRow
from adjudge.errors import BadData, UnknownName, shown

__all__ = ["BadRow", "Content", "Format", "Options", "detect", "formats", "named", "read", "write"]

_MODULES = (
    "encoded",
    "mturk",
    "appen",
    "toloka",
    "label_studio",
    "argilla",
    "quepid",
    "opensearch",
    "kaggle",
    "trec_rf10",
    "qrels",
    "run",
    "trec_2011",
    "beir",
    "crowdkit",
    "consensus_table",
    "plain",
)
_HEAD = 65_536


@cache
def formats() -> dict[str, Format]:
    """All formats by name, in the order in which they are asked."""
    found: dict[str, Format] = {}
    for module in _MODULES:
        for entry in import_module(f"adjudge.data.formats.{module}").FORMATS:
            found[entry.name] = entry
    return found


def named(name: str) -> Format:
    """The format of that name, or an error that suggests the nearest."""
    if name not in formats():
        raise UnknownName("format", name, formats())
    return formats()[name]


def detect(path: str | Path, *, encoding: str = "utf-8") -> Format:
    """The format of a file, by its header; an error shows the header that no format fits."""
    place = Path(path)
    head = _head(place, encoding)
    for entry in formats().values():
        if entry.read is not None and entry.sniff(head):
            return entry
    raise _unknown(place, head)


def _unknown(path: Path, head: Head) -> BadData:
    """The error for a file or folder that no format fits."""
    name = path.name or str(path)
    if path.is_dir():
        known = (
            "a file, a BEIR folder (qrels/*.tsv, corpus.jsonl, queries.jsonl), or encoded judgments"
        )
        return BadData(f"is a folder that no known format fits; wanted {known}", source=name)
    if not head.text.strip():
        return BadData("there is nothing in the file", source=name)
    if head.text.startswith("PK\x03\x04"):
        return BadData("is a spreadsheet or a zip archive; wanted text (save as CSV)", source=name)
    if "\0" in head.text:
        hint = "wanted text, perhaps in another --encoding (utf-16?)"
        return BadData(f"there are NUL bytes in the file; {hint}", source=name)
    return BadData(
        f"no known format fits a file that begins {shown(head.first.strip())}; wanted a header "
        "such as 'item,judge,label' (or topic and document), or the format named with --format",
        source=name,
        line=1,
        wanted="a known format",
    )


def _head(path: Path, encoding: str) -> Head:
    """The beginning of a file, or the names in a folder and in the folders right below it."""
    if path.is_dir():
        files = chain(path.glob("*"), path.glob("*/*"))
        names = frozenset(file.relative_to(path).as_posix() for file in files)
        return Head(path=path, text="", first="", names=names)
    check_readable(path)
    name = encoding_name(encoding)
    with reading(path), opened(path) as file:
        start = file.read(_HEAD)
    text = start.decode(name, errors="replace").removeprefix("\ufeff").lstrip("\r\n")
    return Head(path=path, text=text, first=re.split(r"[\r\n]", text, maxsplit=1)[0])


def read(
    path: str | Path,
    *,
    format: str | None = None,
    wanted: Kind | None = None,
    **options: Any,
) -> Content:
    """What a file or folder holds. ``options`` are the fields of ``Options``."""
    from dataclasses import replace

    place = Path(path)
    chosen = Options(wanted=wanted, **options)
    entry = named(format) if format is not None else detect(place, encoding=chosen.encoding)
    if entry.read is None:
        raise BadData(f"{entry.name} is written, not read", source=place.name)
    content = entry.read(place, chosen)
    return replace(content, format=entry.name)


def write(content: Content, path: str | Path, *, format: str) -> None:
    """Write a content in a format, whole or not at all; ``-`` is standard output."""
    entry, place = named(format), Path(path)
    folder = place.is_dir() or (not place.suffix and str(place) != "-")
    if entry.write_folder is not None and (folder or entry.write is None):
        entry.write_folder(content, place)
        return
    if entry.write is None:
        raise BadData(f"{entry.name} is read, not written", wanted="a format that is written")
    with written_whole(place) as file:
        entry.write(content, file)
