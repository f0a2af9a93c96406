"""Judges as people to a requester: what they are called, and what is written to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update

from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import invites, judges
from adjudge.errors import NotFound, Refused

_BY_TOKEN = re.compile(r"[\w-]{16}:(.+)", re.DOTALL)  # the id of a token, and a name of its own
_LONGEST_NAME = 200
_LONGEST_MESSAGE = 2_000


def invited_names(request: Request) -> dict[int, str]:
    """What invitations say of whom they are for, by the id inside of who came by each."""
    rows = request.on.execute(
        select(invites.c.judge, invites.c.note).where(
            invites.c.project == request.project.id, invites.c.judge.is_not(None)
        )
    )
    return {row.judge: row.note for row in rows}


def name_of_judge(row: Any, invited: str = "") -> str:
    """What a requester calls a judge.

    Their own word for them, what the invitation says, the id at the panel or of the script; else
    the public id.
    """
    given = row.key if row.channel in ("panel", "api") else ""
    if row.channel == "api" and (called := _BY_TOKEN.fullmatch(given)):
        given = called[1]
    return str(row.name or invited or given or row.public)


def name_judges(request: Request) -> dict[str, str]:
    """What every judge of a project is called, by public id."""
    invited = invited_names(request)
    columns = (judges.c.id, judges.c.public, judges.c.name, judges.c.channel, judges.c.key)
    rows = request.on.execute(select(*columns).where(judges.c.project == request.project.id))
    return {row.public: name_of_judge(row, invited.get(row.id, "")) for row in rows}


def rename_judge(request: Request, public: str, name: str) -> None:
    """Call a judge by another name; an empty one gives back what they are called by themselves."""
    words = " ".join(name.split())
    if len(words) > _LONGEST_NAME or "\0" in words:
        raise Refused("bad-form", f"a name has at most {_LONGEST_NAME} characters")
    changed = request.on.execute(
        update(judges)
        .where(judges.c.public == public, judges.c.project == request.project.id)
        .values(name=words)
    )
    if changed.rowcount == 0:
        raise NotFound("judge", public)


def send_message(request: Request, publics: Sequence[str], text: str) -> int:
    """Write to judges: they see it on their next page until they say that they have read it.

    A later message takes the place of one that was not read yet. How many judges it went to.
    """
    words = text.strip()
    if not words or len(words) > _LONGEST_MESSAGE or "\0" in words:
        raise Refused("bad-form", f"a message has 1 to {_LONGEST_MESSAGE:,} characters")
    found = request.on.execute(
        select(judges.c.id, judges.c.public).where(
            judges.c.project == request.project.id, judges.c.public.in_(list(publics))
        )
    ).all()
    missing = set(publics) - {row.public for row in found}
    if missing:
        raise NotFound("judge", min(missing))
    ids = [row.id for row in found]
    request.on.execute(update(judges).where(judges.c.id.in_(ids)).values(message=words))
    for judge in ids:
        request.log("messaged", judge=judge, actor=request.actor, message=words)
    return len(ids)
