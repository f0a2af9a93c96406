"""Every format adjudge reads or writes: one file each, found by the beginning of the file.

``read`` detects the format and returns a ``Content``; ``write`` turns a ``Content`` into a file
that appears whole or not at all. To add a format, write its file and its line in ``SIGNATURES``:
its name, its module, and how it is known by the beginning of a file, without loading the module.
Rules are asked in order, the more particular before the more general. Other packages add
formats by the entry point ``adjudge.formats`` (``adjudge.plugins``), and are asked first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from glob import has_magic
from importlib import import_module
from pathlib import Path
from typing import Any

from adjudge.data.columns import comparison_roles, letters_of, roles_of
from adjudge.data.formats.format import Content, Format, Kind, Options
from adjudge.data.formats.opening import AUTO, File, is_uri
from adjudge.data.source import BadRow
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
    "write",
]

TREC_RF10 = ("topicID", "workerID", "docID", "gold", "label")
TREC_2011 = ("TOPIC", "HIT_ID", "WORKER_ID", "DOC_ID", "TRUTH", "LABEL")
_CROWDKIT = ({"task", "worker", "label"}, {"task", "true_label"}, {"task", "label"})
BEIR = ("query-id", "corpus-id", "score")

_Rule = Callable[[File, str], bool]  # whether a file is of the format of that name


def _has(*names: str) -> _Rule:
    """A header with these columns among others, in whatever case; a star is any letters."""
    return lambda file, _: _are_in(names, [name.casefold() for name in file.columns])


def _holds(*names: str) -> _Rule:
    """A folder or an archive with these files among others; a star is any letters."""
    return lambda file, _: _are_in(names, file.names)


def _are_in(wanted: Collection[str], names: Collection[str]) -> bool:
    return all(any(fnmatchcase(name, one) for name in names) for one in wanted)


def _json(file: File, name: str) -> bool:
    """JSON that fits the rule of that name in ``_json_signatures``."""
    if not (file.is_json or (name == "nested" and file.kind == "parquet")):
        return False
    from adjudge.data.formats._json_signatures import RULES

    return RULES[name](file)


def _rows(file: File, name: str) -> bool:
    """Rows of cells set apart by blanks that fit the rule of that name in ``_row_signatures``."""
    if "#" not in file.text and file.first.strip() and len(file.first.split()) not in (4, 6):
        return False
    from adjudge.data.formats._row_signatures import RULES, most_rows

    return most_rows(file, RULES[name])


def _shape(file: File, name: str) -> bool:
    """Rows of the shape of that name in ``_shapes``, unless the first line shows another one."""
    if name != "headerless" and _is_other(file, name):
        return False
    from adjudge.data.formats._shapes import SHAPES

    return SHAPES[name](file)


def _is_other(file: File, shape: str) -> bool:
    """Whether the first line is enough to see that a file is of another shape."""
    letters = _letters(file)
    if shape == "quepid-book":
        return sorted(letters[:2]) != ["docid", "query"]
    if '"' in file.first:
        return False
    if shape == "matrix":  # a header's names stand nowhere else
        return any(name not in file.text[len(file.first) :] for name in file.columns)
    roles = roles_of(file.columns)
    return {"judge", "label"} <= roles.keys() and letters.count(letters_of(roles["label"])) == 1


def _letters(file: File) -> list[str]:
    """The columns of a header by their letters alone."""
    return [letters_of(name) for name in file.columns]


def _columns(file: File) -> list[str]:
    """The columns of a table, be it delimited, JSONL or Parquet."""
    if file.kind != "parquet" and not file.first.lstrip().startswith("{"):
        return file.columns
    from adjudge.data.formats._json_signatures import columns_of

    return columns_of(file)


def _potato(file: File, _: str) -> bool:
    ends = ("user_state.json", "annotated_instances.jsonl")
    tabled = {"user", "instance_id"} <= set(file.columns) and ":::" in file.first
    return tabled or any(name.endswith(ends) for name in file.names)


def _langfuse(file: File, _: str) -> bool:
    wanted = {"traceid", "name", "value", "source"}
    return not file.is_json and wanted <= set(_letters(file))


def _quepid_static(file: File, _: str) -> bool:
    letters = set(_letters(file))
    return {"querytext", "docid", "docposition"} <= letters and "rating" not in letters


def _promptfoo(file: File, _: str) -> bool:
    """Cells that begin with an outcome."""
    outcome = re.search(r'(^|[,;|\t\n])"?\[(PASS|FAIL)\] ', file.text)
    return outcome is not None and file.delimiter in file.first


def _beir(file: File, name: str) -> bool:
    """BEIR's header, perhaps with more columns but no judge."""
    return _has(*BEIR)(file, name) and "judge" not in roles_of(file.columns)


