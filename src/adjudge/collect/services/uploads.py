"""Files that a requester sent and that are not stored as items yet."""

from __future__ import annotations

import base64
import secrets
import zlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.engine import Connection

from adjudge.collect.services.caller import (
    Service,
    find_requester,
    reads,
    reads_store,
    writes,
    writes_store,
)
from adjudge.collect.store.database import put_row
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import drafts, uploads

_SECONDS = 7.0 * 86_400  # that they are kept
_MOST = 5  # uploads of one requester: as many drafts as somebody works on at once


@dataclass(frozen=True, slots=True)
class UploadService(Service):
    """The uploads of a requester, each by a name of its own, and which draft was read from which.

    Only a requester has uploads, not the server itself.
    """

    @writes_store
    def keep(self, on: Connection, files: list[tuple[str, bytes]]) -> str:
        """Keep files under a new name; those of a week ago go, and all but the newest."""
        requester, now = self._requester(on), self.caller.now()
        theirs = uploads.c.requester == requester
        newest = select(uploads.c.name).where(theirs, uploads.c.made >= now - _SECONDS)
        kept = on.execute(newest.order_by(uploads.c.name.desc()).limit(_MOST - 1)).scalars().all()
        on.execute(delete(uploads).where(theirs, uploads.c.name.not_in(kept)))
        name = f"{int(now):010d}-{secrets.token_hex(8)}"
        packed = [[file, base64.b85encode(zlib.compress(body)).decode()] for file, body in files]
        on.execute(insert(uploads).values(name=name, requester=requester, made=now, files=packed))
        return name

    @reads_store
    def find(self, on: Connection, name: str) -> list[tuple[str, bytes]]:
        """The files of that name; none where they are forgotten."""
        theirs = (uploads.c.name == name, uploads.c.requester == self._requester(on))
        held = on.execute(select(uploads.c.files).where(*theirs)).scalar()
        return [(file, zlib.decompress(base64.b85decode(body))) for file, body in held or ()]

    @writes("manager")
    def note_origin(self, request: Request, name: str, columns: dict[str, str]) -> None:
        """Note which upload a draft was read from, and which columns were chosen by hand."""
        key = {"project": request.project.id}
        put_row(request.on, drafts, key, upload=name, columns=columns)

    @reads()
    def get_origin(self, request: Request) -> tuple[str, dict[str, str]]:
        """The upload that a draft was read from, and its columns; an empty name where none is."""
        statement = select(drafts.c.upload, drafts.c.columns)
        row = request.on.execute(
            statement.where(drafts.c.project == request.project.id)
        ).one_or_none()
        return ("", {}) if row is None else (row.upload, row.columns)

    @writes_store
    def forget(self, on: Connection, name: str) -> None:
        """Forget files that are stored as items now, and that a draft was read from them."""
        theirs = (uploads.c.name == name, uploads.c.requester == self._requester(on))
        if on.execute(delete(uploads).where(*theirs)).rowcount:
            on.execute(delete(drafts).where(drafts.c.upload == name))

    def _requester(self, on: Connection) -> Any:
        actor = self.caller.actor
        return None if actor is None else find_requester(on, actor.requester).id
