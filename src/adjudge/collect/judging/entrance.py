"""Where a judge comes in: arriving, consenting, and the view of where she stands."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import bindparam, exists, insert, select, text, update
from sqlalchemy.engine import Connection

from adjudge.collect.items.quotas import arm_lacks, arm_limit, arm_room
from adjudge.collect.judging.dry_runs import arm_of, check_open, is_dry_run
from adjudge.collect.rules.policy import Policy, first_stage, stage_after_consent
from adjudge.collect.rules.routing import assign_arm
from adjudge.collect.rules.wording import (
    BUDGET_SPENT,
    MAX_PAGES,
    NO_GOLD_LEFT,
    code_of,
    outcome_of,
    reason_of,
    way_back,
)
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import line, lock_judge, to_micros, to_money, write_log
from adjudge.collect.store.schema import (
    ITEM_HAS_ROOM,
    invites,
    items,
    judges,
    judgments,
    pages,
    projects,
)
from adjudge.collect.store.snapshot import ProjectSnapshot, SnapshotCache
from adjudge.collect.values.accuracy import accuracy_of
from adjudge.collect.values.judging import (
    CHANNELS,
    DRY_RUN,
    KINDS,
    OTHERS,
    Arrival,
    Channel,
    JudgeView,
    Kind,
    ProjectView,
    Stage,
)
from adjudge.errors import NotFound, Refused

LONGEST_KEY = 500

_JUDGED = exists().where(
    judgments.c.judge == bindparam("judge"),
    judgments.c.item == items.c.id,
    text("judgments.gold IS NULL"),
)
_OPEN = (
    items.c.project == bindparam("project"),
    items.c.rank > bindparam("reached"),
    ITEM_HAS_ROOM,
    ~_JUDGED,
)
_LEFT = (
    items.c.project == bindparam("project"),
    items.c.state == "open",
    items.c.gold.is_(False),
    ~_JUDGED,
)
_ANY_OPEN = select(exists().where(*_OPEN).label("any"))
_ANY_OPEN_IN_ARM = select(exists().where(*_OPEN, arm_room).label("any"))
_ANY_LEFT = select(exists().where(*_LEFT).label("any"))
_ANY_LEFT_IN_ARM = select(exists().where(*_LEFT, arm_lacks).label("any"))
_OPEN_PAGE = select(pages.c.public).where(
    pages.c.id == bindparam("page"), text("pages.state = 'open'")
)


def any_open(on: Connection, judge: StoredRow, policy: Policy) -> bool:
    """Whether some item could be given to this judge now."""
    wanted = {"judge": judge.id, "project": judge.project, **in_arm(judge, policy)}
    statement = _ANY_OPEN_IN_ARM if policy.judgments_by_arm else _ANY_OPEN
    return any(
        on.execute(statement, {**wanted, "reached": reached}).scalar()
        for reached in sorted({judge.reached, 0}, reverse=True)
    )


def any_left(on: Connection, judge: StoredRow, policy: Policy) -> bool:
    """Whether some item that she has not judged still lacks trusted judgments of her arm's, or any.

    An arm with a number of its own is done when it has that number, whatever others still lack.
    """
    wanted = {"judge": judge.id, "project": judge.project, **in_arm(judge, policy)}
    statement = _ANY_LEFT_IN_ARM if policy.judgments_by_arm else _ANY_LEFT
    return bool(on.execute(statement, wanted).scalar())


def in_arm(judge: StoredRow, policy: Policy) -> dict[str, Any]:
    """What a statement has to know of a judge's arm; nothing where arms share a number."""
    limit = arm_limit(policy)
    return {} if limit is None else {"arm": judge.arm, "limit": limit}


def view_of(
    on: Connection, judge: StoredRow, snapshot: ProjectSnapshot, *, open_items: bool | None = None
) -> JudgeView:
    """Where a judge stands, for her own pages."""
    policy = snapshot.policy_of(judge.arm)
    page = None
    if judge.page is not None:
        page = on.execute(_OPEN_PAGE, {"page": judge.page}).scalar()
    if open_items is None:
        over = judge.stage in ("failed", "blocked") or judge.reason in (MAX_PAGES, NO_GOLD_LEFT)
        over = over or (judge.reason == BUDGET_SPENT and not _has_budget_again(on, judge, snapshot))
        open_items = not over and (page is not None or any_open(on, judge, policy))
    return JudgeView(
        judge=judge.public,
        project=snapshot.slug,
        kind=cast(Kind, judge.kind),
        stage=cast(Stage, judge.stage),
        reason=reason_of(judge, policy, open_items=open_items),
        judged=judge.judged,
        pages=judge.pages,
        open_items=open_items,
        page=page,
        training_done=judge.training_seen,
        training_pairs=snapshot.training_pairs(judge.arm),
        training_right=judge.training_right,
        tries_left=max(0, policy.training_tries - judge.attempt),
        gold_seen=judge.seen,
        gold_right=judge.right,
        accuracy=accuracy_of(judge.right, judge.seen),
        warned=judge.warned_at is not None,
        pay=to_money(paid(judge, snapshot)),
        currency=policy.currency,
        completion_code=code_of(judge, policy),
        return_link=way_back(judge, policy),
        notice=tuple(judge.notice),
    )


