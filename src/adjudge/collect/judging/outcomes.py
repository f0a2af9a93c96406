"""The outcome of a page that is answered: told again, and a gold of it contested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import insert, select, update

from adjudge.collect.judging._answering import LONGEST_COMMENT, conclude
from adjudge.collect.judging._showing import GIVEN, make_feedback
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import JudgeRequest
from adjudge.collect.store.schema import contests
from adjudge.collect.values.judging import Answer, Feedback, Outcome
from adjudge.collect.values.sides import mirror
from adjudge.errors import Refused


def repeat_outcome(
    request: JudgeRequest, page: StoredRow, answers: Sequence[Answer] = ()
) -> Outcome:
    """The outcome of a page that is answered already, and how far ``answers`` differ from it."""
    given = request.on.execute(GIVEN, {"page": page.id}).all()
    stored = {row.row: mirror(row.label, row.swapped) for row in given}
    differing = sum(stored.get(answer.row) != answer.label for answer in answers)
    told = _stored_feedback(request, page, given)
    return replace(conclude(request, page, told, len(given), again=True), differing=differing)


def _stored_feedback(
    request: JudgeRequest, page: StoredRow, given: Sequence[StoredRow]
) -> list[Feedback]:
    """What was told of an answered page, with the gold as it is now and contests marked."""
    told = _told_rows(page, given)
    wanted = select(contests.c.judgment).where(contests.c.judgment.in_([row.id for row in told]))
    contested = set(request.on.execute(wanted).scalars())
    return [make_feedback(request.project, row, contested=row.id in contested) for row in told]


def _told_rows(page: StoredRow, given: Sequence[StoredRow]) -> list[StoredRow]:
    """The answers of which the judge was told that they are wrong."""
    told = (page.outcome or {}).get("told", ())
    return [row for row in given if row.row in told]


def contest(request: JudgeRequest, public: str, row: int, said: str) -> None:
    """Keep a judge's "I disagree" with a gold they were told they missed."""
    words = said.strip()
    if not words or len(words) > LONGEST_COMMENT or "\0" in words:
        raise Refused("bad-form", f"please say why, in at most {LONGEST_COMMENT} characters")
    page = request.page(public)
    given = request.on.execute(GIVEN, {"page": page.id}).all()
    told = _told_rows(page, given)
    if page.kind == "training" and page.state == "open":
        told = [one for one in given if one.right is False]
    answer = next((one for one in told if one.row == row), None)
    if answer is None:
        raise Refused("not-contestable", f"row {row} of this page cannot be contested")
    known = request.on.execute(
        select(contests.c.id).where(contests.c.judgment == answer.id)
    ).scalar()
    if known is not None:
        request.on.execute(update(contests).where(contests.c.id == known).values(text=words))
        return
    request.on.execute(
        insert(contests).values(
            project=request.judge.project,
            judge=request.judge.id,
            gold=answer.gold,
            judgment=answer.id,
            text=words,
            time=request.now,
        )
    )
    figures = {"gold": answer.gold, "label": answer.label}
    request.log("contested", judge=request.judge.id, actor="judge", **figures)
