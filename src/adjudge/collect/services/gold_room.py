"""The gold room of the office: gold as judges meet it, as it is designed, and where more may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Connection

from adjudge.collect.gold.design import GoldDesign, GoldForecast, Suggestion
from adjudge.collect.gold.editing import approve, edit_gold
from adjudge.collect.gold.keeping import (
    assign_roles,
    decline,
    declined,
    design_of,
    forecast_of,
    suggest_for,
    suggested,
)
from adjudge.collect.gold.review import contest_rows, gold_rows, settle
from adjudge.collect.services.reception import Reception
from adjudge.collect.store.records import edit_gold_alone
from adjudge.collect.values.project import Mix, Role
from adjudge.collect.values.requesting import Contest, GoldRow, Imported, Regrade, SuggestedGold

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus


class GoldRoom(Reception):
    """What a requester can do with the gold of her projects; a part of ``Office``."""

    # -- gold that can be wrong

    def golds(self, slug: str) -> list[GoldRow]:
        """Every gold with misses and contests, the most doubtful first."""
        with self.database.read() as on:
            return gold_rows(on, self.load(on, slug))

    def edit_gold(
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

        def work(on: Connection) -> Regrade:
            edit_gold_alone(on)
            snapshot = self.load(on, slug, lock=True)
            return edit_gold(on, snapshot, item, changes, actor=self._name, now=self.now())

        return self.database.write(work)

    def contests(self, slug: str, *, settled: bool | None = False) -> list[Contest]:
        """What judges say against gold; ``settled`` None gives all."""
        with self.database.read() as on:
            return contest_rows(on, self.load(on, slug).project, settled)

    def settle_contest(self, slug: str, contest: int, *, upheld: bool, answer: str = "") -> Contest:
        """Note that a contest was looked at; the judge sees the answer as a notice."""

        def work(on: Connection) -> Contest:
            snapshot = self.load(on, slug)
            now = self.now()
            return settle(
                on, snapshot, contest, upheld=upheld, answer=answer, actor=self._name, now=now
            )

        return self.database.write(work)

    # -- gold by design

    def gold_forecast(
        self,
        slug: str,
        *,
        judges: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> GoldForecast:
        """How much gold the project needs if so many judges come, and what is wrong with it.

        ``settings`` are changes of its policy that are only thought of.
        """
        with self.database.read() as on:
            return forecast_of(on, self.load(on, slug), judges, settings)

    def design_gold(
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

        def work(on: Connection) -> GoldDesign[int]:
            snapshot = self.load(on, slug, lock=store)
            made = design_of(
                snapshot,
                training=training,
                training_mix=training_mix,
                screening_mix=screening_mix,
                seed=seed,
            )
            if store:
                assign_roles(on, snapshot, made, seed=seed, actor=self._name, now=self.now())
            return made

        if store:
            return self.database.write(work)
        with self.database.read() as on:
            return work(on)

    # -- more gold

    def suggest_gold(self, slug: str, consensus: Consensus, count: int) -> list[Suggestion]:
        """Items that could become gold, from a consensus; a person has to approve each."""
        with self.database.read() as on:
            return suggest_for(on, self.load(on, slug), consensus, count)

    def suggested_gold(
        self, slug: str, sure: Sequence[Suggestion], count: int
    ) -> list[SuggestedGold]:
        """So many of the items that a fit was sure of, with texts and votes, for a person to see.

        What is gold by now or was declined is left out.
        """
        with self.database.read() as on:
            return suggested(on, self.load(on, slug), sure, count)

    def decline_gold(self, slug: str, item: str, *, again: bool = False) -> None:
        """Never suggest an item as gold; ``again`` lets it be suggested once more.

        Refused: ``gold-already``.
        """

        def work(on: Connection) -> None:
            snapshot = self.load(on, slug, lock=True)
            decline(on, snapshot, item, again=again, actor=self._name, now=self.now())

        self.database.write(work)

    def declined_gold(self, slug: str) -> list[str]:
        """The items that shall not be suggested as gold."""
        with self.database.read() as on:
            return declined(on, self.load(on, slug))

    def approve_gold(
        self,
        slug: str,
        item: str,
        *,
        accepted: Sequence[str],
        reason: str = "",
        role: Role = "screening",
    ) -> Imported:
        """Make gold of an item that was work. Refused: ``gold-already``."""

        def work(on: Connection) -> Imported:
            edit_gold_alone(on)
            snapshot = self.load(on, slug, lock=True)
            now = self.now()
            return approve(
                on, snapshot, item, accepted=accepted, reason=reason, role=role,
                actor=self._name, now=now,
            )  # fmt: skip

        return self.database.write(work)
