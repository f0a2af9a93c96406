"""The items of a project, for the requester: listed, looked at, and decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Select, bindparam, case, func, insert, literal, or_, select, update

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import ask_for, bring_back, lock_items, promote, put
from adjudge.collect.services.caller import Service, reads, writes
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request, outdate_fits
from adjudge.collect.store.schema import (
    DONE,
    TRUSTED_WORK,
    adjudications,
    is_real,
    items,
    judges,
    judgments,
    log,
    logged_by,
    of_real_in,
    page_rows,
    pages,
)
from adjudge.collect.store.snapshot import bump
from adjudge.collect.values.judging import accuracy_of
from adjudge.collect.values.project import OtherResult
from adjudge.collect.values.requesting import (
    FinalLabel,
    ItemDetail,
    ItemEvent,
    ItemJudgment,
    ListedItem,
)
from adjudge.errors import BadSetting, NotFound, Refused

_AT_ONCE = 2_000  # items written in one transaction: judges who answer wait for it
UNSURE = 0.9  # below this probability a label is unsure
_MOST_MORE = 50
_MOST_EVENTS = 500  # of each kind, the newest: gold is shown to thousands
_LEFT = {"open": "in their hands", "expired": "not answered in time", "returned": "given back"}
_DONE = {  # lines of the log that name an item
    "item-reopened": "opened again",
    "item-more-asked": "more judgments asked for",
    "item-skipped": "skipped",
    "gold-approved": "made gold",
    "gold-edited": "gold changed",
    "gold-declined": "declined as gold",
    "gold-reconsidered": "may be suggested as gold again",
}
_TRUST = {  # lines of the log about a judge, after which their judgments count or do not
    **dict.fromkeys(("blocked", "blocked-by-hand", "blocked-at-finish"), "judge blocked"),
    **dict.fromkeys(("unblocked", "unblocked-by-hand"), "judge unblocked"),
}
_COUNTS = {
    event: f"their judgment counts {'no more' if what == 'judge blocked' else 'again'}"
    for event, what in _TRUST.items()
}

FILTERS = (
    *("all", "open", "done", "disputed", "unsure", "undecided", "unjudged", "gold", "skipped"),
)
SORTS = ("query", "unsure", "judgments", "newest")


@dataclass(frozen=True, slots=True)
class ItemService(Service):
    """What a requester can do with single items."""

    @reads()
    def get_all(
        self,
        request: Request,
        *,
        which: str = "all",
        search: str = "",
        sort: str = "query",
        page: int = 0,
        size: int = 50,
    ) -> tuple[list[ListedItem], int]:
        """One page of the items of a filter, and how many there are in all."""
        if which not in FILTERS:
            raise BadSetting("filter", which, " or ".join(FILTERS))
        if sort not in SORTS:
            raise BadSetting("sort", sort, " or ".join(SORTS))
        statement = _filter(request, which, search)
        count = select(func.count()).select_from(statement.subquery())
        total = request.on.execute(count).scalar_one()
        chosen = statement.order_by(*_order(sort)).limit(size).offset(page * size)
        return _list(request, request.on.execute(chosen).all()), total

    @reads()
    def list_undecided(self, request: Request) -> list[str]:
        """The items that judges dispute or that the fit is unsure of, the least sure first."""
        statement = _filter(request, "undecided", "").order_by(*_order("unsure"))
        return list(request.on.execute(statement.with_only_columns(items.c.name)).scalars())

    @reads()
    def get(self, request: Request, item: str) -> ItemDetail:
        """One item with every judgment, its consensus and what was decided of it."""
        row = _find(request, item)
        decided = select(adjudications).where(adjudications.c.item == row.id)
        found = request.on.execute(decided.order_by(adjudications.c.id.desc()))
        known = [_make_final(one) for one in found]
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
            judgments=_read_answers(request, row.id),
            final=final,
            history=tuple(one for one in known if not one.active),
            labels=request.project.scale.labels,
            beside=None if row.beside is None else OtherResult(**row.beside),
            events=tuple(_list_events(request, row)),
        )

    @reads()
    def get_final(self, request: Request) -> dict[str, FinalLabel]:
        """What was decided and holds, by the names of items."""
        found = _read_final(request)
        names = select(items.c.id, items.c.name).where(items.c.id.in_(list(found)))
        return {row.name: found[row.id] for row in request.on.execute(names)}

    @reads()
    def get_titles(self, request: Request, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The query and the title of each of some items."""
        ours = (items.c.project == request.project.id, items.c.name.in_(names))
        found = request.on.execute(select(items).where(*ours))
        return {row.name: (row.query, _title(row)) for row in found}

    @writes("reviewer", lock=True)
    def adjudicate(
        self, request: Request, item: str, label: str, *, reason: str = "", gold: bool = True
    ) -> None:
        """Give an item its final label; it is given to nobody any more. ``gold``: fits take it so.

        The judgments stay, and nobody is graded by it. Refused: ``gold-already``.
        """
        if label not in request.project.scale.labels:
            raise BadSetting("label", label, f"a label of the scale {request.project.scale}")
        row = _take_up(request, item)
        values = {"project": request.project.id, "item": row.id, "label": label, "reason": reason}
        values |= {"by": request.actor, "time": request.now, "gold": gold, "active": True}
        request.on.execute(insert(adjudications).values(**values))
        put(request.on, [row.id], "final")
        outdate_fits(request.on, request.project.id)
        request.log("item-adjudicated", actor=request.actor, item=item, label=label, gold=gold)

    @writes("reviewer", lock=True)
    def reopen(self, request: Request, item: str) -> None:
        """Let an item be what its judgments make it: neither decided nor skipped."""
        _open(request, _take_up(request, item).id)
        request.log("item-reopened", actor=request.actor, item=item)

    @writes(lock=True)
    def ask_for_more(self, request: Request, item: str, more: int) -> None:
        """Ask for so many trusted judgments beyond those that an item has or needs.

        Refused: ``by-arm``, where each arm has its own number, and ``gold-already``.
        """
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

    @writes(lock=True)
    def skip(self, request: Request, item: str) -> None:
        """Give an item to nobody any more; its judgments stay."""
        put(request.on, [_take_up(request, item).id], "skipped")
        request.log("item-skipped", actor=request.actor, item=item)

    def keep_consensus(
        self, slug: str, rows: Sequence[tuple[str, str | None, float | None]]
    ) -> None:
        """Note what the last fit says of each item, for the list of items."""
        for start in range(0, len(rows), _AT_ONCE):
            self._keep_consensus(slug, rows[start : start + _AT_ONCE])

    @writes()
    def _keep_consensus(
        self, request: Request, rows: Sequence[tuple[str, str | None, float | None]]
    ) -> None:
        request.on.execute(
            update(items)
            .where(items.c.project == request.project.id, items.c.name == bindparam("which"))
            .values(consensus=bindparam("new_label"), sure=bindparam("new_sure")),
            [{"which": name, "new_label": label, "new_sure": sure} for name, label, sure in rows],
        )


