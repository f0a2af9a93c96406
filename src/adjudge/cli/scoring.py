"""Scores as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjudge.cli.console import grid
from adjudge.cli.writing import interval, number


def scores_grid(
    title: str, table: Any, level: float, meanings: Mapping[str, str] | None = None
) -> Any:
    """A table of scores for people: what is undefined says why, and the rest, if asked, what."""
    from adjudge.evaluation.scores import Score

    folds = "mean" in table.column_names
    rows = table.to_pylist()
    for row in rows:
        for column in ("value", "low", "high", "mean"):
            if row.get(column) is not None:
                row[column] = Score(name=row["score"], value=row[column]).shown.value
    words = [row["reason"] or (meanings or {}).get(row["score"], "") for row in rows]
    cells = [
        [
            row["score"].replace("_", " "),
            number(row["value"]),
            interval(row["low"], row["high"]),
            *([number(row["mean"]), number(row["sd"])] if folds else []),
            *([word] if any(words) else []),
        ]
        for row, word in zip(rows, words, strict=True)
    ]
    columns = [("score", "left"), ("value", "right"), (f"{level:.0%} interval", "right")]
    if folds:
        columns += [("mean of folds", "right"), ("sd", "right")]
    if any(words):
        columns.append(("", "left"))
    return grid(title, columns, cells)
