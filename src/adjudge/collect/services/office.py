"""The office: everything a requester can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from adjudge.collect.experiments.arms import arm_warnings, arms_of, misassigned, set_arms
from adjudge.collect.experiments.report import report_of
from adjudge.collect.gold.editing import import_items
from adjudge.collect.gold.keeping import arm_gold_warnings
from adjudge.collect.managing.accounts import (
    find_requester,
    list_invites,
    make_invites,
    revoke_invite,
)
from adjudge.collect.managing.oversight import (
    audit,
    block,
    find_judge,
    judge_detail,
    judge_row,
    judge_rows,
    log_entries,
    unblock,
    whole_log,
)
from adjudge.collect.managing.panels import panel_outcomes, preset
from adjudge.collect.managing.progress import disagreements_of, progress_of
from adjudge.collect.managing.projects import (
    counts_of,
    create,
    delete_project,
    set_guidelines,
    set_policy,
    set_state,
    summaries,
    value_of,
)
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.gold_room import GoldRoom
from adjudge.collect.store.arrow import gold_of, judgments_of, table_of
from adjudge.collect.store.records import edit_gold_alone
from adjudge.collect.store.schema import projects, requesters
from adjudge.collect.values.arms import ArmReport
from adjudge.collect.values.project import Arm, GoldEntry, Item, Project
from adjudge.collect.values.requesting import (
    DisagreementTopic,
    Imported,
    Invite,
    JudgeDetail,
    JudgeRow,
    LogEntry,
    Progress,
    ProjectState,
    ProjectSummary,
    Requester,
)
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.errors import NotFound

if TYPE_CHECKING:
    from adjudge.models.model import Model

_REQUESTERS = select(requesters).order_by(requesters.c.id)


class Office(GoldRoom):
    """What a requester can do, in her name.

    ``Office(database)`` acts for the system itself (the command line on the server) and may see
    everything; ``office.acting(requester)`` sees that requester's projects alone, or every one if
    she is an admin. What is not hers is ``NotFound``, as if it were not there.
    """

    def acting(self, requester: Requester) -> Office:
        """The same office, acting for one requester."""
        return Office(self.database, actor=requester, clock=self._clock)

    # -- projects

    def create_project(self, project: Project) -> ProjectSummary:
        """Store a project whole, as a draft: guidelines, scale, items, gold, policy."""

        def work(on: Connection) -> ProjectSummary:
            owner = None
            if self._actor is not None:
                owner = find_requester(on, self._actor.requester).id
            made = create(on, project, owner=owner, actor=self._name, now=self.now())
            return summaries(on, projects.c.id == made)[0]

        return self.database.write(work)

    def projects(self) -> list[ProjectSummary]:
        """The requester's projects, newest first."""
        with self.database.read() as on:
            return summaries(on, self._hers(on))

    def project(self, slug: str) -> ProjectSummary:
        """One project."""
        with self.database.read() as on:
            return self._summary(on, slug)

    def set_state(self, slug: str, state: ProjectState) -> ProjectSummary:
        """Open, pause or close a project. Refused: ``no-items`` to open one without items.

        Paused: no new page, open pages may be sent. Closed: nothing is taken any more.
        """

        def work(on: Connection) -> ProjectSummary:
            snapshot = self.load(on, slug)
            set_state(on, snapshot, state, actor=self._name, now=self.now())
            return self._summary(on, slug)

        return self.database.write(work)

    def delete_project(self, slug: str) -> None:
        """Delete a project with all that belongs to it.

        Refused: ``not-closed`` unless it is a draft or closed.
        """
        self.database.write(lambda on: delete_project(on, self.load(on, slug)))

    def value(self, slug: str) -> Project:
        """The project as the plain value it was made from, with all later changes."""
        with self.database.read() as on:
            return value_of(on, self.load(on, slug).project)

    def set_guidelines(self, slug: str, guidelines: str) -> None:
        """Replace the guidelines."""

        def work(on: Connection) -> None:
            snapshot = self.load(on, slug)
            set_guidelines(on, snapshot, guidelines, actor=self._name, now=self.now())

        self.database.write(work)

    def policy(self, slug: str) -> tuple[Policy, int]:
        """The policy and its version."""
        with self.database.read() as on:
            snapshot = self.load(on, slug)
        return snapshot.policy, snapshot.policy_version

    def set_policy(self, slug: str, settings: dict[str, Any]) -> tuple[Policy, int]:
        """Change some settings; the new policy and its version."""

        def work(on: Connection) -> tuple[Policy, int]:
            snapshot = self.load(on, slug, lock=True)
            set_policy(on, snapshot, settings, actor=self._name, now=self.now())
            fresh = self.load(on, slug)
            return fresh.policy, fresh.policy_version

        return self.database.write(work)

    def arms(self, slug: str) -> tuple[Arm, ...]:
        """The arms of the project's experiment, in their order."""
        with self.database.read() as on:
            return arms_of(on, self.load(on, slug).project)

    def set_arms(self, slug: str, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Make these the arms; once a judge has come they can only be added to.

        Refused: ``arms-fixed``.
        """

        def work(on: Connection) -> tuple[Arm, ...]:
            snapshot = self.load(on, slug, lock=True)
            return set_arms(on, snapshot, arms, actor=self._name, now=self.now())

        return self.database.write(work)

    def add_items(
        self, slug: str, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Add items and gold; an item or gold of a known name is changed to what is given."""

        def work(on: Connection) -> Imported:
            edit_gold_alone(on)
            snapshot = self.load(on, slug, lock=True)
            return import_items(on, snapshot, items, golds, actor=self._name, now=self.now())

        return self.database.write(work)

    def replace_items(
        self, slug: str, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Make these the items and gold: as ``add_items``, and what is not among them is withdrawn.

        Withdrawn items keep their judgments but are shown to nobody; withdrawn gold does not
        count any more.
        """

        def work(on: Connection) -> Imported:
            edit_gold_alone(on)
            snapshot = self.load(on, slug, lock=True)
            return import_items(
                on, snapshot, items, golds, alone=True, actor=self._name, now=self.now()
            )

        return self.database.write(work)

    # -- watching

    def progress(self, slug: str) -> Progress:
        """How far the project is, what it cost, why items are open."""
        with self.database.read() as on:
            return progress_of(on, self.load(on, slug))

    def judges(self, slug: str) -> list[JudgeRow]:
        """Every judge with her tallies, the last to act first."""
        with self.database.read() as on:
            return judge_rows(on, self.load(on, slug))

    def judge(self, slug: str, judge: str) -> JudgeDetail:
        """One judge whole: confusion against gold, answers to gold, history."""
        with self.database.read() as on:
            return judge_detail(on, self.load(on, slug), judge)

    def block(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Block a judge by hand: her judgments are untrusted, their items reopen."""

        def work(on: Connection) -> JudgeRow:
            snapshot = self.load(on, slug)
            block(on, snapshot, judge, reason, actor=self._name, now=self.now())
            return judge_row(find_judge(on, snapshot, judge), snapshot, None)

        return self.database.write(work)

    def unblock(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Unblock a judge: her judgments count again, her trust starts afresh."""

        def work(on: Connection) -> JudgeRow:
            snapshot = self.load(on, slug)
            unblock(on, snapshot, judge, reason, actor=self._name, now=self.now())
            return judge_row(find_judge(on, snapshot, judge), snapshot, None)

        return self.database.write(work)

    def disagreements(
        self, slug: str, *, search: str = "", limit: int = 50
    ) -> list[DisagreementTopic]:
        """Queries whose items split the trusted judges, the most split first."""
        with self.database.read() as on:
            return disagreements_of(on, self.load(on, slug), search, limit)

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
        with self.database.read() as on:
            project = self.load(on, slug).project
            return log_entries(on, project, before=before, limit=limit, judge=judge, event=event)

    def audit(self, slug: str) -> list[str]:
        """Where judges stand otherwise than a replay of the log says; empty if all is well."""
        with self.database.read() as on:
            snapshot = self.load(on, slug)
            log = whole_log(on, snapshot.project)
            return [*audit(on, snapshot), *misassigned(snapshot.seed, log)]

    # -- experiments

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
        with self.database.read() as on:
            snapshot = self.load(on, slug)
            return report_of(on, snapshot, test=test, models=models, resamples=resamples, seed=seed)

    def arm_warnings(self, slug: str) -> list[str]:
        """What is wrong with the arms: too few judgments for each, a training mix that leans."""
        with self.database.read() as on:
            snapshot = self.load(on, slug)
        return [*arm_warnings(snapshot), *arm_gold_warnings(snapshot)]

    # -- inviting

    def make_invites(
        self, slug: str, notes: Sequence[str], *, expires: datetime | None = None
    ) -> list[Invite]:
        """One invitation for each note (whom it is for)."""

        def work(on: Connection) -> list[Invite]:
            project = self.load(on, slug).project
            return make_invites(on, project, list(notes), expires, self.now())

        return self.database.write(work)

    def invites(self, slug: str) -> list[Invite]:
        """Every invitation, newest first."""
        with self.database.read() as on:
            return list_invites(on, self.load(on, slug).project)

    def revoke_invite(self, slug: str, invite: str) -> None:
        """Make an invitation void; who came by it already stays."""

        def work(on: Connection) -> None:
            revoke_invite(on, self.load(on, slug).project, invite)

        self.database.write(work)

    # -- taking out

    def judgments(
        self, slug: str, *, trusted: bool = True, golds: bool = False, dry_runs: bool = False
    ) -> Judgments | None:
        """The judgments as the library's models take them; None where there are none.

        ``trusted``: leave out those of blocked judges. ``golds``: with the answers to screening
        golds, so that a model can learn from them beside ``gold``. ``dry_runs``: also those of
        dry runs, which are never trusted.
        """
        with self.database.read() as on:
            return judgments_of(
                on, self.load(on, slug), trusted=trusted, golds=golds, dry_runs=dry_runs
            )

    def gold(self, slug: str) -> Gold | None:
        """The active gold with the first accepted label of each; None where there is none."""
        with self.database.read() as on:
            return gold_of(on, self.load(on, slug))

    def panel_outcomes(self, slug: str) -> Any:
        """How each participant of a panel ended, what she is due and what to do, as Arrow."""
        with self.database.read() as on:
            return panel_outcomes(on, self.load(on, slug))

    def use_panel(
        self, slug: str, panel: str, settings: Mapping[str, Any] | None = None
    ) -> tuple[Policy, int]:
        """Set what a panel (``prolific``) asks for, then settings of one's own, in one change."""
        own = dict(settings or {})
        asked = preset(panel, self.policy(slug)[0].changed(own))
        return self.set_policy(slug, {**asked, **own})

    def table(self, slug: str, *, dry_runs: bool = False) -> Any:
        """Every answer as an Arrow table, one row each; dry runs only if asked for.

        Columns: item, topic, document, query, judge, arm, kind, label, other, comment, standing,
        gold, right, page, row, seconds, time.
        """
        with self.database.read() as on:
            return table_of(on, self.load(on, slug), dry_runs=dry_runs)

    def counts(self) -> dict[str, int]:
        """Figures of the whole store: projects, judges, open pages, judgments."""
        with self.database.read() as on:
            return counts_of(on)

    def _summary(self, on: Connection, slug: str) -> ProjectSummary:
        found = summaries(on, (projects.c.slug == slug) & self._hers(on))
        if not found:
            raise NotFound("project", slug)
        return found[0]
