"""Projects in the store: made from a plain value, read back as one, changed, deleted."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, case, delete, func, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.experiments.arms import read_stored_arms, store_arms
from adjudge.collect.items.counters import set_states
from adjudge.collect.items.standing import change_needed
from adjudge.collect.items.storing import TEXTS, add_items, count_work
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.conditions import is_real
from adjudge.collect.store.request import Request, to_time
from adjudge.collect.store.schema import (
    adjudications,
    arms,
    contests,
    golds,
    invites,
    items,
    judges,
    judgments,
    log,
    member_links,
    members,
    outbox,
    page_rows,
    pages,
    projects,
    requesters,
    settings,
    tokens,
)
from adjudge.collect.store.settings import (
    declined_golds,
    fixed_name,
    knowledge_name,
    notified_name,
    notify_name,
)
from adjudge.collect.store.snapshot import (
    MAIN_ARM,
    answers_of,
    bump,
    load_snapshot,
    scale_from_json,
    scale_to_json,
)
from adjudge.collect.values.judging import OTHERS
from adjudge.collect.values.members import MemberRole
from adjudge.collect.values.project import COLOURS, Arm, Beside, GoldEntry, Item, Project, Role
from adjudge.collect.values.questions import FurtherQuestion, check_questions
from adjudge.collect.values.requesting import (
    PROJECT_STATES,
    ProjectHead,
    ProjectState,
    ProjectSummary,
)
from adjudge.collect.values.sides import is_of_pairs
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, Refused

_MAIN = Arm(name=MAIN_ARM)
# Words that stand in addresses where the name of a project could.
_RESERVED = frozenset({"new", "upload", "starter", "import", "all", "archive", "search"})
_NUMBERS = (  # settings that how many judgments items need depends on
    *("judgments_per_item", "judgments_by_arm"),
    *("closing", "least_judgments", "most_judgments", "sure"),
)


def _make_slug(on: Connection, name: str) -> str:
    """A short name for addresses, which no other project has."""
    base = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:60].strip("-") or "project"
    taken = set(
        on.execute(select(projects.c.slug).where(projects.c.slug.startswith(base))).scalars()
    )
    slug, number = base, 2
    while slug in taken or slug in _RESERVED:
        slug, number = f"{base}-{number}", number + 1
    return slug


def create_project(
    on: Connection, project: Project, *, owner: int | None, actor: str, now: float
) -> int:
    """Store a project whole, as a draft; its id."""
    policy = Policy.from_dict(project.policy)
    if not project.name.strip():
        raise BadSetting("name", project.name, "a name for the project")
    clash = [label for label in project.scale.labels if label in OTHERS]
    if clash:
        raise BadSetting("labels", clash[0], f"labels other than {' and '.join(OTHERS)}")
    paired = is_of_pairs(project.scale.labels)
    made = on.execute(
        insert(projects)
        .values(
            slug=_make_slug(on, project.name),
            name=project.name.strip(),
            owner=owner,
            state="draft",
            guidelines=project.guidelines,
            scale=scale_to_json(project.scale, _check_colours(project.colours, project.scale)),
            policy=policy.to_dict(),
            policy_version=1,
            version=1,
            seed=secrets.randbits(62) if project.seed is None else project.seed,
            made=now,
            questions=[
                one.to_dict() for one in check_questions(project.questions, of_pairs=paired)
            ],
        )
        .returning(projects.c.id)
    ).scalar_one()
    given = project.arms or (_MAIN,)
    store_arms(on, made, given, policy)
    add_items(on, made, project.items, project.golds, scale=project.scale, policy=policy)
    snapshot = load_snapshot(on, made)
    figures: dict[str, Any] = {
        "policy": policy.to_dict(),
        "arms": {arm.name: arm.policy for arm in given},
        "order": [arm.name for arm in given],
        "golds": answers_of(snapshot),
    }
    Request(on=on, project=snapshot, now=now).log("project-created", actor=actor, **figures)
    return int(made)


def read_project(on: Connection, project: int) -> Project:
    """A stored project as the plain value that would make it."""
    row = on.execute(select(projects).where(projects.c.id == project)).one()
    fields = ("name", *TEXTS)
    columns = [*(items.c[name] for name in fields), items.c.beside]
    stored = on.execute(
        select(*columns)
        .where(items.c.project == project, items.c.state != "withdrawn")
        .order_by(items.c.id)
    )
    graded = on.execute(
        select(golds, items.c.name)
        .join(items, items.c.id == golds.c.item)
        .where(golds.c.project == project, golds.c.active)
        .order_by(golds.c.id)
    )
    default = Policy().to_dict()
    arms_there = read_stored_arms(on, project)
    return Project(
        name=row.name,
        scale=scale_from_json(row.scale),
        guidelines=row.guidelines,
        items=tuple(
            Item(
                **dict(zip(fields, item[:-1], strict=True)),
                beside=None if item[-1] is None else Beside(**item[-1]),
            )
            for item in stored
        ),
        golds=tuple(
            GoldEntry(
                item=gold.name,
                accepted=tuple(gold.accepted),
                reason=gold.reason,
                reasons=dict(gold.reasons),
                role=cast(Role, gold.role),
            )
            for gold in graded
        ),
        policy={name: value for name, value in row.policy.items() if value != default.get(name)},
        arms=() if arms_there == (_MAIN,) else arms_there,
        questions=tuple(FurtherQuestion(**one) for one in row.questions or ()),
        colours=dict(row.scale.get("colours", {})),
    )


def set_grades(request: Request, grades: Mapping[str, float]) -> None:
    """Give each label its grade; those above 0 are relevant."""
    scale = request.project.scale
    missing = [label for label in scale.labels if label not in grades]
    if missing:
        raise BadSetting("grades", missing[0], f"a grade for each of {', '.join(scale.labels)}")
    given = tuple(float(grades[label]) for label in scale.labels)
    relevant = tuple(label for label in scale.labels if grades[label] > 0)
    changed = replace(scale, grades=given, relevant=relevant)
    request.on.execute(
        update(projects)
        .where(projects.c.id == request.project.id)
        .values(
            scale=scale_to_json(changed, request.project.colours), version=projects.c.version + 1
        )
    )
    request.log("grades-changed", grades=dict(zip(scale.labels, given, strict=True)))


def set_scale(request: Request, scale: Scale, colours: Mapping[str, str]) -> None:
    """Replace the labels of a project that nobody has judged yet, and their colours.

    Refused: ``judged-already``.
    """
    _check_colours(colours, scale)
    given = select(judgments.c.id).where(judgments.c.project == request.project.id).limit(1)
    if request.on.execute(given).scalar() is not None:
        raise Refused("judged-already", "judges have used these labels already")
    if request.project.of_pairs and not is_of_pairs(scale.labels):
        raise BadSetting("labels", str(scale), "left, right and perhaps tie: items are pairs")
    for gold in request.project.golds.values():
        for label in gold.accepted if gold.active else ():
            if label not in scale.labels:
                raise BadSetting("labels", str(scale), f"{label} among them: gold has that label")
    request.on.execute(
        update(projects)
        .where(projects.c.id == request.project.id)
        .values(scale=scale_to_json(scale, colours), version=projects.c.version + 1)
    )
    request.log("labels-changed", actor=request.actor, labels=list(scale.labels))


def set_questions(request: Request, questions: Sequence[FurtherQuestion]) -> None:
    """Replace the further questions of a project that nobody has judged yet.

    Refused: ``judged-already``.
    """
    given = select(judgments.c.id).where(judgments.c.project == request.project.id).limit(1)
    if request.on.execute(given).scalar() is not None:
        raise Refused("judged-already", "judges have answered these questions already")
    checked = check_questions(questions, of_pairs=request.project.of_pairs)
    stored = [one.to_dict() for one in checked]
    request.on.execute(
        update(projects)
        .where(projects.c.id == request.project.id)
        .values(questions=stored, version=projects.c.version + 1)
    )
    names = [one.name for one in questions]
    request.log("questions-changed", actor=request.actor, questions=names)


def set_policy(request: Request, changes: Mapping[str, Any]) -> Policy:
    """Change settings of the policy under a new version."""
    policy = request.project.policy.changed(changes)
    if policy == request.project.policy:
        return policy
    request.on.execute(
        update(projects)
        .where(projects.c.id == request.project.id)
        .values(
            policy=policy.to_dict(),
            policy_version=projects.c.policy_version + 1,
            version=projects.c.version + 1,
        )
    )
    if any(getattr(policy, name) != getattr(request.project.policy, name) for name in _NUMBERS):
        change_needed(request.on, request.project.id, policy)
    elif policy.set_aside_after != request.project.policy.set_aside_after:
        set_states(request.on, _ids_of(request.on, request.project.id), policy)
    fresh = request.reloaded()
    changed = {name: policy.to_dict()[name] for name in changes}
    figures: dict[str, Any] = {"policy": policy.to_dict(), "changed": changed}
    fresh.log("policy-changed", actor=request.actor, **figures)
    return policy


def _ids_of(on: Connection, project: int) -> list[int]:
    return list(on.execute(select(items.c.id).where(items.c.project == project)).scalars())


def delete_project(request: Request) -> None:
    """Delete a project with all that belongs to it."""
    if request.project.state not in ("draft", "closed"):
        raise Refused("not-closed", "close the project before you delete it")
    project = request.project.id
    theirs = select(pages.c.id).where(pages.c.project == project)
    request.on.execute(delete(log).where(log.c.project == project))
    request.on.execute(delete(contests).where(contests.c.project == project))
    request.on.execute(delete(judgments).where(judgments.c.project == project))
    request.on.execute(delete(page_rows).where(page_rows.c.page.in_(theirs)))
    own = (adjudications, outbox, members, member_links, pages, invites, tokens)
    for table in (*own, judges, golds, items, arms):
        request.on.execute(delete(table).where(table.c.project == project))
    kept = (declined_golds, knowledge_name, fixed_name, notify_name, notified_name)
    names = [name(project) for name in kept]
    request.on.execute(delete(settings).where(settings.c.name.in_(names)))
    request.on.execute(delete(projects).where(projects.c.id == project))


def list_heads(
    on: Connection, which: ColumnElement[bool], requester: int | None = None
) -> dict[int, ProjectHead]:
    """Projects by their id inside, and the role that a requester has in them, newest first."""
    theirs = (members.c.project == projects.c.id) & (members.c.requester == requester)
    found = on.execute(
        select(projects, requesters.c.name.label("owner_name"), members.c.role)
        .outerjoin(requesters, requesters.c.id == projects.c.owner)
        .outerjoin(members, theirs)
        .where(which)
        .order_by(projects.c.id.desc())
    )
    return {
        row.id: ProjectHead(
            slug=row.slug,
            name=row.name,
            state=cast(ProjectState, row.state),
            owner=row.owner_name or "system",
            made=to_time(row.made),
            labels=tuple(row.scale["labels"]),
            policy_version=row.policy_version,
            role=cast(MemberRole, "owner" if requester in (None, row.owner) else row.role),
        )
        for row in found
    }


def summarize_projects(
    on: Connection, which: ColumnElement[bool], requester: int | None = None
) -> list[ProjectSummary]:
    """Projects with their counts, and the role that a requester has in them, newest first."""
    heads = list_heads(on, which, requester)
    ids = list(heads)

    def count(wanted: Select[Any]) -> dict[int, Any]:
        return {row[0]: row for row in on.execute(wanted)}

    work = count(
        select(
            items.c.project,
            func.count(),
            func.count(case((items.c.state == "closed", 1))),
        )
        .where(items.c.project.in_(ids), items.c.gold.is_(False), items.c.state != "withdrawn")
        .group_by(items.c.project)
    )
    dry = select(judges.c.id).where(judges.c.project.in_(ids), ~is_real)
    by_project = {
        "golds": count(_counted(golds, golds.c.active).where(golds.c.project.in_(ids))),
        "judges": count(_counted(judges, is_real).where(judges.c.project.in_(ids))),
        "judgments": count(
            _counted(judgments, judgments.c.kind == "work", judgments.c.gold.is_(None)).where(
                judgments.c.project.in_(ids), judgments.c.judge.not_in(dry)
            )
        ),
    }
    none = (0, 0, 0)
    return [
        ProjectSummary(
            **{field.name: getattr(head, field.name) for field in fields(head)},
            items=work.get(id_, none)[1],
            closed=work.get(id_, none)[2],
            golds=by_project["golds"].get(id_, none)[1],
            judges=by_project["judges"].get(id_, none)[1],
            judgments=by_project["judgments"].get(id_, none)[1],
        )
        for id_, head in heads.items()
    ]


def _counted(table: Any, *conditions: ColumnElement[bool]) -> Select[Any]:
    return select(table.c.project, func.count()).where(*conditions).group_by(table.c.project)


def count_stored(on: Connection) -> dict[str, int]:
    """Figures of the whole store."""

    def count(table: Any, *conditions: ColumnElement[bool]) -> int:
        return int(
            on.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()
        )

    return {
        "projects": count(projects),
        "open_projects": count(projects, projects.c.state == "open"),
        "judges": count(judges),
        "open_pages": count(pages, pages.c.state == "open"),
        "judgments": count(judgments),
    }


def set_state(request: Request, state: ProjectState) -> None:
    """Open, pause or close a project."""
    if state not in PROJECT_STATES or state == "draft":
        raise BadSetting("state", state, "open, paused or closed")
    if state == "open" and count_work(request.on, request.project.id) == 0:
        raise Refused("no-items", "there is nothing to judge in this project yet")
    if state == request.project.state:
        return
    request.on.execute(
        update(projects).where(projects.c.id == request.project.id).values(state=state)
    )
    bump(request.on, request.project.id)
    request.log(f"project-{state}", actor=request.actor)


def set_guidelines(request: Request, guidelines: str) -> None:
    """Replace the guidelines."""
    text = guidelines.replace("\0", "")
    request.on.execute(
        update(projects).where(projects.c.id == request.project.id).values(guidelines=text)
    )
    bump(request.on, request.project.id)
    request.log("guidelines-changed", actor=request.actor)


def _check_colours(colours: Mapping[str, str], scale: Scale) -> dict[str, str]:
    """The colours of labels, each one of those that pages know and of a label that is there."""
    for label, colour in colours.items():
        if label not in scale.labels:
            raise BadSetting("colours", label, f"labels of the scale {scale}")
        if colour not in COLOURS:
            raise BadSetting(f"colour of {label}", colour, ", ".join(COLOURS))
    return dict(colours)
