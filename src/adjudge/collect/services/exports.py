"""Judgments, gold and everything else taken out of a project."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import IO, Any

from adjudge.collect.managing.exporting import write_export
from adjudge.collect.managing.offers import list_offers
from adjudge.collect.managing.panels import table_outcomes
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.arrow import read_gold, read_judgments, read_table
from adjudge.collect.store.comparisons import read_comparisons
from adjudge.collect.store.request import Request
from adjudge.data.comparisons import Comparisons
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments


def _about(request: Request, question: str) -> Request:
    """The request as if a further question were the project's first."""
    return replace(request, project=request.project.as_question(question))


@dataclass(frozen=True, slots=True)
class ExportService:
    """What a requester can take out of a project."""

    caller: Caller

    def get_judgments(
        self,
        slug: str,
        *,
        trusted: bool = True,
        golds: bool = False,
        dry_runs: bool = False,
        question: str = "",
    ) -> Judgments | None:
        """The judgments as the library's models take them; None where there are none.

        ``trusted``: leave out those of blocked judges. ``golds``: with the answers to screening
        golds, so that a model can learn from them beside ``get_gold``. ``dry_runs``: also those of
        dry runs, which are never trusted. ``question``: a further question that has labels.
        """
        with self.caller.reading(slug) as request:
            project = request.project.as_question(question)
            return read_judgments(
                request.on, project, trusted=trusted, golds=golds, dry_runs=dry_runs
            )

    def get_comparisons(self, slug: str, *, trusted: bool = True) -> Comparisons | None:
        """The comparisons of a side-by-side project; None where there are none."""
        with self.caller.reading(slug) as request:
            return read_comparisons(request.on, request.project, trusted=trusted)

    def get_gold(self, slug: str, *, adjudicated: bool = False) -> Gold | None:
        """The active gold with the first accepted label of each; None where there is none.

        ``adjudicated``: with the final labels that fits are to take for gold.
        """
        with self.caller.reading(slug) as request:
            return read_gold(request.on, request.project, adjudicated=adjudicated)

    def get_table(self, slug: str, *, dry_runs: bool = False) -> Any:
        """Every answer as an Arrow table, one row each; dry runs only if asked for.

        Columns: item, topic, document, query, judge, arm, kind, label, other, comment, standing,
        gold, right, page, row, seconds, time.
        """
        with self.caller.reading(slug) as request:
            return read_table(request.on, request.project, dry_runs=dry_runs)

    def get_panel_outcomes(self, slug: str) -> Any:
        """How each participant of a panel ended, what they are due and what to do, as Arrow."""
        with self.caller.reading(slug) as request:
            return table_outcomes(request)

    def get_offers(self, slug: str, labels: Any = None, *, question: str = "") -> Any:
        """Every export, with why it cannot be made where it cannot; the rest as in ``write``."""
        with self.caller.reading(slug) as request:
            return list_offers(_about(request, question), labels)

    def write(
        self,
        slug: str,
        name: str,
        file: IO[bytes],
        *,
        labels: Any = None,
        trusted: bool = True,
        question: str = "",
    ) -> None:
        """Write a project into an open file, by the name of an export.

        ``labels`` is a consensus table, for exports of labels. ``trusted``: leave out the judgments
        of blocked judges. ``question``: judgments and labels of a further question.
        """
        with self.caller.reading(slug) as request:
            write_export(_about(request, question), name, file, labels=labels, trusted=trusted)
