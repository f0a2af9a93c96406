"""Gold that can be wrong: edited, every answer to it regraded, judges put right; contests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sqlalchemy import bindparam, func, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.gold.doubt import AnswersToGold, GoldDoubt, find_better_label, measure_doubts
from adjudge.collect.items.standing import restore_trust
from adjudge.collect.rules.decisions import Decision, Record, after_regrade, passes
from adjudge.collect.store.conditions import is_real, of_real_in
from adjudge.collect.store.database import StoredRow, batches
from adjudge.collect.store.request import (
    Request,
    columns_of,
    figures_of,
    record_of,
    to_time,
    write_log,
)
from adjudge.collect.store.schema import (
    contests,
    golds,
    items,
    judges,
    judgments,
    page_rows,
    pages,
)
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import DRY_RUN
from adjudge.collect.values.requesting import Contest, GoldRow
from adjudge.data.source import count_of
from adjudge.errors import NotFound


@dataclass(slots=True)
class _Regraded:
    """What grading again changed."""

    answers: int = 0
    changed: int = 0
    judges: int = 0
    unblocked: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    upheld: int = 0  # contests that are settled by it


_CORRECTED = "A known answer was corrected:"  # how every notice of a regrade begins
_SAID = {
    "unblocked": f"{_CORRECTED} your work counts again. We are sorry.",
    "training-passed": f"{_CORRECTED} you have passed the training.",
    "recovered": f"{_CORRECTED} the warning no longer stands.",
}


def regrade(request: Request, gold_ids: Sequence[int]) -> _Regraded:
    """Grade every answer to these golds by what they accept now, and decide on judges again.

    The caller has changed the golds and holds answers off (``edit_gold_alone``).
    """
    done = _Regraded()
    affected: set[int] = set()
    lines = []
    for gold in gold_ids:
        facts = request.project.golds[gold]
        accepted = list(facts.accepted) if facts.active else None
        figures: dict[str, Any] = {"gold": gold, "item": facts.name, "accepted": accepted}
        lines.append(request.line("gold-edited", actor=request.actor, **figures))
        flips: dict[bool | None, list[int]] = defaultdict(list)
        for row in request.on.execute(
            select(judgments.c.id, judgments.c.judge, judgments.c.label, judgments.c.right).where(
                judgments.c.gold == gold
            )
        ):
            done.answers += 1
            right = facts.right(row.label)
            if right != row.right:
                flips[right].append(row.id)
                affected.add(row.judge)
        for right, ids in flips.items():
            done.changed += len(ids)
            for part in batches(ids):
                request.on.execute(
                    update(judgments).where(judgments.c.id.in_(part)).values(right=right)
                )
    done.judges = len(affected)
    write_log(request.on, lines)
    _put_right(request, sorted(affected), done)
    done.upheld = _uphold(request, gold_ids)
    return done


def _tallies_of(on: Connection, ids: Sequence[int]) -> dict[int, Counter[tuple[str, int, str]]]:
    """Every judge's answers to gold, counted by kind, try and grade, since their fresh start.

    The keys are (kind, try, "right" | "wrong" | "ungraded"); work has try 0.
    """
    found: dict[int, Counter[tuple[str, int, str]]] = {judge: Counter() for judge in ids}
    wanted = (
        select(
            judgments.c.judge,
            judgments.c.kind,
            pages.c.attempt,
            judgments.c.right,
            func.count().label("count"),
        )
        .join(pages, pages.c.id == judgments.c.page)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(
            judgments.c.gold.is_not(None),
            (judgments.c.kind == "training") | (judgments.c.id > judges.c.fresh_from),
        )
        .group_by(judgments.c.judge, judgments.c.kind, pages.c.attempt, judgments.c.right)
    )
    grades = {True: "right", False: "wrong", None: "ungraded"}
    for part in batches(ids):
        for row in on.execute(wanted.where(judgments.c.judge.in_(part))):
            attempt = row.attempt if row.kind == "training" else 0
            count: int = row[4]
            found[row.judge][row.kind, attempt, grades[row.right]] += count
    return found


def _recount(record: Record, counts: Counter[tuple[str, int, str]]) -> Record:
    """The record with its tallies counted again.

    In training an answer without a grade fills its place and does no harm; in work it is not
    counted.
    """
    right = counts["work", 0, "right"]
    attempt = record.attempt
    trained = {
        grade: counts["training", attempt, grade] for grade in ("right", "wrong", "ungraded")
    }
    return replace(
        record,
        seen=right + counts["work", 0, "wrong"],
        right=right,
        training_seen=sum(trained.values()),
        training_right=trained["right"] + trained["ungraded"],
    )


def _any_passed(
    snapshot: ProjectSnapshot, judge: Any, counts: Counter[tuple[str, int, str]]
) -> bool:
    """Whether one of the tries that a judge has ended would pass now."""
    policy = snapshot.policy_of(judge.arm)
    ended = judge.attempt if judge.stage == "failed" else judge.attempt - 1
    for attempt in range(1, ended + 1):
        grades = {g: counts["training", attempt, g] for g in ("right", "wrong", "ungraded")}
        seen = sum(grades.values())
        if seen and passes(grades["right"] + grades["ungraded"], seen, policy):
            return True
    return False


def _put_right(request: Request, ids: Sequence[int], done: _Regraded) -> None:
    """Count the tallies of judges again, and lift what they no longer bear out."""
    tallies = _tallies_of(request.on, ids)
    changes, lines = [], []
    freed = []
    for part in batches(ids):
        for judge in request.on.execute(
            select(judges).where(judges.c.id.in_(part)).order_by(judges.c.id)
        ):
            counts = tallies[judge.id]
            record = _recount(record_of(judge), counts)
            decision = after_regrade(
                record,
                request.project.policy_of(judge.arm),
                passed=_any_passed(request.project, judge, counts),
            )
            policy = request.project.policy_of(judge.arm)
            changes.append(_change(judge, decision, tell=policy.feedback))
            figures = figures_of(decision.record)
            lines.append(request.line("regraded", judge=judge.id, **figures))
            lines += [request.line(name, judge=judge.id, **figures) for name in decision.events]
            if "unblocked" in decision.events:
                if judge.kind != DRY_RUN:
                    freed.append(judge.id)
                done.unblocked.append(judge.public)
            if "training-passed" in decision.events:
                done.passed.append(judge.public)
    if changes:
        columns = [name for name in changes[0] if name != "which"]
        request.on.execute(
            update(judges)
            .where(judges.c.id == bindparam("which"))
            .values({name[4:]: bindparam(name) for name in columns}),
            changes,
        )
    if freed:
        restore_trust(request.on, freed, request.project)
    write_log(request.on, lines)


def _change(judge: StoredRow, decision: Decision, *, tell: bool) -> dict[str, Any]:
    """The change of a judge's row after a regrade, with what they are told.

    Their tally only with ``tell``, as where the policy gives feedback.
    """
    told = [_SAID[event] for event in decision.events if event in _SAID]
    record = decision.record
    if (
        tell
        and not told
        and record.seen
        and (record.seen, record.right) != (judge.seen, judge.right)
    ):
        told = [
            f"{_CORRECTED} {record.right} of your {count_of(record.seen, 'answer')} to such "
            f"{'is' if record.right == 1 else 'are'} right now."
        ]
    # Of several tallies only the last is true; what lifted a block or a warning stays said.
    kept = [text for text in judge.notice if text not in told and not _is_tally(text)]
    page = None if "training-passed" in decision.events else judge.page
    values = {**columns_of(record), "notice": kept + told, "page": page}
    return {"which": judge.id, **{f"new_{name}": value for name, value in values.items()}}


def _is_tally(text: str) -> bool:
    return text.startswith(_CORRECTED) and text not in _SAID.values()


def _uphold(request: Request, gold_ids: Sequence[int]) -> int:
    """Settle the contests that an edit grants: the label is accepted, or the gold out of use."""
    granted: list[StoredRow] = []
    lines: list[dict[str, Any]] = []
    for part in batches(gold_ids):
        granted += request.on.execute(
            select(contests.c.id, contests.c.judge, contests.c.gold)
            .join(judgments, judgments.c.id == contests.c.judgment)
            .where(
                contests.c.gold.in_(part),
                ~contests.c.settled,
                judgments.c.right.is_distinct_from(False),
            )
            .order_by(contests.c.id)
        ).all()
    if not granted:
        return 0
    for part in batches(row.id for row in granted):
        request.on.execute(
            update(contests).where(contests.c.id.in_(part)).values(settled=True, upheld=True)
        )
    for part in batches(row.judge for row in granted):
        _tell(request.on, part, "You were right to disagree. The known answer is changed.")
    for row in granted:
        figures = {"contest": row.id, "gold": row.gold, "upheld": True}
        lines.append(
            request.line("contest-settled", judge=row.judge, actor=request.actor, **figures)
        )
    write_log(request.on, lines)
    return len(granted)


def _tell(on: Connection, ids: Sequence[int], text: str) -> None:
    """Put a sentence beside the next page of judges; said twice it stands there once."""
    rows = on.execute(
        select(judges.c.id, judges.c.notice)
        .where(judges.c.id.in_(ids))
        .order_by(judges.c.id)
        .with_for_update(key_share=True)
    ).all()
    on.execute(
        update(judges).where(judges.c.id == bindparam("which")).values(notice=bindparam("told")),
        [{"which": row.id, "told": [*(x for x in row.notice if x != text), text]} for row in rows],
    )


def list_golds(request: Request) -> list[GoldRow]:
    """Every gold with misses and contests, the most doubtful first."""
    project = request.project.id
    found = _doubts(request)
    texts = {
        row.id: row
        for row in request.on.execute(
            select(golds.c.id, golds.c.version, items.c.name, items.c.query, items.c.title)
            .join(items, items.c.id == golds.c.item)
            .where(golds.c.project == project)
        )
    }
    shown_counts: dict[int, int] = dict(
        request.on.execute(
            select(page_rows.c.gold, func.count())
            .join(golds, golds.c.id == page_rows.c.gold)
            .join(judges, judges.c.id == page_rows.c.judge)
            .where(golds.c.project == project, is_real)
            .group_by(page_rows.c.gold)
        ).all()
    )
    labels: dict[int, Counter[str]] = defaultdict(Counter)
    missed: Counter[int] = Counter()
    for row in request.on.execute(
        select(judgments.c.gold, judgments.c.label, judgments.c.right, func.count())
        .where(judgments.c.project == project, judgments.c.gold.is_not(None), of_real_in(project))
        .group_by(judgments.c.gold, judgments.c.label, judgments.c.right)
    ):
        labels[row.gold][row.label] += row[3]
        if row.right is False:
            missed[row.gold] += row[3]
    waiting: dict[int, int] = dict(
        request.on.execute(
            select(contests.c.gold, func.count())
            .where(contests.c.project == project, ~contests.c.settled)
            .group_by(contests.c.gold)
        ).all()
    )
    rows = [
        GoldRow(
            item=facts.name,
            topic=facts.topic,
            query=texts[gold].query,
            title=texts[gold].title,
            accepted=facts.accepted,
            reason=facts.reason,
            reasons=facts.reasons,
            role=facts.role,
            active=facts.active,
            version=texts[gold].version,
            shown=shown_counts.get(gold, 0),
            answered=sum(labels[gold].values()),
            missed=missed[gold],
            labels=dict(labels[gold].most_common()),
            contests=waiting.get(gold, 0),
            doubt=found[gold].doubt if gold in found and facts.active else 0.0,
            best_say=find_better_label(found, gold, facts.accepted) if facts.active else None,
        )
        for gold, facts in request.project.golds.items()
    ]
    # What nobody doubts stays in the order of its making.
    return sorted(rows, key=lambda row: (-row.doubt, -row.contests, -row.missed))


def _doubts(request: Request) -> Mapping[int, GoldDoubt]:
    """How doubtful each gold is, from every answer to gold that counts."""
    rows = request.on.execute(
        select(
            judgments.c.judge,
            judgments.c.gold,
            judgments.c.label,
            judgments.c.right,
            contests.c.settled,
        )
        .outerjoin(contests, contests.c.judgment == judgments.c.id)
        .where(
            judgments.c.project == request.project.id,
            judgments.c.gold.is_not(None),
            judgments.c.right.is_not(None),
            of_real_in(request.project.id),
        )
        .order_by(judgments.c.id)
    ).fetchall()
    if not rows:
        return {}
    judge, gold, label, right, settled = zip(*rows, strict=True)
    answers = AnswersToGold(
        judge=np.array(judge, dtype=np.int64),
        gold=np.array(gold, dtype=np.int64),
        label=np.array(label),
        right=np.array(right, dtype=np.bool_),
        contested=np.array([one is False for one in settled]),
    )
    return measure_doubts(answers, len(request.project.scale.labels))


_CONTESTS = (
    select(
        contests,
        items.c.name.label("item_name"),
        items.c.query,
        items.c.title,
        judges.c.public,
        judgments.c.label,
        golds.c.accepted,
    )
    .join(judgments, judgments.c.id == contests.c.judgment)
    .join(judges, judges.c.id == contests.c.judge)
    .join(golds, golds.c.id == contests.c.gold)
    .join(items, items.c.id == golds.c.item)
    .order_by(contests.c.id.desc())
)


def _contest_of(row: StoredRow) -> Contest:
    return Contest(
        contest=row.id,
        item=row.item_name,
        query=row.query,
        title=row.title,
        judge=row.public,
        given=row.label,
        accepted=tuple(row.accepted),
        text=row.text,
        time=to_time(row.time),
        settled=row.settled,
        upheld=row.upheld,
        answer=row.answer,
    )


def list_contests(request: Request, settled: bool | None) -> list[Contest]:
    """Contests of a project, newest first."""
    wanted = _CONTESTS.where(contests.c.project == request.project.id)
    if settled is not None:
        wanted = wanted.where(contests.c.settled == settled)
    return [_contest_of(row) for row in request.on.execute(wanted)]


def settle(request: Request, contest: int, *, upheld: bool, answer: str) -> Contest:
    """Settle a contest; the judge sees the answer beside their next page."""
    row = request.on.execute(
        select(contests.c.judge, contests.c.gold).where(
            contests.c.id == contest, contests.c.project == request.project.id
        )
    ).one_or_none()
    if row is None:
        raise NotFound("contest", str(contest))
    request.on.execute(
        update(contests)
        .where(contests.c.id == contest)
        .values(settled=True, upheld=upheld, answer=answer)
    )
    word = "You were right to disagree." if upheld else "We have looked at what you disagreed with."
    notice = request.on.execute(
        select(judges.c.notice).where(judges.c.id == row.judge).with_for_update(key_share=True)
    ).scalar_one()
    told = f"{word} {answer}".strip()
    request.on.execute(
        update(judges).where(judges.c.id == row.judge).values(notice=[*notice, told])
    )
    figures = {"contest": contest, "gold": row.gold, "upheld": upheld}
    request.log("contest-settled", judge=row.judge, actor=request.actor, **figures)
    return _contest_of(request.on.execute(_CONTESTS.where(contests.c.id == contest)).one())