def _filter(request: Request, which: str, search: str) -> Select[Any]:
    """The items of a filter."""
    project = request.project.id
    statement = select(items).where(items.c.project == project, items.c.state != "withdrawn")
    if which != "all":
        statement = statement.where(*_choose(project, which))
    if search:
        columns = (items.c.query, items.c.title, items.c.name)
        statement = statement.where(or_(*(c.icontains(search, autoescape=True) for c in columns)))
    return statement


def _choose(project: int, which: str) -> tuple[Any, ...]:
    """The conditions of a filter."""
    given = select(judgments.c.item).where(judgments.c.project == project, TRUSTED_WORK)
    split = given.group_by(judgments.c.item).having(func.count(judgments.c.label.distinct()) > 1)
    work = items.c.gold.is_(False)
    conditions: dict[str, tuple[Any, ...]] = {
        "open": (work, items.c.state == "open"),
        "done": (work, items.c.state.in_(DONE)),
        "disputed": (work, items.c.id.in_(split)),
        "unsure": (work, items.c.sure < UNSURE, items.c.state != "final"),
        "undecided": (
            *(work, items.c.state.not_in(("final", "skipped"))),
            or_(items.c.id.in_(split), items.c.sure < UNSURE),
        ),
        "unjudged": (work, items.c.state != "final", items.c.id.not_in(given)),
        "gold": (items.c.gold,),
        "skipped": (work, items.c.state.in_(("skipped", "set aside"))),
    }
    return conditions[which]


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
    work, traps = [row.id for row in rows if not row.gold], [row.id for row in rows if row.gold]
    counts = _count(request, TRUSTED_WORK, judgments.c.item.in_(work))
    if traps:
        real = of_real_in(request.project.id)
        counts |= _count(request, real, judgments.c.other.is_(False), judgments.c.item.in_(traps))
    final = _read_final(request, [row.id for row in rows])
    golds = {gold.item: gold for gold in request.project.golds.values()} if traps else {}
    order = {label: place for place, label in enumerate(request.project.scale.labels)}
    found = []
    for row in rows:
        decided, given = final.get(row.id), counts.get(row.id, {})
        listed = from_row(
            ListedItem,
            row,
            item=row.name,
            title=_title(row),
            counts=dict(sorted(given.items(), key=lambda pair: order.get(pair[0], 0))),
            label=row.consensus if decided is None else decided.label,
            probability=row.sure if decided is None else 1.0,
        )
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
    return counts


def _title(row: StoredRow) -> str:
    """What an item is called in the list: of a pair both results."""
    if row.beside is None:
        return str(row.title or row.url or row.name)
    right = row.beside
    return f"{row.title or row.document} / {right['title'] or right['document']}"


