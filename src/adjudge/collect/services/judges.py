"""The judges of a project, who should be looked at, and invitations to judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from scipy import ndimage
from sqlalchemy import Select, insert, or_, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.closing import restore_trust, untrust
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
from adjudge.collect.rules.flagging import JudgeFacts, WorkAnswers, flag_judges
from adjudge.collect.rules.groups import find_bursts
from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.caller import Service, reads, writes
from adjudge.collect.services.projects import list_log
from adjudge.collect.store.database import StoredRow, from_row, to_time
from adjudge.collect.store.request import Request, columns_of, lock_judge, record_of
from adjudge.collect.store.schema import (
    TRUSTED_WORK,
    golds,
    invites,
    is_real,
    items,
    judges,
    judgments,
    pages,
    projects,
)
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.judging import DRY_RUN, OTHERS, accuracy_of
from adjudge.collect.values.requesting import (
    Flag,
    GoldAnswer,
    Invite,
    JudgeDetail,
    JudgeElsewhere,
    JudgeGroup,
    JudgeRow,
)
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
_ROWS = 5_000  # of a long answer that are held at a time
_BY_TOKEN = re.compile(r"[\w-]{16}:(.+)", re.DOTALL)  # the id of a token, and a name of its own
_INVITES = (
    select(invites, projects.c.slug, judges.c.public.label("judge_public"))
    .join(projects, projects.c.id == invites.c.project)
    .outerjoin(judges, judges.c.id == invites.c.judge)
    .order_by(invites.c.id.desc())
)


@dataclass(frozen=True, slots=True)
class JudgeService(Service):
    """What a requester can do about the judges of a project."""

    @reads()
    def get_all(self, request: Request) -> list[JudgeRow]:
        """Every judge with their tallies, the last to act first."""
        statement = _of_project(request).order_by(judges.c.last.desc(), judges.c.id.desc())
        rows = request.on.execute(statement).all()
        answered = {row.id: row.pages for row in rows}
        seconds = request.project.keep("seconds", answered, lambda: _median_seconds(request))
        flags, invited = find_flags(request), invited_names(request)
        return [_judge_row(request, row, seconds, flags, invited) for row in rows]

    @reads()
    def get(self, request: Request, judge: str) -> JudgeDetail:
        """One judge: tallies, confusion against gold, answers to gold, history."""
        return _describe_judge(request, judge)

    @reads()
    def get_groups(self, request: Request) -> list[JudgeGroup]:
        """Judges who arrived in bursts; those first who agree with each other, not with others."""
        return _list_groups(request)

    @reads()
    def find_elsewhere(self, request: Request, judge: str) -> list[JudgeElsewhere]:
        """The same person in other projects that the caller may see.

        They are known by their id at a panel, by the name of a script, or by the name they have.
        """
        here = _find_judge(request, judge)
        name = name_of_judge(here, invited_names(request).get(here.id, ""))
        same = [judges.c.name == name, invites.c.note == name]
        if here.channel in ("panel", "api"):
            same.append((judges.c.channel == here.channel) & (judges.c.key == here.key))
        found = request.on.execute(
            select(judges, projects.c.slug, projects.c.name.label("title"))
            .join(projects, projects.c.id == judges.c.project)
            .outerjoin(invites, invites.c.judge == judges.c.id)
            .where(projects.c.id != request.project.id, self.caller.sees(request.on), is_real)
            .where(or_(*same))
            .order_by(judges.c.last.desc())
        )
        return [
            from_row(
                JudgeElsewhere,
                row,
                project=row.slug,
                judge=row.public,
                gold_seen=row.seen,
                gold_right=row.right,
                accuracy=accuracy_of(row.right, row.seen),
            )
            for row in found
        ]

    @reads()
    def get_names(self, request: Request) -> dict[str, str]:
        """What every judge is called, by public id."""
        invited = invited_names(request)
        columns = (judges.c.id, judges.c.public, judges.c.name, judges.c.channel, judges.c.key)
        rows = request.on.execute(_of_project(request).with_only_columns(*columns))
        return {row.public: name_of_judge(row, invited.get(row.id, "")) for row in rows}

    @writes()
    def block(self, request: Request, judge: str, reason: str = "") -> JudgeRow:
        """Block a judge by hand: their judgments are untrusted, the items reopen."""
        return _block(request, judge, reason)

    @writes()
    def block_flagged(self, request: Request) -> list[str]:
        """Block who is flagged, where the policy says so; their public ids.

        Not those whom a requester has unblocked: they have been looked at.
        """
        found = find_flags(request)
        flagged = _of_project(request).where(judges.c.stage != "blocked", judges.c.fresh_from == 0)
        blocked = []
        for row in request.on.execute(flagged).all():
            if row.id in found and request.project.policy_of(row.arm).flags_block:
                _block(request, row.public, "; ".join(flag.reason for flag in found[row.id]))
                blocked.append(row.public)
        return blocked

    @writes()
    def unblock(self, request: Request, judge: str, reason: str = "") -> JudgeRow:
        """Unblock a judge: their judgments count again, their trust starts again."""
        row = _lock(request, judge)
        if row.stage != "blocked":
            return _line_of(request, judge)
        record = unblock_by_hand(record_of(row))
        newest = request.on.execute(
            select(judgments.c.id)
            .where(judgments.c.judge == row.id)
            .order_by(judgments.c.id.desc())
            .limit(1)
        ).scalar()
        _change(request, row.id, **columns_of(record), fresh_from=newest or 0, reason="")
        count = 0 if row.kind == DRY_RUN else restore_trust(request.on, [row.id], request.project)
        figures: dict[str, Any] = {**record.figures, "judgments": count, "reason": reason[:500]}
        request.log("unblocked-by-hand", judge=row.id, actor=request.actor, **figures)
        return _line_of(request, judge)

    @writes()
    def rename(self, request: Request, judge: str, name: str) -> JudgeDetail:
        """Call a judge by another name; empty for what they are called by themselves."""
        words = " ".join(name.split())
        if len(words) > _LONGEST_NAME or "\0" in words:
            raise Refused("bad-form", f"a name has at most {_LONGEST_NAME} characters")
        _change(request, _find_judge(request, judge).id, name=words)
        return _describe_judge(request, judge)

    @writes()
    def send_message(self, request: Request, publics: Sequence[str], text: str) -> int:
        """Write to judges, who see it on their next page until they say that they have read it.

        A later message takes the place of one that was not read yet. How many judges it went to.
        """
        words = text.strip()
        if not words or len(words) > _LONGEST_MESSAGE or "\0" in words:
            raise Refused("bad-form", f"a message has 1 to {_LONGEST_MESSAGE:,} characters")
        statement = _of_project(request).where(judges.c.public.in_(list(publics)))
        found = request.on.execute(statement).all()
        missing = set(publics) - {row.public for row in found}
        if missing:
            raise NotFound("judge", min(missing))
        for row in found:
            _change(request, row.id, message=words)
            request.log("messaged", judge=row.id, actor=request.actor, message=words)
        return len(found)

    @writes()
    def invite(
        self, request: Request, notes: Sequence[str], *, expires: datetime | None = None
    ) -> list[Invite]:
        """Make one invitation for each note (whom it is for)."""
        rows = [
            {
                "key": make_id(),
                "project": request.project.id,
                "note": note.strip()[:500].replace("\0", ""),
                "made": request.now,
                "expires": None if expires is None else expires.timestamp(),
            }
            for note in notes
        ]
        if not rows:
            return []
        request.on.execute(insert(invites), rows)
        made = {row["key"] for row in rows}
        return [one for one in _list_invites(request) if one.invite in made]

    @reads("manager")
    def get_invites(self, request: Request) -> list[Invite]:
        """Every invitation, newest first; whoever has its link can judge as the one invited."""
        return _list_invites(request)

    @writes()
    def revoke_invite(self, request: Request, invite: str) -> None:
        """End an invitation: who came by it can do nothing more; what they did stays.

        Their open page goes back to the pool.
        """
        ours = (invites.c.project == request.project.id, invites.c.key == invite)
        change = update(invites).where(*ours).values(revoked=True).returning(invites.c.judge)
        row = request.on.execute(change).one_or_none()
        if row is None:
            raise NotFound("invitation", invite)
        if row.judge is None:
            return
        came = select(judges.c.public).where(judges.c.id == row.judge)
        judge = lock_judge(request.on, request.on.execute(came).scalar_one())
        take_back_page(request.on, judge)
        _change(request, judge.id, page=None)
        request.log("invitation-revoked", judge=judge.id, actor=request.actor)


def _of_project(request: Request) -> Select[Any]:
    return select(judges).where(judges.c.project == request.project.id)


def _find_judge(request: Request, public: str) -> StoredRow:
    """A judge of this project."""
    statement = _of_project(request).where(judges.c.public == public)
    row = request.on.execute(statement).one_or_none()
    if row is None:
        raise NotFound("judge", public)
    return row


def _lock(request: Request, public: str) -> StoredRow:
    """A judge of this project, whom nobody else changes meanwhile."""
    _find_judge(request, public)
    return lock_judge(request.on, public)


def _change(request: Request, judge: int, **values: Any) -> None:
    request.on.execute(update(judges).where(judges.c.id == judge).values(**values))


def _block(request: Request, public: str, reason: str) -> JudgeRow:
    judge = _lock(request, public)
    was_blocked = judge.stage == "blocked"
    if was_blocked and judge.by_hand:
        return _line_of(request, public)
    record = block_by_hand(record_of(judge))
    take_back_page(request.on, judge)
    _change(request, judge.id, **columns_of(record), page=None, reason=reason.strip()[:500])
    count = 0 if was_blocked else untrust(request.on, judge.id, request.project)
    figures: dict[str, Any] = {**record.figures, "judgments": count, "reason": reason[:500]}
    request.log("blocked-by-hand", judge=judge.id, actor=request.actor, **figures)
    return _line_of(request, public)


def _judge_row(
    request: Request,
    row: StoredRow,
    seconds: Mapping[int, float],
    flags: Mapping[int, tuple[Flag, ...]],
    invited: Mapping[int, str],
) -> JudgeRow:
    """One judge's line, with what is known of all judges by their internal ids."""
    policy = request.project.policy_of(row.arm)
    return from_row(
        JudgeRow,
        row,
        judge=row.public,
        reason=_standing_of(row, policy),
        gold_seen=row.seen,
        gold_right=row.right,
        accuracy=accuracy_of(row.right, row.seen),
        seconds=seconds.get(row.id),
        pay=to_money(pay_of(row, policy)),
        flags=flags.get(row.id, ()),
        name=name_of_judge(row, invited.get(row.id, "")),
    )


