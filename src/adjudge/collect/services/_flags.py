"""Judges that a requester should look at, by the answers and pages in the store."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from adjudge.collect.rules.flagging import JudgeFacts, WorkAnswers, flag_judges
from adjudge.collect.store.conditions import COUNTED, is_real
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import judges, judgments, pages
from adjudge.collect.values.requesting import Flag

_ANSWERS = select(judgments.c.judge, judgments.c.item, judgments.c.label).where(
    judgments.c.project == bindparam("project"), COUNTED, judgments.c.standing != "untrusted"
)
_PACES = select(pages.c.judge, (pages.c.answered - pages.c.made)).where(
    pages.c.project == bindparam("project"),
    pages.c.kind == "work",
    pages.c.state == "answered",
)


def find_flags(request: Request) -> dict[int, tuple[Flag, ...]]:
    """The flags of every judge who has any, by the id inside.

    They are kept with the snapshot, and found again once a judge's row is another: whoever answers
    a page has one more, and whoever gains or loses trust is at another stage.
    """
    wanted = select(
        *(judges.c.id, judges.c.arm, judges.c.kind, judges.c.stage, judges.c.pages),
        *(judges.c.judged, judges.c.seen, judges.c.right),
    )
    theirs = (judges.c.project == request.project.id, judges.c.pages > 0, is_real)
    rows = request.on.execute(wanted.where(*theirs).order_by(judges.c.id)).all()
    key = [tuple(row) for row in rows]
    return request.project.keep("flags", key, lambda: _flags_of(request, rows))


def _flags_of(request: Request, rows: Sequence[StoredRow]) -> dict[int, tuple[Flag, ...]]:
    """The flags of these judges, by all that they have answered."""
    if not rows:
        return {}
    project = request.project.id
    ids = np.array([row.id for row in rows], dtype=np.int64)
    work = _read_work(request.on, project, ids, request.project.scale.labels)
    answered = np.array([row.pages for row in rows])
    pace = _read_pace(request.on, project, ids)
    pace /= np.array([row.judged for row in rows]) / answered  # pairs of a page
    pace[[row.kind != "person" for row in rows]] = np.nan  # a model may be as fast as it likes
    facts = JudgeFacts(
        pace=pace,
        pages=answered,
        gold_seen=np.array([row.seen for row in rows]),
        gold_right=np.array([row.right for row in rows]),
    )
    policies = [request.project.policy_of(row.arm) for row in rows]
    found = flag_judges(work, facts, policies, request.project.scale.labels)
    return {int(one): flags for one, flags in zip(ids, found, strict=True) if flags}


def _read_work(
    on: Connection, project: int, ids: NDArray[np.int64], labels: tuple[str, ...]
) -> WorkAnswers:
    """Every trusted answer to work, its judge by the place in ``ids``."""
    codes = {label: code for code, label in enumerate(labels)}
    found = [np.empty((3, 0), dtype=np.int64)]
    for rows in on.execute(_ANSWERS, {"project": project}).partitions(5_000):
        flat = list(chain.from_iterable(rows))  # much faster than zip(*rows)
        columns = (flat[0::3], flat[1::3], map(codes.get, flat[2::3], repeat(-1)))
        found.append(np.stack([np.fromiter(one, np.int64, len(rows)) for one in columns]))
    work = np.concatenate(found, axis=1)
    # A label that is on the scale no more says nothing of anybody.
    who, items, given = work[:, np.isin(work[0], ids) & (work[2] >= 0)]
    _, place = np.unique(items, return_inverse=True)
    return WorkAnswers(judge=np.searchsorted(ids, who), item=place, label=given)


def _read_pace(on: Connection, project: int, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median seconds of each judge's pages, from giving them out to their answer."""
    rows = on.execute(_PACES, {"project": project}).all()
    pace = np.full(len(ids), np.nan)
    if not rows:
        return pace
    who, took = (np.array(column) for column in zip(*rows, strict=True))
    order = np.lexsort((took, who))
    who, took = who[order], took[order]
    some, first, count = np.unique(who, return_index=True, return_counts=True)
    middle = (took[first + (count - 1) // 2] + took[first + count // 2]) / 2
    known = np.isin(some, ids)
    pace[np.searchsorted(ids, some[known])] = middle[known]
    return pace
