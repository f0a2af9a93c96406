"""Items for the requester: listed, looked at, decided, opened again, skipped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Select, bindparam, func, insert, or_, select, update

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import ask_for, bring_back, lock_items, promote, put
from adjudge.collect.managing.item_history import tell_history
from adjudge.collect.store.conditions import of_real_in
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import Request, to_time
from adjudge.collect.store.schema import adjudications, items, judges, judgments
from adjudge.collect.store.snapshot import bump
from adjudge.collect.values.accuracy import accuracy_of
from adjudge.collect.values.items import (
    FILTERS,
    SORTS,
    FinalLabel,
    ItemDetail,
    ItemJudgment,
    ListedItem,
)
from adjudge.collect.values.project import Beside
from adjudge.errors import BadSetting, NotFound, Refused

UNSURE = 0.9  # below this probability a label is unsure
_MOST_MORE = 50
_TEXTS = ("topic", "query", "need", "category", "document", "title", "text", "url", "image")


def _counted(project: int) -> tuple[Any, ...]:
    """The conditions on judgments that count for items."""
    return (
        judgments.c.project == project,
        judgments.c.kind == "work",
        judgments.c.gold.is_(None),
        judgments.c.other.is_(False),
        judgments.c.standing != "untrusted",
        of_real_in(project),
    )


def _filtered(request: Request, which: str, search: str) -> Select[Any]:
    """The items of a filter."""
    project = request.project.id
    wanted = select(items).where(items.c.project == project, items.c.state != "withdrawn")
    given = select(judgments.c.item).where(*_counted(project))
    split = given.group_by(judgments.c.item).having(func.count(judgments.c.label.distinct()) > 1)
    work = items.c.gold.is_(False)
    conditions: dict[str, tuple[Any, ...]] = {
        "all": (),
        "open": (work, items.c.state == "open"),
        "done": (work, items.c.state.in_(("closed", "final"))),
        "disputed": (work, items.c.id.in_(split)),
        "unsure": (work, items.c.sure < UNSURE, items.c.state != "final"),
        "unjudged": (work, items.c.state != "final", items.c.id.not_in(given)),
        "gold": (items.c.gold,),
        "skipped": (work, items.c.state.in_(("skipped", "set aside"))),
    }
    wanted = wanted.where(*conditions[which])
    if search:
        columns = (items.c.query, items.c.title, items.c.name)
        wanted = wanted.where(or_(*(c.icontains(search, autoescape=True) for c in columns)))
    return wanted


def list_items(
    request: Request, *, which: str, search: str, sort: str, page: int, size: int
) -> tuple[list[ListedItem], int]:
    """One page of the items of a filter, and how many there are in all."""
    if which not in FILTERS:
        raise BadSetting("filter", which, " or ".join(FILTERS))
    if sort not in SORTS:
        raise BadSetting("sort", sort, " or ".join(SORTS))
    wanted = _filtered(request, which, search)
    total = request.on.execute(select(func.count()).select_from(wanted.subquery())).scalar_one()
    newest = (
        select(func.max(judgments.c.id)).where(judgments.c.item == items.c.id).scalar_subquery()
    )
    orders: dict[str, tuple[Any, ...]] = {
        "query": (items.c.query, items.c.topic, items.c.id),
        "unsure": (items.c.sure.is_(None), items.c.sure, items.c.id),
        "judgments": (items.c.trusted.desc(), items.c.id),
        "newest": (func.coalesce(newest, 0).desc(), items.c.id),
    }
    rows = request.on.execute(wanted.order_by(*orders[sort]).limit(size).offset(page * size)).all()
    ids = [row.id for row in rows]
    work = [row.id for row in rows if not row.gold]
    counts = _count(request, *_counted(request.project.id), judgments.c.item.in_(work))
    traps = [row.id for row in rows if row.gold]  # to these every answer is told, as on their pages
    if traps:
        real = of_real_in(request.project.id)
        counts |= _count(request, real, judgments.c.other.is_(False), judgments.c.item.in_(traps))
    final = _read_final(request, ids)
    golds = {gold.item: gold for gold in request.project.golds.values()} if traps else {}
    found = []
    for row in rows:
        listed = _listed(request, row, counts.get(row.id, {}), final.get(row.id))
        if row.gold and row.id in golds:
            label = " or ".join(golds[row.id].accepted)
            listed = replace(listed, label=label, probability=None)
        found.append(listed)
    return found, total


def _count(request: Request, *which: Any) -> dict[int, dict[str, int]]:
    """How many of these judgments gave which label, by item."""
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for item, label, many in request.on.execute(
        select(judgments.c.item, judgments.c.label, func.count())
        .where(*which)
        .group_by(judgments.c.item, judgments.c.label)
    ):
        counts[item][label] = many
    return dict(counts)


def _listed(
    request: Request, row: StoredRow, counts: dict[str, int], final: FinalLabel | None
) -> ListedItem:
    order = {label: place for place, label in enumerate(request.project.scale.labels)}
    return ListedItem(
        item=row.name,
        query=row.query,
        title=_title(row),
        state=row.state,
        gold=row.gold,
        trusted=row.trusted,
        needed=row.needed,
        counts=dict(sorted(counts.items(), key=lambda pair: order.get(pair[0], 0))),
        label=row.consensus if final is None else final.label,
        probability=row.sure if final is None else 1.0,
    )


def name_items(request: Request, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The query and the title of items, by their names."""
    wanted = select(items).where(items.c.project == request.project.id, items.c.name.in_(names))
    return {row.name: (row.query, _title(row)) for row in request.on.execute(wanted)}


