"""Projects in the store: made from a plain value, read back as one, changed, deleted."""

from __future__ import annotations

import dataclasses
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.dossier import MAIN_ARM, Dossier, load_dossier, scale_from_json, scale_to_json
from adjudge.collect.experiments.arms import arms_of, store_arms
from adjudge.collect.experiments.quotas import arms_in, judgments_needed
from adjudge.collect.judging.closing import fixed_name, knowledge_name
from adjudge.collect.judging.leases import set_needed, set_states
from adjudge.collect.project import Arm, GoldEntry, Item, Project, Role
from adjudge.collect.records import line, write_log
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import interleave
from adjudge.collect.store.schema import (
    arms,
    contests,
    golds,
    invites,
    items,
    judges,
    judgments,
    log,
    page_rows,
    pages,
    projects,
    settings,
    tokens,
)
from adjudge.collect.values import OTHERS
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, Refused, shown

_MAIN = Arm(name=MAIN_ARM)
_NUMBERS = (  # settings that how many judgments items need depends on
    *("judgments_per_item", "judgments_by_arm"),
    *("closing", "least_judgments", "most_judgments", "sure"),
)
TEXTS = ("topic", "query", "document", "need", "category", "title", "text", "url", "image")


def slug_of(on: Connection, name: str) -> str:
    """A short name for addresses, which no other project has."""
    base = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:60] or "project"
    taken = set(
        on.execute(select(projects.c.slug).where(projects.c.slug.startswith(base))).scalars()
    )
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def create(on: Connection, project: Project, *, owner: int | None, actor: str, now: float) -> int:
    """Store a project whole, as a draft; its id."""
    policy = Policy.from_dict(project.policy)
    if not project.name.strip():
        raise BadSetting("name", project.name, "a name for the project")
    clash = [label for label in project.scale.labels if label in OTHERS]
    if clash:
        raise BadSetting("labels", clash[0], f"labels other than {' and '.join(OTHERS)}")
    made = on.execute(
        insert(projects)
        .values(
            slug=slug_of(on, project.name),
            name=project.name.strip(),
            owner=owner,
            state="draft",
            guidelines=project.guidelines,
            scale=scale_to_json(project.scale),
            policy=policy.to_dict(),
            policy_version=1,
            version=1,
            seed=secrets.randbits(62) if project.seed is None else project.seed,
            made=now,
        )
        .returning(projects.c.id)
    ).scalar_one()
    given = project.arms or (_MAIN,)
    store_arms(on, made, given, policy)
    add_items(on, made, project.items, project.golds, scale=project.scale, policy=policy)
    dossier = load_dossier(on, made)
    figures: dict[str, Any] = {
        "policy": policy.to_dict(),
        "arms": {arm.name: arm.policy for arm in given},
        "order": [arm.name for arm in given],
        "golds": answers_of(dossier),
    }
    write_log(on, [line(dossier, now, "project-created", actor=actor, **figures)])
    return int(made)


def answers_of(dossier: Dossier) -> dict[str, list[str]]:
    """The accepted labels of every gold that counts, by its id, for the log."""
    return {str(gold.gold): list(gold.accepted) for gold in dossier.golds.values() if gold.active}


def bump(on: Connection, project: int) -> None:
    """Note that something changed that pages depend on."""
    on.execute(
        update(projects).where(projects.c.id == project).values(version=projects.c.version + 1)
    )


def check_items(given: Sequence[Item], entries: Sequence[GoldEntry], scale: Scale) -> None:
    """Refuse items and gold that cannot be stored, before anything is."""
    seen: set[str] = set()
    for row, item in enumerate(given, 1):
        if item.name in seen:
            raise BadData(f"item {shown(item.name)} is there twice", row=row, value=item.name)
        seen.add(item.name)
        if any("\0" in getattr(item, name) for name in ("name", *TEXTS)):
            raise BadData(f"item {shown(item.name)} holds a null character", row=row)
    graded: set[str] = set()
    for row, entry in enumerate(entries, 1):
        if entry.item in graded:
            raise BadData(f"gold of {shown(entry.item)} is there twice", row=row, value=entry.item)
        graded.add(entry.item)
        check_accepted(entry.accepted, scale, entry.item)