def _pairs(file: File, _: str) -> bool:
    """A header, or a first record, of comparisons: left, right, label; or winner and loser."""
    listed = file.text.lstrip().startswith("[")
    return not listed and bool(comparison_roles(_columns(file)))


def _consensus(file: File, _: str) -> bool:
    columns = set(_columns(file))
    return {"item", "label", "probability"} <= columns and "judge" not in columns


def _plain(file: File, _: str) -> bool:
    """A header, or a first record, with two of item, judge and label; or item and gold."""
    if file.path.suffix == ".parquet" or file.kind == "parquet":
        return True
    return file.kind != "json" and _are_judgments(_columns(file))


def _plain_json(file: File, _: str) -> bool:
    """A list of objects, or an object with one in it, the first of which is as plain."""
    if not file.is_json:
        return False
    from adjudge.data.formats._json_signatures import listed_columns

    return _are_judgments(listed_columns(file))


def _are_judgments(columns: list[str]) -> bool:
    """Whether columns are two of item, judge and label, or item and gold."""
    roles = roles_of(columns)
    parts = ("item" in roles or "document" in roles, "judge" in roles, "label" in roles)
    return sum(parts) >= 2 or (parts[0] and "gold" in roles)  # with one missing, say which


# The module that holds each format, and rules of which a file fits one.
SIGNATURES: dict[str, tuple[str, *tuple[_Rule, ...]]] = {
    "mturk": ("mturk", _has("hitid", "workerid", "answer.*")),
    "appen": ("appen", _has("_unit_id", "_worker_id")),
    "appen-aggregated": ("appen", _has("_unit_id", "*:confidence")),
    "toloka": ("toloka", _has("assignment:worker_id", "output:*")),
    "potato": ("potato", _potato, _json),
    "inspect": ("inspect_log", _holds("samples/*", "header.json"), _json),
    "promptfoo": ("promptfoo", _json),
    "label-studio": ("label_studio", _json),
    "label-studio-flat": (
        "label_studio_flat",
        lambda file, _: {"id", "annotator", "annotation_id"} <= set(file.columns),
        _json,
    ),
    "doccano": ("doccano", _json),
    "prodigy": ("prodigy", _json),
    "langfuse": ("langfuse", _langfuse, _json),
    "umbrela": ("umbrela", _json),
    "argilla": ("argilla", _json),
    "quepid-case": ("quepid", lambda f, _: sorted(_letters(f)) == ["docid", "query", "rating"]),
    "quepid-book": ("quepid", _shape),
    "quepid-book-json": ("quepid", _json),
    "quepid-case-json": ("quepid_export", _json),
    "quepid-static": ("quepid_export", _quepid_static),
    "opensearch": ("opensearch", _json),
    "rank-eval": ("opensearch", _json),
    "promptfoo-csv": ("promptfoo", _promptfoo),
    "kaggle": ("kaggle", _has("id", "query", "product_title")),
    "trec-rf10": ("trec_rf10", lambda file, _: tuple(file.cells("\t")) == TREC_RF10),
    "qrels": ("qrels", _rows),
    "run": ("run", _rows),
    "trec-2011": ("trec_2011", lambda file, _: tuple(file.cells("\t")) == TREC_2011),
    "trec-2011-submission": ("trec_2011", _rows),
    "beir": ("beir", _beir, _holds("qrels/*.tsv")),
    "mt-bench": ("pairs", _json),
    "pairs": ("pairs", _pairs, _json),
    "crowd-kit": ("crowdkit", lambda file, _: set(file.columns) in _CROWDKIT),
    "consensus": ("consensus_table", _consensus),
    "nested": ("nested", _json),
    "alt-test": ("alt_test", lambda file, name: _json(file, name) and not _plain(file, name)),
    "matrix": ("wide", _shape),
    "wide": ("wide", _shape),
    "json": ("plain_json", _plain_json),
    "csv": ("plain", _plain),
    "headerless": ("headerless", _shape),
}


def _detected(file: File) -> str | None:
    """The name of the first format of ours that a file looks like."""
    every = ((name, rule) for name, (_, *rules) in SIGNATURES.items() for rule in rules)
    return next((name for name, rule in every if rule(file, name)), None)


@cache
def _held_by(module: str) -> dict[str, Format]:
    """The formats of one module, by name."""
    return {f.name: f for f in import_module(f"adjudge.data.formats.{module}").FORMATS}


@cache
def _added() -> dict[str, Format]:
    """The formats of other packages, by name."""
    return plugins("adjudge.formats", taken=SIGNATURES)


@cache
def formats() -> dict[str, Format]:
    """All formats by name, in the order in which they are asked."""
    modules = dict.fromkeys(module for module, *_ in SIGNATURES.values())
    held = {name: entry for module in modules for name, entry in _held_by(module).items()}
    return {**_added(), **held}


