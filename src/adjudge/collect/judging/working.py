"""A page of work: judgments stored, items counted, golds graded, the judge decided on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import BindParameter, bindparam, case, select, update

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import counted_items, give_back, lock_items, promote, untrust
from adjudge.collect.items.quotas import arm_limit, with_arm_room
from adjudge.collect.judging.budget import check_late
from adjudge.collect.judging.desktop import ADD, CLOSE, Desktop, judgment, log_decision
from adjudge.collect.judging.pages import told
from adjudge.collect.rules.policy import Decision, Policy, after_page
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import columns_of, record_of, to_micros
from adjudge.collect.store.schema import items
from adjudge.collect.values.judging import DRY_RUN, OTHERS, Answer, Outcome

_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_TRUSTED = (
    update(items)
    .where(items.c.id.in_(_IDS))
    .values(
        leased=items.c.leased - 1,
        trusted=items.c.trusted + 1,
        state=case(
            (
                items.c.state.in_(["open", "set aside"]) & (items.c.trusted + 1 >= items.c.needed),
                "closed",
            ),
            else_=items.c.state,
        ),
    )
)
_OTHER = (
    update(items)
    .where(items.c.id.in_(_IDS))
    .values(
        leased=items.c.leased - 1,
        broken=items.c.broken + 1,
        state=case(
            (
                (items.c.state == "open") & (items.c.broken + 1 >= bindparam("limit")),
                "set aside",
            ),
            else_=items.c.state,
        ),
    )
)


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
        give_back(desk.on, [page.id], "returned")
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
    desk.on.execute(
        update(items).where(items.c.id.in_(sorted(free))).values(leased=items.c.leased + 1)
    )
    return set(ids) - free


def _count(desk: Desktop, made: Sequence[dict[str, Any]], late: set[int]) -> None:
    """Count judgments on their items, and answers that could not judge."""
    labelled = sorted(one["item"] for one in made if not one["other"])
    other = sorted(one["item"] for one in made if one["other"])
    if labelled:
        desk.on.execute(_TRUSTED, {"ids": labelled})
    if other:
        limit = desk.snapshot.policy.set_aside_after
        desk.on.execute(_OTHER, {"ids": other, "limit": limit})
        promote(desk.on, other)
    if late:
        desk.on.execute(
            update(items).where(items.c.id.in_(sorted(late))).values(surplus=items.c.surplus + 1)
        )
    renew_needs(desk.on, desk.snapshot, [*labelled, *other, *late])
