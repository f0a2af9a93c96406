"""Every format adjudge reads or writes, recognised by the beginning of the file.

``read`` detects the format and returns a ``Content``; ``write`` turns a ``Content`` into a file
that appears complete or not at all. A format is a declaration, ``Format``: how it is recognised
(``recognition``), and how it is read: a ``Table`` (``tables``) where the columns are known,
``Records`` (``records``) for JSON, or a function where the shape demands code. Other packages add
formats by the entry point ``adjudge.formats`` (``adjudge.plugins``), which are asked first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from glob import has_magic
from pathlib import Path
from typing import Any

from adjudge.data.formats.format import Content, Format, Kind, Options
from adjudge.data.formats.opening import AUTO, File, is_uri, not_text
from adjudge.data.source import BadRow, warn_of
from adjudge.errors import BadData, Note, Remedy, UnknownName
from adjudge.plugins import plugins

__all__ = [
    "BadRow",
    "Content",
    "Format",
    "Options",
    "detect",
    "formats",
    "list_files",
    "named",
    "read",
    "read_file",
    "read_part",
    "write",
]
_PLAIN = ("csv", "tsv", "jsonl", "parquet", "json", "headerless")


@cache
def _own() -> dict[str, Format]:
    """Return our formats by name, in the order in which they are asked.

    The more particular ones come before the more general ones.
    """
    from adjudge.data.formats import (
        annotation_tools,
        beir,
        consensus_table,
        crowd_platforms,
        evaluation_tools,
        label_studio,
        nested,
        own_exports,
        pairs,
        plain,
        quepid,
        search_tools,
        trec,
        trec_2011,
        trec_rf10,
        wide,
    )

    every = (
        *own_exports.FORMATS,
        *crowd_platforms.FORMATS,
        *crowd_platforms.APPEN,
        annotation_tools.POTATO,
        *evaluation_tools.LOGS,
        *label_studio.FORMATS,
        *annotation_tools.FORMATS,
        *evaluation_tools.SCORES,
        *quepid.FORMATS,
        *search_tools.FORMATS,
        *trec_rf10.FORMATS,
        *trec.FORMATS,
        *trec_2011.FORMATS,
        *beir.FORMATS,
        *pairs.FORMATS,
        crowd_platforms.CROWDKIT,
        *consensus_table.FORMATS,
        *nested.FORMATS,
        evaluation_tools.ALT_TEST,
        *wide.FORMATS,
        *plain.FORMATS,
        *wide.HEADERLESS,
    )
    return {entry.name: entry for entry in every}


@cache
def _list_added() -> dict[str, Format]:
    """Return the formats of other packages, by name."""
    return plugins("adjudge.formats", taken=_own())


def formats() -> dict[str, Format]:
    """Return all formats by name, in the order in which they are asked."""
    return {**_list_added(), **_own()}


def _find(file: File) -> Format | None:
    """Return the first format that a file looks like."""
    every = formats().values()
    return next((one for one in every if one.fits is not None and one.fits(file)), None)


def named(name: str) -> Format:
    """Return the format of that name, or raise an error that suggests the nearest."""
    if name in _own():
        return _own()[name]
    if name not in formats():
        raise UnknownName("format", name, formats())
    return formats()[name]


def detect(file: str | Path | File, *, encoding: str = AUTO) -> Format:
    """Return the format of a file by its beginning, or raise an error that shows the beginning."""
    given = file if isinstance(file, File) else File.at(Path(file), encoding)
    found = _find(given)
    if found is None:
        from adjudge.data.formats._unknown import unknown

        raise unknown(given)
    return found


def read(
    path: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    kind: Kind | None = None,
    **options: Any,
) -> Content:
    """What a file, a folder or several files hold. ``options`` are the fields of ``Options``.

    Several files, and the files of a folder that is not a format itself, have to be of one kind and
    are taken together; each file of relevance grades (qrels) is then a judge. A place may be a
    pattern, or an address such as ``https://...`` or ``s3://bucket/*.parquet``.
    """
    places = [path] if isinstance(path, str | Path) else list(path)
    if any(_is_elsewhere(place) for place in places):
        from adjudge.data.formats.uris import local_files

        with local_files(places) as found:
            return read(found, format=format, kind=kind, **options)
    chosen = Options(kind=kind, **options)
    if format is not None and named(format).read is None:
        raise BadData.at(path, "write-only-format", f"{format} is written, not read", value=format)
    files = [File.at(Path(place), chosen.encoding) for place in places]
    if len(files) != 1:
        from adjudge.data.formats.several import read_several

        return read_several(files, format, chosen)
    if format is None and files[0].is_folder and _find(files[0]) is None:
        from adjudge.data.formats.several import read_folder

        return read_folder(files[0], chosen)
    return read_file(files[0], format, chosen)


def read_part(path: str | Path | Sequence[str | Path], kind: Kind, **options: Any) -> Any:
    """Return the judgments, comparisons or gold of a file, with the notes of its reading.

    A ``ReadingWarning`` says what was left out or guessed.
    """
    return getattr(read_content(path, kind, depth=5, **options), kind)


def read_content(
    path: str | Path | Sequence[str | Path], kind: Kind, *, depth: int = 4, **options: Any
) -> Content:
    """Return what a file holds; ``kind`` has the notes of its reading, which are warned of."""
    content = read(path, kind=kind, **options)
    part = getattr(content, kind)
    if part is None:
        problem = f"there are no {kind}" if kind != "gold" else "there is no gold"
        raise BadData(
            f"{problem} in this file: it is read as {content.format}",
            source=str(path),
            expected=kind,
        )
    if kind == "judgments" and options.get("drop_labels"):
        part = part.without_labels(*options["drop_labels"])
    name = Path(path).name if isinstance(path, str | Path) else f"{len(path):,} files"
    part = replace(part, notes=warn_of(name, content.notes, content.bad, depth=depth))
    return replace(content, **{kind: part})


def _is_elsewhere(place: str | Path) -> bool:
    """Whether a place is not a plain path: an address, or a pattern that files fit."""
    text = str(place)
    return is_uri(text) or (has_magic(text) and not Path(place).exists())


def read_file(file: File, format: str | None, options: Options) -> Content:
    """What one file holds, in the format named or the one that fits it."""
    options = replace(options, notes=[], named=format is not None)
    try:
        return _content(file, format, options)
    except BadData as fault:
        # A file may begin as UTF-8 and show only later that it is not.
        if options.encoding != AUTO or file.found or fault.code != "bad-encoding":
            raise
    return _content(file.as_windows(), format, replace(options, notes=[]))


def _content(file: File, format: str | None, options: Options) -> Content:
    entry = named(format) if format is not None else _detect(file, options)
    if options.columns and format is None and not file.is_folder:
        entry, options = _with_columns(entry, file, options)
    try:
        content = entry.read(file, options) if entry.read is not None else Content()
    except UnicodeDecodeError:
        raise not_text(file) from None
    except UnicodeEncodeError as fault:  # half of a character, which JSON can spell
        half = ascii(fault.object[fault.start : fault.end])[1:-1]
        problem = f"there is half of a character in it, {half} (a lone surrogate)"
        raise BadData.at(file.name, "bad-encoding", problem, value=half) from None
    except KeyError as fault:  # of Arrow too: a column or a key that the format must have
        problem = f"a file of format {entry.name} must have {fault.args[0]}"
        raise BadData.at(file.name, "missing-column", problem, value=fault.args[0]) from None
    notes = [*content.notes, *options.notes]
    if file.found and file.codec != "utf-8":
        notes.append(Note(f"is not UTF-8; read as {file.encoding}", [Remedy("encoding")]))
    name = entry.name
    if name == "csv" and format is None:
        marks = "tsv" if file.delimiter == "\t" else "csv"
        name = {"parquet": "parquet", "jsonl": "jsonl"}.get(file.kind, marks)
    return replace(content, format=name, notes=tuple(dict.fromkeys(notes)))


def _detect(file: File, options: Options) -> Format:
    """Return the format that fits; with named columns, no header has to be known."""
    try:
        found = detect(file)
        shaped = found.name in (*_PLAIN, "nested") and not file.is_folder
        wide = options.are_wide and shaped
        return named("wide") if wide else found
    except BadData:
        if options.are_wide and not file.is_folder:
            return named("wide")
        if {"judge", "label"} <= options.columns.keys() and not file.is_folder:
            return _plain_format(file)
        raise


def _plain_format(file: File) -> Format:
    return named("json" if file.is_json_list or file.keyed else "csv")


def _with_columns(entry: Format, file: File, options: Options) -> tuple[Format, Options]:
    """Return the format for a file whose columns are named, and the options with them.

    Where a format holds several questions, a named label is the question; any other name makes the
    file a plain table.
    """
    alone = set(options.columns) == {"label"}
    if entry.name in _PLAIN or (entry.name == "pairs" and alone):
        return entry, options
    if entry.asks and alone:
        return entry, replace(options, question=options.columns["label"], columns={})
    return _plain_format(file), options


def list_files(paths: Sequence[Path], encoding: str) -> list[File]:
    """The files at paths, those of folders one by one; none where a folder is a format itself."""
    found: list[File] = []
    for file in (File.at(path, encoding) for path in paths):
        if not file.is_folder:
            found.append(file)
        elif _find(file) is not None:
            return []
        else:
            from adjudge.data.formats.several import known_files

            found += known_files(file)[0]
    return found


def write(content: Content, path: str | Path, *, format: str) -> None:
    """Write a content in a format, complete or not at all; ``-`` is standard output."""
    entry, place = named(format), Path(path)
    folder = place.is_dir() or (not place.suffix and str(place) != "-")
    if entry.write_folder is not None and (folder or entry.write is None):
        entry.write_folder(content, place)
        return
    if entry.write is None:
        problem = f"{entry.name} is read, not written"
        raise BadData.at(None, "read-only-format", problem, value=entry.name)
    from adjudge.data.formats.writing import written_whole

    with written_whole(place) as file:
        entry.write(content, file)
