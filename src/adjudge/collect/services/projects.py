"""Projects, for the requester: made, changed, watched, and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import change_needed
from adjudge.collect.items.counters import add_counts
from adjudge.collect.items.storing import count_work
from adjudge.collect.judging.refreshers import counts_of as refresher_counts
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.replay import LogReplay
from adjudge.collect.rules.routing import assign_arm
from adjudge.collect.services._gold_editing import import_items
from adjudge.collect.services._panels import PROLIFIC_PARAMETERS, preset_panel
from adjudge.collect.services._progress import (
    list_disagreements,
    measure_activity,
    measure_pace,
    measure_progress,
)
from adjudge.collect.services._stored_projects import (
    check_colours,
    create_project,
    delete_project,
    list_heads,
    read_project,
    summarize_projects,
)
from adjudge.collect.services.caller import (
    Service,
    find_requester,
    reads,
    reads_store,
    writes,
    writes_store,
)
from adjudge.collect.store.database import from_row
from adjudge.collect.store.request import Request, record_of
from adjudge.collect.store.schema import items, judges, judgments, log, logged_by, pages, projects
from adjudge.collect.store.snapshot import scale_to_json
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.collect.values.questions import FurtherQuestion, check_questions
from adjudge.collect.values.requesting import (
    PROJECT_STATES,
    DisagreementTopic,
    Imported,
    LogEntry,
    MemberRole,
    Progress,
    ProjectActivity,
    ProjectHead,
    ProjectPace,
    ProjectState,
    ProjectSummary,
)
from adjudge.collect.values.sides import is_of_pairs
from adjudge.collect.values.texts import check_markdown
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, NotFound, Refused

_NUMBERS = (  # settings that how many judgments items need depends on
    *("judgments_per_item", "judgments_by_arm"),
    *("closing", "least_judgments", "most_judgments", "sure"),
)


@dataclass(frozen=True, slots=True)
class ProjectService(Service):
    """What a requester can do with projects."""

    @writes_store
    def create(self, on: Connection, project: Project) -> ProjectSummary:
        """Store a project as a draft: guidelines, scale, items, gold, policy.

        Refused: ``guest``.
        """
        owner = self._may_create(on)
        actor, now = self.caller.id or self.caller.name, self.caller.now()
        made = create_project(on, project, owner=owner, actor=actor, now=now)
        return summarize_projects(on, projects.c.id == made, owner)[0]

    @reads_store
    def check_may_create(self, on: Connection) -> None:
        """Refuse whoever makes no projects, before what they sent is looked at: ``guest``."""
        self._may_create(on)

    def _may_create(self, on: Connection) -> int | None:
        """The owner of what is made; None where nobody in particular is."""
        actor = self.caller.actor
        if actor is None:
            return None
        found = find_requester(on, actor.requester)
        if found.guest:
            raise Refused("guest", "whoever came by a link makes no projects of their own")
        return int(found.id)

    @reads_store
    def get_all(self, on: Connection) -> list[ProjectSummary]:
        """The requester's projects, newest first."""
        return summarize_projects(on, self.caller.sees(on), self.caller.find_id(on))

    @reads_store
    def get(self, on: Connection, slug: str) -> ProjectSummary:
        """One project."""
        return self._summarize(on, slug)

    @reads_store
    def get_head(self, on: Connection, slug: str) -> ProjectHead:
        """One project without what has to be counted: as quick for a large one as for a small."""
        which = (projects.c.slug == slug) & self.caller.sees(on)
        for head in list_heads(on, which, self.caller.find_id(on)).values():
            return head
        raise NotFound("project", slug)

    @reads_store
    def check_role(self, on: Connection, slug: str, least: MemberRole = "viewer") -> MemberRole:
        """The requester's role in a project: ``NotFound`` where they may not see it.

        Refused: ``role`` where it is less than ``least``.
        """
        return self.caller.find(on, slug, least).role

    @reads()
    def read(self, request: Request) -> Project:
        """The project as the plain value it was made from, with all later changes."""
        return read_project(request.on, request.project.id)

    @reads()
    def get_known(self, request: Request) -> tuple[Scale, frozenset[str], dict[str, str]]:
        """What files are read by that add to a project.

        Its scale, the names of its items, and the topic of each query.
        """
        statement = select(items.c.name, items.c.query, items.c.topic).order_by(items.c.id)
        ours = (items.c.project == request.project.id, items.c.state != "withdrawn")
        stored = request.on.execute(statement.where(*ours)).all()
        names = frozenset(row.name for row in stored)
        return request.project.scale, names, {row.query: row.topic for row in stored}

    @writes()
    def set_state(self, request: Request, state: ProjectState) -> ProjectSummary:
        """Open, pause or close a project. Refused: ``no-items`` to open one without items.

        Paused: no new page, open pages may be sent. Closed: nothing is taken any more.
        """
        if state not in PROJECT_STATES or state == "draft":
            raise BadSetting("state", state, "open, paused or closed")
        if state == "open" and count_work(request.on, request.project.id) == 0:
            raise Refused("no-items", "there is nothing to judge in this project yet")
        if state != request.project.state:
            _change(request, state=state)
            request.log(f"project-{state}", actor=request.actor)
        return self._summarize(request.on, request.project.slug)

    @writes("owner")
    def delete(self, request: Request) -> None:
        """Delete a project with all that belongs to it.

        Refused: ``not-closed`` unless it is a draft or closed.
        """
        delete_project(request)

    @writes()
    def set_guidelines(self, request: Request, guidelines: str) -> None:
        """Replace the guidelines."""
        _change(request, guidelines=check_markdown("guidelines", guidelines))
        request.log("guidelines-changed", actor=request.actor)

    @reads()
    def get_scale(self, request: Request) -> Scale:
        """The labels, their order and their grades."""
        return request.project.scale

    @writes(alone=True)
    def set_scale(
        self, request: Request, scale: Scale, *, colours: Mapping[str, str] | None = None
    ) -> None:
        """Replace the labels, and their colours (none: labels that stay keep theirs).

        Refused: ``judged-already``, once somebody has judged with them.
        """
        if colours is None:
            had = request.project.colours
            colours = {label: had[label] for label in scale.labels if label in had}
        check_colours(colours, scale)
        _check_unjudged(request, "judges have used these labels already")
        if request.project.of_pairs and not is_of_pairs(scale.labels):
            raise BadSetting("labels", str(scale), "left, right and perhaps tie: items are pairs")
        for gold in request.project.golds.values():
            for label in gold.accepted if gold.active else ():
                if label not in scale.labels:
                    expected = f"{label} among them: gold has that label"
                    raise BadSetting("labels", str(scale), expected)
        _change(request, scale=scale_to_json(scale, colours))
        request.log("labels-changed", actor=request.actor, labels=list(scale.labels))

    @reads()
    def get_questions(self, request: Request) -> tuple[FurtherQuestion, ...]:
        """The further questions, after the first."""
        return request.project.questions

    @writes(alone=True)
    def set_questions(self, request: Request, questions: Sequence[FurtherQuestion]) -> None:
        """Replace the further questions. Refused: ``judged-already``."""
        _check_unjudged(request, "judges have answered these questions already")
        checked = check_questions(questions, of_pairs=request.project.of_pairs)
        _change(request, questions=[one.to_dict() for one in checked])
        names = [one.name for one in questions]
        request.log("questions-changed", actor=request.actor, questions=names)

    @writes(lock=True)
    def set_grades(self, request: Request, grades: Mapping[str, float]) -> None:
        """Give each label the number that it has where tools rate with numbers.

        Labels above 0 are those that count as relevant.
        """
        scale = request.project.scale
        missing = [label for label in scale.labels if label not in grades]
        if missing:
            raise BadSetting("grades", missing[0], f"a grade for each of {', '.join(scale.labels)}")
        given = tuple(float(grades[label]) for label in scale.labels)
        relevant = tuple(label for label in scale.labels if grades[label] > 0)
        changed = replace(scale, grades=given, relevant=relevant)
        _change(request, scale=scale_to_json(changed, request.project.colours))
        request.log("grades-changed", grades=dict(zip(scale.labels, given, strict=True)))

    @reads()
    def get_policy(self, request: Request) -> tuple[Policy, int]:
        """The policy and its version."""
        return request.project.policy, request.project.policy_version

    @reads()
    def get_guidelines(self, request: Request) -> str:
        """The guidelines as Markdown."""
        return request.project.guidelines

    @writes(lock=True)
    def set_policy(self, request: Request, settings: Mapping[str, Any]) -> tuple[Policy, int]:
        """Change some settings of the policy under a new version; the policy and its version."""
        return _set_policy(request, settings)

    @writes(lock=True)
    def use_panel(
        self, request: Request, panel: str, settings: Mapping[str, Any] | None = None
    ) -> tuple[Policy, int]:
        """Set what a panel (``prolific``) asks for, then settings of one's own, in one change."""
        own = dict(settings or {})
        asked = preset_panel(panel, request.project.policy.changed(own))
        return _set_policy(request, {**asked, **own})

    @writes(alone=True)
    def add_items(
        self, request: Request, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Add items and gold; an item or gold of a known name is changed to what is given."""
        return import_items(request, items, golds)

    @writes(alone=True)
    def replace_items(
        self, request: Request, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Make these the items and gold: as ``add_items``, and what is not among them is withdrawn.

        Withdrawn items keep their judgments but are shown to nobody; withdrawn gold does not
        count any more.
        """
        return import_items(request, items, golds, keep_others=False)

    # -- watching

    @reads()
    def get_progress(self, request: Request) -> Progress:
        """How far the project is, what it cost, why items are open."""
        return measure_progress(request)

    @reads()
    def get_activity(self, request: Request) -> ProjectActivity:
        """What the project has cost, how right its judges are, and when they last answered."""
        return measure_activity(request)

    @reads()
    def get_pace(self, request: Request, progress: Progress | None = None) -> ProjectPace:
        """How judgments come in over time, and when the project may be done.

        ``progress``: as it was just measured, so that nothing is counted twice.
        """
        return measure_pace(request, progress.lacking if progress else None)

    @reads()
    def get_disagreements(
        self, request: Request, *, search: str = "", limit: int = 50
    ) -> list[DisagreementTopic]:
        """Queries whose items split the trusted judges, the most split first."""
        return list_disagreements(request, search, limit)

    @reads()
    def get_log(
        self,
        request: Request,
        *,
        before: int | None = None,
        limit: int = 100,
        judge: str | None = None,
        event: str | None = None,
    ) -> list[LogEntry]:
        """The log, newest first; ``before`` is the last entry number seen, to page on."""
        return list_log(request, before=before, limit=limit, judge=judge, event=event)

    @reads()
    def audit(self, request: Request) -> list[str]:
        """Where the stored judges, or their arms, differ from a replay of the log."""
        entries = list_log(request, limit=None)[::-1]
        replay = LogReplay().play(entries)
        faults = list(replay.faults)
        done = refresher_counts(request.on, request.project.id)
        if done != replay.refreshers:
            faults.append(f"refreshers: stored {done}, by the log {replay.refreshers}")
        ours = select(judges).where(judges.c.project == request.project.id)
        for judge in request.on.execute(ours.order_by(judges.c.id)):
            found, expected = record_of(judge), replay.records.get(judge.public)
            if found != expected:
                faults.append(f"judge {judge.public}: stored {found}, by the log {expected}")
        return [*faults, *_find_misassigned(request.project.seed, entries)]

    @reads_store
    def count_stored(self, on: Connection) -> dict[str, int]:
        """Figures of the entire store: projects, judges, open pages, judgments."""

        def count(table: Any, *which: ColumnElement[bool]) -> int:
            statement = select(func.count()).select_from(table).where(*which)
            return int(on.execute(statement).scalar_one())

        return {
            "projects": count(projects),
            "open_projects": count(projects, projects.c.state == "open"),
            "judges": count(judges),
            "open_pages": count(pages, pages.c.state == "open"),
            "judgments": count(judgments),
        }

    def _summarize(self, on: Connection, slug: str) -> ProjectSummary:
        which = (projects.c.slug == slug) & self.caller.sees(on)
        found = summarize_projects(on, which, self.caller.find_id(on))
        if not found:
            raise NotFound("project", slug)
        return found[0]


def list_log(
    request: Request,
    *,
    before: int | None = None,
    limit: int | None = 100,
    judge: str | None = None,
    event: str | None = None,
) -> list[LogEntry]:
    """Lines of the log, newest first."""
    columns = (log, judges.c.public, logged_by.label("by"))
    statement = select(*columns).outerjoin(judges, judges.c.id == log.c.judge)
    statement = statement.where(log.c.project == request.project.id).order_by(log.c.id.desc())
    if before is not None:
        statement = statement.where(log.c.id < before)
    if judge is not None:
        statement = statement.where(judges.c.public == judge)
    if event is not None:
        statement = statement.where(log.c.event == event)
    return [
        from_row(LogEntry, row, entry=row.id, actor=row.by, judge=row.public)
        for row in request.on.execute(statement.limit(limit))
    ]


def _find_misassigned(seed: int, entries: Iterable[LogEntry]) -> list[str]:
    """Judges whose arm is not what the seed and the log say; none if all is well."""
    order: list[str] = []
    faults = []
    for entry in entries:
        figures: Mapping[str, Any] = entry.figures
        if entry.event in ("project-created", "arms-changed"):
            order = list(figures.get("order", figures["arms"]))
        elif entry.event == "arrived" and figures["number"] is not None:  # None: a dry run
            expected = assign_arm(seed, figures["number"], order)
            if figures["arm"] != expected:
                faults.append(f"judge {entry.judge}: in arm {figures['arm']}, by seed {expected}")
    return faults


def _change(request: Request, **values: Any) -> None:
    """Change the project under a new version, so that nobody works by what it was."""
    ours = update(projects).where(projects.c.id == request.project.id)
    request.on.execute(ours.values(**values, version=projects.c.version + 1))


def _check_unjudged(request: Request, problem: str) -> None:
    """Refuse what cannot change once somebody has judged. Refused: ``judged-already``."""
    given = select(judgments.c.id).where(judgments.c.project == request.project.id).limit(1)
    if request.on.execute(given).scalar() is not None:
        raise Refused("judged-already", problem)


def _set_policy(request: Request, changes: Mapping[str, Any]) -> tuple[Policy, int]:
    before, policy = request.project.policy, request.project.policy.changed(changes)
    if policy == before:
        return policy, request.project.policy_version
    _change(request, policy=policy.to_dict(), policy_version=projects.c.policy_version + 1)
    if any(getattr(policy, name) != getattr(before, name) for name in _NUMBERS):
        change_needed(request.on, request.project.id, policy)
    elif policy.set_aside_after != before.set_aside_after:
        ours = select(items.c.id).where(items.c.project == request.project.id)
        add_counts(request.on, list(request.on.execute(ours).scalars()), policy)
    fresh = request.reloaded()
    changed = {name: policy.to_dict()[name] for name in changes}
    figures: dict[str, Any] = {"policy": policy.to_dict(), "changed": changed}
    fresh.log("policy-changed", actor=request.actor, **figures)
    return policy, fresh.project.policy_version


def entry_link(base: str, policy: Policy) -> str:
    """The link to give to a panel: with Prolific's placeholders, else with ID to be replaced."""
    if policy.panel == "prolific":
        return base + "?" + "&".join(f"{name}={{{{%{name}%}}}}" for name in PROLIFIC_PARAMETERS)
    return f"{base}?{quote(policy.participant_parameter or 'participant')}=ID"
