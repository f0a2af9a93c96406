"""Judgments that lose or regain their standing, by the judge, and what their items need then."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, bindparam, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items import counters
from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import count_again, lock_items, promote, uncount
from adjudge.collect.items.quotas import taken_by_arm
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.conditions import COUNTED
from adjudge.collect.store.database import StoredRow, batches
from adjudge.collect.store.schema import items, judges, judgments
from adjudge.collect.store.snapshot import ProjectSnapshot, load_snapshot
from adjudge.data.source import count_of
from adjudge.errors import Refused

_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_UNTRUSTED = (
    select(judgments.c.id, judgments.c.item, judgments.c.judge, judges.c.arm)
    .join(judges, judges.c.id == judgments.c.judge)
    .where(judgments.c.judge.in_(_IDS), COUNTED, judgments.c.standing == "untrusted")
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


def change_needed(on: Connection, project: int, policy: Policy) -> None:
    """Set how many judgments items need; never fewer than they have or are being given.

    Refused: ``quota-passed``, where an arm has more already than its quota would be.
    """
    ids = counters.set_needed(on, project, policy)
    _check_quota(on, ids, policy)
    promote(on, ids)
    renew_needs(on, load_snapshot(on, project), ids)


def counted_items(on: Connection, judge: int) -> list[int]:
    """The items on which a judge's judgments count, or would if they were trusted."""
    wanted = select(judgments.c.item).where(judgments.c.judge == judge, COUNTED)
    return list(on.execute(wanted).scalars())


def untrust(on: Connection, judge: int, snapshot: ProjectSnapshot) -> int:
    """Take the trust from every judgment of a judge, and reopen their items; how many counted."""
    given = (judgments.c.judge == judge, COUNTED, judgments.c.standing != "untrusted")
    touched = list(on.execute(select(judgments.c.item).where(*given)).scalars())
    lock_items(on, touched)
    # Only now: until the items are locked, another's block may let a surplus judgment count.
    lost = on.execute(select(judgments.c.item, judgments.c.standing).where(*given)).all()
    trusted = [row.item for row in lost if row.standing == "trusted"]
    surplus = [row.item for row in lost if row.standing == "surplus"]
    uncount(on, trusted, snapshot.policy, trusted=1)
    uncount(on, surplus, snapshot.policy, surplus=1)
    on.execute(update(judgments).where(judgments.c.judge == judge).values(standing="untrusted"))
    promote(on, touched)
    renew_needs(on, snapshot, touched)
    return len(lost)


def restore_trust(on: Connection, ids: Sequence[int], snapshot: ProjectSnapshot) -> int:
    """Give the trust back to every judgment of these judges; how many count or are surplus.

    Many judges at once, in a few statements, as if one after the other: judges in order of id, the
    judgments of each in order of time. Where an item, and the judge's arm on it, has room the
    judgment counts. Where it has filled up meanwhile, or the rest is in judges' hands, it is
    surplus: trusted in every export, but beyond what was needed.
    """
    given: list[StoredRow] = []
    for part in batches(ids):
        given += on.execute(_UNTRUSTED, {"ids": part}).all()
    touched = sorted({row.item for row in given})
    lock_items(on, touched)
    beyond = _beyond(on, given, touched, snapshot)
    for part in batches(beyond):  # first, so that no row is written twice
        on.execute(_SURPLUS, {"ids": part})
    for part in batches(ids):
        on.execute(_TRUST, {"ids": part})
    _count_restored(on, given, beyond, snapshot.policy)
    renew_needs(on, snapshot, touched)
    return len(given)


def _beyond(
    on: Connection, given: Sequence[StoredRow], touched: Sequence[int], snapshot: ProjectSnapshot
) -> set[int]:
    """The judgments for which there is no room any more."""
    room: dict[int, int] = {}
    for part in batches(touched):
        found: dict[int, int] = dict(on.execute(_ROOM, {"ids": part}).all())
        room |= found
    limit = snapshot.policy.arm_limit
    taken: Mapping[tuple[int, str], int] = {} if limit is None else taken_by_arm(on, touched)
    restored: Counter[tuple[int, str]] = Counter()
    beyond: set[int] = set()
    for row in given:
        place = (row.item, row.arm)
        if room[row.item] > 0 and (limit is None or taken[place] + restored[place] < limit):
            room[row.item] -= 1
            restored[place] += 1
        else:
            beyond.add(row.id)
    return beyond


def _count_restored(
    on: Connection, given: Sequence[StoredRow], beyond: set[int], policy: Policy
) -> None:
    """Count the judgments on their items: items that gain alike in one statement."""
    trusted: Counter[int] = Counter()
    surplus: Counter[int] = Counter()
    for row in given:
        (surplus if row.id in beyond else trusted)[row.item] += 1
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for item in trusted.keys() | surplus.keys():
        alike[trusted[item], surplus[item]].append(item)
    for (more_trusted, more_surplus), ids in alike.items():
        count_again(on, ids, policy, trusted=more_trusted, surplus=more_surplus)


def _check_quota(on: Connection, ids: Iterable[int], policy: Policy) -> None:
    """Refuse a quota by arm that an arm has gone beyond already. Refused: ``quota-passed``."""
    limit = policy.arm_limit
    if limit is None:
        return
    over = {item for (item, _), count in taken_by_arm(on, ids).items() if count > limit}
    if over:
        raise Refused(
            "quota-passed",
            f"{count_of(len(over), 'item', 'has', 'have')} more than {count_of(limit, 'judgment')} "
            "in one arm already: a quota by arm cannot be lower than that",
        )
