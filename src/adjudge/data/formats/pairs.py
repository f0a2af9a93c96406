"""Comparisons of two items: plain tables, evalica's, crowd-kit's, an arena's, MT-Bench's.

Plain columns are left, right, label (or winner and loser), judge, topic and first, in CSV, TSV,
JSONL or Parquet. A file without judges has one, who is called as the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import IO, Any

from adjudge.data._second_questions import further_columns, tell_label
from adjudge.data.columns import comparison_roles, named_columns
from adjudge.data.comparisons import load_comparisons
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import read_rows
from adjudge.data.formats.recognition import columns_of, json_with
from adjudge.data.formats.records import (
    FILE,
    Fault,
    Records,
    Row,
    as_text,
    rows_of_json,
)
from adjudge.data.formats.writing import write_csv
from adjudge.errors import shown


def _read(file: File, options: Options) -> Content:
    """Read the comparisons of a table, of a file of JSON objects, or of a JSON array.

    A label that is named is the outcome; where none is, columns that may be another are noted.
    """
    named = options.columns.get("label")
    if file.is_listed:
        rows = rows_of_json(file, options)
        table, source = rows.table(), rows.source
    else:
        table, source = read_rows(file, options, partial(_worth_reading, file, named))
    roles = comparison_roles(table.column_names)
    if named is not None and roles:
        given = named_columns({"label": named}, table.column_names, source.name)
        roles = {**roles, "outcome": given["label"]}
    elif roles and "outcome" in roles:
        tell_label(table, roles, source)
    judge = file.name.split(".")[0] or "judge"
    found = load_comparisons(table, judge=judge, source=source, roles=roles or None)
    return Content(comparisons=found, bad=source.skipped)


def _worth_reading(file: File, named: str | None, columns: list[str]) -> list[str]:
    """Return the columns of comparisons and of other outcomes; all if one is named."""
    chosen = list(dict.fromkeys(comparison_roles(columns).values()))
    if named is not None or not chosen:
        return columns
    return chosen + further_columns(file, [name for name in columns if name not in chosen])


def _games(record: Row, _: str) -> Iterator[Row | Fault]:
    """Return the two verdicts of a record, one with either answer shown first."""
    if not {"model_1", "model_2"} <= record.keys():
        problem = f"expected model_1 and model_2, got {shown(record)}"
        yield Fault(problem, "missing-field", record)
        return
    judge, turn = record.get("judge"), record.get("turn")
    names = judge if isinstance(judge, list) else [judge]
    topic = as_text(record.get("question_id")) or ""
    for game, first in (("g1_winner", "left"), ("g2_winner", "right")):
        if record.get(game) is not None:
            yield {
                "left": record["model_1"],
                "right": record["model_2"],
                "label": record[game],
                "judge": "/".join(str(name) for name in names if name),
                "topic": topic if turn is None else f"{topic}/{turn}",
                "first": first,
                "place": game,
            }


def _write(content: Content, file: IO[bytes]) -> None:
    write_csv(content.need("comparisons", "pairs").to_table(), file, guard=True)


def _is_pairs(file: File) -> bool:
    """Recognise a header, or a first record, of comparisons."""
    columns = list(*file.records[:1]) if file.is_listed else columns_of(file)
    return bool(comparison_roles(columns))


def _format(name: str, title: str, **more: Any) -> Format:
    return Format(name=name, title=f"comparisons, {title}", reads=("comparisons",), **more)


FORMATS = (
    _format(
        "mt-bench",
        "MT-Bench's, in JSON: model_1, model_2, g1_winner, g2_winner, judge",
        extension=".jsonl",
        fits=json_with('"model_1"', '"g1_winner"'),
        read=Records(rows=_games, judge=FILE).read,
    ),
    _format(
        "pairs",
        "plain: left, right, label (or winner, loser), judge, topic, first",
        writes=("comparisons",),
        fits=_is_pairs,
        read=_read,
        write=_write,
    ),
    *(
        _format(name, title, read=_read)
        for name, title in (
            ("evalica", "evalica's: left, right, winner"),
            ("crowd-kit-pairs", "crowd-kit's: worker, left, right, label (the item that won)"),
            ("arena", "an arena's, in JSON: model_a, model_b, winner, judge"),
        )
    ),
)