def ended_untrained(judge: StoredRow, snapshot: ProjectSnapshot) -> bool:
    """Whether she came when the budget was spent: whoever goes on later has done the training."""
    spent = judge.stage == "finished" and judge.reason == BUDGET_SPENT
    return spent and bool(judge.training_seen < snapshot.training_pairs(judge.arm))


def _has_budget_again(on: Connection, judge: StoredRow, snapshot: ProjectSnapshot) -> bool:
    """Whether a judge who ended with the budget could be given a page now."""
    from adjudge.collect.judging.budget import rows_left  # which has to know what judges are paid

    if ended_untrained(judge, snapshot):
        return False
    return rows_left(on, judge, snapshot, turn=False) != 0


def paid(judge: Any, snapshot: ProjectSnapshot) -> int:
    """What a judge has earned, in millionths, by her stage and her arm's policy.

    One who did the training and then found nothing left is paid as who failed it: for her time.
    """
    policy = snapshot.policy_of(judge.arm)
    outcome = outcome_of(judge)
    if outcome == "failed" or (outcome == "nothing-left" and judge.training_seen):
        return to_micros(policy.pay_failed)
    if judge.stage == "blocked" and not policy.pay_blocked:
        return 0
    return int(judge.earned)


def project_view(snapshot: ProjectSnapshot, arm: str) -> ProjectView:
    """What a judge may know of a project."""
    policy = snapshot.policy_of(arm)
    return ProjectView(
        slug=snapshot.slug,
        name=snapshot.name,
        state=snapshot.state,
        guidelines=snapshot.guidelines_of(arm),
        labels=snapshot.scale.labels,
        others=OTHERS,
        consent=policy.consent if policy.require_consent else "",
        training_pairs=snapshot.training_pairs(arm),
        training_pass=policy.training_pass,
        training_tries=policy.training_tries,
        pairs_per_page=policy.pairs_per_page,
        pay_per_page=policy.pay_per_page,
        pay_failed=policy.pay_failed,
        currency=policy.currency,
        feedback=policy.feedback,
    )


