"""The gold a judge has met, and the gold that may be hidden among their work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import bindparam, func, select, text

from adjudge.collect.rules.golds import GoldCard, order_by_work, screening_order
from adjudge.collect.store.request import JudgeRequest
from adjudge.collect.store.schema import judgments, page_rows

_SHOWN = (
    select(page_rows.c.gold, func.max(page_rows.c.page).label("page"))
    .where(page_rows.c.judge == bindparam("judge"), text("page_rows.gold IS NOT NULL"))
    .group_by(page_rows.c.gold)
)
_JUDGED = select(judgments.c.item, judgments.c.page).where(
    judgments.c.judge == bindparam("judge"),
    judgments.c.item.in_(bindparam("ids", expanding=True)),
    text("judgments.gold IS NULL"),
)


def golds_met(request: JudgeRequest) -> dict[int, int]:
    """The golds a judge has met, as gold or as work before it was gold, and on which page."""
    met: dict[int, int] = dict(request.on.execute(_SHOWN, {"judge": request.judge.id}).all())
    golds = request.project.golds
    work = request.project.keep(
        "once work",
        len(golds),
        lambda: {one.item: one.gold for one in golds.values() if one.once_work},
    )
    if work:
        asked: dict[str, Any] = {"judge": request.judge.id, "ids": sorted(work)}
        for item, page in request.on.execute(_JUDGED, asked):
            met.setdefault(work[item], page)
    return met


@dataclass(frozen=True, slots=True)
class Screening:
    """The screening gold of a judge; the work that they are given says which comes first.

    Who is given the same work is to be given the same gold: gold that each has of their own would
    show when the pages of two accounts are compared.
    """

    request: JudgeRequest
    met: Mapping[int, int]

    @classmethod
    def of(cls, request: JudgeRequest) -> Screening | None:
        """The screening of a judge; None where there is none."""
        if request.policy.screening_share == 0 or not request.project.screening:
            return None
        return cls(request, golds_met(request))

    @property
    def has_run_out(self) -> bool:
        """Whether the judge has met every gold, and is to see none again."""
        if self.request.policy.gold_runs_out == "repeat":
            return False
        return all(gold.item in self.met for gold in self.request.project.screening)

    def draw(self, rng: np.random.Generator) -> list[GoldCard[int]]:
        """The gold that may come at all, in random order unless the policy sets a mix."""
        policy = self.request.policy
        return screening_order(
            self.request.project.screening,
            self.met,
            policy.screening_mix,
            rng,
            runs_out=policy.gold_runs_out,
        )

    def arrange(self, work: Sequence[int], golds: Sequence[GoldCard[int]]) -> list[GoldCard[int]]:
        """The gold of ``draw`` for a page with this work, the most needed first.

        Where the policy wants a mix of labels, the place of each depends on all: then all of them.
        """
        policy, project = self.request.policy, self.request.project
        among = None
        if policy.screening_mix == "any":
            places = project.keep("screening", len(project.screening), self._places)
            among = [places[gold.item] for gold in golds]
        order = order_by_work(len(project.screening), work, seed=project.seed, among=among)
        ordered = [project.screening[number] for number in order.tolist()]
        return screening_order(
            ordered, self.met, policy.screening_mix, None, runs_out=policy.gold_runs_out
        )

    def _places(self) -> dict[int, int]:
        return {gold.item: place for place, gold in enumerate(self.request.project.screening)}
