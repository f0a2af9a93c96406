"""The page of an audit of LLM judges: one file that needs no network."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from adjudge.data.source import count_of
from adjudge.evaluation.model_judges.audit import Audit
from adjudge.report.page import get_template, render_page, write_page
from adjudge.report.words import VERDICT_BADGES, summarise_verdicts


def write_audit(found: Audit, path: str | Path, *, title: str = "") -> None:
    """Write the page to a file: one HTML document."""
    page = render_page(
        "audit.html.j2",
        "report.css",
        audit=found,
        badges=VERDICT_BADGES,
        title=title or f"Audit of {count_of(len(found.judges), 'LLM judge')}",
        summary=_summarise(found),
    )
    write_page(page, path)


def audit_part(found: Audit) -> str:
    """Return what the page shows, as a part of another page."""
    parts = get_template("_audit.html.j2").module
    shown = [getattr(parts, name)(found, VERDICT_BADGES) for name in ("verdicts", "details")]
    return Markup("<p>{}</p>").format(_summarise(found)) + Markup("").join(shown)


def _summarise(found: Audit) -> str:
    """Say what was audited, and how many judges have each verdict."""
    table = found.answers.judgments
    return (
        f"{count_of(len(table), 'judgment')} of {count_of(table.item_count, 'item')}, "
        f"{count_of(found.people, 'person')}, gold of {count_of(found.gold, 'item')}. "
        f"{summarise_verdicts(found)}"
    )
