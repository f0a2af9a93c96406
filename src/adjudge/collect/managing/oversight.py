"""Judges as a requester sees them: the list, one whole, blocked and unblocked by hand, the log."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.standing import restore_trust, untrust
from adjudge.collect.judging.leases import take_back_page
from adjudge.collect.judging.refreshers import counts_of as refresher_counts
from adjudge.collect.judging.refreshers import refreshers_of
from adjudge.collect.managing.contact import invited_names, name_of_judge
from adjudge.collect.managing.flags import find_flags
from adjudge.collect.rules.decisions import blocked_by_hand, unblocked_by_hand
from adjudge.collect.rules.endings import (
    BUDGET_SPENT,
    CAME_LATE,
    MAX_PAGES,
    NO_GOLD_LEFT,
    NOTHING_LEFT,
    OWN_WISH,
    pay_of,
    to_money,
)
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.replay import LogReplay
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import (
    Request,
    columns_of,
    figures_of,
    lock_judge,
    record_of,
    to_time,
)
from adjudge.collect.store.schema import golds, items, judges, judgments, log
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.accuracy import accuracy_of
from adjudge.collect.values.judging import DRY_RUN, OTHERS
from adjudge.collect.values.requesting import Flag, GoldAnswer, JudgeDetail, JudgeRow, LogEntry
from adjudge.data.source import count_of
from adjudge.errors import NotFound

_ENDED = {
    NOTHING_LEFT: "Finished: nothing was left for them.",
    OWN_WISH: "Finished by their own wish.",
    MAX_PAGES: "Finished: did as many pages as one judge may.",
    NO_GOLD_LEFT: "Finished: had met all the gold there is.",
    BUDGET_SPENT: "Finished: the budget was spent.",
    CAME_LATE: "Finished before the end of the training: nothing was left to judge.",
}


def list_judges(request: Request) -> list[JudgeRow]:
    """Every judge of a project, the last to act first."""
    project = request.project
    rows = request.on.execute(
        select(judges)
        .where(judges.c.project == project.id)
        .order_by(judges.c.last.desc(), judges.c.id.desc())
    ).all()
    answered = {row.id: row.pages for row in rows}
    seconds = project.keep("seconds", answered, lambda: _median_seconds(request.on, project.id))
    flags, invited = find_flags(request), invited_names(request)
    return [
        _judge_row(
            row,
            project,
            seconds.get(row.id),
            flags.get(row.id, ()),
            invited.get(row.id, ""),
        )
        for row in rows
    ]


def _median_seconds(on: Connection, project: int, judge: int | None = None) -> dict[int, float]:
    """The median time a pair took each judge, where it was measured."""
    wanted = select(judgments.c.judge, judgments.c.seconds).where(
        judgments.c.project == project,
        judgments.c.kind == "work",
        judgments.c.seconds.is_not(None),
    )
    if judge is not None:
        wanted = wanted.where(judgments.c.judge == judge)
    found = on.execute(wanted).fetchall()
    if not found:
        return {}
    who = np.fromiter((row[0] for row in found), dtype=np.int64, count=len(found))
    took = np.fromiter((row[1] for row in found), dtype=np.float64, count=len(found))
    order = np.argsort(who, kind="stable")
    ids, starts = np.unique(who[order], return_index=True)
    parts = np.split(took[order], starts[1:])
    return {int(one): float(np.median(part)) for one, part in zip(ids, parts, strict=True)}


def _judge_row(
    row: StoredRow,
    snapshot: ProjectSnapshot,
    seconds: float | None,
    flags: tuple[Flag, ...] = (),
    invited: str = "",
) -> JudgeRow:
    """One judge's line."""
    return JudgeRow(
        judge=row.public,
        channel=row.channel,
        kind=row.kind,
        arm=row.arm,
        stage=row.stage,
        reason=_standing_of(row, snapshot.policy_of(row.arm)),
        by_hand=row.by_hand,
        came=to_time(row.came),
        last=None if row.last is None else to_time(row.last),
        pages=row.pages,
        judged=row.judged,
        others=row.others,
        gold_seen=row.seen,
        gold_right=row.right,
        accuracy=accuracy_of(row.right, row.seen),
        training_seen=row.training_seen,
        training_right=row.training_right,
        seconds=seconds,
        pay=to_money(pay_of(row, snapshot.policy_of(row.arm))),
        flags=flags,
        name=name_of_judge(row, invited),
        message=row.message,
    )


