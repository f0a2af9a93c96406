"""Conditions on judges and judgments that many statements share."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, select

from adjudge.collect.store.schema import judges, judgments
from adjudge.collect.values.judging import DRY_RUN

# Judgments that count on their item, as far as their standing lets them.
COUNTED = and_(judgments.c.kind == "work", judgments.c.gold.is_(None), judgments.c.other.is_(False))
is_real = judges.c.kind != DRY_RUN


def of_real_in(project: int) -> ColumnElement[bool]:
    """The condition on judgments of a project that no dry run made them."""
    dry = select(judges.c.id).where(judges.c.project == project, judges.c.kind == DRY_RUN)
    return judgments.c.judge.not_in(dry)
