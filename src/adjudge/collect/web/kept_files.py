"""Files that a requester sent and has not used yet: kept a while, so that none is sent twice."""

from __future__ import annotations

import base64
import secrets
import time
import zlib

from adjudge.collect.web.login import LoggedIn

SentFiles = list[tuple[str, bytes]]
_KEPT = "new-files:"
_DAYS = 7.0  # that they are kept
_MOST = 5  # uploads of one requester: as many drafts as somebody works on at once


def keep_files(who: LoggedIn, files: SentFiles) -> str:
    """Keep files for who sent them; those of a week ago are forgotten, and all but the newest."""
    settings, prefix = who.services.settings, f"{_KEPT}{who.requester.requester}:"
    now = int(time.time())
    oldest = f"{prefix}{now - int(_DAYS * 86_400):010d}"
    names = settings.find_names(prefix)  # with the time in front: in the order they were kept
    for place, name in enumerate(reversed(names)):
        if place >= _MOST - 1 or name < oldest:
            settings.forget(name)
    kept = f"{now:010d}-{secrets.token_hex(8)}"
    packed = [[name, base64.b85encode(zlib.compress(body)).decode()] for name, body in files]
    settings.keep(prefix + kept, {"files": packed})
    return kept


def find_files(who: LoggedIn, kept: str) -> SentFiles:
    """The files that were kept under that name; none where they are forgotten."""
    held = who.services.settings.get(f"{_KEPT}{who.requester.requester}:{kept}") if kept else None
    if held is None:
        return []
    return [(name, zlib.decompress(base64.b85decode(body))) for name, body in held["files"]]


def forget_files(who: LoggedIn, kept: str) -> None:
    """Forget files that are stored as items now."""
    who.services.settings.forget(f"{_KEPT}{who.requester.requester}:{kept}")
