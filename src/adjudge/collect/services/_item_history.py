"""What is known of one item: every answer to it, and all that happened, with who and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select

from adjudge.collect.store.conditions import is_real, of_real_in
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request, to_time
from adjudge.collect.store.schema import adjudications, judges, judgments, log, page_rows, pages
from adjudge.collect.values.accuracy import accuracy_of

_MOST = 500  # of each kind, the newest: gold is shown to thousands
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
_TRUST = {  # lines of the log about a judge, after which their judgments stand otherwise
    "blocked": False,
    "blocked-by-hand": False,
    "blocked-at-finish": False,
    "unblocked": True,
    "unblocked-by-hand": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemJudgment:
    """One answer to an item."""

    judge: str
    label: str
    other: bool  # such as "can't judge"
    standing: str  # trusted, surplus, untrusted
    kind: str  # training or work
    right: bool | None  # of gold
    seconds: float | None
    comment: str
    time: datetime
    accuracy: float | None  # of the judge, on gold
    answers: dict[str, str] = field(default_factory=dict)  # to further questions
    swapped: bool = False  # of a pair: they saw the right one on the left


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEvent:
    """One thing that happened to an item."""

    time: datetime
    what: str  # such as given out, judged, adjudicated, opened again
    by: str = ""  # the requester who did it, or system; empty for what a judge did
    judge: str | None = None
    text: str = ""  # the label, the reason, what became of it


def read_answers(request: Request, item: int) -> tuple[ItemJudgment, ...]:
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
            time=to_time(row.time),
            accuracy=accuracy_of(row.judge_right, row.seen),
        )
        for row in rows
    )


def read_history(request: Request, item: StoredRow) -> tuple[ItemEvent, ...]:
    """Everything that happened to an item, the latest first."""
    found = [
        *_list_given_out(request, item.id),
        *_list_judged(request, item.id),
        *_list_decided(request, item.id),
        *_list_logged(request, item.name),
        *_list_trust(request, item.id),
    ]
    return tuple(sorted(found, key=lambda one: one.time, reverse=True))


def _list_given_out(request: Request, item: int) -> list[ItemEvent]:
    """To whom it was given, and whether they answered."""
    rows = request.on.execute(
        select(pages.c.made, pages.c.state, pages.c.kind, judges.c.public)
        .join(page_rows, page_rows.c.page == pages.c.id)
        .join(judges, judges.c.id == pages.c.judge)
        .where(page_rows.c.item == item, is_real)
        .order_by(pages.c.id.desc())
        .limit(_MOST)
    )
    return [
        ItemEvent(
            time=to_time(row.made),
            what="given out in training" if row.kind == "training" else "given out",
            judge=row.public,
            text=_LEFT.get(row.state, ""),
        )
        for row in rows
    ]


def _list_judged(request: Request, item: int) -> list[ItemEvent]:
    rows = request.on.execute(
        select(judgments.c.time, judgments.c.label, judges.c.public)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item == item, of_real_in(request.project.id))
        .order_by(judgments.c.id.desc())
        .limit(_MOST)
    )
    return [
        ItemEvent(time=to_time(row.time), what="judged", judge=row.public, text=row.label)
        for row in rows
    ]


def _list_decided(request: Request, item: int) -> list[ItemEvent]:
    rows = request.on.execute(select(adjudications).where(adjudications.c.item == item))
    return [
        ItemEvent(
            time=to_time(row.time),
            what="adjudicated",
            by=row.by,
            text=f"{row.label}: {row.reason}" if row.reason else row.label,
        )
        for row in rows
    ]


def _list_logged(request: Request, name: str) -> list[ItemEvent]:
    """What requesters did beside: opened again, asked for more, skipped, made or changed gold."""
    rows = request.on.execute(
        select(log.c.time, log.c.event, log.c.actor, log.c.figures).where(
            log.c.project == request.project.id,
            log.c.event.in_(list(_DONE)),
            log.c.figures["item"].as_string() == name,
        )
    )
    return [
        ItemEvent(time=to_time(row.time), what=_DONE[row.event], by=row.actor, text=_words(row))
        for row in rows
    ]


def _words(row: StoredRow) -> str:
    """What a line of the log says beside its item."""
    if row.event == "item-more-asked":
        return f"{row.figures['more']} more, {row.figures['needed']} in all"
    if row.event in ("gold-approved", "gold-edited"):
        accepted = row.figures["accepted"]
        return "not used any more" if accepted is None else f"accepted: {' or '.join(accepted)}"
    return ""


def _list_trust(request: Request, item: int) -> list[ItemEvent]:
    """Who judged it and was blocked or unblocked later, so that it opened, or closed, again."""
    rows = request.on.execute(
        select(log.c.time, log.c.event, log.c.actor, judges.c.public)
        .join(judges, judges.c.id == log.c.judge)
        .join(judgments, judgments.c.judge == log.c.judge)
        .where(
            judgments.c.item == item,
            judgments.c.kind == "work",
            judgments.c.time <= log.c.time,
            log.c.event.in_(list(_TRUST)),
            of_real_in(request.project.id),
        )
    )
    return [
        ItemEvent(
            time=to_time(row.time),
            what="judge unblocked" if _TRUST[row.event] else "judge blocked",
            by=row.actor,
            judge=row.public,
            text=f"their judgment counts {'again' if _TRUST[row.event] else 'no more'}",
        )
        for row in rows
    ]
