"""Pages of training: graded row by row or whole, passed, failed, or tried again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adjudge.collect.judging.desktop import (
    ADD,
    CLOSE,
    GIVEN,
    ROWS,
    Desktop,
    check_answers,
    check_may_answer,
    judgment,
    log_decision,
)
from adjudge.collect.judging.pages import told
from adjudge.collect.judging.refreshers import is_refresher
from adjudge.collect.rules.policy import Decision, Policy, after_training
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import columns_of, record_of
from adjudge.collect.values.judging import Answer, Outcome
from adjudge.errors import Refused


def submit_training(
    desk: Desktop, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> Outcome | Refused:
    """Grade the rows of a training page that were not graded one by one."""
    missing = grade_training(desk, page, rows, given)
    if missing:
        return Refused(
            "rows-missing",
            f"{len(missing)} of {len(rows)} rows have no answer yet",
            rows=missing,
        )
    stored = list(desk.on.execute(GIVEN, {"page": page.id}))
    shown = [told(desk.snapshot, row) for row in stored if row.right is False]
    return desk.outcome(page, shown, len(stored))


def grade_training(
    desk: Desktop, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> list[int]:
    """Grade rows of a training page; with the last of them the page ends. The rows still missing.

    The first answer to a row is the one kept.
    """
    before = {row.row: row for row in desk.on.execute(GIVEN, {"page": page.id})}
    fresh = [row for row in rows if row.row in given and row.row not in before]
    missing = [row.row for row in rows if row.row not in given and row.row not in before]
    made = [judgment(desk, page, row, given[row.row], "trusted") for row in fresh]
    if made:
        ADD.run(desk.on, made)
    wrong = [row.row for row in before.values() if row.right is False]
    wrong += [one["row"] for one in made if one["right"] is False]
    if is_refresher(page):
        _end_refresher(desk, page, made, missing, wrong)
        return missing
    counted = [one for one in made if one["right"] is not None]
    record = record_of(desk.judge)
    record = replace(
        record,
        # An answer to a gold that was withdrawn meanwhile fills its place, and does no harm.
        training_seen=record.training_seen + len(made),
        training_right=record.training_right
        + sum(one["right"] for one in counted)
        + len(made)
        - len(counted),
    )
    pairs = desk.snapshot.training_pairs(desk.judge.arm)
    policy = desk.snapshot.policy_of(desk.judge.arm)
    decision = Decision(record=record)
    if not missing:
        closing = {"page": page.id, "now": desk.now, "told": {"told": wrong}}
        desk.on.execute(CLOSE, closing)
        decision = after_training(record, policy, pairs=pairs)
    values = columns_of(decision.record)
    desk.set_judge(
        **values,
        page=page.id if missing else None,
        last=desk.now,
        notice=_training_notice(decision, policy),
    )
    answered = {
        "golds": [[one["gold"], one["label"]] for one in made],
        "rows": len(made),
        "ended": not missing,
        "pairs": pairs,
    }
    log_decision(desk, page, "training-answered", decision, answered)
    return missing


def _end_refresher(
    desk: Desktop,
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
        desk.set_judge(last=desk.now)
    else:
        told = {"told": list(wrong), "confused": (page.outcome or {}).get("confused", [])}
        desk.on.execute(CLOSE, {"page": page.id, "now": desk.now, "told": told})
        desk.set_judge(page=None, last=desk.now, notice=["Thank you. Here your work goes on."])
    decision = Decision(record=record_of(desk.judge))
    log_decision(desk, page, "refresher-answered", decision, answered)


def answer_row(desk: Desktop, public: str, answer: Answer) -> Outcome:
    """Grade one row of a training page; a row answered before keeps its first answer."""
    page = desk.page(public)
    if page.kind != "training":
        raise Refused("not-training", "only the training is answered row by row")
    rows = list(desk.on.execute(ROWS, {"page": page.id}))
    given = check_answers([answer], rows, desk.snapshot)
    known = [row for row in desk.on.execute(GIVEN, {"page": page.id}) if row.row == answer.row]
    if not known:
        check_may_answer(desk, page)
        grade_training(desk, page, rows, given)
    stored = list(desk.on.execute(GIVEN, {"page": page.id}))
    shown = [told(desk.snapshot, row) for row in stored if row.row == answer.row]
    return desk.outcome(page, shown, len(stored), again=bool(known))


def _training_notice(decision: Decision, policy: Policy) -> list[str]:
    """What a judge is told beside her next page after the end of a try."""
    if "training-again" in decision.events:
        return [
            f"Fewer than {policy.training_pass:.0%} of your answers were right. "
            "Please read the guidelines again; you have another try."
        ]
    if "training-passed" in decision.events:
        return ["You have passed the training. From here on your work counts."]
    return []
