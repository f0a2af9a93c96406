"""Judgments, comparisons and gold out of the store, in columns, as the library takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.engine import Connection

from adjudge.collect.store.schema import adjudications, items, judges, judgments, of_real_in, pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import CANNOT_JUDGE
from adjudge.data.comparisons import Comparisons
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up

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
_ITEM_FIELDS = ("query", "need", "category", "title", "url")


def _times(seconds: Any) -> Any:
    """A column of stored times as Arrow timestamps."""
    micro = np.rint(np.array(seconds, dtype=np.float64) * 1e6).astype(np.int64)
    return pa.array(micro, pa.timestamp("us", tz="UTC"))


_Made = Callable[[Any], Any]  # a column of a table, from the values that are stored
_texts: _Made = partial(pa.array, type=pa.large_string())
_flags: _Made = partial(pa.array, type=pa.bool_())
_TABLE: tuple[tuple[str, ColumnElement[Any], _Made], ...] = (
    ("kind", judgments.c.kind, _texts),
    ("label", judgments.c.label, _texts),
    ("other", judgments.c.other, _flags),
    ("comment", judgments.c.comment, _texts),
    ("standing", judgments.c.standing, _texts),
    ("gold", judgments.c.gold.is_not(None), _flags),
    ("right", judgments.c.right, _flags),
    ("page", pages.c.public, _texts),
    ("row", judgments.c.row, partial(pa.array, type=pa.int32())),
    ("seconds", judgments.c.seconds, partial(pa.array, type=pa.float64())),
    ("time", judgments.c.time, _times),
)


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


def _columns(on: Connection, wanted: Any) -> list[tuple[Any, ...]]:
    """The columns of a query's result, fetched at once."""
    rows = on.execute(wanted).fetchall()
    return list(zip(*rows, strict=True)) if rows else []


class _Lookup:
    """Names of things by their ids inside: sorted once, then looked up by whole columns."""

    def __init__(self, on: Connection, table: Any, project: int, *columns: str) -> None:
        wanted = (
            select(table.c.id, *(table.c[name] for name in columns))
            .where(table.c.project == project)
            .order_by(table.c.id)
        )
        found = _columns(on, wanted) or [()] * (1 + len(columns))
        self._ids = np.array(found[0], dtype=np.int64)
        self._texts = {
            name: pa.array(column, pa.large_string())
            for name, column in zip(columns, found[1:], strict=True)
        }

    def take(self, ids: Any, column: str) -> Any:
        """The texts of things, by a column of their ids."""
        place = np.searchsorted(self._ids, np.asarray(ids, dtype=np.int64))
        return self._texts[column].take(pa.array(place))


def label_of(question: str) -> ColumnElement[Any]:
    """The answer to a question, beside each judgment; the empty name is the first question."""
    return judgments.c.answers[question].as_string() if question else judgments.c.label


def read_judgments(
    on: Connection,
    snapshot: ProjectSnapshot,
    *,
    trusted: bool,
    golds: bool,
    dry_runs: bool = False,
    only: Any = None,
) -> Judgments | None:
    """The judgments of a project; None where there are none. ``only``: ids of the items wanted.

    Those of the question that the snapshot is for.
    """
    wanted = (
        select(
            judgments.c.item,
            judgments.c.judge,
            label_of(snapshot.question).label("label"),
            judgments.c.time,
            judgments.c.seconds,
        )
        .where(
            judgments.c.project == snapshot.id,
            judgments.c.kind == "work",
            judgments.c.other.is_(False),
        )
        .order_by(judgments.c.id)
    )
    if snapshot.question:
        wanted = wanted.where(judgments.c.answers.is_not(None),
                              label_of(snapshot.question).is_not(None))  # fmt: skip
    if trusted:
        wanted = wanted.where(judgments.c.standing != "untrusted")
    if not golds:
        wanted = wanted.where(judgments.c.gold.is_(None))
    if not dry_runs:
        wanted = wanted.where(of_real_in(snapshot.id))
    if only is not None:
        wanted = wanted.where(judgments.c.item.in_(only))
    found = _columns(on, wanted)
    if not found:
        return None
    item, judge, label, time, seconds = found
    texts = _Lookup(on, items, snapshot.id, "name", "topic", "document", *_ITEM_FIELDS)
    who = _Lookup(on, judges, snapshot.id, "public", "kind")
    columns = {
        "item": texts.take(item, "name"),
        "topic": texts.take(item, "topic"),
        "judge": who.take(judge, "public"),
        "kind": who.take(judge, "kind"),
        "label": pa.array(label, pa.large_string()),
        "time": _times(time),
    }
    if any(one is not None for one in seconds):
        columns["seconds"] = pa.array(seconds, pa.float64())
    made = Judgments.from_table(
        pa.table(columns), scale=snapshot.scale, source=f"project {snapshot.slug}"
    )
    return _with_fields(made, item, texts)


