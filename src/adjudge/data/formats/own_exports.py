"""Exports of adjudge's own app: all answers, and the archive of a project.

Both are read as the export of judgments has them: labels that judges who are not blocked gave in
work. Answers to gold questions are read from the archive, which has their gold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import read_every
from adjudge.data.formats.recognition import columns_of, holding
from adjudge.data.formats.records import as_list, as_object, read_json, read_records
from adjudge.data.formats.tables import Table, is_blank
from adjudge.data.gold import Gold
from adjudge.data.scale import Scale
from adjudge.errors import BadData

_ANSWERS = {"item", "judge", "label", "other", "standing", "gold", "page", "row"}
_SKIPS = (
    ("kind", ("training",), "given in training"),
    ("standing", ("untrusted",), "given by blocked judges"),
    ("other", ("true",), "not a label"),
)
_ROLES = {n: n for n in ("item", "topic", "document", "judge", "label", "time", "seconds")}
_FILES = ("project.json", "items.jsonl", "gold.jsonl", "answers.csv")


def _read_answers(file: File, options: Options) -> Content:
    """Read the judgments of a table of all answers, without those to gold questions."""
    return _content(file, options, (*_SKIPS, ("gold", ("true",), "answers to gold questions")))


def _content(file: File, options: Options, skips: tuple[Any, ...]) -> Content:
    table, source = read_every(file, options)
    if "swapped" in table.column_names:
        problem = "these are comparisons of two results: use the export 'comparisons'"
        raise source.error(None, problem, code="not-judgments")
    filled = {role: name for role, name in _ROLES.items() if not _is_empty(table, name)}
    return Table(roles=filled, skips=skips).content(table, source, options)


def _is_empty(table: Any, name: str) -> bool:
    """Whether a column that a project may lack holds nothing."""
    optional = name in ("topic", "document", "seconds")
    return optional and (name not in table.column_names or bool(is_blank(table[name]).all()))


def _read_archive(archive: File, options: Options) -> Content:
    """Read the judgments of a project with its scale and its gold."""
    found = archive.files(*_FILES) if archive.is_folder and archive.names >= {*_FILES} else []
    if not found:
        expected = f"an archive with {', '.join(_FILES)}"
        raise BadData.at(archive.name, "not-an-archive", f"expected {expected}")
    about, _, lines, answers = found
    parts: dict[str, Any] = as_object(as_object(read_json(about)).get("scale"))
    parts = {name: tuple(v) if isinstance(v, list) else v for name, v in parts.items()}
    scale = options.scale or Scale(**parts)
    records = read_records(lines, "gold") if lines.text.strip() else []
    truths = {
        str(record["item"]): as_list(record["accepted"])[0]
        for _, record in records
        if as_list(record.get("accepted"))
    }
    gold = replace(Gold.of(truths), source=archive.name) if truths else None
    if options.kind == "gold":
        return Content(gold=gold)
    content = _content(answers, replace(options, scale=scale), _SKIPS)
    return replace(content, gold=gold)


FORMATS = (
    Format(
        name="answers",
        title="all answers of a project of adjudge, with standing and gold",
        fits=lambda file: not file.is_folder and set(columns_of(file)) >= _ANSWERS,
        read=_read_answers,
    ),
    Format(
        name="archive",
        title="archive of a project of adjudge: items, gold, answers and log",
        reads=("judgments", "gold"),
        extension=".zip",
        fits=holding(*_FILES),
        read=_read_archive,
    ),
)
