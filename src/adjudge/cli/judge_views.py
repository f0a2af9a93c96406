"""The pages of 'adjudge judges': the judges, their mistakes, who changes, who copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjudge.cli.console import grid, name
from adjudge.cli.writing import interval, number
from adjudge.data.source import count_of as how_many

if TYPE_CHECKING:
    from adjudge.evaluation.diagnosis.diagnose import Diagnosis
    from adjudge.evaluation.diagnosis.voices import FamilyVoices

_HEADINGS = {"sensitivity": "sens.", "specificity": "spec."}  # so that 80 columns hold them
_MINUTE = "%Y-%m-%d %H:%M"
_Column = tuple[str, str, Callable[[dict[str, Any]], str]]


def busiest(found: Diagnosis, count: int, voices: FamilyVoices) -> Any:
    """The judges with most judgments, whom to look at and why, and who speaks as one."""
    from rich.console import Group
    from rich.text import Text

    spoken = [Text(sentence) for sentence in voices.sentences]

    table = found.judges.sort_by([("judgments", "descending")])
    rows = table.slice(0, count).to_pylist()
    rates = [key for key in ("sensitivity", "specificity") if key in table.column_names]
    key = "gold_accuracy"
    gold = key in table.column_names and table[key].null_count < len(table)
    columns: list[_Column] = [
        ("judge", "left", lambda row: name(row["judge"])),
        ("n" if rates and gold else "judgments", "right", lambda row: f"{row['judgments']:,}"),
        ("accuracy", "right", lambda row: number(row["accuracy"])),
        ("90% interval", "right", lambda row: interval(row["accuracy_low"], row["accuracy_high"])),
        ("bits", "right", lambda row: number(row["bits"])),
    ]
    known = [key for key in rates or ["bias"] if table[key].null_count < len(table)]
    columns += [(_HEADINGS.get(key, key), "right", _two(key)) for key in known]
    if gold:
        columns.append(("gold", "right", _two("gold_accuracy")))
    columns.append(("advice", "left", lambda row: str(row["advice"])))
    first = _page(f"Judges with most judgments{_more(table, rows)}", columns, rows)
    told = [row for row in rows if row["advice"] != "keep"]
    tally = Counter(found.judges["advice"].to_pylist())
    counts = ", ".join(f"{word} {tally[word]:,}" for word in ("keep", "train", "drop", "watch"))
    if not told:
        return Group(first, *spoken, f"Of all judges: {counts}")
    why: list[_Column] = [
        ("judge", "left", lambda row: name(row["judge"])),
        ("advice", "left", lambda row: str(row["advice"])),
        ("why", "left", lambda row: str(row["why"])),
    ]
    return Group(first, *spoken, _page(f"What to do (of all judges: {counts})", why, told))


def mistakes(table: Any, count: int) -> Any:
    """The commonest mistakes of all judges, by how often each was made."""
    table = table.sort_by([("judgments", "descending")])
    columns: list[_Column] = [
        ("judge", "left", lambda row: name(row["judge"])),
        ("rates", "left", lambda row: name(row["truth"])),
        ("as", "left", lambda row: name(row["label"])),
        ("rate", "right", lambda row: f"{row['rate']:.0%}"),
        ("90% interval", "right", lambda row: interval(row["low"], row["high"])),
        ("judgments", "right", lambda row: f"{row['judgments']:,.1f}"),
    ]
    return _first("Mistakes, the commonest first", columns, table, count)


def common(table: Any, count: int) -> Any:
    """The mistakes of all judges together: what the guidelines should speak of."""
    columns: list[_Column] = [
        ("rated", "left", lambda row: name(row["truth"])),
        ("as", "left", lambda row: name(row["label"])),
        ("rate", "right", lambda row: f"{row['rate']:.0%}"),
        ("judgments", "right", lambda row: f"{row['judgments']:,.1f}"),
        ("commonest of", "right", lambda row: how_many(row["judges"], "judge")),
    ]
    return _first("Mistakes of all judges together", columns, table, count)


def drift(table: Any, count: int) -> Any:
    """Who changed, the surest first."""
    columns: list[_Column] = [
        ("judge", "left", lambda row: name(row["judge"])),
        ("n", "right", lambda row: f"{row['judgments']:,}"),
        ("early", "right", _two("accuracy_early")),
        ("late", "right", _two("accuracy_late")),
        ("p adj.", "right", lambda row: number(row["p_adjusted"])),
        ("what", "left", lambda row: str(row["sentence"])),
    ]
    return _first("Who changed over time, the surest first", columns, table, count)


def history(table: Any, count: int) -> Any:
    """The work of each judge, stretch by stretch."""
    columns: list[_Column] = [
        ("judge", "left", lambda row: name(row["judge"])),
        ("block", "right", lambda row: f"{row['block']:,}"),
        ("from", "left", lambda row: f"{row['begin']:{_MINUTE}}"),
        ("n", "right", lambda row: f"{row['judgments']:,}"),
        ("accuracy", "right", _two("accuracy")),
        ("90% interval", "right", lambda row: interval(row["low"], row["high"])),
    ]
    return _first("The work of each judge in its order", columns, table, count)


def pairs(table: Any, count: int) -> Any:
    """Pairs of judges who agree more than the model explains."""
    if not len(table):
        return "No two judges agree more than the model explains."
    columns: list[_Column] = [
        ("judge", "left", lambda row: name(row["judge_a"])),
        ("and judge", "left", lambda row: name(row["judge_b"])),
        ("items", "right", lambda row: f"{row['items']:,}"),
        ("agree", "right", lambda row: f"{row['agreements']:,}"),
        ("expected", "right", lambda row: f"{row['expected']:,.1f}"),
        ("copied", "right", lambda row: f"{row['copied']:.0%}"),
        ("p adj.", "right", lambda row: f"{row['p_adjusted']:.1g}"),
    ]
    return _first("Judges who agree more than explained", columns, table, count)


def families(voices: FamilyVoices, table: Any, count: int) -> Any:
    """Who has one voice between them, and who may be one source."""
    from rich.console import Group
    from rich.text import Text

    told = [Text(sentence) for sentence in voices.sentences]
    if not len(table):
        return Group("No judges are known to be one source.", *told)
    columns: list[_Column] = [
        ("kind", "left", lambda row: str(row["kind"])),
        ("judges", "left", lambda row: name(row["judges"])),
        ("excess", "right", _two("excess")),
        ("items", "right", lambda row: "-" if row["common"] is None else f"{row['common']:,}"),
    ]
    return Group(_first("Judges who are one source, or may be", columns, table, count), *told)


def _first(title: str, columns: list[_Column], table: Any, count: int) -> Any:
    rows = table.slice(0, count).to_pylist()
    return _page(f"{title}{_more(table, rows)}", columns, rows)


def _page(title: str, columns: list[_Column], rows: list[dict[str, Any]]) -> Any:
    heads = [(heading, side) for heading, side, _ in columns]
    return grid(title, heads, [[cell(row) for _, _, cell in columns] for row in rows])


def _more(table: Any, rows: list[Any]) -> str:
    hidden = len(table) - len(rows)
    return f" ({hidden:,} more: --top 0 shows all)" if hidden else ""


def _two(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: number(row[key], 2)
