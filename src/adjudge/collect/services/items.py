"""The items of a project, for the requester: listed, looked at, and decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Select, bindparam, func, insert, or_, select, update

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import ask_for, bring_back, lock_items, promote, put
from adjudge.collect.services._item_history import (
    ItemEvent,
    ItemJudgment,
    read_answers,
    read_history,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.conditions import COUNTED, of_real_in
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request, to_time
from adjudge.collect.store.schema import adjudications, items, judgments
from adjudge.collect.store.snapshot import bump
from adjudge.collect.values.project import Beside
from adjudge.errors import BadSetting, NotFound, Refused

_AT_ONCE = 2_000  # items written in one transaction: judges who answer wait for it
UNSURE = 0.9  # below this probability a label is unsure
_MOST_MORE = 50
_KEEP = (
    update(items)
    .where(items.c.project == bindparam("of"), items.c.name == bindparam("which"))
    .values(consensus=bindparam("new_label"), sure=bindparam("new_sure"))
)

FILTERS = ("all", "open", "done", "disputed", "unsure", "unjudged", "gold", "skipped")
SORTS = ("query", "unsure", "judgments", "newest")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """One line of the list of items."""

    item: str
    query: str
    title: str
    state: str  # open, closed, set aside, final, skipped
    gold: bool
    trusted: int
    needed: int
    counts: dict[str, int]  # label -> trusted judgments; of gold all answers
    label: str | None  # by the last fit, or as was decided; of gold what is accepted
    probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalLabel:
    """What somebody decided of an item."""

    label: str
    by: str
    reason: str
    time: datetime
    gold: bool  # whether fits take it for gold
    active: bool
    topic: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDetail:
    """An item with its judgments, its consensus and what was decided of it."""

    item: str
    topic: str
    query: str
    need: str
    category: str
    document: str
    title: str
    text: str
    url: str
    image: str
    state: str
    gold: bool
    accepted: tuple[str, ...]  # of gold
    trusted: int
    needed: int
    leased: int
    label: str | None
    probability: float | None
    judgments: tuple[ItemJudgment, ...]
    final: FinalLabel | None
    history: tuple[FinalLabel, ...]  # what was decided before, the latest first
    labels: tuple[str, ...]  # of the project
    beside: Beside | None = None  # the right result of a pair
    events: tuple[ItemEvent, ...] = ()  # everything that happened to it, the latest first


@dataclass(frozen=True, slots=True)
class ItemService:
    """What a requester can do with single items."""

    caller: Caller

    def get_all(
        self,
        slug: str,
        *,
        which: str = "all",
        search: str = "",
        sort: str = "query",
        page: int = 0,
        size: int = 50,
    ) -> tuple[list[ListedItem], int]:
        """One page of the items of a filter, and how many there are in all."""
        with self.caller.reading(slug) as request:
            if which not in FILTERS:
                raise BadSetting("filter", which, " or ".join(FILTERS))
            if sort not in SORTS:
                raise BadSetting("sort", sort, " or ".join(SORTS))
            wanted = _filter(request, which, search)
            count = select(func.count()).select_from(wanted.subquery())
            total = request.on.execute(count).scalar_one()
            chosen = wanted.order_by(*_order(sort)).limit(size).offset(page * size)
            return _list(request, request.on.execute(chosen).all()), total

    def get(self, slug: str, item: str) -> ItemDetail:
        """One item with every judgment, its consensus and what was decided of it."""
        with self.caller.reading(slug) as request:
            row = _find(request, item)
            decided = request.on.execute(
                select(adjudications)
                .where(adjudications.c.item == row.id)
                .order_by(adjudications.c.id.desc())
            ).all()
            known = [_make_final(one) for one in decided]
            final = next((one for one in known if one.active), None)
            golds = request.project.golds.values()
            gold = next((one for one in golds if one.item == row.id and one.active), None)
            return from_row(
                ItemDetail,
                row,
                item=row.name,
                gold=gold is not None,
                accepted=() if gold is None else gold.accepted,
                label=row.consensus if final is None else final.label,
                probability=row.sure if final is None else 1.0,
                judgments=read_answers(request, row.id),
                final=final,
                history=tuple(one for one in known if not one.active),
                labels=request.project.scale.labels,
                beside=None if row.beside is None else Beside(**row.beside),
                events=read_history(request, row),
            )

    def get_final(self, slug: str) -> dict[str, FinalLabel]:
        """What was decided and holds, by the names of items."""
        with self.caller.reading(slug) as request:
            found = _read_final(request)
            names = select(items.c.id, items.c.name).where(items.c.id.in_(list(found)))
            return {row.name: found[row.id] for row in request.on.execute(names)}

    def get_titles(self, slug: str, items: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The query and the title of each of some items."""
        with self.caller.reading(slug) as request:
            return {row.name: (row.query, _title(row)) for row in _find_all(request, items)}

    def adjudicate(
        self, slug: str, item: str, label: str, *, reason: str = "", gold: bool = True
    ) -> None:
        """Give an item its final label; it is given to nobody any more. ``gold``: fits take it so.

        The judgments stay, and nobody is graded by it. Refused: ``gold-already``.
        """

        def work(request: Request) -> None:
            if label not in request.project.scale.labels:
                raise BadSetting("label", label, f"a label of the scale {request.project.scale}")
            row = _take_up(request, item)
            request.on.execute(
                insert(adjudications).values(
                    project=request.project.id, item=row.id, label=label, reason=reason,
                    by=request.actor, time=request.now, gold=gold, active=True,
                )
            )  # fmt: skip
            put(request.on, row.id, "final")
            request.log("item-adjudicated", actor=request.actor, item=item, label=label, gold=gold)

        self.caller.write(slug, work, least="reviewer", lock=True)

    def reopen(self, slug: str, item: str) -> None:
        """Let an item be what its judgments make it: neither decided nor skipped."""

        def work(request: Request) -> None:
            _open(request, _take_up(request, item).id)
            request.log("item-reopened", actor=request.actor, item=item)

        self.caller.write(slug, work, least="reviewer", lock=True)

    def ask_for_more(self, slug: str, item: str, more: int) -> None:
        """Ask for so many trusted judgments beyond those that an item has or needs.

        Refused: ``by-arm``, where each arm has its own number, and ``gold-already``.
        """

        def work(request: Request) -> None:
            if not 1 <= more <= _MOST_MORE:
                raise BadSetting("more", more, f"1 to {_MOST_MORE} judgments")
            if request.project.policy.judgments_by_arm:
                raise Refused("by-arm", "every arm has its own number of judgments of an item")
            row = _take_up(request, item)
            _open(request, row.id)
            now = _find(request, item)
            number = max(now.needed, now.trusted + now.leased) + more
            ask_for(request.on, row.id, number, request.project.policy)
            promote(request.on, [row.id])
            renew_needs(request.on, request.project, [row.id])
            request.log("item-more-asked", actor=request.actor, item=item, more=more, needed=number)

        self.caller.write(slug, work, lock=True)

    def skip(self, slug: str, item: str) -> None:
        """Give an item to nobody any more; its judgments stay."""

        def work(request: Request) -> None:
            put(request.on, _take_up(request, item).id, "skipped")
            request.log("item-skipped", actor=request.actor, item=item)

        self.caller.write(slug, work, lock=True)

    def keep_consensus(
        self, slug: str, rows: Sequence[tuple[str, str | None, float | None]]
    ) -> None:
        """Note what the last fit says of each item, for the list of items."""

        def work(request: Request, part: Sequence[tuple[str, str | None, float | None]]) -> None:
            request.on.execute(
                _KEEP,
                [
                    {"of": request.project.id, "which": name, "new_label": label, "new_sure": sure}
                    for name, label, sure in part
                ],
            )

        for start in range(0, len(rows), _AT_ONCE):
            self.caller.write(slug, partial(work, part=rows[start : start + _AT_ONCE]))