def _read_final(request: Request, ids: Sequence[int] | None = None) -> dict[int, FinalLabel]:
    """What was decided and holds, by item; ``ids`` None for the entire project."""
    statement = (
        select(adjudications, items.c.topic, items.c.document)
        .join(items, items.c.id == adjudications.c.item)
        .where(adjudications.c.project == request.project.id, adjudications.c.active)
    )
    if ids is not None:
        statement = statement.where(adjudications.c.item.in_(ids))
    return {
        row.item: _make_final(row, row.topic, row.document) for row in request.on.execute(statement)
    }


def _make_final(row: StoredRow, topic: str = "", document: str = "") -> FinalLabel:
    return from_row(FinalLabel, row, topic=topic, document=document)


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
    decided = update(adjudications).where(adjudications.c.item == row.id, adjudications.c.active)
    if request.on.execute(decided.values(active=False)).rowcount:
        outdate_fits(request.on, request.project.id)
    bump(request.on, request.project.id)
    return _find(request, name)


def _open(request: Request, item: int) -> None:
    bring_back(request.on, [item], request.project.policy)
    promote(request.on, [item])
    renew_needs(request.on, request.project, [item])


# -- what happened to an item


def _read_answers(request: Request, item: int) -> tuple[ItemJudgment, ...]:
    """Every answer to an item, in the order they were given."""
    rows = request.on.execute(
        select(judgments, judges.c.public, judges.c.seen, judges.c.right.label("judge_right"))
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item == item, of_real_in(request.project.id))
        .order_by(judgments.c.id)
    )
    return tuple(
        from_row(
            ItemJudgment,
            row,
            judge=row.public,
            answers=row.answers or {},
            accuracy=accuracy_of(row.judge_right, row.seen),
        )
        for row in rows
    )


def _list_events(request: Request, item: StoredRow) -> list[ItemEvent]:
    """Everything that happened to an item: what judges did, what requesters did, who was blocked.

    Whoever judged it and was blocked or unblocked later let it open, or close, again.
    """
    real = of_real_in(request.project.id)
    judge, nobody = judges.c.public.label("judge"), literal("").label("by")
    given_out = (
        select(
            *(pages.c.made.label("time"), nobody, judge),
            case(
                {"training": "given out in training"}, value=pages.c.kind, else_="given out"
            ).label("what"),
            case(_LEFT, value=pages.c.state, else_="").label("text"),
        )
        .join(page_rows, page_rows.c.page == pages.c.id)
        .join(judges, judges.c.id == pages.c.judge)
        .where(page_rows.c.item == item.id, is_real)
        .order_by(pages.c.id.desc())
        .limit(_MOST_EVENTS)
    )
    judged = (
        select(
            *(judgments.c.time, nobody, judge),
            *(literal("judged").label("what"), judgments.c.label.label("text")),
        )
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item == item.id, real)
        .order_by(judgments.c.id.desc())
        .limit(_MOST_EVENTS)
    )
    trust = (
        select(
            *(log.c.time, logged_by.label("by"), judge),
            case(_TRUST, value=log.c.event).label("what"),
            case(_COUNTS, value=log.c.event).label("text"),
        )
        .join(judges, judges.c.id == log.c.judge)
        .join(judgments, judgments.c.judge == log.c.judge)
        .where(
            judgments.c.item == item.id,
            judgments.c.kind == "work",
            judgments.c.time <= log.c.time,
            log.c.event.in_(list(_TRUST)),
            real,
        )
    )
    found = [*_read_events(request, given_out), *_read_events(request, judged)]
    own = {"what": "adjudicated", "judge": None}
    for row in request.on.execute(select(adjudications).where(adjudications.c.item == item.id)):
        said = f"{row.label}: {row.reason}" if row.reason else row.label
        found.append(from_row(ItemEvent, row, text=said, **own))
    done = select(log, logged_by.label("by")).where(
        log.c.project == request.project.id,
        log.c.event.in_(list(_DONE)),
        log.c.figures["item"].as_string() == item.name,
    )
    for row in request.on.execute(done):
        own = {"what": _DONE[row.event], "by": row.by, "judge": None}
        found.append(from_row(ItemEvent, row, text=_words(row.event, row.figures), **own))
    found += _read_events(request, trust)
    return sorted(found, key=lambda one: one.time, reverse=True)


def _read_events(request: Request, statement: Select[Any]) -> list[ItemEvent]:
    return [from_row(ItemEvent, row) for row in request.on.execute(statement)]


def _words(event: str, figures: dict[str, Any]) -> str:
    """What a line of the log says about its item."""
    if event == "item-more-asked":
        return f"{figures['more']} more, {figures['needed']} in all"
    if event in ("gold-approved", "gold-edited"):
        accepted = figures["accepted"]
        return "not used any more" if accepted is None else f"accepted: {' or '.join(accepted)}"
    return ""
