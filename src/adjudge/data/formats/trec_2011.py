"""Task 2 of the TREC 2011 crowdsourcing track: its judgments, and what its teams handed in.

Judgments are tab separated, ``TOPIC HIT_ID WORKER_ID DOC_ID TRUTH LABEL``, with truth and label 0
or 1 and a truth of -1 where it is not known. A submission has no header: ``topic document rank
class``, with a rank from 1 and the class as the probability of relevance, either of them ``na``.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.recognition import columns_are, lines_like
from adjudge.data.formats.spaced import (
    check_rows,
    is_number,
    is_whole,
    nul_fault,
    read_spaced,
    repeated_fault,
    typed_numbers,
)
from adjudge.data.formats.tables import Table
from adjudge.data.names import pair_names
from adjudge.data.scale import Scale
from adjudge.data.source import Source, count_of

SCALE = Scale(labels=("0", "1"), ordinal=True, relevant=("1",))
_HEADER = ("TOPIC", "HIT_ID", "WORKER_ID", "DOC_ID", "TRUTH", "LABEL")
_SUBMISSION = ("topic", "document", "rank", "class")
_TABLE = Table(
    roles={
        "topic": "TOPIC",
        "document": "DOC_ID",
        "judge": "WORKER_ID",
        "label": "LABEL",
        "gold": "TRUTH",
    },
    unknown="-1",
    scale=SCALE,
    delimiter="\t",
    quoted=False,
    guarded=True,
)


def _is_submission_row(cells: list[str]) -> bool:
    """Four fields: the third a rank or ``na``, the fourth from 0 to 1 or ``na``."""
    if len(cells) != 4:
        return False
    placed = cells[2] == "na" or is_whole(cells[2])
    return placed and (cells[3] == "na" or is_number(cells[3]))


def _read_submission(file: File, options: Options) -> Content:
    """Labels: the class is the probability of relevance, from .5 on the label is 1."""
    table, source = read_spaced(file, options, _SUBMISSION)
    rank, odd_rank = typed_numbers(
        table, "rank", "a rank from 1, or na", "not-a-rank", integer=True, least=1, absent="na"
    )
    share, odd_share = typed_numbers(
        table,
        "class",
        "a number from 0 to 1, or na",
        "not-a-probability",
        least=0,
        most=1,
        absent="na",
    )
    typed = table.set_column(2, "rank", rank).set_column(3, "class", share)
    faults = [nul_fault(table, "topic"), nul_fault(table, "document"), odd_rank, odd_share]
    table = check_rows(typed, source, faults)
    table = check_rows(table, source, [repeated_fault(table, source, "topic", "document")])
    _remark_unranked(table, source)
    return Content(labels=_labels(table), scale=SCALE, bad=source.skipped)


def _remark_unranked(table: Any, source: Source) -> None:
    """Note that most topics have no first rank, as in other files of four columns."""
    topics = pc.count_distinct(table["topic"]).as_py()
    leads = pc.fill_null(pc.equal(table["rank"], 1), True)
    led = pc.count_distinct(table["topic"].filter(leads)).as_py()
    if 2 * led < topics:
        source.remark(
            "read as a submission to TREC 2011 (topic, document, rank, class), though "
            f"{topics - led:,} of {count_of(topics, 'topic')} "
            f"{'has' if topics - led == 1 else 'have'} no document of rank 1"
        )


def _labels(table: Any) -> Any:
    """A consensus table from the rows of a submission."""
    share = table["class"]
    relevant = pc.greater_equal(share, 0.5)
    other = pc.subtract(1.0, share)
    return pa.table(
        {
            "item": pair_names(table["topic"], table["document"]),
            "topic": table["topic"],
            "document": table["document"],
            "label": pc.if_else(relevant, "1", "0").cast(pa.large_string()),
            "probability": pc.if_else(relevant, share, other),
            "p_0": other,
            "p_1": share,
            "rank": table["rank"],
        }
    )


FORMATS = (
    Format(
        name="trec-2011",
        title="TREC 2011 crowdsourcing task 2: TOPIC HIT_ID WORKER_ID DOC_ID TRUTH LABEL",
        reads=("judgments", "gold"),
        extension=".tsv",
        fits=columns_are(*_HEADER, delimiter="\t"),
        read=_TABLE.read,
    ),
    Format(
        name="trec-2011-submission",
        title="TREC 2011 crowdsourcing submission: topic document rank class",
        reads=("labels",),
        extension=".txt",
        fits=lines_like(_is_submission_row),
        read=_read_submission,
    ),
)
