"""Comparisons of two items: plain tables, evalica's, crowd-kit's, an arena's, MT-Bench's.

Plain columns are left, right, label (or winner and loser), judge, topic and first, in CSV, TSV,
JSONL or Parquet. A file without judges has one, who is called as the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import IO, Any

import numpy as np
import pyarrow as pa

from adjudge.data._second_questions import further_columns, tell_label
from adjudge.data.columns import comparison_roles, named_columns
from adjudge.data.comparisons import LEFT, OUTCOMES, RIGHT, Comparisons, load_comparisons
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
from adjudge.data.formats.writing import write_csv, write_table
from adjudge.data.source import count_of
from adjudge.errors import BadData, shown


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


def _write_evalica(content: Content, file: IO[bytes]) -> None:
    """Write left, right and winner; evalica leaves out what nobody could say."""
    found: Comparisons = content.need("comparisons", "evalica")
    table = found.to_table()
    words = _outcome_words(found, "left", "right", "tie", "ignore")
    write_csv(
        pa.table([table["left"], table["right"], words], names=["left", "right", "winner"]),
        file,
        guard=True,
    )


def _write_crowdkit(content: Content, file: IO[bytes]) -> None:
    """Write crowd-kit's frame, where the label is the item that won; it has no room for ties."""
    found: Comparisons = content.need("comparisons", "crowd-kit-pairs")
    undecided = int(np.count_nonzero(found.outcome > RIGHT))
    if undecided:
        problem = (
            f"crowd-kit has no room for ties; {count_of(undecided, 'comparison')} without winner"
        )
        raise BadData.at(None, "undecided-comparisons", problem, value=undecided)
    table = found.to_table()
    columns = [table["judge"], table["left"], table["right"], _winners(found)]
    names = ["worker", "left", "right", "label"]
    write_csv(pa.table(columns, names=names), file, guard=True)


def _write_arena(content: Content, file: IO[bytes]) -> None:
    """Write one object per line: model_a, model_b, winner, judge, and the question if known."""
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


def _winners(comparisons: Comparisons) -> Any:
    """Return the item that won each comparison; null where none did."""
    code = np.where(comparisons.outcome == LEFT, comparisons.left, comparisons.right)
    return comparisons.items.take(pa.array(code, mask=comparisons.outcome > RIGHT))


def _outcome_words(comparisons: Comparisons, *words: str) -> Any:
    """Return the outcome of each comparison in a format's own four words."""
    chosen = words or OUTCOMES
    return pa.array(chosen, pa.large_string()).take(pa.array(comparisons.outcome))


def _is_pairs(file: File) -> bool:
    """Recognise a header, or a first record, of comparisons."""
    columns = list(*file.records[:1]) if file.is_listed else columns_of(file)
    return bool(comparison_roles(columns))


def _format(name: str, title: str, **more: Any) -> Format:
    return Format(name=name, title=f"comparisons, {title}", reads=("comparisons",), **more)


_WRITTEN = ("comparisons",)
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
        writes=_WRITTEN,
        fits=_is_pairs,
        read=_read,
        write=_write,
    ),
    _format(
        "evalica",
        "evalica's: left, right, winner",
        writes=_WRITTEN,
        read=_read,
        write=_write_evalica,
    ),
    _format(
        "crowd-kit-pairs",
        "crowd-kit's: worker, left, right, label (the item that won)",
        writes=_WRITTEN,
        read=_read,
        write=_write_crowdkit,
    ),
    _format(
        "arena",
        "an arena's, in JSON: model_a, model_b, winner, judge",
        writes=_WRITTEN,
        extension=".jsonl",
        read=_read,
        write=_write_arena,
    ),
)
