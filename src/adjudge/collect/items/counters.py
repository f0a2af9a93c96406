"""The counters of items, and the state that follows from them: every change of either is here.

``leased`` are the open pages of work that an item is on and its pending judgments, ``trusted`` and
``surplus`` its judgments of that standing, ``broken`` the answers that could not judge it and are
not pending, and ``needed`` the trusted judgments that close it. ``leased + trusted <= needed``
holds at every commit.

With ``judgments_by_arm`` an item needs ``judgments_per_item`` trusted judgments in each arm. What
an arm has is counted from page rows and judgments each time, so that no second set of counters can
differ from the first; the item's own counters hold the sum over arms. Each function runs inside the
caller's transaction, which holds the locks of the items (``lock_items``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.engine import Connection

from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import STATE_RULE, STICKY
from adjudge.collect.store.database import StoredRow, batches
from adjudge.collect.store.schema import (
    arms,
    items,
    judges,
    judgments,
    page_rows,
    pages,
    projects,
)

_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_PAGES: BindParameter[Any] = bindparam("pages", expanding=True)
_COUNTERS = ("leased", "trusted", "surplus", "broken")
_MORE = {name: items.c[name] + bindparam(f"more_{name}") for name in _COUNTERS}


def _state_rule(**values: Any) -> ColumnElement[str]:
    """``item_state`` in SQL, of these counters and bounds; a sticky state stays."""
    reached = [(values[have] >= values[enough], state) for state, have, enough in STATE_RULE]
    return case((items.c.state.in_(STICKY), items.c.state), *reached, else_="open")


_LOCK = (
    select(items.c.id)
    .where(items.c.id.in_(_IDS))
    .order_by(items.c.id)
    .with_for_update(key_share=True)
)
_ADD = (
    update(items)
    .where(items.c.id.in_(_IDS))
    .values(
        **_MORE,
        state=_state_rule(
            trusted=_MORE["trusted"],
            needed=items.c.needed,
            broken=_MORE["broken"],
            set_aside_after=bindparam("set_aside_after"),
        ),
    )
)
_LEASE = update(items).where(items.c.id.in_(_IDS)).values(leased=items.c.leased + 1)
_OF_PAGES = (page_rows.c.page.in_(_PAGES), page_rows.c.gold.is_(None))
_RELEASE = (
    update(items)
    .where(items.c.id.in_(select(page_rows.c.item).where(*_OF_PAGES).scalar_subquery()))
    .values(
        leased=items.c.leased
        - select(func.count()).where(*_OF_PAGES, page_rows.c.item == items.c.id).scalar_subquery()
    )
)
_SET = (
    update(items)
    .where(items.c.id == bindparam("which"))
    .values(
        trusted=bindparam("new_trusted"),
        surplus=0,
        needed=bindparam("new_needed"),
        state=bindparam("new_state"),
        probability=bindparam("new_probability"),
    )
)


def lock_items(on: Connection, ids: Iterable[int]) -> None:
    """Lock items in order of id; SQLite's one writer needs no such lock."""
    if on.dialect.name == "postgresql":
        for part in batches(ids):
            on.execute(_LOCK, {"ids": part}).all()


def lease(on: Connection, ids: Iterable[int]) -> None:
    """Give items out on a page of work; the caller has seen that they have room."""
    for part in batches(ids):
        on.execute(_LEASE, {"ids": part})


def release(on: Connection, pages: Sequence[int]) -> None:
    """Take the items of pages of work back, before the pages are answered."""
    on.execute(_RELEASE, {"pages": list(pages)})


def add_counts(on: Connection, ids: Iterable[int], policy: Policy, **more: int) -> None:
    """Add to counters of items, by their names; without any, only set the states that follow."""
    added = {f"more_{name}": more.get(name, 0) for name in _COUNTERS}
    for part in batches(ids):
        limit = {"set_aside_after": policy.set_aside_after}
        on.execute(_ADD, {"ids": part, **added, **limit})


def put(on: Connection, ids: Iterable[int], state: str) -> None:
    """Give items a state that their counters do not change: they are given to nobody any more."""
    for part in batches(ids):
        on.execute(update(items).where(items.c.id.in_(part)).values(state=state))


def ask_for(on: Connection, item: int, number: int, policy: Policy) -> None:
    """Let an item need so many trusted judgments, whatever the policy says; its state follows."""
    on.execute(update(items).where(items.c.id == item).values(asked=number, needed=number))
    add_counts(on, [item], policy)


def bring_back(on: Connection, ids: Sequence[int], policy: Policy) -> None:
    """Let withdrawn, adjudicated or skipped items be what their counters say."""
    put(on, ids, "open")
    add_counts(on, ids, policy)


def set_needed(on: Connection, project: int, policy: Policy) -> list[int]:
    """Set how many judgments items need; never fewer than they have or are being given.

    The items of the project, all of them locked.
    """
    each = policy.judgments_needed(arms_in(on, project))
    engaged = items.c.leased + items.c.trusted
    asked = case((items.c.asked > each, items.c.asked), else_=literal(each))
    needed = case((engaged <= asked, asked), else_=engaged)
    state = _state_rule(
        trusted=items.c.trusted,
        needed=needed,
        broken=items.c.broken,
        set_aside_after=policy.set_aside_after,
    )
    of_project = items.c.project == project
    locked = select(items.c.id).where(of_project).order_by(items.c.id)
    ids = list(on.execute(locked.with_for_update(key_share=True)).scalars())
    on.execute(update(items).where(of_project).values(needed=needed, state=state))
    return ids


