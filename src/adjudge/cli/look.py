"""adjudge look: what a file is, how it would be read, and what to run next."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import argument, command
from adjudge.cli._console import be_quiet, labels_of
from adjudge.cli._endings import advise_with_flags
from adjudge.cli._reading import place_of, read_content, type_options
from adjudge.cli._results import grid, page, print_json, shorten

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.scale import Scale

_ROWS = 5  # first rows that are shown
_CELL = 20  # characters of a cell of these


@command(
    "adjudge look export.json", "adjudge look ratings.csv --label stars --judge reviewer --json"
)
def run(
    files: list[str] = argument(
        "FILE...", "Files, a folder, a pattern or an address.", required=True
    ),
    *,
    reading: o.NumberReading,
    printing: o.Printing,
) -> None:
    """Show what a file holds: kind, columns, counts, scale and oddities.

    The command fits and writes nothing. It leaves out and lists invalid rows, which other commands
    would refuse. The last line is the command to run next. A name in capitals, such as JUDGMENTS,
    is a file that this command needs too.
    """
    from adjudge.data.formats import named

    be_quiet(True)  # the page shows what readers remark
    content = read_content(files, replace(reading, skip_bad_rows=True))
    reading = replace(reading, skip_bad_rows=bool(content.bad))
    manner = type_options(reading)
    about = _about(content, files, manner)
    if printing.json:
        print_json(about)
        _check_bad(content)
        return
    kind = content.format
    title = named(kind).title if kind != "plain" else "plain tables"
    title = re.sub(", (comma|tab) separated", "", title)
    rows = [[what, f"{about[what]:,}"] for what in _COUNTS if about.get(what)]
    if content.judgments is not None:
        rows.append(["scale", _write_scale(content.judgments.scale)])
    rows += [[f"column of {role}", shorten(column)] for role, column in about["columns"].items()]
    screen = page()
    screen.print(f"{place_of(files)}: {title} ({kind})", markup=False)
    screen.print(grid("Contents", ["what", ""], rows))
    if about["first"]:
        screen.print(_show_first(about["first"], screen.width))
    for note in about["notes"]:
        screen.print(f"- {note}", markup=False)
    screen.print(f"Next: {about['next']}", markup=False, soft_wrap=True)
    _check_bad(content)


def _check_bad(content: Content) -> None:
    """End with exit code 1 where more rows are bad than good."""
    held = (content.judgments, content.comparisons, content.gold, content.labels, content.run)
    if len(content.bad) > max(len(part) for part in held if part is not None):
        raise SystemExit(1)


def _show_first(rows: list[dict[str, Any]], width: int) -> Any:
    """Return a table of the first rows, with as many columns as fit on the screen."""
    heads: list[str] = []
    cells: list[list[str]] = [[] for _ in rows]
    used = 0
    for head in rows[0]:
        column = [shorten(_write_value(row[head]), _CELL) for row in rows]
        used += max(map(len, [head, *column])) + 2
        if used > width and heads:
            break
        heads.append(head)
        for row, cell in zip(cells, column, strict=True):
            row.append(cell)
    hidden = len(rows[0]) - len(heads)
    return grid("First rows" + (f" ({hidden} more columns)" if hidden else ""), heads, cells)


def _write_scale(scale: Scale) -> str:
    """Return the labels, or the range of numbers that are too many for classes."""
    if not scale.has_many_grades:
        return labels_of(scale)
    return f"{len(scale.labels):,} numbers from {scale.labels[0]} to {scale.labels[-1]}"


def _write_value(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


_COUNTS = (
    *("judgments", "comparisons", "items", "judged_items", "unjudged_items", "judges", "topics"),
    *("labels", "questions", "gold", "run", "bad_rows"),
)


def _about(content: Content, files: list[str], manner: list[str]) -> dict[str, Any]:
    """What there is to know of a file, as data."""
    judgments, gold = content.judgments, content.gold
    about: dict[str, Any] = {
        "kind": content.format,
        "judgments": 0,
        "items": 0,
        "judges": 0,
        "labels": 0,
        "topics": 0,
        "gold": 0 if gold is None else len(gold),
        "run": 0 if content.run is None else len(content.run),
        "bad_rows": len(content.bad),
        "scale": [],
        "ordinal": False,
    }
    if judgments is not None:
        about |= _of_judgments(content)
    elif content.comparisons is not None:
        compared = content.comparisons
        about |= {
            "comparisons": len(compared),
            "items": compared.item_count,
            "judges": compared.judge_count,
            "topics": compared.topic_count,
            "outcomes": {word: n for word, n in compared.outcome_counts.items() if n},
        }
    elif content.labels is not None:
        about |= _of_labels(content)
    elif gold is not None:
        topics = 0 if gold.topics is None else len(set(gold.topics.to_pylist()))
        about |= {"items": len(gold), "topics": topics, "labels": len(gold.values)}
        about |= {"scale": list(gold.values)}
        if content.format in _GRADES:  # each grade is a judgment of whoever made the file
            about |= {"judgments": len(gold), "judges": 1}
    elif content.run is not None:
        import pyarrow.compute as pc

        about |= {
            "items": len(content.run),
            "topics": pc.count_distinct(content.run["topic"]).as_py(),
        }
    return about | {
        "columns": content.columns,
        "first": _first(content),
        "notes": [
            *map(advise_with_flags, content.notes),
            *(f"{bad.place}: {bad.problem}" for bad in content.bad[:10]),
        ],
        "next": _next(content, files, manner),
    }


_GRADES = ("qrels", "beir", "opensearch", "quepid-case", "quepid-case-json", "umbrela")


def _of_judgments(content: Content) -> dict[str, Any]:
    """The counts of judgments; of a question with options, those of the question."""
    judgments = content.judgments
    if judgments is None:
        return {}
    each = max(len(content.options), 1)
    judged = int((judgments.counts_per_item > 0).sum())
    scale = list(content.options) if content.options else list(judgments.scale.labels)
    return {
        "judgments": len(judgments) // each,
        "items": judgments.item_count // each,
        "judged_items": judged // each,
        "unjudged_items": (judgments.item_count - judged) // each,
        "judges": judgments.judge_count,
        "labels": len(scale),
        "topics": judgments.topic_count,
        "questions": len(content.options),
        "scale": scale,
        "ordinal": judgments.scale.ordinal and not content.options,
    }


def _of_labels(content: Content) -> dict[str, Any]:
    """The counts of a table of labels that a consensus was written to."""
    labels, scale = content.labels, content.scale
    known = [] if scale is None else list(scale.truths)
    ordinal = scale is not None and scale.ordinal
    return {"items": len(labels), "labels": len(known), "scale": known, "ordinal": ordinal}


def _first(content: Content) -> list[dict[str, Any]]:
    """The first rows, as they were understood."""
    held = (content.judgments, content.comparisons, content.labels, content.gold, content.run)
    first: Any = next((part for part in held if part is not None), None)
    if first is None:
        return []
    table = first.to_table() if hasattr(first, "to_table") else first
    kept = [name for name in table.column_names if name not in ("line", "honeypot", "reason")]
    rows: list[dict[str, Any]] = table.select(kept).slice(0, _ROWS).to_pylist()
    return rows


def _next(content: Content, files: list[str], manner: list[str]) -> str:
    """The command that goes on from here; other files that it needs are in capitals."""
    given = shlex.join([*files, *manner])
    if content.judgments is not None:
        return f"adjudge consensus {given} -o labels.csv"
    if content.comparisons is not None:
        return f"adjudge rank-pairs {given} -o ranking.csv"
    if content.labels is not None:
        return f"adjudge evaluate {given} --gold GOLD"
    if content.gold is not None:
        return f"adjudge consensus JUDGMENTS --gold {given} -o labels.csv"
    if content.run is not None:
        return f"adjudge rank JUDGMENTS --runs {given}"
    return f"adjudge convert {given} -o table.csv"
