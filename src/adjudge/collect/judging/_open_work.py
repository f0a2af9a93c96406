"""Whether there is work for a judge: an item to give now, or one that still lacks judgments."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, exists, select
from sqlalchemy.engine import Connection

from adjudge.collect.items.quotas import arm_lacks, arm_room
from adjudge.collect.rules.endings import BUDGET_SPENT
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.conditions import NOT_JUDGED, OPEN_TO_JUDGE
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.schema import items
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.store.statements import Statement

_ANY_OPEN = Statement(select(exists().where(*OPEN_TO_JUDGE).label("any")))
_ANY_OPEN_IN_ARM = Statement(select(exists().where(*OPEN_TO_JUDGE, arm_room).label("any")))


def any_open(on: Connection, judge: StoredRow, policy: Policy) -> bool:
    """Whether some item could be given to this judge now."""
    wanted = {"judge": judge.id, "project": judge.project, **in_arm(judge, policy)}
    statement = _ANY_OPEN_IN_ARM if policy.judgments_by_arm else _ANY_OPEN
    return any(
        statement.scalar(on, {**wanted, "reached": reached})
        for reached in sorted({judge.reached, 0}, reverse=True)
    )


def in_arm(judge: StoredRow, policy: Policy) -> dict[str, Any]:
    """What a statement has to know of a judge's arm; nothing where arms share a number."""
    by_arm = policy.judgments_by_arm
    return {"arm": judge.arm, "limit": policy.arm_limit} if by_arm else {}


LACKING = (
    items.c.project == bindparam("project"),
    items.c.state == "open",
    items.c.gold.is_(False),
)

_ANY_LEFT = Statement(select(exists().where(*LACKING, NOT_JUDGED).label("any")))

_ANY_LEFT_IN_ARM = Statement(select(exists().where(*LACKING, NOT_JUDGED, arm_lacks).label("any")))


def any_left(on: Connection, judge: StoredRow, policy: Policy) -> bool:
    """Whether an item that the judge has not judged lacks trusted judgments, of their arm or any.

    An arm with a number of its own is done when it has that number, whatever others still lack.
    """
    wanted = {"judge": judge.id, "project": judge.project, **in_arm(judge, policy)}
    statement = _ANY_LEFT_IN_ARM if policy.judgments_by_arm else _ANY_LEFT
    return bool(statement.scalar(on, wanted))


def ended_untrained(judge: StoredRow, snapshot: ProjectSnapshot) -> bool:
    """Whether they came when the budget was spent: whoever goes on later has done the training."""
    spent = judge.stage == "finished" and judge.reason == BUDGET_SPENT
    return spent and bool(judge.training_seen < snapshot.training_pairs(judge.arm))
