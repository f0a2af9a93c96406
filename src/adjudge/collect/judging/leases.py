"""Pages that end without an answer, come back to their judge, and the end of a judge's work.

A page whose time ran out, or that was open when its judge finished, has its work given to others.
If its judge asked again and were given a new page, work would be repeated and gold would not: each
missing row would be gold. So the same page comes back while any of its work is needed. After that
neither its work nor its gold is shown to this judge again, while there is other gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from sqlalchemy import BindParameter, bindparam, exists, func, select, text, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import count_pending, renew_needs, untrust
from adjudge.collect.items.counters import lease, lock_items, promote, release, with_arm_room
from adjudge.collect.judging.views import any_open, view_judge
from adjudge.collect.rules.decisions import at_finish, is_checked, resume
from adjudge.collect.rules.endings import CAME_LATE, LEFT, NOTHING_LEFT, OWN_WISH
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import JudgeRequest, columns_of, record_of, write_log
from adjudge.collect.store.schema import (
    ITEM_HAS_ROOM,
    PENDING,
    items,
    judges,
    judgments,
    page_rows,
    pages,
    projects,
)
from adjudge.collect.store.snapshot import SnapshotCache, load_snapshot
from adjudge.collect.values.judging import DRY_RUN
from adjudge.errors import Refused

_EXPIRED = (
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
_WORK = (
    select(page_rows.c.item, pages.c.project, projects.c.policy["closing"].as_string().label("how"))
    .join(pages, pages.c.id == page_rows.c.page)
    .join(projects, projects.c.id == pages.c.project)
    .where(page_rows.c.page.in_(_PAGES), page_rows.c.gold.is_(None))
)
_END = update(pages).where(pages.c.id.in_(_PAGES)).values(state=bindparam("new_state"))


def expire_pages(on: Connection, now: float) -> int:
    """End the pages whose time is over; how many there were."""
    over = on.execute(_EXPIRED, {"now": now}).all()
    if over:
        end_pages(on, [page.id for page in over], "expired")
        write_log(on, [_expired_line(page, now) for page in over])
    return len(over)


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


def end_pages(on: Connection, page_ids: Sequence[int], state: str) -> None:
    """End open pages as expired or returned: the work on them is free for others."""
    work = on.execute(_WORK, {"pages": list(page_ids)}).all()
    touched = [row.item for row in work]
    lock_items(on, touched)
    on.execute(_END, {"pages": list(page_ids), "new_state": state})
    release(on, page_ids)
    promote(on, touched)
    adaptive: dict[int, list[int]] = {}
    for row in work:
        if row.how == "adaptive":
            adaptive.setdefault(row.project, []).append(row.item)
    for project, ids in adaptive.items():
        renew_needs(on, load_snapshot(on, project), ids)


_STATE = (
    select(pages.c.state).where(pages.c.id == bindparam("page")).with_for_update(key_share=True)
)


def take_back_page(on: Connection, judge: StoredRow) -> None:
    """Take back the page a judge has open, if any."""
    if judge.page is None:
        return
    if on.execute(_STATE, {"page": judge.page}).scalar() == "open":
        end_pages(on, [judge.page], "returned")


_LAST = (
    select(pages)
    .where(pages.c.judge == bindparam("judge"), pages.c.kind == "work")
    .order_by(pages.c.id.desc())
    .limit(1)
)
_LEFT = ("expired", "returned")
_WORK_OF_PAGE = select(page_rows.c.item).where(
    page_rows.c.page == bindparam("page"), text("page_rows.gold IS NULL")
)
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
# What another transaction has locked is not waited for: it may wait for what this judge has.
OBTAIN = (
    select(items.c.id)
    .where(items.c.id.in_(_IDS), ITEM_HAS_ROOM)
    .order_by(items.c.id)
    .with_for_update(key_share=True, skip_locked=True)
)
_ANY_JUDGED = select(
    exists().where(
        judgments.c.judge == bindparam("judge"),
        judgments.c.item.in_(_IDS),
        text("judgments.gold IS NULL"),
    )
)
_GIVEN = (
    select(page_rows.c.item)
    .join(pages, pages.c.id == page_rows.c.page)
    .where(
        pages.c.judge == bindparam("judge"),
        pages.c.state.in_(_LEFT),
        text("page_rows.gold IS NULL"),
    )
)


def bring_back(request: JudgeRequest, left: int | None) -> SimpleNamespace | None:
    """The page that a judge left unanswered, theirs again; None if there is none to come back.

    ``left`` is the most rows of work that the budget allows. Where all of its work is needed it is
    leased again. Where some has been done by others meanwhile, the page comes back without a lease,
    complete: its rows must not show what is work. What is not needed is surplus then.
    """
    page = request.on.execute(_LAST, {"judge": request.judge.id}).one_or_none()
    if page is None or page.state not in _LEFT:
        return None
    work = list(request.on.execute(_WORK_OF_PAGE, {"page": page.id}).scalars())
    if left is not None and left < len(work):
        return None
    theirs = {"judge": request.judge.id, "ids": work}
    if request.on.execute(_ANY_JUDGED, theirs).scalar():
        return None
    room = set(request.on.execute(OBTAIN, {"ids": work}).scalars())
    room = with_arm_room(request.on, room, request.judge.arm, request.policy.arm_limit)
    if work and not room:
        return None
    state = "open" if len(room) == len(work) else "expired"
    if state == "open":
        lease(request.on, work)
    again = {"state": state, "expires": request.now + 60 * request.policy.lease_minutes}
    request.on.execute(update(pages).where(pages.c.id == page.id).values(**again))
    if state == "open" or request.judge.page != page.id:  # else they look at it once more
        take_up(request, page.id)
        leased = state == "open"
        request.log("page-again", judge=request.judge.id, page=page.public, leased=leased)
    return SimpleNamespace(**{**page._asdict(), **again})


def take_up(request: JudgeRequest, page: int, **values: Any) -> None:
    """Let the judge have the page, and be at work again if they had finished."""
    values |= {"page": page, "last": request.now}
    if request.judge.stage == "finished":
        record = resume(record_of(request.judge), request.policy)
        values |= {"stage": record.stage, "reason": ""}
        request.log("resumed", judge=request.judge.id, stage=record.stage)
    request.set_judge(**values)


def given_before(request: JudgeRequest) -> set[int]:
    """The work that a judge was given on pages they never answered: it does not come again."""
    return set(request.on.execute(_GIVEN, {"judge": request.judge.id}).scalars())


def finish(request: JudgeRequest) -> None:
    """End at the judge's own wish; nothing if they have ended."""
    if request.judge.stage == "finished" or record_of(request.judge).ended_blocked:
        return
    message = "there is nothing to finish yet: please judge a page first"
    training = request.judge.stage == "training"
    if not training and request.judge.stage not in ("working", "warned"):
        raise Refused("nothing-done", message)
    open_items = view_judge(request).open_items
    if open_items and (training or request.judge.pages == 0):
        raise Refused("nothing-done", message)
    # A panel's participant needs a code, also where they came too late.
    reason = OWN_WISH if open_items else CAME_LATE if training else NOTHING_LEFT
    take_back_page(request.on, request.judge)
    end_way(request, reason, actor="judge")