def check_accepted(accepted: Sequence[str], scale: Scale, item: str) -> None:
    """Refuse gold that accepts no label, or one that cannot be given."""
    if not accepted:
        raise BadData(f"gold of {shown(item)} accepts no label", wanted="at least one label")
    for label in accepted:
        if label not in scale.labels and label not in OTHERS:
            raise BadData(
                f"gold of {shown(item)}: {shown(label)} is not on the scale {scale}",
                value=label,
                wanted=str(scale),
            )


@dataclasses.dataclass(slots=True)
class Stored:
    """What storing items and gold changed."""

    added: int = 0
    changed: int = 0
    golds_added: int = 0
    golds_changed: int = 0
    regrade: list[int] = dataclasses.field(default_factory=list)  # golds with other answers


def add_items(
    on: Connection,
    project: int,
    given: Sequence[Item],
    entries: Sequence[GoldEntry],
    *,
    scale: Scale,
    policy: Policy,
) -> Stored:
    """Add or change items and gold; which golds have other answers than before is noted."""
    check_items(given, entries, scale)
    known = {row.name: row for row in on.execute(select(items).where(items.c.project == project))}
    graded = {entry.item for entry in entries}
    names = known.keys() | {item.name for item in given}
    for entry in entries:
        if entry.item not in names:
            raise BadData(f"gold of {shown(entry.item)}: there is no such item", value=entry.item)
    stored = Stored()
    fresh = [item for item in given if item.name not in known]
    _insert_items(on, project, fresh, graded, policy)
    stored.added = len(fresh)
    stored.changed = _change_items(on, [item for item in given if item.name in known], known)
    _store_golds(on, project, entries, stored)
    return stored


def _insert_items(
    on: Connection, project: int, fresh: Sequence[Item], graded: set[str], policy: Policy
) -> None:
    """New items, in routing order behind those that are there."""
    if not fresh:
        return
    last = on.execute(
        select(func.coalesce(func.max(items.c.rank), 0)).where(items.c.project == project)
    ).scalar_one()
    order = interleave([item.topic for item in fresh], policy.results_per_query)
    needed = judgments_needed(policy, arms_in(on, project))
    rows = [
        {
            "project": project,
            "name": item.name,
            **{name: getattr(item, name) for name in TEXTS},
            "rank": last + place,
            "gold": item.name in graded,
            "needed": needed,
            "state": "open",
        }
        for place, item in enumerate((fresh[number] for number in order), 1)
    ]
    on.execute(insert(items), rows)


def _change_items(on: Connection, given: Sequence[Item], known: Mapping[str, Any]) -> int:
    """Known items that are given otherwise, or that were withdrawn."""
    changes = []
    for item in given:
        before = known[item.name]
        texts = {f"new_{name}": getattr(item, name) for name in TEXTS}
        back = before.state == "withdrawn"
        if back or any(texts[f"new_{name}"] != getattr(before, name) for name in TEXTS):
            state = "open" if back and before.trusted < before.needed else before.state
            state = "closed" if back and before.trusted >= before.needed else state
            changes.append({"which": before.id, **texts, "new_state": state})
    if changes:
        values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in TEXTS}
        change = update(items).where(items.c.id == bindparam("which"))
        on.execute(change.values(**values, state=bindparam("new_state")), changes)
    return len(changes)


def _store_golds(
    on: Connection, project: int, entries: Sequence[GoldEntry], stored: Stored
) -> None:
    """New golds, and changes of known ones."""
    if not entries:
        return
    ids = dict(on.execute(select(items.c.name, items.c.id).where(items.c.project == project)).all())
    known = {row.item: row for row in on.execute(select(golds).where(golds.c.project == project))}
    fresh = []
    for entry in entries:
        values: dict[str, Any] = {
            "accepted": list(entry.accepted),
            "reason": entry.reason,
            "reasons": dict(entry.reasons),
            "role": entry.role,
            "active": True,
        }
        before = known.get(ids[entry.item])
        if before is None:
            fresh.append({**values, "project": project, "item": ids[entry.item], "version": 1})
            continue
        if all(getattr(before, name) == value for name, value in values.items()):
            continue
        on.execute(
            update(golds)
            .where(golds.c.id == before.id)
            .values(**values, version=golds.c.version + 1)
        )
        stored.golds_changed += 1
        if before.accepted != values["accepted"] or not before.active:
            stored.regrade.append(before.id)
    if fresh:
        on.execute(insert(golds), fresh)
        on.execute(
            update(items).where(items.c.id == bindparam("which")).values(gold=True),
            [{"which": row["item"]} for row in fresh],
        )
    stored.golds_added = len(fresh)