def _with_fields(made: Judgments, item: Any, texts: _Lookup) -> Judgments:
    """The judgments with their items' documents, queries, titles and addresses."""
    distinct = np.unique(np.asarray(item, dtype=np.int64))
    place = look_up(made.items, texts.take(distinct, "name"))
    ids = distinct[place]
    fields = pa.table({name: texts.take(ids, name) for name in _ITEM_FIELDS})
    documents = texts.take(ids, "document")
    known = any(documents.to_pylist())
    return replace(made, fields=fields, documents=documents if known else None)


def read_gold(
    on: Connection, snapshot: ProjectSnapshot, *, adjudicated: bool = False
) -> Gold | None:
    """The active gold of a project, each with its first accepted label.

    ``adjudicated``: with the final labels that fits are to take for gold.
    """
    active = [gold for gold in snapshot.golds.values() if gold.active]
    active = [gold for gold in active if gold.accepted[0] in snapshot.scale.labels]
    rows = [(gold.item, gold.name, gold.topic, gold.accepted[0], gold.reason) for gold in active]
    if adjudicated and not snapshot.question:
        known = {row[0] for row in rows}
        rows += [row for row in _read_final(on, snapshot.id) if row[0] not in known]
    if not rows:
        return None
    texts = _Lookup(on, items, snapshot.id, "document")
    item, names, topics, labels, reasons = map(list, zip(*rows, strict=True))
    documents = texts.take(item, "document")
    columns: dict[str, Any] = {
        "item": names,
        "topic": topics,
        "gold": labels,
        "reason": reasons,
        "honeypot": ["true"] * len(active) + ["false"] * (len(rows) - len(active)),
    }
    if any(documents.to_pylist()):
        columns["document"] = documents
    return Gold.from_table(pa.table(columns), source=f"project {snapshot.slug}")


def _read_final(on: Connection, project: int) -> list[tuple[Any, ...]]:
    """The final labels that fits take for gold: item, name, topic, label, reason."""
    wanted = (
        select(items.c.id, items.c.name, items.c.topic, adjudications.c.label,
               adjudications.c.reason)
        .join(items, items.c.id == adjudications.c.item)
        .where(adjudications.c.project == project, adjudications.c.active, adjudications.c.gold)
        .order_by(adjudications.c.id)
    )  # fmt: skip
    return [tuple(row) for row in on.execute(wanted)]


def read_table(on: Connection, snapshot: ProjectSnapshot, *, dry_runs: bool = False) -> Any:
    """Every answer of a project as an Arrow table; those of dry runs only if asked for.

    Answers to further questions stand in columns of their own: ``answer_freshness``. Of pairs,
    ``swapped`` says that the judge saw the right one on the left: words may speak of sides.
    """
    kept = [judgments.c.project == snapshot.id]
    if not dry_runs:
        kept.append(of_real_in(snapshot.id))
    more = [(f"answer_{one.name}", label_of(one.name), _texts) for one in snapshot.questions]
    sides = [("swapped", judgments.c.swapped, _flags)] if snapshot.of_pairs else []
    wanted = (*_TABLE, *more, *sides)
    item, judge, *found = _columns(
        on,
        select(
            judgments.c.item, judgments.c.judge, *(column.label(name) for name, column, _ in wanted)
        )
        .join(pages, pages.c.id == judgments.c.page)
        .where(*kept)
        .order_by(judgments.c.id),
    ) or [()] * (2 + len(wanted))
    texts = _Lookup(on, items, snapshot.id, "name", "topic", "document", "query")
    who = _Lookup(on, judges, snapshot.id, "public", "arm")
    return pa.table(
        {
            "item": texts.take(item, "name"),
            **{name: texts.take(item, name) for name in ("topic", "document", "query")},
            "judge": who.take(judge, "public"),
            "arm": who.take(judge, "arm"),
            **{name: make(cells) for (name, _, make), cells in zip(wanted, found, strict=True)},
        }
    )
