"""Sizes of tests: smaller in every run, larger in ``./scripts/test full``."""

from __future__ import annotations

import os
from typing import TypeVar

Size = TypeVar("Size")

PROFILE = os.environ.get("ADJUDGE_PROFILE", "ci")
FULL = PROFILE == "full"


def sized(usual: Size, *, full: Size) -> Size:
    """Return the usual size, or the larger one under the full profile."""
    return full if FULL else usual
