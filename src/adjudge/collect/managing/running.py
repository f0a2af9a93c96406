"""Running a project: its list, its state, its items and gold changed while judges are at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, case, func, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.dossier import Dossier, load_dossier
from adjudge.collect.gold.review import names_to_golds, regrade
from adjudge.collect.judging.dry_runs import is_real
from adjudge.collect.judging.refreshers import counts_of as refresher_counts
from adjudge.collect.managing.catalogue import (
    add_items,
    answers_of,
    bump,
    check_accepted,
    withdraw_others,
)
from adjudge.collect.managing.oversight import whole_log
from adjudge.collect.managing.progress import warnings_of
from adjudge.collect.project import ROLES, GoldEntry, Item
from adjudge.collect.records import line, record_of, to_time, write_log
from adjudge.collect.rules.replay import Replay
from adjudge.collect.store.schema import (
    golds,
    items,
    judges,
    judgments,
    pages,
    projects,
    requesters,
)
from adjudge.collect.views import (
    PROJECT_STATES,
    Imported,
    ProjectState,
    ProjectSummary,
    Regrade,
)
from adjudge.errors import BadSetting, Refused


def summaries(on: Connection, which: ColumnElement[bool]) -> list[ProjectSummary]:
    """Projects with their counts, newest first."""
    found = on.execute(
        select(projects, requesters.c.name.label("owner_name"))
        .outerjoin(requesters, requesters.c.id == projects.c.owner)
        .where(which)
        .order_by(projects.c.id.desc())
    ).all()
    ids = [row.id for row in found]

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
            slug=row.slug,
            name=row.name,
            state=cast(ProjectState, row.state),
            owner=row.owner_name or "system",
            made=to_time(row.made),
            labels=tuple(row.scale["labels"]),
            policy_version=row.policy_version,
            items=work.get(row.id, none)[1],
            closed=work.get(row.id, none)[2],
            golds=by_project["golds"].get(row.id, none)[1],
            judges=by_project["judges"].get(row.id, none)[1],
            judgments=by_project["judgments"].get(row.id, none)[1],
        )
        for row in found
    ]


def _counted(table: Any, *conditions: ColumnElement[bool]) -> Select[Any]:
    return select(table.c.project, func.count()).where(*conditions).group_by(table.c.project)


def counts_of(on: Connection) -> dict[str, int]:
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


def set_state(
    on: Connection, dossier: Dossier, state: ProjectState, *, actor: str, now: float
) -> None:
    """Open, pause or close a project."""
    if state not in PROJECT_STATES or state == "draft":
        raise BadSetting("state", state, "open, paused or closed")
    if state == "open":
        work = on.execute(
            select(func.count()).where(
                items.c.project == dossier.project,
                items.c.gold.is_(False),
                items.c.state != "withdrawn",
            )
        ).scalar_one()
        if work == 0:
            raise Refused("no-items", "there is nothing to judge in this project yet")
    if state == dossier.state:
        return
    on.execute(update(projects).where(projects.c.id == dossier.project).values(state=state))
    bump(on, dossier.project)
    write_log(on, [line(dossier, now, f"project-{state}", actor=actor)])


def set_guidelines(
    on: Connection, dossier: Dossier, guidelines: str, *, actor: str, now: float
) -> None:
    """Replace the guidelines."""
    text = guidelines.replace("\0", "")
    on.execute(update(projects).where(projects.c.id == dossier.project).values(guidelines=text))
    bump(on, dossier.project)
    write_log(on, [line(dossier, now, "guidelines-changed", actor=actor)])


def import_items(
    on: Connection,
    dossier: Dossier,
    given: Sequence[Item],
    entries: Sequence[GoldEntry],
    *,
    alone: bool = False,
    actor: str,
    now: float,
) -> Imported:
    """Add or change items and gold; with ``alone``, withdraw all others.

    The caller holds answers off (``edit_gold_alone``) before anything is locked: a judge who
    answers may wait for one of the items.
    """
    stored = add_items(
        on, dossier.project, given, entries, scale=dossier.scale, policy=dossier.policy
    )
    withdrawn = 0
    retired: list[int] = []
    if alone:
        kept = {item.name for item in given}
        withdrawn, retired = withdraw_others(
            on, dossier.project, kept, {entry.item for entry in entries}
        )
    bump(on, dossier.project)
    fresh = load_dossier(on, dossier.project)
    figures: dict[str, Any] = {
        "added": stored.added,
        "changed": stored.changed,
        "withdrawn": withdrawn,
        "golds": {
            gold: accepted
            for gold, accepted in answers_of(fresh).items()
            if int(gold) not in dossier.golds
        },
    }
    write_log(on, [line(fresh, now, "items-stored", actor=actor, **figures)])
    changed = [*stored.regrade, *retired]
    if changed:
        regrade(on, fresh, changed, actor=actor, now=now)
    return Imported(
        added=stored.added,
        changed=stored.changed,
        withdrawn=withdrawn,
        golds_added=stored.golds_added,
        golds_changed=stored.golds_changed + len(retired),
        warnings=tuple(warnings_of(on, fresh)),
    )


def edit_gold(
    on: Connection,
    dossier: Dossier,
    item: str,
    changes: Mapping[str, Any],
    *,
    actor: str,
    now: float,
) -> Regrade:
    """Change a gold and regrade every answer to it."""
    (gold,) = names_to_golds(dossier, [item])
    if "accepted" in changes:
        check_accepted(changes["accepted"], dossier.scale, item)
    if changes.get("role", "both") not in ROLES:
        raise BadSetting("role", changes["role"], " or ".join(ROLES))
    on.execute(
        update(golds).where(golds.c.id == gold).values(**changes, version=golds.c.version + 1)
    )
    bump(on, dossier.project)
    fresh = load_dossier(on, dossier.project)
    done = regrade(on, fresh, [gold], actor=actor, now=now)
    return Regrade(
        item=item,
        answers=done.answers,
        changed=done.changed,
        judges=done.judges,
        unblocked=tuple(done.unblocked),
        passed=tuple(done.passed),
        upheld=done.upheld,
    )


def audit(on: Connection, dossier: Dossier) -> list[str]:
    """Where the stored state of judges differs from a replay of the log."""
    replay = Replay().play(whole_log(on, dossier.project))
    expected, faults = replay.records, list(replay.faults)
    done = refresher_counts(on, dossier.project)
    if done != replay.refreshers:
        faults.append(f"refreshers: stored {done}, by the log {replay.refreshers}")
    stored = on.execute(
        select(judges).where(judges.c.project == dossier.project).order_by(judges.c.id)
    )
    for judge in stored:
        found = record_of(judge)
        if found != expected.get(judge.public):
            faults.append(
                f"judge {judge.public}: stored {found}, by the log {expected.get(judge.public)}"
            )
    return faults
