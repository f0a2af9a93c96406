"""Refreshers in the store: training pages of a negative try, their cause and their result.

A refresher is the training page of try -1, -2, ...: no tally of the training counts such a try.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from adjudge.collect.rules.golds import between
from adjudge.collect.store.database import batches, to_time
from adjudge.collect.store.schema import judges, judgments, pages
from adjudge.collect.values.arms import ArmRefreshers
from adjudge.collect.values.judging import accuracy_of
from adjudge.collect.values.requesting import RefresherRow

REFRESHER_PAGES = (pages.c.kind == "training") & (pages.c.attempt < 0)
_DONE = REFRESHER_PAGES & (pages.c.state == "answered")


def is_refresher(page: Any) -> bool:
    """Whether a stored page is a refresher."""
    return bool(page.kind == "training" and page.attempt < 0)


def counts_of(on: Connection, project: int) -> dict[str, int]:
    """How many refreshers each judge has done, by public id; those who did none are not in."""
    statement = (
        select(judges.c.public, func.count())
        .join(pages, pages.c.judge == judges.c.id)
        .where(judges.c.project == project, _DONE)
        .group_by(judges.c.public)
    )
    return dict(on.execute(statement).all())


def refreshers_of(on: Connection, judge: int) -> tuple[RefresherRow, ...]:
    """The refreshers of one judge, with their accuracy on screening gold before and after each."""
    done = on.execute(
        select(pages.c.id, pages.c.answered, pages.c.outcome)
        .where(pages.c.judge == judge, _DONE)
        .order_by(pages.c.id)
    ).all()
    if not done:
        return ()
    marks = [row.id for row in done]
    parts = between(marks, _answers(on, [judge])[judge])
    graded: dict[int, list[bool | None]] = defaultdict(list)
    for row in on.execute(
        select(judgments.c.page, judgments.c.right).where(judgments.c.page.in_(marks))
    ):
        graded[row.page].append(row.right)
    return tuple(
        RefresherRow(
            number=number,
            time=to_time(row.answered),
            confused=tuple((a, g, n) for a, g, n in (row.outcome or {}).get("confused", ())),
            pairs=len(graded[row.id]),
            right=sum(right is not False for right in graded[row.id]),
            before_seen=parts[number - 1][0],
            before_right=parts[number - 1][1],
            after_seen=parts[number][0],
            after_right=parts[number][1],
        )
        for number, row in enumerate(done, 1)
    )


def _answers(on: Connection, ids: Sequence[int]) -> dict[int, list[tuple[int, bool]]]:
    """The screening golds that judges answered in work, as (page, right), by judge."""
    found: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    statement = select(judgments.c.judge, judgments.c.page, judgments.c.right).where(
        judgments.c.judge.in_(ids),
        judgments.c.kind == "work",
        judgments.c.gold.is_not(None),
        judgments.c.right.is_not(None),
    )
    for row in on.execute(statement):
        found[row.judge].append((row.page, row.right))
    return found


def refreshers_by_arm(
    on: Connection, rows: Sequence[Any], arms: Sequence[str]
) -> tuple[ArmRefreshers, ...]:
    """Refreshers of each arm, and gold accuracy of who had one before their first and after it."""
    arm_of = {row.id: row.arm for row in rows}
    marks: dict[int, list[int]] = defaultdict(list)
    if rows:
        statement = select(pages.c.judge, pages.c.id).where(
            pages.c.project == rows[0].project, _DONE
        )
        for judge, page in on.execute(statement.order_by(pages.c.id)):
            if judge in arm_of:
                marks[judge].append(page)
    if not marks:
        return ()
    answers: dict[int, list[tuple[int, bool]]] = {}
    ids = sorted(marks)
    for part in batches(ids):
        answers |= _answers(on, part)
    made = []
    for arm in arms:
        theirs = [judge for judge in ids if arm_of[judge] == arm]
        parts = [between(marks[judge][:1], answers.get(judge, ())) for judge in theirs]
        sums = [[sum(part[when][k] for part in parts) for k in (0, 1)] for when in (0, 1)]
        (before_seen, before_right), (after_seen, after_right) = sums
        made.append(
            ArmRefreshers(
                arm=arm,
                judges=len(theirs),
                refreshers=sum(len(marks[judge]) for judge in theirs),
                before_seen=before_seen,
                before_right=before_right,
                after_seen=after_seen,
                after_right=after_right,
                before=accuracy_of(before_right, before_seen),
                after=accuracy_of(after_right, after_seen),
            )
        )
    return tuple(made)
