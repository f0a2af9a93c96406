"""Every format adjudge reads or writes: one file each, found by the beginning of the file.

``read`` detects the format and returns a ``Content``; ``write`` turns a ``Content`` into a file
that appears whole or not at all. To add a format, write its file and its line in
``signatures.SIGNATURES``. Other packages add theirs by the entry point ``adjudge.formats``
(``adjudge.plugins``), and are asked first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from adjudge.data.formats.files import written_whole
from adjudge.data.formats.format import Content, Format, Kind, Options
from adjudge.data.formats.opening import AUTO, File, is_elsewhere
from adjudge.data.formats.signatures import SIGNATURES
from adjudge.data.source import BadRow
from adjudge.errors import BadData, UnknownName
from adjudge.plugins import plugins

__all__ = [
    "BadRow",
    "Content",
    "Format",
    "Options",
    "detect",
    "detected",
    "formats",
    "named",
    "read",
    "read_file",
    "write",
]


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


def detect(path: str | Path, *, encoding: str = AUTO) -> Format:
    """The format of a file, by its header; an error shows the header that no format fits."""
    return named(detected(File.at(Path(path), encoding)))


def detected(file: File) -> str:
    """The name of the first format whose signature fits."""
    for name, entry in _added().items():
        if entry.fits is not None and entry.fits(file):
            return name
    for signature in SIGNATURES:
        if signature.fits(file):
            return signature.name
    from adjudge.data.formats.unknown import unknown

    raise unknown(file)


def read(
    path: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    wanted: Kind | None = None,
    **options: Any,
) -> Content:
    """What a file, a folder or several files hold. ``options`` are the fields of ``Options``.

    Several files, and the files of a folder that is no format itself, have to be of one kind and
    are taken together; each file of relevance grades (qrels) is then a judge. A place may be a
    pattern, or an address such as ``https://...`` or ``s3://bucket/*.parquet``.
    """
    places = [path] if isinstance(path, str | Path) else list(path)
    if any(is_elsewhere(place) for place in places):
        from adjudge.data.formats.uris import local_files

        with local_files(places) as found:
            return read(found, format=format, wanted=wanted, **options)
    chosen = Options(wanted=wanted, **options)
    if format is not None and named(format).read is None:
        raise BadData(f"{format} is written, not read", source=str(path))
    files = [File.at(Path(place), chosen.encoding) for place in places]
    if len(files) == 1:
        return _read(files[0], format, chosen)
    from adjudge.data.formats.several import read_several

    return read_several(files, format, chosen)


def _read(file: File, format: str | None, options: Options) -> Content:
    """What one file or folder holds."""
    if format is None and file.is_folder and not any(s.fits(file) for s in SIGNATURES):
        from adjudge.data.formats.several import read_folder

        return read_folder(file, options)
    return read_file(file, format, options)


def read_file(file: File, format: str | None, options: Options) -> Content:
    """What one file holds, in the format named or the one that fits it."""
    options = replace(options, notes=[])
    try:
        return _content(file, format, options)
    except BadData as fault:
        # A file may begin as UTF-8 and show only later that it is none.
        if options.encoding != AUTO or file.found or fault.wanted != "UTF-8":
            raise
    return _content(file.as_windows(), format, replace(options, notes=[]))


def _content(file: File, format: str | None, options: Options) -> Content:
    entry = named(format or _detected_as_told(file, options))
    if options.columns and format is None and not file.is_folder:
        entry, options = _as_told(entry, file, options)
    try:
        content = entry.read(file, options) if entry.read is not None else Content()
    except UnicodeDecodeError:
        from adjudge.data.formats.faults import not_text

        raise not_text(file) from None
    except UnicodeEncodeError as fault:  # half of a character, which JSON can spell
        half = fault.object[fault.start : fault.end]
        raise BadData(
            f"there is half of a character in it, {ascii(half)[1:-1]} (a lone surrogate)",
            source=file.name,
            wanted="whole characters",
        ) from None
    except KeyError as fault:  # of Arrow too: a column or a key that the format must have
        raise BadData(
            f"is no {entry.name} file, or not a whole one: {fault.args[0]} is not there",
            source=file.name,
            wanted=f"a file of format {entry.name}",
        ) from None
    notes = [*content.notes, *options.notes]
    if file.found and file.codec != "utf-8":
        notes.append(f"is not UTF-8; read as {file.encoding} (--encoding names another)")
    name = entry.name
    if name == "csv" and format is None:
        marks = "tsv" if file.delimiter == "\t" else "csv"
        name = {"parquet": "parquet", "jsonl": "jsonl"}.get(file.kind, marks)
    return replace(content, format=name, notes=tuple(dict.fromkeys(notes)))


def _detected_as_told(file: File, options: Options) -> str:
    """The name of the format that fits; whose columns are named needs no header that is known."""
    try:
        return detected(file)
    except BadData:
        if {"judge", "label"} <= options.columns.keys() and not file.is_folder:
            return "json" if file.is_json_list else "csv"
        raise


_PLAIN = ("csv", "tsv", "jsonl", "parquet", "json", "headerless")


def _as_told(entry: Format, file: File, options: Options) -> tuple[Format, Options]:
    """The format to read a file by whose columns are named, and the options with them.

    Where a format holds several questions, a named label is the question; any other name makes the
    file a plain table.
    """
    if entry.name in _PLAIN or (entry.name == "pairs" and set(options.columns) == {"label"}):
        return entry, options
    if entry.asks and set(options.columns) == {"label"}:
        return entry, replace(options, question=options.columns["label"], columns={})
    return named("json" if file.is_json_list else "csv"), options


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
