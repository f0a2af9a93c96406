"""A TREC run: the ranking that a search system made, ``topic Q0 document rank score tag``."""

from __future__ import annotations

from adjudge.data.formats._spaced import (
    check_rows,
    is_number,
    is_whole,
    nul_fault,
    numbers_of,
    read_spaced,
    repeated_fault,
)
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.errors import shown

_NAMES = ("topic", "Q0", "document", "rank", "score", "tag")


def is_run_row(cells: list[str]) -> bool:
    """Six fields, of which the fourth is a whole number and the fifth a number."""
    return len(cells) == 6 and is_whole(cells[3]) and is_number(cells[4])


def _read(file: File, options: Options) -> Content:
    """The run as a table: topic, document, rank, score, tag, line; a document once in a topic."""
    table, source = read_spaced(file, options, _NAMES, lines=True)
    _, no_rank = numbers_of(table["rank"], whole=True)
    _, no_score = numbers_of(table["score"])
    table = check_rows(
        table,
        source,
        [
            nul_fault(table, "topic"),
            nul_fault(table, "document"),
            (no_rank, "rank", lambda _, value: f"{shown(value)} is no whole number"),
            (no_score, "score", lambda _, value: f"{shown(value)} is no number"),
        ],
    )
    table = check_rows(table, source, [repeated_fault(table, source)])
    rank, _ = numbers_of(table["rank"], whole=True)
    score, _ = numbers_of(table["score"])
    table = table.set_column(3, "rank", rank).set_column(4, "score", score)
    return Content(run=table.drop_columns(["Q0"]), bad=source.skipped)


FORMATS = (
    Format(
        name="run",
        title="TREC run: topic Q0 document rank score tag",
        reads=("run",),
        extension=".run",
        read=_read,
    ),
)
