"""Submit the answers to a page: stored, counted on their items, the judge decided on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import select, update

from adjudge.collect.items.closing import (
    count_pending,
    counted_items,
    pending_items,
    renew_needs,
    untrust,
)
from adjudge.collect.items.counters import (
    add_counts,
    lease,
    lock_items,
    promote,
    with_arm_room,
)
from adjudge.collect.judging.answering import (
    ADD,
    CLOSE,
    GIVEN,
    ROWS,
    check_answers,
    check_may_answer,
    conclude,
    log_decision,
    make_feedback,
    make_judgment,
    repeat_outcome,
    rows_missing,
)
from adjudge.collect.judging.budget import rows_left
from adjudge.collect.judging.leases import end_pages
from adjudge.collect.judging.refreshers import is_refresher
from adjudge.collect.judging.views import any_open
from adjudge.collect.rules.decisions import Decision, after_page, after_training, is_checked
from adjudge.collect.rules.endings import pay_of_page, to_money
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import JudgeRequest, columns_of, record_of
from adjudge.collect.store.schema import items, pages
from adjudge.collect.values.judging import DRY_RUN, OTHERS, Answer, Outcome
from adjudge.errors import Refused


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
    rows = request.on.execute(ROWS, {"page": page.id}).all()
    given = check_answers(answers, rows, request.project)
    if page.kind == "training":
        return submit_training(request, page, rows, given)
    missing = [row.row for row in rows if row.row not in given]
    if missing:
        _save_draft(request, page, given)
        return rows_missing(missing, rows)
    missing = _find_unanswered_rows(request, rows, given)
    if missing:
        _save_draft(request, page, given)
        some = "a row has" if len(missing) == 1 else f"{len(missing)} rows have"
        return Refused("rows-missing", f"{some} no answer to a further question", rows=missing)
    return _submit_work(request, page, rows, given)


def _find_unanswered_rows(
    request: JudgeRequest, rows: Sequence[StoredRow], given: Mapping[int, Answer]
) -> list[int]:
    """The rows that lack an answer to a further question that is required.

    Whoever cannot judge a result is asked nothing more of it, and models never are.
    """
    project = request.project
    needed = {one.name for one in project.questions if one.required}
    if not needed or request.judge.kind == "model":
        return []
    return [
        row.row
        for row in rows
        if given[row.row].label not in OTHERS
        and any(
            name in needed and not given[row.row].answers.get(name, "").strip()
            for name in project.asked_of("work", row.item)
        )
    ]


def _submit_work(
    request: JudgeRequest, page: StoredRow, rows: Sequence[StoredRow], given: dict[int, Answer]
) -> Outcome:
    """Store a page of work and decide on the judge."""
    policy = request.policy
    work = [row for row in rows if row.gold is None]
    decision = _decide(request, rows, given)
    touched = [row.item for row in work]
    dry = request.judge.kind == DRY_RUN
    known = len(request.project.screening)
    checked = dry or is_checked(decision.record, policy, known)
    if decision.stage == "blocked":  # every item at once, in order, since two such may meet
        touched += counted_items(request.on, request.judge.id)
    newly = checked and not dry and not is_checked(record_of(request.judge), policy, known)
    over = not checked and is_checked(decision.record, policy, known, over=True)
    if newly or over:
        touched += pending_items(request.on, request.judge.id)
    lock_items(request.on, touched)
    if dry and page.state == "open":  # their items go back as they were
        end_pages(request.on, [page.id], "returned")
    late = _take_late(request, work, given) if page.state == "expired" and not dry else set()
    standings = {row.row: "surplus" for row in work if row.item in late}
    if not checked:
        standings = {**{row.row: "pending" for row in work}, **standings}
    made = [
        make_judgment(request, page, row, given[row.row], standings.get(row.row, "trusted"))
        for row in rows
    ]
    request.on.execute(ADD, made)
    if not dry:
        _count(request, [one for one in made if one["gold"] is None])
    golds = [one for one in made if one["gold"] is not None]
    paid = pay_of_page(policy, len(rows))
    missed = [one["row"] for one in golds if one["right"] is False] if policy.feedback else []
    request.on.execute(CLOSE, {"page": page.id, "now": request.now, "result": {"told": missed}})
    if newly or (over and not any_open(request)):  # nor will more gold come, where work is over
        count_pending(request.on, request.judge.id, request.project)
    request.set_judge(
        **columns_of(decision.record),
        page=None,
        last=request.now,
        pages=request.judge.pages + 1,
        judged=request.judge.judged + len(made),
        worked=request.judge.worked + len(work),
        others=request.judge.others + sum(one["other"] for one in made),
        earned=request.judge.earned + paid,
        notice=[],
    )
    answered: dict[str, Any] = {"golds": [[one["gold"], one["label"]] for one in golds]}
    answered["rows"] = len(made)
    if late:  # paid, although others have judged them meanwhile: the page came after its time
        answered |= {"late": len(late), "paid": str(to_money(paid))}
    log_decision(request, page, "page-answered", decision, answered)
    if decision.stage == "blocked":
        untrust(request.on, request.judge.id, request.project)
    marked = [SimpleNamespace(**one) for one in golds if one["row"] in missed]
    shown = [make_feedback(request.project, row) for row in marked]
    return conclude(request, page, shown, len(made))


def _decide(request: JudgeRequest, rows: Sequence[StoredRow], given: dict[int, Answer]) -> Decision:
    """The decision on the judge that the golds of a page lead to."""
    golds = [(request.project.golds[row.gold], row.row) for row in rows if row.gold is not None]
    graded = [gold.right(given[row].label) for gold, row in golds]
    counted = [right for right in graded if right is not None]
    record = record_of(request.judge)
    record = replace(record, seen=record.seen + len(counted), right=record.right + sum(counted))
    return after_page(record, request.policy)


def _take_late(
    request: JudgeRequest, work: Sequence[StoredRow], given: dict[int, Answer]
) -> set[int]:
    """Lease the items of an expired page again; those labelled that have filled up since.

    An answer that could not judge takes no room: it is counted as in any other page.
    """
    _check_late(request, len(work))
    ids = [row.item for row in work]
    room = items.c.leased + items.c.trusted < items.c.needed
    free = set(request.on.execute(select(items.c.id).where(items.c.id.in_(ids), room)).scalars())
    free = with_arm_room(request.on, free, request.judge.arm, request.project.policy.arm_limit)
    free |= {row.item for row in work if given[row.row].label in OTHERS}
    lease(request.on, free)
    return set(ids) - free


def _check_late(request: JudgeRequest, rows: int) -> None:
    """Refuse answers to an expired page that the budget has no room for any more.

    The caller holds the locks of the items already: whoever has the turn waits for no item.
    """
    left = rows_left(request)
    if left is not None and left < rows:
        raise Refused(
            "page-expired",
            "the time for this page is over, and the budget of the project is spent meanwhile",
        )


def _count(request: JudgeRequest, made: Sequence[dict[str, Any]]) -> None:
    """Count judgments on their items, and answers that could not judge.

    A pending judgment keeps its place; a pending answer that could not judge takes none.
    """
    labelled: dict[str, list[int]] = defaultdict(list)  # by standing
    others: dict[str, list[int]] = defaultdict(list)
    for one in sorted(made, key=lambda one: one["item"]):
        (others if one["other"] else labelled)[one["standing"]].append(one["item"])
    policy = request.project.policy
    add_counts(request.on, labelled["trusted"], policy, leased=-1, trusted=1)
    add_counts(request.on, others["trusted"], policy, leased=-1, broken=1)
    add_counts(request.on, others["pending"], policy, leased=-1)
    promote(request.on, [*others["trusted"], *others["pending"]])
    add_counts(request.on, labelled["surplus"], policy, surplus=1)
    if policy.closing == "adaptive":
        renew_needs(request.on, request.project, [one["item"] for one in made])


def keep_draft(request: JudgeRequest, public: str, answers: Sequence[Answer]) -> int:
    """Keep answers to a page that are not sent yet, checked; how many are kept."""
    page = request.page(public)
    if page.state == "answered":
        raise Refused("page-answered", "this page is answered already")
    check_may_answer(request, page)
    rows = request.on.execute(ROWS, {"page": page.id}).all()
    return _save_draft(request, page, check_answers(answers, rows, request.project))


def _save_draft(request: JudgeRequest, page: StoredRow, given: dict[int, Answer]) -> int:
    """Keep answers that are not sent yet, with those kept before."""
    kept = {row["row"]: row for row in page.draft or ()}
    kept |= {row: asdict(answer) for row, answer in given.items()}
    draft = [kept[row] for row in sorted(kept)]
    request.on.execute(update(pages).where(pages.c.id == page.id).values(draft=draft))
    return len(draft)


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
        request.on.execute(CLOSE, {"page": page.id, "now": request.now, "result": {"told": wrong}})
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
        result = {"told": wrong, "confused": (page.outcome or {}).get("confused", [])}
        request.on.execute(CLOSE, {"page": page.id, "now": request.now, "result": result})
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
    """The notice on a judge's next page after the end of a try."""
    if "training-again" in decision.events:
        return [
            f"Fewer than {policy.training_pass:.0%} of your answers were right. "
            "Please read the guidelines again; you have another try."
        ]
    if "training-passed" in decision.events:
        return ["You have passed the training. From here on your work counts."]
    return []
