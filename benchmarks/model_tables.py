"""Tables of models: what gold adds, what a fit costs."""

from __future__ import annotations

from statistics import mean
from typing import Any

from accuracy import VOTE

from adjudge.models.registry import DEFAULT

Line = dict[str, Any]
Lines = list[Line]
SKENE = "dawid-skene"
KINDS = {"crowds": "people", "panels": "LLM judges", "mixed": "people and LLM judges"}
PEERS = ("crowd-kit", "cleanlab")


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Render a table in Markdown."""
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in (header, ("---",) * len(header), *rows)
    )


def is_peer(side: str) -> bool:
    """Whether a side is another library's."""
    return side.startswith(PEERS)


def sides_of(lines: Lines) -> list[str]:
    """List the sides: the vote, the default, other models, then peers."""

    def place(side: str) -> tuple[bool, bool, bool]:
        return is_peer(side), side != VOTE, not side.startswith(DEFAULT)

    return sorted(dict.fromkeys(line["side"] for line in lines), key=place)


def gold(lines: Lines) -> str:
    """What gold labels add, one row per side, kind of set and number of labels."""
    known = [line for line in lines if "accuracy_alone" in line and line["kind"] in KINDS]
    groups = sorted({(line["kind"], line["gold_labels"]) for line in known})
    rows = []
    for side in sides_of(known):
        for kind, labels in groups:
            key = (side, kind, labels)
            own = [c for c in known if (c["side"], c["kind"], c["gold_labels"]) == key]
            if not own:
                continue
            figures = []
            for name in ("accuracy", "log_loss"):
                before, after = (mean(line[n] for line in own) for n in (f"{name}_alone", name))
                figures += [f"{before:.3f}", f"{after:.3f}", f"{after - before:+.3f}"]
            harmed = sum(line["log_loss"] > line["log_loss_alone"] + 5e-4 for line in own)
            rows.append((side, KINDS[kind], str(labels), str(len(own)), *figures, str(harmed)))
    header = ("", "judges are", "gold labels", "sets", "accuracy without", "with", "change")
    more = ("log loss without", "with", "change", "sets where it is worse on average")
    draws = max((line.get("draws", 0) for line in known), default=0)
    return (
        "### A little gold\n\n"
        + table((*header, *more), rows)
        + f"\n\nMeans over {draws} random draws of gold labels, scored on the other items, with "
        "and without gold; sets with at least twice as much gold as is drawn."
    )


def cost(lines: Lines) -> str:
    """CPU time and memory until convergence, relative to Dawid-Skene."""

    def what(line: Line) -> tuple[Any, ...]:
        return (line.get("set") or "", line.get("judgments") or 0, line.get("classes") or 0)

    rows = []
    for size in sorted({what(line) for line in lines}):
        of_size = [line for line in lines if what(line) == size]
        base = next((line for line in of_size if line["side"] == SKENE), {})
        title = size[0] or f"{size[1]:,} judgments, {size[2]} classes"
        for line in of_size:
            same = line["run"] == base.get("run")
            rows.append(
                (
                    title,
                    line["side"],
                    str(line["iterations"] or ""),
                    f"{line['cpu']:.3f}",
                    f"{line['wall']:.3f}",
                    "" if line["peak"] is None else f"{line['peak'] / 1e6:,.0f} MB",
                    _times(line["cpu"], base.get("cpu")) if same else "",
                    _times(line["peak"], base.get("peak")) if same else "",
                    f"{line['accuracy']:.3f}",
                )
            )
    header = ("", "", "iterations", "CPU s", "wall s", "peak over the data")
    more = ("times Dawid-Skene's CPU", "memory", "accuracy")
    return (
        "### What a fit costs, until converged\n\n"
        + table((*header, *more), rows)
        + "\n\nDefault settings; what is compiled is loaded before."
    )


def _times(value: float | None, base: float | None) -> str:
    return f"{value / base:.1f}" if value is not None and base else ""
