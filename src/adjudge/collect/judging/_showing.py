"""What a judge is shown of a page: a stored row, and what was answered to it.

Of a pair, the sides are as the coin set them.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, select

from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import judgments
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import Answer, BesideRow, Feedback
from adjudge.collect.values.judging import Row as PageRow
from adjudge.collect.values.sides import mirror

GIVEN = select(judgments).where(judgments.c.page == bindparam("page")).order_by(judgments.c.row)


def show_row(row: Any, asked: tuple[str, ...]) -> PageRow:
    """A row as its judge sees it: of a pair, each result on the side that the coin gave it."""
    own = {name: getattr(row, name) for name in ("title", "text", "url", "image")}
    if row.beside is None:
        return PageRow(row=row.row, **own, asked=asked)
    other = {name: row.beside[name] for name in own}
    left, right = (other, own) if row.swapped else (own, other)
    return PageRow(row=row.row, **left, asked=asked, beside=BesideRow(**right))


def answers_so_far(
    request: Request, page: Any, swapped: Set[int]
) -> tuple[tuple[Answer, ...], tuple[Feedback, ...]]:
    """Answers saved or given on an open page, and what was told of them, as its judge sees it."""
    drafts = [Answer(**row) for row in page.draft or ()]
    answers = {
        draft.row: replace(draft, label=mirror(draft.label, draft.row in swapped))
        for draft in drafts
    }
    feedback = []
    if page.kind == "training":
        for given in request.on.execute(GIVEN, {"page": page.id}).all():
            label = mirror(given.label, given.swapped)
            answers[given.row] = Answer(row=given.row, label=label, comment=given.comment)
            if given.right is False:
                feedback.append(make_feedback(request.project, given))
    return tuple(answers[row] for row in sorted(answers)), tuple(feedback)


def make_feedback(snapshot: ProjectSnapshot, given: Any, *, contested: bool = False) -> Feedback:
    """What is told of an answer to a gold, with sides as its judge saw them."""
    gold = snapshot.golds[given.gold]
    return Feedback(
        row=given.row,
        given=mirror(given.label, given.swapped),
        accepted=tuple(mirror(label, given.swapped) for label in gold.accepted),
        reason="" if given.right else gold.reason_for(given.label),
        right=bool(given.right),
        contested=contested,
        of_pairs=snapshot.of_pairs,
    )
