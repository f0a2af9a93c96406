"""The gold of a project, for the requester: how judges meet it, its design, and more of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.collect.gold.design import GoldDesign, GoldForecast, Suggestion
from adjudge.collect.gold.editing import approve, edit_gold
from adjudge.collect.gold.keeping import (
    assign_roles,
    decline,
    describe_suggested,
    design_roles,
    forecast_project,
    list_declined,
    suggest_items,
)
from adjudge.collect.gold.review import list_contests, list_golds, settle
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.request import Request
from adjudge.collect.values.project import Mix, Role
from adjudge.collect.values.requesting import Contest, GoldRow, Imported, Regrade, SuggestedGold

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus


@dataclass(frozen=True, slots=True)
class GoldService:
    """What a requester can do with the gold of a project."""

    caller: Caller

    # -- gold that can be wrong

    def get_all(self, slug: str) -> list[GoldRow]:
        """Every gold with misses and contests, the most doubtful first."""
        with self.caller.reading(slug) as request:
            return list_golds(request)

    def get_items(self, slug: str) -> dict[int, str]:
        """The item of each gold, by the number that the log has for it."""
        with self.caller.reading(slug) as request:
            return {number: gold.name for number, gold in request.project.golds.items()}

    def edit(
        self,
        slug: str,
        item: str,
        *,
        accepted: Iterable[str] | None = None,
        reason: str | None = None,
        reasons: dict[str, str] | None = None,
        role: str | None = None,
        active: bool | None = None,
    ) -> Regrade:
        """Change a gold and regrade every answer to it at once; what is None stays."""
        changes: dict[str, Any] = {
            "accepted": None if accepted is None else list(accepted),
            "reason": reason,
            "reasons": reasons,
            "role": role,
            "active": active,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        return self.caller.write(
            slug, lambda request: edit_gold(request, item, changes), alone=True
        )

    def get_contests(self, slug: str, *, settled: bool | None = False) -> list[Contest]:
        """What judges say against gold; ``settled`` None gives all."""
        with self.caller.reading(slug) as request:
            return list_contests(request, settled)

    def settle(self, slug: str, contest: int, *, upheld: bool, answer: str = "") -> Contest:
        """Note that a contest was looked at; the judge sees the answer as a notice."""
        return self.caller.write(
            slug,
            lambda request: settle(request, contest, upheld=upheld, answer=answer),
            least="reviewer",
        )

    # -- gold by design

    def forecast(
        self, slug: str, *, judges: int | None = None, settings: Mapping[str, Any] | None = None
    ) -> GoldForecast:
        """How much gold the project needs if so many judges come, and what is wrong with it.

        ``settings`` are changes of its policy that are only thought of.
        """
        with self.caller.reading(slug) as request:
            return forecast_project(request, judges, settings)

    def design(
        self,
        slug: str,
        *,
        training: int | None = None,
        training_mix: Mix = "uniform",
        screening_mix: Mix = "any",
        seed: int = 0,
        store: bool = True,
    ) -> GoldDesign[int]:
        """Split the gold into a training set of the wanted mix, and screening gold: the rest.

        Without ``store`` only what it would be.
        """

        def work(request: Request) -> GoldDesign[int]:
            made = design_roles(
                request.project,
                training=training,
                training_mix=training_mix,
                screening_mix=screening_mix,
                seed=seed,
            )
            if store:
                assign_roles(request, made, seed=seed)
            return made

        if store:
            return self.caller.write(slug, work, lock=True)
        with self.caller.reading(slug) as request:
            return work(request)

    # -- more gold

    def suggest(self, slug: str, consensus: Consensus, count: int) -> list[Suggestion]:
        """Items that could become gold, from a consensus; a person has to approve each."""
        with self.caller.reading(slug) as request:
            return suggest_items(request, consensus, count)

    def describe_suggested(
        self, slug: str, sure: Sequence[Suggestion], count: int
    ) -> list[SuggestedGold]:
        """So many of the items that a fit was sure of, with texts and votes, for a person to see.

        What is gold by now or was declined is left out.
        """
        with self.caller.reading(slug) as request:
            return describe_suggested(request, sure, count)

    def decline(self, slug: str, item: str, *, again: bool = False) -> None:
        """Never suggest an item as gold; ``again`` lets it be suggested once more.

        Refused: ``gold-already``.
        """
        self.caller.write(slug, lambda request: decline(request, item, again=again), lock=True)

    def get_declined(self, slug: str) -> list[str]:
        """The items that are not to be suggested as gold."""
        with self.caller.reading(slug) as request:
            return list_declined(request)

    def approve(
        self,
        slug: str,
        item: str,
        *,
        accepted: Sequence[str],
        reason: str = "",
        role: Role = "screening",
    ) -> Imported:
        """Make gold of an item that was work. Refused: ``gold-already``."""
        return self.caller.write(
            slug,
            lambda request: approve(request, item, accepted=accepted, reason=reason, role=role),
            alone=True,
        )
