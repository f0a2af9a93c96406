"""Taking what a judge sends: answers to a page, "I disagree", and the wish to finish."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, insert, select, update

from adjudge.collect.judging.desktop import (
    GIVEN,
    LONGEST_COMMENT,
    ROWS,
    Desktop,
    check_answers,
    check_may_answer,
    save_draft,
    told_again,
)
from adjudge.collect.judging.entrance import view_of
from adjudge.collect.judging.leases import end_pages
from adjudge.collect.judging.training import submit_training
from adjudge.collect.judging.working import submit_work
from adjudge.collect.rules.wording import NOTHING_LEFT, OWN_WISH
from adjudge.collect.store.records import line, write_log
from adjudge.collect.store.schema import contests, pages
from adjudge.collect.values.judging import Answer, Outcome
from adjudge.errors import Refused

_STATE = (
    select(pages.c.state).where(pages.c.id == bindparam("page")).with_for_update(key_share=True)
)


def submit(desk: Desktop, public: str, key: str, answers: Sequence[Answer]) -> Outcome | Refused:
    """Store a page's answers; a refusal that is returned is to be raised after the commit."""
    page = desk.page(public)
    if key != page.key:
        raise Refused("bad-form", "the form does not belong to this page: please reload it")
    if page.state == "answered":
        return told_again(desk, page)
    check_may_answer(desk, page)
    rows = list(desk.on.execute(ROWS, {"page": page.id}))
    given = check_answers(answers, rows, desk.snapshot)
    if page.kind == "training":
        return submit_training(desk, page, rows, given)
    missing = [row.row for row in rows if row.row not in given]
    if missing:
        save_draft(desk, page, given)
        return Refused(
            "rows-missing",
            f"{len(missing)} of {len(rows)} rows have no answer yet",
            rows=missing,
        )
    return submit_work(desk, page, rows, given)


def contest(desk: Desktop, public: str, row: int, said: str) -> None:
    """Keep a judge's "I disagree" with a gold she was told she missed."""
    words = said.strip()
    if not words or len(words) > LONGEST_COMMENT or "\0" in words:
        raise Refused("bad-form", f"please say why, in at most {LONGEST_COMMENT} characters")
    page = desk.page(public)
    given = list(desk.on.execute(GIVEN, {"page": page.id}))
    if page.kind == "training" and page.state == "open":
        missed = {one.row: one for one in given if one.right is False}
    else:
        told_rows = set((page.outcome or {}).get("told", ()))
        missed = {one.row: one for one in given if one.row in told_rows}
    if row not in missed:
        raise Refused("not-contestable", f"row {row} of this page cannot be contested")
    answer = missed[row]
    known = desk.on.execute(select(contests.c.id).where(contests.c.judgment == answer.id)).scalar()
    if known is not None:
        desk.on.execute(update(contests).where(contests.c.id == known).values(text=words))
        return
    desk.on.execute(
        insert(contests).values(
            project=desk.judge.project,
            judge=desk.judge.id,
            gold=answer.gold,
            judgment=answer.id,
            text=words,
            time=desk.now,
        )
    )
    figures = {"gold": answer.gold, "label": answer.label}
    write_log(
        desk.on,
        [line(desk.snapshot, desk.now, "contested", judge=desk.judge.id, actor="judge", **figures)],
    )


def finish(desk: Desktop) -> None:
    """Finish at the judge's own wish; nothing if she is finished."""
    if desk.judge.stage == "finished":
        return
    reason = OWN_WISH
    if desk.judge.stage not in ("working", "warned"):
        raise Refused("nothing-done", "there is nothing to finish yet: please judge a page first")
    if desk.judge.pages == 0:
        if view_of(desk.on, desk.judge, desk.snapshot).open_items:
            message = "there is nothing to finish yet: please judge a page first"
            raise Refused("nothing-done", message)
        reason = NOTHING_LEFT  # a panel's participant needs a code, also where she came too late
    if desk.judge.page is not None:
        state = desk.on.execute(_STATE, {"page": desk.judge.page}).scalar()
        if state == "open":
            end_pages(desk.on, [desk.judge.page], "returned")
    desk.set_judge(stage="finished", reason=reason, page=None, last=desk.now)
    write_log(
        desk.on,
        [
            line(
                desk.snapshot,
                desk.now,
                "finished",
                judge=desk.judge.id,
                actor="judge",
                stage="finished",
                reason=reason,
            )
        ],
    )
