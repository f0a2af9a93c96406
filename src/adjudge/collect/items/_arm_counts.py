"""What the arms of an experiment have: how many there are, and judgments by arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, select, text, union_all
from sqlalchemy.engine import Connection

from adjudge.collect.store.database import batches
from adjudge.collect.store.schema import arms, judges, judgments, page_rows, pages


def arms_in(on: Connection, project: int) -> int:
    """How many arms a project has."""
    return int(
        on.execute(select(func.count()).where(arms.c.project == project)).scalar_one(),
    )


# In the words of the index ix_judgments_counted, so that it is used.
COUNTS = text("judgments.gold IS NULL AND NOT judgments.other AND judgments.standing = 'trusted'")

LEASED = text("page_rows.gold IS NULL AND pages.state = 'open'")

IDS: BindParameter[Any] = bindparam("ids", expanding=True)

_TAKEN = union_all(
    select(judges.c.arm, judgments.c.item)
    .select_from(judgments.join(judges, judges.c.id == judgments.c.judge))
    .where(judgments.c.item.in_(IDS), COUNTS),
    select(judges.c.arm, page_rows.c.item)
    .select_from(
        page_rows.join(pages, pages.c.id == page_rows.c.page).join(
            judges, judges.c.id == page_rows.c.judge
        )
    )
    .where(page_rows.c.item.in_(IDS), LEASED),
)


def taken_by_arm(on: Connection, ids: Iterable[int]) -> Counter[tuple[int, str]]:
    """Open and trusted judgments of items, by item and arm."""
    taken: Counter[tuple[int, str]] = Counter()
    for part in batches(ids):
        for arm, item in on.execute(_TAKEN, {"ids": part}):
            taken[item, arm] += 1
    return taken
