"""Adaptive closing in the store: how many judgments items need now, set from what is known.

Every function runs inside the caller's transaction, which holds the locks of the items. In a
project with a fixed number nothing here does anything. In an adaptive one no judgment is surplus:
whatever is trusted counts, and what an item needs follows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, bindparam, select, text, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.counters import set_counters
from adjudge.collect.rules.adaptive import Knowledge, needed_of, neutral, order_of, rule_of
from adjudge.collect.rules.routing import STICKY, item_state
from adjudge.collect.store.database import batches
from adjudge.collect.store.schema import ITEM_HAS_ROOM, items, judgments
from adjudge.collect.store.settings import knowledge_name, read_setting
from adjudge.collect.store.snapshot import ProjectSnapshot

_FRONT = 2000  # candidates that are put in order; those behind them stay behind
_COUNTS = text(
    "judgments.gold IS NULL AND judgments.kind = 'work' AND NOT judgments.other "
    "AND judgments.standing IN ('trusted', 'surplus')"
)
_JUDGED = (
    select(
        items.c.id,
        items.c.leased,
        items.c.trusted,
        items.c.surplus,
        items.c.needed,
        items.c.asked,
        items.c.broken,
        items.c.state,
        items.c.probability,
        judgments.c.judge,
        judgments.c.label,
    )
    .select_from(items.outerjoin(judgments, and_(judgments.c.item == items.c.id, _COUNTS)))
    .where(items.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(items.c.id, judgments.c.id)
)
_HELD = (
    select(judgments.c.item, judgments.c.judge, judgments.c.label)
    .select_from(items.join(judgments, judgments.c.item == items.c.id))
    .where(
        items.c.project == bindparam("project"),
        items.c.rank >= bindparam("first"),
        items.c.rank <= bindparam("last"),
        ITEM_HAS_ROOM,
        _COUNTS,
    )
)
_PROMOTE = (
    update(judgments)
    .where(
        judgments.c.item.in_(bindparam("ids", expanding=True)),
        judgments.c.standing == "surplus",
    )
    .values(standing="trusted")
)


def _knowledge_of(on: Connection, snapshot: ProjectSnapshot) -> Knowledge:
    """What is known of a project's judges: the last fit, kept with the snapshot once it is read.

    A new fit makes a new version of the project, and so a new snapshot.
    """
    kept = snapshot.kept.get("knowledge")
    if isinstance(kept, Knowledge):
        return kept
    stored = read_setting(on, knowledge_name(snapshot.id))
    made = neutral(snapshot.scale) if stored is None else Knowledge.from_json(stored)
    snapshot.kept["knowledge"] = made
    return made


@dataclass(frozen=True, slots=True, eq=False)
class _Standing:
    """Where items stand: their counters, and the posterior of their truth."""

    ids: NDArray[np.int64]  # (item,) ascending
    leased: NDArray[np.int64]  # (item,)
    trusted: NDArray[np.int64]  # (item,) surplus among them
    posterior: NDArray[np.float64]  # (item, truth)
    rows: Sequence[Any]  # (item,) the stored row of each, before any change


def _standing_of(
    on: Connection, snapshot: ProjectSnapshot, ids: Iterable[int]
) -> Iterator[_Standing]:
    """Where items stand, as many at a time as fit one statement."""
    knowledge = _knowledge_of(on, snapshot)
    codes = {label: code for code, label in enumerate(snapshot.scale.labels)}
    for part in batches(ids):
        rows = on.execute(_JUDGED, {"ids": part}).all()
        if not rows:
            continue
        every = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        found, first, place = np.unique(every, return_index=True, return_inverse=True)
        given = [(at, row[9], codes[row[10]]) for at, row in zip(place, rows, strict=True)
                 if row[9] is not None]  # fmt: skip
        item, judge, label = np.array(given, dtype=np.int64).reshape(-1, 3).T
        heads = [rows[at] for at in first]
        yield _Standing(
            ids=found,
            leased=np.array([row.leased for row in heads]),
            trusted=np.bincount(item, minlength=len(found)).astype(np.int64),
            posterior=knowledge.posterior_of(len(found), item, judge, label),
            rows=heads,
        )


def renew_needs(on: Connection, snapshot: ProjectSnapshot, ids: Iterable[int]) -> list[_Standing]:
    """Set again how many judgments items need, and so whether they are open; where they stand.

    Nothing in a project with a fixed number. The caller holds the items' locks.
    """
    if snapshot.policy.closing != "adaptive":
        return []
    found = []
    for standing in _standing_of(on, snapshot, ids):
        changes = _changes(snapshot, standing)
        surplus = [row.id for row in standing.rows if row.surplus]
        if surplus:
            on.execute(_PROMOTE, {"ids": surplus})
        set_counters(on, changes)
        found.append(standing)
    return found


def _changes(snapshot: ProjectSnapshot, standing: _Standing) -> list[dict[str, Any]]:
    """The items whose counters or state are to differ from what is stored."""
    limit = snapshot.policy.set_aside_after
    probability = standing.posterior.max(axis=1)
    needed = needed_of(rule_of(snapshot.policy), standing.trusted, standing.leased, probability)
    columns = (standing.trusted.tolist(), needed.tolist(), probability.tolist())
    changes = []
    for row, trusted, least, sure in zip(standing.rows, *columns, strict=True):
        state, wanted = row.state, max(least, row.asked)
        if state not in STICKY:
            state = item_state(
                trusted=trusted, needed=wanted, broken=row.broken, set_aside_after=limit
            )
        same = row.probability is not None and abs(row.probability - sure) < 1e-9
        before = (row.trusted, row.surplus, row.needed, row.state)
        if same and before == (trusted, 0, wanted, state):
            continue
        change = {"which": row.id, "new_trusted": trusted, "new_needed": wanted}
        changes.append({**change, "new_state": state, "new_probability": sure})
    return changes


def preferred(
    on: Connection, snapshot: ProjectSnapshot, judge: int, queue: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Candidates for a judge's page (item, topic, rank), those that gain most from them first.

    As they were in a project with a fixed number, and in one of pairs, whose queue is in the order
    of what they tell about the ranking (see consensus.reports). Of a query no more are left than
    one group has, where there are queries enough: a page would else take any of them.
    """
    if snapshot.policy.closing != "adaptive" or snapshot.of_pairs or not queue:
        return list(queue)
    front, rest = queue[:_FRONT], queue[_FRONT:]
    place = {row[0]: at for at, row in enumerate(front)}
    codes = {label: code for code, label in enumerate(snapshot.scale.labels)}
    asked = {"project": snapshot.id, "first": front[0][2], "last": front[-1][2]}
    given = [(place[row[0]], row[1], codes[row[2]]) for row in on.execute(_HELD, asked).all()
             if row[0] in place]  # fmt: skip
    item, who, label = np.array(given, dtype=np.int64).reshape(-1, 3).T
    knowledge = _knowledge_of(on, snapshot)
    order = order_of(
        rule_of(snapshot.policy),
        np.bincount(item, minlength=len(front)),
        knowledge.posterior_of(len(front), item, who, label),
        knowledge.confusion_of(judge),
        knowledge.correlation,
    )
    ordered = [front[place] for place in order]
    policy = snapshot.policy
    if len({row[1] for row in ordered}) < 2 * policy.queries_per_page:
        return [*ordered, *rest]
    counts: Counter[Any] = Counter()
    kept = []
    for row in ordered:
        counts[row[1]] += 1
        if counts[row[1]] <= policy.results_per_query:
            kept.append(row)
    return kept
