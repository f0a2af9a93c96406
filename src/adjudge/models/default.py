"""The model that runs when nobody names one: its registered name and settings."""

from __future__ import annotations

DEFAULT = "item-types"
SETTINGS: dict[str, object] = {}