def _title(row: StoredRow) -> str:
    """What an item is called in the list: of a pair both results."""
    if row.beside is None:
        return str(row.title or row.url or row.name)
    right = row.beside
    return f"{row.title or row.document} / {right['title'] or right['document']}"


def _read_final(request: Request, ids: Sequence[int] | None = None) -> dict[int, FinalLabel]:
    """What was decided and holds, by item; ``ids`` None for the whole project."""
    wanted = (
        select(adjudications, items.c.topic, items.c.document)
        .join(items, items.c.id == adjudications.c.item)
        .where(adjudications.c.project == request.project.id, adjudications.c.active)
    )
    if ids is not None:
        wanted = wanted.where(adjudications.c.item.in_(ids))
    return {row.item: _final(row, row.topic, row.document) for row in request.on.execute(wanted)}


def name_final(request: Request) -> dict[str, FinalLabel]:
    """What was decided and holds, by the names of items."""
    found = _read_final(request)
    names = select(items.c.id, items.c.name).where(items.c.id.in_(list(found)))
    return {row.name: found[row.id] for row in request.on.execute(names)}


def _final(row: StoredRow, topic: str = "", document: str = "") -> FinalLabel:
    return FinalLabel(
        label=row.label,
        by=row.by,
        reason=row.reason,
        time=to_time(row.time),
        gold=row.gold,
        active=row.active,
        topic=topic,
        document=document,
    )


def _find(request: Request, name: str) -> StoredRow:
    row = request.on.execute(
        select(items).where(
            items.c.project == request.project.id,
            items.c.name == name,
            items.c.state != "withdrawn",
        )
    ).one_or_none()
    if row is None:
        raise NotFound("item", name)
    return row


def describe_item(request: Request, name: str) -> ItemDetail:
    """One item, with every judgment and what was decided of it."""
    row = _find(request, name)
    given = request.on.execute(
        select(judgments, judges.c.public, judges.c.seen, judges.c.right.label("judge_right"))
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item == row.id, of_real_in(request.project.id))
        .order_by(judgments.c.id)
    ).all()
    decided = request.on.execute(
        select(adjudications)
        .where(adjudications.c.item == row.id)
        .order_by(adjudications.c.id.desc())
    ).all()
    known = [_final(one) for one in decided]
    final = next((one for one in known if one.active), None)
    gold = next((g for g in request.project.golds.values() if g.item == row.id and g.active), None)
    return ItemDetail(
        item=row.name,
        **{part: getattr(row, part) for part in _TEXTS},
        state=row.state,
        gold=gold is not None,
        accepted=() if gold is None else gold.accepted,
        trusted=row.trusted,
        needed=row.needed,
        leased=row.leased,
        label=row.consensus if final is None else final.label,
        probability=row.sure if final is None else 1.0,
        judgments=tuple(_judgment(one) for one in given),
        final=final,
        history=tuple(one for one in known if not one.active),
        labels=request.project.scale.labels,
        beside=None if row.beside is None else Beside(**row.beside),
        events=tell_history(request, row),
    )


