"""The office: everything a requester can do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from adjudge.collect.accounts import (
    find_requester,
    list_invites,
    make_invites,
    revoke_invite,
)
from adjudge.collect.arm_report import report_of
from adjudge.collect.arm_views import ArmReport
from adjudge.collect.arms import Arm, arm_warnings, arms_of, misassigned, set_arms
from adjudge.collect.catalogue import create, delete_project, set_policy, value_of
from adjudge.collect.gold_design import GoldDesign, GoldForecast, Suggestion
from adjudge.collect.gold_keeping import (
    approve,
    arm_gold_warnings,
    assign_roles,
    forecast_of,
    suggest_for,
)
from adjudge.collect.oversight import (
    block,
    find_judge,
    judge_detail,
    judge_row,
    judge_rows,
    log_entries,
    unblock,
    whole_log,
)
from adjudge.collect.policy import Mix, Policy
from adjudge.collect.progress import disagreements_of, progress_of
from adjudge.collect.project import GoldEntry, Item, Project, Role
from adjudge.collect.reception import Reception
from adjudge.collect.records import edit_gold_alone
from adjudge.collect.review import contest_rows, gold_rows, settle
from adjudge.collect.running import (
    audit,
    counts_of,
    edit_gold,
    import_items,
    set_guidelines,
    set_state,
    summaries,
)
from adjudge.collect.store.schema import projects, requesters
from adjudge.collect.takeout import gold_of, judgments_of, table_of
from adjudge.collect.views import (
    Contest,
    DisagreementTopic,
    GoldRow,
    Imported,
    Invite,
    JudgeDetail,
    JudgeRow,
    LogEntry,
    Progress,
    ProjectState,
    ProjectSummary,
    Regrade,
    Requester,
)
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.errors import NotFound

if TYPE_CHECKING:
    from adjudge.data.consensus import Consensus
    from adjudge.models.model import Model

_REQUESTERS = select(requesters).order_by(requesters.c.id)


class Office(Reception):
    """What a requester can do, in her name.

    ``Office(database)`` acts for the system itself (the command line on the server) and may see
    everything; ``office.acting(requester)`` sees that requester's projects alone, or every one if
    she is an admin. What is not hers is ``NotFound``, as if it were not there.
    """

    def acting(self, requester: Requester) -> Office:
        """The same office, acting for one requester."""
        return Office(self._database, actor=requester, clock=self._clock)

    # -- projects

    def create_project(self, project: Project) -> ProjectSummary:
        """Store a project whole, as a draft: guidelines, scale, items, gold, policy."""

        def work(on: Connection) -> ProjectSummary:
            owner = None
            if self._actor is not None:
                owner = find_requester(on, self._actor.requester).id
            made = create(on, project, owner=owner, actor=self._name, now=self._now())
            return summaries(on, projects.c.id == made)[0]

        return self._database.write(work)

    def projects(self) -> list[ProjectSummary]:
        """The requester's projects, newest first."""
        with self._database.read() as on:
            return summaries(on, self._hers(on))

    def project(self, slug: str) -> ProjectSummary:
        """One project."""
        with self._database.read() as on:
            return self._summary(on, slug)

    def set_state(self, slug: str, state: ProjectState) -> ProjectSummary:
        """Open, pause or close a project. Refused: ``no-items`` to open one without items.

        Paused: no new page, open pages may be sent. Closed: nothing is taken any more.
        """

        def work(on: Connection) -> ProjectSummary:
            dossier = self._dossier(on, slug)
            set_state(on, dossier, state, actor=self._name, now=self._now())
            return self._summary(on, slug)

        return self._database.write(work)

    def delete_project(self, slug: str) -> None:
        """Delete a project with all that belongs to it.

        Refused: ``not-closed`` unless it is a draft or closed.
        """
        self._database.write(lambda on: delete_project(on, self._dossier(on, slug)))

    def value(self, slug: str) -> Project:
        """The project as the plain value it was made from, with all later changes."""
        with self._database.read() as on:
            return value_of(on, self._dossier(on, slug).project)

    def set_guidelines(self, slug: str, guidelines: str) -> None:
        """Replace the guidelines."""

        def work(on: Connection) -> None:
            dossier = self._dossier(on, slug)
            set_guidelines(on, dossier, guidelines, actor=self._name, now=self._now())

        self._database.write(work)

    def policy(self, slug: str) -> tuple[Policy, int]:
        """The policy and its version."""
        with self._database.read() as on:
            dossier = self._dossier(on, slug)
        return dossier.policy, dossier.policy_version

    def set_policy(self, slug: str, settings: dict[str, Any]) -> tuple[Policy, int]:
        """Change some settings; the new policy and its version."""

        def work(on: Connection) -> tuple[Policy, int]:
            dossier = self._dossier(on, slug, lock=True)
            set_policy(on, dossier, settings, actor=self._name, now=self._now())
            fresh = self._dossier(on, slug)
            return fresh.policy, fresh.policy_version

        return self._database.write(work)

    def arms(self, slug: str) -> tuple[Arm, ...]:
        """The arms of the project's experiment, in their order."""
        with self._database.read() as on:
            return arms_of(on, self._dossier(on, slug).project)

    def set_arms(self, slug: str, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Make these the arms; once a judge has come they can only be added to.

        Refused: ``arms-fixed``.
        """

        def work(on: Connection) -> tuple[Arm, ...]:
            dossier = self._dossier(on, slug, lock=True)
            return set_arms(on, dossier, arms, actor=self._name, now=self._now())

        return self._database.write(work)

    def add_items(
        self, slug: str, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Add items and gold; an item or gold of a known name is changed to what is given."""

        def work(on: Connection) -> Imported:
            dossier = self._dossier(on, slug, lock=True)
            return import_items(on, dossier, items, golds, actor=self._name, now=self._now())

        return self._database.write(work)

    def replace_items(
        self, slug: str, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Make these the items and gold: as ``add_items``, and what is not among them is withdrawn.

        Withdrawn items keep their judgments but are shown to nobody; withdrawn gold does not
        count any more.
        """

        def work(on: Connection) -> Imported:
            dossier = self._dossier(on, slug, lock=True)
            return import_items(
                on, dossier, items, golds, alone=True, actor=self._name, now=self._now()
            )

        return self._database.write(work)

    # -- watching

    def progress(self, slug: str) -> Progress:
        """How far the project is, what it cost, why items are open."""
        with self._database.read() as on:
            return progress_of(on, self._dossier(on, slug))

    def judges(self, slug: str) -> list[JudgeRow]:
        """Every judge with her tallies, the last to act first."""
        with self._database.read() as on:
            return judge_rows(on, self._dossier(on, slug))

    def judge(self, slug: str, judge: str) -> JudgeDetail:
        """One judge whole: confusion against gold, answers to gold, history."""
        with self._database.read() as on:
            return judge_detail(on, self._dossier(on, slug), judge)

    def block(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Block a judge by hand: her judgments are untrusted, their items reopen."""

        def work(on: Connection) -> JudgeRow:
            dossier = self._dossier(on, slug)
            block(on, dossier, judge, reason, actor=self._name, now=self._now())
            return judge_row(find_judge(on, dossier, judge), dossier, None)

        return self._database.write(work)

    def unblock(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Unblock a judge: her judgments count again, her trust starts afresh."""

        def work(on: Connection) -> JudgeRow:
            dossier = self._dossier(on, slug)
            unblock(on, dossier, judge, reason, actor=self._name, now=self._now())
            return judge_row(find_judge(on, dossier, judge), dossier, None)

        return self._database.write(work)

    def disagreements(
        self, slug: str, *, search: str = "", limit: int = 50
    ) -> list[DisagreementTopic]:
        """Queries whose items split the trusted judges, the most split first."""
        with self._database.read() as on:
            return disagreements_of(on, self._dossier(on, slug), search, limit)

    def golds(self, slug: str) -> list[GoldRow]:
        """Every gold with misses and contests: contested first, then the most missed."""
        with self._database.read() as on:
            return gold_rows(on, self._dossier(on, slug))

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
            dossier = self._dossier(on, slug, lock=True)
            return edit_gold(on, dossier, item, changes, actor=self._name, now=self._now())

        return self._database.write(work)

    def contests(self, slug: str, *, settled: bool | None = False) -> list[Contest]:
        """What judges say against gold; ``settled`` None gives all."""
        with self._database.read() as on:
            return contest_rows(on, self._dossier(on, slug).project, settled)

    def settle_contest(self, slug: str, contest: int, *, upheld: bool, answer: str = "") -> Contest:
        """Note that a contest was looked at; the judge sees the answer as a notice."""

        def work(on: Connection) -> Contest:
            dossier = self._dossier(on, slug)
            now = self._now()
            return settle(
                on, dossier, contest, upheld=upheld, answer=answer, actor=self._name, now=now
            )

        return self._database.write(work)

    def log(
        self,
        slug: str,
        *,
        before: int | None = None,
        limit: int = 100,
        judge: str | None = None,
        event: str | None = None,
    ) -> list[LogEntry]:
        """The log, newest first; ``before`` is the last entry number seen, to page on."""
        with self._database.read() as on:
            project = self._dossier(on, slug).project
            return log_entries(on, project, before=before, limit=limit, judge=judge, event=event)

    def audit(self, slug: str) -> list[str]:
        """Where judges stand otherwise than a replay of the log says; empty if all is well."""
        with self._database.read() as on:
            dossier = self._dossier(on, slug)
            log = whole_log(on, dossier.project)
            return [*audit(on, dossier), *misassigned(dossier.seed, log)]

    # -- experiments and gold design

    def arm_report(
        self,
        slug: str,
        *,
        test: Gold | None = None,
        models: Sequence[Model] = (),
        resamples: int = 1000,
        seed: int = 0,
    ) -> ArmReport:
        """Funnel, judges and aggregates by arm, with intervals and tests of difference.

        Measured against the project's gold, or against ``test``; by majority vote and ``models``.
        """
        with self._database.read() as on:
            dossier = self._dossier(on, slug)
            return report_of(on, dossier, test=test, models=models, resamples=resamples, seed=seed)

    def arm_warnings(self, slug: str) -> list[str]:
        """What is wrong with the arms: too few judgments for each, a training mix that leans."""
        with self._database.read() as on:
            dossier = self._dossier(on, slug)
        return [*arm_warnings(dossier), *arm_gold_warnings(dossier)]

    def gold_forecast(self, slug: str, *, judges: int | None = None) -> GoldForecast:
        """How much gold the project needs if so many judges come, and what is wrong with it."""
        with self._database.read() as on:
            return forecast_of(on, self._dossier(on, slug), judges)

    def suggest_gold(self, slug: str, consensus: Consensus, count: int) -> list[Suggestion]:
        """Items that could become gold, from a consensus; a person has to approve each."""
        with self._database.read() as on:
            return suggest_for(self._dossier(on, slug), consensus, count)

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
            dossier = self._dossier(on, slug, lock=True)
            now = self._now()
            return approve(
                on, dossier, item, accepted=accepted, reason=reason, role=role,
                actor=self._name, now=now,
            )  # fmt: skip

        return self._database.write(work)

    def design_gold(
        self,
        slug: str,
        *,
        training: int | None = None,
        training_mix: Mix = "uniform",
        screening_mix: Mix = "any",
        seed: int = 0,
    ) -> GoldDesign[int]:
        """Split the gold into a training set of the wanted mix, and screening gold: the rest."""

        def work(on: Connection) -> GoldDesign[int]:
            dossier = self._dossier(on, slug, lock=True)
            return assign_roles(
                on, dossier, training=training, training_mix=training_mix,
                screening_mix=screening_mix, seed=seed, actor=self._name, now=self._now(),
            )  # fmt: skip

        return self._database.write(work)

    # -- inviting

    def make_invites(
        self, slug: str, notes: Sequence[str], *, expires: datetime | None = None
    ) -> list[Invite]:
        """One invitation for each note (whom it is for)."""

        def work(on: Connection) -> list[Invite]:
            project = self._dossier(on, slug).project
            return make_invites(on, project, list(notes), expires, self._now())

        return self._database.write(work)

    def invites(self, slug: str) -> list[Invite]:
        """Every invitation, newest first."""
        with self._database.read() as on:
            return list_invites(on, self._dossier(on, slug).project)

    def revoke_invite(self, slug: str, invite: str) -> None:
        """Make an invitation void; who came by it already stays."""

        def work(on: Connection) -> None:
            revoke_invite(on, self._dossier(on, slug).project, invite)

        self._database.write(work)

    # -- taking out

    def judgments(
        self, slug: str, *, trusted: bool = True, golds: bool = False
    ) -> Judgments | None:
        """The judgments as the library's models take them; None where there are none.

        ``trusted``: leave out those of blocked judges. ``golds``: with the answers to screening
        golds, so that a model can learn from them beside ``gold``.
        """
        with self._database.read() as on:
            return judgments_of(on, self._dossier(on, slug), trusted=trusted, golds=golds)

    def gold(self, slug: str) -> Gold | None:
        """The active gold with the first accepted label of each; None where there is none."""
        with self._database.read() as on:
            return gold_of(on, self._dossier(on, slug))

    def table(self, slug: str) -> Any:
        """Every answer as an Arrow table, one row each.

        Columns: item, topic, document, query, judge, arm, kind, label, other, comment, standing,
        gold, right, page, row, seconds, time.
        """
        with self._database.read() as on:
            return table_of(on, self._dossier(on, slug))

    def counts(self) -> dict[str, int]:
        """Figures of the whole store: projects, judges, open pages, judgments."""
        with self._database.read() as on:
            return counts_of(on)

    def _summary(self, on: Connection, slug: str) -> ProjectSummary:
        found = summaries(on, (projects.c.slug == slug) & self._hers(on))
        if not found:
            raise NotFound("project", slug)
        return found[0]
