"""Items with their judgments inside: a record an item, in JSON, JSON Lines or Parquet.

The judgments stand in a list of objects (``{"id": 1, "annotations": [{"annotator": "ann", "label":
"yes"}]}``), in one object by judge (``"ratings": {"ann": 3}``), or in two lists of one length
(``"annotators": ["ann"], "labels": ["yes"]``), at most one object down. Argilla's records, datasets
of Hugging Face and the exports of many platforms are such; where there are several, each is a
question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adjudge.data._second_questions import tell_label
from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats._exports import chosen_question, left_out
from adjudge.data.formats._nesting import Nest, nests_in, spelt_out
from adjudge.data.formats._records import (
    RecordRows,
    read_json,
    read_parquet,
    read_records,
    records_in,
    single,
)
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File, reading
from adjudge.data.formats.plain import content_of
from adjudge.errors import BadData, Remedy, name_columns, shown

_OUTSIDE = ("item", "topic", "document", "gold")
_INSIDE = ("judge", "label", "time", "seconds")
_RECORD = " record"  # what no key of a judgment is called
_UNFINISHED = ("draft", "discarded", "rejected", "cancelled", "canceled", "skipped")


def _read(file: File, options: Options) -> Content:
    """The judgments of every record, each with the item of its record."""
    records = list(_records(file))
    nests = nests_in(file)
    if options.question is not None and len(nests) == 1 and options.question not in nests:
        named = {**options.columns, "label": options.question}  # a part of each judgment
        options = replace(options, columns=named, question=None)
    name = chosen_question(nests, options, file.name, "question", "judgments in records")
    rows, gone = RecordRows(file, options), Counter[str]()
    whole = RecordRows(file, options)
    for place, record in records:
        if not isinstance(record, dict):
            rows.fault(place, f"{shown(record)} is no object; wanted an item with its judgments")
            continue
        _add((rows, whole), gone, place, record, nests[name], options)
    if nests[name].form == "by judge":
        people = list(dict.fromkeys(rows.values("judge")))
        listed = ", ".join(people[:8]) + (", ..." if len(people) > 8 else "")
        rows.source.remark(f"each name in {name} is taken for a judge ({len(people)}: {listed})")
    if len(nests) > 1:
        others = ", ".join(other for other in nests if other != name)
        rows.source.remark(f"the judgments are {name}; others: {others}", Remedy("question"))
    notes = tuple(left_out(count, "judgment", why) for why, count in gone.items())
    if not len(rows):
        raise BadData(f"there is no judgment: {'; '.join(notes) or name}", source=file.name)
    if "label" not in options.columns:
        parts = whole.table()
        roles = roles_of([part for part in parts.column_names if part != _RECORD])
        if {"judge", "label"} <= roles.keys():
            roles = {"item": _RECORD, "judge": roles["judge"], "label": roles["label"]}
            tell_label(parts, roles, rows.source, parts.column_names)
    content = content_of(rows.table(), rows.source, replace(options, columns={}))
    return replace(content, notes=(*content.notes, *notes))


def _records(file: File) -> Iterator[tuple[str, Any]]:
    """The records of a file with their places."""
    if file.kind == "parquet":
        with reading(file.path):
            rows = read_parquet(file).to_pylist()
        yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))
    elif file.is_json_list:
        place, records = records_in(read_json(file), file.name)
        yield from ((f"{place} {number}", one) for number, one in enumerate(records, start=1))
    else:
        yield from read_records(file, "record")


def _add(
    gathered: tuple[RecordRows, RecordRows],  # by role, and whole as they are
    gone: Counter[str],
    place: str,
    record: dict[str, Any],
    nest: Nest,
    options: Options,
) -> None:
    """Add the judgments of a record, each with what the record says of its item."""
    rows, whole = gathered
    around = {k: v for k, v in spelt_out(record).items() if not isinstance(v, list | dict)}
    told = options.columns
    outside = roles_of(list(around), named={r: c for r, c in told.items() if c in around})
    cells = {role: around[outside[role]] for role in _OUTSIDE if role in outside}
    if "item" not in cells and "document" not in cells:
        cells["item"] = next((v for k, v in around.items() if letters_of(k) == "id"), None)
    for given in nest.judgments(record):
        inside = roles_of(list(given), named={r: c for r, c in told.items() if c in given})
        state = str(given.get("status", "")).casefold()
        if state in _UNFINISHED:
            gone[state] += 1
            continue
        if "label" not in inside:
            rows.fault(
                place, _no_label(nest, given), wanted="a label", remedies=[name_columns("label")]
            )
            continue
        found, problem = single(given[inside["label"]])
        if problem:
            rows.fault(place, problem, value=given[inside["label"]], wanted="one label")
        elif found is None:
            gone["no label"] += 1
        else:
            own = {role: given[inside[role]] for role in _INSIDE if role in inside}
            rows.add(place, {**cells, **own, "label": found})
            whole.add(place, {**given, _RECORD: place})


def _no_label(nest: Nest, given: dict[str, Any]) -> str:
    """What is wrong with a judgment none of whose columns is the label."""
    return f"which part of {nest.name} is the label is not clear: {', '.join(given)}"


FORMATS = (
    Format(
        name="nested",
        title="items with their judgments inside: JSON, JSON Lines or Parquet",
        asks=True,
        reads=("judgments", "gold"),
        extension=".json",
        read=_read,
    ),
)
