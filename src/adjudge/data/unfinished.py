"""Files that are being written, so that they can be removed where nothing else is cleaned up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_unfinished: set[str] = set()


@contextmanager
def unfinished(path: str) -> Iterator[None]:
    """A file that is of no use until this is over."""
    _unfinished.add(path)
    try:
        yield
    finally:
        _unfinished.discard(path)


def remove_unfinished() -> None:
    """Remove what is half-written."""
    for path in list(_unfinished):
        with suppress(OSError):
            os.remove(path)
