"""Measurements as Markdown: what a person reads of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import model_tables

Lines = list[dict[str, Any]]
BEGIN, END = "<!-- results -->", "<!-- end of results -->"
FIRST = "adjudge, nothing compiled yet"
FLAT = 1.5  # times as long a judgment may take at the largest size as at the smallest

# Dawid-Skene on made judgments, ten an item, two classes, wall time on their machines, as the
# documentation of spark-crowd reports it under "Comparison with other packages"
# (https://enriquegrodrigo.github.io/spark-crowd/package/other.html).
PUBLISHED = (
    {"judgments": 10**7, "classes": 2, "side": "spark-crowd, one node (published)", "wall": 111.0},
    {"judgments": 10**8, "classes": 2, "side": "spark-crowd, one node (published)", "wall": 703.0},
    {"judgments": 10**8, "classes": 2, "side": "spark-crowd, 30 cores (published)", "wall": 426.0},
)


def markdown(lines: Lines) -> str:
    """All tables of some measurements, each with where it comes from."""
    parts = []
    for case, table in TABLES.items():
        chosen = [line for line in lines if line["case"] == case]
        if chosen:
            parts += [f"{table(chosen)}\n\n{colophon(chosen)}"]
    return "\n\n".join(parts)


def refresh(readme: Path, lines: Lines) -> None:
    """Put tables of the newest measurements into the README."""
    put(readme, markdown(lines))


def put(page: Path, made: str) -> None:
    """Put text that was made into a page, between its two marks."""
    text = page.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")


def changes(found: Lines) -> str:
    """What a run changed: calibrated CPU time next to the last measurement of the same."""
    rows = []
    for change in sorted(found, key=lambda change: -change["times"]):
        line, last = change["line"], change["last"]
        what = [f"{line[name]:,} {name}" for name in ("judgments", "classes") if line.get(name)]
        what += [str(line[name]) for name in ("set", "order") if line.get(name)]
        rows.append(
            (
                line["case"],
                ", ".join(what),
                line["side"],
                f"{last['cpu'] / last['calibration']:.3g}",
                f"{line['cpu'] / line['calibration']:.3g}",
                f"{change['times']:.2f}" + (" **worse**" if change["worse"] else ""),
            )
        )
    header = ("", "of", "side", f"{found[0]['last']['date'][:10]} or before", "now", "times")
    return _table(
        "Compared with the last measurements, CPU time over calibrating work", header, rows
    )


def _table(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (header, ("---",) * len(header), *rows)]
    return "\n".join([f"### {title}", "", *lines])


def _megabytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} MB"


def _times(other: float | None, ours: float | None) -> str:
    if not other or not ours:
        return ""
    return f"{other / ours:,.1f}" if other / ours < 10 else f"{other / ours:,.0f}"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if value < 1 else f"{value:,.2f}"


def _nanoseconds(line: dict[str, Any]) -> str:
    if not line.get("cpu") or not line.get("iterations"):
        return ""
    return f"{1e9 * line['cpu'] / line['judgments'] / line['iterations']:.1f}"


def _size(line: dict[str, Any]) -> tuple[Any, ...]:
    return (line["judgments"], line["classes"])


def _place(line: dict[str, Any]) -> tuple[bool, bool]:
    """Ours first, what was published last."""
    return not line["side"].startswith("adjudge"), "published" in line["side"]


def _dawid_skene(lines: Lines) -> str:
    colds = [line for line in lines if line["side"] == FIRST]
    lines = [line for line in lines if line["side"] != FIRST]
    sizes = sorted({_size(line) for line in lines})
    lines = [*lines, *(line for line in PUBLISHED if _size(line) in sizes)]
    rows = []
    for size in sizes:
        of_size = sorted((line for line in lines if _size(line) == size), key=_place)
        ours = {line["side"]: line for line in of_size}
        for line in of_size:
            other = ours.get("adjudge", {})
            if "published" in line["side"]:
                other = ours.get("adjudge, until converged", {})
            is_ours = line["side"].startswith("adjudge")
            rows.append(
                (
                    f"{size[0]:,}",
                    str(size[1]),
                    line["side"],
                    line.get("left_out") or str(line.get("iterations", "")),
                    _seconds(line.get("cpu")),
                    _seconds(line.get("wall")),
                    _nanoseconds(line),
                    _megabytes(line.get("peak")),
                    f"{line['accuracy']:.4f}" if "accuracy" in line else "",
                    "" if is_ours else _times(line.get("cpu"), other.get("cpu")),
                    "" if is_ours else _times(line.get("wall"), other.get("wall")),
                    "" if is_ours else _times(line.get("peak"), other.get("peak")),
                )
            )
    header = ("judgments", "classes", "", "iterations", "CPU s", "wall s")
    each = ("CPU ns a judgment an iteration", "peak over the data", "accuracy")
    more = ("times adjudge's CPU", "wall", "memory")
    text = _table("Dawid-Skene side by side", (*header, *each, *more), rows)
    if any("published" in line["side"] for line in lines):
        text += (
            "\n\nPublished figures are wall times of other machines, next to ours until converged."
        )
    if colds:
        notes = [f"{line['wall']:.1f} s ({line['classes']} classes)" for line in colds]
        text += f"\n\nFirst fit of all, everything still to be compiled: {', '.join(notes)}."
    return text


def _scale(lines: Lines) -> str:
    rows = []
    for line in sorted(
        lines, key=lambda line: (line["classes"], line["judgments"], line["judges"])
    ):
        of_classes = [other for other in lines if other["classes"] == line["classes"]]
        same = [other for other in of_classes if other["judges"] == line["judges"]]
        alone = line.get("iteration")
        rows.append(
            (
                str(line["classes"]),
                f"{line['judgments']:,}",
                f"{line['judges']:,}",
                _seconds(line["cpu"]),
                _seconds(line["wall"]),
                _nanoseconds(line),
                "" if alone is None else f"{1e9 * alone / line['judgments']:.1f}",
                *(
                    _more(line, min(others, key=lambda other: other["judgments"]))
                    for others in (of_classes, same)
                ),
                _megabytes(line["peak"]),
            )
        )
    header = ("classes", "judgments", "judges", "CPU s", "wall s")
    each = ("CPU ns a judgment an iteration", "an iteration alone", "times the smallest crowd")
    more = ("times the smallest with as many judges", "peak over the data")
    title = f"Dawid-Skene alone, {lines[0]['iterations']} iterations: is a judgment as cheap?"
    return (
        f"{_table(title, (*header, *each, *more), rows)}\n\nThe first figure is the entire fit "
        "over the iterations; an iteration alone leaves out what is done once, before and after "
        f"them. Ratios are of one run. Goal: at most {FLAT:g} times."
    )


def _more(line: dict[str, Any], base: dict[str, Any]) -> str:
    """How much longer an iteration takes, a judgment, alone if measured; nothing across runs."""
    if line["run"] != base["run"]:
        return ""
    name = "iteration" if "iteration" in line and "iteration" in base else "cpu"
    ratio = (line[name] / line["judgments"]) / (base[name] / base["judgments"])
    return f"{ratio:.2f}"


def _engines(lines: Lines) -> str:
    rows = []
    for line in sorted(lines, key=_size):
        same = [other for other in lines if _size(other) == _size(line)]
        base = next((other for other in same if other["side"] == "threads"), line)
        ratios = ("", "")
        if line is not base:
            ratios = tuple(f"{line[name] / base[name]:.2f}" for name in ("cpu", "wall"))
        rows.append(
            (
                f"{line['judgments']:,}",
                str(line["classes"]),
                line["side"],
                str(line["iterations"]),
                _seconds(line["cpu"]),
                _seconds(line["wall"]),
                _megabytes(line["peak"]),
                f"{line['accuracy']:.4f}",
                *ratios,
            )
        )
    header = ("judgments", "classes", "", "iterations", "CPU s", "wall s", "peak", "accuracy")
    text = _table(
        "Threads and a cluster on this machine, until converged",
        (*header, "times the CPU of threads", "wall"),
        rows,
    )
    return f"{text}\n\nGoal: at most 1.5 times of threads at 100,000,000 judgments, two classes."


def _reading(lines: Lines) -> str:
    rows = []
    for line in lines:
        other = next(
            (x for x in lines if x["order"] == line["order"] and x["side"] != line["side"]), line
        )
        ratios = [f"{_part(line, name) / _part(other, name):.2f}" for name in _PARTS]
        rows.append(
            (
                line["order"],
                line["side"],
                _seconds(line["cpu"]),
                _seconds(line["system"]),
                _seconds(line["wall"]),
                _megabytes(line["peak"]),
                *(ratios if line["side"] == "adjudge" else ("", "", "")),
            )
        )
    header = ("rows are", "", "CPU s", "of it system", "wall s", "peak")
    more = ("ratio, CPU", "without system", "wall")
    return _table(f"Reading a CSV file of {lines[0]['rows']:,} rows", (*header, *more), rows)


_PARTS = ("cpu", "user", "wall")


def _part(line: dict[str, Any], name: str) -> float:
    """A time of a line; the user's part of its CPU time is at least a microsecond."""
    return float(max(line["cpu"] - line["system"], 1e-6) if name == "user" else line[name])


