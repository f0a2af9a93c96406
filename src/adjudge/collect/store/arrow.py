"""Judgments, comparisons and gold out of the store, in columns, as the library takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import ColumnElement, case, or_, select
from sqlalchemy.engine import Connection

from adjudge.collect.store.schema import adjudications, items, judges, judgments, of_real_in, pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import CANNOT_JUDGE
from adjudge.data.comparisons import Comparisons
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up

_CANNOT_SAY = "cannot say"
_ITEM_FIELDS = ("query", "need", "category", "title", "url")


def _times(seconds: Any) -> Any:
    """A column of stored times as Arrow timestamps."""
    micro = np.rint(np.array(seconds, dtype=np.float64) * 1e6).astype(np.int64)
    return pa.array(micro, pa.timestamp("us", tz="UTC"))


_Made = Callable[[Any], Any]  # a column of a table, from the values that are stored
_Column = tuple[str, ColumnElement[Any], _Made]
_ids: _Made = partial(np.array, dtype=np.int64)
_texts: _Made = partial(pa.array, type=pa.large_string())
_flags: _Made = partial(pa.array, type=pa.bool_())
_floats: _Made = partial(pa.array, type=pa.float64())
_WHOSE: tuple[_Column, ...] = (
    ("item", judgments.c.item, _ids),
    ("judge", judgments.c.judge, _ids),
)
_TABLE: tuple[_Column, ...] = (
    ("kind", judgments.c.kind, _texts),
    ("label", judgments.c.label, _texts),
    ("other", judgments.c.other, _flags),
    ("comment", judgments.c.comment, _texts),
    ("standing", judgments.c.standing, _texts),
    ("gold", judgments.c.gold.is_not(None), _flags),
    ("right", judgments.c.right, _flags),
    ("page", pages.c.public, _texts),
    ("row", judgments.c.row, partial(pa.array, type=pa.int32())),
    ("seconds", judgments.c.seconds, _floats),
    ("time", judgments.c.time, _times),
)
_CANNOT = (judgments.c.label == CANNOT_JUDGE, _CANNOT_SAY)
_COMPARED: tuple[_Column, ...] = (
    ("left", items.c.document, _texts),
    ("right", items.c.beside["document"].as_string(), _texts),
    ("label", case(_CANNOT, else_=judgments.c.label), _texts),
    ("judge", judges.c.public, _texts),
    ("kind", judges.c.kind, _texts),
    ("topic", items.c.topic, _texts),
    ("query", items.c.query, _texts),
    ("first", case((judgments.c.swapped, "right"), else_="left"), _texts),
    ("seconds", judgments.c.seconds, _floats),
)


def _read(
    on: Connection, columns: Sequence[_Column], source: Any, *conditions: ColumnElement[bool]
) -> dict[str, Any]:
    """Columns of judgments, by name, in the order in which they were given."""
    statement = select(*(column.label(name) for name, column, _ in columns)).select_from(source)
    rows = on.execute(statement.where(*conditions).order_by(judgments.c.id)).fetchall()
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    return {name: make(part) for (name, _, make), part in zip(columns, cells, strict=True)}


def read_comparison_table(on: Connection, snapshot: ProjectSnapshot, *, trusted: bool) -> Any:
    """Every comparison of a side-by-side project as an Arrow table: who was preferred by whom.

    Without the answers to gold, which was chosen to be easy. ``first`` is the side of the
    pair, as it is stored, that the judge saw on the left.
    """
    conditions = [
        judgments.c.project == snapshot.id,
        judgments.c.kind == "work",
        judgments.c.gold.is_(None),
        or_(judgments.c.other.is_(False), judgments.c.label == CANNOT_JUDGE),
        items.c.beside.is_not(None),
        of_real_in(snapshot.id),
    ]
    if trusted:
        conditions.append(judgments.c.standing != "untrusted")
    source = judgments.join(items, items.c.id == judgments.c.item)
    source = source.join(judges, judges.c.id == judgments.c.judge)
    return pa.table(_read(on, _COMPARED, source, *conditions))


def read_comparisons(
    on: Connection, snapshot: ProjectSnapshot, *, trusted: bool = True
) -> Comparisons | None:
    """The comparisons of a side-by-side project; None where there are none."""
    table = read_comparison_table(on, snapshot, trusted=trusted) if snapshot.of_pairs else ()
    if not len(table):
        return None
    return Comparisons.from_table(table, source=f"project {snapshot.slug}")


class _Lookup:
    """Names of things by their ids inside: sorted once, then looked up by columns."""

    def __init__(self, on: Connection, table: Any, project: int, *columns: str) -> None:
        statement = select(table.c.id, *(table.c[name] for name in columns))
        rows = on.execute(
            statement.where(table.c.project == project).order_by(table.c.id)
        ).fetchall()
        self._ids = _ids([row.id for row in rows])
        self._texts = {name: _texts([getattr(row, name) for row in rows]) for name in columns}

    def take(self, ids: Any, column: str) -> Any:
        """The texts of things, by a column of their ids."""
        place = np.searchsorted(self._ids, ids)
        return self._texts[column].take(pa.array(place))


def label_of(question: str) -> ColumnElement[Any]:
    """The answer to a question, next to each judgment; the empty name is the first question."""
    return judgments.c.answers[question].as_string() if question else judgments.c.label


def read_judgments(
    on: Connection,
    snapshot: ProjectSnapshot,
    *,
    trusted: bool,
    golds: bool,
    only: Any = None,
) -> Judgments | None:
    """The judgments of a project; None where there are none. ``only``: ids of these items alone.

    Those of the question that the snapshot is for.
    """
    answer = label_of(snapshot.question)
    conditions = [
        judgments.c.project == snapshot.id,
        of_real_in(snapshot.id),
        judgments.c.kind == "work",
        judgments.c.other.is_(False),
    ]
    if snapshot.question:
        conditions += [judgments.c.answers.is_not(None), answer.is_not(None)]
    if trusted:
        conditions.append(judgments.c.standing != "untrusted")
    if not golds:
        conditions.append(judgments.c.gold.is_(None))
    if only is not None:
        conditions.append(judgments.c.item.in_(only))
    chosen: list[_Column] = [
        *_WHOSE,
        ("label", answer, _texts),
        ("time", judgments.c.time, _times),
        ("seconds", judgments.c.seconds, _floats),
    ]
    found = _read(on, chosen, judgments, *conditions)
    item, judge = found["item"], found["judge"]
    if not len(item):
        return None
    texts = _Lookup(on, items, snapshot.id, "name", "topic", "document", *_ITEM_FIELDS)
    who = _Lookup(on, judges, snapshot.id, "public", "kind")
    columns = {
        "item": texts.take(item, "name"),
        "topic": texts.take(item, "topic"),
        "judge": who.take(judge, "public"),
        "kind": who.take(judge, "kind"),
        "label": found["label"],
        "time": found["time"],
    }
    if found["seconds"].null_count < len(item):
        columns["seconds"] = found["seconds"]
    made = Judgments.from_table(
        pa.table(columns),
        scale=snapshot.scale,
        source=f"project {snapshot.slug}",
        repeats=True,
    )
    return _with_fields(made, item, texts)


def _with_fields(made: Judgments, item: Any, texts: _Lookup) -> Judgments:
    """The judgments with their items' documents, queries, titles and addresses."""
    distinct = np.unique(item)
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
    statement = (
        select(items.c.id, items.c.name, items.c.topic, adjudications.c.label,
               adjudications.c.reason)
        .join(items, items.c.id == adjudications.c.item)
        .where(adjudications.c.project == project, adjudications.c.active, adjudications.c.gold)
        .order_by(adjudications.c.id)
    )  # fmt: skip
    return [tuple(row) for row in on.execute(statement)]


def read_table(on: Connection, snapshot: ProjectSnapshot) -> Any:
    """Every answer of a project as an Arrow table, but those of dry runs.

    Answers to further questions have columns of their own: ``answer_freshness``. Of pairs,
    ``swapped`` says that the judge saw the right one on the left: words may speak of sides.
    """
    kept = (judgments.c.project == snapshot.id, of_real_in(snapshot.id))
    more = [(f"answer_{one.name}", label_of(one.name), _texts) for one in snapshot.questions]
    sides = [("swapped", judgments.c.swapped, _flags)] if snapshot.of_pairs else []
    chosen = (*_WHOSE, *_TABLE, *more, *sides)
    source = judgments.join(pages, pages.c.id == judgments.c.page)
    found = _read(on, chosen, source, *kept)
    item, judge = found.pop("item"), found.pop("judge")
    texts = _Lookup(on, items, snapshot.id, "name", "topic", "document", "query")
    who = _Lookup(on, judges, snapshot.id, "public", "arm")
    return pa.table(
        {
            "item": texts.take(item, "name"),
            **{name: texts.take(item, name) for name in ("topic", "document", "query")},
            "judge": who.take(judge, "public"),
            "arm": who.take(judge, "arm"),
            **found,
        }
    )
