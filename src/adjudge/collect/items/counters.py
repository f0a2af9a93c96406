"""The counters of items: leases given back, judgments that lose or regain their standing.

Every change of an item's counters outside a submit is here. Each function runs inside the caller's
transaction; items are locked in order of id before they are changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    Select,
    and_,
    bindparam,
    case,
    func,
    select,
    text,
    update,
)
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.quotas import (
    arms_in,
    check_quota,
    judgments_needed,
    project_limit,
    taken_by_arm,
)
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import write_log
from adjudge.collect.store.schema import (
    ITEM_HAS_ROOM,
    items,
    judges,
    judgments,
    page_rows,
    pages,
    projects,
)
from adjudge.collect.store.snapshot import ProjectSnapshot, load_snapshot

_BATCH = 500  # ids in one statement

has_room = ITEM_HAS_ROOM

_LOCK = (
    select(items.c.id)
    .where(items.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(items.c.id)
    .with_for_update(key_share=True)
)
_EXPIRED: Select[Any] = (
    select(pages.c.id, pages.c.public, pages.c.judge, pages.c.project, projects.c.policy_version)
    .join(projects, projects.c.id == pages.c.project)
    .where(
        text("pages.state = 'open'"),
        pages.c.kind == "work",
        pages.c.expires <= bindparam("now"),
    )
    .order_by(pages.c.expires)
    .limit(200)
    .with_for_update(skip_locked=True, of=pages, key_share=True)
)
_PAGES: BindParameter[Any] = bindparam("pages", expanding=True)
_WORK_ROWS = select(page_rows.c.item).where(
    page_rows.c.page.in_(_PAGES), page_rows.c.gold.is_(None)
)
_GIVE_BACK = (
    update(items)
    .where(items.c.id.in_(_WORK_ROWS.scalar_subquery()))
    .values(
        leased=items.c.leased
        - select(func.count())
        .where(
            page_rows.c.page.in_(_PAGES),
            page_rows.c.gold.is_(None),
            page_rows.c.item == items.c.id,
        )
        .scalar_subquery()
    )
)
_ADAPTIVE = (
    select(pages.c.project, page_rows.c.item)
    .join(page_rows, page_rows.c.page == pages.c.id)
    .join(projects, projects.c.id == pages.c.project)
    .where(
        pages.c.id.in_(_PAGES),
        page_rows.c.gold.is_(None),
        projects.c.policy["closing"].as_string() == "adaptive",
    )
)
_PAGE_STATE = (
    update(pages).where(pages.c.id.in_(_PAGES)).values(state=bindparam("new_state"), draft=None)
)


def batches(ids: Iterable[int]) -> Iterable[list[int]]:
    """Ids in order, in parts that fit one statement."""
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]


def lock_items(on: Connection, ids: Iterable[int]) -> None:
    """Lock items in order of id; SQLite's one writer needs no such lock."""
    if on.dialect.name == "postgresql":
        for part in batches(ids):
            on.execute(_LOCK, {"ids": part}).all()


def expire_pages(on: Connection, now: float) -> list[StoredRow]:
    """Give back the items of pages whose time is over; those pages."""
    over = list(on.execute(_EXPIRED, {"now": now}))
    if over:
        give_back(on, [page.id for page in over], "expired")
        write_log(on, [_expired_line(page, now) for page in over])
    return over


def _expired_line(page: StoredRow, now: float) -> dict[str, Any]:
    return {
        "project": page.project,
        "judge": page.judge,
        "time": now,
        "event": "page-expired",
        "actor": "system",
        "policy_version": page.policy_version,
        "figures": {"page": page.public},
    }


def give_back(on: Connection, page_ids: Sequence[int], state: str) -> None:
    """End open pages of work: their items are free for others."""
    touched = list(on.execute(_WORK_ROWS, {"pages": list(page_ids)}).scalars())
    lock_items(on, touched)
    on.execute(_PAGE_STATE, {"pages": list(page_ids), "new_state": state})
    on.execute(_GIVE_BACK, {"pages": list(page_ids)})
    promote(on, touched)
    adaptive: dict[int, list[int]] = {}
    for project, item in on.execute(_ADAPTIVE, {"pages": list(page_ids)}):
        adaptive.setdefault(project, []).append(item)
    for project, ids in adaptive.items():
        renew_needs(on, load_snapshot(on, project), ids)


_SURPLUS = (
    select(
        items.c.id,
        items.c.project,
        (items.c.needed - items.c.leased - items.c.trusted).label("room"),
    )
    .where(
        items.c.id.in_(bindparam("ids", expanding=True)),
        items.c.surplus > 0,
        items.c.leased + items.c.trusted < items.c.needed,
    )
    .order_by(items.c.id)
)


