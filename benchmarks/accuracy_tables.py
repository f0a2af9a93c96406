"""Tables of how right and how honest: means over sets of a kind, set by set, copies, gold, cost."""

from __future__ import annotations

from statistics import mean
from typing import Any

from adjudge.models.registry import DEFAULT

Line = dict[str, Any]
Lines = list[Line]
VOTE = "vote share (+.5)"
SKENE = "dawid-skene"
PROTOTYPE = "prototype"
TITLES = {
    "crowd": "Real crowds",
    "panel": "Panels of language models",
    "made": "Made crowds",
}
PEERS = ("crowd-kit", "cleanlab")


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in (header, ("---",) * len(header), *rows)
    )


def is_peer(side: str) -> bool:
    """Whether a side is another library's."""
    return side.startswith(PEERS)


def sides_of(lines: Lines) -> list[str]:
    """The vote, the default, other sides in the order in which they were measured, peers last."""

    def place(side: str) -> tuple[bool, bool, bool]:
        return is_peer(side), side != VOTE, not side.startswith(DEFAULT)

    return sorted(dict.fromkeys(line["side"] for line in lines), key=place)


def by_set(lines: Lines, side: str) -> dict[str, Line]:
    """A side's lines that have figures, by set."""
    return {line["set"]: line for line in lines if line["side"] == side and "accuracy" in line}


def accuracy(lines: Lines) -> str:
    """The means over each kind of set."""
    parts = ["### Accuracy and honesty"]
    for kind, title in TITLES.items():
        chosen = [line for line in lines if line["kind"] == kind]
        if chosen:
            sets = len({line["set"] for line in chosen})
            parts += [f"{title}, means over {sets} sets:", means(chosen)]
    parts.append(f"{NOTE} Set by set: [docs/models/accuracy.md](../docs/models/accuracy.md).")
    return "\n\n".join(parts)


NOTE = (
    "Unsupervised, default settings; rows that repeat (item, judge, label) count once. Accuracy "
    "has ties in expectation; log loss is in nats, probabilities clipped at 10⁻⁶; the calibration "
    "error is that of 10 bins with its bias corrected ([scores](../docs/scores.md)); *sure* is the "
    "share of labels at p > .99, beside it how many of them are right. The vote is its share with "
    "half a judgment added to each label; *most lost* is the accuracy lost on the worst set. Where "
    "a side has not all sets, compare its mean gain over the vote, which is on the same sets. CPU "
    "seconds are of all its fits."
)


def means(lines: Lines) -> str:
    """One row a side: figures averaged over sets."""
    sets = {line["set"] for line in lines}
    vote, skene = by_set(lines, VOTE), by_set(lines, SKENE)
    rows = []
    for side in sides_of(lines):
        own = by_set(lines, side)
        if not own:
            continue
        gains = [line["accuracy"] - vote[name]["accuracy"] for name, line in own.items()]
        rows.append(
            (
                side,
                str(len(own)) if len(own) == len(sets) else f"{len(own)} of {len(sets)}",
                _share(mean(line["accuracy"] for line in own.values())),
                *(_mean_of(own, name) for name in ("log_loss", "brier", "ece")),
                *_sure(own),
                f"{mean(gains):+.3f}",
                _lost(own, vote),
                _lost(own, skene),
                f"{sum(line.get('cpu') or 0.0 for line in own.values()):.2f}",
            )
        )
    header = ("", "sets", "accuracy", "log loss", "Brier", "calibration error", "sure", "right")
    more = ("gain over the vote", "most lost to the vote", "to Dawid-Skene", "CPU s")
    return table((*header, *more), rows)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _mean_of(own: dict[str, Line], name: str) -> str:
    """The mean of a figure, if the side gives probabilities."""
    values = [line[name] for line in own.values() if name in line]
    return _share(mean(values)) if len(values) == len(own) else "labels only"


def _sure(own: dict[str, Line]) -> tuple[str, str]:
    """The mean share of labels at p > .99, and the share of all those that are right."""
    if any("sure" not in line for line in own.values()):
        return "", ""
    sure = {name: line["sure"] * line["gold"] for name, line in own.items()}
    right = sum(sure[name] * (line["sure_accuracy"] or 0.0) for name, line in own.items())
    share = mean(line["sure"] for line in own.values())
    return f"{share:.0%}", f"{right / sum(sure.values()):.0%}" if sum(sure.values()) else ""


def _lost(own: dict[str, Line], other: dict[str, Line]) -> str:
    """The most accuracy lost to another on a set, and which set it is."""
    losses = {
        name: other[name]["accuracy"] - line["accuracy"]
        for name, line in own.items()
        if name in other
    }
    worst = max(losses, key=lambda name: losses[name], default=None)
    return "" if worst is None or losses[worst] < 5e-4 else f"{losses[worst]:.3f} ({worst})"


