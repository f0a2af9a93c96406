"""Files that a requester sent and has not used yet: kept a while, so that none is sent twice."""

from __future__ import annotations

import base64
import secrets
import time
import zlib
from dataclasses import dataclass

from adjudge.collect.web.login import LoggedIn

_DAYS = 7.0  # that they are kept
_MOST = 5  # uploads of one requester: as many drafts as somebody works on at once


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """The files of one requester, each upload by a name of its own."""

    who: LoggedIn

    @property
    def _prefix(self) -> str:
        return f"new-files:{self.who.requester.requester}:"

    def keep(self, files: list[tuple[str, bytes]]) -> str:
        """Keep files under a new name; those of a week ago go, and all but the newest."""
        settings, now = self.who.services.settings, int(time.time())
        oldest = f"{self._prefix}{now - int(_DAYS * 86_400):010d}"
        names = settings.find_names(self._prefix)  # the time is in front: in the order they came
        for place, name in enumerate(reversed(names)):
            if place >= _MOST - 1 or name < oldest:
                settings.forget(name)
        kept = f"{now:010d}-{secrets.token_hex(8)}"
        packed = [[name, base64.b85encode(zlib.compress(body)).decode()] for name, body in files]
        settings.keep(self._prefix + kept, {"files": packed})
        return kept

    def find(self, kept: str) -> list[tuple[str, bytes]]:
        """The files of that name; none where they are forgotten."""
        held = self.who.services.settings.get(self._prefix + kept) if kept else None
        if held is None:
            return []
        return [(name, zlib.decompress(base64.b85decode(body))) for name, body in held["files"]]

    def forget(self, kept: str) -> None:
        """Forget files that are stored as items now."""
        self.who.services.settings.forget(self._prefix + kept)
