"""The page of an audit of LLM judges: one file that asks nobody for anything."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from adjudge.data.source import count_of
from adjudge.evaluation.model_judges.audit import Audit
from adjudge.report.page import TEMPLATES, get_template, hash_source
from adjudge.report.theme import page_style
from adjudge.report.words import VERDICT_BADGES, summarise_verdicts


def write_audit(found: Audit, path: str | Path, *, title: str = "") -> None:
    """Write the page to a file, whole or not at all."""
    from adjudge.data.formats.writing import written_whole

    with written_whole(Path(path)) as file:
        file.write(audit_html(found, title=title).encode("utf-8", "replace"))


def audit_html(found: Audit, *, title: str = "") -> str:
    """The page as one HTML document."""
    table = found.answers.judgments
    style = page_style(TEMPLATES / "report.css")
    return get_template("audit.html.j2").render(
        audit=found,
        badges=VERDICT_BADGES,
        title=title or f"Audit of {count_of(len(found.judges), 'LLM judge')}",
        counts=f"{count_of(len(table), 'judgment')} of {count_of(table.item_count, 'item')}, "
        f"{count_of(found.people, 'person')}, gold of {count_of(found.gold, 'item')}",
        summary=summarise_verdicts(found),
        policy=f"default-src 'none'; style-src {hash_source(style)}; img-src data:; "
        "base-uri 'none'",
        style=Markup(style),  # noqa: S704 - our own file, its hash is in the policy
    )
