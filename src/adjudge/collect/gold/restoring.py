"""Trust given back to many judges at once, as if to one after the other, in a few statements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, bindparam, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import batches, lock_items, set_states
from adjudge.collect.items.quotas import arm_limit, taken_by_arm
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.schema import items, judges, judgments
from adjudge.collect.store.snapshot import ProjectSnapshot

_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_HERS = (
    select(judgments.c.id, judgments.c.item, judgments.c.judge, judges.c.arm)
    .join(judges, judges.c.id == judgments.c.judge)
    .where(
        judgments.c.judge.in_(_IDS),
        judgments.c.kind == "work",
        judgments.c.gold.is_(None),
        judgments.c.other.is_(False),
        judgments.c.standing == "untrusted",
    )
    .order_by(judgments.c.judge, judgments.c.id)
)
_ROOM = select(items.c.id, (items.c.needed - items.c.leased - items.c.trusted)).where(
    items.c.id.in_(_IDS)
)
_TRUST = (
    update(judgments)
    .where(judgments.c.judge.in_(_IDS), judgments.c.standing == "untrusted")
    .values(standing="trusted")
)
_SURPLUS = update(judgments).where(judgments.c.id.in_(_IDS)).values(standing="surplus")
_COUNT = (
    update(items)
    .where(items.c.id.in_(_IDS))
    .values(
        trusted=items.c.trusted + bindparam("more_trusted"),
        surplus=items.c.surplus + bindparam("more_surplus"),
    )
)


def restore(on: Connection, ids: Sequence[int], snapshot: ProjectSnapshot) -> int:
    """Give the trust back to every judgment of these judges; how many count or are surplus.

    Judges in order of id, the judgments of each in order of time: where an item, and the judge's
    arm on it, has room the judgment counts. Where it has filled up meanwhile, or the rest is in
    judges' hands, it is surplus: trusted in every export, but beyond what was needed.
    """
    hers: list[StoredRow] = []
    for part in batches(ids):
        hers += on.execute(_HERS, {"ids": part}).all()
    touched = sorted({row.item for row in hers})
    lock_items(on, touched)
    beyond = _beyond(on, hers, touched, snapshot)
    for part in batches(beyond):  # first, so that no row is written twice
        on.execute(_SURPLUS, {"ids": part})
    for part in batches(ids):
        on.execute(_TRUST, {"ids": part})
    _count(on, hers, beyond)
    set_states(on, touched, snapshot.policy.set_aside_after)
    renew_needs(on, snapshot, touched)
    return len(hers)


def _beyond(
    on: Connection, hers: Sequence[StoredRow], touched: Sequence[int], snapshot: ProjectSnapshot
) -> set[int]:
    """The judgments for which there is no room any more."""
    room: dict[int, int] = {}
    for part in batches(touched):
        found: dict[int, int] = dict(on.execute(_ROOM, {"ids": part}).all())
        room |= found
    limit = arm_limit(snapshot.policy)
    taken: Mapping[tuple[int, str], int] = {} if limit is None else taken_by_arm(on, touched)
    given: Counter[tuple[int, str]] = Counter()
    beyond: set[int] = set()
    for row in hers:
        place = (row.item, row.arm)
        if room[row.item] > 0 and (limit is None or taken[place] + given[place] < limit):
            room[row.item] -= 1
            given[place] += 1
        else:
            beyond.add(row.id)
    return beyond


def _count(on: Connection, hers: Sequence[StoredRow], beyond: set[int]) -> None:
    """Count the judgments on their items: items that gain alike in one statement."""
    trusted: Counter[int] = Counter()
    surplus: Counter[int] = Counter()
    for row in hers:
        (surplus if row.id in beyond else trusted)[row.item] += 1
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for item in trusted.keys() | surplus.keys():
        alike[trusted[item], surplus[item]].append(item)
    for (more_trusted, more_surplus), which in alike.items():
        for part in batches(which):
            values = {"ids": part, "more_trusted": more_trusted, "more_surplus": more_surplus}
            on.execute(_COUNT, values)
