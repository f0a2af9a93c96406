"""A command that was run: how it ended, and what it printed where."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, str]]:
        """Standard output as CSV."""
        return list(csv.DictReader(io.StringIO(self.out), strict=True))


Run = Callable[..., Ended]