OPEN_WAYS: tuple[Channel, ...] = ("open", "panel")  # ways that anybody can try as often as he likes
_NEWEST = (
    select(judges.c.came)
    .where(
        judges.c.project == bindparam("project"),
        judges.c.channel.in_(OPEN_WAYS),
        # A panel's link can call itself a dry run; the open way is a requester's own.
        (judges.c.kind != DRY_RUN) | (judges.c.channel == "panel"),
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


Admit = Callable[[Policy], None]  # refuses a newcomer who is one too many


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
    project = on.execute(
        select(projects.c.id, projects.c.version).where(projects.c.slug == arrival.project)
    ).one_or_none()
    if project is None:
        raise NotFound("project", arrival.project)
    who = {"project": project.id, "channel": arrival.channel, "key": arrival.key}
    known = on.execute(_FIND, who).one_or_none()
    if known is not None:
        if arrival.channel == "panel":
            snapshot = snapshots.get(on, project.id, project.version)
            _come_again(on, known, arrival, snapshot, now, admit)
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
    invite = _check_welcome(on, arrival, snapshot, now)
    _check_crowd(on, arrival, snapshot, now)
    if admit is not None:
        admit(snapshot.policy)
    if is_dry_run(arrival.parameters):  # only now: anybody can write that into a link
        arrival = replace(arrival, kind=DRY_RUN)
    return _make_judge(on, arrival, snapshot, locked.arrivals, invite, now)


def _come_again(
    on: Connection,
    known: StoredRow,
    arrival: Arrival,
    snapshot: ProjectSnapshot,
    now: float,
    admit: Admit | None,
) -> None:
    """Keep what a participant's newest link says (study, session); the log has the older.

    From an address that sends too many links she comes in all the same, but nothing is written:
    whoever knows her id could fill the log.
    """
    if known.parameters == arrival.parameters:
        return
    if admit is not None:
        try:
            admit(snapshot.policy)
        except Refused:
            return
    given = dict(arrival.parameters)
    on.execute(update(judges).where(judges.c.id == known.id).values(parameters=given))
    figures = {"before": known.parameters, "parameters": given}
    write_log(on, [line(snapshot, now, "came-again", judge=known.id, actor="judge", **figures)])


def _check_crowd(on: Connection, arrival: Arrival, snapshot: ProjectSnapshot, now: float) -> None:
    """Refuse a newcomer where too many came by open ways of late. Refused: ``crowded``.

    Exact, whatever the number of processes: the project's row is locked.
    """
    if arrival.channel not in OPEN_WAYS or arrival.kind == DRY_RUN:
        return
    policy = snapshot.policy
    for most, seconds in ((policy.newcomers_per_minute, 60), (policy.newcomers_per_hour, 3600)):
        if not most:
            continue
        place = {"project": snapshot.project, "place": most - 1}
        came = on.execute(_NEWEST, place).scalar()
        if came is not None and came > now - seconds:
            raise too_many_new(came + seconds - now)


def too_many_new(seconds: float) -> Refused:
    """The refusal of a newcomer who is one too many, for so many seconds."""
    wait = max(1, math.ceil(seconds))
    spelt = f"{wait} seconds" if wait < 120 else f"{math.ceil(wait / 60)} minutes"
    return Refused(
        "crowded",
        f"many people have come by this link within a short time; please open it again in {spelt}",
        seconds=wait,
    )


def _check_form(arrival: Arrival) -> None:
    if arrival.channel not in CHANNELS or arrival.kind not in KINDS:
        raise Refused("bad-form", f"{arrival.channel!r} as {arrival.kind!r} is no way to come")
    if not 0 < len(arrival.key) <= LONGEST_KEY or "\0" in arrival.key:
        raise Refused("bad-form", f"a judge's key has 1 to {LONGEST_KEY} characters")
    for name, value in arrival.parameters.items():
        if len(name) + len(value) > 2 * LONGEST_KEY or "\0" in name + value:
            raise Refused("bad-form", f"the parameter {name[:40]!r} is too long")


def _check_welcome(
    on: Connection, arrival: Arrival, snapshot: ProjectSnapshot, now: float
) -> int | None:
    """Whether a newcomer may come in, and by which invitation."""
    check_open(arrival, snapshot, "this project takes no new judges at the moment")
    if arrival.channel not in snapshot.policy.channels and arrival.kind != DRY_RUN:
        raise Refused("channel-closed", "this project cannot be joined in this way")
    if arrival.channel != "invite":
        return None
    invite = on.execute(
        select(invites).where(invites.c.key == arrival.key, invites.c.project == snapshot.project)
    ).one_or_none()
    if invite is None or invite.revoked:
        raise Refused("invite-unknown", "this invitation is not known, or was taken back")
    if invite.expires is not None and invite.expires <= now:
        raise Refused("invite-expired", "this invitation has expired")
    return int(invite.id)


def _make_judge(
    on: Connection,
    arrival: Arrival,
    snapshot: ProjectSnapshot,
    number: int,
    invite: int | None,
    now: float,
) -> str:
    """A new judge in her arm and first stage."""
    dry = arrival.kind == DRY_RUN
    if dry:
        arm = arm_of(snapshot, arrival.parameters)
    else:
        arm = assign_arm(snapshot.seed, number, list(snapshot.arms))
    policy = snapshot.policy_of(arm)
    count = len(snapshot.training)
    stage = first_stage(policy, training_golds=count)
    if arrival.kind == "model" and stage == "consent":
        stage = stage_after_consent(policy, training_golds=count)
    public = secrets.token_urlsafe(12)
    judge = on.execute(
        insert(judges)
        .values(
            public=public,
            project=snapshot.project,
            channel=arrival.channel,
            key=arrival.key,
            parameters=dict(arrival.parameters),
            kind=arrival.kind,
            arm=arm,
            stage=stage,
            came=now,
            last=now,
            notice=[],
        )
        .returning(judges.c.id)
    ).scalar_one()
    if not dry:  # who only tries it out takes no place of the random assignment
        more = update(projects).where(projects.c.id == snapshot.project)
        on.execute(more.values(arrivals=number + 1))
    if invite is not None:
        on.execute(update(invites).where(invites.c.id == invite).values(judge=judge))
    figures: dict[str, Any] = {"arm": arm, "number": None if dry else number, "stage": stage}
    figures |= {"channel": arrival.channel, "kind": arrival.kind}
    write_log(on, [line(snapshot, now, "arrived", judge=judge, **figures)])
    return public


def give_consent(on: Connection, public: str, snapshots: SnapshotCache, now: float) -> None:
    """Note a judge's consent and move her on; nothing if she is past it."""
    judge = lock_judge(on, public)
    if judge.stage != "consent":
        return
    snapshot = snapshots.get(on, judge.project, judge.version)
    policy = snapshot.policy_of(judge.arm)
    stage = stage_after_consent(policy, training_golds=len(snapshot.training))
    on.execute(
        update(judges).where(judges.c.id == judge.id).values(stage=stage, consented=now, last=now)
    )
    write_log(on, [line(snapshot, now, "consented", judge=judge.id, actor="judge", stage=stage)])
