"""Gold that can be wrong: how judges did on it, what they contest, and how doubtful it is.

How doubtful a gold is follows from what judges who are right elsewhere say of it, and who contests
it. The answer of judge j to gold g weighs as much as their skill on all *other* gold,

    w = max(0.1, (a - c) / (1 - c)),    a = (right + 2 m) / (seen + 2)

with c the chance of a guess among the labels and m the accuracy of all judges together: a wrong
gold does not make those who see through it look bad. The doubt of a gold is

    (weight of the misses + weight of the contests) / (weight of all answers + of contests + 1)

so a contest counts as a second miss, one miss alone is never more than a half, and gold that nobody
misses has none. Only a judge's first answer counts: before the next they got feedback.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select, update

from adjudge.collect.services._gold_editing import notify_judges
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import (
    contests,
    golds,
    is_real,
    items,
    judges,
    judgments,
    of_real_in,
    page_rows,
)
from adjudge.collect.values.gold import Contest, GoldRow
from adjudge.errors import NotFound

_CONTESTS = (
    select(
        contests,
        items.c.name.label("item"),
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

_STRENGTH = 2.0  # answers that the common accuracy counts as in a judge's own
_LEAST = 0.1  # weight of any answer


@dataclass(frozen=True, slots=True)
class _GoldDoubt:
    """How doubtful one gold is, and which label the best judges gave."""

    doubt: float
    best: str


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
        from_row(
            GoldRow,
            facts,
            item=facts.name,
            query=texts[gold].query,
            title=texts[gold].title,
            version=texts[gold].version,
            shown=shown_counts.get(gold, 0),
            answered=sum(labels[gold].values()),
            missed=missed[gold],
            labels=dict(labels[gold].most_common()),
            contests=waiting.get(gold, 0),
            doubt=found[gold].doubt if gold in found and facts.active else 0.0,
            best_say=_find_better_label(found, gold, facts.accepted) if facts.active else None,
        )
        for gold, facts in request.project.golds.items()
    ]
    # What nobody doubts stays in the order of its making.
    return sorted(rows, key=lambda row: (-row.doubt, -row.contests, -row.missed))


def _doubts(request: Request) -> Mapping[int, _GoldDoubt]:
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
    ).all()
    return _measure_doubts(rows, len(request.project.scale.labels))


def _contest_of(row: StoredRow) -> Contest:
    return from_row(Contest, row, contest=row.id, judge=row.public, given=row.label)


def list_contests(request: Request, settled: bool | None) -> list[Contest]:
    """Contests of a project, newest first."""
    statement = _CONTESTS.where(contests.c.project == request.project.id)
    if settled is not None:
        statement = statement.where(contests.c.settled == settled)
    return [_contest_of(row) for row in request.on.execute(statement)]


def settle(request: Request, contest: int, *, upheld: bool, answer: str) -> Contest:
    """Settle a contest; the judge sees the answer with their next page."""
    row = request.on.execute(
        update(contests)
        .where(contests.c.id == contest, contests.c.project == request.project.id)
        .values(settled=True, upheld=upheld, answer=answer)
        .returning(contests.c.judge, contests.c.gold)
    ).one_or_none()
    if row is None:
        raise NotFound("contest", str(contest))
    word = "You were right to disagree." if upheld else "We have looked at what you disagreed with."
    notify_judges(request.on, [row.judge], f"{word} {answer}".strip())
    figures = {"contest": contest, "gold": row.gold, "upheld": upheld}
    request.log("contest-settled", judge=row.judge, actor=request.actor, **figures)
    return _contest_of(request.on.execute(_CONTESTS.where(contests.c.id == contest)).one())


def _measure_doubts(rows: Sequence[Sequence[Any]], labels: int) -> dict[int, _GoldDoubt]:
    """The doubt of each gold that was answered; ``labels`` is how many a guess chooses among.

    ``rows`` are judge, gold, label, whether it is right, and whether a contest of it is settled
    (None without a contest), in the order they were given.
    """
    if not rows:
        return {}
    judge, gold, label, right, settled = map(np.array, zip(*rows, strict=True))
    pair = judge * (gold.max() + 1) + gold
    # A judge's first answer to each gold alone, contested by any of their answers to it.
    first = np.sort(np.unique(pair, return_index=True)[1])
    loud = np.isin(pair[first], pair[settled == np.False_])
    judge = np.unique(judge[first], return_inverse=True)[1]
    golds, gold = np.unique(gold[first], return_inverse=True)
    right = right[first].astype(bool)
    weight = _weights(judge, right, labels)
    against = np.bincount(gold, weights=weight * (~right + loud.astype(int)), minlength=golds.size)
    total = np.bincount(gold, weights=weight * (1 + loud), minlength=golds.size)
    best = _best(gold, label[first], weight, golds.size)
    return {
        int(name): _GoldDoubt(float(doubt), said)
        for name, doubt, said in zip(golds, against / (total + 1.0), best, strict=True)
    }


def _weights(
    judge: NDArray[np.intp], right: NDArray[np.bool_], labels: int
) -> NDArray[np.float64]:  # (answer,)
    """The skill of the judge of each answer, on all gold but the one answered."""
    seen = np.bincount(judge)[judge] - 1
    hits = np.bincount(judge, weights=right)[judge] - right
    accuracy = (hits + _STRENGTH * right.mean()) / (seen + _STRENGTH)
    chance = 1.0 / max(labels, 2)
    return np.asarray(np.maximum(_LEAST, (accuracy - chance) / (1.0 - chance)))


def _best(
    gold: NDArray[np.intp], label: NDArray[np.str_], weight: NDArray[np.float64], golds: int
) -> list[str]:
    """The label of most weight of each gold."""
    names, code = np.unique(label, return_inverse=True)
    flat = np.bincount(gold * names.size + code, weights=weight, minlength=golds * names.size)
    return [str(names[place]) for place in flat.reshape(golds, names.size).argmax(axis=1)]


def _find_better_label(
    found: Mapping[int, _GoldDoubt], gold: int, accepted: tuple[str, ...]
) -> str | None:
    """The label of the best judges, where it is not one that the gold accepts."""
    one = found.get(gold)
    return one.best if one is not None and one.best not in accepted and one.doubt > 0 else None
