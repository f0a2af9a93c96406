"""Pages of work that end without an answer: their items are free for others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, bindparam, select, text, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import lock_items, promote, release
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import write_log
from adjudge.collect.store.schema import page_rows, pages, projects
from adjudge.collect.store.snapshot import load_snapshot

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
    """End open pages of work as expired or returned: their items are free for others."""
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


def take_back_page(on: Connection, judge: StoredRow) -> None:
    """Take back the page a judge has open, if any."""
    if judge.page is None:
        return
    page = on.execute(select(pages.c.state, pages.c.kind).where(pages.c.id == judge.page)).one()
    if page.state != "open":
        return
    if page.kind == "work":
        end_pages(on, [judge.page], "returned")
    else:
        on.execute(update(pages).where(pages.c.id == judge.page).values(state="returned"))
