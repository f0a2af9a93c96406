"""The plan of a project: the judgments, gold and money that an accuracy takes.

What the project has so far is the pilot. A plan is asked for, made by a process of its own (this
module, started by the server's background), and stored. Where nothing is asked, looking costs one
query.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, and_, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.consensus.refit import run_as_asked
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.two_accuracies import gold_interval
from adjudge.collect.store.database import StoredRow, find_row, from_row, put_row
from adjudge.collect.store.schema import plans, projects
from adjudge.data.source import count_of
from adjudge.errors import AdjudgeError, BadSetting, Refused
from adjudge.models.registry import model as build_model

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.requesting import ProjectSummary

ENVIRONMENT = "ADJUDGE_PLAN"
_MOST = 15  # judgments per item that are tried
_BEYOND = 2  # numbers that are tried beyond the one that does, for the curve
_RUNS = 10  # simulated crowds for each number
_LARGEST = 0.9  # share of gold
_FEW = 200  # judgments below which a pilot says little


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a plan is asked for."""

    accuracy: float
    pay_per_page: str  # money, as text
    gold_share: float  # of hidden gold among the results of a page

    @classmethod
    def checked(cls, accuracy: float, pay_per_page: object, gold_share: float) -> Wish:
        """A wish whose values can be meant."""
        if not 0 < accuracy < 1:
            raise BadSetting("accuracy", accuracy, "a share above 0 and below 1, such as 0.9")
        if not 0 <= gold_share <= _LARGEST:
            raise BadSetting("gold_share", gold_share, f"a share from 0 to {_LARGEST}")
        pay = Policy.from_dict({"pay_per_page": pay_per_page}).pay_per_page
        return cls(accuracy=accuracy, pay_per_page=str(pay), gold_share=gold_share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A plan that is asked for, and how far it is."""

    project: str  # slug
    wish: Wish
    at: float
    tried: int = 0  # judgments per item that were tried so far; 0 before it has begun
    most: int = _MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """Accuracy and cost of one number of judgments per item."""

    per_item: int
    accuracy: float
    low: float  # 90% interval of the mean over simulated crowds
    high: float
    judgments: int
    golds: int  # answers to hidden gold on the same pages
    pages: int
    cost: str

    @property
    def money(self) -> Decimal:
        """The cost as an amount."""
        return Decimal(self.cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPlan:
    """A plan that was made, or the problem that stood in the way."""

    wish: Wish
    problem: str = ""
    made: str = ""
    seconds: float = 0.0
    pilot_judgments: int = 0
    pilot_judges: int = 0
    items: int = 0
    currency: str = ""
    per_item: int | None = None  # the fewest that do; None where none up to the most does
    rows: tuple[PlanRow, ...] = ()
    golds_a_judge: int | None = None  # that separate a typical judge from one who guesses
    pass_mark: float | None = None
    typical: float | None = None  # accuracy of the judge in the middle
    guessing: float | None = None
    golds_needed: int = 0  # so that a typical judge meets none twice
    golds_there: int = 0
    notes: tuple[str, ...] = ()

    def row(self, per_item: int | None) -> PlanRow | None:
        """The row of a number of judgments."""
        return next((row for row in self.rows if row.per_item == per_item), None)


def ask(services: RequesterServices, slug: str, wish: Wish) -> Asked:
    """Ask for a plan; it is made as soon as the background comes to it.

    Refused: ``no-judgments`` where there is no pilot to plan from, ``role`` for a viewer.
    """
    services.projects.check_role(slug, "reviewer")
    if not services.projects.get(slug).judgments:
        raise Refused("no-judgments", "a plan needs a pilot: there are no judgments yet")
    asked = Asked(project=slug, wish=wish, at=time.time())
    values = {**asdict(wish), "asked": asked.at, "tried": 0}

    def keep(on: Connection) -> None:
        project = services.caller.find(on, slug, "reviewer").id
        put_row(on, plans, {"project": project}, **values)

    services.caller.database.write(keep)
    return asked


def read_asked(services: RequesterServices, slug: str) -> Asked | None:
    """The plan that is waited for."""
    row = _find(services, slug)
    if row is None or row.asked is None:
        return None
    return Asked(project=slug, wish=from_row(Wish, row), at=row.asked, tried=row.tried)


def _find(services: RequesterServices, slug: str) -> StoredRow | None:
    """What is stored of the plan of a project."""
    with services.caller.reading(slug) as request:
        return find_row(request.on, plans, request.project.id)


def read_plan(services: RequesterServices, slug: str) -> ProjectPlan | None:
    """The last plan that was made."""
    row = _find(services, slug)
    if row is None or row.plan is None:
        return None
    return TypeAdapter(ProjectPlan).validate_python(row.plan)


def find_due(services: RequesterServices) -> list[str]:
    """The projects whose plan is asked for."""
    statement = select(projects.c.slug).join(plans, plans.c.project == projects.c.id)
    with services.caller.database.read() as on:
        found = on.execute(statement.where(plans.c.asked.is_not(None)).order_by(plans.c.asked))
        return list(found.scalars())


def _plan_one(services: RequesterServices, slug: str) -> ProjectPlan | None:
    """Make the plan that is asked for, and keep it; None where none is."""
    project = services.projects.get(slug)
    asked = read_asked(services, slug)
    if asked is None:
        return None
    began = time.time()
    try:
        made = _compute_plan(services, project, asked)
    except AdjudgeError as fault:
        made = {"problem": str(fault)}
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    plan = ProjectPlan(wish=asked.wish, made=when, seconds=time.time() - began, **made)
    _keep(services, asked, plan)
    return plan


def note_failure(services: RequesterServices, slug: str, code: int) -> None:
    """Note that the process of a plan ended without a word, so that it is not tried for ever."""
    asked = read_asked(services, slug)
    if asked is not None:
        plan = ProjectPlan(wish=asked.wish, problem=f"its process ended with code {code}")
        _keep(services, asked, plan)


def list_changes(plan: ProjectPlan, policy: Policy) -> dict[str, Any]:
    """The settings of a policy that a plan would change."""
    proposed = {**_settings(plan.wish, policy), "judgments_per_item": plan.per_item}
    if policy.closing == "adaptive" and policy.most_judgments is None and plan.per_item:
        # The number is the most of an item there, and the least may not be above it.
        proposed["least_judgments"] = min(policy.least_judgments, plan.per_item)
    fresh = policy.changed({name: value for name, value in proposed.items() if value is not None})
    return {
        name: getattr(fresh, name)
        for name in proposed
        if getattr(fresh, name) != getattr(policy, name)
    }


def _settings(wish: Wish, policy: Policy) -> dict[str, Any]:
    """The settings that a wish is about; gold in fewest numbers, unless it has its share."""
    found: dict[str, Any] = {"pay_per_page": Decimal(wish.pay_per_page)}
    if abs(policy.screening_share - wish.gold_share) > 1e-9:
        share = Fraction(wish.gold_share).limit_denominator(200)
        found["screening"] = share > 0
        if share > 0:
            found["screening_golds"] = share.numerator
            found["screening_pairs"] = share.denominator - share.numerator
    return found


def _compute_plan(
    services: RequesterServices, project: ProjectSummary, asked: Asked
) -> dict[str, Any]:
    """Fit the pilot, simulate crowds like it, and compute the cost of each number of judgments."""
    from adjudge.simulation.planning import plan

    slug = project.slug
    judgments = services.exports.get_judgments(slug, golds=True)
    if judgments is None or not project.items:
        raise Refused("no-judgments", "a plan needs a pilot: there are no trusted judgments yet")
    model = build_model()
    pilot = model.fit(judgments, services.exports.get_gold(slug))

    def progress(step: Any) -> None:
        change = update(plans).where(_is_asked(asked)).values(tried=step.done)
        services.caller.database.write(lambda on: on.execute(change))

    made = plan(
        pilot,
        model=model,
        accuracy=asked.wish.accuracy,
        items=project.items,
        most=_MOST,
        runs=_RUNS,
        beyond=_BEYOND,
        progress=progress,
    )
    policy, _ = services.projects.get_policy(slug)
    policy = policy.changed(_settings(asked.wish, policy))
    arms = len(services.arms.get_all(slug))
    rows = tuple(_row(row, policy, arms) for row in made.table.to_pylist())
    settings = {name: getattr(policy, name) for name in _GOLD}
    number = made.per_item or rows[-1].per_item
    golds = services.gold.forecast(slug, settings={**settings, **_fixed(number)})
    few = len(judgments) < _FEW
    notes = [
        f"The pilot has {count_of(len(judgments), 'judgment')} only: the plan is a first guess."
    ] * few
    return {
        **{name: getattr(made, name) for name in _AS_MADE},
        "currency": policy.currency,
        "rows": rows,
        "golds_needed": golds.typical,
        "golds_there": golds.have,
        "pilot_judgments": len(judgments),
        "pilot_judges": judgments.judge_count,
        "items": project.items,
        "notes": (*notes, *made.notes, *_compare_with_gold(services, slug, rows)),
    }


def _compare_with_gold(
    services: RequesterServices, slug: str, rows: tuple[PlanRow, ...]
) -> tuple[str, ...]:
    """A warning where simulated judges clearly differ from the real ones on hidden gold.

    With one judgment per item, labels are as accurate as their judges.
    """
    progress = services.projects.get_progress(slug)
    if rows[0].per_item != 1 or not progress.gold_seen:
        return ()
    low, high = gold_interval(progress.gold_right, progress.gold_seen)
    if low <= rows[0].high and rows[0].low <= high:
        return ()
    worse = rows[0].accuracy < low
    return (
        f"On hidden gold your judges are right in {progress.gold_right / progress.gold_seen:.0%} "
        f"({low:.0%} to {high:.0%}), simulated ones in {rows[0].accuracy:.0%}: unless gold is "
        f"{'easier' if worse else 'harder'} than the work, this plan is too "
        f"{'pessimistic: fewer judgments do' if worse else 'optimistic: more are needed'}.",
    )


_GOLD = ("screening", "screening_golds", "screening_pairs")
_AS_MADE = ("per_item", "golds_a_judge", "pass_mark", "typical", "guessing")


def _fixed(number: int) -> dict[str, Any]:
    """So many judgments of every item: a plan's numbers are fixed, however the project closes."""
    return {"judgments_per_item": number, "closing": "fixed"}


def _row(row: Mapping[str, Any], policy: Policy, arms: int) -> PlanRow:
    """One number of judgments, in pages and money."""
    number = int(row["per_item"])
    items = int(row["judgments"]) // number
    judgments = items * policy.changed(_fixed(number)).judgments_needed(arms)
    work = policy.work_per_page
    pages = math.ceil(judgments / work - 1e-9)
    return PlanRow(
        per_item=number,
        accuracy=row["accuracy"],
        low=max(0.0, row["low"]),
        high=min(1.0, row["high"]),
        judgments=judgments,
        golds=round(judgments / work * (policy.pairs_per_page - work)),
        pages=pages,
        cost=str(policy.pay_per_page * pages),
    )


def _is_asked(asked: Asked) -> ColumnElement[bool]:
    """The condition on plans that this one is still the one that is asked for."""
    project = select(projects.c.id).where(projects.c.slug == asked.project).scalar_subquery()
    return and_(plans.c.project == project, plans.c.asked == asked.at)


def _keep(services: RequesterServices, asked: Asked, plan: ProjectPlan) -> None:
    """Keep a plan; what was asked is done with, unless something else was asked meanwhile."""
    theirs = select(projects.c.id).where(projects.c.slug == asked.project).scalar_subquery()
    made = update(plans).where(plans.c.project == theirs).values(plan=asdict(plan))
    done = update(plans).where(_is_asked(asked)).values(asked=None)
    services.caller.database.write(lambda on: (on.execute(made), on.execute(done)))


def _main(services: RequesterServices, project: str) -> bool:
    """Make the plan that the environment names."""
    plan = _plan_one(services, project)
    return plan is None or not plan.problem


if __name__ == "__main__":
    run_as_asked(ENVIRONMENT, _main)