def named(name: str) -> Format:
    """The format of that name, or an error that suggests the nearest."""
    if name in SIGNATURES:
        return _held_by(SIGNATURES[name][0])[name]
    if name not in formats():
        raise UnknownName("format", name, formats())
    return formats()[name]


def detect(file: str | Path | File, *, encoding: str = AUTO) -> Format:
    """The format of a file, by its beginning; an error shows the header that no format fits."""
    given = file if isinstance(file, File) else File.at(Path(file), encoding)
    for entry in _added().values():
        if entry.fits is not None and entry.fits(given):
            return entry
    if (name := _detected(given)) is not None:
        return named(name)
    from adjudge.data.formats._unknown import unknown

    raise unknown(given)


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
    if any(_is_elsewhere(place) for place in places):
        from adjudge.data.formats.uris import local_files

        with local_files(places) as found:
            return read(found, format=format, wanted=wanted, **options)
    chosen = Options(wanted=wanted, **options)
    if format is not None and named(format).read is None:
        raise BadData(f"{format} is written, not read", source=str(path))
    files = [File.at(Path(place), chosen.encoding) for place in places]
    if len(files) != 1:
        from adjudge.data.formats._several import read_several

        return read_several(files, format, chosen)
    if format is None and files[0].is_folder and _detected(files[0]) is None:
        from adjudge.data.formats._several import read_folder

        return read_folder(files[0], chosen)
    return read_file(files[0], format, chosen)


def _is_elsewhere(place: str | Path) -> bool:
    """Whether a place is no path as it stands: an address, or a pattern that files fit."""
    text = str(place)
    return is_uri(text) or (has_magic(text) and not Path(place).exists())


def read_file(file: File, format: str | None, options: Options) -> Content:
    """What one file holds, in the format named or the one that fits it."""
    options = replace(options, notes=[])
    try:
        return _content(file, format, options)
    except BadData as fault:
        # A file may begin as UTF-8 and show only later that it is none.
        if options.encoding != AUTO or file.found or fault.expected != "UTF-8":
            raise
    return _content(file.as_windows(), format, replace(options, notes=[]))


def _content(file: File, format: str | None, options: Options) -> Content:
    entry = named(format) if format is not None else _detect_as_told(file, options)
    if options.columns and format is None and not file.is_folder:
        entry, options = _as_told(entry, file, options)
    try:
        content = entry.read(file, options) if entry.read is not None else Content()
    except UnicodeDecodeError:
        from adjudge.data.formats._faults import not_text

        raise not_text(file) from None
    except UnicodeEncodeError as fault:  # half of a character, which JSON can spell
        half = fault.object[fault.start : fault.end]
        raise BadData(
            f"there is half of a character in it, {ascii(half)[1:-1]} (a lone surrogate)",
            source=file.name,
            expected="whole characters",
        ) from None
    except KeyError as fault:  # of Arrow too: a column or a key that the format must have
        raise BadData(
            f"is no {entry.name} file, or not a whole one: {fault.args[0]} is not there",
            source=file.name,
            expected=f"a file of format {entry.name}",
        ) from None
    notes = [*content.notes, *options.notes]
    if file.found and file.codec != "utf-8":
        notes.append(Note(f"is not UTF-8; read as {file.encoding}", [Remedy("encoding")]))
    name = entry.name
    if name == "csv" and format is None:
        marks = "tsv" if file.delimiter == "\t" else "csv"
        name = {"parquet": "parquet", "jsonl": "jsonl"}.get(file.kind, marks)
    return replace(content, format=name, notes=tuple(dict.fromkeys(notes)))


def _detect_as_told(file: File, options: Options) -> Format:
    """The format that fits; a file whose columns are named needs no header that is known."""
    try:
        return detect(file)
    except BadData:
        if {"judge", "label"} <= options.columns.keys() and not file.is_folder:
            return _plain_format(file)
        raise


def _plain_format(file: File) -> Format:
    return named("json" if file.is_json_list else "csv")


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
    return _plain_format(file), options


def list_files(paths: Sequence[Path], encoding: str) -> list[File]:
    """The files at paths, those of folders one by one; none where a folder is a format itself."""
    found: list[File] = []
    for file in (File.at(path, encoding) for path in paths):
        if not file.is_folder:
            found.append(file)
        elif _detected(file) is not None:
            return []
        else:
            from adjudge.data.formats._several import known_files

            found += known_files(file)[0]
    return found


def write(content: Content, path: str | Path, *, format: str) -> None:
    """Write a content in a format, whole or not at all; ``-`` is standard output."""
    entry, place = named(format), Path(path)
    folder = place.is_dir() or (not place.suffix and str(place) != "-")
    if entry.write_folder is not None and (folder or entry.write is None):
        entry.write_folder(content, place)
        return
    if entry.write is None:
        raise BadData(f"{entry.name} is read, not written", expected="a format that is written")
    from adjudge.data.formats.writing import written_whole

    with written_whole(place) as file:
        entry.write(content, file)
