"""How much a test takes on: enough in every run, and more in ``./scripts/test full``."""

from __future__ import annotations

import os
from typing import TypeVar

Size = TypeVar("Size")

PROFILE = os.environ.get("ADJUDGE_PROFILE", "ci")
FULL = PROFILE == "full"


def sized(usual: Size, *, full: Size) -> Size:
    """The one size in every run, the other where a subject has changed and all is asked for."""
    return full if FULL else usual
