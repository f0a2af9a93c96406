"""Taking what a judge sends: answers to a page, "I disagree", and the wish to finish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from adjudge.collect.items.closing import renew_needs
from adjudge.collect.items.counters import (
    count,
    count_again,
    count_broken,
    lease,
    lock_items,
    promote,
)
from adjudge.collect.items.quotas import with_arm_room
from adjudge.collect.items.standing import counted_items, untrust
from adjudge.collect.judging.answering import (
    ADD,
    CLOSE,
    GIVEN,
    LONGEST_COMMENT,
    ROWS,
    check_answers,
    check_may_answer,
    conclude,
    log_decision,
    make_judgment,
    repeat_outcome,
    rows_unanswered,
    save_draft,
)
from adjudge.collect.judging.budget import check_late
from adjudge.collect.judging.finishing import end_way
from adjudge.collect.judging.leases import end_pages
from adjudge.collect.judging.showing import make_feedback
from adjudge.collect.judging.training import submit_training
from adjudge.collect.judging.views import view_judge
from adjudge.collect.rules.decisions import Decision, after_page, ended_blocked
from adjudge.collect.rules.endings import CAME_LATE, NOTHING_LEFT, OWN_WISH, to_micros
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import columns_of, record_of, write_log
from adjudge.collect.store.request import JudgeRequest
from adjudge.collect.store.schema import contests, items, pages
from adjudge.collect.values.judging import DRY_RUN, OTHERS, Answer, Outcome
from adjudge.errors import Refused

_STATE = (
    select(pages.c.state).where(pages.c.id == bindparam("page")).with_for_update(key_share=True)
)


def submit(
    request: JudgeRequest, public: str, key: str, answers: Sequence[Answer]
) -> Outcome | Refused:
    """Store a page's answers; a refusal that is returned is to be raised after the commit."""
    page = request.page(public)
    if key != page.key:
        raise Refused("bad-form", "the form does not belong to this page: please reload it")
    if page.state == "answered":
        return repeat_outcome(request, page, answers)
    check_may_answer(request, page)
    rows = ROWS.all(request.on, {"page": page.id})
    given = check_answers(answers, rows, request.project)
    if page.kind == "training":
        return submit_training(request, page, rows, given)
    missing = [row.row for row in rows if row.row not in given]
    if missing:
        save_draft(request, page, given)
        return Refused(
            "rows-missing",
            f"{len(missing)} of {len(rows)} rows have no answer yet",
            rows=missing,
        )
    missing = rows_unanswered(request, rows, given)
    if missing:
        save_draft(request, page, given)
        some = "a row has" if len(missing) == 1 else f"{len(missing)} rows have"
        return Refused("rows-missing", f"{some} no answer to a further question", rows=missing)
    return _submit_work(request, page, rows, given)


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
    write_log(
        request.on,
        [request.line("contested", judge=request.judge.id, actor="judge", **figures)],
    )


def finish(request: JudgeRequest) -> None:
    """End at the judge's own wish; nothing if they have ended."""
    if request.judge.stage == "finished" or ended_blocked(record_of(request.judge)):
        return
    reason = OWN_WISH
    message = "there is nothing to finish yet: please judge a page first"
    training = request.judge.stage == "training"
    if not training and request.judge.stage not in ("working", "warned"):
        raise Refused("nothing-done", message)
    if training or request.judge.pages == 0:
        if view_judge(request).open_items:
            raise Refused("nothing-done", message)
        # A panel's participant needs a code, also where they came too late.
        reason = CAME_LATE if training else NOTHING_LEFT
    if request.judge.page is not None:
        state = request.on.execute(_STATE, {"page": request.judge.page}).scalar()
        if state == "open":
            end_pages(request.on, [request.judge.page], "returned")
    end_way(request, reason, actor="judge")


