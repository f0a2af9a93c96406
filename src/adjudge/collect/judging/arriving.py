"""Judges arrive and consent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, get_args

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.rules.decisions import first_stage, stage_after_consent
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import assign_arm
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import JudgeRequest, Request
from adjudge.collect.store.schema import invites, judges, projects
from adjudge.collect.store.snapshot import ProjectSnapshot, SnapshotCache
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.judging import CHANNELS, DRY_RUN, Arrival, Channel, Kind
from adjudge.data.source import count_of
from adjudge.errors import NotFound, Refused

PARAMETER = "dry_run"  # of a link that asks for a dry run
MEMBER = "member"  # parameter of a dry run: the public id of whose it is
_NO = ("", "0", "false", "no", "off")
_LONGEST_KEY = 500
_OPEN_WAYS: tuple[Channel, ...] = ("open", "panel")  # that anybody can use again and again
_NEWEST = (
    select(judges.c.came)
    .where(
        judges.c.project == bindparam("project"),
        judges.c.channel.in_(_OPEN_WAYS),
        judges.c.kind != DRY_RUN,
    )
    .order_by(judges.c.id.desc())
    .limit(1)
    .offset(bindparam("place"))
)
_FIND = select(judges.c.id, judges.c.public, judges.c.parameters).where(
    judges.c.project == bindparam("project"),
    judges.c.channel == bindparam("channel"),
    judges.c.key == bindparam("key"),
)
PROJECT = select(projects.c.id, projects.c.version).where(projects.c.slug == bindparam("slug"))
Admit = Callable[[Policy], None]  # refuses a newcomer who is one too many


def is_dry_run(parameters: dict[str, Any]) -> bool:
    """Whether a judge's parameters mark them as one who only tries the project out."""
    return str(parameters.get(PARAMETER, "")).strip().casefold() not in _NO


def _arm_of(snapshot: ProjectSnapshot, parameters: dict[str, Any]) -> str:
    """The arm that a dry run looks at: the one its link names, else the first."""
    named = str(parameters.get("arm", ""))
    return named if named in snapshot.arms else next(iter(snapshot.arms))


def check_open(who: Arrival | StoredRow, snapshot: ProjectSnapshot, message: str) -> None:
    """Refuse where a project is not open; a dry run may come before it opens, and in a pause."""
    dry = who.kind == DRY_RUN
    if snapshot.state == "open" or (dry and snapshot.state != "closed"):
        return
    raise Refused("not-open", message)


def take_in(
    on: Connection,
    arrival: Arrival,
    snapshots: SnapshotCache,
    now: float,
    admit: Admit | None = None,
) -> str:
    """The public id of who came: found, or made.

    ``admit`` is asked about who comes for the first time, or with another link than before.
    """
    _check_form(arrival)
    project = on.execute(PROJECT, {"slug": arrival.project}).one_or_none()
    if project is None:
        raise NotFound("project", arrival.project)
    who = {"project": project.id, "channel": arrival.channel, "key": arrival.key}
    known = on.execute(_FIND, who).one_or_none()
    if known is not None:
        if arrival.channel == "panel":
            snapshot = snapshots.get(on, project.id, project.version)
            _come_again(Request(on=on, project=snapshot, now=now), known, arrival, admit)
        return str(known.public)
    # One newcomer at a time: the arm depends on how many came before.
    locked = on.execute(
        select(projects.c.version, projects.c.arrivals)
        .where(projects.c.id == project.id)
        .with_for_update(key_share=True)
    ).one()
    known = on.execute(_FIND, who).one_or_none()
    if known is not None:
        return str(known.public)
    snapshot = snapshots.get(on, project.id, locked.version)
    request = Request(on=on, project=snapshot, now=now)
    invite = _check_welcome(request, arrival)
    _check_crowd(request, arrival)
    if admit is not None:
        admit(snapshot.policy)
    return _make_judge(request, arrival, locked.arrivals, invite)


def find_known(on: Connection, arrival: Arrival, *, unchanged: bool = False) -> str | None:
    """The public id of a judge who came before by this way and key.

    ``unchanged``: None also for a participant whose link has changed, which is to be stored.
    """
    if unchanged:
        _check_form(arrival)
    project = on.execute(PROJECT, {"slug": arrival.project}).one_or_none()
    if project is None:
        return None
    who = {"project": project.id, "channel": arrival.channel, "key": arrival.key}
    known = on.execute(_FIND, who).one_or_none()
    if known is None:
        return None
    if unchanged and arrival.channel == "panel" and known.parameters != arrival.parameters:
        return None
    return str(known.public)


def _come_again(request: Request, known: StoredRow, arrival: Arrival, admit: Admit | None) -> None:
    """Keep what a participant's newest link says (study, session); the log has the older.

    From an address that sends too many links they come in all the same, but nothing is written:
    whoever knows their id could fill the log.
    """
    if known.parameters == arrival.parameters:
        return
    if admit is not None:
        try:
            admit(request.project.policy)
        except Refused:
            return
    given = {"parameters": dict(arrival.parameters)}
    request.on.execute(update(judges).where(judges.c.id == known.id).values(**given))
    request.log("came-again", judge=known.id, actor="judge", before=known.parameters, **given)


