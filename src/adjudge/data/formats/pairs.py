"""Comparisons of two items: plain tables, evalica's, crowd-kit's, an arena's, MT-Bench's.

Plain columns are left, right, label (or winner and loser), judge, topic and first, in CSV, TSV,
JSONL or Parquet. A file without judges has one, who is called as the file.
"""

from __future__ import annotations

from functools import partial
from typing import IO, Any

import numpy as np
import pyarrow as pa

from adjudge.data._second_questions import further_columns, tell_label
from adjudge.data.columns import comparison_roles, named_columns
from adjudge.data.comparisons import LEFT, OUTCOMES, RIGHT, Comparisons, load_comparisons
from adjudge.data.formats._records import RecordRows, as_text, read_records
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import read_rows
from adjudge.data.formats.writing import write_csv, write_table
from adjudge.data.source import count_of
from adjudge.errors import BadData, shown


def _judge_of(file: File) -> str:
    """The name of the judge of a file that names none: its own, without extensions."""
    return file.name.split(".")[0] or "judge"


def _read(file: File, options: Options) -> Content:
    """The comparisons of a table, of a file of JSON objects, or of a JSON array.

    A label that is named is the outcome; where none is, columns that may be another are told.
    """
    named = options.columns.get("label")
    if file.text.lstrip().startswith("["):
        rows = RecordRows(file, options)
        for place, record in read_records(file, "record"):
            if isinstance(record, dict):
                rows.add(place, record)
            else:
                rows.fault(place, f"{shown(record)} is no object", wanted="a comparison")
        table, source = rows.table(), rows.source
    else:
        table, source = read_rows(file, options, partial(_worth_reading, file, named))
    roles = comparison_roles(table.column_names)
    if named is not None and roles:
        told = named_columns({"label": named}, table.column_names, source.name)
        roles = {**roles, "outcome": told["label"]}
    elif roles and "outcome" in roles:
        tell_label(table, roles, source)
    found = load_comparisons(table, judge=_judge_of(file), source=source, roles=roles or None)
    return Content(comparisons=found, bad=source.skipped)


def _worth_reading(file: File, named: str | None, columns: list[str]) -> list[str]:
    """The columns of comparisons, and those that may be an outcome too; all if one is named."""
    chosen = list(dict.fromkeys(comparison_roles(columns).values()))
    if named is not None or not chosen:
        return columns
    return chosen + further_columns(file, [name for name in columns if name not in chosen])


def _read_mt_bench(file: File, options: Options) -> Content:
    """The two verdicts of each record, one with either answer shown first."""
    rows = RecordRows(file, options)
    for place, record in read_records(file, "record"):
        if not isinstance(record, dict) or not {"model_1", "model_2"} <= record.keys():
            rows.fault(place, f"{shown(record)} has no model_1 and model_2", wanted="a verdict")
            continue
        judge = record.get("judge")
        names = judge if isinstance(judge, list) else [judge]
        turn = record.get("turn")
        topic = as_text(record.get("question_id")) or ""
        for game, first in (("g1_winner", "left"), ("g2_winner", "right")):
            if record.get(game) is None:
                continue
            row = {
                "left": record["model_1"],
                "right": record["model_2"],
                "label": record[game],
                "judge": "/".join(str(name) for name in names if name) or _judge_of(file),
                "topic": topic if turn is None else f"{topic}/{turn}",
                "first": first,
            }
            rows.add(f"{place}, {game}", row)
    if not len(rows):
        raise rows.source.error(None, "there is no comparison in this file")
    found = load_comparisons(rows.table(), source=rows.source)
    return Content(comparisons=found, bad=rows.source.skipped)


def _write(content: Content, file: IO[bytes]) -> None:
    write_csv(content.need("comparisons", "pairs").to_table(), file, guard=True)


def _write_evalica(content: Content, file: IO[bytes]) -> None:
    """What evalica reads: left, right, winner; what nobody could say it leaves out itself."""
    found: Comparisons = content.need("comparisons", "evalica")
    table = found.to_table()
    words = _outcome_words(found, "left", "right", "tie", "ignore")
    write_csv(
        pa.table([table["left"], table["right"], words], names=["left", "right", "winner"]),
        file,
        guard=True,
    )


def _write_crowdkit(content: Content, file: IO[bytes]) -> None:
    """crowd-kit's frame: the label is the item that won, so that ties have no room in it."""
    found: Comparisons = content.need("comparisons", "crowd-kit-pairs")
    undecided = int(np.count_nonzero(found.outcome > RIGHT))
    if undecided:
        raise BadData(
            f"{undecided:,} of {count_of(len(found), 'comparison')} "
            f"{'has' if undecided == 1 else 'have'} no winner, and crowd-kit has no "
            "room for ties; wanted another format",
            expected="another format",
        )
    table = found.to_table()
    columns = [table["judge"], table["left"], table["right"], _winners(found)]
    names = ["worker", "left", "right", "label"]
    write_csv(pa.table(columns, names=names), file, guard=True)


def _write_arena(content: Content, file: IO[bytes]) -> None:
    """One object a line: model_a, model_b, winner, judge, and the question where it is known."""
    found: Comparisons = content.need("comparisons", "arena")
    table = found.to_table()
    columns: dict[str, Any] = {
        "model_a": table["left"],
        "model_b": table["right"],
        "winner": _outcome_words(found, "model_a", "model_b", "tie", "cannot say"),
        "judge": table["judge"],
    }
    if "topic" in table.column_names:
        columns["question_id"] = table["topic"]
    write_table(pa.table(columns), file, ".jsonl")


def _format(name: str, title: str, **more: Any) -> Format:
    return Format(name=name, title=title, reads=("comparisons",), **more)


FORMATS = (
    _format(
        "pairs",
        "comparisons, plain: left, right, label (or winner, loser), judge, topic, first",
        writes=("comparisons",),
        read=_read,
        write=_write,
    ),
    _format(
        "evalica",
        "comparisons, evalica's: left, right, winner",
        writes=("comparisons",),
        read=_read,
        write=_write_evalica,
    ),
    _format(
        "crowd-kit-pairs",
        "comparisons, crowd-kit's: worker, left, right, label (the item that won)",
        writes=("comparisons",),
        read=_read,
        write=_write_crowdkit,
    ),
    _format(
        "arena",
        "comparisons, an arena's, in JSON: model_a, model_b, winner, judge",
        writes=("comparisons",),
        extension=".jsonl",
        read=_read,
        write=_write_arena,
    ),
    _format(
        "mt-bench",
        "comparisons, MT-Bench's, in JSON: model_1, model_2, g1_winner, g2_winner, judge",
        extension=".jsonl",
        read=_read_mt_bench,
    ),
)


def _winners(comparisons: Comparisons) -> Any:
    """The item that won each comparison; null where none did."""
    code = np.where(comparisons.outcome == LEFT, comparisons.left, comparisons.right)
    return comparisons.items.take(pa.array(code, mask=comparisons.outcome > RIGHT))


def _outcome_words(comparisons: Comparisons, *words: str) -> Any:
    """The outcome of each comparison in a format's own four words."""
    chosen = words or OUTCOMES
    return pa.array(chosen, pa.large_string()).take(pa.array(comparisons.outcome))
