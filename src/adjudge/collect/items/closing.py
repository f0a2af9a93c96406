"""How many judgments items need now, and judgments that lose or regain their standing.

Every function runs inside the caller's transaction, which holds the locks of the items. In a
project with a fixed number nothing here does anything. In an adaptive one no judgment is surplus:
whatever is trusted counts, and what an item needs follows it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, and_, bindparam, select, text, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.counters import (
    add_counts,
    lock_items,
    promote,
    set_counters,
    set_needed,
    taken_by_arm,
)
from adjudge.collect.rules.adaptive import Knowledge, needed_of, neutral, order_of, rule_of
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import STICKY, item_state
from adjudge.collect.store.database import StoredRow, batches
from adjudge.collect.store.request import outdate_fits
from adjudge.collect.store.schema import (
    COUNTED,
    ITEM_HAS_ROOM,
    PENDING,
    TRUSTED_WORK,
    items,
    judges,
    judgments,
)
from adjudge.collect.store.settings import knowledge_name, read_setting
from adjudge.collect.store.snapshot import ProjectSnapshot, load_snapshot
from adjudge.data.source import count_of
from adjudge.errors import Refused

_FRONT = 2000  # candidates that are put in order; those behind them stay behind
_COUNTS = text(
    "judgments.gold IS NULL AND judgments.kind = 'work' AND NOT judgments.other "
    "AND judgments.standing IN ('trusted', 'surplus')"
)
_JUDGED = (
    select(
        *(items.c.id, items.c.leased, items.c.trusted, items.c.surplus, items.c.needed),
        *(items.c.asked, items.c.broken, items.c.state, items.c.probability),
        *(judgments.c.judge, judgments.c.label),
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
    """The counters of items, and the posterior of their truth."""

    ids: NDArray[np.int64]  # (item,) ascending
    leased: NDArray[np.int64]  # (item,)
    trusted: NDArray[np.int64]  # (item,) surplus among them
    posterior: NDArray[np.float64]  # (item, truth)
    rows: Sequence[Any]  # (item,) the stored row of each, before any change


def _standing_of(
    on: Connection, snapshot: ProjectSnapshot, ids: Iterable[int]
) -> Iterator[_Standing]:
    """Counters and posteriors of items, as many at a time as fit one statement."""
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
    """Set again how many judgments items need, and so whether they are open.

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
        state, asked = row.state, max(least, row.asked)
        if state not in STICKY:
            state = item_state(
                trusted=trusted, needed=asked, broken=row.broken, set_aside_after=limit
            )
        same = row.probability is not None and abs(row.probability - sure) < 1e-9
        before = (row.trusted, row.surplus, row.needed, row.state)
        if same and before == (trusted, 0, asked, state):
            continue
        change = {"which": row.id, "new_trusted": trusted, "new_needed": asked}
        changes.append({**change, "new_state": state, "new_probability": sure})
    return changes


def preferred(
    on: Connection, snapshot: ProjectSnapshot, judge: int, queue: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Candidates for a judge's page (item, topic, rank), those that gain most from them first.

    As they were in a project with a fixed number, and in one of pairs, whose queue is in the order
    of how informative they are (see consensus.reports). Of a query no more are left than
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
    ids = set_needed(on, project, policy)
    _check_quota(on, ids, policy)
    promote(on, ids)
    renew_needs(on, load_snapshot(on, project), ids)


def counted_items(on: Connection, judge: int) -> list[int]:
    """The items on which a judge's judgments count, or would if they were trusted."""
    statement = select(judgments.c.item).where(judgments.c.judge == judge, COUNTED)
    return list(on.execute(statement).scalars())


def untrust(on: Connection, judge: int, snapshot: ProjectSnapshot) -> int:
    """Take the trust from every judgment of a judge, and reopen their items; how many counted."""
    given = (judgments.c.judge == judge, TRUSTED_WORK)
    touched = list(on.execute(select(judgments.c.item).where(*given)).scalars())
    lock_items(on, touched)
    # Only now: until the items are locked, another's block may let a surplus judgment count.
    lost = on.execute(select(judgments.c.item, judgments.c.standing).where(*given)).all()
    for standing, counter in (
        ("trusted", "trusted"),
        ("surplus", "surplus"),
        ("pending", "leased"),
    ):
        of_standing = [row.item for row in lost if row.standing == standing]
        add_counts(on, of_standing, snapshot.policy, **{counter: -1})
    kept = judgments.c.other & (judgments.c.standing == "pending")  # not counted on their items
    theirs = update(judgments).where(judgments.c.judge == judge, ~kept)
    on.execute(theirs.values(standing="untrusted"))
    promote(on, touched)
    renew_needs(on, snapshot, touched)
    if lost:
        outdate_fits(on, snapshot.id)
    return len(lost)


def pending_items(on: Connection, judge: int) -> list[int]:
    """The items on which a judge's answers do not count yet."""
    statement = select(judgments.c.item).where(judgments.c.judge == judge, PENDING)
    return list(on.execute(statement).scalars())


def count_pending(on: Connection, judge: int, snapshot: ProjectSnapshot) -> int:
    """Let the pending answers of a judge count; how many there were.

    No fit is outdated: fits have them already.
    """
    pending = (judgments.c.judge == judge, PENDING)
    given = on.execute(select(judgments.c.item, judgments.c.other).where(*pending)).all()
    if given:
        touched = [row.item for row in given]
        lock_items(on, touched)
        on.execute(update(judgments).where(*pending).values(standing="trusted"))
        labelled = [row.item for row in given if not row.other]
        add_counts(on, labelled, snapshot.policy, leased=-1, trusted=1)
        unclear = [row.item for row in given if row.other]
        add_counts(on, unclear, snapshot.policy, broken=1)
        renew_needs(on, snapshot, touched)
    return len(given)


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
    if given:
        outdate_fits(on, snapshot.id)
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
        add_counts(on, ids, policy, trusted=more_trusted, surplus=more_surplus)


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
