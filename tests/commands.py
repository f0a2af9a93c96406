"""A command that was run: how it ended, and what it printed where."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adjudge.errors import UnknownName


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed where."""

    code: int
    out: str
    err: str
    error: Any = None  # what the command line explained

    @property
    def fault(self) -> str:
        """Of bad input, which has one line of error and no result: the setting, or the place."""
        assert (self.code, self.out) == (2, ""), self.err
        assert [line for line in self.err.splitlines() if line.startswith("error: ")] == [
            self.err.splitlines()[-1]
        ]
        if isinstance(self.error, UnknownName):
            return ": ".join([self.error.setting, *self.error.nearest])
        return str(getattr(self.error, "setting", None) or self.error.place)

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, str]]:
        """Standard output as CSV."""
        return list(csv.DictReader(io.StringIO(self.out), strict=True))


Run = Callable[..., Ended]