def _counted(project: int) -> tuple[Any, ...]:
    """The conditions on judgments that count for items."""
    return (
        judgments.c.project == project,
        COUNTED,
        judgments.c.standing != "untrusted",
        of_real_in(project),
    )


def _filter(request: Request, which: str, search: str) -> Select[Any]:
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


def _order(sort: str) -> tuple[Any, ...]:
    """The columns by which a list is sorted."""
    newest = (
        select(func.max(judgments.c.id)).where(judgments.c.item == items.c.id).scalar_subquery()
    )
    orders: dict[str, tuple[Any, ...]] = {
        "query": (items.c.query, items.c.topic, items.c.id),
        "unsure": (items.c.sure.is_(None), items.c.sure, items.c.id),
        "judgments": (items.c.trusted.desc(), items.c.id),
        "newest": (func.coalesce(newest, 0).desc(), items.c.id),
    }
    return orders[sort]


def _list(request: Request, rows: Sequence[StoredRow]) -> list[ListedItem]:
    """Items as lines of the list. Of gold every answer is shown, as on the pages of gold."""
    work = [row.id for row in rows if not row.gold]
    counts = _count(request, *_counted(request.project.id), judgments.c.item.in_(work))
    traps = [row.id for row in rows if row.gold]
    if traps:
        real = of_real_in(request.project.id)
        counts |= _count(request, real, judgments.c.other.is_(False), judgments.c.item.in_(traps))
    final = _read_final(request, [row.id for row in rows])
    golds = {gold.item: gold for gold in request.project.golds.values()} if traps else {}
    found = []
    for row in rows:
        listed = _make_line(request, row, counts.get(row.id, {}), final.get(row.id))
        if row.gold and row.id in golds:
            label = " or ".join(golds[row.id].accepted)
            listed = replace(listed, label=label, probability=None)
        found.append(listed)
    return found


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


def _make_line(
    request: Request, row: StoredRow, counts: dict[str, int], final: FinalLabel | None
) -> ListedItem:
    order = {label: place for place, label in enumerate(request.project.scale.labels)}
    return from_row(
        ListedItem,
        row,
        item=row.name,
        title=_title(row),
        counts=dict(sorted(counts.items(), key=lambda pair: order.get(pair[0], 0))),
        label=row.consensus if final is None else final.label,
        probability=row.sure if final is None else 1.0,
    )


def _find_all(request: Request, names: Sequence[str]) -> Sequence[StoredRow]:
    """Some items by their names."""
    wanted = select(items).where(items.c.project == request.project.id, items.c.name.in_(names))
    return request.on.execute(wanted).all()


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
    return {
        row.item: _make_final(row, row.topic, row.document) for row in request.on.execute(wanted)
    }


def _make_final(row: StoredRow, topic: str = "", document: str = "") -> FinalLabel:
    return from_row(FinalLabel, row, time=to_time(row.time), topic=topic, document=document)


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


def _take_up(request: Request, name: str) -> StoredRow:
    """An item that is work, locked, to be decided anew. Refused: ``gold-already``.

    What was decided of it holds no more, and stays in the history.
    """
    row = _find(request, name)
    if row.gold:
        raise Refused("gold-already", f"{name} is gold: edit the gold instead")
    lock_items(request.on, [row.id])
    decided = update(adjudications).where(adjudications.c.item == row.id)
    request.on.execute(decided.values(active=False))
    bump(request.on, request.project.id)
    return _find(request, name)


def _open(request: Request, item: int) -> None:
    bring_back(request.on, [item], request.project.policy)
    promote(request.on, [item])
    renew_needs(request.on, request.project, [item])
