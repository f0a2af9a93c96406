"""Results as Markdown: what a person reads of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
BEGIN, END = "<!-- results -->", "<!-- end of results -->"


def markdown(result: dict[str, Any]) -> str:
    """All tables of a result, the machine last."""
    parts = []
    for name, rows in result["cases"].items():
        if rows:
            parts += [TABLES[name](rows), ""]
    return "\n".join([*parts, _colophon(result)])


def refresh(readme: Path, results: Path) -> None:
    """Put the newest result of every case into the README, between its two marks."""
    newest: dict[str, dict[str, Any]] = {}
    for path in sorted(results.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        if not result["quick"]:
            newest.update({name: result for name, rows in result["cases"].items() if rows})
    text = readme.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    middle = "\n\n".join(_section(newest, name) for name in TABLES if name in newest)
    readme.write_text(f"{before}{BEGIN}\n\n{middle}\n\n{END}{after}", encoding="utf-8")


def _section(newest: dict[str, dict[str, Any]], name: str) -> str:
    """One case's table, and where it comes from if the next table comes from elsewhere."""
    result = newest[name]
    table = TABLES[name](result["cases"][name])
    later = [case for case in list(TABLES)[list(TABLES).index(name) + 1 :] if case in newest]
    if later and newest[later[0]] is result:
        return table
    return f"{table}\n\n{_colophon(result)}"


def _table(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (header, ("---",) * len(header), *rows)]
    return "\n".join([f"### {title}", "", *lines])


def _megabytes(value: float | None) -> str:
    return "?" if value is None else f"{value / 1e6:,.0f} MB"


def _times(other: float, ours: float) -> str:
    return f"{other / ours:,.1f}" if other / ours < 10 else f"{other / ours:,.0f}"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:,.2f}"


def _dawid_skene(rows: Rows) -> str:
    lines = []
    ours: dict[str, Any] = {}
    for row in rows:
        if row["side"] == "adjudge":
            ours = row
            ratios = ("", "", "")
        else:
            share = "?" if not row["peak"] else f"{ours['peak'] / row['peak']:.2f}"
            ratios = (_times(row["cpu"], ours["cpu"]), _times(row["wall"], ours["wall"]), share)
        lines.append(
            (
                str(row["classes"]),
                row["side"],
                _seconds(row["cpu"]),
                _seconds(row["wall"]),
                _megabytes(row["peak"]),
                str(row["iterations"]),
                f"{row['accuracy']:.4f}",
                *ratios,
            )
        )
    header = ("classes", "", "CPU s", "wall s", "peak over the data", "iterations", "accuracy")
    more = ("adjudge is faster, CPU", "wall", "adjudge's share of the memory")
    title = f"Dawid-Skene, {_size(rows[0])}"
    colds = [f"{row['cold']:.1f} s ({row['classes']} classes)" for row in rows if "cold" in row]
    cold = f"\n\nFirst fit of all, everything still to be compiled: {', '.join(colds)}."
    return _table(title, (*header, *more), lines) + (cold if colds else "")


def _size(row: dict[str, Any]) -> str:
    return f"{row['judgments']:,} judgments ({row['items']:,} items, {row['judges']:,} judges)"


def _scale(rows: Rows) -> str:
    lines = []
    for row in rows:
        steps = row["judgments"] * row["iterations"]
        lines.append(
            (
                f"{row['judgments']:,}",
                str(row["classes"]),
                row["side"],
                str(row["iterations"]),
                _seconds(row["cpu"]),
                _seconds(row["wall"]),
                f"{1e9 * row['cpu'] / steps:.1f}",
                f"{1e9 * row['wall'] / steps:.1f}",
                _megabytes(row["peak"]),
                f"{row['accuracy']:.4f}",
            )
        )
    header = ("judgments", "classes", "", "iterations", "CPU s", "wall s")
    each = ("CPU ns a judgment an iteration", "wall ns", "peak over the data", "accuracy")
    return _table("Dawid-Skene alone, larger crowds", (*header, *each), lines)


def _reading(rows: Rows) -> str:
    lines = []
    for row in rows:
        other = next(line for line in rows if line["order"] == row["order"] and line is not row)
        ratios = [
            f"{_part(row, name) / _part(other, name):.2f}" for name in ("cpu", "user", "wall")
        ]
        lines.append(
            (
                row["order"],
                row["side"],
                _seconds(row["cpu"]),
                _seconds(row["system"]),
                _seconds(row["wall"]),
                _megabytes(row["peak"]),
                *(ratios if row["side"] == "adjudge" else ("", "", "")),
            )
        )
    header = ("rows are", "", "CPU s", "of it system", "wall s", "peak")
    ratios = ["ratio, CPU", "without system", "wall"]
    title = f"Reading a CSV file of {rows[0]['rows']:,} rows"
    return _table(title, (*header, *ratios), lines)


def _part(row: dict[str, Any], name: str) -> float:
    """A time of a row; the user's part of its CPU time is at least a microsecond."""
    return float(max(row["cpu"] - row["system"], 1e-6) if name == "user" else row[name])


def _accuracy(rows: Rows) -> str:
    sets = list(dict.fromkeys(row["set"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    cells = {(row["set"], row["model"]): row for row in rows}
    lines = []
    for model in models:
        found = [cells.get((name, model)) for name in sets]
        figures = [
            "" if row is None else f"{100 * row['accuracy']:.1f} ({row['cpu']:.2g} s)"
            for row in found
        ]
        lines.append((model, *figures))
    first = {row["set"]: row for row in reversed(rows)}
    header = [
        f"{name} ({first[name]['judgments']:,} judgments, {first[name]['gold']:,} gold)"
        for name in sets
    ]
    note = (
        "\n\nPer cent of gold items, unsupervised, default settings; ties count as they fall on "
        "average. In brackets the CPU time of one fit."
    )
    return _table("Accuracy on real crowds", ("", *header), lines) + note


def _colophon(result: dict[str, Any]) -> str:
    """When, where and with what."""
    machine = result["machine"]
    made_with = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    theirs = result["peers"]
    beside = ""
    if theirs is not None:
        beside = "; peers: " + ", ".join(f"{name} {version}" for name, version in theirs.items())
    commit = f", commit {result['commit']}" if result["commit"] else ""
    turns = f"least of {result['repeats']}" if result["repeats"] > 1 else "measured once"
    return (
        f"{result['date'][:10]}{commit}; {turns}; {machine['processor']}, {machine['cores']} "
        f"cores, {machine['memory_gb']:g} GB, {machine['system']}, load before "
        f"{machine['load_before']}; "
        f"{result['threads']} threads; {made_with}{beside}."
    )


TABLES = {
    "dawid-skene": _dawid_skene,
    "scale": _scale,
    "reading": _reading,
    "accuracy": _accuracy,
}