_WITH_PENDING = select(judgments.c.judge).where(PENDING).distinct()
_IDLE = (
    select(judges, projects.c.version)
    .join(projects, projects.c.id == judges.c.project)
    .outerjoin(pages, pages.c.id == judges.c.page)
    .where(
        projects.c.state.in_(("open", "paused")) | judges.c.id.in_(_WITH_PENDING),
        judges.c.stage.in_(("working", "warned")),
        judges.c.kind != DRY_RUN,
        (judges.c.right < judges.c.seen)
        | (judges.c.training_right < judges.c.training_seen)
        | judges.c.id.in_(_WITH_PENDING),
        func.coalesce(pages.c.state, "") != "open",
    )
    .order_by(judges.c.id)
)


def find_unsettled(on: Connection, snapshots: SnapshotCache, now: float) -> list[str]:
    """List the judges at work whom ``settle`` has to decide on.

    Those who left below the blocking threshold or with pending judgments, and those whose pending
    judgments count by now, since gold or policy changed.
    """
    with_pending = set(on.execute(_WITH_PENDING).scalars())
    found = []
    for row in on.execute(_IDLE):
        project = snapshots.get(on, row.project, row.version)
        policy, record = project.policy_of(row.arm), record_of(row)
        idle, pending = _is_idle(row, policy, now), row.id in with_pending
        low = at_finish(record, policy).stage == "blocked"
        counts = pending and is_checked(record, policy, len(project.screening))
        if counts or (idle and (low or pending)):
            found.append(row.public)
    return found


def settle(request: JudgeRequest) -> int:
    """Decide on a judge at work, and on their pending judgments; how many count now.

    Who left is checked as at the finish, and so is who has nothing to judge for the moment: else
    the last judges of a project would wait for each other.
    """
    policy, judge, project = request.policy, request.judge, request.project
    if judge.stage not in ("working", "warned"):
        return 0
    record, idle = record_of(judge), _is_idle(judge, policy, request.now)
    if idle and at_finish(record, policy).stage == "blocked":
        end_way(request, LEFT)
        return 0
    over = idle or not any_open(request)
    if not is_checked(record, policy, len(project.screening), over=over):
        return 0
    return count_pending(request.on, judge.id, project)


def _is_idle(judge: StoredRow, policy: Policy, now: float) -> bool:
    """Whether a judge has done nothing for as long as a page lasts."""
    return judge.last is not None and judge.last + 60 * policy.lease_minutes <= now


def end_way(request: JudgeRequest, reason: str, *, actor: str = "system") -> None:
    """Finish a judge for a reason, and take the trust from who is below the blocking line.

    Nothing if they are finished.
    """
    if request.judge.stage == "finished":
        return
    decision = at_finish(record_of(request.judge), request.policy)
    request.set_judge(**columns_of(decision.record), reason=reason, page=None, last=request.now)
    if decision.stage == "blocked":
        untrust(request.on, request.judge.id, request.project)
    else:
        count_pending(request.on, request.judge.id, request.project)
    for name in decision.events or ("finished",):
        figures = {**decision.record.figures, "reason": reason}
        request.log(name, judge=request.judge.id, actor=actor, **figures)
