"""Settings of the server: any JSON value under a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adjudge.collect.services.caller import Caller
from adjudge.collect.store.settings import (
    find_settings,
    forget_setting,
    keep_setting,
    name_settings,
    read_setting,
)


@dataclass(frozen=True, slots=True)
class SettingService:
    """What is kept under a name, for every process of the server."""

    caller: Caller

    def get(self, name: str) -> Any:
        """A setting as it was kept; None if it never was."""
        with self.caller.database.read() as on:
            return read_setting(on, name)

    def keep(self, name: str, value: Any) -> None:
        """Keep a setting."""
        self.caller.database.write(lambda on: keep_setting(on, name, value))

    def find(self, prefix: str) -> dict[str, Any]:
        """Every setting whose name begins so, by its name."""
        with self.caller.database.read() as on:
            return find_settings(on, prefix)

    def find_names(self, prefix: str) -> list[str]:
        """The names of settings that begin so, in order."""
        with self.caller.database.read() as on:
            return name_settings(on, prefix)

    def forget(self, name: str) -> None:
        """Keep a setting no more."""
        self.caller.database.write(lambda on: forget_setting(on, name))
