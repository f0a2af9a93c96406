"""The desk: everything a judge can do, one transaction each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from adjudge.collect.judging.answers import contest, finish, submit
from adjudge.collect.judging.desktop import (
    Desktop,
    check_may_answer,
    check_page_answers,
    save_draft,
    told_again,
)
from adjudge.collect.judging.entrance import Admit, give_consent, project_view, take_in, view_of
from adjudge.collect.judging.leases import expire_pages
from adjudge.collect.judging.pages import next_page, show
from adjudge.collect.judging.training import answer_row
from adjudge.collect.store.database import Database, utc_now
from adjudge.collect.store.records import lock_judge, read_judge
from adjudge.collect.store.schema import projects
from adjudge.collect.store.snapshot import MAIN_ARM, SnapshotCache
from adjudge.collect.values.judging import Answer, Arrival, JudgeView, Outcome, Page, ProjectView
from adjudge.errors import NotFound, Refused

_PROJECT = select(projects.c.id, projects.c.version).where(projects.c.slug == bindparam("slug"))


class Desk:
    """What a judge can do. Safe to share between threads; one for each process is enough.

    Judges and pages are named by random public ids. Every method raises ``NotFound`` for an id
    that is not there, ``Refused`` with a code where the request cannot be granted, and
    ``Unavailable`` where the database could not do its part (nothing is stored then).
    """

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._snapshots = SnapshotCache()

    def project(self, slug: str, *, judge: str | None = None) -> ProjectView:
        """What a judge may know of a project; with ``judge``, as her arm has it."""

        def work(on: Connection) -> ProjectView:
            row = on.execute(_PROJECT, {"slug": slug}).one_or_none()
            if row is None:
                raise NotFound("project", slug)
            arm = MAIN_ARM if judge is None else read_judge(on, judge).arm
            return project_view(self._snapshots.get(on, row.id, row.version), arm)

        with self._database.read() as on:
            return work(on)

    def participant_parameter(self, slug: str) -> str:
        """The name under which a panel's link has the participant's id; empty for the usual."""
        with self._database.read() as on:
            row = on.execute(_PROJECT, {"slug": slug}).one_or_none()
            if row is None:
                raise NotFound("project", slug)
            return self._snapshots.get(on, row.id, row.version).policy.participant_parameter

    def arrive(self, arrival: Arrival, *, admit: Admit | None = None) -> JudgeView:
        """Take in someone who came: a new judge, or the one she is already.

        ``admit`` is given the policy before a new judge is made, and may refuse her.
        Refused: ``not-open`` (project not open, new judges only), ``channel-closed``,
        ``invite-unknown``, ``invite-expired``, ``crowded`` (too many new judges), ``bad-form``.
        """

        def work(on: Connection) -> JudgeView:
            public = take_in(on, arrival, self._snapshots, self._now(), admit)
            return self._view(on, public)

        return self._database.write(work)

    def state(self, judge: str) -> JudgeView:
        """Where a judge stands now."""
        with self._database.read() as on:
            return self._view(on, judge)

    def consent(self, judge: str) -> JudgeView:
        """Note that a judge agreed to take part; asked again it changes nothing."""

        def work(on: Connection) -> JudgeView:
            give_consent(on, judge, self._snapshots, self._now())
            return self._view(on, judge)

        return self._database.write(work)

    def page(self, judge: str) -> Page | None:
        """The page a judge has open, or a new one; None where there is nothing for her.

        After None, ``state`` says why: finished, failed, blocked, or nothing open at the moment.
        Refused: ``consent-wanted``, ``not-open`` (project paused or closed).
        """

        def work(on: Connection) -> Page | None:
            desk = self._open(on, judge)
            return next_page(on, desk.judge, desk.snapshot, desk.now)

        # A page lost in a power cut is made anew; answers to it wait for the disk.
        return self._database.write(work, durable=False)

    def save(self, judge: str, page: str, answers: Sequence[Answer]) -> int:
        """Keep answers that are not yet sent, so that a reload shows them; how many are kept.

        Nothing is graded or counted. Refused: ``page-expired``, ``page-answered``, ``bad-form``.
        """

        def work(on: Connection) -> int:
            desk = self._open(on, judge)
            found = desk.page(page)
            if found.state == "answered":
                raise Refused("page-answered", "this page is answered already")
            check_may_answer(desk, found)
            return save_draft(desk, found, check_page_answers(desk, found, answers))

        return self._database.write(work)

    def answer_training(self, judge: str, page: str, row: int, label: str) -> Outcome:
        """Grade one row of a training page at once; the first answer to a row is the one kept.

        ``feedback`` holds that row alone, right or wrong. Answering the last row ends the page.
        Refused: ``not-training``, ``page-expired``, ``bad-form``.
        """

        def work(on: Connection) -> Outcome:
            return answer_row(self._open(on, judge), page, Answer(row=row, label=label))

        return self._database.write(work)

    def submit(self, judge: str, page: str, key: str, answers: Sequence[Answer]) -> Outcome:
        """Store the answers to a whole page, grade its golds, decide on the judge.

        Sent twice, the second gets the first's outcome with ``again`` True. Every row needs an
        answer: else ``rows-missing`` (evidence ``rows``), and what was given is saved. Rows of a
        training page answered one by one need none. Refused also: ``bad-form`` (evidence
        ``row``), ``blocked``, ``page-expired`` (another page was made for her since),
        ``not-open`` (project closed).
        """

        def work(on: Connection) -> Outcome | Refused:
            return submit(self._open(on, judge), page, key, answers)

        outcome = self._database.write(work)
        if isinstance(outcome, Refused):  # what was given is kept all the same
            raise outcome
        return outcome

    def outcome(self, judge: str, page: str) -> Outcome:
        """What came of a page she has answered, to be shown again.

        Refused: ``page-open`` where it is not answered yet.
        """

        def work(on: Connection) -> Outcome:
            desk = self._open(on, judge, lock=False)
            found = desk.page(page)
            if found.state != "answered":
                raise Refused("page-open", "this page is not answered yet")
            return told_again(desk, found)

        with self._database.read() as on:
            return work(on)

    def answered(self, judge: str, page: str) -> Page:
        """A page that she has answered, as it was shown: the web shows misses beside their rows.

        Nothing but her own answered pages. Refused: ``page-open``.
        """
        with self._database.read() as on:
            desk = self._open(on, judge, lock=False)
            found = desk.page(page)
            if found.state != "answered":
                raise Refused("page-open", "this page is not answered yet")
            return show(on, found, desk.snapshot)

    def contest(self, judge: str, page: str, row: int, text: str) -> None:
        """Note "I disagree" with a gold she missed and was told of; a second text replaces.

        Refused: ``not-contestable``, ``bad-form``.
        """
        self._database.write(lambda on: contest(self._open(on, judge), page, row, text))

    def finish(self, judge: str) -> JudgeView:
        """Stop at the judge's own wish: her open page goes back, she gets her completion code.

        Asking for a page later takes her up again where items are open. Refused:
        ``nothing-done`` before her first page of work, unless nothing is open for her.
        """

        def work(on: Connection) -> JudgeView:
            finish(self._open(on, judge))
            return self._view(on, judge)

        return self._database.write(work)

    def sweep(self) -> int:
        """Give expired pages back to the pool, as making pages also does; how many there were."""
        return self._database.write(lambda on: expire_pages(on, self._now()))

    def _now(self) -> float:
        return self._clock().timestamp()

    def _open(self, on: Connection, judge: str, *, lock: bool = True) -> Desktop:
        row = lock_judge(on, judge) if lock else read_judge(on, judge)
        snapshot = self._snapshots.get(on, row.project, row.version)
        return Desktop(on, row, snapshot, self._now(), locked=lock)

    def _view(self, on: Connection, judge: str) -> JudgeView:
        row = read_judge(on, judge)
        return view_of(on, row, self._snapshots.get(on, row.project, row.version))
