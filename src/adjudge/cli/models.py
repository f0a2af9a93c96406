"""adjudge models: which models there are."""

from __future__ import annotations

from typing import Any

from adjudge.cli import _options as o
from adjudge.cli import command
from adjudge.cli._results import Column, page, print_json, show_rows


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
    columns: tuple[Column, ...] = (
        "name as model",
        "about:s as what it is",
        ("settings", lambda row: ", ".join(f"{k}={v}" for k, v in row["settings"].items())),
    )
    page().print(show_rows("Models", entries, *columns))
