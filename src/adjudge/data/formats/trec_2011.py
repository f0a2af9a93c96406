"""Task 2 of the TREC 2011 crowdsourcing track: its judgments, and what its teams handed in.

Judgments are tab separated, ``TOPIC HIT_ID WORKER_ID DOC_ID TRUTH LABEL``, with truth and label 0
or 1 and a truth of -1 where it is not known. A submission has no header: ``topic document rank
class``, with a rank from 1 and the class as the probability of relevance, either of them ``na``.
"""

from __future__ import annotations

from functools import partial
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.formats.consensus_table import scale_of_labels
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import need_pairs
from adjudge.data.formats.recognition import columns_are, lines_like
from adjudge.data.formats.spaced import (
    check_cells,
    check_rows,
    is_number,
    is_whole,
    nul_fault,
    read_spaced,
    repeated_fault,
    typed_numbers,
)
from adjudge.data.formats.tables import Table
from adjudge.data.formats.writing import write_csv
from adjudge.data.judgments import Judgments
from adjudge.data.names import encode, look_up, pair_names
from adjudge.data.scale import Scale
from adjudge.data.source import Source, count_of
from adjudge.errors import BadData, shown

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


def _write_submission(content: Content, file: IO[bytes], *, binary: bool = False) -> None:
    """Write the labels as a submission; the class is the probability of relevance, or 0 or 1.

    Ranks are unique in their topic, by probability. Where there are judgments next to the labels,
    each of their items must have its line.
    """
    labels = content.need("labels", "trec-2011-submission")
    need_pairs(labels.column_names, "trec-2011-submission")
    check_cells(labels, ("topic", "document"), "trec-2011-submission", r"\t\n\v\f\r ")
    _check_pairs(labels, content.judgments)
    share = _relevance(labels, content.known_scale)
    rank = _unique_ranks(labels, share)
    if binary:
        share = _relevance(labels, content.known_scale, probable=False)
    columns = {
        "topic": labels["topic"],
        "document": labels["document"],
        "rank": pc.fill_null(rank.cast(pa.string()), "na"),
        "class": pc.fill_null(pa.array(share, mask=np.isnan(share)).cast(pa.string()), "na"),
    }
    write_csv(pa.table(columns), file, delimiter="\t", header=False, quoted=False)


def _check_pairs(labels: Any, judgments: Judgments | None) -> None:
    """Refuse a pair that is there twice, or an item of the judgments without a label."""
    source = Source("labels")
    check_rows(labels, source, [repeated_fault(labels, source, "topic", "document")])
    if judgments is not None:
        missing = look_up(judgments.items, labels["item"].combine_chunks()) < 0
        if missing.any():
            first = judgments.items[int(np.argmax(missing))].as_py()
            problem = (
                f"{count_of(int(missing.sum()), 'item')} without a label, first {shown(first)}"
            )
            raise BadData.at(None, "missing-labels", problem, value=first)


def _unique_ranks(labels: Any, share: NDArray[np.float64]) -> Any:
    """The rank of each item in its topic, null where it is not known.

    Ranks of the table are kept if they are unique. Otherwise, and without them, items are ranked by
    the table's ranks, then by class, then by document.
    """
    topic, _ = encode(labels["topic"])
    given = np.isnan(share).astype(np.float64)
    unknown = np.isnan(share)
    if "rank" in labels.column_names:
        given = labels["rank"].cast(pa.float64()).to_numpy()
        unknown = np.isnan(given)
        pairs = np.stack([topic, given], axis=1)[~unknown]
        if len(np.unique(pairs, axis=0)) == len(pairs):
            return labels["rank"]
    _, document = np.unique(labels["document"].to_numpy().astype(str), return_inverse=True)
    order = np.lexsort((document, -np.nan_to_num(share), given, topic))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(topic[order], topic[order]) + 1
    return pa.array(rank, mask=unknown)


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
        writes=("labels",),
        extension=".txt",
        fits=lines_like(_is_submission_row),
        read=_read_submission,
        write=_write_submission,
    ),
    Format(
        name="trec-2011-submission-binary",
        title="the same with a class of 0 or 1, still ranked by probability",
        reads=(),
        writes=("labels",),
        extension=".txt",
        write=partial(_write_submission, binary=True),
    ),
)


def _relevance(
    labels: Any, scale: Scale | None, *, probable: bool = True
) -> NDArray[np.float64]:  # (item,)
    """The probability that each item is relevant, NaN where it is not known.

    The sum over the relevant truths; 1 or 0 where the table has a label and no probabilities, or
    where they are not asked for.
    """
    known = scale if scale is not None else scale_of_labels(labels)
    if known is None:
        return np.full(len(labels), np.nan)
    known.need_relevant()
    relevant = known.truth_relevant
    marks = np.zeros(len(known.truths), dtype=np.bool_) if relevant is None else relevant
    names = [f"p_{truth}" for truth in known.truths]
    if probable and set(names) <= set(labels.column_names):
        shares = [labels[name].to_numpy() for name, mark in zip(names, marks, strict=True) if mark]
        return np.asarray(np.clip(np.sum(shares, axis=0), 0.0, 1.0))
    codes, texts = encode(labels["label"])
    truths = [known.truth_code(text) for text in texts.to_pylist()]
    table = [np.nan if code < 0 else float(marks[code]) for code in truths]
    return np.array([*table, np.nan])[codes]