def _standing_of(judge: Any, policy: Policy) -> str:
    """Why a judge is at their stage, in one sentence for the requester."""
    tried = f", try {judge.attempt}" if judge.attempt > 1 else ""
    trained = f"{judge.training_right} of {judge.training_seen} right in the training{tried}"
    checked = f"{judge.right} of {count_of(judge.seen, 'hidden gold')} right"
    match judge.stage:
        case "consent":
            return "Has come, and not yet agreed to take part."
        case "training":
            return f"In the training: {judge.training_seen} answered, {trained}."
        case "failed":
            return f"Did not pass: {trained}; {policy.training_pass:.0%} are wanted."
        case "warned":
            return f"Warned: {checked}, below {policy.warn_below:.0%}."
        case "blocked" if judge.by_hand:
            return f"Blocked by hand: {judge.reason}" if judge.reason else "Blocked by hand."
        case "blocked":
            when = "when they finished" if judge.before == "finished" else "after a warning"
            return f"Blocked {when}: {checked}, below {policy.block_below:.0%}."
        case "finished":
            return _ENDED.get(judge.reason, _ENDED[OWN_WISH])
    return "At work." if judge.pages else "Came to the work, and has not sent a page yet."


def _line_of(request: Request, judge: StoredRow) -> JudgeRow:
    """A judge's line after a change, without what has to be counted."""
    name = invited_names(request).get(judge.id, "")
    return _judge_row(judge, request.project, None, invited=name)


def _find_judge(request: Request, public: str) -> StoredRow:
    """A judge of this project."""
    row = request.on.execute(
        select(judges).where(judges.c.public == public, judges.c.project == request.project.id)
    ).one_or_none()
    if row is None:
        raise NotFound("judge", public)
    return row


def describe_judge(request: Request, public: str) -> JudgeDetail:
    """A judge whole: tallies, confusion against gold, their answers to gold, history."""
    judge = _find_judge(request, public)
    answers = request.on.execute(
        select(
            judgments.c.label,
            judgments.c.right,
            judgments.c.kind,
            judgments.c.time,
            golds.c.accepted,
            golds.c.active,
            *(items.c.name, items.c.query, items.c.title),
        )
        .join(golds, golds.c.id == judgments.c.gold)
        .join(items, items.c.id == golds.c.item)
        .where(judgments.c.judge == judge.id)
        .order_by(judgments.c.id.desc())
    ).all()
    labels = (*request.project.scale.labels, *OTHERS)
    counts = Counter((row.accepted[0], row.label) for row in answers if row.active)
    truths = tuple(label for label in labels if any(key[0] == label for key in counts))
    median = _median_seconds(request.on, request.project.id, judge.id).get(judge.id)
    return JudgeDetail(
        row=_judge_row(
            judge,
            request.project,
            median,
            find_flags(request).get(judge.id, ()),
            invited_names(request).get(judge.id, ""),
        ),
        labels=labels,
        truths=truths,
        confusion=tuple(tuple(counts[truth, label] for label in labels) for truth in truths),
        golds=tuple(
            GoldAnswer(
                item=row.name,
                query=row.query,
                title=row.title,
                label=row.label,
                accepted=tuple(row.accepted),
                right=row.right,
                kind=row.kind,
                time=to_time(row.time),
            )
            for row in answers
        ),
        history=tuple(list_log(request, judge=public, limit=500)),
        refreshers=refreshers_of(request.on, judge.id),
        participant=judge.key if judge.channel == "panel" else "",
        parameters={str(name): str(value) for name, value in judge.parameters.items()},
    )