def _check_crowd(request: Request, arrival: Arrival) -> None:
    """Refuse a newcomer where too many came by open ways lately. Refused: ``crowded``.

    Exact, whatever the number of processes: the project's row is locked.
    """
    if arrival.channel not in _OPEN_WAYS or arrival.kind == DRY_RUN:
        return
    policy = request.project.policy
    for most, seconds in ((policy.newcomers_per_minute, 60), (policy.newcomers_per_hour, 3600)):
        if not most:
            continue
        place = {"project": request.project.id, "place": most - 1}
        came = request.on.execute(_NEWEST, place).scalar()
        if came is not None and came > request.now - seconds:
            raise too_many_new(came + seconds - request.now)


def too_many_new(seconds: float) -> Refused:
    """The refusal of a newcomer who is one too many, for so many seconds."""
    wait = max(1, math.ceil(seconds))
    spelt = count_of(wait, "second") if wait < 120 else f"{math.ceil(wait / 60)} minutes"
    return Refused(
        "crowded",
        f"many people have come by this link within a short time; please open it again in {spelt}",
        seconds=wait,
    )


def unsigned_dry_run() -> Refused:
    """The refusal of a dry run by a link that anybody can write: it would show all gold."""
    expected = "open 'Try it out' on the project's page, which makes a link for a member"
    return Refused("link-forged", f"a dry run needs a link signed by this server; {expected}")


def _check_form(arrival: Arrival) -> None:
    if arrival.channel not in CHANNELS or arrival.kind not in get_args(Kind):
        raise Refused("bad-form", f"{arrival.channel!r} as {arrival.kind!r} is no way to come")
    if not 0 < len(arrival.key) <= _LONGEST_KEY or "\0" in arrival.key:
        raise Refused("bad-form", f"a judge's key has 1 to {_LONGEST_KEY} characters")
    if arrival.kind != DRY_RUN and is_dry_run(arrival.parameters):
        raise unsigned_dry_run()
    for name, value in arrival.parameters.items():
        if len(name) + len(value) > 2 * _LONGEST_KEY or "\0" in name + value:
            raise Refused("bad-form", f"the parameter {name[:40]!r} is too long")


def _check_welcome(request: Request, arrival: Arrival) -> int | None:
    """Whether a newcomer may come in, and by which invitation."""
    check_open(arrival, request.project, "this project takes no new judges at the moment")
    if arrival.channel not in request.project.policy.channels and arrival.kind != DRY_RUN:
        raise Refused("channel-closed", "this project cannot be joined in this way")
    if arrival.channel != "invite":
        return None
    invite = request.on.execute(
        select(invites).where(invites.c.key == arrival.key, invites.c.project == request.project.id)
    ).one_or_none()
    if invite is None or invite.revoked:
        raise Refused("invite-unknown", "this invitation is not known, or was taken back")
    if invite.expires is not None and invite.expires <= request.now:
        raise Refused("invite-expired", "this invitation has expired")
    return int(invite.id)


def _make_judge(request: Request, arrival: Arrival, number: int, invite: int | None) -> str:
    """A new judge in their arm and first stage."""
    dry = arrival.kind == DRY_RUN
    if dry:
        arm = _arm_of(request.project, arrival.parameters)
    else:
        arm = assign_arm(request.project.seed, number, list(request.project.arms))
    policy = request.project.policy_of(arm)
    count = len(request.project.training)
    stage = first_stage(policy, training_golds=count)
    if arrival.kind == "model" and stage == "consent":
        stage = stage_after_consent(policy, training_golds=count)
    public = make_id()
    judge = request.on.execute(
        insert(judges)
        .values(
            public=public,
            project=request.project.id,
            channel=arrival.channel,
            key=arrival.key,
            parameters=dict(arrival.parameters),
            kind=arrival.kind,
            arm=arm,
            stage=stage,
            came=request.now,
            last=request.now,
            notice=[],
        )
        .returning(judges.c.id)
    ).scalar_one()
    if not dry:  # who only tries it out takes no place of the random assignment
        more = update(projects).where(projects.c.id == request.project.id)
        request.on.execute(more.values(arrivals=number + 1))
    if invite is not None:
        request.on.execute(update(invites).where(invites.c.id == invite).values(judge=judge))
    figures: dict[str, Any] = {"arm": arm, "number": None if dry else number, "stage": stage}
    request.log("arrived", judge=judge, **figures, channel=arrival.channel, kind=arrival.kind)
    return public


def give_consent(request: JudgeRequest) -> None:
    """Note a judge's consent and move them on; nothing if they are past it."""
    if request.judge.stage != "consent":
        return
    stage = stage_after_consent(request.policy, training_golds=len(request.project.training))
    request.set_judge(stage=stage, consented=request.now, last=request.now)
    request.log("consented", judge=request.judge.id, actor="judge", stage=stage)
