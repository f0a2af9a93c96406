"""adjudge models: which models there are."""

from __future__ import annotations

from typing import Any

from adjudge.cli import options as o
from adjudge.cli.console import grid, page

NAME = "models"
EXAMPLE = "Example:  adjudge models --json"


def run(json: o.Json = False) -> None:
    """List the models, what each is, and its settings with their defaults."""
    from dataclasses import fields

    from adjudge.cli.writing import print_json
    from adjudge.models.registry import MODELS

    entries: list[dict[str, Any]] = [
        {
            "name": name,
            "class": kind.__name__,
            "about": (kind.__doc__ or "").strip().splitlines()[0],
            "settings": {entry.name: entry.default for entry in fields(kind)},
        }
        for name, kind in MODELS.items()
    ]
    if json:
        print_json(entries)
        return
    rows = [
        [
            str(entry["name"]),
            str(entry["about"]),
            ", ".join(f"{key}={value}" for key, value in entry["settings"].items()),
        ]
        for entry in entries
    ]
    page().print(
        grid("Models", [("name", "left"), ("what it is", "left"), ("settings", "left")], rows)
    )
