"""Invitations to judge, and what judges are called by them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.judging.leases import take_back_page
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request, lock_judge, to_time
from adjudge.collect.store.schema import invites, judges, projects
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.requesting import Invite
from adjudge.errors import NotFound

_INVITES = (
    select(invites, projects.c.slug, judges.c.public.label("judge_public"))
    .join(projects, projects.c.id == invites.c.project)
    .outerjoin(judges, judges.c.id == invites.c.judge)
    .order_by(invites.c.id.desc())
)
_BY_TOKEN = re.compile(r"[\w-]{16}:(.+)", re.DOTALL)  # the id of a token, and a name of its own


def _invite_of(row: StoredRow) -> Invite:
    return from_row(
        Invite,
        row,
        invite=row.key,
        project=row.slug,
        made=to_time(row.made),
        expires=None if row.expires is None else to_time(row.expires),
        judge=row.judge_public,
    )


def make_invites(request: Request, notes: Sequence[str], expires: datetime | None) -> list[Invite]:
    """One invitation a note."""
    rows = [
        {
            "key": make_id(),
            "project": request.project.id,
            "note": note.strip()[:500].replace("\0", ""),
            "made": request.now,
            "expires": None if expires is None else expires.timestamp(),
        }
        for note in notes
    ]
    if not rows:
        return []
    request.on.execute(insert(invites), rows)
    made = {row["key"] for row in rows}
    return [one for one in list_invites(request) if one.invite in made]


def list_invites(request: Request) -> list[Invite]:
    """Every invitation of a project, newest first."""
    wanted = _INVITES.where(invites.c.project == request.project.id)
    return [_invite_of(row) for row in request.on.execute(wanted)]


def find_invite(on: Connection, key: str) -> Invite | None:
    """An invitation by its key."""
    row = on.execute(_INVITES.where(invites.c.key == key)).one_or_none()
    return None if row is None else _invite_of(row)


def revoke_invite(request: Request, key: str) -> None:
    """End an invitation: who came by it can do nothing more, and their open page goes back."""
    change = update(invites).where(invites.c.project == request.project.id, invites.c.key == key)
    row = request.on.execute(change.values(revoked=True).returning(invites.c.judge)).one_or_none()
    if row is None:
        raise NotFound("invitation", key)
    if row.judge is None:
        return
    public = request.on.execute(
        select(judges.c.public).where(judges.c.id == row.judge)
    ).scalar_one()
    judge = lock_judge(request.on, public)
    take_back_page(request.on, judge)
    request.on.execute(update(judges).where(judges.c.id == judge.id).values(page=None))
    request.log("invitation-revoked", judge=judge.id, actor=request.actor)


def invited_names(request: Request) -> dict[int, str]:
    """What invitations say of whom they are for, by the id inside of who came by each."""
    wanted = select(invites.c.judge, invites.c.note).where(
        invites.c.project == request.project.id, invites.c.judge.is_not(None)
    )
    return dict(request.on.execute(wanted).all())


def name_of_judge(row: Any, invited: str = "") -> str:
    """What a requester calls a judge.

    Their own word for them, what the invitation says, the id at the panel or of the script; else
    the public id.
    """
    given = row.key if row.channel in ("panel", "api") else ""
    if row.channel == "api" and (called := _BY_TOKEN.fullmatch(given)):
        given = called[1]
    return str(row.name or invited or given or row.public)
