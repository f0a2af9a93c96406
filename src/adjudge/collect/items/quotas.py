"""The quota by arm: each arm gives an item so many judgments of its own.

With the setting ``judgments_by_arm`` an item needs ``judgments_per_item`` trusted judgments in each
arm, and no arm has more of them, open and trusted together, at any moment. What an arm has is
counted from page rows and judgments each time it is asked for, so that there is no second set of
counters that could differ from the first; the item's own counters hold the sum over arms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BindParameter, bindparam, case, func, or_, select, text, union_all
from sqlalchemy.engine import Connection

from adjudge.collect.store.database import batches
from adjudge.collect.store.schema import arms, items, judges, judgments, page_rows, pages

_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
# In the words of the index ix_judgments_counted, so that it is used.
_COUNTS = text("judgments.gold IS NULL AND NOT judgments.other AND judgments.standing = 'trusted'")
_LEASED = text("page_rows.gold IS NULL AND pages.state = 'open'")
_TRUSTED_BY = judgments.join(judges, judges.c.id == judgments.c.judge)
_LEASED_BY = page_rows.join(pages, pages.c.id == page_rows.c.page).join(
    judges, judges.c.id == page_rows.c.judge
)
_TAKEN = union_all(
    select(judges.c.arm, judgments.c.item)
    .select_from(_TRUSTED_BY)
    .where(judgments.c.item.in_(_IDS), _COUNTS),
    select(judges.c.arm, page_rows.c.item)
    .select_from(_LEASED_BY)
    .where(page_rows.c.item.in_(_IDS), _LEASED),
)
_TRUSTED_HERE = (
    select(func.count())
    .select_from(_TRUSTED_BY)
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
# An item with fewer than an arm's number over all arms has room in each: nothing to be counted.
arm_room = or_(
    items.c.leased + items.c.trusted < bindparam("limit"),
    _TRUSTED_HERE + case((items.c.leased > 0, _LEASED_HERE), else_=0) < bindparam("limit"),
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