def _table_of_ids(lines: Lines) -> str:
    rows = []
    for line in lines:
        alike = ("judgments", "classes", "order", "asked")
        ours = next(
            (x for x in lines if x["side"] == "adjudge" and all(x[k] == line[k] for k in alike)),
            line,
        )
        rows.append(
            (
                f"{line['judgments']:,}",
                str(line["classes"]),
                line["order"],
                f"to {line['asked']}",
                line["side"],
                _seconds(line["cpu"]),
                _seconds(line["wall"]),
                _megabytes(line["peak"]),
                "" if line is ours else f"{line['cpu'] / ours['cpu']:.3g}",
            )
        )
    header = ("judgments", "classes", "rows are", "", "", "CPU s", "wall s", "peak", "times ours")
    return _table("From a table of text ids", header, rows)


def _samplers(lines: Lines) -> str:
    ours = next((line for line in lines if line["side"] == "adjudge"), {})
    rows = []
    for line in lines:
        rate, other = line.get("effective_a_second"), ours.get("effective_a_second")
        rows.append(
            (
                line["side"],
                line.get("left_out") or f"{line['chains']} x ({line['warmup']} + {line['draws']})",
                _seconds(line.get("cpu")) + (" (scaled up)" if line.get("scaled") else ""),
                _megabytes(line.get("peak")),
                "" if rate is None else f"{rate:.3g}",
                "" if line is ours else _times(line.get("cpu"), ours.get("cpu")),
                "" if line is ours else _times(other, rate),
            )
        )
    header = ("", "chains x (warm-up + draws)", "CPU s", "peak memory")
    more = ("effective draws a CPU second", "times adjudge's CPU", "times fewer effective draws")
    title = f"Samplers, hierarchical relevance, {lines[0]['judgments']:,} judgments"
    note = "\n\nEffective draws of the slowest hyper-parameter; more in [samplers.md](samplers.md)."
    return _table(title, (*header, *more), rows) + note


