"""Random ids, as they stand in addresses and on command lines."""

from __future__ import annotations

import secrets


def make_id(size: int = 12) -> str:
    """A random id of so many bytes. It never begins with ``-``: a command would see an option."""
    while (made := secrets.token_urlsafe(size)).startswith("-"):
        pass
    return made
