"""The report of a fit, as ``adjudge report`` makes it, kept with the settings of the server."""

from __future__ import annotations

import base64
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.requesting import ProjectHead
    from adjudge.data.consensus import Consensus

_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')


@dataclass(frozen=True, slots=True)
class KeptReport:
    """A report: when its fit was made, its page and how sure it says the labels are.

    Or why there is none.
    """

    made: str
    html: str = ""
    problem: str = ""
    sure: tuple[str, ...] = ()  # sentences: accuracy, log loss and calibration on the gold

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> KeptReport:
        """A report from what is kept."""
        body = zlib.decompress(base64.b85decode(kept["body"])).decode() if kept["body"] else ""
        return cls(kept["made"], body, kept["problem"], tuple(kept.get("sure", ())))

    @property
    def policy(self) -> str:
        """What the page allows itself: its own script and style, and nothing from anywhere.

        In a box of its own, so that nothing in it can act for who is logged in.
        """
        from html import unescape

        found = _POLICY.search(self.html)
        own = unescape(found[1]) if found else "default-src 'none'"
        return f"{own}; frame-ancestors 'none'; sandbox allow-scripts"


def make_report(
    services: RequesterServices,
    project: ProjectHead,
    consensus: Consensus,
    made: str,
    question: str = "",
) -> dict[str, Any]:
    """The report of a fit, packed to be kept; a fault is kept in its place."""
    try:
        page, sure = _page_of(services, project, consensus, made, question)
    except Exception as fault:  # noqa: BLE001 - a fit is worth having without its report
        return {"made": made, "body": "", "problem": f"{type(fault).__name__}: {fault}"}
    return {**pack_page(page, made), "sure": sure}


@dataclass(frozen=True, slots=True)
class CalledJudges:
    """Judges as the requester calls them, by public id."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, services: RequesterServices, slug: str, ids: list[str]) -> CalledJudges:
        """The names of these; who shares a name has their id beside it."""
        names = services.judges.get_names(slug)
        many = Counter(names.get(one, one) for one in ids)
        called = {one: names.get(one, one) for one in ids}
        return cls({one: name if many[name] == 1 else f"{name} ({one})"
                    for one, name in called.items()})  # fmt: skip

    def within(self, text: str) -> str:
        """A sentence with the names in the place of the ids."""
        return re.sub(r"[\w-]{8,}(?::\w+)?", lambda found: self.names.get(found[0], found[0]), text)


def pack_page(page: str, made: str) -> dict[str, Any]:
    """A page of a report as it is kept."""
    body = base64.b85encode(zlib.compress(page.encode("utf-8", "replace"), 6)).decode()
    return {"made": made, "body": body, "problem": ""}


def _page_of(
    services: RequesterServices,
    project: ProjectHead,
    consensus: Consensus,
    made: str,
    question: str,
) -> tuple[str, tuple[str, ...]]:
    """The page, and how sure it says the labels are."""
    import numpy as np

    from adjudge.data.names import as_names
    from adjudge.models import default, registry
    from adjudge.report.page import report_html
    from adjudge.report.results import Provenance, gather
    from adjudge.report.words import certainty

    ids = consensus.judgments.judges.to_pylist()
    called = CalledJudges.of(services, project.slug, ids)
    named = as_names([called.names[one] for one in ids])
    rows = services.judges.get_all(project.slug)
    models = {row.judge for row in rows if row.kind == "model"}
    kind = np.array([one in models for one in ids], dtype=np.int8) if models & set(ids) else None
    consensus = replace(
        consensus,
        judgments=replace(consensus.judgments, judges=named, kind=kind),
        notes=tuple(map(called.within, consensus.notes)),
    )
    # What was adjudicated was disputed: labels scored by it would look worse than they are.
    gold = None if question else services.exports.get_gold(project.slug)
    blind = None
    if gold is not None:
        gold = replace(gold, honeypot=None)  # all of it is hidden: it is what judges are told by
        # A fit that was told the gold cannot be scored by it.
        settings = default.SETTINGS if consensus.model == default.DEFAULT else {}
        blind = registry.model(consensus.model, **settings).fit(consensus.judgments, None)
    title = f"{project.name}: {question}" if question else project.name
    about = Provenance(title=title, made=f"{made} UTC")
    results = gather(consensus, gold=gold, blind=blind, provenance=about)
    return report_html(results), certainty(results).answer
