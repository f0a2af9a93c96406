"""The requester's page of the plan: judgments, golds and money for a wanted accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.consensus import planner
from adjudge.collect.consensus.planner import ProjectPlan, Wish
from adjudge.collect.web._forms import PROVEN, SentForm
from adjudge.collect.web._login import LoggedIn, Who, require_login
from adjudge.collect.web._pages import go
from adjudge.errors import BadSetting, Refused

router = APIRouter(prefix="/projects/{project}/plan", include_in_schema=False)
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 620.0, 16.0, 236.0  # of the chart, in its own units


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """What one number of judgments gives, in the chart."""

    x: float
    y: float
    low: float
    high: float
    number: int
    said: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _CurveDrawing:
    """Accuracy against judgments an item, as a drawing has it."""

    ticks: tuple[tuple[float, str], ...]  # place, text
    points: tuple[_Point, ...]
    line: str
    wanted: float


def _curve_of(plan: ProjectPlan) -> _CurveDrawing | None:
    """The curve of a plan; None without any numbers."""
    if not plan.rows:
        return None
    lowest = min(*(row.low for row in plan.rows), plan.wish.accuracy)
    highest = max(*(row.high for row in plan.rows), plan.wish.accuracy)
    step = 0.05 if highest - lowest < 0.25 else 0.1
    least = max(0.0, math.floor(lowest / step + 1e-9) * step)
    most = min(1.0, math.ceil(highest / step - 1e-9) * step)
    most = max(most, least + step)
    apart = (_RIGHT - _LEFT) / (len(plan.rows) + 1)

    def up(value: float) -> float:
        share = (min(max(value, least), most) - least) / (most - least)
        return round(_BOTTOM - (_BOTTOM - _TOP) * share, 1)

    points = tuple(
        _Point(
            x=round(_LEFT + apart * (place + 1), 1),
            y=up(row.accuracy),
            low=up(row.low),
            high=up(row.high),
            number=row.per_item,
            said=f"{row.per_item}: {row.accuracy:.3f}, from {row.low:.3f} to {row.high:.3f}",
            chosen=row.per_item == plan.per_item,
        )
        for place, row in enumerate(plan.rows)
    )
    count = round((most - least) / step)
    return _CurveDrawing(
        ticks=tuple((up(least + n * step), f"{least + n * step:.2f}") for n in range(count + 1)),
        points=points,
        line=" ".join(f"{point.x},{point.y}" for point in points),
        wanted=up(plan.wish.accuracy),
    )


@router.get("")
def _show_plan(request: Request, project: str) -> Response:
    """The last plan, what is asked for, and the form to ask."""
    return _show(require_login(request), project)


def _show(
    who: LoggedIn,
    project: str,
    *,
    given: dict[str, str] | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    policy, _ = who.services.projects.get_policy(project)
    asked = planner.read_asked(who.services, project)
    plan = planner.read_plan(who.services, project)
    last = asked.wish if asked else plan.wish if plan else None
    shown = {
        "accuracy": f"{last.accuracy:g}" if last else "0.9",
        "pay_per_page": last.pay_per_page if last else str(policy.pay_per_page),
        "gold_share": f"{last.gold_share if last else policy.screening_share:g}",
    }
    changes = {}
    if plan is not None and plan.per_item is not None:
        fresh = planner.list_changes(plan, policy)
        changes = {name: (getattr(policy, name), value) for name, value in fresh.items()}
    return who.show_project(
        "Plan",
        "requester/plan.html",
        project,
        project=who.services.projects.get(project),  # it says whether there are judgments
        status=status,
        policy=policy,
        asked=asked,
        plan=plan,
        curve=None if plan is None else _curve_of(plan),
        given=given or shown,
        changes=changes,
        problem=problem,
    )


@router.post("")
def _ask(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Ask for a plan."""
    given = {name: form.text(name, most=20) for name in ("accuracy", "pay_per_page", "gold_share")}
    try:
        wish = Wish.checked(
            _number("accuracy", given["accuracy"]),
            given["pay_per_page"] or "0",
            _number("gold_share", given["gold_share"]),
        )
        planner.ask(who.services, project, wish)
    except (BadSetting, Refused) as fault:
        problem = str(fault).replace("gold_share", "share of gold", 1)
        return _show(who, project, given=given, problem=problem, status=422)
    return go(request, f"/projects/{project}/plan")


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise BadSetting(name, text, "a number") from None
    if not math.isfinite(value):
        raise BadSetting(name, text, "a number")
    return value


@router.post("/use", dependencies=[PROVEN])
def _use(request: Request, project: str) -> Response:
    """Change the policy to what the plan recommends."""
    services = require_login(request).services
    plan = planner.read_plan(services, project)
    if plan is None or plan.per_item is None:
        raise Refused("no-plan", "there is no plan that recommends a number of judgments")
    policy, _ = services.projects.get_policy(project)
    changes = planner.list_changes(plan, policy)
    if changes:
        services.projects.set_policy(project, changes)
    return go(request, f"/projects/{project}/plan?done=plan-used")
