"""Items and gold put into the store from plain values, changed, and withdrawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.counters import arms_in, bring_back, put
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import interleave
from adjudge.collect.store.schema import golds, items
from adjudge.collect.values.judging import OTHERS
from adjudge.collect.values.project import GoldEntry, Item
from adjudge.collect.values.sides import PAIR_SCALE, is_of_pairs
from adjudge.data.scale import Scale
from adjudge.errors import BadData, shown

TEXTS = ("topic", "query", "document", "need", "category", "title", "text", "url", "image")
_CHANGING = (*TEXTS, "beside")
_PIECE = 2_000  # items that are stored by one statement: others wait for it


def _check_items(given: Sequence[Item], entries: Sequence[GoldEntry], scale: Scale) -> None:
    """Refuse items and gold that cannot be stored, before anything is."""
    seen: set[str] = set()
    pairs = sum(item.beside is not None for item in given)
    if pairs and not is_of_pairs(scale.labels):
        raise BadData(
            f"pairs are judged by left, tie and right, and the labels are {scale}",
            expected=str(PAIR_SCALE),
        )
    for row, item in enumerate(given, 1):
        if pairs and item.beside is None:
            problem = f"item {shown(item.name)} has only one result, and the others have two"
            raise BadData(problem, row=row, value=item.name, expected="two results")
        if item.name in seen:
            raise BadData(f"item {shown(item.name)} is there twice", row=row, value=item.name)
        seen.add(item.name)
        texts = [getattr(item, name) for name in ("name", *TEXTS)]
        if any("\0" in text for text in (*texts, *(_right_result(item) or {}).values())):
            raise BadData(f"item {shown(item.name)} holds a null character", row=row)
    graded: set[str] = set()
    for row, entry in enumerate(entries, 1):
        if entry.item in graded:
            raise BadData(f"gold of {shown(entry.item)} is there twice", row=row, value=entry.item)
        graded.add(entry.item)
        check_accepted(entry.accepted, scale, entry.item)


def _right_result(item: Item) -> dict[str, str] | None:
    """The right result of a pair as it is stored; None of what is no pair."""
    return None if item.beside is None else dataclasses.asdict(item.beside)


def check_accepted(accepted: Sequence[str], scale: Scale, item: str) -> None:
    """Refuse gold that accepts no label, or one that cannot be given."""
    if not accepted:
        raise BadData(f"gold of {shown(item)} accepts no label", expected="at least one label")
    for label in accepted:
        if label not in scale.labels and label not in OTHERS:
            raise BadData(
                f"gold of {shown(item)}: {shown(label)} is not on the scale {scale}",
                value=label,
                expected=str(scale),
            )


@dataclasses.dataclass(slots=True)
class _ItemChanges:
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
) -> _ItemChanges:
    """Add or change items and gold; which golds have other answers than before is noted."""
    _check_items(given, entries, scale)
    known = {row.name: row for row in on.execute(select(items).where(items.c.project == project))}
    graded = {entry.item for entry in entries}
    names = known.keys() | {item.name for item in given}
    for entry in entries:
        if entry.item not in names:
            raise BadData(f"gold of {shown(entry.item)}: there is no such item", value=entry.item)
    if given and known:
        before = next(iter(known.values())).beside is not None
        if before != (given[0].beside is not None):
            has = "of pairs" if before else "of single results"
            raise BadData(
                f"this project is {has}, and these items are not", expected=f"items {has}"
            )
    stored = _ItemChanges()
    fresh = [item for item in given if item.name not in known]
    _insert_items(on, project, fresh, graded, policy)
    stored.added = len(fresh)
    stored.changed = _change_items(
        on, [item for item in given if item.name in known], known, policy
    )
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
    needed = policy.judgments_needed(arms_in(on, project))
    for start in range(0, len(order), _PIECE):
        rows = [
            {
                "project": project,
                "name": item.name,
                **{name: getattr(item, name) for name in TEXTS},
                "beside": _right_result(item),
                "rank": last + place,
                "gold": item.name in graded,
                "needed": needed,
                "state": "open",
            }
            for place, item in enumerate(
                (fresh[number] for number in order[start : start + _PIECE]), start + 1
            )
        ]
        on.execute(insert(items), rows)


def _change_items(
    on: Connection, given: Sequence[Item], known: Mapping[str, Any], policy: Policy
) -> int:
    """Known items that differ from what is given, or that were withdrawn."""
    changes, returned = [], []
    for item in given:
        before = known[item.name]
        texts: dict[str, Any] = {f"new_{name}": getattr(item, name) for name in TEXTS}
        texts["new_beside"] = _right_result(item)
        back = before.state == "withdrawn"
        if back:
            returned.append(before.id)
        if back or any(texts[f"new_{name}"] != getattr(before, name) for name in _CHANGING):
            changes.append({"which": before.id, **texts})
    if changes:
        values: dict[str, Any] = {
            name: bindparam(f"new_{name}", type_=items.c[name].type) for name in _CHANGING
        }
        on.execute(update(items).where(items.c.id == bindparam("which")).values(**values), changes)
    bring_back(on, returned, policy)
    return len(changes)


_RANK = (
    update(items)
    .where(items.c.id == bindparam("which"), items.c.rank != bindparam("new_rank"))
    .values(rank=bindparam("new_rank"))
)


def set_ranks(on: Connection, ranks: Mapping[int, int]) -> None:
    """Set the places of items in the routing order."""
    on.execute(_RANK, [{"which": item, "new_rank": rank} for item, rank in ranks.items()])


def _store_golds(
    on: Connection, project: int, entries: Sequence[GoldEntry], stored: _ItemChanges
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
    put(on, gone, "withdrawn")
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


def count_work(on: Connection, project: int) -> int:
    """How many items a project has to be judged: no gold, and none that was withdrawn."""
    work = (items.c.gold.is_(False), items.c.state != "withdrawn")
    statement = select(func.count()).where(items.c.project == project, *work)
    return int(on.execute(statement).scalar_one())
