"""Plain judgments: item (or topic and document), judge, label, in CSV, TSV, JSON or Parquet.

Optional columns are gold, time and seconds; common synonyms of every name are accepted. What is
nested in a JSON object is named by its path: ``{"user": {"id": 3}}`` has a column ``user.id``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from adjudge.data._gold_table import gold_from_table
from adjudge.data._second_questions import first_cells, further_columns, tell_label
from adjudge.data.build import load_table, remark_single
from adjudge.data.columns import (
    Columns,
    item_parts,
    join_item,
    letters_of,
    named_columns,
    roles_of,
    words_of,
)
from adjudge.data.formats.delimited import Delimited, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.multi_select import split_options
from adjudge.data.formats.opening import File, reading, spelt_out
from adjudge.data.formats.recognition import columns_of
from adjudge.data.formats.records import (
    RecordRows,
    as_list,
    as_object,
    json_records,
    read_json,
    read_parquet,
)
from adjudge.data.formats.tables import gold_as_labels
from adjudge.data.formats.writing import write_table
from adjudge.data.shapes import number_columns
from adjudge.data.source import Source
from adjudge.data.synonyms import NAMED
from adjudge.errors import BadData, name_columns, shown

_PLACES = ("item", "topic", "document")
_ITEM_TEXTS = {"text", "sentence", "passage", "title", "snippet", "tweet", "premise", "hypothesis"}
_FEW_TEXTS = 3  # more texts than items, before it is said
_CODED = (*_PLACES, "judge", "label", "gold")
_FIRST_COLUMN = re.compile(
    r'\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*(?:\[\s*[^\[{\s]|\{\s*"0"\s*:\s*[^\[{\s])'
)


def is_plain(file: File) -> bool:
    """Recognise a header, or a first record, with two of item, judge and label; or with gold."""
    if file.path.suffix == ".parquet" or file.kind == "parquet":
        return True
    return file.kind != "json" and _are_judgments(columns_of(file))


def is_plain_json(file: File) -> bool:
    """Recognise a list of objects, by itself or under a key, the first of which is as plain.

    Keys that differ in their digits only, such as 17_stars, are items and not columns.
    """
    if column_lists(file):
        return True
    first = file.records[0] if file.records and (file.keyed or file.is_json_list) else {}
    if len({letters_of(name) for name in first}) < len(first) / 2:
        return False
    return _are_judgments(list(first))


def column_lists(file: File) -> dict[str, list[Any]]:
    """Return the columns of JSON that has them one by one, as pandas writes them; else none.

    Columns are lists of one length, or objects with the same keys; or ``columns`` names the cells
    of the rows in ``data``.
    """
    first = _FIRST_COLUMN.match(file.text)
    if first is None or not (first[1] == "columns" or roles_of([first[1]])):
        return {}
    try:
        found = as_object(read_json(file))
    except BadData:  # JSON Lines
        return {}
    if {"columns", "data"} <= found.keys():
        rows = [row for row in as_list(found["data"]) if isinstance(row, list)]
        names = [str(name) for name in as_list(found["columns"])]
        same = all(len(row) == len(names) for row in rows)
        return {n: [row[at] for row in rows] for at, n in enumerate(names)} if same else {}
    objects = all(isinstance(column, dict) for column in found.values())
    columns = {n: [*c.values()] if objects else as_list(c) for n, c in found.items()}
    lengths = {len(column) for column in columns.values()}
    return columns if len(lengths) == 1 and 0 not in lengths and _are_judgments([*found]) else {}


def _are_judgments(columns: list[str]) -> bool:
    """Whether columns are two of item, judge and label, or item and gold."""
    roles = roles_of(columns)
    parts = ("item" in roles or "document" in roles, "judge" in roles, "label" in roles)
    return sum(parts) >= 2 or (parts[0] and "gold" in roles)  # with one missing, say which


def _worth_reading(columns: list[str], named: Mapping[str, str] | None = None) -> list[str]:
    """Return the columns with a role; all if a role is vacant, so that an error can name them."""
    roles = roles_of(columns, named=named)
    parts = item_parts(named or {}, columns)
    placed = "item" in roles or "document" in roles
    complete = placed and ("gold" in roles or {"judge", "label"} <= roles.keys())
    if not complete:
        return columns
    return list(dict.fromkeys([*parts, *(name for name in roles.values() if name in columns)]))


def _read(file: File, options: Options) -> Content:
    """Read judgments with gold if a column holds it; gold or labels alone where no judge is."""
    table, source = read_rows(file, options, partial(_choose_columns, options, file))
    source.every = partial(_read_again, file, options)
    every = file.columns if file.kind == "delimited" else table.column_names
    content = content_of(table, source, options, every)
    if content.judgments is not None and "item" in content.columns:
        _remark_texts(first_cells(file), content.columns["item"], source)
    return content


def _remark_texts(cells: Mapping[str, Sequence[str]], item: str, source: Source) -> None:
    """Note that items have several texts, as where their ids begin again within a file."""
    items = cells.get(item, ())
    for name in (name for name in cells if _ITEM_TEXTS & set(words_of(name)) and name != item):
        pairs = len(set(zip(items, cells[name], strict=True)))
        again = pairs - len(set(items))
        if again >= _FEW_TEXTS and 2 * pairs <= len(items):  # a judge's own texts differ by row
            source.remark(
                f"column {item}: one value has several texts in {name}, so that it may name "
                "different items",
                name_columns(item=f"{item},{name}"),
            )
            return


def _read_json(file: File, options: Options) -> Content:
    """Read a list of objects, by itself or under a key, as a table of the same columns."""
    table, source = read_every(file, options)
    return content_of(table, source, options)


def _choose_columns(options: Options, file: File, columns: list[str]) -> list[str]:
    """Return the columns with a role, those that the user named among them.

    Where nobody named the label, also those that may be another one.
    """
    chosen = _worth_reading(columns, named_columns(options.columns, columns, file.name))
    if "label" in options.columns or len(chosen) == len(columns):
        return chosen
    return chosen + further_columns(file, [name for name in columns if name not in chosen])


def _list_coded_columns(options: Options, columns: list[str]) -> list[str]:
    """Return the columns of ids and labels of judgments, whose texts repeat."""
    roles = roles_of(columns, named=named_columns(options.columns, columns, ""))
    found = {roles[role]: None for role in _CODED if role in roles and "judge" in roles}
    return [name for name in found if name in columns]


def content_of(
    table: Any, source: Source, options: Options, columns: Sequence[str] = ()
) -> Content:
    """Return what a table of plain rows holds, its roles by name unless the user names them.

    ``columns`` are those of the file, of which the table may have only some.
    """
    named = named_columns(options.columns, table.column_names, source.name)
    table = join_item(table, named, source)
    roles = roles_of(table.column_names, named=named)
    every = columns or table.column_names
    known = roles.get("label") == "label" and len(every) == len(roles)
    if "label" in roles and "label" not in named and not known and len(table):
        tell_label(table, roles, source, every)
    if "judge" not in roles and ("item" in roles or "document" in roles):
        content = _read_without_judge(table, source, roles, options)
        if content is not None:
            return content
    choices: tuple[str, ...] = ()
    if _may_be_lists(table, roles):
        table, roles, choices = split_options(table, source, roles, options)
    judgments, gold = load_table(
        table, scale=options.scale, source=source, roles=roles, asked="label" in named
    )
    remark_single(judgments, roles, source)
    found = {r: name for r, name in roles.items() if r in NAMED and (r != "gold" or gold)}
    return Content(
        judgments=judgments, gold=gold, bad=source.skipped, options=choices, columns=found
    )


def _read_without_judge(
    table: Any, source: Source, roles: dict[str, str], options: Options
) -> Content | None:
    """Return the labels and the gold of a table without a judge, if it can hold these."""
    labels = None
    if options.kind == "labels" and "label" in roles and len(table):
        places = {role: name for role, name in roles.items() if role in _PLACES}
        own = source if "gold" not in roles else replace(source, bad=[])  # no row listed twice
        found = gold_from_table(table, source=own, roles={**places, "gold": roles["label"]})
        labels = gold_as_labels(found)
        if "gold" not in roles:
            return Content(labels=labels, scale=options.scale, bad=source.skipped)
    bare = set(table.column_names) <= set(roles.values())
    single = bare and "label" in roles and options.kind is None
    if not ("gold" in roles or options.kind == "gold" or single):
        return None
    if not len(table):
        raise source.error(None, "there is no gold: the table has no rows", code="no-rows")
    if single and "gold" not in roles:
        source.remark("there is no judge, so its labels are read as gold")
    gold = gold_from_table(table, source=source, scale=options.truths, roles=roles)
    return Content(labels=labels, gold=gold, scale=options.scale, bad=source.skipped)


def _may_be_lists(table: Any, roles: dict[str, str]) -> bool:
    """Whether the first label is a list, or missing: then all may be lists of options."""
    if "label" not in roles or not len(table):
        return False
    first = table[roles["label"]][0].as_py()
    return first is None or (isinstance(first, str) and first.strip()[:1] in ("", "["))


def read_rows(
    file: File, options: Options, columns: Columns = _worth_reading
) -> tuple[Any, Source]:
    """Return the columns of a plain file that have a role, or those chosen, and its source."""
    coded = partial(_list_coded_columns, options)
    if file.kind == "parquet":
        table = read_parquet(file, columns, coded)
        return table, options.source(file.name)
    if file.kind == "jsonl":
        return read_jsonl(file, options, columns)
    if file.path.suffix == ".parquet":
        raise BadData.at(file.name, "broken-file", "this is not a complete Parquet file")
    names = None
    if options.header is False:
        names = tuple(number_columns(len(Delimited(file, file.delimiter).header)))
    return read_delimited(
        file,
        options,
        names=names,
        columns=columns,
        guarded=True,
        coded=coded,
    )


def read_every(file: File, options: Options) -> tuple[Any, Source]:
    """Return all columns of a plain file, or of a list of JSON objects, and its source."""
    columns = column_lists(file)
    if not (file.is_json_list or file.keyed or columns):
        return read_rows(file, options, list)
    rows = RecordRows(file, options)
    for number, cells in enumerate(zip(*columns.values(), strict=True), start=1):
        rows.add(f"row {number}", dict(zip(columns, cells, strict=True)))
    for place, record in () if columns else json_records(file, rows):
        rows.add(place, spelt_out(record))
    return rows.table(), rows.source


def _read_again(file: File, options: Options) -> tuple[Any, Any]:
    """Return all columns of a plain file, and which of its rows these are; None for all."""
    table, source = read_rows(file, options, list)
    return table, source.row_of


def _write(extension: str) -> Callable[[Content, IO[bytes]], None]:
    return lambda content, file: write_table(content.to_table(), file, extension, guard=True)


FORMATS = (
    Format(
        name="json",
        title="plain judgments, a JSON list of objects: item (or topic, document), judge, label",
        reads=("judgments", "gold"),
        extension=".json",
        fits=is_plain_json,
        read=_read_json,
    ),
    *(
        Format(
            name=name,
            title=f"plain judgments, {text}: item (or topic, document), judge, label, gold, time",
            reads=("judgments", "gold"),
            writes=("judgments", "comparisons", "gold"),
            extension=extension,
            fits=is_plain if name == "csv" else None,
            read=_read,
            write=_write(extension),
        )
        for name, text, extension in (
            ("csv", "comma separated", ".csv"),
            ("tsv", "tab separated", ".tsv"),
            ("jsonl", "one JSON object per line", ".jsonl"),
            ("parquet", "Apache Parquet", ".parquet"),
        )
    ),
)


_IDS = ("item", "topic", "document", "judge")


def read_jsonl(file: File, options: Options, columns: Columns) -> tuple[Any, Source]:
    """Return the chosen columns of a JSONL file, and the source that can name its lines."""
    lines: list[int] = []  # found only when there is an error

    def line_of(row: int) -> int:
        if not lines:
            lines.extend(number for number, _ in file.lines())
        return lines[row]

    source = options.source(file.name, line_of=line_of)
    with reading(file.path):
        table = _read_fast(file, columns) if file.codec == "utf-8" else None
        if table is None:
            table = _read_with_care(file, source, columns)
    return table, source


def _read_fast(file: File, columns: Columns) -> Any | None:
    """The table as Arrow reads it, or None where Arrow cannot, or would change what is there."""
    try:
        table = pa.json.read_json(file.for_arrow)
        table = table.select(columns(table.column_names))
        roles = roles_of(table.column_names)
        dates = [
            name
            for role, name in roles.items()
            if role != "time" and pa.types.is_timestamp(table[name].type)
        ]
        if dates:
            schema = pa.schema([(name, pa.string()) for name in dates])
            parsing = pa.json.ParseOptions(explicit_schema=schema)
            again = pa.json.read_json(file.for_arrow, parse_options=parsing)
            table = again.select(table.column_names)
        table.validate(full=True)
    except pa.ArrowInvalid:
        return None
    ids = [roles[role] for role in _IDS if role in roles]
    changed = any(pa.types.is_floating(table[name].type) for name in ids)
    nested = any(pa.types.is_nested(table[name].type) for name in roles.values())
    return None if changed or nested else table


def _read_with_care(file: File, source: Source, columns: Columns) -> Any:
    """Return every value as text; a line that is not a plain object is a fault with its line."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    good: list[int] = []
    for number, line in file.lines():
        lines.append(number)
        text = line.strip()
        record, column, problem = _record(text)
        if problem:
            code = "invalid-json" if column is None else "not-one-value"
            error = BadData.at(file.name, code, problem, line=number, column=column, value=text)
            source.refuse(len(lines) - 1, error)
            continue
        good.append(len(lines) - 1)
        rows.append(record)
    source.line_of = lines.__getitem__
    if source.bad:
        source.keep(np.array(good, dtype=np.int64))
    names = columns(list(dict.fromkeys(name for record in rows for name in record)))
    cells = {
        name: pa.array([_text(record.get(name)) for record in rows], pa.large_string())
        for name in names
    }
    return pa.table(cells)


def _record(text: str) -> tuple[dict[str, Any], str | None, str]:
    """The object on a line; or the column and the words of what is wrong with it."""
    try:
        record = json.loads(text, parse_float=str)
    except (ValueError, RecursionError) as fault:  # also a number of thousands of digits
        return {}, None, f"expected a JSON object, got {shown(text)} ({fault})"
    if not isinstance(record, dict):
        return {}, None, f"expected a JSON object, got {shown(text)}"
    if any(isinstance(value, dict) for value in record.values()):
        record = spelt_out(record)
    for name in _role_names(tuple(record)):
        if isinstance(record[name], list | dict):
            return {}, name, f"expected text or a number, got {shown(record[name])}"
    return record, None, ""


@cache
def _role_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(roles_of(list(names)).values())


def _text(value: Any) -> str | None:
    """A JSON value as text, spelt as Arrow spells it."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)
