"""Every format adjudge reads or writes: one file each, found by the beginning of the file.

``read`` detects the format and returns a ``Content``; ``write`` turns a ``Content`` into a file
that appears whole or not at all. To add a format, write its file and its line in
``signatures.SIGNATURES``. Other packages add theirs by the entry point ``adjudge.formats``
(``adjudge.plugins``), and are asked first.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from adjudge.data.formats.files import written_whole
from adjudge.data.formats.format import Content, Format, Kind, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.signatures import SIGNATURES
from adjudge.data.source import BadRow
from adjudge.errors import BadData, UnknownName, shown
from adjudge.plugins import plugins

__all__ = ["BadRow", "Content", "Format", "Options", "detect", "formats", "named", "read", "write"]


@cache
def _held_by(module: str) -> dict[str, Format]:
    """The formats of one module, by name."""
    return {f.name: f for f in import_module(f"adjudge.data.formats.{module}").FORMATS}


@cache
def _added() -> dict[str, Format]:
    """The formats of other packages, by name."""
    return plugins("adjudge.formats", taken=[signature.name for signature in SIGNATURES])


@cache
def formats() -> dict[str, Format]:
    """All formats by name, in the order in which they are asked."""
    modules = dict.fromkeys(signature.module for signature in SIGNATURES)
    held = {name: entry for module in modules for name, entry in _held_by(module).items()}
    return {**_added(), **held}


def named(name: str) -> Format:
    """The format of that name, or an error that suggests the nearest."""
    for signature in SIGNATURES:
        if signature.name == name:
            return _held_by(signature.module)[name]
    if name not in formats():
        raise UnknownName("format", name, formats())
    return formats()[name]


def detect(path: str | Path, *, encoding: str = "utf-8") -> Format:
    """The format of a file, by its header; an error shows the header that no format fits."""
    return named(_detected(File.at(Path(path), encoding)))


def _detected(file: File) -> str:
    """The name of the first format whose signature fits."""
    for name, entry in _added().items():
        if entry.fits is not None and entry.fits(file):
            return name
    for signature in SIGNATURES:
        if signature.fits(file):
            return signature.name
    raise _unknown(file)


def _unknown(file: File) -> BadData:
    """The error for a file or folder that no format fits."""
    name = file.name or str(file.path)
    if file.path.is_dir():
        known = (
            "a file, a BEIR folder (qrels/*.tsv, corpus.jsonl, queries.jsonl), or encoded judgments"
        )
        return BadData(f"is a folder that no known format fits; wanted {known}", source=name)
    if not file.text.strip():
        return BadData("there is nothing in the file", source=name)
    if file.text.startswith("PK\x03\x04"):
        return BadData("is a spreadsheet or a zip archive; wanted text (save as CSV)", source=name)
    if "\0" in file.text:
        hint = "wanted text, perhaps in another --encoding (utf-16?)"
        return BadData(f"there are NUL bytes in the file; {hint}", source=name)
    return BadData(
        f"no known format fits a file that begins {shown(file.first.strip())}; wanted a header "
        "such as 'item,judge,label' (or topic and document), or the format named with --format",
        source=name,
        line=1,
        wanted="a known format",
    )


def read(
    path: str | Path,
    *,
    format: str | None = None,
    wanted: Kind | None = None,
    **options: Any,
) -> Content:
    """What a file or folder holds. ``options`` are the fields of ``Options``."""
    chosen = Options(wanted=wanted, **options)
    if format is not None and named(format).read is None:
        raise BadData(f"{format} is written, not read", source=Path(path).name)
    file = File.at(Path(path), chosen.encoding)
    entry = named(format or _detected(file))
    try:
        content = entry.read(file, chosen) if entry.read is not None else Content()
    except UnicodeDecodeError:
        from adjudge.data.formats.faults import not_text

        raise not_text(file) from None
    except KeyError as fault:  # of Arrow too: a column or a key that the format must have
        raise BadData(
            f"is no {entry.name} file, or not a whole one: {fault.args[0]} is not there",
            source=Path(path).name,
            wanted=f"a file of format {entry.name}",
        ) from None
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
