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
    given = GIVEN.all(request.on, {"page": page.id})
    stored = {row.row: mirror(row.label, row.swapped) for row in given}
    differing = sum(stored.get(answer.row) != answer.label for answer in answers)
    told = _stored_feedback(request, page, given)
    return replace(conclude(request, page, told, len(given), again=True), differing=differing)


def _stored_feedback(
    request: JudgeRequest, page: StoredRow, given: Sequence[StoredRow]
) -> list[Feedback]:
    """What was told of an answered page, with the gold as it is now and contests marked."""
    told_rows = set((page.outcome or {}).get("told", ()))
    ids = [row.id for row in given if row.row in told_rows]
    contested = set(
        request.on.execute(
            select(contests.c.judgment).where(contests.c.judgment.in_(ids))
        ).scalars()
    )
    return [
        make_feedback(request.project, row, contested=row.id in contested)
        for row in given
        if row.row in told_rows
    ]


def contest(request: JudgeRequest, public: str, row: int, said: str) -> None:
    """Keep a judge's "I disagree" with a gold they were told they missed."""
    words = said.strip()
    if not words or len(words) > LONGEST_COMMENT or "\0" in words:
        raise Refused("bad-form", f"please say why, in at most {LONGEST_COMMENT} characters")
    page = request.page(public)
    given = GIVEN.all(request.on, {"page": page.id})
    if page.kind == "training" and page.state == "open":
        missed = {one.row: one for one in given if one.right is False}
    else:
        told_rows = set((page.outcome or {}).get("told", ()))
        missed = {one.row: one for one in given if one.row in told_rows}
    if row not in missed:
        raise Refused("not-contestable", f"row {row} of this page cannot be contested")
    answer = missed[row]
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
