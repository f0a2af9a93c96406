"""adjudge models: which models there are."""

from __future__ import annotations

from typing import Any

from adjudge.cli import _options as o
from adjudge.cli import command
from adjudge.cli._results import grid, page, print_json


@command("adjudge models --json")
def run(*, printing: o.Printing) -> None:
    """List the models and their settings.

    Commands that fit a model take any of its settings by --set NAME=VALUE.
    """
    from dataclasses import fields

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
    if printing.json:
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
    columns = ["model", "what it is", "settings"]
    page().print(grid("Models", columns, rows))
