"""What was measured, kept for ever: one line a measurement, a file a case, newest last.

A line has everything in it that it takes to understand it: when, which commit, what kind of machine
(and nothing that names it), the time of the calibrating work in the same run, and the figures. Runs
are compared by their ratios to that work.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Line = dict[str, Any]
# What a line is of.
WHAT = ("case", "judgments", "judges", "classes", "set", "order", "gold_labels", "comparisons")
WHAT += ("asked", "side")
CASES = ("dawid-skene", "scale", "engines", "reading", "accuracy", "gold", "cost", "pairs")
CASES += ("samplers",)
WORSE = 1.25  # times as long, in calibrated CPU time, is a regression
SHORT = 0.01  # CPU seconds below which a clock says nothing


def key_of(line: Line) -> tuple[Any, ...]:
    """What a line is of: the same in every run that measures it."""
    return tuple(line.get(name) for name in WHAT)


def append(folder: Path, lines: list[Line]) -> None:
    """Add lines to the files of their cases."""
    folder.mkdir(parents=True, exist_ok=True)
    for line in lines:
        with (folder / f"{line['case']}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def lines_in(folder: Path) -> Iterator[Line]:
    """All lines, case by case, oldest first."""
    for case in CASES:
        path = folder / f"{case}.jsonl"
        if path.is_file():
            for text in path.read_text(encoding="utf-8").splitlines():
                yield json.loads(text)


def newest(folder: Path) -> dict[tuple[Any, ...], Line]:
    """The newest line of everything that was ever measured, in the order of first measuring."""
    return {key_of(line): line for line in lines_in(folder)}


def compared(before: dict[tuple[Any, ...], Line], now: list[Line]) -> list[Line]:
    """Each measurement of ours next to the one before it, by calibrated CPU time.

    ``times`` above 1 is slower than before. What was never measured, is no measurement, or was
    measured without calibrating, has nothing to be compared with.
    """
    found = []
    for line in now:
        last = before.get(key_of(line))
        comparable = last is not None and all(
            part.get("calibration") and part.get("cpu") for part in (line, last)
        )
        if last is None or not comparable or max(line["cpu"], last["cpu"]) < SHORT:
            continue
        times = (line["cpu"] / line["calibration"]) / (last["cpu"] / last["calibration"])
        fallen = (last.get("accuracy") or 0) - (line.get("accuracy") or 0)
        worse = times > WORSE or fallen > 0.001
        found.append({"line": line, "last": last, "times": times, "worse": worse})
    return found
