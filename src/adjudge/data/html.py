"""Judgments, gold and consensus as a notebook shows them: counts, a small chart, the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from adjudge.data.source import count_of

_ROWS = 5  # of a table
_BARS = 12  # labels that the chart shows


def show(
    title: str,
    facts: str,
    shares: Sequence[tuple[str, float]],
    table: Any,
    rows: int,
    notes: Sequence[str] = (),
) -> str:
    """A box with a heading, one line of facts, a bar for each share, the first rows, remarks."""
    remarks = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px">'
        f"<p><strong>{escape(title)}</strong> {escape(facts)}</p>"
        f"{_bars(shares)}{_table(table, rows)}{remarks and f'<ul>{remarks}</ul>'}</div>"
    )


def _bars(shares: Sequence[tuple[str, float]]) -> str:
    """A bar for each label, as long as its share."""
    most = max((share for _, share in shares), default=0.0) or 1.0
    rows = "".join(
        f'<tr><td>{escape(label)}</td><td><meter value="{share:.4f}" max="{most:.4f}"></meter></td>'
        f"<td>{share:.1%}</td></tr>"
        for label, share in shares[:_BARS]
    )
    left = len(shares) - _BARS
    return f"<table>{rows}</table>" + (f"<p>and {count_of(left, 'more label')}</p>" * (left > 0))


def _table(table: Any, of: int) -> str:
    """The first rows of an Arrow table, and how many more there are."""
    head = "".join(f"<th>{escape(name)}</th>" for name in table.column_names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
        for row in table.slice(0, _ROWS).to_pylist()
    )
    left = of - _ROWS
    more = f"<p>and {count_of(left, 'more row')}</p>" if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