def sets_table(lines: Lines, sides: list[str]) -> str:
    """Accuracy / log loss of some sides, one row a set; the best accuracy is bold."""
    cells = {(line["set"], line["side"]): line for line in lines}
    rows = []
    for name in dict.fromkeys(line["set"] for line in lines):
        found = [cells.get((name, side), {}) for side in sides]
        best = max((line["accuracy"] for line in found if "accuracy" in line), default=0.0)
        first = next(line for line in lines if line["set"] == name)
        about = f"{name} ({first['judgments']:,}; {first['gold']:,})"
        rows.append((about, *(_cell(line, best) for line in found)))
    return table(("set (judgments; gold)", *sides), rows)


def _cell(line: Line, best: float) -> str:
    if "accuracy" not in line:
        return "-"
    mark = "**" if line["accuracy"] >= best - 5e-4 else ""
    loss = f" / {line['log_loss']:.2f}" if "log_loss" in line else ""
    return f"{mark}{line['accuracy']:.3f}{mark}{loss}"


def copies(lines: Lines) -> str:
    """How far accuracy moves when a judge is copied, one row a side, a column a copying."""
    known = [line for line in lines if "accuracy_alone" in line]
    columns = list(dict.fromkeys((c["set"], c["copied"], c["copies"]) for c in known))
    cells = {(c["set"], c["copied"], c["copies"], c["side"]): c for c in known}
    rows = []
    for side in sides_of(known):
        moved: list[float | None] = []
        for column in columns:
            line = cells.get((*column, side))
            moved.append(None if line is None else line["accuracy"] - line["accuracy_alone"])
        worst = min(value for value in moved if value is not None)
        rows.append(
            (side, f"{worst:+.3f}", *("-" if value is None else f"{value:+.3f}" for value in moved))
        )
    header = tuple(f"{name}, {judge} x{number + 1}" for name, judge, number in columns)
    return (
        "### Exact copies of a judge\n\n"
        + table(("", "worst", *header), rows)
        + "\n\nAccuracy with copies less accuracy without; x2 is one copy. The worst and the "
        "median judge are so by gold, of those with at least 5% of the items. Wanted of the "
        "default: within .01."
    )


def thinned(lines: Lines) -> str:
    """Means on what is left of the sets, one row a side, by kind of set."""
    known = [line for line in lines if "accuracy" in line]
    columns = list(dict.fromkeys((line["kind"], line["left"]) for line in known))
    rows = []
    for side in sides_of(known):
        cells = []
        for column in columns:
            own = [c for c in known if (c["side"], c["kind"], c["left"]) == (side, *column)]
            means = [mean(line[name] for line in own) for name in ("accuracy", "log_loss")]
            cells.append(" / ".join(_share(value) for value in means))
        rows.append((side, *cells))
    header = tuple(f"{TITLES[kind]}, {left}" for kind, left in columns)
    draws = max(line.get("draws", 0) for line in known)
    return (
        "### Where there is less\n\n"
        + table(("", *header), rows)
        + f"\n\nAccuracy / log loss, means over the sets and {draws} draws, of what is left of "
        "each set; items that keep no judgment are not scored."
    )


def gold(lines: Lines) -> str:
    """What gold labels bring, one row a side, by kind of set and number of labels."""
    known = [line for line in lines if "accuracy_alone" in line]
    groups = sorted({(line["kind"], line["gold_labels"]) for line in known})
    rows = []
    for side in sides_of(known):
        for kind, labels in groups:
            own = [
                line
                for line in known
                if (line["side"], line["kind"], line["gold_labels"]) == (side, kind, labels)
            ]
            if not own:
                continue
            figures = []
            for name in ("accuracy", "log_loss"):
                before, after = (mean(line[n] for line in own) for n in (f"{name}_alone", name))
                figures += [_share(before), _share(after), f"{after - before:+.3f}"]
            harmed = sum(line["log_loss"] > line["log_loss_alone"] + 5e-4 for line in own)
            rows.append((side, TITLES[kind], str(labels), str(len(own)), *figures, str(harmed)))
    header = ("", "sets are", "gold labels", "sets", "accuracy without", "with", "change")
    more = ("log loss without", "with", "change", "sets where it is worse on average")
    draws = max(line.get("draws", 0) for line in known)
    return (
        "### A little gold\n\n"
        + table((*header, *more), rows)
        + f"\n\nMeans over {draws} draws of gold labels at random, scored on the items not drawn, "
        "with and without gold alike; sets with at least twice as much gold as is drawn."
    )


def cost(lines: Lines) -> str:
    """CPU time and memory until converged, beside Dawid-Skene."""

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
                    _share(line["accuracy"]),
                )
            )
    header = ("", "", "iterations", "CPU s", "wall s", "peak over the data")
    more = ("times Dawid-Skene's CPU", "memory", "accuracy")
    return (
        "### What a fit costs, until converged\n\n"
        + table((*header, *more), rows)
        + "\n\nDefault settings; what is compiled is loaded before. Wanted of the default: at most "
        "12 times Dawid-Skene's CPU and twice its memory, 10,000,000 judgments under 60 s, "
        "llmjudge under .5 s."
    )


def _times(value: float | None, base: float | None) -> str:
    return f"{value / base:.1f}" if value is not None and base else ""
