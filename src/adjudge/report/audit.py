"""The page of an audit of LLM judges: one file that needs no network."""

from __future__ import annotations

from pathlib import Path

from adjudge.data.source import count_of
from adjudge.evaluation.model_judges.audit import Audit
from adjudge.report.page import render_page, write_page
from adjudge.report.words import VERDICT_BADGES, summarise_verdicts


def write_audit(found: Audit, path: str | Path, *, title: str = "") -> None:
    """Write the page to a file."""
    write_page(audit_html(found, title=title), path)


def audit_html(found: Audit, *, title: str = "") -> str:
    """Return the page as one HTML document."""
    table = found.answers.judgments
    return render_page(
        "audit.html.j2",
        "report.css",
        audit=found,
        badges=VERDICT_BADGES,
        title=title or f"Audit of {count_of(len(found.judges), 'LLM judge')}",
        counts=f"{count_of(len(table), 'judgment')} of {count_of(table.item_count, 'item')}, "
        f"{count_of(found.people, 'person')}, gold of {count_of(found.gold, 'item')}",
        summary=summarise_verdicts(found),
    )