def _submit_work(
    request: JudgeRequest, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> Outcome:
    """Store a whole page of work and decide on the judge."""
    policy = request.policy
    work = [row for row in rows if row.gold is None]
    decision = _decided(request, rows, given, policy)
    touched = [row.item for row in work]
    if decision.stage == "blocked":  # every item at once, in order, since two such may meet
        touched += counted_items(request.on, request.judge.id)
    lock_items(request.on, touched)
    dry = request.judge.kind == DRY_RUN
    if dry and page.state == "open":  # their items go back as they were
        end_pages(request.on, [page.id], "returned")
    late = _take_late(request, work, given) if page.state == "expired" and not dry else set()
    made = [
        make_judgment(
            request, page, row, given[row.row], "surplus" if row.item in late else "trusted"
        )
        for row in rows
    ]
    ADD.run(request.on, made)
    if not dry:
        _count(
            request, [one for one in made if one["gold"] is None and one["item"] not in late], late
        )
    golds = [one for one in made if one["gold"] is not None]
    told_rows = [one["row"] for one in golds if one["right"] is False] if policy.feedback else []
    CLOSE.run(request.on, {"page": page.id, "now": request.now, "told": {"told": told_rows}})
    request.set_judge(
        **columns_of(decision.record),
        page=None,
        last=request.now,
        pages=request.judge.pages + 1,
        judged=request.judge.judged + len(made),
        worked=request.judge.worked + len(work),
        others=request.judge.others + sum(one["other"] for one in made),
        earned=request.judge.earned + to_micros(policy.pay_per_page),
        notice=[],
    )
    answered = {"golds": [[one["gold"], one["label"]] for one in golds], "rows": len(made)}
    log_decision(request, page, "page-answered", decision, answered)
    if decision.stage == "blocked":
        untrust(request.on, request.judge.id, request.project)
    marked = set(told_rows)
    shown = [make_feedback(request.project, _Graded(one)) for one in golds if one["row"] in marked]
    return conclude(request, page, shown, len(made))


def _decided(
    request: JudgeRequest, rows: Sequence[StoredRow], given: dict[int, Answer], policy: Policy
) -> Decision:
    """The decision on the judge that the golds of a page lead to."""
    golds = [(request.project.golds[row.gold], row.row) for row in rows if row.gold is not None]
    graded = [gold.right(given[row].label) for gold, row in golds]
    counted = [right for right in graded if right is not None]
    record = record_of(request.judge)
    record = replace(record, seen=record.seen + len(counted), right=record.right + sum(counted))
    return after_page(record, policy)


class _Graded:
    """A judgment to be stored, read as if it were a row."""

    __slots__ = ("gold", "label", "right", "row", "swapped")

    def __init__(self, one: dict[str, Any]) -> None:
        self.row, self.gold = one["row"], one["gold"]
        self.label, self.right, self.swapped = one["label"], one["right"], one["swapped"]


def _take_late(
    request: JudgeRequest, work: Sequence[StoredRow], given: dict[int, Answer]
) -> set[int]:
    """Lease the items of an expired page again; those labelled that have filled up since.

    An answer that could not judge takes no room: it is counted as in any other page.
    """
    check_late(request, len(work))
    ids = [row.item for row in work]
    room = items.c.leased + items.c.trusted < items.c.needed
    free = set(request.on.execute(select(items.c.id).where(items.c.id.in_(ids), room)).scalars())
    free = with_arm_room(request.on, free, request.judge.arm, request.project.policy.arm_limit)
    free |= {row.item for row in work if given[row.row].label in OTHERS}
    lease(request.on, free)
    return set(ids) - free


def _count(request: JudgeRequest, made: Sequence[dict[str, Any]], late: set[int]) -> None:
    """Count judgments on their items, and answers that could not judge."""
    labelled = sorted(one["item"] for one in made if not one["other"])
    other = sorted(one["item"] for one in made if one["other"])
    policy = request.project.policy
    count(request.on, labelled, policy)
    count_broken(request.on, other, policy)
    promote(request.on, other)
    count_again(request.on, late, policy, surplus=1)
    if policy.closing == "adaptive":
        renew_needs(request.on, request.project, [*labelled, *other, *late])
