"""Plain judgments: item (or topic and document), judge, label, in CSV, TSV, JSONL or Parquet.

Optional columns are gold, time and seconds; common synonyms of every name are accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import IO, Any

from adjudge.data._gold_table import gold_from_table
from adjudge.data.build import load_table
from adjudge.data.columns import Columns, named_columns, roles_of
from adjudge.data.formats.delimited import Delimited, delimiter_of, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.writing import write_table
from adjudge.data.source import Source
from adjudge.data.synonyms import NAMED
from adjudge.errors import BadData


def _worth_reading(columns: list[str], named: Mapping[str, str] | None = None) -> list[str]:
    """The columns that play a role; all if a role is vacant, so that an error can name them."""
    roles = roles_of(columns, named=named)
    placed = "item" in roles or "document" in roles
    whole = placed and ("gold" in roles or {"judge", "label"} <= roles.keys())
    return list(dict.fromkeys(roles.values())) if whole else columns


def _read(file: File, options: Options) -> Content:
    """Judgments with gold if a column holds it; gold or labels alone where there is no judge."""
    table, source = read_rows(file, options, partial(_worth_reading_as_told, options, file))
    every = file.columns if file.kind == "delimited" else table.column_names
    return content_of(table, source, options, every)


def _worth_reading_as_told(options: Options, file: File, columns: list[str]) -> list[str]:
    """The columns that play a role, those that a person named among them.

    Where nobody named the label, also those that may be another one.
    """
    chosen = _worth_reading(columns, named_columns(options.columns, columns, file.name))
    if "label" in options.columns or len(chosen) == len(columns):
        return chosen
    from adjudge.data._second_questions import further_columns

    return chosen + further_columns(file, [name for name in columns if name not in chosen])


def _coded_columns(options: Options, columns: list[str]) -> list[str]:
    """The columns of ids and labels of judgments, whose texts repeat; none of other tables."""
    roles = roles_of(columns, named=named_columns(options.columns, columns, ""))
    return list({roles[role]: None for role in _CODED if role in roles and "judge" in roles})


def content_of(
    table: Any, source: Source, options: Options, columns: Sequence[str] = ()
) -> Content:
    """What a table of plain rows holds, its roles by name unless a person says otherwise.

    ``columns`` are those of the file, of which the table may have only some.
    """
    told = named_columns(options.columns, table.column_names, source.name)
    roles = roles_of(table.column_names, named=told)
    every = columns or table.column_names
    known = roles.get("label") == "label" and len(every) == len(roles)
    if "label" in roles and "label" not in told and not known and len(table):
        from adjudge.data._second_questions import tell_label

        tell_label(table, roles, source, every)
    alone = "judge" not in roles and ("item" in roles or "document" in roles)
    labels = None
    if alone and options.wanted == "labels" and "label" in roles and len(table):
        if "gold" not in roles:
            labels = _labels_of(table, source, roles)
            return Content(labels=labels, scale=options.scale, bad=source.skipped)
        labels = _labels_of(table, replace(source, bad=[]), roles)  # else a row is listed twice
    bare = set(table.column_names) <= set(roles.values())
    single = alone and bare and "label" in roles and options.wanted is None
    if alone and ("gold" in roles or options.wanted == "gold" or single):
        if not len(table):
            raise source.error(None, "there is no gold: the table has a header and no rows")
        if single and "gold" not in roles:
            source.remark("there is no judge, so its labels are read as gold")
        truth = gold_from_table(table, source=source, scale=options.truths, roles=roles)
        return Content(labels=labels, gold=truth, scale=options.scale, bad=source.skipped)
    choices: tuple[str, ...] = ()
    if _may_be_lists(table, roles):
        from adjudge.data.formats._multi_select import one_question_an_option

        table, roles, choices = one_question_an_option(table, source, roles, options)
    judgments, gold = load_table(
        table, scale=options.scale, source=source, roles=roles, asked="label" in told
    )
    found = {role: name for role, name in roles.items() if role in NAMED}
    return Content(
        judgments=judgments, gold=gold, bad=source.skipped, options=choices, columns=found
    )


def _may_be_lists(table: Any, roles: dict[str, str]) -> bool:
    """Whether the first label is a list, or not given: then all may be lists of options."""
    if "label" not in roles or not len(table):
        return False
    first = table[roles["label"]][0].as_py()
    return first is None or (isinstance(first, str) and first.strip()[:1] in ("", "["))


def _labels_of(table: Any, source: Source, roles: dict[str, str]) -> Any:
    """Labels of items that came without probabilities: one an item, as a consensus table."""
    as_gold = {role: name for role, name in roles.items() if role in _PLACES}
    labels = gold_from_table(table, source=source, roles={**as_gold, "gold": roles["label"]})
    columns = labels.to_table()
    return columns.rename_columns(["label" if n == "gold" else n for n in columns.column_names])


_PLACES = ("item", "topic", "document")
_CODED = (*_PLACES, "judge", "label", "gold")


def read_rows(
    file: File, options: Options, columns: Columns = _worth_reading
) -> tuple[Any, Source]:
    """The columns of a plain file that play a role, or those chosen, whatever its kind."""
    if file.kind == "parquet":
        return _read_parquet(file, options, columns)
    if file.kind == "jsonl":
        from adjudge.data.formats._jsonl import read_jsonl

        return read_jsonl(file, options, columns)
    if file.path.suffix == ".parquet":
        raise BadData(
            "is cut short, or no Parquet file (it does not begin as one)",
            source=file.name,
            expected="a whole Parquet file",
        )
    delimiter = delimiter_of(file)
    names = None
    if options.header is False:
        from adjudge.data.formats._shapes import number_columns

        names = number_columns(len(Delimited(file, delimiter).header))
    return read_delimited(
        file,
        options,
        delimiter=delimiter,
        names=names,
        columns=columns,
        guarded=True,
        coded=partial(_coded_columns, options),
    )


def _read_parquet(
    file: File, options: Options, columns: Columns = _worth_reading
) -> tuple[Any, Source]:
    """The chosen columns of a Parquet file."""
    from adjudge.data.formats._records import read_parquet

    table = read_parquet(file, columns, partial(_coded_columns, options))
    return table, Source(file.name, skip_bad=options.skip_bad, notes=options.notes)


def _write(extension: str) -> Callable[[Content, IO[bytes]], None]:
    return lambda content, file: write_table(content.to_table(), file, extension, guard=True)


FORMATS = tuple(
    Format(
        name=name,
        title=f"plain judgments, {text}: item (or topic, document), judge, label, gold, time",
        reads=("judgments", "gold"),
        writes=("judgments", "comparisons", "gold"),
        extension=extension,
        read=_read,
        write=_write(extension),
    )
    for name, text, extension in (
        ("csv", "comma separated", ".csv"),
        ("tsv", "tab separated", ".tsv"),
        ("jsonl", "one JSON object a line", ".jsonl"),
        ("parquet", "Apache Parquet", ".parquet"),
    )
)
