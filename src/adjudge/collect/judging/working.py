"""A page of work: judgments stored, items counted, golds graded, the judge decided on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import (
    count,
    count_again,
    count_broken,
    lease,
    lock_items,
    promote,
)
from adjudge.collect.items.quotas import arm_limit, with_arm_room
from adjudge.collect.items.standing import counted_items, untrust
from adjudge.collect.judging.budget import check_late
from adjudge.collect.judging.desktop import ADD, CLOSE, Desktop, judgment, log_decision
from adjudge.collect.judging.leases import end_pages
from adjudge.collect.judging.pages import told
from adjudge.collect.rules.policy import Decision, Policy, after_page
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import columns_of, record_of, to_micros
from adjudge.collect.store.schema import items
from adjudge.collect.values.judging import DRY_RUN, OTHERS, Answer, Outcome


def submit_work(
    desk: Desktop, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> Outcome:
    """Store a whole page of work and decide on the judge."""
    policy = desk.snapshot.policy_of(desk.judge.arm)
    work = [row for row in rows if row.gold is None]
    decision = _decided(desk, rows, given, policy)
    touched = [row.item for row in work]
    if decision.stage == "blocked":  # every item at once, in order, since two such may meet
        touched += counted_items(desk.on, desk.judge.id)
    lock_items(desk.on, touched)
    dry = desk.judge.kind == DRY_RUN
    if dry and page.state == "open":  # her items go back as they were
        end_pages(desk.on, [page.id], "returned")
    late = _take_late(desk, work, given) if page.state == "expired" and not dry else set()
    made = [
        judgment(desk, page, row, given[row.row], "surplus" if row.item in late else "trusted")
        for row in rows
    ]
    ADD.run(desk.on, made)
    if not dry:
        _count(desk, [one for one in made if one["gold"] is None and one["item"] not in late], late)
    golds = [one for one in made if one["gold"] is not None]
    told_rows = [one["row"] for one in golds if one["right"] is False] if policy.feedback else []
    desk.on.execute(CLOSE, {"page": page.id, "now": desk.now, "told": {"told": told_rows}})
    desk.set_judge(
        **columns_of(decision.record),
        page=None,
        last=desk.now,
        pages=desk.judge.pages + 1,
        judged=desk.judge.judged + len(made),
        worked=desk.judge.worked + len(work),
        others=desk.judge.others + sum(one["other"] for one in made),
        earned=desk.judge.earned + to_micros(policy.pay_per_page),
        notice=[],
    )
    answered = {"golds": [[one["gold"], one["label"]] for one in golds], "rows": len(made)}
    log_decision(desk, page, "page-answered", decision, answered)
    if decision.stage == "blocked":
        untrust(desk.on, desk.judge.id, desk.snapshot)
    marked = set(told_rows)
    shown = [told(desk.snapshot, _Graded(one)) for one in golds if one["row"] in marked]
    return desk.outcome(page, shown, len(made))


def _decided(
    desk: Desktop, rows: Sequence[StoredRow], given: dict[int, Answer], policy: Policy
) -> Decision:
    """The decision on the judge that the golds of a page lead to."""
    golds = [(desk.snapshot.golds[row.gold], row.row) for row in rows if row.gold is not None]
    graded = [gold.right(given[row].label) for gold, row in golds]
    counted = [right for right in graded if right is not None]
    record = record_of(desk.judge)
    record = replace(record, seen=record.seen + len(counted), right=record.right + sum(counted))
    return after_page(record, policy)


class _Graded:
    """A judgment to be stored, read as if it were a row."""

    __slots__ = ("gold", "label", "right", "row")

    def __init__(self, one: dict[str, Any]) -> None:
        self.row, self.gold = one["row"], one["gold"]
        self.label, self.right = one["label"], one["right"]


def _take_late(desk: Desktop, work: Sequence[StoredRow], given: dict[int, Answer]) -> set[int]:
    """Lease the items of an expired page again; those labelled that have filled up since.

    An answer that could not judge takes no room: it is counted as in any other page.
    """
    check_late(desk.on, desk.judge, desk.snapshot, len(work))
    ids = [row.item for row in work]
    room = items.c.leased + items.c.trusted < items.c.needed
    free = set(desk.on.execute(select(items.c.id).where(items.c.id.in_(ids), room)).scalars())
    free = with_arm_room(desk.on, free, desk.judge.arm, arm_limit(desk.snapshot.policy))
    free |= {row.item for row in work if given[row.row].label in OTHERS}
    lease(desk.on, free)
    return set(ids) - free


def _count(desk: Desktop, made: Sequence[dict[str, Any]], late: set[int]) -> None:
    """Count judgments on their items, and answers that could not judge."""
    labelled = sorted(one["item"] for one in made if not one["other"])
    other = sorted(one["item"] for one in made if one["other"])
    policy = desk.snapshot.policy
    count(desk.on, labelled, policy)
    count_broken(desk.on, other, policy)
    promote(desk.on, other)
    count_again(desk.on, late, policy, surplus=1)
    renew_needs(desk.on, desk.snapshot, [*labelled, *other, *late])
