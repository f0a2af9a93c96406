"""Projects, for the requester: made, changed, watched, and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.counters import set_states
from adjudge.collect.items.standing import change_needed
from adjudge.collect.items.storing import count_work
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services._disagreement import list_disagreements
from adjudge.collect.services._gold_editing import import_items
from adjudge.collect.services._log import audit, list_log
from adjudge.collect.services._pace import measure_pace
from adjudge.collect.services._panels import PROLIFIC_PARAMETERS, preset_panel
from adjudge.collect.services._progress import measure_progress
from adjudge.collect.services._requesters import find_requester
from adjudge.collect.services._stored_projects import (
    check_colours,
    create_project,
    delete_project,
    list_heads,
    read_project,
    summarize_projects,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judges, judgments, pages, projects
from adjudge.collect.store.snapshot import scale_to_json
from adjudge.collect.values.members import MemberRole
from adjudge.collect.values.project import GoldEntry, Item, Project
from adjudge.collect.values.questions import FurtherQuestion, check_questions
from adjudge.collect.values.requesting import (
    PROJECT_STATES,
    DisagreementTopic,
    Imported,
    LogEntry,
    Progress,
    ProjectHead,
    ProjectPace,
    ProjectState,
    ProjectSummary,
)
from adjudge.collect.values.sides import is_of_pairs
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, NotFound, Refused

_NUMBERS = (  # settings that how many judgments items need depends on
    *("judgments_per_item", "judgments_by_arm"),
    *("closing", "least_judgments", "most_judgments", "sure"),
)


@dataclass(frozen=True, slots=True)
class ProjectService:
    """What a requester can do with projects."""

    caller: Caller

    def create(self, project: Project) -> ProjectSummary:
        """Store a project whole, as a draft: guidelines, scale, items, gold, policy.

        Refused: ``guest``.
        """

        def work(on: Connection) -> ProjectSummary:
            owner = self._may_create(on)
            name, now = self.caller.name, self.caller.now()
            made = create_project(on, project, owner=owner, actor=name, now=now)
            return summarize_projects(on, projects.c.id == made, owner)[0]

        return self.caller.database.write(work)

    def check_may_create(self) -> None:
        """Refuse whoever makes no projects, before what they sent is looked at: ``guest``."""
        with self.caller.database.read() as on:
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

    def get_all(self) -> list[ProjectSummary]:
        """The requester's projects, newest first."""
        with self.caller.database.read() as on:
            return summarize_projects(on, self.caller.sees(on), self.caller.find_id(on))

    def get(self, slug: str) -> ProjectSummary:
        """One project."""
        with self.caller.database.read() as on:
            return self._summarize(on, slug)

    def get_head(self, slug: str) -> ProjectHead:
        """One project without what has to be counted: as quick for a large one as for a small."""
        with self.caller.database.read() as on:
            which = (projects.c.slug == slug) & self.caller.sees(on)
            for head in list_heads(on, which, self.caller.find_id(on)).values():
                return head
        raise NotFound("project", slug)

    def check_role(self, slug: str, least: MemberRole = "viewer") -> MemberRole:
        """The requester's role in a project: ``NotFound`` where they may not see it.

        Refused: ``role`` where it is less than ``least``.
        """
        with self.caller.database.read() as on:
            return self.caller.find(on, slug, least).role

    def read(self, slug: str) -> Project:
        """The project as the plain value it was made from, with all later changes."""
        with self.caller.reading(slug) as request:
            return read_project(request.on, request.project.id)

    def get_known(self, slug: str) -> tuple[Scale, frozenset[str], dict[str, str]]:
        """What files are read by that add to a project.

        Its scale, the names of its items, and the topic of each query.
        """
        wanted = select(items.c.name, items.c.query, items.c.topic).order_by(items.c.id)
        with self.caller.reading(slug) as request:
            wanted = wanted.where(items.c.project == request.project.id)
            stored = request.on.execute(wanted.where(items.c.state != "withdrawn")).all()
            names = frozenset(row.name for row in stored)
            return request.project.scale, names, {row.query: row.topic for row in stored}

    def set_state(self, slug: str, state: ProjectState) -> ProjectSummary:
        """Open, pause or close a project. Refused: ``no-items`` to open one without items.

        Paused: no new page, open pages may be sent. Closed: nothing is taken any more.
        """

        def work(request: Request) -> ProjectSummary:
            _set_state(request, state)
            return self._summarize(request.on, slug)

        return self.caller.write(slug, work)

    def delete(self, slug: str) -> None:
        """Delete a project with all that belongs to it.

        Refused: ``not-closed`` unless it is a draft or closed.
        """
        self.caller.write(slug, delete_project, least="owner")

    def set_guidelines(self, slug: str, guidelines: str) -> None:
        """Replace the guidelines."""

        def work(request: Request) -> None:
            _change(request, guidelines=guidelines.replace("\0", ""))
            request.log("guidelines-changed", actor=request.actor)

        self.caller.write(slug, work)

    def get_scale(self, slug: str) -> Scale:
        """The labels, their order and their grades."""
        with self.caller.reading(slug) as request:
            return request.project.scale

    def set_scale(
        self, slug: str, scale: Scale, *, colours: Mapping[str, str] | None = None
    ) -> None:
        """Replace the labels, and their colours (none: labels that stay keep theirs).

        Refused: ``judged-already``, once somebody has judged with them.
        """

        def work(request: Request) -> None:
            had = request.project.colours
            kept = {label: had[label] for label in scale.labels if label in had}
            _set_scale(request, scale, kept if colours is None else colours)

        self.caller.write(slug, work, alone=True)

    def get_questions(self, slug: str) -> tuple[FurtherQuestion, ...]:
        """The further questions, beside the first."""
        with self.caller.reading(slug) as request:
            return request.project.questions

    def set_questions(self, slug: str, questions: Sequence[FurtherQuestion]) -> None:
        """Replace the further questions. Refused: ``judged-already``."""

        def work(request: Request) -> None:
            _check_unjudged(request, "judges have answered these questions already")
            checked = check_questions(questions, of_pairs=request.project.of_pairs)
            stored = [one.to_dict() for one in checked]
            _change(request, questions=stored)
            names = [one.name for one in questions]
            request.log("questions-changed", actor=request.actor, questions=names)

        self.caller.write(slug, work, alone=True)

    def set_grades(self, slug: str, grades: Mapping[str, float]) -> None:
        """Give each label the number that it stands for where tools rate with numbers.

        Labels above 0 are those that count as relevant.
        """

        def work(request: Request) -> None:
            scale = request.project.scale
            missing = [label for label in scale.labels if label not in grades]
            if missing:
                raise BadSetting(
                    "grades", missing[0], f"a grade for each of {', '.join(scale.labels)}"
                )
            given = tuple(float(grades[label]) for label in scale.labels)
            relevant = tuple(label for label in scale.labels if grades[label] > 0)
            changed = replace(scale, grades=given, relevant=relevant)
            _change(request, scale=scale_to_json(changed, request.project.colours))
            request.log("grades-changed", grades=dict(zip(scale.labels, given, strict=True)))

        self.caller.write(slug, work, lock=True)

    def get_policy(self, slug: str) -> tuple[Policy, int]:
        """The policy and its version."""
        with self.caller.reading(slug) as request:
            return request.project.policy, request.project.policy_version

    def set_policy(self, slug: str, settings: dict[str, Any]) -> tuple[Policy, int]:
        """Change some settings of the policy under a new version; the policy and its version."""

        def work(request: Request) -> tuple[Policy, int]:
            _set_policy(request, settings)
            fresh = request.reloaded().project
            return fresh.policy, fresh.policy_version

        return self.caller.write(slug, work, lock=True)

    def use_panel(
        self, slug: str, panel: str, settings: Mapping[str, Any] | None = None
    ) -> tuple[Policy, int]:
        """Set what a panel (``prolific``) asks for, then settings of one's own, in one change."""
        own = dict(settings or {})
        asked = preset_panel(panel, self.get_policy(slug)[0].changed(own))
        return self.set_policy(slug, {**asked, **own})

    def add_items(
        self, slug: str, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Add items and gold; an item or gold of a known name is changed to what is given."""
        return self.caller.write(
            slug, lambda request: import_items(request, items, golds), alone=True
        )

    def replace_items(
        self, slug: str, items: Sequence[Item], golds: Sequence[GoldEntry] = ()
    ) -> Imported:
        """Make these the items and gold: as ``add_items``, and what is not among them is withdrawn.

        Withdrawn items keep their judgments but are shown to nobody; withdrawn gold does not
        count any more.
        """
        return self.caller.write(
            slug, lambda request: import_items(request, items, golds, keep_others=False), alone=True
        )

    # -- watching

    def get_progress(self, slug: str) -> Progress:
        """How far the project is, what it cost, why items are open."""
        with self.caller.reading(slug) as request:
            return measure_progress(request)

    def get_pace(self, slug: str, progress: Progress | None = None) -> ProjectPace:
        """How judgments come in over time, and when the project may be done.

        ``progress``: as it was just measured, so that nothing is counted twice.
        """
        with self.caller.reading(slug) as request:
            return measure_pace(request, progress.lacking if progress else None)

    def get_disagreements(
        self, slug: str, *, search: str = "", limit: int = 50
    ) -> list[DisagreementTopic]:
        """Queries whose items split the trusted judges, the most split first."""
        with self.caller.reading(slug) as request:
            return list_disagreements(request, search, limit)

    def get_log(
        self,
        slug: str,
        *,
        before: int | None = None,
        limit: int = 100,
        judge: str | None = None,
        event: str | None = None,
    ) -> list[LogEntry]:
        """The log, newest first; ``before`` is the last entry number seen, to page on."""
        with self.caller.reading(slug) as request:
            return list_log(request, before=before, limit=limit, judge=judge, event=event)

    def audit(self, slug: str) -> list[str]:
        """Where judges do not stand as a replay of the log says; empty if all is well."""
        with self.caller.reading(slug) as request:
            return audit(request)

    def count_stored(self) -> dict[str, int]:
        """Figures of the whole store: projects, judges, open pages, judgments."""
        with self.caller.database.read() as on:

            def count(table: Any, *which: ColumnElement[bool]) -> int:
                wanted = select(func.count()).select_from(table).where(*which)
                return int(on.execute(wanted).scalar_one())

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


def _change(request: Request, **values: Any) -> None:
    """Change the project under a new version, so that nobody works by what it was."""
    ours = update(projects).where(projects.c.id == request.project.id)
    request.on.execute(ours.values(**values, version=projects.c.version + 1))


def _check_unjudged(request: Request, problem: str) -> None:
    """Refuse what cannot change once somebody has judged. Refused: ``judged-already``."""
    given = select(judgments.c.id).where(judgments.c.project == request.project.id).limit(1)
    if request.on.execute(given).scalar() is not None:
        raise Refused("judged-already", problem)


def _set_policy(request: Request, changes: Mapping[str, Any]) -> None:
    policy = request.project.policy.changed(changes)
    if policy == request.project.policy:
        return
    _change(request, policy=policy.to_dict(), policy_version=projects.c.policy_version + 1)
    if any(getattr(policy, name) != getattr(request.project.policy, name) for name in _NUMBERS):
        change_needed(request.on, request.project.id, policy)
    elif policy.set_aside_after != request.project.policy.set_aside_after:
        ours = select(items.c.id).where(items.c.project == request.project.id)
        set_states(request.on, list(request.on.execute(ours).scalars()), policy)
    fresh = request.reloaded()
    changed = {name: policy.to_dict()[name] for name in changes}
    figures: dict[str, Any] = {"policy": policy.to_dict(), "changed": changed}
    fresh.log("policy-changed", actor=request.actor, **figures)


def _set_state(request: Request, state: ProjectState) -> None:
    if state not in PROJECT_STATES or state == "draft":
        raise BadSetting("state", state, "open, paused or closed")
    if state == "open" and count_work(request.on, request.project.id) == 0:
        raise Refused("no-items", "there is nothing to judge in this project yet")
    if state == request.project.state:
        return
    _change(request, state=state)
    request.log(f"project-{state}", actor=request.actor)


def _set_scale(request: Request, scale: Scale, colours: Mapping[str, str]) -> None:
    check_colours(colours, scale)
    _check_unjudged(request, "judges have used these labels already")
    if request.project.of_pairs and not is_of_pairs(scale.labels):
        raise BadSetting("labels", str(scale), "left, right and perhaps tie: items are pairs")
    for gold in request.project.golds.values():
        for label in gold.accepted if gold.active else ():
            if label not in scale.labels:
                raise BadSetting("labels", str(scale), f"{label} among them: gold has that label")
    _change(request, scale=scale_to_json(scale, colours))
    request.log("labels-changed", actor=request.actor, labels=list(scale.labels))


def entry_link(base: str, policy: Policy) -> str:
    """The link to give to a panel: with Prolific's placeholders, else with ID to be replaced."""
    if policy.panel == "prolific":
        return base + "?" + "&".join(f"{name}={{{{%{name}%}}}}" for name in PROLIFIC_PARAMETERS)
    return f"{base}?{quote(policy.participant_parameter or 'participant')}=ID"
