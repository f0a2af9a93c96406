"""The judges of a project, and invitations to judge, for the requester."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import select, update

from adjudge.collect.items.standing import restore_trust, untrust
from adjudge.collect.judging.leases import take_back_page
from adjudge.collect.judging.refreshers import refreshers_of
from adjudge.collect.rules.decisions import block_by_hand, unblock_by_hand
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
from adjudge.collect.services._flags import find_flags
from adjudge.collect.services._invites import (
    invited_names,
    list_invites,
    make_invites,
    name_of_judge,
    revoke_invite,
)
from adjudge.collect.services._log import list_log
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request, columns_of, lock_judge, record_of, to_time
from adjudge.collect.store.schema import golds, items, judges, judgments
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.accuracy import accuracy_of
from adjudge.collect.values.judging import DRY_RUN, OTHERS
from adjudge.collect.values.requesting import Flag, GoldAnswer, Invite, JudgeDetail, JudgeRow
from adjudge.data.source import count_of
from adjudge.errors import NotFound, Refused

_ENDED = {
    NOTHING_LEFT: "Finished: nothing was left for them.",
    OWN_WISH: "Finished by their own wish.",
    MAX_PAGES: "Finished: did as many pages as one judge may.",
    NO_GOLD_LEFT: "Finished: had met all the gold there is.",
    BUDGET_SPENT: "Finished: the budget was spent.",
    CAME_LATE: "Finished before the end of the training: nothing was left to judge.",
}

_LONGEST_NAME = 200
_LONGEST_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class JudgeService:
    """What a requester can do about the judges of a project."""

    caller: Caller

    def get_all(self, slug: str) -> list[JudgeRow]:
        """Every judge with their tallies, the last to act first."""
        with self.caller.reading(slug) as request:
            project = request.project
            rows = request.on.execute(
                select(judges)
                .where(judges.c.project == project.id)
                .order_by(judges.c.last.desc(), judges.c.id.desc())
            ).all()
            answered = {row.id: row.pages for row in rows}
            seconds = project.keep("seconds", answered, lambda: _median_seconds(request))
            flags, invited = find_flags(request), invited_names(request)
            return [_judge_row(row, project, seconds, flags, invited) for row in rows]

    def get(self, slug: str, judge: str) -> JudgeDetail:
        """One judge whole: tallies, confusion against gold, answers to gold, history."""
        with self.caller.reading(slug) as request:
            return _describe_judge(request, judge)

    def get_names(self, slug: str) -> dict[str, str]:
        """What every judge is called, by public id."""
        with self.caller.reading(slug) as request:
            invited = invited_names(request)
            columns = (judges.c.id, judges.c.public, judges.c.name, judges.c.channel, judges.c.key)
            wanted = select(*columns).where(judges.c.project == request.project.id)
            rows = request.on.execute(wanted)
            return {row.public: name_of_judge(row, invited.get(row.id, "")) for row in rows}

    def block(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Block a judge by hand: their judgments are untrusted, the items reopen."""
        return self.caller.write(slug, lambda request: _block(request, judge, reason))

    def block_flagged(self, slug: str) -> list[str]:
        """Block who is flagged, where the policy says so; their public ids.

        Not those whom a requester has unblocked: they have been looked at.
        """
        return self.caller.write(slug, _block_flagged)

    def unblock(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Unblock a judge: their judgments count again, their trust starts again."""
        return self.caller.write(slug, lambda request: _unblock(request, judge, reason))

    def rename(self, slug: str, judge: str, name: str) -> JudgeDetail:
        """Call a judge by another name; empty for what they are called by themselves."""
        words = " ".join(name.split())

        def work(request: Request) -> JudgeDetail:
            if len(words) > _LONGEST_NAME or "\0" in words:
                raise Refused("bad-form", f"a name has at most {_LONGEST_NAME} characters")
            row = _find_judge(request, judge)
            request.on.execute(update(judges).where(judges.c.id == row.id).values(name=words))
            return _describe_judge(request, judge)

        return self.caller.write(slug, work)

    def send_message(self, slug: str, judges: Sequence[str], text: str) -> int:
        """Write to judges, who see it on their next page until they say that they have read it.

        A later message takes the place of one that was not read yet. How many judges it went to.
        """
        return self.caller.write(slug, lambda request: _send_message(request, judges, text))

    def invite(
        self, slug: str, notes: Sequence[str], *, expires: datetime | None = None
    ) -> list[Invite]:
        """One invitation for each note (whom it is for)."""
        return self.caller.write(slug, lambda request: make_invites(request, notes, expires))

    def get_invites(self, slug: str) -> list[Invite]:
        """Every invitation, newest first; whoever has its link can judge as the one invited."""
        with self.caller.reading(slug, least="manager") as request:
            return list_invites(request)

    def revoke_invite(self, slug: str, invite: str) -> None:
        """End an invitation: who came by it can do nothing more; what they did stays."""
        self.caller.write(slug, lambda request: revoke_invite(request, invite))


def _median_seconds(request: Request, judge: int | None = None) -> dict[int, float]:
    """The median time a pair took each judge, where it was measured."""
    wanted = select(judgments.c.judge, judgments.c.seconds).where(
        judgments.c.project == request.project.id,
        judgments.c.kind == "work",
        judgments.c.seconds.is_not(None),
    )
    if judge is not None:
        wanted = wanted.where(judgments.c.judge == judge)
    found = request.on.execute(wanted).fetchall()
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
    seconds: Mapping[int, float],
    flags: Mapping[int, tuple[Flag, ...]],
    invited: Mapping[int, str],
) -> JudgeRow:
    """One judge's line, with what is known of all judges by their ids inside."""
    policy = snapshot.policy_of(row.arm)
    return from_row(
        JudgeRow,
        row,
        judge=row.public,
        reason=_standing_of(row, policy),
        came=to_time(row.came),
        last=None if row.last is None else to_time(row.last),
        gold_seen=row.seen,
        gold_right=row.right,
        accuracy=accuracy_of(row.right, row.seen),
        seconds=seconds.get(row.id),
        pay=to_money(pay_of(row, policy)),
        flags=flags.get(row.id, ()),
        name=name_of_judge(row, invited.get(row.id, "")),
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
    return _judge_row(judge, request.project, {}, {}, invited_names(request))


def _find_judge(request: Request, public: str) -> StoredRow:
    """A judge of this project."""
    row = request.on.execute(
        select(judges).where(judges.c.public == public, judges.c.project == request.project.id)
    ).one_or_none()
    if row is None:
        raise NotFound("judge", public)
    return row


def _describe_judge(request: Request, public: str) -> JudgeDetail:
    judge = _find_judge(request, public)
    answers = request.on.execute(
        select(
            *(judgments.c.label, judgments.c.right, judgments.c.kind, judgments.c.time),
            *(golds.c.accepted, golds.c.active, items.c.name, items.c.query, items.c.title),
        )
        .join(golds, golds.c.id == judgments.c.gold)
        .join(items, items.c.id == golds.c.item)
        .where(judgments.c.judge == judge.id)
        .order_by(judgments.c.id.desc())
    ).all()
    labels = (*request.project.scale.labels, *OTHERS)
    counts = Counter((row.accepted[0], row.label) for row in answers if row.active)
    truths = tuple(label for label in labels if any(key[0] == label for key in counts))
    seconds, flags = _median_seconds(request, judge.id), find_flags(request)
    return JudgeDetail(
        row=_judge_row(judge, request.project, seconds, flags, invited_names(request)),
        labels=labels,
        truths=truths,
        confusion=tuple(tuple(counts[truth, label] for label in labels) for truth in truths),
        golds=tuple(
            from_row(
                GoldAnswer,
                row,
                item=row.name,
                accepted=tuple(row.accepted),
                time=to_time(row.time),
            )
            for row in answers
        ),
        history=tuple(list_log(request, judge=public, limit=500)),
        refreshers=refreshers_of(request.on, judge.id),
        participant=judge.key if judge.channel == "panel" else "",
        parameters={str(name): str(value) for name, value in judge.parameters.items()},
    )


def _block(request: Request, public: str, reason: str) -> JudgeRow:
    _find_judge(request, public)
    judge = lock_judge(request.on, public)
    if judge.stage == "blocked" and judge.by_hand:
        return _line_of(request, judge)
    was_blocked = judge.stage == "blocked"
    record = block_by_hand(record_of(judge))
    take_back_page(request.on, judge)
    request.on.execute(
        update(judges)
        .where(judges.c.id == judge.id)
        .values(**columns_of(record), page=None, reason=reason.strip()[:500])
    )
    count = 0 if was_blocked else untrust(request.on, judge.id, request.project)
    figures: dict[str, Any] = {**record.figures, "judgments": count, "reason": reason[:500]}
    request.log("blocked-by-hand", judge=judge.id, actor=request.actor, **figures)
    return _line_of(request, _find_judge(request, public))


def _block_flagged(request: Request) -> list[str]:
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
            _block(request, row.public, reason)
            blocked.append(row.public)
    return blocked


def _unblock(request: Request, public: str, reason: str) -> JudgeRow:
    _find_judge(request, public)
    judge = lock_judge(request.on, public)
    if judge.stage != "blocked":
        return _line_of(request, judge)
    record = unblock_by_hand(record_of(judge))
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
    figures: dict[str, Any] = {**record.figures, "judgments": count, "reason": reason[:500]}
    request.log("unblocked-by-hand", judge=judge.id, actor=request.actor, **figures)
    return _line_of(request, _find_judge(request, public))


def _send_message(request: Request, publics: Sequence[str], text: str) -> int:
    words = text.strip()
    if not words or len(words) > _LONGEST_MESSAGE or "\0" in words:
        raise Refused("bad-form", f"a message has 1 to {_LONGEST_MESSAGE:,} characters")
    found = request.on.execute(
        select(judges.c.id, judges.c.public).where(
            judges.c.project == request.project.id, judges.c.public.in_(list(publics))
        )
    ).all()
    missing = set(publics) - {row.public for row in found}
    if missing:
        raise NotFound("judge", min(missing))
    ids = [row.id for row in found]
    request.on.execute(update(judges).where(judges.c.id.in_(ids)).values(message=words))
    for judge in ids:
        request.log("messaged", judge=judge, actor=request.actor, message=words)
    return len(ids)