def state_case(broken_limit: Any) -> Any:
    """The state of an item after its counters changed, in SQL; see ``routing.item_state``."""
    return case(
        (items.c.state == "withdrawn", "withdrawn"),
        (items.c.trusted >= items.c.needed, "closed"),
        (items.c.broken >= broken_limit, "set aside"),
        else_="open",
    )


def set_states(on: Connection, ids: Iterable[int], set_aside_after: int) -> None:
    """Set the state of items anew from their counters."""
    for part in batches(ids):
        on.execute(
            update(items).where(items.c.id.in_(part)).values(state=state_case(set_aside_after))
        )


def promote(on: Connection, ids: Iterable[int]) -> None:
    """Let surplus judgments count where their items have room again."""
    for part in batches(ids):
        for item in on.execute(_SURPLUS, {"ids": part}).all():
            chosen = _promotable(on, item)
            if not chosen:
                continue
            on.execute(
                update(judgments).where(judgments.c.id.in_(chosen)).values(standing="trusted")
            )
            on.execute(
                update(items)
                .where(items.c.id == item.id)
                .values(
                    trusted=items.c.trusted + len(chosen),
                    surplus=items.c.surplus - len(chosen),
                    state=case(
                        (
                            and_(
                                items.c.state.in_(["open", "set aside"]),
                                items.c.trusted + len(chosen) >= items.c.needed,
                            ),
                            "closed",
                        ),
                        else_=items.c.state,
                    ),
                )
            )


def _promotable(on: Connection, item: StoredRow) -> list[int]:
    """The surplus judgments that an item, and their own arms, have room for: the first given."""
    waiting = on.execute(
        select(judgments.c.id, judges.c.arm)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item == item.id, judgments.c.standing == "surplus")
        .order_by(judgments.c.id)
    ).all()
    limit = project_limit(on, item.project)
    if limit is None:
        return [row.id for row in waiting[: item.room]]
    taken = taken_by_arm(on, [item.id])
    chosen: list[int] = []
    for row in waiting:
        if len(chosen) < item.room and taken[item.id, row.arm] < limit:
            taken[item.id, row.arm] += 1
            chosen.append(row.id)
    return chosen


def set_needed(on: Connection, project: int, policy: Policy) -> None:
    """Set how many judgments items need; never fewer than they have or are being given.

    Refused: ``quota-passed``, where an arm has more already than its quota would be.
    """
    ids = list(on.execute(select(items.c.id).where(items.c.project == project)).scalars())
    if on.dialect.name == "postgresql":
        lock = select(items.c.id).where(items.c.project == project).order_by(items.c.id)
        on.execute(lock.with_for_update(key_share=True)).all()
    check_quota(on, ids, policy)
    engaged = items.c.leased + items.c.trusted
    wanted = judgments_needed(policy, arms_in(on, project))
    on.execute(
        update(items).where(items.c.project == project, engaged <= wanted).values(needed=wanted)
    )
    on.execute(
        update(items).where(items.c.project == project, engaged > wanted).values(needed=engaged)
    )
    set_states(on, ids, policy.set_aside_after)
    promote(on, ids)
    renew_needs(on, load_snapshot(on, project), ids)


_COUNTED = and_(
    judgments.c.kind == "work", judgments.c.gold.is_(None), judgments.c.other.is_(False)
)


def counted_items(on: Connection, judge: int) -> list[int]:
    """The items on which a judge's judgments count, or would if they were trusted."""
    wanted = select(judgments.c.item).where(judgments.c.judge == judge, _COUNTED)
    return list(on.execute(wanted).scalars())


def untrust(on: Connection, judge: int, snapshot: ProjectSnapshot) -> int:
    """Take the trust from every judgment of a judge, and reopen their items; how many counted."""
    counted = (judgments.c.judge == judge, _COUNTED, judgments.c.standing != "untrusted")
    touched = list(on.execute(select(judgments.c.item).where(*counted)).scalars())
    lock_items(on, touched)
    # Only now: until the items are hers, another's block may let a surplus judgment count.
    hers = on.execute(select(judgments.c.item, judgments.c.standing).where(*counted)).all()
    for part in batches(row.item for row in hers if row.standing == "trusted"):
        on.execute(update(items).where(items.c.id.in_(part)).values(trusted=items.c.trusted - 1))
    for part in batches(row.item for row in hers if row.standing == "surplus"):
        on.execute(update(items).where(items.c.id.in_(part)).values(surplus=items.c.surplus - 1))
    on.execute(update(judgments).where(judgments.c.judge == judge).values(standing="untrusted"))
    set_states(on, touched, snapshot.policy.set_aside_after)
    promote(on, touched)
    renew_needs(on, snapshot, touched)
    return len(hers)
