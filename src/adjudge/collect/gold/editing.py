"""Items and gold changed while judges work: every answer to a changed gold is graded anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import update
from sqlalchemy.engine import Connection

from adjudge.collect.gold.keeping import check_workable, warnings_of
from adjudge.collect.gold.review import names_to_golds, regrade
from adjudge.collect.items.storing import add_items, check_accepted, withdraw_others
from adjudge.collect.store.records import line, write_log
from adjudge.collect.store.schema import golds
from adjudge.collect.store.snapshot import ProjectSnapshot, answers_of, bump, load_snapshot
from adjudge.collect.values.project import ROLES, GoldEntry, Item, Role
from adjudge.collect.values.requesting import Imported, Regrade
from adjudge.errors import BadSetting


def import_items(
    on: Connection,
    snapshot: ProjectSnapshot,
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
        on, snapshot.project, given, entries, scale=snapshot.scale, policy=snapshot.policy
    )
    withdrawn = 0
    retired: list[int] = []
    if alone:
        kept = {item.name for item in given}
        withdrawn, retired = withdraw_others(
            on, snapshot.project, kept, {entry.item for entry in entries}
        )
    bump(on, snapshot.project)
    fresh = load_snapshot(on, snapshot.project)
    figures: dict[str, Any] = {
        "added": stored.added,
        "changed": stored.changed,
        "withdrawn": withdrawn,
        "golds": {
            gold: accepted
            for gold, accepted in answers_of(fresh).items()
            if int(gold) not in snapshot.golds
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
    snapshot: ProjectSnapshot,
    item: str,
    changes: Mapping[str, Any],
    *,
    actor: str,
    now: float,
) -> Regrade:
    """Change a gold and regrade every answer to it."""
    (gold,) = names_to_golds(snapshot, [item])
    if "accepted" in changes:
        check_accepted(changes["accepted"], snapshot.scale, item)
    if changes.get("role", "both") not in ROLES:
        raise BadSetting("role", changes["role"], " or ".join(ROLES))
    on.execute(
        update(golds).where(golds.c.id == gold).values(**changes, version=golds.c.version + 1)
    )
    bump(on, snapshot.project)
    fresh = load_snapshot(on, snapshot.project)
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


def approve(
    on: Connection,
    snapshot: ProjectSnapshot,
    item: str,
    *,
    accepted: Sequence[str],
    reason: str,
    role: Role,
    actor: str,
    now: float,
) -> Imported:
    """Make gold of an item that was work, by a person's word.

    Its judgments stay; it is given out as work no more. Refused: ``gold-already``.
    """
    check_workable(on, snapshot, item)
    entry = GoldEntry(item=item, accepted=tuple(accepted), reason=reason, role=role)
    done = import_items(on, snapshot, (), (entry,), actor=actor, now=now)
    figures: dict[str, Any] = {"item": item, "accepted": list(accepted), "role": role}
    write_log(on, [line(snapshot, now, "gold-approved", actor=actor, **figures)])
    return done