def withdraw_others(
    on: Connection, project: int, kept: set[str], graded: set[str]
) -> tuple[int, list[int]]:
    """Withdraw what is not named: how many items, and which golds."""
    gone = [
        row.id
        for row in on.execute(
            select(items.c.id, items.c.name).where(
                items.c.project == project, items.c.state != "withdrawn"
            )
        )
        if row.name not in kept
    ]
    if gone:
        on.execute(
            update(items).where(items.c.id == bindparam("which")).values(state="withdrawn"),
            [{"which": item} for item in gone],
        )
    retired = [
        row.id
        for row in on.execute(
            select(golds.c.id, items.c.name)
            .join(items, items.c.id == golds.c.item)
            .where(golds.c.project == project, golds.c.active)
        )
        if row.name not in graded
    ]
    if retired:
        on.execute(
            update(golds)
            .where(golds.c.id == bindparam("which"))
            .values(active=False, version=golds.c.version + 1),
            [{"which": gold} for gold in retired],
        )
    return len(gone), retired


def value_of(on: Connection, project: int) -> Project:
    """A stored project as the plain value that would make it."""
    row = on.execute(select(projects).where(projects.c.id == project)).one()
    fields = ("name", *TEXTS)
    columns = [items.c[name] for name in fields]
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
    arms_there = arms_of(on, project)
    return Project(
        name=row.name,
        scale=scale_from_json(row.scale),
        guidelines=row.guidelines,
        items=tuple(Item(**dict(zip(fields, item, strict=True))) for item in stored),
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
    )


def set_policy(
    on: Connection, dossier: Dossier, changes: Mapping[str, Any], *, actor: str, now: float
) -> Policy:
    """Change settings of the policy under a new version."""
    policy = dossier.policy.changed(changes)
    if policy == dossier.policy:
        return policy
    on.execute(
        update(projects)
        .where(projects.c.id == dossier.project)
        .values(
            policy=policy.to_dict(),
            policy_version=projects.c.policy_version + 1,
            version=projects.c.version + 1,
        )
    )
    if any(getattr(policy, name) != getattr(dossier.policy, name) for name in _NUMBERS):
        set_needed(on, dossier.project, policy)
    elif policy.set_aside_after != dossier.policy.set_aside_after:
        set_states(on, _ids_of(on, dossier.project), policy.set_aside_after)
    fresh = load_dossier(on, dossier.project)
    changed = {name: policy.to_dict()[name] for name in changes}
    figures: dict[str, Any] = {"policy": policy.to_dict(), "changed": changed}
    write_log(on, [line(fresh, now, "policy-changed", actor=actor, **figures)])
    return policy


def _ids_of(on: Connection, project: int) -> list[int]:
    return list(on.execute(select(items.c.id).where(items.c.project == project)).scalars())


def declined_golds(project: int) -> str:
    """The name under which the items are kept that shall not be suggested as gold."""
    return f"gold-declined:{project}"


def delete_project(on: Connection, dossier: Dossier) -> None:
    """Delete a project with all that belongs to it."""
    if dossier.state not in ("draft", "closed"):
        raise Refused("not-closed", "close the project before you delete it")
    project = dossier.project
    hers = select(pages.c.id).where(pages.c.project == project)
    on.execute(delete(log).where(log.c.project == project))
    on.execute(delete(contests).where(contests.c.project == project))
    on.execute(delete(judgments).where(judgments.c.project == project))
    on.execute(delete(page_rows).where(page_rows.c.page.in_(hers)))
    for table in (pages, invites, tokens, judges, golds, items, arms):
        on.execute(delete(table).where(table.c.project == project))
    names = (declined_golds(project), knowledge_name(project), fixed_name(project))
    on.execute(delete(settings).where(settings.c.name.in_(names)))
    on.execute(delete(projects).where(projects.c.id == project))
