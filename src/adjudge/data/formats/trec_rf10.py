"""The crowd judgments of the TREC 2010 relevance feedback track, and two subsets of them.

Tab separated, ``topicID workerID docID gold label``. Labels are 2 (highly relevant), 1 (relevant),
0 (not relevant) and -2 (the page does not open). A gold of -1 is unknown; one of -2 is a honeypot,
a page planted so that it does not open.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.recognition import columns_are
from adjudge.data.formats.tables import Table
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.errors import BadData, Note, Remedy

BROKEN = "-2"
SCALE = Scale(labels=(BROKEN, "0", "1", "2"), ordinal=True, relevant=("1", "2"))
_TABLE = Table(
    roles={
        "topic": "topicID",
        "document": "docID",
        "judge": "workerID",
        "label": "label",
        "gold": "gold",
    },
    unknown="-1",
    scale=SCALE,
    delimiter="\t",
    quoted=False,
)


def _read(file: File, options: Options) -> Content:
    """Read judgments on -2 < 0 < 1 < 2 unless another scale is named, and gold with honeypots."""
    content = _TABLE.read(file, options)
    judgments = content.judgments
    if judgments is not None and BROKEN in judgments.scale.labels and judgments.scale.ordinal:
        drop = Remedy("drop-label", (BROKEN,))
        note = Note(f"{BROKEN}, a page that does not open, is taken for the lowest grade", (drop,))
        content = replace(content, notes=(*content.notes, note))
    if content.gold is None:
        return content
    broken = np.array([value == BROKEN for value in content.gold.values])
    return replace(content, gold=replace(content.gold, honeypot=broken[content.gold.value]))


def trec_2011_subset(content: Content) -> Content:
    """Return the binary judgments that task 2 of the TREC 2011 crowdsourcing track gave its teams.

    Without the honeypots and the labels -2, and with 1 and 2 as one: relevant.
    """
    judgments, gold = _parts(content)
    left = judgments.select(items=~gold.honeypots(judgments)).without_labels(BROKEN)
    kept = gold.select(~gold.without_judgments(left)).collapse(left.scale)
    return Content(judgments=left.collapse(), gold=kept, format=content.format)


def gold_subset(content: Content) -> Content:
    """Return the graded judgments of items whose grade is known: 0, 1 or 2."""
    judgments, gold = _parts(content)
    graded = gold.select(~_honeypot(gold))
    known = graded.align(judgments) >= 0
    left = judgments.select(items=known).without_labels(BROKEN)
    kept = graded.select(~graded.without_judgments(left))
    return Content(judgments=left, gold=kept, format=content.format)


def _parts(content: Content) -> tuple[Judgments, Gold]:
    if content.judgments is None or content.gold is None:
        raise BadData("the subset needs judgments and gold", code="missing-gold")
    return content.judgments, content.gold


def _honeypot(gold: Gold) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.zeros(len(gold), dtype=np.bool_) if gold.honeypot is None else gold.honeypot


FORMATS = (
    Format(
        name="trec-rf10",
        title="TREC 2010 relevance feedback: topicID workerID docID gold label, tab separated",
        reads=("judgments", "gold"),
        extension=".tsv",
        fits=columns_are("topicID", "workerID", "docID", "gold", "label", delimiter="\t"),
        read=_read,
    ),
)
