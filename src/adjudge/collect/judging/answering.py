"""What answering a page of any kind shares: checks, stored judgments, feedback, the outcome.

Of a pair, the sides are stored as the requester gave them and shown as they were swapped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from adjudge.collect.judging.views import view_judge
from adjudge.collect.rules.decisions import Decision
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import JudgeRequest, Request, write_log
from adjudge.collect.store.schema import contests, judgments, page_rows, pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import (
    DRY_RUN,
    LONGEST_COMMENT,
    OTHERS,
    Answer,
    BesideRow,
    Feedback,
    Outcome,
)
from adjudge.collect.values.judging import Row as PageRow
from adjudge.collect.values.sides import mirror
from adjudge.errors import Refused

ROWS = (
    select(page_rows.c.row, page_rows.c.item, page_rows.c.gold, page_rows.c.swapped)
    .where(page_rows.c.page == bindparam("page"))
    .order_by(page_rows.c.row)
)
ADD = insert(judgments)
CLOSE = (
    update(pages)
    .where(pages.c.id == bindparam("page"))
    .values(state="answered", answered=bindparam("now"), outcome=bindparam("result"), draft=None)
)


def check_may_answer(request: JudgeRequest, page: StoredRow) -> None:
    """Refuse answers that come from a blocked judge, too late, or to a closed project."""
    if request.judge.stage == "blocked":
        raise Refused("blocked", "your work on this project has been stopped")
    dry = request.judge.kind == DRY_RUN  # who may try a draft out
    if request.project.state == "closed" or (request.project.state == "draft" and not dry):
        raise Refused("not-open", "this project is closed and takes no more answers")
    if page.state == "returned" or (page.state == "expired" and request.judge.page != page.id):
        raise Refused(
            "page-expired",
            "the time for this page is over and its results went to others; "
            "please go on with a new page",
        )


def check_answers(
    answers: Sequence[Answer], rows: Sequence[StoredRow], snapshot: ProjectSnapshot
) -> dict[int, Answer]:
    """The answers by row, each for a row of the page and with a label that can be given.

    Sides are as the pair is stored, whichever way round the judge saw it.
    """
    known = {row.row: row.swapped for row in rows}
    given: dict[int, Answer] = {}
    for answer in answers:
        row = answer.row
        if row not in known:
            raise Refused("bad-form", f"this page has no row {row}", row=row)
        if row in given:
            raise Refused("bad-form", f"row {row} is answered twice", row=row)
        for problem in _problems_of(answer, snapshot):
            raise Refused("bad-form", f"row {row}{problem}", row=row)
        seconds = answer.seconds
        if seconds is not None and not (math.isfinite(seconds) and 0 <= seconds < 1e7):
            answer = replace(answer, seconds=None)  # noqa: PLW2901 - a client's bad clock
        given[row] = replace(answer, label=mirror(answer.label, known[row]))
    return given


def _problems_of(answer: Answer, project: ProjectSnapshot) -> Iterator[str]:
    """Why an answer cannot be stored: what is wrong with its label, its comment or what follows."""
    if answer.label not in project.allowed:
        yield f": {answer.label[:80]!r} is not one of the labels"
    if len(answer.comment) > LONGEST_COMMENT or "\0" in answer.comment:
        yield f": a comment has at most {LONGEST_COMMENT:,} characters"
    known = {one.name: one for one in project.questions}
    for name, text in answer.answers.items():
        place = f", {name[:40]}"
        if name not in known:
            yield f"{place}: there is no such question"
        elif known[name].choices and text not in known[name].choices:
            yield f"{place}: {text[:80]!r} is not one of the labels"
        elif len(text) > LONGEST_COMMENT or "\0" in text:
            yield f"{place}: an answer has at most {LONGEST_COMMENT:,} characters"


def rows_missing(missing: Sequence[int], rows: Sequence[StoredRow]) -> Refused:
    """The refusal of a page with rows that have no answer."""
    said = f"{len(missing)} of {len(rows)} rows have no answer yet"
    return Refused("rows-missing", said, rows=missing)


def _select_answers(
    project: ProjectSnapshot, row: StoredRow, answer: Answer
) -> dict[str, str] | None:
    """The answers to be stored: those that were asked for and said something."""
    if not project.questions or answer.label in OTHERS:
        return None
    asked = project.asked_of("work", row.item)
    return {name: answer.answers[name] for name in asked if answer.answers.get(name)} or None


def make_judgment(
    request: JudgeRequest, page: StoredRow, row: StoredRow, answer: Answer, standing: str
) -> dict[str, Any]:
    """One judgment to be stored; of a dry run never a trusted one."""
    gold = None if row.gold is None else request.project.golds[row.gold]
    further = _select_answers(request.project, row, answer) if page.kind == "work" else None
    return {
        "project": request.judge.project,
        "judge": request.judge.id,
        "item": row.item,
        "page": page.id,
        "row": row.row,
        "kind": page.kind,
        "label": answer.label,
        "other": answer.label in OTHERS,
        "comment": answer.comment,
        "standing": "untrusted" if request.judge.kind == DRY_RUN else standing,
        "gold": row.gold,
        "right": None if gold is None else gold.right(answer.label),
        "seconds": answer.seconds,
        "time": request.now,
        "swapped": row.swapped,
        "answers": further,
    }


def log_decision(
    request: JudgeRequest, page: StoredRow, event: str, decision: Decision, answered: dict[str, Any]
) -> None:
    """Log what was answered, and each decision with the figures it rests on."""
    figures = decision.record.figures
    judge = request.judge.id
    line = request.line(event, judge=judge, actor="judge", page=page.public, **figures, **answered)
    decided = [request.line(name, judge=judge, **figures) for name in decision.events]
    write_log(request.on, [line, *decided])


def conclude(
    request: JudgeRequest,
    page: StoredRow,
    feedback: Iterable[Feedback],
    stored: int,
    *,
    again: bool = False,
) -> Outcome:
    """The outcome of a page, with the present state of the judge."""
    return Outcome(
        page=page.public,
        feedback=tuple(feedback),
        judge=view_judge(request.renewed()),
        stored=stored,
        again=again,
    )


GIVEN = select(judgments).where(judgments.c.page == bindparam("page")).order_by(judgments.c.row)


def show_row(row: Any, asked: tuple[str, ...]) -> PageRow:
    """A row as its judge sees it: of a pair, each result on the side that the coin gave it."""
    own = {name: getattr(row, name) for name in ("title", "text", "url", "image")}
    if row.beside is None:
        return PageRow(row=row.row, **own, asked=asked)
    other = {name: row.beside[name] for name in own}
    left, right = (other, own) if row.swapped else (own, other)
    return PageRow(row=row.row, **left, asked=asked, beside=BesideRow(**right))


def answers_so_far(
    request: Request, page: Any, swapped: Set[int]
) -> tuple[tuple[Answer, ...], tuple[Feedback, ...]]:
    """Answers saved or given on an open page, with their feedback, as its judge sees it."""
    drafts = [Answer(**row) for row in page.draft or ()]
    answers = {
        draft.row: replace(draft, label=mirror(draft.label, draft.row in swapped))
        for draft in drafts
    }
    feedback = []
    if page.kind == "training":
        for given in request.on.execute(GIVEN, {"page": page.id}).all():
            label = mirror(given.label, given.swapped)
            answers[given.row] = Answer(row=given.row, label=label, comment=given.comment)
            if given.right is False:
                feedback.append(make_feedback(request.project, given))
    return tuple(answers[row] for row in sorted(answers)), tuple(feedback)


def make_feedback(snapshot: ProjectSnapshot, given: Any, *, contested: bool = False) -> Feedback:
    """The feedback on an answer to gold, with sides as its judge saw them."""
    gold = snapshot.golds[given.gold]
    return Feedback(
        row=given.row,
        given=mirror(given.label, given.swapped),
        accepted=tuple(mirror(label, given.swapped) for label in gold.accepted),
        reason="" if given.right else gold.reason_for(given.label),
        right=bool(given.right),
        contested=contested,
        of_pairs=snapshot.of_pairs,
    )


def repeat_outcome(
    request: JudgeRequest, page: StoredRow, answers: Sequence[Answer] = ()
) -> Outcome:
    """The outcome of a page that is answered already, and how far ``answers`` differ from it."""
    given = request.on.execute(GIVEN, {"page": page.id}).all()
    stored = {row.row: mirror(row.label, row.swapped) for row in given}
    differing = sum(stored.get(answer.row) != answer.label for answer in answers)
    feedback = _read_feedback(request, page, given)
    return replace(conclude(request, page, feedback, len(given), again=True), differing=differing)


def _read_feedback(
    request: JudgeRequest, page: StoredRow, given: Sequence[StoredRow]
) -> list[Feedback]:
    """The feedback on an answered page, with the gold as it is now and contests marked."""
    missed = _find_missed_rows(page, given)
    statement = select(contests.c.judgment).where(
        contests.c.judgment.in_([row.id for row in missed])
    )
    contested = set(request.on.execute(statement).scalars())
    return [make_feedback(request.project, row, contested=row.id in contested) for row in missed]


def _find_missed_rows(page: StoredRow, given: Sequence[StoredRow]) -> list[StoredRow]:
    """The answers whose feedback said that they are wrong."""
    rows = (page.outcome or {}).get("told", ())
    return [row for row in given if row.row in rows]


def contest(request: JudgeRequest, public: str, row: int, said: str) -> None:
    """Keep a judge's "I disagree" with a gold that feedback says they missed."""
    words = said.strip()
    if not words or len(words) > LONGEST_COMMENT or "\0" in words:
        raise Refused("bad-form", f"please say why, in at most {LONGEST_COMMENT:,} characters")
    page = request.page(public)
    given = request.on.execute(GIVEN, {"page": page.id}).all()
    contestable = _find_missed_rows(page, given)
    if page.kind == "training" and page.state == "open":
        contestable = [one for one in given if one.right is False]
    answer = next((one for one in contestable if one.row == row), None)
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