def block(request: Request, public: str, reason: str) -> JudgeRow:
    """Block a judge by hand, unless that is done already; the judge's line."""
    _find_judge(request, public)
    judge = lock_judge(request.on, public)
    if judge.stage == "blocked" and judge.by_hand:
        return _line_of(request, judge)
    was_blocked = judge.stage == "blocked"
    record = blocked_by_hand(record_of(judge))
    take_back_page(request.on, judge)
    request.on.execute(
        update(judges)
        .where(judges.c.id == judge.id)
        .values(**columns_of(record), page=None, reason=reason.strip()[:500])
    )
    count = 0 if was_blocked else untrust(request.on, judge.id, request.project)
    figures: dict[str, Any] = {**figures_of(record), "judgments": count, "reason": reason[:500]}
    request.log("blocked-by-hand", judge=judge.id, actor=request.actor, **figures)
    return _line_of(request, _find_judge(request, public))


def block_flagged(request: Request) -> list[str]:
    """Block the judges who are flagged, where the policy says so; their public ids.

    Not those whom a requester has unblocked: they have been looked at.
    """
    found = find_flags(request)
    flagged = request.on.execute(
        select(judges.c.id, judges.c.public, judges.c.arm).where(
            judges.c.project == request.project.id,
            judges.c.stage != "blocked",
            judges.c.fresh_from == 0,
        )
    ).all()
    blocked = []
    for row in flagged:
        if row.id in found and request.project.policy_of(row.arm).flags_block:
            reason = "; ".join(flag.reason for flag in found[row.id])
            block(request, row.public, reason)
            blocked.append(row.public)
    return blocked


def unblock(request: Request, public: str, reason: str) -> JudgeRow:
    """Unblock a blocked judge: a fresh start, and the judgments count again; the judge's line."""
    _find_judge(request, public)
    judge = lock_judge(request.on, public)
    if judge.stage != "blocked":
        return _line_of(request, judge)
    record = unblocked_by_hand(record_of(judge))
    newest = request.on.execute(
        select(judgments.c.id)
        .where(judgments.c.judge == judge.id)
        .order_by(judgments.c.id.desc())
        .limit(1)
    ).scalar()
    request.on.execute(
        update(judges)
        .where(judges.c.id == judge.id)
        .values(**columns_of(record), fresh_from=newest or 0, reason="")
    )
    count = 0 if judge.kind == DRY_RUN else restore_trust(request.on, [judge.id], request.project)
    figures: dict[str, Any] = {**figures_of(record), "judgments": count, "reason": reason[:500]}
    request.log("unblocked-by-hand", judge=judge.id, actor=request.actor, **figures)
    return _line_of(request, _find_judge(request, public))


_LOG = select(log, judges.c.public).outerjoin(judges, judges.c.id == log.c.judge)


def list_log(
    request: Request,
    *,
    before: int | None = None,
    limit: int = 100,
    judge: str | None = None,
    event: str | None = None,
) -> list[LogEntry]:
    """Lines of the log, newest first."""
    wanted = _LOG.where(log.c.project == request.project.id)
    wanted = wanted.order_by(log.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(log.c.id < before)
    if judge is not None:
        wanted = wanted.where(judges.c.public == judge)
    if event is not None:
        wanted = wanted.where(log.c.event == event)
    return [_entry_of(row) for row in request.on.execute(wanted)]


def _entry_of(row: StoredRow) -> LogEntry:
    """A line of the log from a stored row."""
    return LogEntry(
        entry=row.id,
        time=to_time(row.time),
        event=row.event,
        actor=row.actor,
        judge=row.public,
        policy_version=row.policy_version,
        figures=row.figures,
    )


def read_whole_log(request: Request) -> list[LogEntry]:
    """The log of a project from its beginning, in order."""
    wanted = _LOG.where(log.c.project == request.project.id).order_by(log.c.id)
    return [_entry_of(row) for row in request.on.execute(wanted)]


def audit(request: Request) -> list[str]:
    """Where the stored state of judges differs from a replay of the log."""
    replay = LogReplay().play(read_whole_log(request))
    expected, faults = replay.records, list(replay.faults)
    done = refresher_counts(request.on, request.project.id)
    if done != replay.refreshers:
        faults.append(f"refreshers: stored {done}, by the log {replay.refreshers}")
    stored = request.on.execute(
        select(judges).where(judges.c.project == request.project.id).order_by(judges.c.id)
    )
    for judge in stored:
        found = record_of(judge)
        if found != expected.get(judge.public):
            faults.append(
                f"judge {judge.public}: stored {found}, by the log {expected.get(judge.public)}"
            )
    return faults
