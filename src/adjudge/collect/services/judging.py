"""Everything a judge can do, one transaction each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Select, bindparam, select
from sqlalchemy.engine import Connection

from adjudge.collect.judging.answering import contest, repeat_outcome
from adjudge.collect.judging.arriving import (
    MEMBER,
    PROJECT,
    Admit,
    find_known,
    give_consent,
    take_in,
    unsigned_dry_run,
)
from adjudge.collect.judging.leases import expire_pages, find_unsettled, finish, settle
from adjudge.collect.judging.pages import next_page, show_page
from adjudge.collect.judging.submitting import answer_row, keep_draft, submit
from adjudge.collect.judging.views import any_work_left, count_pages_left, view_judge, view_project
from adjudge.collect.services.caller import check_role
from adjudge.collect.services.judges import find_invite
from adjudge.collect.store.database import Database, StoredRow, utc_now
from adjudge.collect.store.request import JudgeRequest, lock_judge, read_judge
from adjudge.collect.store.schema import invites, members, projects, requesters, tokens
from adjudge.collect.store.snapshot import MAIN_ARM, ProjectSnapshot, SnapshotCache
from adjudge.collect.values.judging import (
    DRY_RUN,
    Answer,
    Arrival,
    JudgeView,
    Outcome,
    Page,
    ProjectView,
)
from adjudge.collect.values.requesting import Invite, MemberRole
from adjudge.errors import NotFound, Refused

_REVOKED = select(invites.c.revoked).where(invites.c.key == bindparam("key"))
_HOLDER = (
    select(
        *(requesters.c.admin, requesters.c.disabled, members.c.role),
        (projects.c.owner == requesters.c.id).label("owns"),
    )
    .select_from(requesters)
    .join(projects, projects.c.id == bindparam("project"))
    .outerjoin(
        members,
        (members.c.project == projects.c.id) & (members.c.requester == requesters.c.id),
    )
)
_HOLDER_OF_TOKEN = (
    _HOLDER.add_columns(tokens.c.revoked, tokens.c.expires)
    .join(tokens, tokens.c.requester == requesters.c.id)
    .where(tokens.c.public == bindparam("public"))
)
_HOLDER_BY_ID = _HOLDER.where(requesters.c.public == bindparam("public"))

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Method = Callable[Concatenate["JudgingService", JudgeRequest, _Given], _Result]
_ByJudge = Callable[Concatenate["JudgingService", str, _Given], _Result]


def _reads(method: _Method[_Given, _Result]) -> _ByJudge[_Given, _Result]:
    """Give a method a request that only reads, where its caller gives a judge's public id."""

    @wraps(method)
    def call(
        self: JudgingService, judge: str, /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Result:
        with self._database.read() as on:
            return method(self, self._open(on, judge, lock=False), *args, **kwargs)

    return call


def _writes(method: _Method[_Given, _Result]) -> _ByJudge[_Given, _Result]:
    """Give a method a request that may change something, where its caller gives a public id."""

    @wraps(method)
    def call(
        self: JudgingService, judge: str, /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Result:
        return self._database.write(lambda on: method(self, self._open(on, judge), *args, **kwargs))

    return call


class JudgingService:
    """What a judge can do. Safe to share between threads; one for each process is enough.

    Judges and pages are named by random public ids. Every method raises ``NotFound`` for an id
    that is not there, ``Refused`` with a code where the request cannot be granted, and
    ``Unavailable`` where the database could not do its part (nothing is stored then). A judge whose
    invitation, token or member lets them in no more is refused everything: ``invite-revoked``,
    ``bad-token``, ``role``.
    """

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._snapshots = SnapshotCache()

    def project(self, slug: str, *, judge: str | None = None) -> ProjectView:
        """What a judge may know of a project; with ``judge``, as that judge's arm has it."""
        with self._database.read() as on:
            snapshot = self._find_project(on, slug)
            arm = MAIN_ARM if judge is None else read_judge(on, judge).arm
            return view_project(snapshot, arm)

    def participant_parameter(self, slug: str) -> str:
        """The name under which a panel's link has the participant's id; empty for the usual."""
        with self._database.read() as on:
            return self._find_project(on, slug).policy.participant_parameter

    def arrive(self, arrival: Arrival, *, admit: Admit | None = None) -> JudgeView:
        """Take in someone who came: a new judge, or the one they are already.

        ``admit`` is given the policy before a new judge is made, and may refuse.
        Refused: ``not-open`` (project not open, new judges only), ``channel-closed``,
        ``invite-unknown``, ``invite-expired``, ``crowded`` (too many new judges), ``bad-form``.
        """
        with self._database.read() as on:  # who comes again waits for nobody
            known = find_known(on, arrival, unchanged=True)
            if known is not None:
                return view_judge(self._open(on, known, lock=False))

        def work(on: Connection) -> JudgeView:
            public = take_in(on, arrival, self._snapshots, self._now(), admit)
            return view_judge(self._open(on, public, lock=False))

        return self._database.write(work)

    def find(self, arrival: Arrival) -> str | None:
        """The public id of who came before as this one does; None for somebody new."""
        with self._database.read() as on:
            return find_known(on, arrival)

    @_reads
    def state(self, request: JudgeRequest) -> JudgeView:
        """Where a judge is now."""
        return view_judge(request)

    @_writes
    def read_message(self, request: JudgeRequest) -> JudgeView:
        """Note that a judge has read what the requester wrote; nothing where there is nothing."""
        if request.judge.message:
            request.set_judge(message="")
            request.log("message-read", judge=request.judge.id, actor="judge")
        return view_judge(request.renewed())

    def find_invite(self, key: str) -> Invite | None:
        """An invitation by its key; None where there is none."""
        with self._database.read() as on:
            return find_invite(on, key)

    def has_work(self, slug: str) -> bool:
        """Whether any result of a project lacks a judgment."""
        with self._database.read() as on:
            return any_work_left(on, self._find_project(on, slug).id)

    @_reads
    def count_pages_left(self, request: JudgeRequest) -> int:
        """About how many pages a judge could do beyond the one they have, at most ten."""
        return count_pages_left(request)

    @_writes
    def consent(self, request: JudgeRequest) -> JudgeView:
        """Note that a judge agreed to take part; asked again it changes nothing."""
        give_consent(request)
        return view_judge(request.renewed())

    def page(self, judge: str) -> Page | None:
        """The page a judge has open, or a new one; None where there is nothing for them.

        After None, ``state`` says why: finished, failed, blocked, or nothing open at the moment.
        Refused: ``consent-wanted``, ``not-open`` (project paused or closed).
        """
        with self._database.read() as on:  # who has one open waits for nobody
            held = next_page(self._open(on, judge, lock=False))
        if held is not None:
            return held
        made = self._database.write(lambda on: next_page(self._open(on, judge)))
        if made is None and self._settle(judge):
            made = self._database.write(lambda on: next_page(self._open(on, judge)))
        return made

    @_writes
    def save(self, request: JudgeRequest, page: str, answers: Sequence[Answer]) -> int:
        """Keep answers that are not yet sent, so that a reload shows them; how many are kept.

        Nothing is graded or counted. Refused: ``page-expired``, ``page-answered``, ``bad-form``.
        """
        return keep_draft(request, page, answers)

    @_writes
    def answer_training(self, request: JudgeRequest, page: str, row: int, label: str) -> Outcome:
        """Grade one row of a training page at once; the first answer to a row is the one kept.

        ``feedback`` holds that row alone, right or wrong. Answering the last row ends the page.
        Refused: ``not-training``, ``page-expired``, ``bad-form``.
        """
        return answer_row(request, page, Answer(row=row, label=label))

    def submit(self, judge: str, page: str, key: str, answers: Sequence[Answer]) -> Outcome:
        """Store the answers to an entire page, grade its golds, decide on the judge.

        Sent twice, the second gets the first's outcome with ``again`` True. Every row needs an
        answer: else ``rows-missing`` (evidence ``rows``), and what was given is saved. Rows of a
        training page answered one by one need none. Refused also: ``bad-form`` (evidence
        ``row``), ``blocked``, ``page-expired`` (the judge has got another page since),
        ``not-open`` (project closed).
        """
        outcome = self._database.write(lambda on: submit(self._open(on, judge), page, key, answers))
        if isinstance(outcome, Refused):  # what was given is kept all the same
            raise outcome
        return outcome

    @_reads
    def outcome(self, request: JudgeRequest, page: str) -> Outcome:
        """The outcome of a page that the judge has answered, to be shown again.

        Refused: ``page-open`` where it is not answered yet.
        """
        return repeat_outcome(request, _find_answered(request, page))

    @_reads
    def answered(self, request: JudgeRequest, page: str) -> Page:
        """A page that the judge has answered, as it was shown, so that misses are next to rows.

        Nothing but the judge's own answered pages. Refused: ``page-open``.
        """
        return show_page(request, _find_answered(request, page))

    @_writes
    def contest(self, request: JudgeRequest, page: str, row: int, text: str) -> None:
        """Note "I disagree" with gold that the feedback called missed; a second text replaces.

        Refused: ``not-contestable``, ``bad-form``.
        """
        contest(request, page, row, text)

    @_writes
    def finish(self, request: JudgeRequest) -> JudgeView:
        """Stop at the judge's own wish: the open page goes back, they get a completion code.

        Asking for a page later takes the work up again where items are open. Refused:
        ``nothing-done`` before the first page of work, unless nothing is open for the judge.
        """
        finish(request)
        return view_judge(request.renewed())

    def sweep(self) -> int:
        """Give expired pages back to the pool, as making pages also does; how many there were.

        Judges who left are checked as if they had finished: below the blocking line they are ended,
        else their pending judgments count.
        """
        expired = self._database.write(lambda on: expire_pages(on, self._now()))
        with self._database.read() as on:
            unsettled = find_unsettled(on, self._snapshots, self._now())
        for judge in unsettled:
            self._settle(judge)
        return expired

    def _settle(self, judge: str) -> int:
        return self._database.write(lambda on: settle(self._request(on, judge, lock=True)))

    def _now(self) -> float:
        return self._clock().timestamp()

    def _open(self, on: Connection, judge: str, *, lock: bool = True) -> JudgeRequest:
        request = self._request(on, judge, lock=lock)
        _check_still_welcome(on, request.judge, request.now)
        return request

    def _request(self, on: Connection, judge: str, *, lock: bool) -> JudgeRequest:
        row = lock_judge(on, judge) if lock else read_judge(on, judge)
        snapshot = self._snapshots.get(on, row.project, row.version)
        return JudgeRequest(on=on, project=snapshot, now=self._now(), judge=row, locked=lock)

    def _find_project(self, on: Connection, slug: str) -> ProjectSnapshot:
        row = on.execute(PROJECT, {"slug": slug}).one_or_none()
        if row is None:
            raise NotFound("project", slug)
        return self._snapshots.get(on, row.id, row.version)


def _check_still_welcome(on: Connection, judge: StoredRow, now: float) -> None:
    """Refuse a judge whose invitation, token or member lets them in no more.

    Refused: ``invite-revoked``, ``bad-token``, ``role``, ``link-forged``.
    """
    if judge.kind == DRY_RUN:
        if judge.channel != "open":  # from when anybody's link could ask for one
            raise unsigned_dry_run()
        member = judge.parameters.get(MEMBER)
        holder = _find_holder(on, _HOLDER_BY_ID, judge, member) if member else None
        _check_role(holder, judge, "reviewer")
    elif judge.channel == "invite" and on.execute(_REVOKED, {"key": judge.key}).scalar():
        raise Refused("invite-revoked", "this invitation was taken back by the requester")
    elif judge.channel == "api":  # its key is that of the token, and one of the script's own
        holder = _find_holder(on, _HOLDER_OF_TOKEN, judge, judge.key.partition(":")[0])
        if holder and (holder.revoked or (holder.expires is not None and holder.expires <= now)):
            raise Refused("bad-token", "this token is not known, has expired or was revoked")
        _check_role(holder, judge, "manager")


def _find_holder(
    on: Connection, statement: Select[Any], judge: StoredRow, public: str
) -> StoredRow | None:
    """Return the row of who a judge acts for; None where the server itself let them in."""
    return on.execute(statement, {"public": public, "project": judge.project}).one_or_none()


def _check_role(holder: StoredRow | None, judge: StoredRow, least: MemberRole) -> None:
    """Refuse a judge whose holder's role in the project is less than ``least``."""
    if holder is not None and holder.disabled:
        raise NotFound("judge", judge.public)
    if holder is None or holder.admin or holder.owns:
        return
    if holder.role is None:
        raise NotFound("judge", judge.public)
    check_role(holder.role, least)


def _find_answered(request: JudgeRequest, public: str) -> StoredRow:
    page = request.page(public)
    if page.state != "answered":
        raise Refused("page-open", "this page is not answered yet")
    return page
