"""Where trusted judges disagree."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from sqlalchemy import func, select

from adjudge.collect.store.conditions import COUNTED
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judges, judgments
from adjudge.collect.values.requesting import DisagreementRow, DisagreementTopic

_TRUSTED = COUNTED & (judgments.c.standing != "untrusted")


def list_disagreements(request: Request, search: str, limit: int) -> list[DisagreementTopic]:
    """Queries whose items split the trusted judges, the most split first."""
    wanted = (
        select(judgments.c.item, items.c.topic, judgments.c.label, func.count())
        .join(items, items.c.id == judgments.c.item)
        .where(judgments.c.project == request.project.id, _TRUSTED)
        .group_by(judgments.c.item, items.c.topic, judgments.c.label)
    )
    if search:
        wanted = wanted.where(items.c.query.icontains(search, autoescape=True))
    rows = request.on.execute(wanted).fetchall()
    if not rows:
        return []
    ids, place = np.unique(np.array([row[0] for row in rows]), return_inverse=True)
    count = np.array([row[3] for row in rows], dtype=np.float64)
    total = np.bincount(place, weights=count)
    share = count / total[place]
    entropy = np.bincount(place, weights=-share * np.log2(share))  # (item,)
    names, topic = np.unique([row[1] for row in rows], return_inverse=True)
    topic_of = np.empty(ids.size, dtype=np.int64)  # (item,)
    topic_of[place] = topic
    mean = np.bincount(topic_of, weights=entropy) / np.bincount(topic_of)
    worst = [int(t) for t in np.argsort(-mean, kind="stable") if mean[t] > 1e-9][:limit]
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    chosen = set(worst)
    for row, code in zip(rows, topic, strict=True):
        if int(code) in chosen:
            counts[row[0]][row[2]] = row[3]
    return [
        _topic(request, str(names[t]), float(mean[t]), ids, entropy, topic_of == t, counts)
        for t in worst
    ]


def _topic(
    request: Request,
    name: str,
    mean: float,
    ids: Any,
    entropy: Any,
    mask: Any,
    counts: dict[int, dict[str, int]],
) -> DisagreementTopic:
    """One query with its split items."""
    bits = {int(i): float(e) for i, e in zip(ids[mask], entropy[mask], strict=True) if e > 1e-9}
    texts = request.on.execute(select(items).where(items.c.id.in_(list(bits)))).all()
    comments: dict[int, list[tuple[str, str]]] = defaultdict(list)
    said: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    columns = (judgments.c.item, judgments.c.label, judgments.c.comment, judges.c.public)
    for row in request.on.execute(
        select(*columns, COUNTED.label("counted"))
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item.in_(list(bits)), judgments.c.standing != "untrusted")
        .order_by(judgments.c.id)
    ):
        if row.comment:
            comments[row.item].append((row.comment, row.public))
        if row.counted:
            said[row.item][row.label].append(row.public)
    order = {label: place for place, label in enumerate(request.project.scale.labels)}
    rows = [
        DisagreementRow(
            item=text.name,
            title=text.title,
            url=text.url,
            counts=dict(sorted(counts[text.id].items(), key=lambda pair: order[pair[0]])),
            entropy=bits[text.id],
            comments=tuple(comment for comment, _ in comments[text.id]),
            commented=tuple(judge for _, judge in comments[text.id]),
            who={label: tuple(said[text.id][label]) for label in order if label in said[text.id]},
        )
        for text in texts
    ]
    return DisagreementTopic(
        topic=name,
        query=texts[0].query,
        need=texts[0].need,
        entropy=mean,
        items=tuple(sorted(rows, key=lambda row: (-row.entropy, row.item))),
    )
