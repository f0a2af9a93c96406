"""Scores as people read them."""

from __future__ import annotations

from typing import Any

from adjudge.cli.console import grid
from adjudge.cli.writing import interval, number


def scores_grid(
    title: str, table: Any, level: float, meanings: dict[str, str] | None = None
) -> Any:
    """A table of scores for people: what is undefined says why."""
    rows = []
    for row in table.to_pylist():
        why = row["reason"] or (meanings or {}).get(row["score"], "")
        rows.append(
            [
                row["score"].replace("_", " "),
                number(row["value"]),
                interval(row["low"], row["high"]),
                why,
            ]
        )
    columns = [("score", "left"), ("value", "right"), (f"{level:.0%} interval", "right")]
    return grid(title, [*columns, ("", "left")], rows)
