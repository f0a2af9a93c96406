"""Gold that can be wrong: edited, every answer to it regraded, judges put right; contests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
from sqlalchemy import func, select, update

from adjudge.collect.services._gold_doubt import (
    AnswersToGold,
    GoldDoubt,
    find_better_label,
    measure_doubts,
)
from adjudge.collect.store.conditions import is_real, of_real_in
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import (
    Request,
    to_time,
)
from adjudge.collect.store.schema import (
    contests,
    golds,
    items,
    judges,
    judgments,
    page_rows,
)
from adjudge.collect.values.gold import Contest, GoldRow
from adjudge.errors import NotFound


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
