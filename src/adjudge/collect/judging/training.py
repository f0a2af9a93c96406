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
)
from adjudge.collect.judging._refreshing import is_refresher
from adjudge.collect.judging._showing import GIVEN, make_feedback
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
        return Refused(
            "rows-missing",
            f"{len(missing)} of {len(rows)} rows have no answer yet",
            rows=missing,
        )
    stored = GIVEN.all(request.on, {"page": page.id})
    shown = [make_feedback(request.project, row) for row in stored if row.right is False]
    return conclude(request, page, shown, len(stored))


def _grade_training(
    request: JudgeRequest, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> list[int]:
    """Grade rows of a training page; with the last of them the page ends. The rows still missing.

    The first answer to a row is the one kept.
    """
    before = {row.row: row for row in GIVEN.all(request.on, {"page": page.id})}
    fresh = [row for row in rows if row.row in given and row.row not in before]
    missing = [row.row for row in rows if row.row not in given and row.row not in before]
    made = [make_judgment(request, page, row, given[row.row], "trusted") for row in fresh]
    if made:
        ADD.run(request.on, made)
    wrong = [row.row for row in before.values() if row.right is False]
    wrong += [one["row"] for one in made if one["right"] is False]
    if is_refresher(page):
        _end_refresher(request, page, made, missing, wrong)
        return missing
    counted = [one for one in made if one["right"] is not None]
    record = record_of(request.judge)
    record = replace(
        record,
        # An answer to a gold that was withdrawn meanwhile fills its place, and does no harm.
        training_seen=record.training_seen + len(made),
        training_right=record.training_right
        + sum(one["right"] for one in counted)
        + len(made)
        - len(counted),
    )
    pairs = request.project.training_pairs(request.judge.arm)
    policy = request.policy
    decision = Decision(record=record)
    if not missing:
        closing = {"page": page.id, "now": request.now, "told": {"told": wrong}}
        CLOSE.run(request.on, closing)
        decision = after_training(record, policy, pairs=pairs)
    values = columns_of(decision.record)
    request.set_judge(
        **values,
        page=page.id if missing else None,
        last=request.now,
        notice=_training_notice(decision, policy),
    )
    answered = {
        "golds": [[one["gold"], one["label"]] for one in made],
        "rows": len(made),
        "ended": not missing,
        "pairs": pairs,
    }
    log_decision(request, page, "training-answered", decision, answered)
    return missing


def _end_refresher(
    request: JudgeRequest,
    page: StoredRow,
    made: Sequence[dict[str, Any]],
    missing: Sequence[int],
    wrong: Sequence[int],
) -> None:
    """Log what was answered in a refresher, and end it with its last row.

    Nothing follows from it: no tally, no pay, no stage.
    """
    answered: dict[str, Any] = {
        "golds": [[one["gold"], one["label"]] for one in made],
        "rows": len(made),
        "ended": not missing,
        "number": -page.attempt,
        "missed": len(wrong),
    }
    if missing:
        request.set_judge(last=request.now)
    else:
        told = {"told": list(wrong), "confused": (page.outcome or {}).get("confused", [])}
        CLOSE.run(request.on, {"page": page.id, "now": request.now, "told": told})
        request.set_judge(
            page=None, last=request.now, notice=["Thank you. Here your work goes on."]
        )
    decision = Decision(record=record_of(request.judge))
    log_decision(request, page, "refresher-answered", decision, answered)


def answer_row(request: JudgeRequest, public: str, answer: Answer) -> Outcome:
    """Grade one row of a training page; a row answered before keeps its first answer."""
    page = request.page(public)
    if page.kind != "training":
        raise Refused("not-training", "only the training is answered row by row")
    rows = ROWS.all(request.on, {"page": page.id})
    given = check_answers([answer], rows, request.project)
    known = [row for row in GIVEN.all(request.on, {"page": page.id}) if row.row == answer.row]
    if not known:
        check_may_answer(request, page)
        _grade_training(request, page, rows, given)
    stored = GIVEN.all(request.on, {"page": page.id})
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
