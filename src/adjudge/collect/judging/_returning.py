"""The page that a judge left unanswered comes back as it was, or none of it ever does.

A page whose time ran out, or that was open when its judge finished, has its work given to others.
If its judge asked again and were given a new page, work would come round while gold would not: each
row that is missing would be gold. So the same page comes back while any of its work is wanted.
After that neither its work nor its gold is shown to this judge again, while there is other gold.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sqlalchemy import BindParameter, bindparam, exists, select, text, update

from adjudge.collect.items.counters import lease
from adjudge.collect.items.quotas import with_arm_room
from adjudge.collect.rules.decisions import resume
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import JudgeRequest, record_of
from adjudge.collect.store.schema import ITEM_HAS_ROOM, items, judgments, page_rows, pages

_LAST = (
    select(pages)
    .where(pages.c.judge == bindparam("judge"), pages.c.kind == "work")
    .order_by(pages.c.id.desc())
    .limit(1)
)
_LEFT = ("expired", "returned")
_WORK = select(page_rows.c.item).where(
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

    ``left`` is the most rows of work that the budget allows. Where all of its work is wanted it is
    leased again. Where some has been done by others meanwhile, the page comes back without a lease,
    whole: its rows must not say what is work. What is not wanted is surplus then.
    """
    page = request.on.execute(_LAST, {"judge": request.judge.id}).one_or_none()
    if page is None or page.state not in _LEFT:
        return None
    work = list(request.on.execute(_WORK, {"page": page.id}).scalars())
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
        _take_up(request, page)
        leased = state == "open"
        request.log("page-again", judge=request.judge.id, page=page.public, leased=leased)
    return SimpleNamespace(**{**page._asdict(), **again})


def _take_up(request: JudgeRequest, page: StoredRow) -> None:
    """Let the judge have the page, and be at work again if they had finished."""
    values: dict[str, Any] = {"page": page.id, "last": request.now}
    if request.judge.stage == "finished":
        record = resume(record_of(request.judge), request.policy)
        values |= {"stage": record.stage, "reason": ""}
        request.log("resumed", judge=request.judge.id, stage=record.stage)
    request.set_judge(**values)


def given_before(request: JudgeRequest) -> set[int]:
    """The work that a judge was given on pages they never answered: it does not come again."""
    return set(request.on.execute(_GIVEN, {"judge": request.judge.id}).scalars())
