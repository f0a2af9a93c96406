"""Items and gold changed while judges work: every answer to a changed gold is graded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import update

from adjudge.collect.gold.keeping import check_workable, warn_of_gold
from adjudge.collect.gold.review import regrade
from adjudge.collect.items.storing import add_items, check_accepted, withdraw_others
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import golds
from adjudge.collect.store.snapshot import ProjectSnapshot, answers_of, bump
from adjudge.collect.values.project import ROLES, GoldEntry, Item, Role
from adjudge.collect.values.requesting import Imported, Regrade
from adjudge.errors import BadSetting, NotFound


def import_items(
    request: Request,
    given: Sequence[Item],
    entries: Sequence[GoldEntry],
    *,
    keep_others: bool = True,
) -> Imported:
    """Add or change items and gold; without ``keep_others``, withdraw all others.

    The caller holds answers off (``edit_gold_alone``) before anything is locked: a judge who
    answers may wait for one of the items.
    """
    stored = add_items(
        request.on,
        request.project.id,
        given,
        entries,
        scale=request.project.scale,
        policy=request.project.policy,
    )
    withdrawn = 0
    retired: list[int] = []
    if not keep_others:
        kept = {item.name for item in given}
        withdrawn, retired = withdraw_others(
            request.on, request.project.id, kept, {entry.item for entry in entries}
        )
    bump(request.on, request.project.id)
    fresh = request.reloaded()
    figures: dict[str, Any] = {
        "added": stored.added,
        "changed": stored.changed,
        "withdrawn": withdrawn,
        "golds": {
            gold: accepted
            for gold, accepted in answers_of(fresh.project).items()
            if int(gold) not in request.project.golds
        },
    }
    fresh.log("items-stored", actor=request.actor, **figures)
    changed = [*stored.regrade, *retired]
    if changed:
        regrade(fresh, changed)
    return Imported(
        added=stored.added,
        changed=stored.changed,
        withdrawn=withdrawn,
        golds_added=stored.golds_added,
        golds_changed=stored.golds_changed + len(retired),
        warnings=tuple(warn_of_gold(fresh)),
    )


def edit_gold(request: Request, item: str, changes: Mapping[str, Any]) -> Regrade:
    """Change a gold and regrade every answer to it."""
    gold = _gold_of(request.project, item)
    if "accepted" in changes:
        check_accepted(changes["accepted"], request.project.scale, item)
    if changes.get("role", "both") not in ROLES:
        raise BadSetting("role", changes["role"], " or ".join(ROLES))
    request.on.execute(
        update(golds).where(golds.c.id == gold).values(**changes, version=golds.c.version + 1)
    )
    bump(request.on, request.project.id)
    fresh = request.reloaded()
    done = regrade(fresh, [gold])
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
    request: Request, item: str, *, accepted: Sequence[str], reason: str, role: Role
) -> Imported:
    """Make gold of an item that was work, by a person's word.

    Its judgments stay; it is given out as work no more. Refused: ``gold-already``.
    """
    check_workable(request, item)
    entry = GoldEntry(item=item, accepted=tuple(accepted), reason=reason, role=role)
    done = import_items(request, (), (entry,))
    figures: dict[str, Any] = {"item": item, "accepted": list(accepted), "role": role}
    request.log("gold-approved", actor=request.actor, **figures)
    return done


def _gold_of(snapshot: ProjectSnapshot, item: str) -> int:
    """The gold of an item, by the item's name."""
    for gold, facts in snapshot.golds.items():
        if facts.name == item:
            return gold
    raise NotFound("gold", item)