def colophon(lines: Lines) -> str:
    """When, where and with what; a table whose lines come from several runs names them all."""
    notes = []
    for line in {line["run"]: line for line in lines}.values():
        machine = line["machine"]
        named = ", ".join(f"{name} {version}" for name, version in line["versions"].items())
        peers = line.get("peers")
        if peers:
            other = ", ".join(f"{name} {version}" for name, version in peers.items())
            named += f"; peers: {other}"
        commit = f", commit {line['commit']}" if line["commit"] else ""
        notes.append(
            f"{line['run'][:16].replace('T', ' ')}{commit}; least of {line.get('turns', 1)} at "
            f"most; {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:g} "
            f"GB, {machine['system']}, load before {machine['load_before']}; {line['threads']} "
            f"threads; {named}."
        )
    return "\n".join(notes)


def _pairs(lines: Lines) -> str:
    """Comparisons: CPU time and memory of every side, other ours."""
    rows = []
    sizes = sorted({(line["asked"], line["comparisons"]) for line in lines}, reverse=False)
    for asked, size in sizes:
        own = [line for line in lines if (line["asked"], line["comparisons"]) == (asked, size)]
        base = next((line for line in own if line["side"].startswith("adjudge")), {})
        for line in sorted(own, key=_place):
            notes = line.get("left_out", "")
            same = line["run"] == base.get("run") and line is not base
            rows.append(
                (
                    f"{size:,}, {asked}",
                    line["side"],
                    _seconds(line.get("cpu")) or notes,
                    _seconds(line.get("wall")),
                    _megabytes(line.get("peak")),
                    _times(line.get("cpu"), base.get("cpu")) if same else "",
                )
            )
    header = ("comparisons", "", "CPU s", "wall s", "peak over the data", "times ours, CPU")
    return _table("Pairs: strengths of 1,000 items, 100 judges", header, rows)


TABLES: dict[str, Callable[[Lines], str]] = {
    "dawid-skene": _dawid_skene,
    "scale": _scale,
    "engines": _engines,
    "reading": _reading,
    "table": _table_of_ids,
    "gold": model_tables.gold,
    "cost": model_tables.cost,
    "pairs": _pairs,
    "samplers": _samplers,
}