def _judgment(row: StoredRow) -> ItemJudgment:
    return ItemJudgment(
        judge=row.public,
        label=row.label,
        other=row.other,
        standing=row.standing,
        kind=row.kind,
        right=row.right,
        seconds=row.seconds,
        comment=row.comment,
        answers=row.answers or {},
        time=to_time(row.time),
        accuracy=accuracy_of(row.judge_right, row.seen),
        swapped=row.swapped,
    )


def _work(request: Request, name: str) -> StoredRow:
    """An item that is work, locked. Refused: ``gold-already``."""
    row = _find(request, name)
    if row.gold:
        raise Refused("gold-already", f"{name} is gold: edit the gold instead")
    lock_items(request.on, [row.id])
    return _find(request, name)


def adjudicate(request: Request, name: str, *, label: str, reason: str, gold: bool) -> None:
    """Decide an item: its label is final, and it is given to nobody any more.

    ``gold``: fits take the label for gold. The judgments stay, and nobody is graded by it.
    """
    if label not in request.project.scale.labels:
        raise BadSetting("label", label, f"a label of the scale {request.project.scale}")
    row = _work(request, name)
    _end(request, row.id)
    request.on.execute(
        insert(adjudications).values(
            project=request.project.id, item=row.id, label=label, reason=reason,
            by=request.actor, time=request.now, gold=gold, active=True,
        )
    )  # fmt: skip
    put(request.on, row.id, "final")
    bump(request.on, request.project.id)
    request.log("item-adjudicated", actor=request.actor, item=name, label=label, gold=gold)


def _end(request: Request, item: int) -> None:
    """What was decided of an item holds no more; it stays in the history."""
    request.on.execute(
        update(adjudications).where(adjudications.c.item == item).values(active=False)
    )


def reopen(request: Request, name: str) -> None:
    """Let an item be what its judgments make it: neither decided nor skipped."""
    row = _work(request, name)
    _end(request, row.id)
    _open(request, row.id)
    bump(request.on, request.project.id)
    request.log("item-reopened", actor=request.actor, item=name)


def _open(request: Request, item: int) -> None:
    bring_back(request.on, [item], request.project.policy)
    promote(request.on, [item])
    renew_needs(request.on, request.project, [item])


def ask_for_more(request: Request, name: str, more: int) -> None:
    """Ask for so many trusted judgments beyond those that an item has or needs.

    Refused: ``by-arm``, where each arm has its own number.
    """
    if not 1 <= more <= _MOST_MORE:
        raise BadSetting("more", more, f"1 to {_MOST_MORE} judgments")
    if request.project.policy.judgments_by_arm:
        raise Refused("by-arm", "every arm has its own number of judgments of an item")
    row = _work(request, name)
    _end(request, row.id)
    _open(request, row.id)
    now = _find(request, name)
    number = max(now.needed, now.trusted + now.leased) + more
    ask_for(request.on, row.id, number, request.project.policy)
    promote(request.on, [row.id])
    renew_needs(request.on, request.project, [row.id])
    bump(request.on, request.project.id)
    request.log("item-more-asked", actor=request.actor, item=name, more=more, needed=number)


def skip(request: Request, name: str) -> None:
    """Give an item to nobody any more; its judgments stay."""
    row = _work(request, name)
    _end(request, row.id)
    put(request.on, row.id, "skipped")
    bump(request.on, request.project.id)
    request.log("item-skipped", actor=request.actor, item=name)


_KEEP = (
    update(items)
    .where(items.c.project == bindparam("of"), items.c.name == bindparam("which"))
    .values(consensus=bindparam("new_label"), sure=bindparam("new_sure"))
)


def keep_consensus(request: Request, rows: Sequence[tuple[str, str | None, float | None]]) -> None:
    """Note the label and its probability by the last fit, item by item."""
    request.on.execute(
        _KEEP,
        [
            {"of": request.project.id, "which": name, "new_label": label, "new_sure": sure}
            for name, label, sure in rows
        ],
    )
