"""Projects in the store: made from a plain value, read back as one, listed, deleted."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select
from sqlalchemy.engine import Connection

from adjudge.collect.items.storing import TEXTS, add_items
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import from_row
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import (
    DONE,
    adjudications,
    arms,
    contests,
    drafts,
    fit_labels,
    fits,
    golds,
    invites,
    is_real,
    items,
    judges,
    judgments,
    log,
    member_links,
    members,
    outbox,
    page_rows,
    pages,
    plans,
    projects,
    rankings,
    requesters,
    settings,
    tokens,
)
from adjudge.collect.store.settings import (
    declined_golds,
    dismissed_names,
    fixed_name,
    knowledge_name,
    mail_keys_name,
    notified_name,
    notify_name,
    slug_names,
)
from adjudge.collect.store.snapshot import (
    MAIN_ARM,
    answers_of,
    load_snapshot,
    scale_from_json,
    scale_to_json,
)
from adjudge.collect.values.judging import OTHERS
from adjudge.collect.values.project import COLOURS, Arm, GoldEntry, Item, OtherResult, Project
from adjudge.collect.values.questions import FurtherQuestion, check_questions
from adjudge.collect.values.requesting import ProjectHead, ProjectSummary
from adjudge.collect.values.sides import is_of_pairs
from adjudge.collect.values.texts import check_markdown
from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, Refused

_MAIN = Arm(name=MAIN_ARM)

# Words of addresses, where the name of a project could be.
_RESERVED = frozenset({"new", "upload", "starter", "import", "all", "archive", "search"})
_MOST_ARMS = 50
_LONGEST_NAME = 80


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
    """Store a project as a draft and return its id."""
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
            guidelines=check_markdown("guidelines", project.guidelines),
            scale=scale_to_json(project.scale, check_colours(project.colours, project.scale)),
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
    figures = {**describe_arms(policy, given), "golds": answers_of(snapshot)}
    Request(on=on, project=snapshot, now=now).log("project-created", actor=actor, **figures)
    return int(made)


def read_project(on: Connection, project: int) -> Project:
    """A stored project as the plain value that would make it."""
    row = on.execute(select(projects).where(projects.c.id == project)).one()
    columns = [*(items.c[name] for name in ("name", *TEXTS)), items.c.beside]
    stored = on.execute(
        select(*columns)
        .where(items.c.project == project, items.c.state != "withdrawn")
        .order_by(items.c.id)
    )
    graded = on.execute(
        select(
            *(golds.c[name] for name in ("accepted", "reason", "reasons", "role")),
            items.c.name.label("item"),
        )
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
            from_row(Item, row, beside=None if row.beside is None else OtherResult(**row.beside))
            for row in stored
        ),
        golds=tuple(from_row(GoldEntry, gold) for gold in graded),
        policy={name: value for name, value in row.policy.items() if value != default.get(name)},
        arms=() if arms_there == (_MAIN,) else arms_there,
        questions=tuple(FurtherQuestion(**one) for one in row.questions or ()),
        colours=dict(row.scale.get("colours", {})),
    )


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
    kept_of = (fits, fit_labels, plans, rankings, drafts)
    for table in (*kept_of, *own, judges, golds, items, arms):
        request.on.execute(delete(table).where(table.c.project == project))
    kept = (declined_golds, knowledge_name, fixed_name, notify_name, notified_name, mail_keys_name)
    slug = request.project.slug
    names = [*(name(project) for name in kept), *(name.format(slug) for name in slug_names)]
    of_pages = settings.c.name.startswith(dismissed_names(slug), autoescape=True)
    request.on.execute(delete(settings).where(settings.c.name.in_(names) | of_pages))
    request.on.execute(delete(projects).where(projects.c.id == project))


_HEADS = (  # read for every page of a project: built once
    select(projects, requesters.c.name.label("owner_name"), members.c.role)
    .outerjoin(requesters, requesters.c.id == projects.c.owner)
    .outerjoin(
        members,
        (members.c.project == projects.c.id) & (members.c.requester == bindparam("requester")),
    )
    .order_by(projects.c.id.desc())
)


def list_heads(
    on: Connection, which: ColumnElement[bool], requester: int | None = None
) -> dict[int, ProjectHead]:
    """Projects by their id inside, and the role that a requester has in them, newest first."""
    found = on.execute(_HEADS.where(which), {"requester": requester})
    return {
        row.id: from_row(
            ProjectHead,
            row,
            owner=row.owner_name or "system",
            labels=tuple(row.scale["labels"]),
            ordinal=bool(row.scale["ordinal"]),
            role="owner" if requester in (None, row.owner) else row.role,
        )
        for row in found
    }


def summarize_projects(
    on: Connection, which: ColumnElement[bool], requester: int | None = None
) -> list[ProjectSummary]:
    """Projects with their counts, and the role that a requester has in them, newest first."""
    heads = list_heads(on, which, requester)
    dry = select(judges.c.id).where(judges.c.project.in_(heads), ~is_real)
    work = items.c.gold.is_(False) & (items.c.state != "withdrawn")
    given = (judgments.c.kind == "work") & judgments.c.gold.is_(None)
    counted: dict[str, ColumnElement[bool]] = {
        "items": work,
        "closed": work & items.c.state.in_(DONE),
        "golds": golds.c.active,
        "judges": is_real,
        "judgments": given & judgments.c.judge.not_in(dry),
    }
    tables = {
        "items": items,
        "closed": items,
        "golds": golds,
        "judges": judges,
        "judgments": judgments,
    }
    counts: dict[str, dict[int, int]] = {}
    for name, which_rows in counted.items():
        of = tables[name].c.project
        found = select(of, func.count()).where(of.in_(heads), which_rows).group_by(of)
        counts[name] = dict(on.execute(found).all())
    return [
        from_row(ProjectSummary, head, **{name: by.get(id_, 0) for name, by in counts.items()})
        for id_, head in heads.items()
    ]


def check_colours(colours: Mapping[str, str], scale: Scale) -> dict[str, str]:
    """The colours of labels, each one of those that pages know and of a label that is there."""
    for label, colour in colours.items():
        if label not in scale.labels:
            raise BadSetting("colours", label, f"labels of the scale {scale}")
        if colour not in COLOURS:
            raise BadSetting(f"colour of {label}", colour, ", ".join(COLOURS))
    return dict(colours)


def check_arms(given: Sequence[Arm]) -> None:
    """Refuse no arms, too many, and names that look the same."""
    if not 1 <= len(given) <= _MOST_ARMS:
        raise BadSetting("arms", len(given), f"1 to {_MOST_ARMS} arms")
    seen: set[str] = set()
    for arm in given:
        if not arm.name.strip() or len(arm.name) > _LONGEST_NAME or not arm.name.isprintable():
            raise BadSetting("name of an arm", arm.name, f"1 to {_LONGEST_NAME} plain characters")
        if arm.name.casefold() in seen:
            raise BadSetting("name of an arm", arm.name, "a name that no other arm has")
        seen.add(arm.name.casefold())


def store_arms(
    on: Connection, project: int, given: Sequence[Arm], policy: Policy, *, first: int = 0
) -> None:
    """Store arms in their order, checked against the project's policy, from the ``first`` on."""
    check_arms(given)
    rows = []
    for place, arm in enumerate(given):
        try:
            policy.changed(arm.policy)
        except BadSetting as fault:
            setting = f"{fault.setting} of arm {arm.name}"
            raise BadSetting(setting, fault.value, fault.expected) from None
        settings: dict[str, Any] = {"policy": arm.policy}
        if arm.guidelines is not None:
            words = check_markdown(f"guidelines of arm {arm.name}", arm.guidelines)
            settings["guidelines"] = words
        rows.append({"project": project, "position": place, "name": arm.name, "settings": settings})
    on.execute(insert(arms), rows[first:])


def describe_arms(policy: Policy, given: Sequence[Arm]) -> dict[str, Any]:
    """What the log says of the policy and the arms, for its replay."""
    return {
        "policy": policy.to_dict(),
        "arms": {arm.name: arm.policy for arm in given},
        "order": [arm.name for arm in given],
    }


def read_stored_arms(on: Connection, project: int) -> tuple[Arm, ...]:
    """The arms of a project, in their order."""
    stored = on.execute(select(arms).where(arms.c.project == project).order_by(arms.c.position))
    return tuple(
        Arm(
            name=row.name,
            guidelines=row.settings.get("guidelines"),
            **row.settings.get("policy", {}),
        )
        for row in stored
    )
