"""Comparisons out of the store, in columns, as the rest of the library takes them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from sqlalchemy import or_, select
from sqlalchemy.engine import Connection

from adjudge.collect.store.conditions import of_real_in
from adjudge.collect.store.schema import items, judges, judgments
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import CANNOT_JUDGE
from adjudge.data.comparisons import Comparisons

_CANNOT_SAY = "cannot say"
_WANTED = (
    select(
        items.c.document,
        items.c.beside,
        judgments.c.label,
        judges.c.public,
        judges.c.kind,
        items.c.topic,
        items.c.query,
        judgments.c.swapped,
        judgments.c.seconds,
    )
    .join(items, items.c.id == judgments.c.item)
    .join(judges, judges.c.id == judgments.c.judge)
    .order_by(judgments.c.id)
)
_TEXTS = ("left", "right", "label", "judge", "kind", "topic", "query", "first")


def read_comparison_table(on: Connection, snapshot: ProjectSnapshot, *, trusted: bool) -> Any:
    """Every comparison of a side-by-side project as an Arrow table: who was preferred by whom.

    Without the answers to gold, which was chosen to be easy to tell. ``first`` is the side of the
    pair, as it is stored, that the judge saw on the left.
    """
    wanted = _WANTED.where(
        judgments.c.project == snapshot.id,
        judgments.c.kind == "work",
        judgments.c.gold.is_(None),
        or_(judgments.c.other.is_(False), judgments.c.label == CANNOT_JUDGE),
        items.c.beside.is_not(None),
        of_real_in(snapshot.id),
    )
    if trusted:
        wanted = wanted.where(judgments.c.standing != "untrusted")
    rows = [
        (
            left, beside["document"], _CANNOT_SAY if label == CANNOT_JUDGE else label, judge, kind,
            topic, query, "right" if swapped else "left", seconds,
        )
        for left, beside, label, judge, kind, topic, query, swapped, seconds in on.execute(wanted)
    ]  # fmt: skip
    columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) or [()] * (len(_TEXTS) + 1)
    made = {n: pa.array(c, pa.large_string()) for n, c in zip(_TEXTS, columns, strict=False)}
    return pa.table({**made, "seconds": pa.array(columns[-1], pa.float64())})


def read_comparisons(
    on: Connection, snapshot: ProjectSnapshot, *, trusted: bool = True
) -> Comparisons | None:
    """The comparisons of a side-by-side project; None where there are none."""
    table = read_comparison_table(on, snapshot, trusted=trusted) if snapshot.of_pairs else ()
    if not len(table):
        return None
    return Comparisons.from_table(table, source=f"project {snapshot.slug}")