def set_counters(on: Connection, changes: Sequence[dict[str, Any]]) -> None:
    """Set what adaptive closing has worked out: trusted, needed, state, probability; no surplus."""
    if changes:
        on.execute(_SET, changes)


_SURPLUS = (
    select(
        items.c.id,
        (items.c.needed - items.c.leased - items.c.trusted).label("room"),
        projects.c.policy,
    )
    .join(projects, projects.c.id == items.c.project)
    .where(
        items.c.id.in_(_IDS),
        items.c.surplus > 0,
        items.c.leased + items.c.trusted < items.c.needed,
    )
    .order_by(items.c.id)
)


def promote(on: Connection, ids: Iterable[int]) -> None:
    """Let surplus judgments count where their items have room again."""
    for part in batches(ids):
        for item in on.execute(_SURPLUS, {"ids": part}).all():
            policy = Policy.from_stored(item.policy)
            chosen = _promotable(on, item, policy.arm_limit)
            if chosen:
                change = update(judgments).where(judgments.c.id.in_(chosen))
                on.execute(change.values(standing="trusted"))
                add_counts(on, [item.id], policy, trusted=len(chosen), surplus=-len(chosen))


def _promotable(on: Connection, item: StoredRow, limit: int | None) -> list[int]:
    """The surplus judgments that an item, and their own arms, have room for: the first given."""
    waiting = on.execute(
        select(judgments.c.id, judges.c.arm)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item == item.id, judgments.c.standing == "surplus")
        .order_by(judgments.c.id)
    ).all()
    if limit is None:
        return [row.id for row in waiting[: item.room]]
    taken = taken_by_arm(on, [item.id])
    chosen: list[int] = []
    for row in waiting:
        if len(chosen) < item.room and taken[item.id, row.arm] < limit:
            taken[item.id, row.arm] += 1
            chosen.append(row.id)
    return chosen


# In the words of the index ix_judgments_counted, so that it is used.
_COUNTS = text("judgments.gold IS NULL AND NOT judgments.other AND judgments.standing = 'trusted'")
_PENDING = text("judgments.standing = 'pending' AND NOT judgments.other")
_LEASED = text("page_rows.gold IS NULL AND pages.state = 'open'")
_JUDGED_BY = judgments.join(judges, judges.c.id == judgments.c.judge)
_LEASED_BY = page_rows.join(pages, pages.c.id == page_rows.c.page).join(
    judges, judges.c.id == page_rows.c.judge
)
_TAKEN = union_all(
    select(judges.c.arm, judgments.c.item)
    .select_from(_JUDGED_BY)
    .where(judgments.c.item.in_(_IDS), _COUNTS),
    select(judges.c.arm, judgments.c.item)
    .select_from(_JUDGED_BY)
    .where(judgments.c.item.in_(_IDS), _PENDING),
    select(judges.c.arm, page_rows.c.item)
    .select_from(_LEASED_BY)
    .where(page_rows.c.item.in_(_IDS), _LEASED),
)
_TRUSTED_HERE = (
    select(func.count())
    .select_from(_JUDGED_BY)
    .where(judgments.c.item == items.c.id, _COUNTS, judges.c.arm == bindparam("arm"))
    .correlate(items)
    .scalar_subquery()
)
_LEASED_HERE = (
    select(func.count())
    .select_from(_LEASED_BY)
    .where(page_rows.c.item == items.c.id, _LEASED, judges.c.arm == bindparam("arm"))
    .correlate(items)
    .scalar_subquery()
)
_PENDING_HERE = (
    select(func.count())
    .select_from(_JUDGED_BY)
    .where(judgments.c.item == items.c.id, _PENDING, judges.c.arm == bindparam("arm"))
    .correlate(items)
    .scalar_subquery()
)
# An item with fewer than an arm's number over all arms has room in each: nothing to be counted.
arm_room = or_(
    items.c.leased + items.c.trusted < bindparam("limit"),
    _TRUSTED_HERE + case((items.c.leased > 0, _LEASED_HERE + _PENDING_HERE), else_=0)
    < bindparam("limit"),
)
# Whether the arm lacks trusted judgments on an item, some of them perhaps in judges' hands.
arm_lacks = or_(items.c.trusted < bindparam("limit"), bindparam("limit") > _TRUSTED_HERE)

_WITH_ROOM = select(items.c.id).where(items.c.id.in_(_IDS), arm_room)


def arms_in(on: Connection, project: int) -> int:
    """How many arms a project has."""
    return int(on.execute(select(func.count()).where(arms.c.project == project)).scalar_one())


def taken_by_arm(on: Connection, ids: Iterable[int]) -> Counter[tuple[int, str]]:
    """Open and trusted judgments of items, by item and arm."""
    taken: Counter[tuple[int, str]] = Counter()
    for part in batches(ids):
        taken.update((item, arm) for arm, item in on.execute(_TAKEN, {"ids": part}))
    return taken


def with_arm_room(on: Connection, ids: Iterable[int], arm: str, limit: int | None) -> set[int]:
    """Which of these items an arm may give another judgment; all where there is no limit by arm.

    Who asks holds the items' locks, so that the answer stays true.
    """
    if limit is None:
        return set(ids)
    found: set[int] = set()
    for part in batches(ids):
        found.update(on.execute(_WITH_ROOM, {"ids": part, "arm": arm, "limit": limit}).scalars())
    return found
