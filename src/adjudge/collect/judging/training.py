"""Pages of training: graded row by row or whole, passed, failed, or tried again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adjudge.collect.judging._answering import (
    ADD,
    CLOSE,
    ROWS,
    check_answers,
    check_may_answer,
    conclude,
    log_decision,
    make_judgment,
    rows_missing,
)
from adjudge.collect.judging._showing import GIVEN, make_feedback
from adjudge.collect.judging.refreshers import is_refresher
from adjudge.collect.rules.decisions import Decision, after_training
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import JudgeRequest, columns_of, record_of
from adjudge.collect.values.judging import Answer, Outcome
from adjudge.errors import Refused


def submit_training(
    request: JudgeRequest, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> Outcome | Refused:
    """Grade the rows of a training page that were not graded one by one."""
    missing = _grade_training(request, page, rows, given)
    if missing:
        return rows_missing(missing, rows)
    stored = request.on.execute(GIVEN, {"page": page.id}).all()
    shown = [make_feedback(request.project, row) for row in stored if row.right is False]
    return conclude(request, page, shown, len(stored))


def _grade_training(
    request: JudgeRequest, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> list[int]:
    """Grade rows of a training page; with the last of them the page ends. The rows still missing.

    The first answer to a row is the one kept.
    """
    before = {row.row: row for row in request.on.execute(GIVEN, {"page": page.id}).all()}
    fresh = [row for row in rows if row.row in given and row.row not in before]
    missing = [row.row for row in rows if row.row not in given and row.row not in before]
    made = [make_judgment(request, page, row, given[row.row], "trusted") for row in fresh]
    if made:
        request.on.execute(ADD, made)
    wrong = [row.row for row in before.values() if row.right is False]
    wrong += [one["row"] for one in made if one["right"] is False]
    answered: dict[str, Any] = {
        "golds": [[one["gold"], one["label"]] for one in made],
        "rows": len(made),
        "ended": not missing,
    }
    if is_refresher(page):
        _end_refresher(request, page, answered, wrong)
        return missing
    record = record_of(request.judge)
    record = replace(
        record,
        # An answer to a gold that was withdrawn meanwhile fills its place, and does no harm.
        training_seen=record.training_seen + len(made),
        training_right=record.training_right + sum(one["right"] is not False for one in made),
    )
    pairs = request.project.training_pairs(request.judge.arm)
    policy = request.policy
    decision = Decision(record=record)
    if not missing:
        request.on.execute(CLOSE, {"page": page.id, "now": request.now, "told": {"told": wrong}})
        decision = after_training(record, policy, pairs=pairs)
    request.set_judge(
        **columns_of(decision.record),
        page=page.id if missing else None,
        last=request.now,
        notice=_training_notice(decision, policy),
    )
    log_decision(request, page, "training-answered", decision, {**answered, "pairs": pairs})
    return missing


def _end_refresher(
    request: JudgeRequest, page: StoredRow, answered: dict[str, Any], wrong: list[int]
) -> None:
    """Log what was answered in a refresher, and end it with its last row.

    Nothing follows from it: no tally, no pay, no stage.
    """
    if not answered["ended"]:
        request.set_judge(last=request.now)
    else:
        told = {"told": wrong, "confused": (page.outcome or {}).get("confused", [])}
        request.on.execute(CLOSE, {"page": page.id, "now": request.now, "told": told})
        request.set_judge(
            page=None, last=request.now, notice=["Thank you. Here your work goes on."]
        )
    decision = Decision(record=record_of(request.judge))
    answered |= {"number": -page.attempt, "missed": len(wrong)}
    log_decision(request, page, "refresher-answered", decision, answered)


def answer_row(request: JudgeRequest, public: str, answer: Answer) -> Outcome:
    """Grade one row of a training page; a row answered before keeps its first answer."""
    page = request.page(public)
    if page.kind != "training":
        raise Refused("not-training", "only the training is answered row by row")
    rows = request.on.execute(ROWS, {"page": page.id}).all()
    given = check_answers([answer], rows, request.project)
    known = [
        row for row in request.on.execute(GIVEN, {"page": page.id}).all() if row.row == answer.row
    ]
    if not known:
        check_may_answer(request, page)
        _grade_training(request, page, rows, given)
    stored = request.on.execute(GIVEN, {"page": page.id}).all()
    shown = [make_feedback(request.project, row) for row in stored if row.row == answer.row]
    return conclude(request, page, shown, len(stored), again=bool(known))


def _training_notice(decision: Decision, policy: Policy) -> list[str]:
    """What a judge is told beside their next page after the end of a try."""
    if "training-again" in decision.events:
        return [
            f"Fewer than {policy.training_pass:.0%} of your answers were right. "
            "Please read the guidelines again; you have another try."
        ]
    if "training-passed" in decision.events:
        return ["You have passed the training. From here on your work counts."]
    return []
