"""Files that requesters send: read within the server's limits, errors and all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from adjudge.collect.store.database import BEGAN
from adjudge.data.scale import Scale

if TYPE_CHECKING:
    from adjudge.collect.importing import Preview
    from adjudge.collect.web.settings import Settings


def read(
    settings: Settings,
    files: Iterable[tuple[str, bytes]],
    scale: Scale,
    known: frozenset[str] = frozenset(),
) -> Preview:
    """What the files hold, and everything that is wrong with them."""
    from adjudge.collect import importing  # late: readers are heavy, and most requests need none

    limits = importing.ImportLimits(bytes=settings.upload_bytes, rows=settings.upload_rows)
    uploads = [importing.Upload(name=name, body=body) for name, body in files]
    preview = importing.read(uploads, scale=scale, known=known, limits=limits)
    BEGAN.set(None)  # reading is no waiting: storing may wait as long as any other request
    return preview
