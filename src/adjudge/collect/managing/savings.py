"""What adaptive closing saves: closed items beside a fixed number of judgments, in money too."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from sqlalchemy import func, select

from adjudge.collect.rules.adaptive import count_for
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items
from adjudge.collect.store.settings import fixed_name, read_setting
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.requesting import Savings

_CENT = Decimal("0.01")


def work_on_a_page(snapshot: ProjectSnapshot) -> float:
    """How many rows of work a full page has, gold left out."""
    policy = snapshot.policy
    share = policy.screening_share if snapshot.screening else 0.0
    return max(1.0, policy.pairs_per_page * (1 - share))


def savings_of(request: Request) -> Savings | None:
    """What an adaptive project has saved so far; None for any other, and before an item closes."""
    if request.project.policy.closing != "adaptive":
        return None
    closed, judgments, accuracy = request.on.execute(
        select(func.count(), func.sum(items.c.trusted), func.avg(items.c.probability)).where(
            items.c.project == request.project.id,
            items.c.gold.is_(False),
            items.c.state == "closed",
        )
    ).one()
    if not closed:
        return None
    stored = read_setting(request.on, fixed_name(request.project.id))
    fixed = request.project.policy.judgments_per_item
    by_count = np.array(stored["accuracy"]) if stored else None
    equal = None
    if by_count is not None and accuracy is not None:
        equal = count_for(by_count, float(accuracy))
    saved = fixed * closed - int(judgments)
    saved_equal = None if not equal else equal * closed - int(judgments)
    return Savings(
        closed=closed,
        judgments=int(judgments),
        per_item=int(judgments) / closed,
        fixed=fixed,
        saved=saved,
        saved_share=saved / (fixed * closed),
        saved_money=_cost(request.project, saved),
        accuracy=None if accuracy is None else float(accuracy),
        fixed_accuracy=_at(by_count, fixed),
        equal=equal,
        equal_share=None if not equal or saved_equal is None else saved_equal / (equal * closed),
        equal_money=None if saved_equal is None else _cost(request.project, saved_equal),
        most_tried=None if by_count is None else len(by_count) - 1,
        fitted=stored["made"] if stored else "",
    )


def _at(by_count: Any, count: int) -> float | None:
    return None if by_count is None or count >= len(by_count) else float(by_count[count])


def _cost(snapshot: ProjectSnapshot, judgments: float) -> Decimal:
    """What so many judgments cost, as their share of full pages."""
    a_page = Decimal(str(work_on_a_page(snapshot)))
    price = snapshot.policy.pay_per_page * Decimal(str(judgments)) / a_page
    return price.quantize(_CENT)


def lacking_of(open_items: Iterable[tuple[int, int, int]], savings: Savings | None) -> int:
    """How many trusted judgments open items lack, given as (trusted, needed, how many items).

    In an adaptive project as many as they need at least, and no fewer than a closed item had on
    average.
    """
    usual = 0.0 if savings is None else savings.per_item
    lacking = sum(count * (max(needed, usual) - trusted) for trusted, needed, count in open_items)
    return int(lacking + 0.5)
