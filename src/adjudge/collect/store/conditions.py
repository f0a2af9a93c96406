"""Conditions on judges, judgments and items that many statements share."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, bindparam, exists, select, text

from adjudge.collect.store.schema import ITEM_HAS_ROOM, items, judges, judgments
from adjudge.collect.values.judging import DRY_RUN

# Judgments that count on their item, as far as their standing lets them.
COUNTED = and_(judgments.c.kind == "work", judgments.c.gold.is_(None), judgments.c.other.is_(False))
is_real = judges.c.kind != DRY_RUN
NOT_JUDGED = ~exists().where(  # items that a judge has not judged as work
    judgments.c.judge == bindparam("judge"),
    judgments.c.item == items.c.id,
    text("judgments.gold IS NULL"),
)
OPEN_TO_JUDGE = (  # items that a judge could be given, further down the queue than they have come
    items.c.project == bindparam("project"),
    items.c.rank > bindparam("reached"),
    ITEM_HAS_ROOM,
    NOT_JUDGED,
)


def of_real_in(project: int) -> ColumnElement[bool]:
    """The condition on judgments of a project that no dry run made them."""
    dry = select(judges.c.id).where(judges.c.project == project, judges.c.kind == DRY_RUN)
    return judgments.c.judge.not_in(dry)