def _line_of(request: Request, public: str) -> JudgeRow:
    """A judge's line after a change, without what has to be counted."""
    return _judge_row(request, _find_judge(request, public), {}, {}, invited_names(request))


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
            return f"Did not pass: {trained}; {policy.training_pass:.0%} are needed."
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


def _describe_judge(request: Request, public: str) -> JudgeDetail:
    judge = _find_judge(request, public)
    answers = request.on.execute(
        select(
            *(judgments.c.label, judgments.c.right, judgments.c.kind, judgments.c.time),
            *(golds.c.accepted, golds.c.active, items.c.query, items.c.title),
            items.c.name.label("item"),
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
        row=_judge_row(request, judge, seconds, flags, invited_names(request)),
        labels=labels,
        truths=truths,
        confusion=tuple(tuple(counts[truth, label] for label in labels) for truth in truths),
        golds=tuple(from_row(GoldAnswer, row) for row in answers),
        history=tuple(list_log(request, judge=public, limit=500)),
        refreshers=refreshers_of(request.on, judge.id),
        participant=judge.key if judge.channel == "panel" else "",
        parameters={str(name): str(value) for name, value in judge.parameters.items()},
    )


# -- names and invitations


def find_invite(on: Connection, key: str) -> Invite | None:
    """An invitation by its key."""
    row = on.execute(_INVITES.where(invites.c.key == key)).one_or_none()
    return None if row is None else _invite_of(row)


def _list_invites(request: Request) -> list[Invite]:
    """Every invitation of a project, newest first."""
    statement = _INVITES.where(invites.c.project == request.project.id)
    return [_invite_of(row) for row in request.on.execute(statement)]


def _invite_of(row: StoredRow) -> Invite:
    return from_row(Invite, row, invite=row.key, project=row.slug, judge=row.judge_public)


def invited_names(request: Request) -> dict[int, str]:
    """What invitations say of whom they are for, by the internal id of who came by each."""
    statement = select(invites.c.judge, invites.c.note).where(
        invites.c.project == request.project.id, invites.c.judge.is_not(None)
    )
    return dict(request.on.execute(statement).all())


def name_of_judge(row: Any, invited: str = "") -> str:
    """What a requester calls a judge.

    Their own word for them, what the invitation says, the id at the panel or of the script; else
    the public id.
    """
    given = row.key if row.channel in ("panel", "api") else ""
    if row.channel == "api" and (called := _BY_TOKEN.fullmatch(given)):
        given = called[1]
    return str(row.name or invited or given or row.public)


# -- flags and paces


def find_flags(request: Request) -> dict[int, tuple[Flag, ...]]:
    """The flags of every judge who has any, by internal id: reasons to look at them.

    They are kept with the snapshot, and found again once a judge's row is another: whoever answers
    a page has one more, and whoever gains or loses trust is at another stage.
    """
    rows = _read_workers(request)
    key = [tuple(row) for row in rows]
    return request.project.keep("flags", key, lambda: _flags_of(request, rows))


def _read_workers(request: Request) -> Sequence[StoredRow]:
    """What is counted on the judges who have answered a page."""
    statement = _of_project(request).with_only_columns(
        *(judges.c.id, judges.c.arm, judges.c.kind, judges.c.stage, judges.c.pages),
        *(judges.c.judged, judges.c.seen, judges.c.right),
    )
    return request.on.execute(
        statement.where(judges.c.pages > 0, is_real).order_by(judges.c.id)
    ).all()


def _flags_of(request: Request, rows: Sequence[StoredRow]) -> dict[int, tuple[Flag, ...]]:
    """The flags of these judges, by all that they have answered."""
    if not rows:
        return {}
    ids = np.array([row.id for row in rows], dtype=np.int64)
    facts = _facts_of(request, rows)
    policies = [request.project.policy_of(row.arm) for row in rows]
    labels = request.project.scale.labels
    found = flag_judges(_read_work(request, ids)[0], facts, policies, labels)
    return {int(one): flags for one, flags in zip(ids, found, strict=True) if flags}


def _facts_of(request: Request, rows: Sequence[StoredRow]) -> JudgeFacts:
    """The pace and the gold of judges."""
    answered = select(pages.c.judge, (pages.c.answered - pages.c.made)).where(
        pages.c.project == request.project.id, pages.c.kind == "work", pages.c.state == "answered"
    )
    paces = _medians(request, answered)
    return JudgeFacts(
        pace=np.array(
            [  # a model may be as fast as it likes
                paces.get(row.id, np.nan) * row.pages / row.judged
                if row.kind == "person" and row.judged
                else np.nan
                for row in rows
            ]
        ),
        pages=np.array([row.pages for row in rows]),
        gold_seen=np.array([row.seen for row in rows]),
        gold_right=np.array([row.right for row in rows]),
    )


def _list_groups(request: Request) -> list[JudgeGroup]:
    counted = {row.id: row for row in _read_workers(request)}
    about = request.on.execute(_of_project(request).order_by(judges.c.id)).all()
    people = [row for row in about if row.id in counted]
    if not people:
        return []
    ids = np.array([row.id for row in people], dtype=np.int64)
    work, places = _read_work(request, ids)
    statement = select(items.c.id, items.c.state, items.c.trusted, items.c.needed)
    ours = statement.where(items.c.project == request.project.id, items.c.gold.is_(False))
    closed = {row.id: row.trusted - row.needed for row in request.on.execute(ours)
              if row.state == "closed"}  # fmt: skip
    spare = np.array([closed.get(item, -1) for item in places.tolist()], dtype=np.int64)
    came = np.array([row.came for row in people])
    facts = _facts_of(request, [counted[row.id] for row in people])
    invited = invited_names(request)
    return [
        JudgeGroup(
            judges=tuple(people[at].public for at in together),
            names=tuple(
                name_of_judge(people[at], invited.get(people[at].id, "")) for at in together
            ),
            first=to_time(came[together].min()),
            last=to_time(came[together].max()),
            **figures,
        )
        for together, figures in find_bursts(
            came, work, facts, spare, len(request.project.scale.labels)
        )
    ]


def _read_work(request: Request, ids: Any) -> tuple[WorkAnswers, Any]:
    """Every trusted answer to work, its judge by the place in ``ids``; and the items, by place."""
    codes = {label: code for code, label in enumerate(request.project.scale.labels)}
    statement = select(judgments.c.judge, judgments.c.item, judgments.c.label).where(
        judgments.c.project == request.project.id, TRUSTED_WORK
    )
    parts = request.on.execute(statement).partitions(_ROWS)
    coded = [np.array([(j, i, codes.get(label, -1)) for j, i, label in rows]) for rows in parts]
    work = np.concatenate([np.empty((0, 3), dtype=np.int64), *coded])
    # A label that is on the scale no more says nothing of anybody.
    who, item, given = work[np.isin(work[:, 0], ids) & (work[:, 2] >= 0)].T
    places, place = np.unique(item, return_inverse=True)
    return WorkAnswers(judge=np.searchsorted(ids, who), item=place, label=given), places


def _median_seconds(request: Request, judge: int | None = None) -> dict[int, float]:
    """The median seconds per label of each judge, as the report has them, where measured."""
    statement = select(judgments.c.judge, judgments.c.seconds).where(
        judgments.c.project == request.project.id,
        judgments.c.kind == "work",
        judgments.c.other.is_(False),
        judgments.c.seconds.is_not(None),
    )
    return _medians(
        request, statement if judge is None else statement.where(judgments.c.judge == judge)
    )


def _medians(request: Request, statement: Select[Any]) -> dict[int, float]:
    """The median of each judge's values, by internal id; ``statement`` gives judges and values."""
    rows = request.on.execute(statement).fetchall()
    if not rows:
        return {}
    who, took = np.array(rows, dtype=np.float64).T
    ids = np.unique(who)
    middle = ndimage.median(took, who, ids)
    return {int(one): float(value) for one, value in zip(ids, middle, strict=True)}
