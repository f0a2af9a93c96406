"""The quota by arm: each arm gives an item so many judgments of its own.

With the setting ``judgments_by_arm`` an item needs ``judgments_per_item`` trusted judgments in each
arm, and no arm has more of them, open and trusted together, at any moment. What an arm has is
counted from page rows and judgments each time it is asked for, so that there is no second set of
counters that could differ from the first; the item's own counters hold the sum over arms.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, case, func, or_, select
from sqlalchemy.engine import Connection

from adjudge.collect.items._arm_counts import COUNTS, IDS, LEASED
from adjudge.collect.store.database import batches
from adjudge.collect.store.schema import items, judges, judgments, page_rows, pages

_TRUSTED_HERE = (
    select(func.count())
    .select_from(judgments.join(judges, judges.c.id == judgments.c.judge))
    .where(judgments.c.item == items.c.id, COUNTS, judges.c.arm == bindparam("arm"))
    .correlate(items)
    .scalar_subquery()
)
_LEASED_HERE = (
    select(func.count())
    .select_from(
        page_rows.join(pages, pages.c.id == page_rows.c.page).join(
            judges, judges.c.id == page_rows.c.judge
        )
    )
    .where(page_rows.c.item == items.c.id, LEASED, judges.c.arm == bindparam("arm"))
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

_WITH_ROOM = select(items.c.id).where(items.c.id.in_(IDS), arm_room)


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
