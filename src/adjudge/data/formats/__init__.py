"""Every format adjudge reads or writes: one file each, found by the header of the file.

``read`` detects the format and returns a ``Content``; ``write`` turns a ``Content`` into a file that
appears whole or not at all. To add a format, write its file and name it in ``_MODULES``, the more
particular before the more general, since formats are asked in that order.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from adjudge.data.formats.files import check_readable, opened, written_whole
from adjudge.data.formats.format import Content, Format, Head, Kind, Options
from adjudge.data.source import BadRow
from adjudge.errors import BadData, UnknownName, shown

__all__ = ["BadRow", "Content", "Format", "Options", "detect", "formats", "named", "read", "write"]

_MODULES = ("plain",)
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
    what = "this folder" if place.is_dir() else f"a file that begins {shown(head.first.strip())}"
    raise BadData(
        f"no known format fits {what}; wanted a header such as 'item,judge,label' "
        "(or topic and document), or the format named with --format",
        source=place.name,
        line=None if place.is_dir() else 1,
        wanted="a known format",
    )


def _head(path: Path, encoding: str) -> Head:
    if path.is_dir():
        names = frozenset(str(file.relative_to(path)) for file in path.rglob("*"))
        return Head(path=path, text="", first="", names=names)
    check_readable(path)
    with opened(path) as file:
        start = file.read(_HEAD)
    try:
        text = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    except LookupError:
        raise UnknownName("encoding", encoding, ("utf-8", "latin-1", "utf-16", "cp1252")) from None
    return Head(path=path, text=text, first=text.split("\n", 1)[0].rstrip("\r"))


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
