"""Files that requesters send: read within the server's limits, errors and all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adjudge.collect.store.database import BEGAN
from adjudge.data.scale import Scale

if TYPE_CHECKING:
    from adjudge.collect.importing import Preview
    from adjudge.collect.values.project import Project
    from adjudge.collect.web.settings import Settings


def read(
    settings: Settings,
    files: Iterable[tuple[str, bytes]],
    scale: Scale | None,
    known: frozenset[str] = frozenset(),
    **more: Any,
) -> Preview:
    """What the files hold, and everything that is wrong with them; ``more`` is for the reader."""
    from adjudge.collect import importing  # late: readers are heavy, and most requests need none

    limits = importing.ImportLimits(bytes=settings.upload_bytes, rows=settings.upload_rows)
    uploads = [importing.Upload(name=name, body=body) for name, body in files]
    preview = importing.read(uploads, scale=scale, known=known, limits=limits, **more)
    BEGAN.set(None)  # reading is no waiting: storing may wait as long as any other request
    return preview


def read_more(settings: Settings, files: Iterable[tuple[str, bytes]], stored: Project) -> Preview:
    """What the files hold for a project that has items already."""
    known = frozenset(item.name for item in stored.items)
    topics = {item.query: item.topic for item in stored.items}
    return read(settings, files, stored.scale, known, topics=topics)
